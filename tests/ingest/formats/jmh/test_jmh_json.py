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
from tests.ingest.formats.cuts import places

FIXTURES = real_files.FIXTURES / "jmh_json"
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


def parse(*benchmarks):
    return parse_text(json.dumps(benchmarks, indent=4))


def parse_text(text):
    return jmh_json.parse(Source(text.encode()))


def only_run(*benchmarks):
    (run,) = parse(*benchmarks).runs
    return run


def readings(run):
    return {reading.metric: reading for reading in run.readings}


def score(run):
    return readings(run)["score"]


def refusal(text):
    with pytest.raises(FormatError) as error:
        parse_text(text)
    return error.value.line, error.value.message


def line_with(text, part):
    return next(number for number, line in enumerate(text.splitlines(), start=1) if part in line)


@pytest.mark.parametrize(
    ("printed", "value", "unit", "direction"),
    [
        ("ns/op", 2, "ns/op", "lower"),
        ("us/op", 2e3, "ns/op", "lower"),
        ("ms/op", 2e6, "ns/op", "lower"),
        ("s/op", 2e9, "ns/op", "lower"),
        ("min/op", 120e9, "ns/op", "lower"),
        ("hr/op", 7200e9, "ns/op", "lower"),
        ("day/op", 2 * 86400e9, "ns/op", "lower"),
        ("ops/ns", 2e9, "ops/s", "higher"),
        ("ops/us", 2e6, "ops/s", "higher"),
        ("ops/ms", 2e3, "ops/s", "higher"),
        ("ops/s", 2, "ops/s", "higher"),
        ("ops/min", 2 / 60, "ops/s", "higher"),
        ("ops/hr", 2 / 3600, "ops/s", "higher"),
    ],
)
def test_a_score_is_normalised_and_keeps_the_unit_it_was_printed_in(printed, value, unit, direction):
    found = score(only_run(benchmark(primary=metric(2, printed, error=1))))
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((value / 2, value * 1.5))
    assert (found.unit, found.direction) == (unit, direction)
    assert found.printed_unit == ("" if printed == unit else printed)


def test_the_interval_may_go_below_zero():
    found = score(only_run(benchmark(primary=metric(2, "ns/op", error=3))))
    assert (found.low, found.high) == (-1, 5)


def test_the_interval_is_the_one_that_the_file_gives():
    found = score(only_run(benchmark(primary=metric(2, "ns/op", 0.5, scoreConfidence=[1.25, 2.75]))))
    assert (found.low, found.high) == (1.25, 2.75)


@pytest.mark.parametrize("confidence", [["NaN", "NaN"], [], [1.5], None])
def test_without_an_interval_in_the_file_it_is_score_and_error(confidence):
    found = score(only_run(benchmark(primary=metric(2, "ns/op", 0.5, scoreConfidence=confidence))))
    assert (found.low, found.high) == (1.5, 2.5)


def test_the_interval_of_what_has_no_error_is_none():
    count = metric(0, "counts", "NaN", scoreConfidence=[0, 0])
    found = readings(only_run(benchmark(secondary={"gc.count": count})))["gc.count"]
    assert (found.value, found.low, found.high) == (0, None, None)


def test_old_single_shots_have_a_time_without_an_operation():
    run = only_run(
        benchmark(
            mode="ss",
            primary=metric(2, "ms"),
            secondary={"get": metric(4, "ms"), "@gc.time.total": metric(9, "ms")},
        )
    )
    assert [(r.metric, r.value, r.unit) for r in run.readings] == [
        ("score", 2e6, "ns/op"),
        ("get", 4e6, "ns/op"),
        ("gc.time.total", 9, "ms"),
    ]


@pytest.mark.parametrize("error", ["NaN", "+INF", None])
def test_without_an_error_there_is_no_interval(error):
    found = score(only_run(benchmark(primary=metric(error=error))))
    assert (found.low, found.high) == (None, None)


