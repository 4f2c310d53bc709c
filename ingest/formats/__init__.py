"""File formats: a module each, found by being here or in a package of its family.

A format is a module with ``recognise(head: bytes) -> bool`` and ``parse(source: Source) -> ParsedReport``.
``recognise`` sees the first 64 kB and is exclusive: no real file is recognised by two formats, but for one
with tables beside what a tool printed. A format may also have ``recognise_numbers(head: bytes) -> bool``.

A file is recognised in this order, and the first that gives a format counts:

1. tools, by a banner, a key or a line that nothing else has; two of them are refused, for one would be lost;
2. tables, in the lines that those tools did not print;
3. names and numbers, where the sender says what the numbers are;
4. tools in the text behind what most lines begin with.

What a file that no format recognises lacks is told by ``refusals``.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Protocol, cast

from ingest.budget import check_budget
from ingest.formats.json_spec import JsonSpec
from ingest.formats.limits import Limits
from ingest.formats.refusals import refusal
from ingest.formats.report import FormatError, Intervals, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tool_spec import ToolSpec


class Format(Protocol):
    def recognise(self, head: bytes) -> bool: ...
    def parse(self, source: Source) -> ParsedReport: ...


def find_formats(package: str, path: Iterable[str]) -> Iterator[tuple[str, ModuleType | ToolSpec]]:
    """Yield name and module of each format in a package and the packages within it."""
    for found in pkgutil.iter_modules(path, f"{package}."):
        if found.name != _COMPANIONS:
            module = importlib.import_module(found.name)
            if hasattr(module, "FORMAT") or hasattr(module, "recognise"):
                yield found.name.rpartition(".")[2], getattr(module, "FORMAT", module)
            if found.ispkg:
                yield from find_formats(found.name, module.__path__)


# Formats of what lies beside a result are no formats of results.
_COMPANIONS = f"{__name__}.companions"
# Tables of a document mostly repeat what a tool printed above them: they are looked for last.
_TABLES = "qps_table"
FORMATS: dict[str, Format] = {
    name: cast(Format, format_)
    for name, format_ in sorted(
        find_formats(__name__, __path__), key=lambda named: (named[0] == _TABLES, named[0])
    )
}

_LINE_OF_TABLE = re.compile(rb"^[^\S\n]*[|+\xe2][^\n]*[|+\x80-\xbf][^\S\n]*$|-\|[ :-]|\t", re.MULTILINE)


def recognise(source: Source) -> str:
    """Return the name of the one format that knows this file: of a tool, where it holds tables beside.

    Raise FormatError where none or more than one does.
    """
    with source.limits.budget(len(source.data)):
        return _only_format(*_find(source, FORMATS))[0]


def formats_of(head: bytes, formats: Mapping[str, Format] | None = None) -> list[str]:
    """Name the formats that know the head of a file, tables last: what a tool prints may look like one.

    Beside what a tool printed only a table with bars or tabs counts: looking for others takes longer than
    everything else.
    """
    names: list[str] = []
    for name, format_ in (FORMATS if formats is None else formats).items():
        check_budget()
        if name == _TABLES and names:
            head = _beside_tools(head, names)
        if head and format_.recognise(head):
            names.append(name)
    return names


def _beside_tools(head: bytes, names: Iterable[str]) -> bytes:
    """Return the lines that these tools did not print; nothing where no table can be among them."""
    if not _LINE_OF_TABLE.search(head):
        return b""
    for name in names:
        if isinstance(spec := FORMATS[name], ToolSpec):
            head = spec.without_its_lines(head)
    return head


def _find(source: Source, formats: Mapping[str, Format]) -> tuple[Source, list[str]]:
    """Return the text to read, and the formats that know it; the whole text where none does."""
    source.check()  # refuses empty and binary files with a better sentence than "not recognised"
    names = formats_of(source.head, formats)
    if not names and source.metric:
        asked = {name: getattr(format_, "recognise_numbers", None) for name, format_ in formats.items()}
        names = [name for name, knows in asked.items() if knows and knows(source.head)]
    if not names and (bare := source.without_what_lines_begin_with()):
        tools = {name: format_ for name, format_ in formats.items() if name != _TABLES}
        if names := formats_of(bare.head, tools):
            source = bare
    return source, names


def _only_format(source: Source, names: list[str]) -> list[str]:
    """Return the format, and that of the tables beside it if there are any. Raise FormatError for others."""
    if not names:
        raise refusal(
            source.head,
            [one.tool for one in FORMATS.values() if isinstance(one, JsonSpec) and not one.lines_named_by],
        )
    if len(names) > 1 and names[1:] != [_TABLES]:
        raise FormatError(
            f"the file looks like {' and like '.join(names)}; name the format in the field 'format'"
        )
    return names


def parse(source: Source, name: str | None = None) -> tuple[str, ParsedReport]:
    """Read a file by the named format, or by the one that recognises it.

    Raise FormatError where the file cannot be understood, the name is unknown, or it takes more CPU time than
    one file may.
    """
    with source.limits.budget(len(source.data)):
        return _parse_any(source, name)


def _parse_any(source: Source, name: str | None) -> tuple[str, ParsedReport]:
    if name and name not in FORMATS:
        raise FormatError(f"no format is called {name!r}; known are {', '.join(FORMATS)}")
    source, names = _find(source, {name: FORMATS[name]} if name else FORMATS)
    name, *beside = [name] if name else _only_format(source, names)
    try:
        report = _parse(source, name)
    except FormatError as error:
        refused = FormatError(error.message, error.line, read_as=name)
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
        both = f"{refused.message}; nor are the tables beside it read: {error.message} (line {error.line})"
        raise FormatError(both, refused.line, read_as=refused.read_as) from None
    left_out = f"the tables alone were read: {refused.sentence} (line {refused.line})"
    return replace(report, warnings=(left_out, *report.warnings))


def _parse(source: Source, name: str) -> ParsedReport:
    report = FORMATS[name].parse(source)
    if not report.runs:
        raise FormatError("the file holds no result")
    source.limits.check("runs", len(report.runs))
    report = _with_samples_within(source.limits, report)
    return replace(report, warnings=(*source.warnings, *report.warnings))


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
