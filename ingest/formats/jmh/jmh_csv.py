"""JMH's CSV and SCSV, as ``-rf csv`` and ``-rf scsv`` write them: a line for each result, primary or not."""

import re

from ingest.formats.cells import separated_cells
from ingest.formats.jmh.results import NOT_APPLICABLE, report_of
from ingest.formats.jmh.score_table import ScoreTable, columns_of, warnings_of
from ingest.formats.outputs import quoted, whole_lines
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source

_HEAD = re.compile(
    r'\s*"?Benchmark"?(?P<separator>[,;\t])"?Mode"?(?P=separator)"?Threads"?(?P=separator)"?Samples"?'
    r'(?P=separator)"?(?:Score|Mean)"?(?P=separator)"?(?:Score|Mean) Error \(99[.,]9%\)"?'
    r'(?P=separator)"?Unit"?(?:(?P=separator).*)?'
)
_PROBLEM = "the line cannot be split into cells:"
# A last cell in quotes is all there.
_WHOLE_LINE = re.compile(r'.*[^,;\t]"')


def recognise(head: bytes) -> bool:
    first = head.lstrip().partition(b"\n")[0].partition(b"\r")[0]
    return _HEAD.fullmatch(first.decode("utf-8", "replace")) is not None


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, for lines that JMH does not write and where nothing was measured.
    """
    lines, warnings = whole_lines(source, closing=None if b"Param: " in source.head else _WHOLE_LINE)
    first, head = next((line for line in enumerate(lines, start=1) if line[1].strip()), (1, ""))
    separator = match["separator"] if (match := _HEAD.fullmatch(head)) else ","
    source.limits.check("cells", len(lines) * len(head.split(separator)))
    # One for each file that is put in here.
    tables: list[ScoreTable] = []
    for line, cells in separated_cells(lines[first - 1 :], separator, first, _PROBLEM):
        if not tables or (cells[0] == "Benchmark" and _HEAD.fullmatch(separator.join(cells))):
            columns = columns_of(cells)
            if columns is None or columns.unread or len(set(cells)) < len(cells):
                raise FormatError("the line does not name the columns of JMH's CSV", line)
            tables.append(ScoreTable(line, columns))
            continue
        table = tables[-1]
        row = table.columns.row(cells) if len(cells) == table.columns.width else None
        if row is None:
            problem = f"no row for the columns in line {table.line}: {quoted(separator.join(cells))}"
            raise FormatError(problem, line)
        table.rows.append((line, row))
    for table in (table for table in tables if table.columns.params):
        _leave_out_empty_parameters(table)
    results = [result for table in tables for result in table.results()]
    return report_of(results, [*warnings, *warnings_of(results)], len(source.lines))


def _leave_out_empty_parameters(table: ScoreTable) -> None:
    """Leave out the parameters that a benchmark does not have: their cells are empty in all of its rows."""
    given = {(row.benchmark, name) for _, row in table.rows for name, value in row.params.items() if value}
    for place, (line, row) in enumerate(table.rows):
        params = {
            name: value if (row.benchmark, name) in given else NOT_APPLICABLE
            for name, value in row.params.items()
        }
        table.rows[place] = (line, row._replace(params=params))
