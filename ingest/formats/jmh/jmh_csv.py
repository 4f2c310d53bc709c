"""JMH's CSV and SCSV, as ``-rf csv`` and ``-rf scsv`` write them: a line for each result, primary or not."""

import re
from collections.abc import Sequence

from ingest.formats.cells import separated_cells
from ingest.formats.jmh.columns import CSV_HEAD, Columns, columns_of
from ingest.formats.jmh.results import NOT_APPLICABLE, report_of
from ingest.formats.jmh.score_table import ScoreTable, warnings_of
from ingest.formats.outputs import quoted, whole_lines
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source

_NO_HEAD = "the first line does not name the columns of JMH's CSV"
_PROBLEM = "the line cannot be split into cells:"
# A last cell in quotes is all there.
_WHOLE_LINE = re.compile(r'.*[^,;\t]"')


def recognise(head: bytes) -> bool:
    first = head.lstrip().partition(b"\n")[0].partition(b"\r")[0]
    return CSV_HEAD.fullmatch(first.decode("utf-8", "replace")) is not None


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, for lines that JMH does not write and where nothing was measured.
    """
    lines, warnings = whole_lines(source, closing=None if b"Param: " in source.head else _WHOLE_LINE)
    tables = _tables(source, lines)
    for table in tables:
        _leave_out_empty_parameters(table)
    benchmarks = [benchmark for table in tables for benchmark in table.benchmarks()]
    results = [result for benchmark in benchmarks if (result := benchmark.result)]
    if not results:
        for benchmark in benchmarks:
            raise FormatError(f"{benchmark.workload} was not measured: {benchmark.problem}", benchmark.line)
        raise FormatError("no line with a result; did JMH finish?", len(source.lines))
    return report_of(results, [*warnings, *warnings_of(benchmarks)])


def _tables(source: Source, lines: Sequence[str]) -> list[ScoreTable]:
    """Return the table of each file that is put in here."""
    first, head = next((line for line in enumerate(lines, start=1) if line[1].strip()), (1, ""))
    match = CSV_HEAD.fullmatch(head)
    if not match:
        if lines:
            raise FormatError(_NO_HEAD, first)
        return []
    separator = match["separator"]
    source.limits.check("cells", len(lines) * len(head.split(separator)))
    tables: list[ScoreTable] = []
    for line, cells in separated_cells(lines[first - 1 :], separator, first, _PROBLEM):
        if cells[0] == "Benchmark" and CSV_HEAD.fullmatch(separator.join(cells)):
            tables.append(ScoreTable(line, _columns(cells, line)))
            continue
        if not tables:
            # A quote that is not closed takes in the lines below the head.
            raise FormatError(_NO_HEAD, first)
        columns = tables[-1].columns
        row = columns.row(cells) if len(cells) == columns.width else None
        if row is None:
            raise FormatError(
                f"no row for the columns in line {tables[-1].line}: {quoted(separator.join(cells))}", line
            )
        tables[-1].rows.append((line, row))
    return tables


def _columns(cells: Sequence[str], line: int) -> Columns:
    columns = columns_of(cells)
    if columns is None or columns.unread or len(set(cells)) < len(cells):
        raise FormatError("the columns after 'Unit' are not the parameters of benchmarks", line)
    return columns


def _leave_out_empty_parameters(table: ScoreTable) -> None:
    """Leave out the parameters that a benchmark does not have: their cells are empty in all of its rows."""
    if not table.columns.params:
        return
    given = {(row.benchmark, name) for _, row in table.rows for name, value in row.params.items() if value}
    for place, (line, row) in enumerate(table.rows):
        params = {
            name: value if (row.benchmark, name) in given else NOT_APPLICABLE
            for name, value in row.params.items()
        }
        table.rows[place] = (line, row._replace(params=params))
