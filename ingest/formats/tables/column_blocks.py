"""Tables under a block that names their columns, with the name of each row behind its numbers.

    col-1 : x.my8043_rel.c8r32
    col-2 : x.my8044_rel.c8r32

    col-1	col-2
    2870	3013	hot-points_range=100

The scripts that write this layout write queries per second. For scans they write rows per second instead, in
thousands or in millions, and do not say which.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchdash.results.readings import HIGHER
from ingest.formats.outputs import bounded
from ingest.formats.report import FormatError, ParsedRun
from ingest.formats.tables.entries import RunEntry
from ingest.formats.tables.grids import read_grid, refuse_ratios, refuse_relative, says_metric
from ingest.formats.tables.metric_words import Metric
from ingest.formats.tables.reading import Entries
from ingest.formats.tables.table import Table, TableRow, counted

_NAMED = re.compile(r"\s*(col-[0-9]{1,9})\s*:\s*(\S.*)", re.IGNORECASE)
_HEAD = re.compile(r"col-[0-9]{1,9}(?:\s+col-[0-9]{1,9})*\s*", re.IGNORECASE)
_SCAN_RATE = Metric("scan_rate", unit="rows/s, scaled", direction=HIGHER)
_SCAN = re.compile(r"scan(?:$|[._ ])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """A table whose columns a block above it names; the block begins on the line at ``index``."""

    index: int

    def read(self, lines: Sequence[str], sent: Metric | None) -> tuple[Entries, tuple[tuple[int, str], ...]]:
        """Return the runs, one for each cell, and the titles. Raise FormatError with the line to blame."""
        index = self.index
        head = next((at for at in range(index, len(lines)) if _HEAD.fullmatch(lines[at])), None)
        if head is None:
            raise FormatError(
                "the block names columns, but no line 'col-1 ...' stands over a table", index + 1
            )
        titles, names = _titles_and_names(lines[:head])
        refuse_relative(titles)
        rows = _rows(lines, head)
        columns = _columns(lines[head].casefold().split(), head + 1, names)
        table = Table(head + 1, ("", *columns), tuple(rows), tuple(titles), metric=Metric("qps"))
        if sent or says_metric("", (text for _, text in titles)):
            return named_builds(read_grid(table, sent)), tuple(titles)
        refuse_ratios(rows, head + 1)
        return named_builds(_read_queries_and_scans(table)), tuple(titles)


def find_column_block(lines: Sequence[str], most: int) -> ColumnBlock | None:
    """Find a table whose block begins on one of the first ``most`` lines."""
    index = next((index for index, line in enumerate(lines[:most]) if _NAMED.fullmatch(line)), None)
    return None if index is None else ColumnBlock(index)


def named_builds(found: Entries) -> Entries:
    """Return the entries with names of columns taken for versions: ``x.my8044_rel.c8r32`` is a build.

    Which product it is of, its sender says.
    """
    entries = (RunEntry(entry.line, named_build(entry.run)) for entry in found.entries)
    return replace(found, entries=tuple(entries))


def named_build(run: ParsedRun) -> ParsedRun:
    """Return the run with a column's name that has no version taken for one."""
    return run if run.version else replace(run, product=None, version=run.column)


def _titles_and_names(above: Sequence[str]) -> tuple[list[tuple[int, str]], dict[str, tuple[int, str]]]:
    """Return the lines above the table that are text, and line and name of each column of the block."""
    titles: list[tuple[int, str]] = []
    names: dict[str, tuple[int, str]] = {}
    for number, text in _numbered_texts(above):
        if found := _NAMED.fullmatch(text):
            column = found[1].casefold()
            if column in names:
                raise FormatError(f"{column} is named on line {names[column][0]} already", number)
            names[column] = (number, " ".join(found[2].split()))
        else:
            titles.append((number, text))
    return titles, names


def _columns(columns: Sequence[str], line: int, names: Mapping[str, tuple[int, str]]) -> list[str]:
    for column, (named_on, _) in names.items():
        if column not in columns:
            raise FormatError(f"{column} is named, but there is no such column", named_on)
    for column in columns:
        if column not in names:
            raise FormatError(f"the block above the table does not name {column}", line)
    return [names[column][1] for column in columns]


def _rows(lines: Sequence[str], head: int) -> list[TableRow]:
    width = len(lines[head].split())
    separator = "\t" if "\t" in lines[head].strip() else None
    rows = []
    for number, text in enumerate(lines[head + 1 :], start=head + 2):
        if not text.strip():
            continue
        if _NAMED.fullmatch(text) or _HEAD.fullmatch(text):
            raise FormatError("a second table begins; send each table as a file of its own", number)
        cells = [cell.strip() for cell in text.split(separator, maxsplit=width)]
        if len(cells) != width + 1:
            raise FormatError(
                f"{counted(len(cells), 'cell')}; {counted(width, 'number')} and the name of the row "
                "behind them are meant",
                number,
            )
        rows.append(TableRow(number, (" ".join(cells[-1].split()), *cells[:-1])))
    return rows


def _read_queries_and_scans(table: Table) -> Entries:
    scans = tuple(row for row in table.rows if _SCAN.match(str(row.cells[0])))
    queries = tuple(row for row in table.rows if row not in scans)
    found = [read_grid(replace(table, rows=queries))] if queries or not scans else []
    warnings: list[str] = []
    if scans:
        found.append(read_grid(replace(table, rows=scans), _SCAN_RATE))
        warnings = [
            f"line {row.line}: {str(row.cells[0])[:80]} counts rows, in thousands or millions; "
            "kept as scan_rate"
            for row in scans
        ]
    return Entries(
        tuple(entry for one in found for entry in one.entries),
        (*bounded(warnings), *(warning for one in found for warning in one.warnings)),
    )


def _numbered_texts(lines: Iterable[str]) -> list[tuple[int, str]]:
    return [(number, text) for number, line in enumerate(lines, start=1) if (text := line.strip())]
