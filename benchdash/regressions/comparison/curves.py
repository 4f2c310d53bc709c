"""Scaling curves of compared versions: the shape of each, and the law of scalability through it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.regressions.detection.curves import CurvePoint, Shape, shape_of
from benchdash.regressions.detection.usl import Scalability, fit_scalability
from benchdash.results.readings import HIGHER


@dataclass(frozen=True, slots=True)
class Curve:
    """One version at one place: ``points`` by rising thread counts.

    ``shape`` and ``scalability`` are None where the points are too few to say.
    """

    unit: str
    points: tuple[CurvePoint, ...]
    shape: Shape | None
    scalability: Scalability | None


def curve_of(cells: Mapping[int, Cell]) -> Curve | None:
    """Make a curve of throughput by thread count. None where more is worse, and for a single thread count."""
    if len(cells) < 2 or any(cell.direction != HIGHER for cell in cells.values()):
        return None
    points = tuple(
        CurvePoint(threads, cell.value, cell.values, cell.sessions) for threads, cell in sorted(cells.items())
    )
    unit = next(iter(cells.values())).unit
    return Curve(unit=unit, points=points, shape=shape_of(points), scalability=_scalability(points))


def _scalability(points: tuple[CurvePoint, ...]) -> Scalability | None:
    """Fit the law through every run; runs whose session nobody named are one of their own."""
    threads = [point.threads for point in points for _ in point.values]
    values = [value for point in points for value in point.values]
    names = [
        name
        for point in points
        for name in point.sessions or [(point.threads, number) for number in range(len(point.values))]
    ]
    sessions = names if any(point.sessions for point in points) else []
    return fit_scalability(threads, values, sessions=sessions)


@dataclass(frozen=True, slots=True)
class ColumnCurve:
    """The curve of one column of a comparison, with the cells that it was made of by thread count."""

    workload: str
    column: Column
    cells: Mapping[int, Cell]
    curve: Curve


def curves_of(table: ComparisonTable) -> list[ColumnCurve]:
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
