"""Tables under a block that names their columns, with the name of each row behind its numbers.

    col-1 : x.my8043_rel.c8r32
    col-2 : x.my8044_rel.c8r32

    col-1	col-2
    2870	3013	hot-points_range=100

The scripts that write this layout write queries per second. For scans they write rows per second instead, in
thousands or in millions, and do not say which.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from benchdash.results.readings import HIGHER
from ingest.formats.outputs import bounded
from ingest.formats.report import FormatError, ParsedRun
from ingest.formats.tables.grids import read_grid, refuse_ratios, says_metric
from ingest.formats.tables.metric_words import Metric
from ingest.formats.tables.reading import Entries
from ingest.formats.tables.table import Table, TableRow, trimmed

_MAX_LINES_ABOVE = 10
_NAMED = re.compile(r"\s*(col-[0-9]{1,9})\s*:\s*(\S.*)", re.IGNORECASE)
_HEAD = re.compile(r"col-[0-9]{1,9}(?:\s+col-[0-9]{1,9})*\s*", re.IGNORECASE)
_SCAN_RATE = Metric("scan_rate", unit="rows/s, scaled", direction=HIGHER)
_SCAN = re.compile(r"scan(?:$|[._ ])", re.IGNORECASE)


def begins_column_block(lines: Sequence[str]) -> bool:
    return any(map(_NAMED.fullmatch, lines[:_MAX_LINES_ABOVE]))


def read_column_block(lines: Sequence[str], sent: Metric | None) -> tuple[Entries, Table]:
    """Return the runs, one for each cell, and their table. Raise FormatError with the line to blame."""
    table = _table(lines)
    if sent or says_metric("", (text for _, text in table.titles)):
        read = read_grid(table, sent)
    else:
        refuse_ratios(table.rows, table.line)
        read = _read_queries_and_scans(table)
    entries = (replace(entry, run=named_build(entry.run)) for entry in read.entries)
    return replace(read, entries=tuple(entries)), table


def named_build(run: ParsedRun) -> ParsedRun:
    """Return the run with a column's name that has no version taken for one: ``x.my8044_rel.c8r32``.

    Which product it is of, its sender says.
    """
    return run if run.version else replace(run, product=None, version=run.column)


def _table(lines: Sequence[str]) -> Table:
    head = next((at for at, line in enumerate(lines) if _HEAD.fullmatch(line)), None)
    if head is None:
        raise FormatError("the block names columns, but no line 'col-1 ...' stands over a table", 1)
    above = [(number, line.strip()) for number, line in enumerate(lines[:head], start=1) if line.strip()]
    named = [(found[1].casefold(), found[2]) for _, line in above if (found := _NAMED.fullmatch(line))]
    columns = lines[head].casefold().split()
    if sorted(name for name, _ in named) != sorted(columns):
        names = ", ".join(name for name, _ in named)
        raise FormatError(
            f"the block above names {names}, but the columns are {', '.join(columns)}", head + 1
        )
    meanings = {name: " ".join(text.split()) for name, text in named}
    separator = "\t" if "\t" in lines[head].strip() else None
    rows = []
    for number, text in enumerate(lines[head + 1 :], start=head + 2):
        if text.strip():
            *cells, label = (cell.strip() for cell in text.split(separator, maxsplit=len(columns)))
            rows.append(TableRow(number, (" ".join(label.split()), *cells)))
    heads, fitting = trimmed(("", *(meanings[column] for column in columns)), rows)
    titles = tuple((number, line) for number, line in above if not _NAMED.fullmatch(line))
    return Table(head + 1, heads, fitting, titles, metric=Metric("qps"))


def _read_queries_and_scans(table: Table) -> Entries:
    scans = tuple(row for row in table.rows if _SCAN.match(str(row.cells[0])))
    queries = tuple(row for row in table.rows if row not in scans)
    read = [read_grid(replace(table, rows=queries))] if queries or not scans else []
    if scans:
        read.append(read_grid(replace(table, rows=scans), _SCAN_RATE))
    warnings = [
        f"line {row.line}: {str(row.cells[0])[:80]} counts rows, in thousands or millions; kept as scan_rate"
        for row in scans
    ]
    return Entries(
        tuple(entry for part in read for entry in part.entries),
        (*bounded(warnings), *(warning for part in read for warning in part.warnings)),
    )
