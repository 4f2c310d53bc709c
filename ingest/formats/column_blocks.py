"""Tables under a block that names their columns, with the name of each row behind its numbers:

    col-1 : x.my8043_rel.c8r32
    col-2 : x.my8044_rel.c8r32

    col-1	col-2
    2870	3013	hot-points_range=100

The scripts that write this layout write queries per second. For scans they write rows per second instead, in
thousands or in millions, and do not say which.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchdash.results.readings import HIGHER, Reading
from ingest.formats.entries import shortened
from ingest.formats.grids import (
    Grid,
    Row,
    counted,
    named_builds,
    read_grid,
    refuse_ratios,
    refuse_relative,
    says_metric,
)
from ingest.formats.metric_words import Metric
from ingest.formats.report import FormatError, ParsedReport

_NAMED = re.compile(r"\s*(col-[0-9]{1,9})\s*:\s*(\S.*)", re.IGNORECASE)
_HEAD = re.compile(r"col-[0-9]{1,9}(?:\s+col-[0-9]{1,9})*\s*", re.IGNORECASE)
_SCAN = re.compile(r"scan(?:$|[._ ])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ColumnBlockTable:
    """A table in the lines of a file; the block begins on line ``index + 1``."""

    lines: Sequence[str]
    index: int

    def read(self) -> ParsedReport:
        """A run for each cell; raises FormatError where the table cannot be understood."""
        head = self._head()
        titles, names = self._titles_and_names(head)
        refuse_relative(titles)
        rows = self._rows(head)
        grid = Grid(
            line=head + 1,
            head="",
            columns=tuple(self._columns(head, names)),
            rows=tuple(rows),
            titles=tuple(titles),
            metric=Metric("qps"),
        )
        if says_metric("", (text for _, text in titles)):
            return named_builds(read_grid(grid))
        refuse_ratios(rows, head + 1)
        return named_builds(_read_queries_and_scans(grid))

    def _head(self) -> int:
        """The index of the line over the columns."""
        for index in range(self.index, len(self.lines)):
            if _HEAD.fullmatch(self.lines[index]):
                return index
        raise FormatError(
            "the block names columns, but no line 'col-1 ...' stands over a table", self.index + 1
        )

    def _titles_and_names(self, head: int) -> tuple[list[tuple[int, str]], dict[str, tuple[int, str]]]:
        """The lines above the table that are text, and line and name of each column of the block."""
        titles: list[tuple[int, str]] = []
        names: dict[str, tuple[int, str]] = {}
        for number, text in enumerate(self.lines[:head], start=1):
            if found := _NAMED.fullmatch(text):
                column = found[1].casefold()
                if column in names:
                    raise FormatError(f"{column} is named on line {names[column][0]} already", number)
                names[column] = (number, " ".join(found[2].split()))
            elif text.strip():
                titles.append((number, text.strip()))
        return titles, names

    def _columns(self, head: int, names: Mapping[str, tuple[int, str]]) -> list[str]:
        columns = self.lines[head].casefold().split()
        for column, (line, _) in names.items():
            if column not in columns:
                raise FormatError(f"{column} is named, but there is no such column", line)
        for column in columns:
            if column not in names:
                raise FormatError(f"the block above the table does not name {column}", head + 1)
        return [names[column][1] for column in columns]

    def _rows(self, head: int) -> list[Row]:
        width = len(self.lines[head].split())
        separator = "\t" if "\t" in self.lines[head].strip() else None
        rows = []
        for number, text in enumerate(self.lines[head + 1 :], start=head + 2):
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
            rows.append(Row(number, " ".join(cells[-1].split()), tuple(cells[:-1])))
        return rows


def find_column_block(lines: Sequence[str], most: int) -> ColumnBlockTable | None:
    """The table whose block begins on one of the first ``most`` lines, or None."""
    for index, line in enumerate(lines[:most]):
        if _NAMED.fullmatch(line):
            return ColumnBlockTable(lines, index)
    return None


def _read_queries_and_scans(grid: Grid) -> ParsedReport:
    scans = tuple(row for row in grid.rows if _SCAN.match(row.label))
    if not scans:
        return read_grid(grid)
    warnings = [
        f"line {row.line}: {row.label[:80]} counts rows, in thousands or millions; kept as scan_rate"
        for row in scans
    ]
    scanned = _as_scan_rates(read_grid(replace(grid, rows=scans)))
    queries = tuple(row for row in grid.rows if not _SCAN.match(row.label))
    if not queries:
        return replace(scanned, warnings=(*shortened(warnings), *scanned.warnings))
    report = read_grid(replace(grid, rows=queries))
    return replace(
        report,
        runs=report.runs + scanned.runs,
        warnings=(*shortened(warnings), *report.warnings, *scanned.warnings),
    )


def _as_scan_rates(report: ParsedReport) -> ParsedReport:
    runs = tuple(
        replace(run, readings=(Reading("scan_rate", run.readings[0].value, "rows/s, scaled", HIGHER),))
        for run in report.runs
    )
    return replace(report, runs=runs)
