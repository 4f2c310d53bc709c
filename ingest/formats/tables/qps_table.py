"""Tables of queries per second, or of any other metric: aligned columns, CSV, tabs, Markdown, drawn ones.

A file may hold one table with text around it, or several under headings of their own. The layouts: queries
beside the rows and products over the columns, thread counts over the columns or beside the rows, and a row
for each result with a named column for each fact and metric; there versions may stand beside metrics.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats import bexhoma
from ingest.formats.documents import blocks_of_head
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.column_blocks import find_column_block
from ingest.formats.tables.documents import any_table, read_document
from ingest.formats.tables.entries import distinct_runs
from ingest.formats.tables.grids import refuse_ratios, refuse_relative
from ingest.formats.tables.metric_words import Metric, metric_of_sender
from ingest.formats.tables.separated import rows_without_names
from ingest.formats.tables.table import title_fact

_LINES_ABOVE_TABLE = 10
# No table begins like this, and looking for one in ten lines of it takes longer than reading the whole.
_JSON = re.compile(rb"\s*(?:\[\s*)?\{\s*\"")
_RELATIVE = re.compile(r"\s*relative to\b", re.IGNORECASE)


def recognise(head: bytes) -> bool:
    if _JSON.match(head) or bexhoma.recognise(head):
        return False
    lines = head.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if _RELATIVE.match(lines[0]) or find_column_block(lines, _LINES_ABOVE_TABLE):
        return True
    return any_table(blocks_of_head(head), lines) or bool(rows_without_names(lines[:-1]))


def parse(source: Source) -> ParsedReport:
    """Read a run for each result of the tables. Raise FormatError with the line that cannot be understood."""
    lines = source.lines
    cells = (
        max(len(line.split()), line.count(",") + 1, line.count(";") + 1, line.count("|")) for line in lines
    )
    source.limits.check("cells", sum(cells))
    refuse_relative([(1, lines[0])])
    report = _report(lines, metric_of_sender(source.metric))
    if source.ends_with_newline:
        return report
    cut = "the last line has no line end; if the file was cut off, its last number was too"
    return replace(report, warnings=(*report.warnings, cut))


def _report(lines: Sequence[str], sent: Metric | None) -> ParsedReport:
    if block := find_column_block(lines, _LINES_ABOVE_TABLE):
        found, titles = block.read(lines, sent)
        return ParsedReport(distinct_runs(found.entries), facts=title_fact(titles), warnings=found.warnings)
    if report := read_document(lines, sent):
        return report
    if rows := rows_without_names(lines):
        refuse_ratios(rows, line=1)
        raise FormatError("no line names the columns; write 'query' and their versions above them", line=1)
    raise FormatError("no line names the columns of a table, or nothing says what they are", line=1)
