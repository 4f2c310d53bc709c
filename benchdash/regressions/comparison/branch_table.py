"""Groups of a branch beside a baseline, in the shape of a comparison of versions."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

import numpy as np
from django.db.models import Case, Max, Min, When
from django.db.models.functions import TruncDate

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import Cell, RowKey, cell_of, threads_in
from benchdash.regressions.comparison.columns import (
    MAX_CANDIDATES,
    Column,
    Selector,
    SelectorError,
    columns_of,
)
from benchdash.regressions.comparison.noise_floors import Floors, Histories, Levels
from benchdash.regressions.comparison.rows import (
    Noise,
    RelativeTo,
    compared_rows,
)
from benchdash.regressions.comparison.shared_sessions import Pairs
from benchdash.regressions.comparison.version_table import ComparisonTable, compare_columns
from benchdash.regressions.options import margins_of
from benchdash.regressions.queries import change_points, places
from benchdash.results.baselines import baselines
from benchdash.results.models import Baseline, Series
from benchdash.results.place import Place
from benchdash.results.points import Point, histories, positions
from benchdash.results.workload_groups import Grouping

# Groups read at least, so that they tell the noise of a series.
_GROUPS_FOR_NOISE: Final = 30


@dataclass(frozen=True)
class Rows:
    """Which rows a table has: of these workloads and thread counts; empty means all."""

    workloads: Sequence[str] = ()
    threads: Sequence[int | None] = ()


@dataclass(frozen=True)
class BranchTable:
    """A table of groups of a branch.

    ``groups`` has for each column a point of its group, whichever was measured first; ``base_group`` is such
    a point where the baseline is a group of the branch itself.
    """

    table: ComparisonTable
    groups: Sequence[Point]
    base_group: Point | None
    around: "Around"


@dataclass(frozen=True)
class Around:
    """The groups before and after the shown ones, as the ``until`` that shows as many of them.

    None where there are none. ``is_last``: nothing is newer than the groups that ``later`` shows.
    """

    earlier: datetime | None
    later: datetime | None
    is_last: bool


@dataclass(frozen=True)
class Base:
    """A release at the place of a branch, or a group of the branch: its commit, or else its ``day``.

    A commit may have a day too: when it was first measured.
    """

    column: Column
    day: date | None = None

    def is_of(self, group: Point, branch: str) -> bool:
        if self.column.branch != branch or self.column.version.pk != group.version.pk:
            return False
        return bool(group.commit) or group.time.astimezone(UTC).date() == self.day


def place_of(branch: Column) -> Place:
    """Return the place of a branch, where its baselines are set."""
    return branch.place._replace(branch=branch.branch)


def base_of(baseline: Baseline, branch: Column) -> Base | None:
    """Make a base at the place of ``branch``; None where nothing is chosen."""
    version = baseline.version
    if version is None:
        return None
    on_branch = branch.branch if baseline.branch_group else ""
    return Base(branch._replace(version=version, branch=on_branch), baseline.day)


def find_branch(project: Project, branch: str, place: Mapping[str, str]) -> Column:
    """Find any column of the one branch of that name. Raises SelectorError.

    ``place`` has other fields of a Selector.
    """
    columns = columns_of(project, Selector(branch=branch).completed_by(place))
    found = {place_of(column): column for column in columns}
    if not found:
        raise SelectorError(f"there is no branch {branch!r} of these", field="branch")
    if len(found) > 1:
        texts = [column.as_json() for column in list(found.values())[:MAX_CANDIDATES]]
        of_version = {"id", "version", "commit"}
        candidates = [{name: value for name, value in one.items() if name not in of_version} for one in texts]
        raise SelectorError(
            f"the branch was measured in {len(found)} places; say more", candidates, field="branch"
        )
    return next(iter(found.values()))


def default_base(project: Project, branch: Column) -> Base | None:
    """Return what people set for a branch, else the newest release; None: the oldest shown group."""
    stored = baselines(place_of(branch))
    if stored and (base := base_of(stored[0], branch)):
        return base
    releases = columns_of(
        project,
        Selector(
            product=branch.version.product.name,
            build=branch.version.build,
            branch="",
            hardware=branch.hardware,
            configuration=branch.configuration,
            counterpart=branch.counterpart,
        ),
    )
    return Base(releases[-1]) if releases else None


def branch_table(
    project: Project,
    branch: Column,
    *,
    metric: str,
    last: int,
    base: Base | None,
    until: datetime | None = None,
    rows: Rows = Rows(),
    relative_to: RelativeTo = "base",
    grouping: Grouping | None = None,
) -> BranchTable | None:
    """Compare the ``last`` groups of a branch with ``base``; without it, with the oldest of them.

    ``until``: of those whose commit, or first run where its time is not known, is not later.
    ``branch`` is any column at its place. None where the metric was not measured there. A constant number of
    statements.
    """
    series = _series(branch, metric, rows)
    known = _known_groups(branch)
    read = [group for group in known if until is None or group.placed_at <= until]
    read = read[-max(last, _GROUPS_FOR_NOISE) :]
    points = histories(
        series,
        since=min((group.start for group in read), default=None),
        until=until and max((group.end for group in read), default=until),
    )
    if until:
        points = {pk: [one for one in found if one.placed_at <= until] for pk, found in points.items()}
    order = positions(points.values(), branch=branch.branch)
    newest = sorted(order, key=lambda position: order[position])[-last:]
    if not newest:
        return None
    cells, first = _by_position(points, series)
    around = _around(known, first[newest[0]].placed_at, first[newest[-1]].placed_at, last)
    base_cells = _cells_of(project, base, metric, rows) if base else {}
    base_group = None if base_cells else first[newest[0]]
    if base_group:
        base_cells, newest = cells[newest[0]], newest[1:]
    elif base:
        newest = [position for position in newest if not base.is_of(first[position], branch.branch)]
    groups = [first[position] for position in newest]
    margin = margins_of(project).of(metric, (cell.value for cell in base_cells.values()))
    found = compared_rows(
        base_cells,
        [cells[position] for position in newest],
        noise=_noise(points, series, [base_group.position if base_group else None, *newest]),
        relative_to=relative_to,
        group_of=grouping.of if grouping else None,
        margin=margin,
    )
    base_column = branch._replace(version=base_group.version) if base_group else base and base.column
    columns = [branch._replace(version=group.version) for group in groups]
    table = ComparisonTable.of_rows(
        metric, base_column or branch, columns, found, margin=margin, grouping=grouping
    )
    return BranchTable(table, groups, base_group, around)


def group_name(point: Point) -> str:
    """Name a group by the beginning of its commit, or else its day."""
    return point.commit[:8] if point.commit else day(point.time)


def day(time: datetime) -> str:
    return f"{time.astimezone(UTC).day} {time.astimezone(UTC):%b}"


def _series(branch: Column, metric: str, rows: Rows) -> dict[int, Series]:
    found = place_of(branch).series().filter(metric=metric)
    if rows.workloads:
        found = found.filter(workload__name__in=rows.workloads)
    if rows.threads:
        found = found.filter(threads_in(rows.threads))
    return {one.pk: one for one in found.select_related("workload")}


class _Known(NamedTuple):
    """A group of a branch: where it stands, and when its first and last run at the place started."""

    placed_at: datetime
    start: datetime
    end: datetime


def _known_groups(branch: Column) -> list[_Known]:
    """Find all groups of a branch, in their order; one statement."""
    groups = (
        branch.place.runs.filter(branch=branch.branch, excluded_at=None)
        .annotate(day=Case(When(version__commit=None, then=TruncDate("started_at", tzinfo=UTC))))
        .order_by()
        .values_list("version__commit", "content", "day")
        .annotate(Max("version__committed_at"), Min("started_at"), Max("started_at"))
    )
    return sorted(_Known(committed_at or start, start, end) for *_, committed_at, start, end in groups)


def _around(known: Sequence[_Known], oldest: datetime, newest: datetime, last: int) -> Around:
    times = sorted({group.placed_at for group in known})
    earlier = [time for time in times if time < oldest]
    later = [time for time in times if time > newest]
    return Around(
        earlier=earlier[-1] if earlier else None,
        later=later[:last][-1] if later else None,
        is_last=len(later) <= last,
    )


_Points = Mapping[int, Sequence[Point]]


def _by_position(
    points: _Points, series: Mapping[int, Series]
) -> tuple[dict[Hashable, dict[RowKey, Cell]], dict[Hashable, Point]]:
    """Return, by position, the cells of its group and the point of it that was measured first."""
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


def _cells_of(project: Project, base: Base, metric: str, rows: Rows) -> dict[RowKey, Cell]:
    try:
        table = compare_columns(
            project,
            metric=metric,
            base=base.column,
            columns=[],
            workloads=rows.workloads,
            threads=rows.threads,
            day=None if base.column.version.commit else base.day,
        )
    except SelectorError:
        return {}
    return {row.key: row.base for row in table.rows if row.base}


def _noise(points: _Points, series: Mapping[int, Series], columns: Sequence[Hashable]) -> Noise:
    """Tell noise from all other groups of the branch than the two that are compared.

    ``columns`` are positions, that of the base first, None where it is no group of the branch.
    """
    changed = change_points(series)
    known = Histories.of(
        [
            Levels.of(
                found,
                places(changed.get(pk, ()), found).keys(),
                [point.position for point in found],
                of_branch=bool(series[pk].branch),
            )
            for pk, found in points.items()
        ]
    )
    index_of = {_row_key(series[pk]): at for at, pk in enumerate(points)}
    position = known.coded(columns)

    def noise(pairs: Pairs) -> Floors:
        of_row = np.array([index_of.get(row, -1) for row in pairs.keys])
        which = of_row[pairs.rows]
        without = np.stack((position[pairs.before], position[pairs.after]), axis=1)
        floors = known.floors(which, without=without)
        return Floors(floors.sd, np.where(which >= 0, floors.worth, 0))

    return noise
