"""File formats: one module each, found by being here.

A format is a module with ``recognise(head: bytes) -> bool`` and ``parse(source: Source) -> ParsedReport``.
``recognise`` sees the first 64 kB and is exclusive: no real file is recognised by two formats.
"""

import importlib
import pkgutil
from dataclasses import replace
from typing import Protocol, cast

from ingest.formats.limits import Limits
from ingest.formats.report import FormatError, Intervals, ParsedReport
from ingest.formats.source import Source


class Format(Protocol):
    def recognise(self, head: bytes) -> bool: ...
    def parse(self, source: Source) -> ParsedReport: ...


def _find_formats() -> dict[str, Format]:
    modules = {
        found.name: importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.ispkg
    }
    return {
        name: cast(Format, module) for name, module in sorted(modules.items()) if hasattr(module, "recognise")
    }


FORMATS: dict[str, Format] = _find_formats()


def recognise(source: Source) -> str:
    """The name of the one format that knows this file.

    Raises FormatError where none or more than one does.
    """
    source.check()  # refuses empty and binary files with a better sentence than "not recognised"
    names = [name for name, format_ in FORMATS.items() if format_.recognise(source.head)]
    if len(names) == 1:
        return names[0]
    if names:
        raise FormatError(
            f"the file looks like {' and like '.join(names)}; name the format in the field 'format'"
        )
    first = source.head.decode("utf-8", "replace").lstrip().partition("\n")[0].rstrip()
    raise FormatError(
        f"not a result file that benchdash knows ({', '.join(FORMATS)}); it begins with {first[:80]!r}",
        line=1,
    )


def parse(source: Source, name: str | None = None) -> tuple[str, ParsedReport]:
    """Read a file by the named format, or by the one that recognises it.

    Raises FormatError where the file cannot be understood or the name is unknown.
    """
    if name and name not in FORMATS:
        raise FormatError(f"no format is called {name!r}; known are {', '.join(FORMATS)}")
    name = name or recognise(source)
    report = FORMATS[name].parse(source)
    if not report.runs:
        raise FormatError("the file holds no result")
    source.limits.check_runs(len(report.runs))
    report = _with_samples_within(source.limits, report)
    return name, replace(report, warnings=(*source.warnings, *report.warnings))


def _with_samples_within(limits: Limits, report: ParsedReport) -> ParsedReport:
    """The report without the tables that go beyond the limit, and a warning of them."""
    kept: list[Intervals] = []
    rows = 0
    for table in report.intervals:
        if rows + len(table.rows) <= limits.samples:
            kept.append(table)
            rows += len(table.rows)
    if len(kept) == len(report.intervals):
        return report
    missing = sum(len(table.rows) for table in report.intervals) - rows
    warnings = (*report.warnings, limits.samples_beyond(missing))
    return replace(report, intervals=tuple(kept), warnings=warnings)
