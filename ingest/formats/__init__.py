"""File formats: a module each, found by being here or in a package of its family.

A format is a module with ``recognise(head: bytes) -> bool`` and ``parse(source: Source) -> ParsedReport``.
``recognise`` sees the first 64 kB and is exclusive: no real file is recognised by two formats, but for one
with tables beside what a tool printed. A format may also have ``near_miss(lines: Sequence[str]) -> NearMiss |
None``, which says of the lines of a file that no format recognises what they lack to be its own, and
``recognise_numbers(head: bytes) -> bool``, which is asked where the sender says what the numbers are.
"""

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Protocol, cast

from ingest.formats.limits import Limits
from ingest.formats.refusals import refusal
from ingest.formats.report import FormatError, Intervals, ParsedReport
from ingest.formats.source import Source


class Format(Protocol):
    def recognise(self, head: bytes) -> bool: ...
    def parse(self, source: Source) -> ParsedReport: ...


def find_formats(package: str, path: Iterable[str]) -> Iterator[tuple[str, ModuleType]]:
    """Yield name and module of each format in a package and the packages within it."""
    for found in pkgutil.iter_modules(path, f"{package}."):
        if found.name != _COMPANIONS:
            module = importlib.import_module(found.name)
            if hasattr(module, "recognise"):
                yield found.name.rpartition(".")[2], module
            if found.ispkg:
                yield from find_formats(found.name, module.__path__)


# Formats of what lies beside a result are no formats of results.
_COMPANIONS = f"{__name__}.companions"
FORMATS = {name: cast(Format, module) for name, module in sorted(find_formats(__name__, __path__))}


# Tables of a document mostly repeat what a tool printed above them.
_TABLES = "qps_table"


def recognise(source: Source) -> str:
    """Return the name of the one format that knows this file: of a tool, where it holds tables beside.

    Raise FormatError where none or more than one does.
    """
    return _recognise(source)[1][0]


def _recognise(source: Source) -> tuple[Source, list[str]]:
    """Return the text to read, the format that it is read as, and that of the tables beside it if any are."""
    source.check()  # refuses empty and binary files with a better sentence than "not recognised"
    names = [name for name, format_ in FORMATS.items() if format_.recognise(source.head)]
    if not names and source.metric:
        asked = {name: getattr(format_, "recognise_numbers", None) for name, format_ in FORMATS.items()}
        names = [name for name, knows in asked.items() if knows and knows(source.head)]
    if not names:
        tools = {name: format_ for name, format_ in FORMATS.items() if name != _TABLES}
        source = _laid_bare(source, tools.values())
        names = [name for name, format_ in tools.items() if format_.recognise(source.head)]
    names.sort(key=_TABLES.__eq__)
    if len(names) == 1 or (len(names) == 2 and names[1] == _TABLES):
        return source, names
    if names:
        raise FormatError(
            f"the file looks like {' and like '.join(names)}; name the format in the field 'format'"
        )
    raise refusal(source.head, FORMATS)


def parse(source: Source, name: str | None = None) -> tuple[str, ParsedReport]:
    """Read a file by the named format, or by the one that recognises it.

    Of a log of several containers or units, only those are read that wrote a result. Raise FormatError where
    the file cannot be understood or the name is unknown.
    """
    if name and name not in FORMATS:
        raise FormatError(f"no format is called {name!r}; known are {', '.join(FORMATS)}")
    if name:
        source, names = _laid_bare(_streams_with_a_result(source, [FORMATS[name]]), [FORMATS[name]]), [name]
    else:
        source, names = _recognise(_streams_with_a_result(source, FORMATS.values()))
    name, *beside = names
    try:
        report = _parse(source, name)
    except FormatError as error:
        refused = FormatError(*_in_file(source, error), read_as=name)
        if not beside:
            raise refused from None
        return _TABLES, _tables_alone(source, refused)
    if beside:
        alone = f"read as {name} alone; tables beside it are read where the field 'format' names {_TABLES!r}"
        report = replace(report, warnings=(*report.warnings, alone))
    return name, report


def _tables_alone(source: Source, refused: FormatError) -> ParsedReport:
    """Return the tables beside what a tool printed. Raise FormatError where they cannot be read either."""
    try:
        report = _parse(source, _TABLES)
    except FormatError as error:
        message, line = _in_file(source, error)
        both = f"{refused.message}; nor are the tables beside it read: {message} (line {line})"
        raise FormatError(both, refused.line, read_as=refused.read_as) from None
    left_out = f"the tables alone were read: {refused.sentence} (line {refused.line})"
    return replace(report, warnings=(left_out, *report.warnings))


def _in_file(source: Source, error: FormatError) -> tuple[str, int | None]:
    """Return message and line of an error with the numbers that lines have in the file."""
    line = None if error.line is None else source.line_in_file(error.line)
    return source.with_lines_in_file(error.message), line


def _streams_with_a_result(source: Source, formats: Collection[Format]) -> Source:
    source.check()
    heads = source.stream_heads
    chosen = [stream for stream, head in heads.items() if any(format_.recognise(head) for format_ in formats)]
    return source.of_streams(chosen) if chosen and len(heads) > 1 else source


def _laid_bare(source: Source, formats: Collection[Format]) -> Source:
    """Return the text without what most lines begin with, where that hides what a tool printed."""
    if any(format_.recognise(source.head) for format_ in formats):
        return source
    bare = source.without_what_lines_begin_with()
    return bare if bare and any(format_.recognise(bare.head) for format_ in formats) else source


def _parse(source: Source, name: str) -> ParsedReport:
    report = FORMATS[name].parse(source)
    if not report.runs:
        raise FormatError("the file holds no result")
    source.limits.check("runs", len(report.runs))
    report = _with_samples_within(source.limits, report)
    warnings = map(source.with_lines_in_file, report.warnings)
    return replace(report, warnings=(*source.warnings, *warnings))


def _with_samples_within(limits: Limits, report: ParsedReport) -> ParsedReport:
    """Return the report without the tables that go beyond the limit, and a warning of them."""
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
