"""The fixtures of all formats, of results and of companions alike, and what a report says."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from ingest.formats import FORMATS, formats_of, parse
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.report import FormatError
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures"
BESIDE = Path(__file__).parents[1] / "fixtures_companions"
EXPECTED = ".expected.json"
# Of pgbench and HammerDB, one line has the rate, and lines behind it have the latencies of statements; of
# DTrace, each distribution gives a reading.
ONE_RESULT_A_LINE = frozenset(
    {
        *("insert_benchmark", "jmh_csv", "jmh_text", "mysqlslap", "per_operation", "qps_json", "qps_table"),
        *("bexhoma", "dtrace", "go_test", "hammerdb", "pgbench", "redis_benchmark", "run_lines"),
    }
)
# Real files that may be read but not all copied; a machine without them skips what needs them.
SHARED = Path(__file__).parents[4] / "shared" / "data"


@dataclass(frozen=True)
class Read:
    """What a format said of a file: all that it found, and its warnings.

    ``parts`` are the same without what depends on other parts: the runs, the samples, the facts. Where each
    line is a result of its own, the parts are the single readings and tables.
    """

    found: tuple
    parts: Counter
    warnings: frozenset


@cache
def fixtures():
    """The files that are fixtures of a format, in its folder."""
    return [
        path
        for path in sorted([*FIXTURES.rglob("*"), *BESIDE.rglob("*")])
        if path.is_file() and format_of(path) and not path.name.endswith(EXPECTED)
    ]


def format_of(path):
    name = path.parent.name
    return name if name in FORMATS or name in COMPANION_FORMATS else None


def read(name, data):
    """Raises FormatError, as any sender of this file as this format is told."""
    source = Source(data)
    if name in FORMATS:
        _, report = parse(source, name)
        found = (report.runs, report.intervals, dict(report.facts))
        parts = _parts_of_results(report, split=name in ONE_RESULT_A_LINE)
        return Read(found, parts, frozenset(report.warnings))
    report = COMPANION_FORMATS[name].parse(source)
    found = (report.samples, report.means, dict(report.hardware), dict(report.environment))
    return Read(found, _parts_of_companion(report), frozenset((*source.warnings, *report.warnings)))


def _by_itself(run):
    is_told_apart = bool(run.headings)
    return replace(
        run,
        key="",
        heading="",
        repetition=None,
        product=None if is_told_apart else run.product,
        version=None if is_told_apart else run.version,
    )


def _parts_of_results(report, *, split):
    tables = {}
    for table in report.intervals:
        tables.setdefault(table.run, []).append(repr(replace(table, run="")))
    # A key, a heading and the number of a repetition depend on the runs beside this one.
    runs = [(_by_itself(run), tables.get(run.key, ())) for run in report.runs]
    if split:
        single = [repr(replace(run, readings=(one,), options={})) for run, _ in runs for one in run.readings]
        return Counter([*single, *(table for _, tables in runs for table in tables)])
    return Counter((repr(run), *tables) for run, tables in runs)


def _parts_of_companion(report):
    rows = [(table.source, table.columns, row) for table in report.samples for row in table.rows]
    return Counter([*rows, *report.hardware.items(), *report.environment.items()])


def understood(name, data):
    """As ``read``; None where the file is refused."""
    try:
        return read(name, data)
    except FormatError:
        return None


def recognised_by(data):
    """The names of all formats, of results and of companions, that take this for a file of theirs."""
    head = Source(data).head
    return [*formats_of(head), *(name for name, of in COMPANION_FORMATS.items() if of.recognise(head))]


@cache
def accepted():
    """The fixtures that are understood."""
    return [path for path in fixtures() if understood(format_of(path), path.read_bytes())]


def each_of(paths):
    """Make a test of one file a test for each format, which reports all of its files that fail."""
    files = {}
    for path in paths:
        files.setdefault(format_of(path), []).append(path)

    def one_test_a_format(check):
        @pytest.mark.parametrize("name", files)
        def test(name):
            failures = []
            for path in files[name]:
                try:
                    check(path)
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - the others are tried, too
                    failure.add_note(f"in {path.parent.name}/{path.name}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(files[name])} files fail", failures)

        return test

    return one_test_a_format
