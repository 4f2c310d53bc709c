"""One execution of JMH gives the same runs in each of its four forms, to the digits that a form prints."""

import pytest

from ingest.formats.jmh import jmh_csv, jmh_json, jmh_text
from ingest.formats.source import Source
from tests.ingest.formats import real_files

SHARED = real_files.SHARED
RUNS = sorted(path.with_suffix("") for path in SHARED.glob("jmh/*/*.scsv"))
FORMATS = {".json": jmh_json, ".csv": jmh_csv, ".scsv": jmh_csv, ".txt": jmh_text}
DECIMALS = {".csv": 6, ".scsv": 6, ".txt": 3}
NORMALISED = {"us/op": 1e3, "ms/op": 1e6, "ops/ms": 1e3}

pytestmark = pytest.mark.skipif(not RUNS, reason="../shared/data/jmh is not here")


def read(path, suffix):
    path = path.with_name(path.name + suffix)
    return FORMATS[suffix].parse(Source(path.read_bytes(), path.name))


def readings(run):
    return {reading.metric: reading for reading in run.readings}


def same_number(printed, exact, digit, *, is_sum):
    """Whether a number is the exact one, rounded to a digit; a bound is a sum of two that are."""
    if exact is None or printed is None:
        return printed is exact
    return printed == pytest.approx(exact, abs=(1.001 if is_sum else 0.5005) * digit, rel=1e-12)


@pytest.mark.parametrize("suffix", DECIMALS)
@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_form_gives_what_the_json_gives(path, suffix):
    exact, form = read(path, ".json"), read(path, suffix)
    assert [(run.key, run.workload, run.column, run.threads) for run in form.runs] == [
        (run.key, run.workload, run.column, run.threads) for run in exact.runs
    ]
    for run, exact_run in zip(form.runs, exact.runs, strict=True):
        found, expected = readings(run), readings(exact_run)
        assert list(found) == list(expected)
        for metric, reading in expected.items():
            other = found[metric]
            assert (other.unit, other.direction, other.printed_unit) == (
                reading.unit,
                reading.direction,
                reading.printed_unit,
            )
            digit = 10 ** -DECIMALS[suffix] * NORMALISED.get(reading.printed_unit, 1)
            assert same_number(other.value, reading.value, digit, is_sum=False), metric
            assert same_number(other.low, reading.low, digit, is_sum=True), metric
            assert same_number(other.high, reading.high, digit, is_sum=True), metric


@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_commas_and_semicolons_make_no_difference(path):
    assert read(path, ".csv") == read(path, ".scsv")


@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_only_the_output_tells_of_benchmarks_that_failed(path):
    warnings = {suffix: read(path, suffix).warnings for suffix in FORMATS}
    failed = path.parent.name == "mysql-connector-java-5.1.24" and path.name == "avgt-t1"
    assert [len(warnings[suffix]) for suffix in FORMATS] == [0, 0, 0, 2 if failed else 0]


@pytest.mark.parametrize(
    "path", sorted(SHARED.glob("jmh/*/*.txt")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_options_facts_and_iterations_are_those_of_the_json(path):
    text = jmh_text.parse(Source(path.read_bytes()))
    json = jmh_json.parse(Source(path.with_suffix(".json").read_bytes()))
    assert text.facts == json.facts | {"blackhole_mode": "compiler"}
    assert [run.options for run in text.runs] == [run.options for run in json.runs]
    iterations = {table.run: table.rows for table in json.intervals if table.source == "iterations"}
    units = {run.key: run.readings[0].printed_unit for run in json.runs}
    assert iterations.keys() == {table.run for table in text.intervals}
    for table in text.intervals:
        # JMH prints three decimals.
        half = 0.0005001 * {"us/op": 1e3, "ms/op": 1e6, "ops/ms": 1e3}.get(units[table.run], 1)
        for row, exact_row in zip(table.rows, iterations[table.run], strict=True):
            assert row[:2] == exact_row[:2]
            assert row[2] == pytest.approx(exact_row[2], abs=half, rel=1e-12)