def test_an_error_that_is_left_out_is_no_error():
    found = score(only_run(benchmark(primary={"score": 1, "scoreUnit": "ns/op"})))
    assert (found.value, found.low, found.high) == (1, None, None)


def test_the_workload_is_the_name_with_its_parameters_and_the_mode():
    run = only_run(benchmark(params={"size": "10", "sql": "SELECT  1", "unused": "N/A"}))
    assert run.workload == run.key == "bench.Simple.do1 size=10 sql=SELECT 1 avgt"
    assert run.column == "bench.Simple.do1"


def test_without_a_mode_the_workload_has_none():
    assert only_run(benchmark(mode=None)).workload == "bench.Simple.do1"


def test_a_benchmark_that_stands_twice_is_a_repetition_with_a_key_of_its_own():
    report = parse(benchmark(), benchmark(), benchmark("bench.Simple.do2"))
    assert [run.key for run in report.runs] == [
        "bench.Simple.do1 avgt",
        "bench.Simple.do1 avgt #2",
        "bench.Simple.do2 avgt",
    ]
    assert report.warnings == (
        "bench.Simple.do1 avgt stands 2 times in the file: its runs count as repetitions",
    )


def test_thread_counts_of_one_benchmark_are_no_repetitions():
    report = parse(benchmark(threads=1), benchmark(threads=4))
    assert [(run.workload, run.threads) for run in report.runs] == [
        ("bench.Simple.do1 avgt", 1),
        ("bench.Simple.do1 avgt", 4),
    ]
    assert len({run.key for run in report.runs}) == 2
    assert report.warnings == ()


def test_keys_stay_apart_even_where_a_name_looks_like_a_numbered_key():
    report = parse(benchmark("a #2", mode=None), benchmark("a", mode=None), benchmark("a", mode=None))
    assert [run.key for run in report.runs] == ["a #2", "a", "a #3"]


def test_old_names_of_profilers_lose_their_middle_dot():
    run = only_run(
        benchmark(
            secondary={
                "·gc.alloc.rate.norm": metric(96, "B/op"),
                "·gc.count": metric(3, "counts", error="NaN"),
                "·stack": metric("NaN", "---", error="NaN"),
            }
        )
    )
    assert [(r.metric, r.value, r.unit, r.direction) for r in run.readings[1:]] == [
        ("gc.alloc.rate.norm", 96, "B/op", "lower"),
        ("gc.count", 3, "counts", "lower"),
    ]


def test_counters_of_operations_are_normalised_as_scores_are():
    run = only_run(benchmark(secondary={"hits": metric(2, "ops/ms", 1), "score": metric(9, "ops/ms")}))
    assert [(r.metric, r.value, r.unit, r.direction) for r in run.readings] == [
        ("score", 2500, "ns/op", "lower"),
        ("hits", 2000, "ops/s", "higher"),
    ]


def test_instructions_per_clock_are_better_when_higher():
    run = only_run(benchmark(secondary={"IPC": metric(2, "insns/clk"), "CPI": metric(0.5, "clks/insn")}))
    assert [(r.metric, r.direction) for r in run.readings[1:]] == [("IPC", "higher"), ("CPI", "lower")]


def test_percentiles_of_sampled_operations_are_readings():
    run = only_run(
        benchmark(
            mode="sample",
            primary=metric(scorePercentiles={"50.0": 2, "99.0": 8, "99.999": 9}),
            secondary={"p0.999": metric(9, error="NaN"), "do1·p0.9999": metric(10, error="NaN")},
        )
    )
    assert {name: found.value for name, found in readings(run).items()} == {
        "score": 2500,
        "score_p50": 2000,
        "score_p99": 8000,
        "score_p99_9": 9000,
        "score_p99_99": 10000,
    }


def test_percentiles_of_iterations_are_no_readings():
    run = only_run(benchmark(mode="avgt", primary=metric(scorePercentiles={"50.0": 2})))
    assert [reading.metric for reading in run.readings] == ["score"]


