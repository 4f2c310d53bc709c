"""What holds for whatever a format understands, however damaged the file was."""

import math
import re

from ingest.formats import FORMATS, parse
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.report import FormatError
from ingest.formats.source import Source

NO_TEXT = re.compile("[\0\ud800-\udfff]")


def check_read(name, data):
    """The report, which is sound, or None where the file is refused with a sentence.

    Any error but FormatError, and any unsound value, fails the test.
    """
    source = Source(data)
    assert isinstance(recognised(source, name), bool)
    try:
        report = parse(source, name)[1] if name in FORMATS else COMPANION_FORMATS[name].parse(source)
    except FormatError as error:
        check_refusal(error, source)
        return None
    if name in FORMATS:
        check_report(report)
    else:
        check_companion(report)
    return report


def recognised(source, name):
    formats = FORMATS if name in FORMATS else COMPANION_FORMATS
    return formats[name].recognise(source.head)


def check_refusal(error, source):
    assert error.message.strip()
    assert not NO_TEXT.search(error.message)
    assert len(error.message) < 2_000, "a refusal that nobody reads"
    if error.line is not None:
        assert 1 <= error.line <= max(source.data.count(b"\n") + source.data.count(b"\r") + 1, 1)


def check_report(report):
    assert report.runs
    keys = [run.key for run in report.runs]
    assert len(set(keys)) == len(keys), "two runs with one key"
    for run in report.runs:
        check_run(run)
    check_tables(report.intervals)
    assert {table.run for table in report.intervals} <= set(keys)
    check_facts(report.facts)
    check_warnings(report.warnings)


def check_run(run):
    check_readings(run.readings)
    assert run.threads is None or (isinstance(run.threads, int) and run.threads >= 0)
    assert run.duration_s is None or (math.isfinite(run.duration_s) and run.duration_s >= 0)
    check_facts(run.options)
    check_facts(run.settings)


def check_readings(readings):
    metrics = [reading.metric for reading in readings]
    assert len(set(metrics)) == len(metrics), "a metric twice"
    for reading in readings:
        numbers = (reading.value, reading.low, reading.high)
        assert all(number is None or math.isfinite(number) for number in numbers), reading
        assert reading.value >= 0, reading
        assert (reading.low is None) == (reading.high is None), reading
        if reading.low is not None and reading.high is not None:
            assert reading.low <= reading.value <= reading.high, reading


def check_tables(tables):
    named = [(table.run, table.source) for table in tables]
    assert len(set(named)) == len(named), "two tables of one source in a run"
    for table in tables:
        assert len(set(table.columns)) == len(table.columns), table.columns
        for row in table.rows:
            assert len(row) == len(table.columns)
            assert all(cell is None or math.isfinite(cell) for cell in row), row


def check_facts(facts):
    for name, value in facts.items():
        assert isinstance(name, str)
        assert value is None or isinstance(value, str | int | float), (name, value)
        assert not isinstance(value, float) or math.isfinite(value), (name, value)


def check_companion(report):
    check_readings(report.means)
    check_tables(report.samples)
    check_facts(report.hardware)
    check_facts(report.environment)
    check_warnings(report.warnings)


def check_warnings(warnings):
    assert all(isinstance(warning, str) and warning.strip() for warning in warnings)
    assert not any(NO_TEXT.search(warning) for warning in warnings)
