"""Everything that reads the history: series and their points, runs, and the order of both."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from django.db.models import Min, Model, Q, QuerySet
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchdash.accounts.models import Project
from benchdash.results.models import (
    Configuration,
    Hardware,
    Product,
    Run,
    Series,
    Workload,
    version_name,
)
from benchdash.results.sessions import session_means, sessions_of

_CONFIDENCE = 0.95
_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


class MeasuredVersion(NamedTuple):
    """What a point tells of its server version: a thousand of them cost less than ten model rows."""

    pk: int
    version: str
    build: str
    commit: str | None
    committed_at: datetime | None
    sort_key: str
    product: Product

    @property
    def product_id(self) -> int:
        return self.product.pk

    def __str__(self) -> str:
        return version_name(self.version, self.build, self.commit)


class Point(NamedTuple):
    """A group as a chart draws it: the runs of one version, or on a branch of one commit, in one series.

    Runs of a branch without a commit are grouped by their UTC day; contents of the configuration that
    differ make separate groups. ``value`` is the median; ``low`` and ``high`` are the 95 % interval of the
    level, or with one run the tool's own. ``time`` is the earliest start. ``version`` and
    ``environment_id`` are those of the latest run, ``run_id``. ``values`` and ``sessions`` belong to
    ``run_ids``, in the order of their starts; no session is named where none is known. ``position`` tells
    the group from others of its stream: it is the same in every series of one configuration. ``placed_at``
    is when the commit was made, or else first measured on its branch; for a release without one before all.
    """

    version: MeasuredVersion
    commit: str | None
    time: datetime
    value: float
    low: float | None
    high: float | None
    run_id: int
    first_run_id: int
    content_id: int | None
    environment_id: int | None
    run_ids: tuple[int, ...]
    values: tuple[float, ...]
    position: Hashable
    placed_at: datetime
    sessions: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.run_ids)

    @property
    def independent(self) -> int:
        """How many sessions; all runs where none is known."""
        return len(set(self.sessions)) if self.sessions else len(self.run_ids)


def history(series: Series) -> list[Point]:
    """The points of a series in order: releases by version, a branch by its commits."""
    return histories([series.pk])[series.pk]


def histories(
    series_ids: Iterable[int],
    *,
    excluded: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[int, list[Point]]:
    """The points of each series, in order, in a constant number of statements.

    ``excluded``: the excluded runs instead of the included ones, for charts that draw them apart.
    ``since``, ``until``: only runs that started then or later, or earlier; for a part of long histories.
    """
    ids = list(series_ids)
    of_series = Series.objects.select_related("product").in_bulk(ids)
    samples = _samples(of_series, excluded=excluded, since=since, until=until)
    return {pk: [] for pk in ids} | _histories(of_series, samples)


def histories_and_excluded(
    of_series: Mapping[int, Series],
) -> tuple[dict[int, list[Point]], dict[int, list[Point]]]:
    """The points of each series, which are given by id, and those that its excluded runs would make."""
    samples = _samples(of_series, excluded=None)
    excluded = [sample for sample in samples if sample.is_excluded]
    if not excluded:
        return _histories(of_series, samples), {pk: [] for pk in of_series}
    included = [sample for sample in samples if not sample.is_excluded]
    return _histories(of_series, included), _histories(of_series, excluded)


def _histories(of_series: Mapping[int, Series], all_samples: Iterable["_Sample"]) -> dict[int, list[Point]]:
    points: dict[int, list[Point]] = {pk: [] for pk in of_series}
    groups = _groups(of_series, all_samples)
    versions = _versions(of_series, groups)
    times = commit_times(of_series.values(), versions.values())
    sessions = [_sessions(samples) for _, _, samples in groups]
    levels = levels_of_groups([[sample.value for sample in samples] for _, _, samples in groups], sessions)
    for (series_id, position, samples), level, of_group in zip(groups, levels, sessions, strict=True):
        version = versions[samples[-1].version_id]
        series, first = of_series[series_id], moment(samples[0].started_at)
        at = placed_at(version, series.product_id, series.branch, first, times)
        points[series_id].append(
            _point(position, samples, level, version=version, placed_at=at, sessions=of_group)
        )
    for series in of_series.values():
        points[series.pk].sort(key=partial(_order, branch=series.branch))
    return points


def positions(histories: Iterable[Sequence[Point]], *, branch: str) -> dict[Hashable, int]:
    """The groups of several series of one branch (or of releases, ``""``) on one axis: 0, 1, 2 ..."""
    histories = [points for points in histories if points]
    if len(histories) == 1:
        return {point.position: at for at, point in enumerate(histories[0])}
    earliest: dict[Hashable, tuple[Any, ...]] = {}
    for point in chain.from_iterable(histories):
        order = _order(point, branch)
        earliest[point.position] = min(order, earliest.get(point.position, order))
    return {position: at for at, position in enumerate(sorted(earliest, key=lambda p: earliest[p]))}


# --- groups -----------------------------------------------------------------------------------------------


class _Sample(NamedTuple):
    """One measurement with what of its run decides about its group."""

    series_id: int
    run_id: int
    value: float
    low: float | None
    high: float | None
    started_at: float  # epoch seconds
    version_id: int
    commit: str | None
    content_id: int | None
    environment_id: int | None
    tags: Sequence[str] | None
    is_excluded: bool
    version: str
    build: str
    committed_at: float | None
    sort_key: str


_Group = tuple[int, Hashable, list[_Sample]]
"""Of a series, at a position."""

Level = tuple[float, float | None, float | None]

# Times as numbers: the driver makes a thousand datetimes of a time zone in 5 ms, and floats in none.
_SAMPLES = """
    SELECT measured.series_id, measured.run_id, measured.value, measured.low, measured.high,
        extract(epoch FROM run.started_at)::float8, run.version_id, version.commit,
        run.content_id, run.environment_id, CASE WHEN run.tags <> '{}' THEN run.tags END,
        run.excluded_at IS NOT NULL, version.version, version.build,
        extract(epoch FROM version.committed_at)::float8, version.sort_key
    FROM results_measurement measured
    JOIN results_run run ON run.id = measured.run_id
    JOIN results_serverversion version ON version.id = run.version_id
    WHERE measured.series_id = ANY(%(series)s)
        AND (%(excluded)s::boolean IS NULL OR (run.excluded_at IS NOT NULL) = %(excluded)s)
        AND (%(since)s::timestamptz IS NULL OR run.started_at >= %(since)s)
        AND (%(until)s::timestamptz IS NULL OR run.started_at <= %(until)s)
    ORDER BY run.started_at, measured.run_id