def test_the_methods_of_a_group_keep_their_percentiles_apart():
    run = only_run(benchmark("bench.Group.rw", secondary={"get·p0.50": metric(1), "put·p0.50": metric(2)}))
    assert [reading.metric for reading in run.readings] == ["score", "get_p50", "put_p50"]


def test_iterations_are_kept_by_fork():
    report = parse(benchmark(primary=metric(rawData=[[1, 2], [3, "NaN"]])))
    (table,) = report.intervals
    assert (table.run, table.source, table.columns) == (
        "bench.Simple.do1 avgt",
        "iterations",
        ("fork", "iteration", "score"),
    )
    assert table.rows == ((1, 1, 1000), (1, 2, 2000), (2, 1, 3000), (2, 2, None))


def test_samples_of_all_forks_are_one_histogram_and_the_mean_of_each_iteration():
    samples = [[[[10, 3], [50, 1]], []], [[[10, 1], [20, 1]]]]
    report = parse(benchmark(mode="sample", primary=metric(unit="us/op", rawDataHistogram=samples)))
    iterations, histogram = report.intervals
    assert iterations.rows == ((1, 1, 20000), (1, 2, None), (2, 1, 15000))
    assert (histogram.source, histogram.columns) == ("histogram", ("latency_ms", "count"))
    assert histogram.rows == ((0.01, 4), (0.02, 1), (0.05, 1))


def test_how_it_ran_is_an_option_and_what_it_ran_on_a_fact():
    report = parse(
        benchmark(
            jmhVersion="1.37",
            jdkVersion="17.0.15",
            jvmArgs=["-Xmx1g", "-Dpassword=geheim"],
            warmupIterations=0,
            warmupTime="10 s",
            warmupBatchSize=1,
            measurementIterations=5,
            measurementTime="1 s",
            measurementBatchSize=20,
        )
    )
    assert report.facts == {
        "tool": "JMH",
        "tool_version": "1.37",
        "jdk_version": "17.0.15",
        "jvm_args": "-Xmx1g -Dpassword=***",
    }
    assert report.runs[0].options == {
        "forks": 2,
        "warmup_iterations": 0,
        "measurement_iterations": 5,
        "measurement_time": "1 s",
        "measurement_batch_size": 20,
    }


def test_what_differs_between_the_runs_is_an_option_of_each():
    report = parse(benchmark(jmhVersion="1.37", jvmArgs=["-Xmx1g"]), benchmark("b", jmhVersion="1.37"))
    assert report.facts == {"tool": "JMH", "tool_version": "1.37"}
    assert [run.options.get("jvm_args") for run in report.runs] == ["-Xmx1g", None]


def test_a_benchmark_without_a_score_is_left_out_with_a_warning():
    report = parse(benchmark(), benchmark("bench.Simple.broken", primary=metric("NaN", error="NaN")))
    assert [run.column for run in report.runs] == ["bench.Simple.do1"]
    assert report.warnings == ("bench.Simple.broken avgt was left out: its score is NaN",)


def test_a_file_without_any_score_is_refused():
    text = json.dumps([benchmark(primary=metric("NaN"))])
    assert refusal(text) == (1, "no benchmark was measured: the score of bench.Simple.do1 avgt is NaN")
    assert refusal("[\n]\n") == (1, "no benchmark was measured: the list is empty")


