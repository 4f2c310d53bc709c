"""Tables of comparisons in the units that people use: the figures of cells are turned, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.results.used_units import UsedUnit, used_units


def table_in_used_units(table: ComparisonTable[Column]) -> ComparisonTable[Column]:
    """Return a table whose cells are in one unit for each that is stored."""
    rows = tuple(rows_in_used_units(table.rows))
    return replace(table, rows=rows, unit=rows[0].unit)


def rows_in_used_units(rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows whose cells are in one unit for each that is stored."""
    units = used_units(cell for row in rows for cell in row.sides if cell)
    if all(unit.factor == 1 for unit in units.values()):
        return rows
    return [
        replace(
            row,
            base=_turned(row.base, units),
            cells=tuple(_turned(cell, units) for cell in row.cells),
        )
        for row in rows
    ]


def _turned(cell: Cell | None, units: Mapping[str, UsedUnit]) -> Cell | None:
    if cell is None:
        return None
    used = units[cell.unit]
    return cell._replace(
        unit=used.unit,
        printed_unit="",
        value=used.of(cell.value),
        low=used.maybe(cell.low),
        high=used.maybe(cell.high),
        values=tuple(map(used.of, cell.values)),
        forks=tuple(map(used.of, cell.forks)),
    )
