"""Tables under a block that names their columns, with the name of each row behind its numbers.

    col-1 : x.my8043_rel.c8r32
    col-2 : x.my8044_rel.c8r32

    col-1	col-2
    2870	3013	hot-points_range=100

The scripts that write this layout write queries per second. For scans they write rows per second instead, in
thousands or in millions, and do not say which.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchdash.results.readings import HIGHER, Reading
from ingest.formats.outputs import bounded
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.tables.grids import (
    Grid,
    GridRow,
    Read,
    counted,
    named_builds,
    numbered_texts,
    read_grid,
    refuse_ratios,
    refuse_relative,
    says_metric,
    second_table,
)
from ingest.formats.tables.metric_words import Metric

_NAMED = re.compile(r"\s*(col-[0-9]{1,9})\s*:\s*(\S.*)", re.IGNORECASE)
_HEAD = re.compile(r"col-[0-9]{1,9}(?:\s+col-[0-9]{1,9})*\s*", re.IGNORECASE)
_SCAN = re.compile(r"scan(?:$|[._ ])", re.IGNORECASE)


def find_column_block(lines: Sequence[str], most: int) -> Read | None:
    """Find a table whose block begins on one of the first ``most`` lines."""
    index = next((index for index, line in enumerate(lines[:most]) if _NAMED.fullmatch(line)), None)
    return None if index is None else partial(_read, lines, index)


def _read(lines: Sequence[str], index: int) -> ParsedReport:
    """Read a run for each cell. Raise FormatError where the table cannot be understood."""
    head = next((at for at in range(index, len(lines)) if _HEAD.fullmatch(lines[at])), None)
    if head is None:
        raise FormatError("the block names columns, but no line 'col-1 ...' stands over a table", index + 1)
    titles, names = _titles_and_names(lines[:head])
    refuse_relative(titles)
    rows = _rows(lines, head)
    columns = tuple(_columns(lines[head].casefold().split(), head + 1, names))
    grid = Grid(head + 1, "", columns, tuple(rows), tuple(titles), Metric("qps"))
    if says_metric("", (text for _, text in titles)):
        return named_builds(read_grid(grid))
    refuse_ratios(rows, head + 1)
    return named_builds(_read_queries_and_scans(grid))


def _titles_and_names(above: Sequence[str]) -> tuple[list[tuple[int, str]], dict[str, tuple[int, str]]]:
    """Return the lines above the table that are text, and line and name of each column of the block."""
    titles: list[tuple[int, str]] = []
    names: dict[str, tuple[int, str]] = {}
    for number, text in numbered_texts(above):
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


def _rows(lines: Sequence[str], head: int) -> list[GridRow]:
    width = len(lines[head].split())
    separator = "\t" if "\t" in lines[head].strip() else None
    rows = []
    for number, text in enumerate(lines[head + 1 :], start=head + 2):
        if not text.strip():
            continue
        if _NAMED.fullmatch(text) or _HEAD.fullmatch(text):
            raise second_table(number)
        cells = [cell.strip() for cell in text.split(separator, maxsplit=width)]
        if len(cells) != width + 1:
            raise FormatError(
                f"{counted(len(cells), 'cell')}; {counted(width, 'number')} and the name of the row "
                "behind them are meant",
                number,
            )
        rows.append(GridRow(number, " ".join(cells[-1].split()), tuple(cells[:-1])))
    return rows


def _read_queries_and_scans(grid: Grid) -> ParsedReport:
    scans = tuple(row for row in grid.rows if _SCAN.match(row.label))
    if not scans:
        return read_grid(grid)
    warnings = [
        f"line {row.line}: {row.label[:80]} counts rows, in thousands or millions; kept as scan_rate"
        for row in scans
    ]
    scanned = read_grid(replace(grid, rows=scans))
    runs = tuple(
        replace(run, readings=(Reading("scan_rate", run.readings[0].value, "rows/s, scaled", HIGHER),))
        for run in scanned.runs
    )
    scanned = replace(scanned, runs=runs)
    queries = tuple(row for row in grid.rows if not _SCAN.match(row.label))
    if not queries:
        return replace(scanned, warnings=(*bounded(warnings), *scanned.warnings))
    report = read_grid(replace(grid, rows=queries))
    return replace(
        report,
        runs=report.runs + scanned.runs,
        warnings=(*bounded(warnings), *report.warnings, *scanned.warnings),
    )