@pytest.mark.parametrize(
    ("change", "at", "reason"),
    [
        ({"primary": metric(-1)}, '"score"', "'score' is negative"),
        (
            {"primary": metric(2, scoreConfidence=[3, 4])},
            '"scoreConfidence"',
            "'scoreConfidence' does not hold the score",
        ),
        ({"secondary": {"gc.count": metric(-1)}}, '"score": -1', "'score' is negative"),
        ({"primary": metric(True)}, '"score"', "'score' must be a number"),
        ({"primary": metric("fast")}, '"score"', "'score' must be a number"),
        ({"primary": metric(1e200)}, '"score"', "'score' is too large"),
        ({"primary": metric(error=-1)}, '"scoreError"', "'scoreError' is negative"),
        ({"primary": metric(error=[])}, '"scoreError"', "'scoreError' must be a number"),
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
        ({"threads": 10**30}, '"threads"', "'threads' must be from 1 to 1000000"),
        ({"forks": "two"}, '"forks"', "'forks' must be a whole number"),
        ({"mode": 1}, '"mode"', "'mode' must be a text"),
        ({"params": {"size": 10}}, '"size"', "'size' must be a text"),
        ({"params": ["size"]}, '"params"', "'params' must be an object"),
        ({"jvmArgs": [777]}, "777", "'jvmArgs' must be a text"),
        ({"secondary": {"gc.count": 3}}, '"gc.count"', "'gc.count' must be an object"),
        ({"secondary": {"gc.count": metric("x")}}, '"x"', "'score' must be a number"),
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
        ("[\n 3\n]", 2, "a benchmark must be an object"),
        ('[\n{"mode": "avgt"}]', 2, "a benchmark has no 'benchmark'"),
        ('[\n{"benchmark": "a"}]', 2, "a benchmark has no 'primaryMetric'"),
        ('[\n{"benchmark": " "}]', 2, "'benchmark' is empty"),
        ('[\n{"benchmark": "a",\n"benchmark": "b"}]', 3, "the key 'benchmark' is given twice in one object"),
        ("[" * 100_000, 1, "the JSON is nested too deeply for a result file"),
        ('[{"benchmark": "x",\n "primaryMetric": {"score": 1e999}}]', 2, "the number 1e999 is too large"),
    ],
)
def test_what_is_no_json_of_jmh_is_refused_with_its_line(text, line, message):
    assert refusal(text) == (line, message)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_does_not_have_are_refused(constant):
    text = json.dumps([benchmark(primary=metric(777))], indent=1).replace("777", constant)
    line, message = refusal(text)
    assert line == line_with(text, constant)
    assert message == f"{constant} is not a number that can be compared"


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b'\n [ {\n "jmhVersion" : "1.37",\n "benchmark" : "a.b"', True),
        (b'[{"benchmark": "a.b", "primaryMetric": {}}]', True),
        (b'{"benchmark": "a.b", "primaryMetric": {}}', False),
        (b'[{"benchmark": "a.b", "qps": 3}]', False),
        (b'{"unit": "queries/second", "measurements": []}', False),
        (b"# JMH version: 1.37", False),
        (b"", False),
    ],
)
def test_the_format_is_recognised_by_its_list_of_benchmarks(head, known):
    assert jmh_json.recognise(head) is known


def test_a_file_cut_anywhere_is_refused():
    data = (FIXTURES / "throughput-4-threads.json").read_bytes().rstrip()
    for end in places(data):
        with pytest.raises(FormatError) as error:
            jmh_json.parse(Source(data[:end]))
        assert error.value.line is not None


def test_a_file_whose_last_line_has_no_end_is_whole():
    data = (FIXTURES / "throughput-4-threads.json").read_bytes()
    assert jmh_json.parse(Source(data.rstrip())) == jmh_json.parse(Source(data))


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


@settings(max_examples=300, deadline=None)
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


@settings(max_examples=200, deadline=None)
@given(offset=st.integers(0, 3900), noise=st.binary(max_size=4))
def test_any_damage_is_read_or_refused(offset, noise):
    data = (FIXTURES / "throughput-4-threads.json").read_bytes()
    with suppress(FormatError):
        jmh_json.parse(Source(data[:offset] + noise + data[offset + len(noise) :]))


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
        found, scale = score(run), factor[primary["scoreUnit"]]
        assert (run.column, run.threads) == (entry["benchmark"], entry["threads"])
        assert found.value == pytest.approx(primary["score"] * scale, rel=1e-12)
        confidence = [bound * scale for bound in primary["scoreConfidence"]]
        assert [found.low, found.high] == pytest.approx(confidence, rel=1e-9)
