"""The one table of comparisons: sides relative to a base, whatever the sides are.

Versions at places, the groups of a branch, values of a setting and the two sides of a gate become a table
here. Noise floors, shared sessions and controls are told for all of them in the same way.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import Cell, CellsOfMetric, RowKey, SeriesRow, newest_control
from benchdash.regressions.comparison.noise_floors import NoiseFloors, noise_floors
from benchdash.regressions.comparison.rows import (
    GroupSummary,
    Noise,
    RelativeTo,
    Row,
    compared_rows,
    group_summaries,
    summary_of,
)
from benchdash.regressions.detection.compare import EQUIVALENT
from benchdash.regressions.options import Margins, margins_of
from benchdash.results.place import Place
from benchdash.results.readings import Direction
from benchdash.results.workload_groups import Grouping

Side = TypeVar("Side")


@dataclass(frozen=True, slots=True)
class ComparisonTable(Generic[Side]):
    """Sides relative to a base: ``rows[i].cells[k]`` belongs to ``columns[k]``; it has at least one row.

    ``unit`` and ``direction`` are those of the first row, ``margin`` is what counts as the same. ``mean``
    sums up all rows, ``groups`` those of each group of workloads, in the order of the project's.
    """

    metric: str
    unit: str
    direction: Direction
    base: Side
    columns: tuple[Side, ...]
    rows: tuple[Row, ...]
    mean: GroupSummary
    margin: float
    groups: tuple[GroupSummary, ...] = ()

    @classmethod
    def of(
        cls,
        metric: str,
        base: Side,
        columns: Sequence[Side],
        rows: Sequence[Row],
        *,
        margin: float = EQUIVALENT,
        grouping: Grouping | None = None,
    ) -> Self:
        return cls(
            metric=metric,
            unit=rows[0].unit,
            direction=rows[0].direction,
            base=base,
            columns=tuple(columns),
            rows=tuple(rows),
            mean=summary_of(rows),
            margin=margin,
            groups=group_summaries(rows, grouping.names) if grouping else (),
        )

    @property
    def geomean(self) -> tuple[float | None, ...]:
        """The geometric mean of each column, over the rows that it and its base both have."""
        return self.mean.geomean


@dataclass(frozen=True, slots=True)
class SideCells(Generic[Side]):
    """The cells of a side by row.

    ``group`` is what histories know the side as, without which they are asked (see ``noise_floors``); None
    where they are asked with all that they have. ``place`` is where a control may stand beside it.
    """

    side: Side
    cells: Mapping[RowKey, Cell]
    group: Hashable = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class SidesReading:
    """Cells by metric, column and row, with all that a comparison of them is judged by.

    ``floors`` are None where nothing is compared.
    """

    by_metric: Mapping[str, CellsOfMetric]
    floors: NoiseFloors | None
    margins: Margins

    @classmethod
    def of(
        cls,
        project: Project,
        by_metric: Mapping[str, CellsOfMetric],
        series: Sequence[SeriesRow],
        *,
        is_compared: bool = True,
        by_days: bool = False,
    ) -> "SidesReading":
        """Read what histories know of what these cells measured; ``series`` are all at their places.

        ``by_days`` as for ``noise_floors``.
        """
        floors = None
        if is_compared:
            cells = (cell for of in by_metric.values() for by_row in of.values() for cell in by_row.values())
            ids = {cell.series_id for cell in cells}
            measured = {one.what for one in series if one.id in ids}
            floors = noise_floors([one for one in series if one.what in measured], by_days=by_days)
        return cls(by_metric, floors, margins_of(project))

    def of_column(self, metric: str, key: Hashable) -> Mapping[RowKey, Cell]:
        return self.by_metric.get(metric, {}).get(key, {})

    def control(self, metric: str, place: Place) -> Mapping[RowKey, Cell]:
        return newest_control(self.by_metric.get(metric, {}), place)

    def table(
        self,
        metric: str,
        sides: Sequence[SideCells[Side]],
        *,
        noise: Noise | None = None,
        margin: float | None = None,
        relative_to: RelativeTo = "base",
        grouping: Grouping | None = None,
        is_alike: Callable[[RowKey, int], bool] | None = None,
    ) -> ComparisonTable[Side] | None:
        """Compare sides, the base first; None where none of them has a cell.

        The control that tells the machine is that of the one place of all sides. ``noise`` is by default what
        ``floors`` know, ``margin`` that of the project; ``is_alike`` as for ``compared_rows``.
        """
        cells = [one.cells for one in sides]
        if not any(cells):
            return None
        base, *columns = (one.side for one in sides)
        if margin is None:
            margin = self.margins.of(metric, (cell.value for cell in cells[0].values()))
        if noise is None and self.floors:
            noise = self.floors.between(cells, [one.group for one in sides])
        places = {one.place for one in sides}
        place = places.pop() if len(places) == 1 else None
        rows = compared_rows(
            cells[0],
            cells[1:],
            noise=noise,
            margin=margin,
            relative_to=relative_to,
            group_of=grouping.of if grouping else None,
            is_alike=is_alike,
            control=self.control(metric, place) if place else None,
        )
        return ComparisonTable.of(metric, base, columns, rows, margin=margin, grouping=grouping)