"""
_VERSIONS = """
    SELECT version.id, version, build, commit, extract(epoch FROM committed_at)::float8, sort_key,
        product.id, product.project_id, product.name
    FROM results_serverversion version JOIN results_product product ON product.id = version.product_id
    WHERE version.id = ANY(%(versions)s)
"""


def moment(epoch: float) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


def position_of(
    branch: str, *, version_id: int, commit: str | None, started_at: float, content_id: int | None
) -> Hashable:
    """What tells the group of a run from others of its stream, of a branch or (``""``) of releases."""
    if not branch:
        return version_id, content_id
    return commit or moment(started_at).date(), content_id


def _samples(
    series_ids: Iterable[int],
    *,
    excluded: bool | None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[_Sample]:
    """In the order of their starts; ``excluded`` None: of all runs."""
    wanted: dict[str, Any] = {
        "series": list(series_ids),
        "excluded": excluded,
        "since": since,
        "until": until,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLES, wanted)
        return list(map(_Sample._make, cursor.fetchall()))


def _groups(of_series: Mapping[int, Series], samples: Iterable[_Sample]) -> list[_Group]:
    groups: dict[tuple[int, Hashable], list[_Sample]] = defaultdict(list)
    for sample in samples:
        position = position_of(
            of_series[sample.series_id].branch,
            version_id=sample.version_id,
            commit=sample.commit,
            started_at=sample.started_at,
            content_id=sample.content_id,
        )
        groups[sample.series_id, position].append(sample)
    return [(series_id, position, of_group) for (series_id, position), of_group in groups.items()]


def _versions(of_series: Mapping[int, Series], groups: Iterable[_Group]) -> dict[int, MeasuredVersion]:
    """By id, those of the latest runs of groups."""
    latest = {samples[-1].version_id: samples[-1] for _, _, samples in groups}
    return {
        pk: MeasuredVersion(
            pk,
            sample.version,
            sample.build,
            sample.commit,
            None if sample.committed_at is None else moment(sample.committed_at),
            sample.sort_key,
            of_series[sample.series_id].product,
        )
        for pk, sample in latest.items()
    }


def measured_versions(ids: Collection[int]) -> dict[int, MeasuredVersion]:
    """Versions by id; one statement."""
    if not ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_VERSIONS, {"versions": list(ids)})
        rows = cursor.fetchall()
    products = {
        product: Product(pk=product[0], project_id=product[1], name=product[2])
        for product in {row[-3:] for row in rows}
    }
    return {
        pk: MeasuredVersion(
            pk,
            version,
            build,
            commit,
            None if committed_at is None else moment(committed_at),
            sort_key,
            products[tuple(product)],
        )
        for pk, version, build, commit, committed_at, sort_key, *product in rows
    }


def _point(
    position: Hashable,
    samples: Sequence[_Sample],
    level: Level,
    *,
    version: MeasuredVersion,
    placed_at: datetime,
    sessions: tuple[str, ...],
) -> Point:
    first, latest = samples[0], samples[-1]
    value, low, high = level
    if len(samples) == 1:
        low, high = latest.low, latest.high
    return Point(
        version=version,
        commit=version.commit,
        time=moment(first.started_at),
        value=value,
        low=low,
        high=high,
        run_id=latest.run_id,
        first_run_id=first.run_id,
        content_id=latest.content_id,
        environment_id=latest.environment_id,
        run_ids=tuple(sample.run_id for sample in samples),
        values=tuple(sample.value for sample in samples),
        position=position,
        placed_at=placed_at,
        sessions=sessions,
    )


def _sessions(samples: Sequence[_Sample]) -> tuple[str, ...]:
    """Of a single run it does not matter, and of nearly all nobody said any."""
    if len(samples) == 1 or not any(one.tags for one in samples):
        return ()
    return sessions_of([(one.run_id, one.tags or ()) for one in samples])


def _order(point: Point, branch: str) -> tuple[Any, ...]:
    return order_of_group(point.version, branch, point.placed_at, point.time, point.content_id)


def order_of_group(
    version: MeasuredVersion, branch: str, placed_at: datetime, time: datetime, content_id: int | None
) -> tuple[Any, ...]:
    """By which groups are sorted; ``time`` is the start of the first run, ``placed_at`` as of a point."""
    if branch:
        return placed_at, version.commit or "", time, content_id or 0
    return version.sort_key, placed_at, time, version.pk, content_id or 0


CommitKey = tuple[int, str, str | None]
"""Product, branch and commit."""


def placed_at(
    version: MeasuredVersion,
    product_id: int,
    branch: str,
    time: datetime,
    commit_times: Mapping[CommitKey, datetime],
) -> datetime:
    """Where a group with this version stands, whose first run started at ``time``; see Point."""
    if version.committed_at:
        return version.committed_at
    if not branch:
        return _BEFORE_ALL
    return commit_times.get((product_id, branch, version.commit), time)


def commit_times(
    all_series: Collection[Series], versions: Iterable[MeasuredVersion]
) -> dict[CommitKey, datetime]:
    """For commits without a time: another build's, or when the commit was first measured on its branch."""
    commits = {version.commit for version in versions if version.commit and not version.committed_at}
    return times_of_commits(
        {series.product_id for series in all_series}, {series.branch for series in all_series}, commits
    )


