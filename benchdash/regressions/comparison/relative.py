"""Comparisons without their absolute figures, for projects that publish relative ones alone."""

from dataclasses import replace

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.version_table import ComparisonTable

RATIO = "ratio"


def relative_table(table: ComparisonTable) -> ComparisonTable:
    """Return the table with every value divided by that of the first cell of its row, which becomes 1.

    Cells in another unit than the first are left out, and rows in which the first is 0.
    """
    rows = [_relative_row(row) for row in table.rows]
    return replace(table, unit=RATIO, rows=tuple(row for row in rows if row))


def _relative_row(row: Row) -> Row | None:
    first = next(cell for cell in row.sides if cell)
    if not first.value:
        return None
    base, *cells = [_relative_cell(cell, first) for cell in row.sides]
    return replace(row, base=base, cells=tuple(cells))


def _relative_cell(cell: Cell | None, first: Cell) -> Cell | None:
    if cell is None or cell.unit != first.unit:
        return None
    return cell._replace(
        value=cell.value / first.value,
        low=None if cell.low is None else cell.low / first.value,
        high=None if cell.high is None else cell.high / first.value,
        values=(),
        tool_interval=None,
        forks=(),
        unit=RATIO,
    )
