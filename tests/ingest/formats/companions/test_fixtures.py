"""Every companion format on its fixtures: a file and what it must give.

A fixture is ``tests/ingest/fixtures_companions/<format>/<case>.<any suffix>`` with ``<case>.expected.json``
beside it:

    {"samples": {"source": "vmstat", "columns": ["sample", "run_queue"], "rows": 4},
     "means": {"cpu_user": 59.75}, "hardware": {"cpus": 2}, "environment": {"kernel": "6.1"}, "warnings": []}

or, for a file that cannot be read, ``{"error": {"line": 12, "message": "no processor"}}``. What does
not matter to the case is left out. ``samples`` are null where there are none; their ``rows`` may be their
number or the first of them. No other hardware fact may be there, nor a time of day (``began_s``, in seconds).
"""

import json
from pathlib import Path

import pytest

from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.real_files import each_of
from tests.ingest.formats.test_fixtures import EXPECTED, fields_of_error, same, source_of

FIXTURES = Path(__file__).parents[2] / "fixtures_companions"
CASES = sorted(path for path in FIXTURES.glob("*/*") if not path.name.endswith(EXPECTED))
EXPECTATIONS = sorted(FIXTURES.glob(f"*/*{EXPECTED}"))


def expectation_of(path):
    return json.loads((path.parent / f"{path.stem}{EXPECTED}").read_text())


def parse(path):
    return COMPANION_FORMATS[path.parent.name].parse(source_of(path))


def check_samples(found, expected):
    if expected is None:
        assert found == ()
        return
    (table,) = found
    assert (table.run, table.source) == ("", expected["source"])
    assert all(len(row) == len(table.columns) for row in table.rows)
    if "columns" in expected:
        assert list(table.columns) == expected["columns"]
    rows = expected["rows"]
    if isinstance(rows, int):
        assert len(table.rows) == rows
    else:
        assert same(table.rows[: len(rows)], rows), table.rows[: len(rows)]


@pytest.mark.parametrize("name", COMPANION_FORMATS)
def test_every_companion_format_has_a_fixture(name):
    assert any(path.parent.name == name for path in CASES)


def test_every_fixture_belongs_to_a_format_and_says_what_it_must_give():
    assert {path.parent.name for path in CASES} <= COMPANION_FORMATS.keys()
    assert [path.parent / f"{path.stem}{EXPECTED}" for path in CASES] == EXPECTATIONS


@each_of(CASES)
def test_a_fixture_gives_what_is_written_beside_it(path):
    expected = expectation_of(path)
    if error := expected.get("error"):
        with pytest.raises(FormatError) as refusal:
            parse(path)
        assert same(fields_of_error(refusal.value), error), fields_of_error(refusal.value)
        return
    report = parse(path)
    if "samples" in expected:
        check_samples(report.samples, expected["samples"])
    means = {mean.metric: mean.value for mean in report.means}
    if expected.get("means") == {}:
        assert means == {}
    assert {name: means.get(name) for name in expected.get("means", {})} == pytest.approx(
        expected.get("means", {}), abs=1e-9
    )
    assert report.began_s == pytest.approx(expected.get("began_s"))
    if "hardware" in expected:
        assert dict(report.hardware) == expected["hardware"]
    assert same(dict(report.environment), expected.get("environment", {})), dict(report.environment)
    if "warnings" in expected:
        assert list(report.warnings) == expected["warnings"]


@each_of(path for path in CASES if path.suffix != ".json")
def test_a_fixture_without_its_end_gives_a_report_or_a_reason(path):
    """Cut at every line end, and within the last line: then there is a warning, or a reason."""
    data = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    for end in [*ends[:: max(1, len(ends) // 60)], *range(max(ends[0], len(data) - 40), len(data))]:
        report = tried(path.parent.name, data[:end])
        if report and data[end - 1] != ord("\n"):
            assert report.warnings, f"cut at {end}"


def tried(name, data):
    try:
        return COMPANION_FORMATS[name].parse(Source(data))
    except FormatError:
        return None
