"""JMH's JSON beyond the fixtures: what is refused, what warns, what old versions wrote."""

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.jmh import jmh_json
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats import real_files

DATA = real_files.SHARED / "jmh"

here = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/jmh is not here")


def metric(score=2.5, unit="us/op", error=0.5, **more):
    return {"score": score, "scoreError": error, "scoreUnit": unit, **more}


def benchmark(name="bench.Simple.do1", *, primary=None, secondary=None, **more):
    """What JMH writes for one benchmark, as a dict; keys given as None are left out."""
    entry = {
        "benchmark": name,
        "mode": "avgt",
        "threads": 1,
        "forks": 2,
        "primaryMetric": primary or metric(),
        "secondaryMetrics": secondary or {},
        **more,
    }
    return {key: value for key, value in entry.items() if value is not None}


def parse_text(text):
    return jmh_json.parse(Source(text.encode()))


def refusal(text):
    with pytest.raises(FormatError) as error:
        parse_text(text)
    return error.value.line, error.value.message


@pytest.mark.parametrize(
    ("change", "at", "reason"),
    [
        ({"primary": metric(-1)}, '"score"', "'score' is negative"),
        (
            {"primary": metric(2, scoreConfidence=[3, 4])},
            '"primaryMetric"',
            "'primaryMetric' has a score beyond its scoreConfidence",
        ),
        ({"secondary": {"gc.count": metric(-1)}}, '"score": -1', "'score' is negative"),
        ({"primary": metric("fast")}, '"score"', "'score' must be a number"),
        ({"primary": metric(1e200)}, '"score"', "'score' is too large"),
        ({"primary": metric(error=-1)}, '"scoreError"', "'scoreError' is negative"),
        ({"primary": {"score": 1}}, '"primaryMetric"', "'primaryMetric' has no 'scoreUnit'"),
        (
            {"primary": metric(unit="parsecs")},
            '"scoreUnit"',
            "'scoreUnit' is neither a time per operation nor operations per time",
        ),
        ({"primary": metric(rawData=[["x"]])}, '"x"', "'rawData' must be a number"),
        ({"primary": metric(rawData=7)}, '"rawData"', "'rawData' must be a list"),
        ({"threads": 0}, '"threads"', "'threads' must be from 1 to 1000000"),
        ({"threads": 2.5}, '"threads"', "'threads' must be a whole number"),
        ({"mode": 1}, '"mode"', "'mode' must be a text"),
        ({"params": {"size": 10}}, '"size"', "'size' must be a text"),
        ({"secondary": {"gc.count": 3}}, '"gc.count"', "'gc.count' must be an object"),
    ],
)
def test_a_value_that_jmh_does_not_write_is_refused_with_its_line(change, at, reason):
    text = json.dumps([benchmark("first"), benchmark("second", **change)], indent=1)
    lines = text.splitlines()
    second = next(number for number, line in enumerate(lines) if '"second"' in line)
    blamed = next(number for number, line in enumerate(lines) if number > second and at in line)
    assert refusal(text) == (blamed + 1, reason)


@pytest.mark.parametrize("pair", [[1], [1, "NaN"], [1, 2, 3]])
def test_a_histogram_is_made_of_times_and_counts(pair):
    text = json.dumps([benchmark(primary=metric(rawDataHistogram=[[[pair]]]))])
    assert refusal(text) == (1, "'rawDataHistogram' must be a list of two numbers, a time and a count")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"benchmark": "x"}', 1, "the file must be a list"),
        ("[\n]\n", 1, "no benchmark was measured; did JMH finish?"),
        ("[\n 3\n]", 2, "a benchmark must be an object"),
        ('[\n{"mode": "avgt"}]', 2, "a benchmark has no 'benchmark'"),
        ('[\n{"benchmark": "a"}]', 2, "a benchmark has no 'primaryMetric'"),
        ('[\n{"benchmark": " "}]', 2, "'benchmark' is empty"),
    ],
)
def test_what_is_no_json_of_jmh_is_refused_with_its_line(text, line, message):
    assert refusal(text) == (line, message)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def paths(value, path=()):
    yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in members:
        yield from paths(inner, (*path, key))


TEMPLATE = [
    benchmark(
        params={"size": "10"},
        jmhVersion="1.37",
        jvmArgs=["-Xmx1g"],
        warmupIterations=1,
        warmupTime="1 s",
        primary=metric(rawData=[[1, 2]], rawDataHistogram=[[[[1, 2]]]], scorePercentiles={"50.0": 1}),
        secondary={"gc.count": metric()},
        mode="sample",
    )
]


@settings(max_examples=100, deadline=None)
@given(place=st.sampled_from([path for path in paths(TEMPLATE) if path]), value=json_values)
def test_any_value_in_any_place_is_read_or_refused(place, value):
    changed = json.loads(json.dumps(TEMPLATE))
    holder = changed
    for part in place[:-1]:
        holder = holder[part]
    holder[place[-1]] = value
    with suppress(FormatError):
        report = parse_text(json.dumps(changed))
        for run in report.runs:
            assert all(math.isfinite(reading.value) for reading in run.readings)
            assert len({reading.metric for reading in run.readings}) == len(run.readings)


@here
@pytest.mark.parametrize(
    "path", sorted(DATA.glob("*/*-t[0-9].json")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_every_real_file_gives_one_run_for_each_benchmark(path):
    entries = json.loads(path.read_text())
    report = jmh_json.parse(Source(path.read_bytes(), path.name))
    assert jmh_json.recognise(Source(path.read_bytes()).head)
    assert report.warnings == ()
    assert len(report.runs) == len({run.key for run in report.runs}) == len(entries)
    factor = {"us/op": 1e3, "ms/op": 1e6, "ops/s": 1, "ops/ms": 1e3}
    for run, entry in zip(report.runs, entries, strict=True):
        primary = entry["primaryMetric"]
        found, scale = run.readings[0], factor[primary["scoreUnit"]]
        assert (run.column, run.threads) == (entry["benchmark"], entry["threads"])
        assert found.value == pytest.approx(primary["score"] * scale, rel=1e-12)
        confidence = [bound * scale for bound in primary["scoreConfidence"]]
        assert [found.low, found.high] == pytest.approx(confidence, rel=1e-9)
