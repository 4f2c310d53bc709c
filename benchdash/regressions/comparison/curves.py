"""Scaling curves of compared versions: the shape of each."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.detection.curves import CurvePoint, Shape, shape_of
from benchdash.results.readings import HIGHER


@dataclass(frozen=True, slots=True)
class Curve:
    """One version at one place: ``points`` by rising thread counts.

    ``shape`` is None where the points are too few to say.
    """

    unit: str
    points: tuple[CurvePoint, ...]
    shape: Shape | None


def curve_of(cells: Mapping[int, Cell]) -> Curve | None:
    """Make a curve of throughput by thread count. None where more is worse, and for a single thread count."""
    if len(cells) < 2 or any(cell.direction != HIGHER for cell in cells.values()):
        return None
    points = tuple(
        CurvePoint(threads, cell.value, cell.values, cell.sessions) for threads, cell in sorted(cells.items())
    )
    unit = next(iter(cells.values())).unit
    return Curve(unit=unit, points=points, shape=shape_of(points))


@dataclass(frozen=True, slots=True)
class ColumnCurve:
    """The curve of one column of a comparison, with the cells that it was made of by thread count."""

    workload: str
    column: Column
    cells: Mapping[int, Cell]
    curve: Curve


def curves_of(table: ComparisonTable[Column]) -> list[ColumnCurve]:
    """List the curves of a table by workload, the base first and then the columns in their order."""
    columns = [table.base, *table.columns]
    cells: dict[str, list[dict[int, Cell]]] = defaultdict(lambda: [{} for _ in columns])
    for row in table.rows:
        for of_column, cell in zip(cells[row.workload], row.sides, strict=True):
            if cell and row.threads is not None and cell.unit == row.unit:
                of_column[row.threads] = cell
    return [
        ColumnCurve(workload, column, of_column, curve)
        for workload, of_workload in cells.items()
        for column, of_column in zip(columns, of_workload, strict=True)
        if (curve := curve_of(of_column))
    ]
