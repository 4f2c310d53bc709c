"""Tables of queries per second, or of any other metric: aligned columns, CSV, tabs, Markdown, drawn ones.

A file may hold one table with text around it, or several under headings of their own. The layouts: queries
beside the rows and products over the columns, thread counts over the columns or beside the rows, and a row
for each result with a named column for each fact and metric; there versions may stand beside metrics.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats import bexhoma
from ingest.formats.cells import is_number, is_quantity
from ingest.formats.documents import DocumentBlock, document_blocks
from ingest.formats.lines import with_plain_line_ends
from ingest.formats.outputs import missing_line_end
from ingest.formats.report import FormatError, NearMiss, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.documents import first_table, read_document, unread_tables
from ingest.formats.tables.entries import distinct_runs
from ingest.formats.tables.grids import read_grid, refuse_ratios, refuse_relative
from ingest.formats.tables.layouts import SEPARATORS, column_block, separated_line
from ingest.formats.tables.table import Cell, Table, TableRow
from ingest.formats.tables.vocabulary import Metric, head_of, metric_of_sender

NOTHING_MEASURED = "no column says what was measured; write one such as 'workload', 'version' or 'threads'"
# No table begins like this, and looking for one in ten lines of it takes longer than reading the whole.
_JSON = re.compile(rb"\s*(?:\[\s*)?\{\s*\"")
# Signs that pages print in names for a hyphen, which a copied table keeps.
_TYPESET_HYPHEN = re.compile(r"[\u2010\u2011]|(?<=\w)[\u2012\u2013](?=\w)")
_BOXES = (
    dict.fromkeys(range(0x2500, 0x2580), "+")
    | dict.fromkeys(map(ord, "─━═"), "-")
    | dict.fromkeys(map(ord, "│┃║┆"), "|")
)
# Types of columns in DuckDB and Polars, and how many rows DuckDB counts.
_TYPES_OR_COUNTS = re.compile(
    r"\|(?:\s*(?:u?(?:big|huge|small|tiny)?int(?:eger)?[0-9]{0,3}|[fiu][0-9]{2}|varchar|str|double|float"
    r"|decimal\([0-9, ]+\)|bool(?:ean)?|date|time(?:stamp)?|-{3})\s*\|)+"
    r"|\|\s*[0-9]+ rows?(?:\s+[0-9]+ columns?)?\s*\|"
)
_RELATIVE = re.compile(r"\s*relative to\b", re.IGNORECASE)


def recognise(head: bytes) -> bool:
    if _JSON.match(head) or bexhoma.recognise(head):
        return False
    lines, blocks = _lines_and_blocks(head)
    if _RELATIVE.match(lines[0]) or _holds_table(blocks, lines, is_sure=False):
        return True
    rows = _rows_without_names(lines[:-1])
    return bool(rows) and len(rows[0].cells) > 2


def _lines_and_blocks(head: bytes) -> tuple[Sequence[str], Sequence[DocumentBlock]]:
    lines = _plain(with_plain_line_ends(head.decode("utf-8", "replace")).split("\n"))
    return lines, list(document_blocks(lines))


def _plain(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines with plain hyphens within words, and with one plain bar between cells."""
    if all(line.isascii() for line in lines):
        return lines
    return [_with_plain_bars(_TYPESET_HYPHEN.sub("-", line)) for line in lines]


def _with_plain_bars(line: str) -> str:
    """Return a line of a drawn table as ``+-|`` draw it; types and counts of rows are borders."""
    drawn = line.translate(_BOXES)
    if drawn != line and _TYPES_OR_COUNTS.fullmatch(drawn.strip()):
        return re.sub("[^|]", "-", drawn.strip())
    return drawn


def recognise_numbers(head: bytes) -> bool:
    """Return whether a file holds a table of names and numbers, of which its sender says what they are."""
    lines, blocks = _lines_and_blocks(head)
    return _holds_table(blocks, lines, is_sure=True)


def _holds_table(blocks: Sequence[DocumentBlock], lines: Sequence[str], *, is_sure: bool) -> bool:
    try:
        return bool(column_block(lines) or first_table(blocks, lines, is_sure=is_sure))
    except FormatError:
        return True


