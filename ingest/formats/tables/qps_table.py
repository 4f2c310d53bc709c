"""Tables of queries per second, or of any other metric, as text: aligned columns, CSV and tab-separated.

The layouts: queries beside the rows and products over the columns, thread counts over the columns or beside
the rows, and, in CSV, a row for each result with a named column for each fact and metric.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.aligned import find_aligned_grid, find_aligned_records
from ingest.formats.tables.column_blocks import find_column_block
from ingest.formats.tables.grids import Read, refuse_ratios, refuse_relative
from ingest.formats.tables.separated import find_separated_table, rows_without_names

_LINES_ABOVE_TABLE = 10
# No table begins like this, and looking for one in ten lines of it takes longer than reading the whole.
_JSON = re.compile(rb"\s*(?:\[\s*)?\{\s*\"")
_RELATIVE = re.compile(r"\s*relative to\b", re.IGNORECASE)


def recognise(head: bytes) -> bool:
    if _JSON.match(head):
        return False
    lines = head.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    is_table = _RELATIVE.match(lines[0]) is not None or _find_table(lines) is not None
    return is_table or bool(rows_without_names(lines[:-1]))


def parse(source: Source) -> ParsedReport:
    """Read a run for each result of the table. Raise FormatError with the line that cannot be understood."""
    lines = source.lines
    cells = (max(len(line.split()), line.count(",") + 1, line.count(";") + 1) for line in lines)
    source.limits.check("cells", sum(cells))
    refuse_relative([(1, lines[0])])
    read = _find_table(lines)
    if read is None:
        if rows := rows_without_names(lines):
            refuse_ratios(rows, line=1)
            raise FormatError(
                "no line names the columns; write 'query' and their versions above them", line=1
            )
        raise FormatError("no line names the columns of a table, or nothing says what they are", line=1)
    report = read()
    if source.ends_with_newline:
        return report
    cut = "the last line has no line end; if the file was cut off, its last number was too"
    return replace(report, warnings=(*report.warnings, cut))


def _find_table(lines: Sequence[str]) -> Read | None:
    return (
        find_column_block(lines, _LINES_ABOVE_TABLE)
        or find_separated_table(lines, _LINES_ABOVE_TABLE)
        or find_aligned_records(lines, _LINES_ABOVE_TABLE)
        or find_aligned_grid(lines, _LINES_ABOVE_TABLE)
    )
