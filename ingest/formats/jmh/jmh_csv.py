"""JMH's CSV and SCSV, as ``-rf csv`` and ``-rf scsv`` write them: a line for each result, primary or not."""

from collections.abc import Sequence

from ingest.formats.cells import separated_cells
from ingest.formats.jmh.cell_columns import CSV_HEAD, CellColumns, cell_columns_of
from ingest.formats.jmh.results import NOT_APPLICABLE, report_of
from ingest.formats.jmh.score_table import ScoreTable
from ingest.formats.jmh.table import ScoreRow, warnings_of
from ingest.formats.outputs import quoted
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source

_NO_HEAD = "the first line does not name the columns of JMH's CSV"
_PROBLEM = "the line cannot be split into cells:"


def recognise(head: bytes) -> bool:
    first = head.lstrip().partition(b"\n")[0].partition(b"\r")[0]
    return CSV_HEAD.fullmatch(first.decode("utf-8", "replace")) is not None


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, for lines that JMH does not write and where nothing was measured.
    """
    tables, warnings = _tables(source)
    for table in tables:
        table.rows = _with_their_parameters(table.rows)
    entries = [entry for table in tables for entry in table.entries()]
    for table in tables:
        for line, text in table.others:
            raise FormatError(f"{quoted(text)} is too large to have been measured", line)
    results = [result for entry in entries if (result := entry.result)]
    if not results:
        if entries:
            raise FormatError(
                f"{entries[0].workload} was not measured: {entries[0].problem}", entries[0].line
            )
        raise FormatError("no line with a result; did JMH finish?", len(source.lines))
    return report_of(results, [*warnings, *warnings_of(entries)])


def _tables(source: Source) -> tuple[list[ScoreTable], list[str]]:
    """Return the table of each file that is put in here, and warnings where the last line may be cut."""
    lines, warnings = [*source.lines], []
    first = next(number for number, line in enumerate(lines, start=1) if line.strip())
    head = CSV_HEAD.fullmatch(lines[first - 1])
    if not head:
        raise FormatError(_NO_HEAD, first)
    source.limits.check("cells", len(lines) * len(lines[first - 1].split(head["separator"])))
    if source.data.endswith(b"\r") and b"\n" in source.data:
        warnings.append(f"line {len(lines)}: the file ends within a line end; it may be cut off")
    if not source.ends_with_newline and len(lines) > first:
        # A last cell in quotes is all there.
        if "Param: " in lines[first - 1] or not lines[-1].endswith('"'):
            lines.pop()
            warnings.append(f"line {len(lines) + 1}, the last one, has no line end and was left out")
        else:
            warnings.append(f"line {len(lines)}, the last one, has no line end: the file may break off there")
    tables: list[ScoreTable] = []
    for line, cells in separated_cells(lines[first - 1 :], head["separator"], first, _PROBLEM):
        text = head["separator"].join(cells)
        if cells[0] == "Benchmark" and CSV_HEAD.fullmatch(text):
            tables.append(ScoreTable(line, _columns(cells, line)))
            continue
        if not tables:
            # A quote that is not closed takes in the lines below the head.
            raise FormatError(_NO_HEAD, first)
        columns = tables[-1].columns
        row = columns.row(cells) if isinstance(columns, CellColumns) and len(cells) == columns.width else None
        if row is None:
            raise FormatError(f"no row for the columns in line {tables[-1].line}: {quoted(text)}", line)
        tables[-1].rows.append((line, row))
    return tables, warnings


def _columns(cells: Sequence[str], line: int) -> CellColumns:
    columns = cell_columns_of(cells)
    if columns is None or columns.unread or len(set(cells)) < len(cells):
        raise FormatError("the columns after 'Unit' are not the parameters of benchmarks", line)
    return columns


def _with_their_parameters(rows: list[tuple[int, ScoreRow]]) -> list[tuple[int, ScoreRow]]:
    """Return the rows without the parameters that their benchmarks do not have: their cells are empty."""
    given = {(row.benchmark, name) for _, row in rows for name, value in row.params.items() if value}
    return [
        (
            line,
            row._replace(
                params={
                    name: value if (row.benchmark, name) in given else NOT_APPLICABLE
                    for name, value in row.params.items()
                }
            ),
        )
        for line, row in rows
    ]