def near_miss(lines: Sequence[str]) -> NearMiss | None:
    """Say what a table of numbers lacks: what the numbers are, or the names of its columns."""
    lines = _plain(lines)
    try:
        table = first_table(document_blocks(lines), lines, is_sure=True)
    except FormatError as error:
        return NearMiss(f"its table cannot be read: {error.message}", error.line)
    if table is not None and table.rows:
        columns = ", ".join(repr(name[:40]) for name in table.names[1:4])
        unsaid = (
            f"nothing says what the numbers under {columns} are; write 'queries per second' or "
            "'95th percentile response time (ms)' above the table, or name the metric in the field 'metric'"
        )
        return NearMiss(_ratios(table.rows) or unsaid, table.line, len(table.rows))
    if unread := next(unread_tables(document_blocks(lines), lines), None):
        return NearMiss(NOTHING_MEASURED, unread.line)
    if rows := _rows_without_names(lines) or _rows_named_behind(lines):
        example = "write 'product,tps' above them, with the metric that it is"
        return NearMiss(_ratios(rows) or f"no line names the columns; {example}", rows[0].line, len(rows))
    if names := _names_of_numbers(lines):
        if any(head_of(name).named for name in names):
            return NearMiss(NOTHING_MEASURED, 1)
        shown = ", ".join(map(repr, names[:4]))
        return NearMiss(
            f"none of the columns {shown} is a metric that benchdash knows; write the units behind their "
            "names, such as 'throughput (ops/s)' and 'p95 (us)', or declare them: 'rss_mb [MB, lower]'",
            1,
        )
    return None


def _ratios(rows: Sequence[TableRow]) -> str:
    try:
        refuse_ratios(rows, 1)
    except FormatError as error:
        return error.message
    return ""


def parse(source: Source) -> ParsedReport:
    """Read a run for each result of the tables. Raise FormatError with the line that cannot be understood."""
    lines = _plain(source.lines)
    cells = (
        max(len(line.split()), line.count(",") + 1, line.count(";") + 1, line.count("|")) for line in lines
    )
    source.limits.check("cells", sum(cells))
    refuse_relative([(1, lines[0])])
    sent = metric_of_sender(source.metric)
    report = read_document(lines, sent) or _report_without_names(lines, sent)
    return replace(report, warnings=(*report.warnings, *missing_line_end(source)))


def _report_without_names(lines: Sequence[str], sent: Metric | None) -> ParsedReport:
    """Read columns without names as ``col1``, ``col2``, where the sender says what their numbers are.

    Raise FormatError where he does not, and for any other file.
    """
    rows = _rows_without_names(lines)
    if not rows:
        raise FormatError("no line names the columns of a table, or nothing says what they are", line=1)
    width = len(rows[0].cells) - 1
    if sent is None:
        refuse_ratios(rows, line=1)
        versions = ",".join(f"mysql-8.{number}" for number in range(min(width, 3)))
        raise FormatError(
            f"no line names the columns; write one above them, such as 'query,{versions}', or name the "
            "metric in the field 'metric': then they are col1, col2 ..., and the field 'map' says what "
            "each is",
            line=1,
        )
    names = ("query", *(f"col{index}" for index in range(1, width + 1)))
    found = read_grid(Table(1, names, rows), sent)
    entries = (
        replace(entry, run=replace(entry.run, product=None, configuration=None)) for entry in found.entries
    )
    told = "no line names the columns; they are called col1, col2 ...: say in 'map' what each is"
    return ParsedReport(distinct_runs(entries), warnings=(told, *found.warnings))


# --- names and numbers in a file that does not say what they are --------------------------------------------


def _rows_named_behind(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the lines of which each is numbers and a name behind them, where they are most of a file."""
    words = [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]
    rows = [
        TableRow(number, (row[-1], *row[:-1]))
        for number, row in words
        if len(row) > 1 and row[-1][:1].isalpha() and all(map(is_number, row[:-1]))
    ]
    return tuple(rows) if 1 < len(rows) > len(words) / 2 else ()


def _names_of_numbers(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names over numbers on the first line of a file whose second line has as many cells."""
    written = [line for line in lines if line.strip()][:2]
    for separator in SEPARATORS if len(written) == 2 else ():
        names, cells = (separated_line(line, separator) for line in written)
        are_names = len(names) > 2 and all(name[:1].isalpha() for name in names)
        if are_names and len(cells) == len(names) and any(map(is_quantity, cells)):
            return tuple(name for name, cell in zip(names, cells, strict=True) if is_quantity(cell))
    return ()


def _rows_without_names(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the rows of a file in which every line is a name and as many numbers."""
    first = next((line for line in lines if line.strip()), "")
    separator = "\t" if "\t" in first else ","
    if not _is_row(separated_line(first, separator)):
        return ()
    rows = tuple(
        TableRow(number, separated_line(line, separator))
        for number, line in enumerate(lines, start=1)
        if line.strip()
    )
    fit = all(_is_row(row.cells) and len(row.cells) == len(rows[0].cells) for row in rows)
    return rows if len(rows) > 1 and fit else ()


def _is_row(cells: Sequence[Cell]) -> bool:
    name, *numbers = map(str, cells or ("",))
    return bool(numbers) and name[:1].isalpha() and all(map(is_number, numbers))