def times_of_commits(
    products: Collection[int], branches: Collection[str], commits: Collection[str]
) -> dict[CommitKey, datetime]:
    """See ``commit_times``; ``products`` are ids. One statement, none without commits."""
    if not commits:
        return {}
    runs = Run.objects.filter(
        version__product__in=products, version__commit__in=commits, branch__in={*branches} - {""}
    )
    rows = runs.values_list("version__product_id", "branch", "version__commit").annotate(
        Min("version__committed_at"), Min("started_at")
    )
    return {
        (product, branch, commit): committed_at or started_at
        for product, branch, commit, committed_at, started_at in rows.order_by()
    }


def levels_of_groups(groups: Sequence[Sequence[float]], sessions: Sequence[Sequence[str]]) -> list[Level]:
    """Median and 95 % interval of the level of each group, where sessions are known from their means.

    Of a single session it is the interval of its runs, which is all that is known.
    """
    levels = _levels_of_runs(groups)
    of_sessions = {
        at: session_means(values, names)
        for at, (values, names) in enumerate(zip(groups, sessions, strict=True))
        if len(set(names)) > 1 and min(values) > 0
    }
    for at, (_, low, high) in zip(of_sessions, _levels_of_runs(list(of_sessions.values())), strict=True):
        median = levels[at][0]
        levels[at] = median, min(low or median, median), max(high or median, median)
    return levels


