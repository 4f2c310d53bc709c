"""The newest groups of a branch beside a baseline, in the shape of a comparison of versions."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from django.db.models import Case, Max, Min, When
from django.db.models.functions import TruncDate

from benchdash.accounts.models import Project
from benchdash.regressions.comparison import (
    Cell,
    Column,
    ComparisonTable,
    RowKey,
    SelectorError,
    cell_of,
    compare_columns,
    compared_rows,
    geometric_mean,
)
from benchdash.regressions.options import equivalence_margin
from benchdash.regressions.places import History
from benchdash.results.models import Run, Series
from benchdash.results.queries import Point, histories, positions

# So many groups tell the noise of a series of single runs.
_GROUPS_FOR_NOISE: Final = 30
# Noise itself changes, so no history is worth more than this.
_MOST_DF: Final = 19


@dataclass(frozen=True)
class BranchTable:
    """``groups`` has for each column a point of its group, whichever was measured first; so has
    ``base_group`` where the baseline is a group of the branch itself.
    """

    table: ComparisonTable
    groups: Sequence[Point]
    base_group: Point | None


def branch_table(
    project: Project, branch: Column, *, metric: str, last: int, base: Column | None
) -> BranchTable | None:
    """The ``last`` groups of a branch relative to the release ``base``; without it, to the oldest of them.

    ``branch`` is any column at its place. None where the metric was not measured there. A constant number of
    statements.
    """
    series = _series(project, branch, metric)
    since = _start_of_newest(project, branch, max(last, _GROUPS_FOR_NOISE))
    points = histories(series, since=since)
    order = positions(points.values(), branch=branch.branch)
    newest = sorted(order, key=lambda position: order[position])[-last:]
    if not newest:
        return None
    cells, first = _by_position(points, series)
    base_cells = _cells_of_release(project, base, metric) if base else {}
    base_group = None if base_cells else first[newest[0]]
    if base_group:
        base_cells, newest = cells[newest[0]], newest[1:]
    groups = [first[position] for position in newest]
    margin = equivalence_margin(project)
    rows = compared_rows(
        base_cells,
        [cells[position] for position in newest],
        noise=_noise(points, series),
        margin=margin,
    )
    table = ComparisonTable(
        metric=metric,
        unit=rows[0].unit,
        direction=rows[0].direction,
        base=replace(branch, version=base_group.version) if base_group else base or branch,
        columns=tuple(replace(branch, version=group.version) for group in groups),
        rows=tuple(rows),
        geomean=tuple(geometric_mean(rows, index) for index in range(len(groups))),
        margin=margin,
    )
    return BranchTable(table, groups, base_group)


def group_name(point: Point) -> str:
    """The beginning of its commit, or else its day."""
    return point.commit[:8] if point.commit else day(point.time)


def day(time: datetime) -> str:
    return f"{time.astimezone(UTC).day} {time.astimezone(UTC):%b}"


def _series(project: Project, branch: Column, metric: str) -> dict[int, Series]:
    found = Series.objects.filter(
        project=project,
        product=branch.version.product_id,
        build=branch.version.build,
        branch=branch.branch,
        hardware=branch.hardware_id,
        configuration=branch.configuration_id,
        counterpart=branch.counterpart,
        metric=metric,
    )
    return {one.pk: one for one in found.select_related("workload")}


def _start_of_newest(project: Project, branch: Column, count: int) -> datetime | None:
    """When the earliest run of the newest ``count`` groups started."""
    groups = (
        Run.objects.filter(
            project=project,
            version__product=branch.version.product_id,
            version__build=branch.version.build,
            branch=branch.branch,
            hardware=branch.hardware_id,
            configuration=branch.configuration_id,
            counterpart=branch.counterpart,
            excluded_at=None,
        )
        .annotate(day=Case(When(version__commit=None, then=TruncDate("started_at", tzinfo=UTC))))
        .order_by()
        .values_list("version__commit", "content", "day")
        .annotate(Max("version__committed_at"), Min("started_at"))
    )
    newest = sorted(((committed_at or start, start) for *_, committed_at, start in groups), reverse=True)
    return min((start for _, start in newest[:count]), default=None)


_Points = Mapping[int, Sequence[Point]]


def _by_position(
    points: _Points, series: Mapping[int, Series]
) -> tuple[dict[Hashable, dict[RowKey, Cell]], dict[Hashable, Point]]:
    """By position, the cells of its group and the point of it that was measured first."""
    cells: dict[Hashable, dict[RowKey, Cell]] = defaultdict(dict)
    first: dict[Hashable, Point] = {}
    for pk, of_series in points.items():
        for point in of_series:
            cells[point.position][_row_key(series[pk])] = cell_of(point, series[pk])
            if point.position not in first or point.time < first[point.position].time:
                first[point.position] = point
    return cells, first


def _row_key(series: Series) -> RowKey:
    return series.workload.name, series.threads


def _cells_of_release(project: Project, base: Column, metric: str) -> dict[RowKey, Cell]:
    try:
        table = compare_columns(project, metric=metric, base=base, columns=[])
    except SelectorError:
        return {}
    return {(row.workload, row.threads): row.base for row in table.rows if row.base}


def _noise(points: _Points, series: Mapping[int, Series]) -> dict[RowKey, tuple[float, float]]:
    """Of series of single runs, whose repeats tell nothing: how their groups scatter around each other."""
    found = {}
    for pk, of_series in points.items():
        if of_series and all(point.n == 1 for point in of_series):
            noise = History(series[pk], of_series).noise
            if noise:
                found[_row_key(series[pk])] = noise, min(_MOST_DF, (len(of_series) - 1) / 2)
    return found
