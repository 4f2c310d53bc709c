"""Groups of a branch beside a baseline, in the shape of a comparison of versions."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from django.db.models import Case, Max, Min, Q, QuerySet, When
from django.db.models.functions import TruncDate

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import (
    RowKey,
    SeriesRow,
    cells_of_runs,
    series_at,
    with_controls,
)
from benchdash.regressions.comparison.columns import (
    MAX_CANDIDATES,
    Column,
    Selector,
    SelectorError,
    columns_of,
)
from benchdash.regressions.comparison.noise_floors import night_in_history
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.regressions.comparison.table import ComparisonTable, SideCells, SidesReading
from benchdash.results.baselines import baselines
from benchdash.results.models import Baseline, Run
from benchdash.results.place import Place
from benchdash.results.points import MeasuredVersion, measured_versions
from benchdash.results.workload_groups import Grouping

# Groups read at least: some of the newest may lack what is shown.
_MIN_READ: Final = 30
_BASE: Final = "base"


@dataclass(frozen=True)
class Rows:
    """Which rows a table has: of these workloads and thread counts; empty means all."""

    workloads: Sequence[str] = ()
    threads: Sequence[int | None] = ()


@dataclass(frozen=True, slots=True)
class BranchGroup:
    """A group of a branch: its commit, or else its day.

    ``version`` is the first that it was measured as, ``time`` when its first run started, and ``placed_at``
    when the commit was made, or else ``time``.
    """

    version: MeasuredVersion
    time: datetime
    placed_at: datetime

    @property
    def commit(self) -> str | None:
        return self.version.commit

    @property
    def name(self) -> str:
        """The beginning of the commit, or else the day."""
        return self.commit[:8] if self.commit else day(self.time)


@dataclass(frozen=True)
class BranchTable:
    """A table of groups of a branch.

    ``groups`` are those of its columns; ``base_group`` is there where the baseline is a group of the branch.
    """

    table: ComparisonTable[Column]
    groups: Sequence[BranchGroup]
    base_group: BranchGroup | None
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

    def is_of(self, group: BranchGroup, branch: str) -> bool:
        if self.column.branch != branch or self.column.version.pk != group.version.pk:
            return False
        return bool(group.commit) or group.time.astimezone(UTC).date() == self.day

    @property
    def runs(self) -> Q:
        """A condition for its runs."""
        column = self.column
        found = Q(
            version=column.version.pk,
            branch=column.branch,
            hardware=column.hardware_id,
            configuration=column.configuration_id,
            counterpart=column.counterpart,
        )
        if self.day is None or column.version.commit:
            return found
        midnight = datetime.combine(self.day, time(), UTC)
        return found & Q(started_at__gte=midnight, started_at__lt=midnight + timedelta(days=1))


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
    of_branch = branch.place.runs.filter(branch=branch.branch, excluded_at=None)
    known = _known_groups(of_branch)
    read = [group for group in known if until is None or group.placed_at <= until]
    read = read[-max(last, _MIN_READ) :]
    group_of = _group_of_runs(of_branch, read)
    included = Run.objects.filter(project=project, excluded_at=None)
    of_base = set(included.filter(base.runs).values_list("pk", flat=True)) if base else set[int]()
    places = {branch.place, *([base.column.place] if base else ())}
    series = series_at(project.pk, places, metrics=[metric], workloads=rows.workloads, threads=rows.threads)

    def placed(run: int, one: SeriesRow) -> tuple[Hashable, RowKey] | None:
        column = _BASE if run in of_base else group_of.get(run)
        return (column, one.row) if column else None

    runs = with_controls(included, Q(pk__in=[*group_of, *of_base]), series)
    reading = SidesReading.of(project, cells_of_runs(runs, series, placed), series, by_days=True)
    shown = [group for group in read if reading.of_column(metric, group.key)][-last:]
    if not shown:
        return None
    around = _around(known, shown[0].placed_at, shown[-1].placed_at, last)
    versions = measured_versions({group.first_version for group in shown})
    groups = [BranchGroup(versions[one.first_version], one.start, one.placed_at) for one in shown]
    columns = [
        SideCells(
            branch._replace(version=group.version),
            reading.of_column(metric, one.key),
            group.version.pk if group.commit else night_in_history(group.version.pk, group.time.timestamp()),
            branch.place,
        )
        for group, one in zip(groups, shown, strict=True)
    ]
    base_cells = reading.of_column(metric, _BASE)
    if base and base_cells:
        kept = [at for at, group in enumerate(groups) if not base.is_of(group, branch.branch)]
        groups, base_group = [groups[at] for at in kept], None
        column = base.column
        sides = [
            SideCells(column, base_cells, column.version.pk, column.place),
            *(columns[at] for at in kept),
        ]
    else:
        base_group, *groups = groups
        sides = columns
    table = reading.table(metric, sides, relative_to=relative_to, grouping=grouping)
    return BranchTable(table, groups, base_group, around) if table else None


def day(time: datetime) -> str:
    return f"{time.astimezone(UTC).day} {time.astimezone(UTC):%b}"


class _Known(NamedTuple):
    """A group of a branch: where it stands, its name, and when its runs at the place started.

    ``first_version`` is the id of one of its versions.
    """

    placed_at: datetime
    commit: str
    start: datetime
    content: int
    end: datetime
    first_version: int

    @property
    def key(self) -> Hashable:
        return _key(self.commit, self.start, self.content)


def _key(commit: str | None, started_at: datetime, content: int | None) -> Hashable:
    return commit or started_at.astimezone(UTC).date(), content or 0


def _known_groups(of_branch: QuerySet[Run]) -> list[_Known]:
    """Find all groups among the runs of a branch, in their order; one statement."""
    groups = (
        of_branch.annotate(day=Case(When(version__commit=None, then=TruncDate("started_at", tzinfo=UTC))))
        .order_by()
        .values_list("version__commit", "content", "day")
        .annotate(Max("version__committed_at"), Min("started_at"), Max("started_at"), Min("version"))
    )
    return sorted(
        _Known(committed_at or start, commit or "", start, content or 0, end, version)
        for commit, content, _, committed_at, start, end, version in groups
    )


def _group_of_runs(of_branch: QuerySet[Run], groups: Sequence[_Known]) -> dict[int, Hashable]:
    """Return the keys of these groups by the ids of their runs; one statement."""
    if not groups:
        return {}
    start, end = min(group.start for group in groups), max(group.end for group in groups)
    runs = of_branch.filter(started_at__range=(start, end))
    keys = {group.key for group in groups}
    of_runs = runs.order_by().values_list("pk", "version__commit", "started_at", "content")
    named = ((run, _key(commit, started_at, content)) for run, commit, started_at, content in of_runs)
    return {run: key for run, key in named if key in keys}


def _around(known: Sequence[_Known], oldest: datetime, newest: datetime, last: int) -> Around:
    times = sorted({group.placed_at for group in known})
    earlier = [time for time in times if time < oldest]
    later = [time for time in times if time > newest]
    return Around(
        earlier=earlier[-1] if earlier else None,
        later=later[:last][-1] if later else None,
        is_last=len(later) <= last,
    )