def _levels_of_runs(groups: Sequence[Sequence[float]]) -> list[Level]:
    """Median and 95 % interval of the level of each group, all groups at once.

    The interval is Student's, of the logarithms where all values are positive; none for a single value.
    """
    n = np.array([len(values) for values in groups], dtype=np.int64)
    if n.sum() == len(n):
        return [(values[0], None, None) for values in groups]
    starts = np.concatenate(([0], np.cumsum(n)[:-1]))
    of_group = np.repeat(np.arange(len(groups)), n)
    values = np.fromiter(chain.from_iterable(groups), float)
    values = values[np.lexsort((values, of_group))]
    medians = (values[starts + (n - 1) // 2] + values[starts + n // 2]) / 2
    low, high = _intervals(values, starts, n, of_group)
    # A skewed group may have its median beside the interval of its mean.
    low, high = np.minimum(low, medians), np.maximum(high, medians)
    return [
        (value, None, None) if number == 1 else (value, lower, upper)
        for value, lower, upper, number in zip(
            medians.tolist(), low.tolist(), high.tolist(), n.tolist(), strict=True
        )
    ]


def _intervals(
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    n: NDArray[np.int64],
    of_group: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``values`` are sorted within each group."""
    in_logs = values[starts] > 0
    x = np.where(in_logs[of_group], np.log(np.where(values > 0, values, 1)), values)
    means = np.add.reduceat(x, starts) / n
    squares = np.add.reduceat((x - means[of_group]) ** 2, starts)
    df = np.maximum(n - 1, 1)
    half = stdtrit(df, (1 + _CONFIDENCE) / 2) * np.sqrt(squares / df / n)
    # Two values far apart have no interval that a number could hold.
    largest = np.where(in_logs, 700, np.finfo(float).max)
    low, high = np.maximum(means - half, -largest), np.minimum(means + half, largest)
    return np.where(in_logs, np.exp(np.where(in_logs, low, 0)), low), np.where(
        in_logs, np.exp(np.where(in_logs, high, 0)), high
    )


# --- places -----------------------------------------------------------------------------------------------

# Each place once, by jumping from one to the next in the index: a place has thousands of runs.
_PLACES = """
    WITH RECURSIVE place AS (
        (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart FROM results_run
            WHERE project_id = %(project)s AND excluded_at IS NULL
            ORDER BY version_id, branch, hardware_id, configuration_id, counterpart LIMIT 1
        )
        UNION ALL
        SELECT next.* FROM place, LATERAL (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart FROM results_run
            WHERE project_id = %(project)s AND excluded_at IS NULL
                AND (version_id, branch, hardware_id, configuration_id, counterpart)
                    > (place.version_id, place.branch, place.hardware_id, place.configuration_id,
                       place.counterpart)
            ORDER BY version_id, branch, hardware_id, configuration_id, counterpart LIMIT 1
        ) next
    )
    SELECT place.version_id, place.branch, place.hardware_id, hardware.name,
        place.configuration_id, configuration.name, place.counterpart
    FROM place
    JOIN results_hardware hardware ON hardware.id = place.hardware_id
    JOIN results_configuration configuration ON configuration.id = place.configuration_id
"""

MeasuredPlace = tuple[int, str, int, str, int, str, str]
"""Version, branch, hardware and its name, configuration and its name, counterpart."""


def measured_places(project: Project) -> list[MeasuredPlace]:
    """Where each version of the project was measured by runs that count, in no order."""
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, {"project": project.pk})
        found: list[MeasuredPlace] = cursor.fetchall()
        return found


# --- finding ----------------------------------------------------------------------------------------------

_NAMED: dict[str, type[Model]] = {
    "product": Product,
    "hardware": Hardware,
    "configuration": Configuration,
    "workload": Workload,
}
_SERIES_FILTERS = {
    **{name: f"{name}__in" for name in _NAMED},
    "branch": "branch",
    "line": "line",
    "build": "build",
    "counterpart": "counterpart",
    "threads": "threads",
    "metric": "metric",
}
_RUN_FILTERS = {
    **{name: f"{name}__in" for name in ("hardware", "configuration", "workload")},
    "product": "version__product__in",
    "version": "version__version",
    "build": "version__build",
    "commit": "version__commit__startswith",
    "branch": "branch",
    "counterpart": "counterpart",
    "threads": "threads",
    "tag": "tags__contains",
    "upload": "upload_id",
}


def find_series(project: Project, **filters: str | int | None) -> QuerySet[Series]:
    """The series of a project by product, branch, line, build, hardware, configuration, counterpart,
    workload, threads (None: not said) and metric.

    Things are found by name or old name; an empty branch means releases. Raises TypeError for other filters.
    """
    return (
        Series.objects.filter(_conditions(project, filters, _SERIES_FILTERS), project=project)
        .select_related("product", "hardware", "configuration", "workload")
        .order_by("workload__name", "metric", "product__name", "branch", "line", "threads", "pk")
    )


def find_runs(
    project: Project, *, excluded: bool | None = None, **filters: str | int | None
) -> QuerySet[Run]:
    """The runs of a project, latest first, by product, version, build, commit (or its beginning), branch,
    hardware, configuration, counterpart, workload, threads (None: not said), tag and upload.

    Things are found by name or old name. Raises TypeError for other filters.
    """
    runs = Run.objects.filter(_conditions(project, filters, _RUN_FILTERS), project=project)
    if excluded is not None:
        runs = runs.filter(excluded_at__isnull=not excluded)
    return runs.select_related("version__product", "hardware", "configuration", "workload").order_by(
        "-started_at", "-pk"
    )


def _conditions(project: Project, filters: Mapping[str, str | int | None], known: Mapping[str, str]) -> Q:
    conditions = Q()
    for name, value in filters.items():
        if name not in known:
            raise TypeError(f"there is no filter {name!r}; there are {', '.join(sorted(known))}")
        if name in _NAMED:
            conditions &= Q(**{known[name]: ids_called(_NAMED[name], [str(value)], project)})
        elif value is None:
            conditions &= Q(**{f"{known[name]}__isnull": True})
        else:
            conditions &= Q(**{known[name]: [value] if name == "tag" else value})
    return conditions


def ids_called(model: type[Model], names: Sequence[str], project: Project | None = None) -> list[int]:
    """The ids of the things of a kind that have or had one of these names, in this project or in all.

    Known before a large table is read, they lead to an index; a condition on names in it does not.
    """
    table, column = model._meta.db_table, f"{model._meta.model_name}_id"
    of_project = "AND project_id = %(project)s" if project else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM {table} WHERE name = ANY(%(names)s) {of_project}"  # noqa: S608 - names of tables
            f" UNION SELECT {column} FROM results_alias"
            f" WHERE name = ANY(%(names)s) AND {column} IS NOT NULL {of_project}",
            {"names": list(names), "project": project.pk if project else None},
        )
        return sorted(pk for (pk,) in cursor.fetchall())
