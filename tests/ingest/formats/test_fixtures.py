"""Every format on its fixtures: a real file and what it must give.

A fixture is ``tests/ingest/fixtures/<format>/<case>.<any suffix>`` with ``<case>.expected.json`` beside it:

    {"runs": [{"key": "", "threads": 4, "readings": {"tps": 852.1, "score": {"value": 3, "unit": "ns/op"}}}],
     "intervals": [{"run": "", "source": "sysbench", "columns": ["time_s", "tps"], "rows": 4}],
     "facts": {"tool_version": "1.0.20"},
     "warnings": []}

or, for a file that is refused, ``{"error": {"line": 12, "message": "no final report"}}``. Objects may leave
out what does not matter to the case. Lists are compared whole, except that ``rows`` may be their number or
the first of them. ``metrics`` of a run, when given, are the names of all its readings in order. ``metric`` is
what the sender says that the numbers are.

Small files that show one thing each are pairs in ``<format>/cases``: one test goes through all of a folder.
"""

import json
from datetime import datetime
from pathlib import Path

import pytest

from ingest.formats import FORMATS, formats_of, parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.real_files import each_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED = ".expected.json"
CASES = sorted(
    path
    for path in FIXTURES.glob("*/*")
    if path.is_file() and not path.name.startswith(".") and not path.name.endswith(EXPECTED)
)
EXPECTATIONS = sorted(FIXTURES.glob(f"*/*{EXPECTED}"))
FOLDERS_OF_CASES = sorted(FIXTURES.glob("*/cases"))


def source_of(path):
    return Source(path.read_bytes(), path.name, metric=expectation_of(path).get("metric", ""))


def expectation_of(path):
    return json.loads((path.parent / f"{path.stem}{EXPECTED}").read_text())


def format_of(path):
    return path.relative_to(FIXTURES).parts[0]


def same(found, expected):
    """Whether what was found is what is expected; an expected object may leave keys out."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and same(found[key], expected[key]) for key in expected
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(expected)
            and all(map(same, found, expected))
        )
    if isinstance(expected, bool) or isinstance(found, bool):
        return found is expected
    if isinstance(expected, float | int):
        return found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    return found == expected


def plain(value):
    """A value of the report as JSON would hold it."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def fields(value):
    return {name: plain(getattr(value, name)) for name in type(value).__dataclass_fields__}


def check_runs(found, expected):
    assert [run.key for run in found] == [run.get("key", "") for run in expected]
    for run, wanted in zip(found, expected, strict=True):
        values = fields(run) | {"metrics": [reading.metric for reading in run.readings]}
        values["options"] = dict(run.options)
        assert len(set(values["metrics"])) == len(run.readings), f"a metric twice in run {run.key!r}"
        readings = {reading.metric: reading._asdict() for reading in run.readings}
        for metric, value in wanted.get("readings", {}).items():
            assert metric in readings, f"run {run.key!r} has no {metric}, only {', '.join(readings)}"
            wanted_reading = value if isinstance(value, dict) else {"value": value}
            assert same(readings[metric], wanted_reading), f"{metric} is {readings[metric]}"
        for name in wanted.keys() - {"readings"}:
            assert same(values[name], wanted[name]), f"{name} is {values[name]!r}"


def check_intervals(found, expected):
    named = [(table.run, table.source) for table in found]
    assert named == [(table.get("run", ""), table["source"]) for table in expected]
    for table, wanted in zip(found, expected, strict=True):
        if "columns" in wanted:
            assert list(table.columns) == wanted["columns"]
        assert all(len(row) == len(table.columns) for row in table.rows)
        rows = wanted.get("rows", [])
        if isinstance(rows, int):
            assert len(table.rows) == rows
        else:
            assert same(table.rows[: len(rows)], rows), table.rows[: len(rows)]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_fixture(name):
    assert any(path.parent.name == name for path in CASES)


def test_every_fixture_belongs_to_a_format_and_says_what_it_must_give():
    assert {path.parent.name for path in CASES} <= FORMATS.keys()
    beside = {path.parent / f"{path.stem}{EXPECTED}" for path in CASES}
    assert len(beside) == len(CASES), "two files share one expectation"
    assert beside == set(EXPECTATIONS)


@each_of(CASES)
def test_a_fixture_gives_what_is_written_beside_it(path):
    check_fixture(path)


@pytest.mark.parametrize("folder", FOLDERS_OF_CASES, ids=lambda folder: folder.parent.name)
def test_small_files_give_what_is_written_beside_them(folder):
    expectations = sorted(folder.glob(f"*{EXPECTED}"))
    paths = [path for path in sorted(folder.iterdir()) if path not in expectations]
    assert [f"{path.stem}{EXPECTED}" for path in paths] == [path.name for path in expectations]
    assert {path.name: problem for path in paths if (problem := problem_of(path))} == {}


def problem_of(path):
    source = source_of(path)
    if (names := formats_of(source.head)) != [format_of(path)] and (names or not source.metric):
        return f"recognised as {names}"
    try:
        check_fixture(path)
    except (AssertionError, FormatError, pytest.fail.Exception) as error:
        return str(error)
    return ""


def check_fixture(path):
    expected = expectation_of(path)
    if error := expected.get("error"):
        with pytest.raises(FormatError) as refusal:
            parse(source_of(path), format_of(path))
        assert same(fields_of_error(refusal.value), error), fields_of_error(refusal.value)
        return
    _, report = parse(source_of(path), format_of(path))
    check_runs(report.runs, expected["runs"])
    if "intervals" in expected:
        check_intervals(report.intervals, expected["intervals"])
    if "warnings" in expected:
        assert list(report.warnings) == expected["warnings"], report.warnings
    assert same(dict(report.facts), expected.get("facts", {})), dict(report.facts)


def fields_of_error(error):
    return {"line": error.line, "message": error.message}


def test_an_expectation_that_differs_is_noticed():
    assert same({"a": 1.0, "b": 2}, {"a": 1})
    assert not same({"a": 1.0}, {"a": 1.00001})
    assert not same({"a": 1.0}, {"b": 1.0})
    assert not same((1, 2), [1])
    assert not same(None, 0)
    assert not same("1", 1)
