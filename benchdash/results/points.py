"""The one reader of histories: measurements of series, grouped into points, as columns of NumPy.

One statement reads the measurements, and each run and each version once. ``Points`` groups them series by
series; a ``Point`` is one row of that as an object, of a kilobyte. ``lay_out`` puts all series of a place on
common positions for analysis, at some tens of bytes for each of their measurements.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import chain
from math import nan
from typing import Any, Final, NamedTuple, Protocol, Self

import numpy as np
import orjson
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Coalesce
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchdash.results.controls import is_control
from benchdash.results.models import Measurement, Product, Run, Series, ServerVersion, version_name
from benchdash.results.sessions import (
    MAX_TAG_GAP_S,
    SESSION_TAG,
    Starts,
    counting,
    joined_receipts,
    number_apart,
    receipts,
    session_at,
    session_means,
    session_received_at,
)
from benchdash.results.versions import first_in_order, order_kind

COLUMNS: Final = ("version", "commit", "time", "value", "low", "high", "n", "run")

_CONFIDENCE: Final = 0.95
_BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)
_BEFORE_ALL_S: Final = _BEFORE_ALL.timestamp()

# timestamptz_send counts microseconds since 2000.
_YEAR_2000_US: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 10**6
_DAY_US: Final = 24 * 60 * 60 * 10**6

Bools = NDArray[np.bool_]
Indexes = NDArray[np.int64]
Numbers = NDArray[np.float64]


class MeasuredVersion(NamedTuple):
    """The server version of a point: a thousand of them cost less than ten model rows."""

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

    @property
    def release_key(self) -> str:
        """The sort key; empty for controls and versions without an order, which come by time in a history."""
        return self.sort_key if order_kind(self.sort_key) and not is_control(self.build) else ""

    def __str__(self) -> str:
        return version_name(self.version, self.build, self.commit)


class Point(NamedTuple):
    """A group as a chart draws it: the runs of one version, or on a branch of one commit, in one series.

    Runs of a branch without a commit, and those of a control, are grouped by their UTC day; contents of the
    configuration that differ make separate groups. ``value`` is the median; ``low`` and ``high`` are the
    95 % interval of the level, or with one run the tool's own. ``time`` is the earliest start. ``version``
    and ``environment_id`` are those of the latest run, ``run_id``. ``values`` and ``sessions`` (names)
    belong to ``run_ids``, in the order of their starts. ``position`` tells the group from others of its
    stream: it is the same in every series of one configuration. ``placed_at`` is when the commit was made, or
    else first measured on its branch; for a release without one before all. A control is placed by its first
    start.
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
    sessions: tuple[str, ...]

    @property
    def n(self) -> int:
        return len(self.run_ids)

    @property
    def independent(self) -> int:
        """The number of sessions."""
        return len(set(self.sessions))

    def group(self, branch: str) -> Hashable:
        """Name it whatever the content of the configuration was, as ``group_name`` does."""
        return group_name(self.version.pk, self.version.build, self.commit, self.time, branch)

    @property
    def received_at(self) -> float:
        """When the first session was received whose start is assumed; NaN where none is."""
        return min(receipts(self.sessions), default=nan)


class SeriesOfRuns(Protocol):
    """The columns of a series that tell which runs it may have."""

    @property
    def pk(self) -> int: ...
    @property
    def workload_id(self) -> int: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def is_derived(self) -> bool: ...


class OfStream(Protocol):
    """The columns of a series that decide how its runs are grouped: by commits, by versions, or by days."""

    @property
    def product_id(self) -> int: ...
    @property
    def build(self) -> str: ...
    @property
    def branch(self) -> str: ...


@dataclass(frozen=True)
class Runs:
    """Runs in the order of their starts, one element each.

    Times are epoch seconds, ``version`` are indexes of ``versions``; ids of content and environment are 0
    where nothing is known. ``session`` is a number: runs of one version at one place with the same one shared
    a session. Its first run started at ``session_began_at`` and its last one at ``session_ended_at``; of a
    session that a tag makes, as far as its runs were read. ``tags`` are session tags by the index of a run.
    Of those ``is_assumed`` nobody said a session tag or a start.
    """

    ids: Indexes
    started_at: Numbers
    recorded_at: Numbers
    days: Indexes
    content_ids: Indexes
    environment_ids: Indexes
    is_excluded: Indexes
    is_assumed: Bools
    session: Indexes
    session_began_at: Numbers
    session_ended_at: Numbers
    version: Indexes
    versions: Sequence[MeasuredVersion]
    tags: Mapping[int, str]

    def at(self, places: Indexes) -> Self:
        """Return these of the runs, given by their indexes, in this order."""
        columns = {name: column[places] for name, column in vars(self).items() if hasattr(column, "dtype")}
        at = {run: place for place, run in enumerate(places.tolist())} if self.tags else {}
        tags = {at[run]: tag for run, tag in self.tags.items() if run in at}
        return replace(self, **columns, tags=tags)

    @property
    def version_ids(self) -> Indexes:
        ids = np.array([version.pk for version in self.versions], dtype=np.int64)
        return np.asarray(ids[self.version])

    def sessions_of(self, runs: Indexes) -> tuple[str, ...]:
        """Name the session of each of these runs (indexes)."""
        return tuple([self._session_names[at] for at in self.session[runs].tolist()])

    @cached_property
    def _session_names(self) -> Mapping[int, str]:
        numbers, runs = np.unique(self.session, return_index=True)
        began_at = self.session_began_at[runs].tolist()
        assumed = self.is_assumed[runs].tolist()
        return {
            number: self.tags.get(run) or (session_received_at if is_assumed else session_at)(start)
            for number, run, start, is_assumed in zip(
                numbers.tolist(), runs.tolist(), began_at, assumed, strict=True
            )
        }


@dataclass(frozen=True)
class Measurements:
    """Measurements of some series, in the order of the starts of their runs, one element each.

    ``series`` are indexes of those asked for, ``run`` of ``runs``; ``low`` and ``high`` are the interval that
    the tool printed, NaN where it printed none.
    """

    series: Indexes
    run: Indexes
    values: Numbers
    low: Numbers
    high: Numbers
    runs: Runs

    @property
    def run_ids(self) -> Indexes:
        return np.asarray(self.runs.ids[self.run])

    def of_runs(self, *, excluded: bool) -> "Measurements":
        """Return the measurements of excluded runs, or of the others."""
        at = np.flatnonzero(self.runs.is_excluded[self.run] == excluded)
        return Measurements(
            self.series[at], self.run[at], self.values[at], self.low[at], self.high[at], self.runs
        )


@dataclass(frozen=True)
class Points:
    """The points of some series, series by series and in order; one element each.

    ``series`` are indexes of those asked for. The runs of a point are elements ``starts[i]`` to
    ``starts[i + 1]`` of ``run`` (indexes of ``runs``), ``values``, ``tool_low`` and ``tool_high``.
    ``placed_at`` is as of ``Point``, in epoch seconds.
    """

    streams: Sequence[OfStream]
    series: Indexes
    placed_at: Numbers
    starts: Indexes
    run: Indexes
    values: Numbers
    tool_low: Numbers
    tool_high: Numbers
    runs: Runs

    def __len__(self) -> int:
        return len(self.series)

    @property
    def n(self) -> Indexes:
        return np.diff(self.starts)

    @property
    def first(self) -> Indexes:
        """The earliest run of each point, an index of ``runs``."""
        return self.run[self.starts[:-1]]

    @property
    def last(self) -> Indexes:
        """The latest run of each point, an index of ``runs``."""
        return self.run[self.starts[1:] - 1]

    @property
    def version_ids(self) -> Indexes:
        """The versions of the latest runs."""
        return self.runs.version_ids[self.last]

    @cached_property
    def levels(self) -> Numbers:
        """The median of each point."""
        return medians(self.values, self.starts)

    @cached_property
    def intervals(self) -> tuple[Numbers, Numbers]:
        """The 95 % interval of the level of each point, or with one run the tool's own; NaN: not known.

        It is that of the means of sessions. Of a single session it is the interval of its runs, which is all
        that is known. It is never narrower than what the tool says of the runs.
        """
        low, high = self.tool_low[self.starts[:-1]], self.tool_high[self.starts[:-1]]
        several = np.flatnonzero(self.n > 1)
        if not len(several):
            return low, high
        members = {at: self.values[self._of(at)] for at in several.tolist()}
        low[several], high[several] = _intervals(list(members.values()))
        session, number = self.runs.session[self.run], self.independent
        of_sessions = {
            at: np.array(session_means(values.tolist(), session[self._of(at)].tolist()))
            for at, values in members.items()
            if number[at] > 1 and values.min() > 0
        }
        if of_sessions:
            at = list(of_sessions)
            lower, upper = _intervals(list(of_sessions.values()))
            low[at], high[at] = np.minimum(lower, self.levels[at]), np.maximum(upper, self.levels[at])
        squares = np.add.reduceat((self.tool_high - self.tool_low) ** 2 / 4, self.starts[:-1])
        told = np.sqrt(squares[several]) / self.n[several]
        low[several] = np.fmin(low[several], self.levels[several] - told)
        high[several] = np.fmax(high[several], self.levels[several] + told)
        return low, high

    @property
    def independent(self) -> Indexes:
        """The number of sessions of each point."""
        point = np.repeat(np.arange(len(self)), self.n)
        parts = np.stack((point, self.runs.session[self.run]))
        in_order, starts = sort_into_groups(parts)
        return np.bincount(point[in_order[starts[:-1]]], minlength=len(self))

    @property
    def received_at(self) -> Numbers:
        """When the first session of each point was received whose start is assumed; NaN where none is."""
        times = np.where(self.runs.is_assumed, self.runs.session_began_at, np.inf)[self.run]
        first = np.minimum.reduceat(times, self.starts[:-1]) if len(self) else times
        return np.where(np.isinf(first), np.nan, first)

    def sessions(self, at: int) -> tuple[str, ...]:
        """Name the session of each run of a point; those of two versions have two names."""
        runs = self.run[self._of(at)]
        names = self.runs.sessions_of(runs)
        of_versions = list(zip(names, self.runs.version[runs].tolist(), strict=True))
        if len(set(of_versions)) == len(set(names)):
            return names
        return tuple([f"{name}, {self.runs.versions[version].version}" for name, version in of_versions])

    def index_of(self, run_id: int, series: int = 0) -> int | None:
        """Return the point that a run belongs to in a series, as an index; None for excluded runs."""
        return self._index_of.get((series, run_id))

    @cached_property
    def _index_of(self) -> dict[tuple[int, int], int]:
        point = np.repeat(np.arange(len(self)), self.n)
        runs = self.runs.ids[self.run].tolist()
        return dict(zip(zip(self.series[point].tolist(), runs, strict=True), point.tolist(), strict=True))

    def column(self, name: str) -> list[Any]:
        """Return one of COLUMNS, or ``sessions``; ``time`` is the first start (epoch s), ``run`` the last."""
        match name:
            case "version":
                return [version.version for version in self._versions]
            case "commit":
                return [version.commit for version in self._versions]
            case "time":
                return self.runs.started_at[self.first].tolist()  # type: ignore[no-any-return]
            case "value":
                return self.levels.tolist()  # type: ignore[no-any-return]
            case "low" | "high":
                return _known(self.intervals[name == "high"])
            case "n":
                return self.n.tolist()  # type: ignore[no-any-return]
            case "sessions":
                return self.independent.tolist()  # type: ignore[no-any-return]
            case "run":
                return self.runs.ids[self.last].tolist()  # type: ignore[no-any-return]
        raise LookupError(name)

    @property
    def _versions(self) -> list[MeasuredVersion]:
        """The versions of the latest runs."""
        return [self.runs.versions[at] for at in self.runs.version[self.last].tolist()]

    def of_series(self) -> list[list[Point]]:
        """Return the points of each series that was asked for, as objects."""
        found: list[list[Point]] = [[] for _ in self.streams]
        for series, point in zip(self.series.tolist(), self._rows(), strict=True):
            found[series].append(point)
        return found

    def _rows(self) -> Iterator[Point]:
        run_ids, values, ends = self.runs.ids[self.run].tolist(), self.values.tolist(), self.starts.tolist()
        lows, highs = map(_known, self.intervals)
        columns = (
            self._versions,
            self.runs.started_at[self.first].tolist(),
            self.placed_at.tolist(),
            self.levels.tolist(),
            lows,
            highs,
            self.runs.content_ids[self.last].tolist(),
            self.runs.environment_ids[self.last].tolist(),
        )
        streams = [self.streams[series] for series in self.series.tolist()]
        for at, row in enumerate(zip(*columns, strict=True)):
            version, started_at, placed_at, value, low, high, content, environment = row
            start, end, time = ends[at], ends[at + 1], moment(started_at)
            yield Point(
                version=version,
                commit=version.commit,
                time=time,
                value=value,
                low=low,
                high=high,
                run_id=run_ids[end - 1],
                first_run_id=run_ids[start],
                content_id=content or None,
                environment_id=environment or None,
                run_ids=tuple(run_ids[start:end]),
                values=tuple(values[start:end]),
                position=(
                    group_name(version.pk, version.build, version.commit, time, streams[at].branch),
                    content or None,
                ),
                placed_at=_BEFORE_ALL if placed_at == _BEFORE_ALL_S else moment(placed_at),
                sessions=self.sessions(at),
            )

    def _of(self, at: int) -> slice:
        return slice(int(self.starts[at]), int(self.starts[at + 1]))


def history(series: Series) -> list[Point]:
    """Return the points of a series in order: releases by version, a branch by its commits."""
    return histories([series.pk])[series.pk]


def histories(
    series_ids: Iterable[int], *, since: datetime | None = None, until: datetime | None = None
) -> dict[int, list[Point]]:
    """Return the points of each series, in order, in a constant number of statements.

    ``since``, ``until``: only of runs that started then or later, or then or earlier.
    """
    ids = list(series_ids)
    of_series = Series.objects.in_bulk(ids)
    points = points_of(of_series.values(), read_measurements(of_series, since=since, until=until))
    found: dict[int, list[Point]] = {pk: [] for pk in ids}
    return found | dict(zip(of_series, points.of_series(), strict=True))


def histories_and_excluded(
    of_series: Mapping[int, Series],
) -> tuple[dict[int, list[Point]], dict[int, list[Point]]]:
    """Return the points of each series, given by id, and the points that its excluded runs would make."""
    measured = read_measurements(of_series, with_excluded=True)
    included, left_out = (
        points_of(of_series.values(), measured.of_runs(excluded=excluded)).of_series()
        for excluded in (False, True)
    )
    return dict(zip(of_series, included, strict=True)), dict(zip(of_series, left_out, strict=True))


def read_points(
    of_series: Mapping[int, OfStream], *, newest: int | None = None, intervals: bool = True
) -> Points:
    """Return the points of series, which are given by id.

    ``newest``: only of so many runs of each series, those that came in last; excluded ones are among them,
    but left out. ``intervals`` as for ``read_measurements``.

    One statement, and one more where a commit has no time.
    """
    return points_of(of_series.values(), read_measurements(of_series, newest=newest, intervals=intervals))


def positions(histories: Iterable[Sequence[Point]], *, branch: str) -> dict[Hashable, int]:
    """Put the groups of several series of one branch (or of releases, ``""``) on one axis: 0, 1, 2 ..."""
    histories = [points for points in histories if points]
    if len(histories) == 1:
        return {point.position: at for at, point in enumerate(histories[0])}
    earliest: dict[Hashable, tuple[Any, ...]] = {}
    for point in chain.from_iterable(histories):
        order = order_of(point, branch)
        earliest[point.position] = min(order, earliest.get(point.position, order))
    return {position: at for at, position in enumerate(sorted(earliest, key=lambda p: earliest[p]))}


def order_of(point: Point, branch: str) -> tuple[Any, ...]:
    """Return a key that sorts the points of a branch (or of releases, ``""``) as ``_order`` sorts groups."""
    if branch:
        return point.placed_at, point.commit or "", point.time, point.content_id or 0
    return point.version.release_key, point.placed_at, point.time, point.version.pk, point.content_id or 0


def group_name(version_id: int, build: str, commit: str | None, time: datetime, branch: str) -> Hashable:
    """Name the group of a run that started then: its version, on a branch its commit, or else its UTC day."""
    if is_control(build):
        return time.astimezone(UTC).date()
    return (commit or time.astimezone(UTC).date()) if branch else version_id


def first_known(versions: Iterable[MeasuredVersion], branch: str) -> int:
    """Return which of the versions of points is the first that is known to come before the later ones.

    On a branch, and of a control, that is the very first.
    """
    known = list(versions)
    is_in_order = branch or any(is_control(version.build) for version in known)
    return 0 if is_in_order else first_in_order([version.release_key for version in known])


def moment(epoch: float) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


# --- reading ----------------------------------------------------------------------------------------------

# Texts of bytes: as rows, the driver would make an object of each number. Each run and each version is read
# once, by arrays of their ids in the order of their index: joined point by point it takes twice as long.
_READ: Final = """
    WITH measured AS MATERIALIZED (MEASURED), run AS MATERIALIZED (
        SELECT id, started_at, recorded_at, version_id, coalesce(content_id, 0) AS content_id,
            coalesce(environment_id, 0) AS environment_id,
            (excluded_at IS NOT NULL)::int::int8 AS is_excluded,
            started_at_is_assumed::int::int8 AS is_assumed,
            branch, hardware_id, configuration_id, counterpart,
            min(id) OVER (
                PARTITION BY version_id, branch, hardware_id, configuration_id, counterpart
            ) AS place,
            CASE WHEN tags <> '{}' THEN (
                SELECT tag FROM unnest(tags) WITH ORDINALITY AS tag (tag, at)
                WHERE starts_with(tag, %(session)s) ORDER BY at LIMIT 1
            ) END AS session
        FROM results_run
        WHERE id = ANY(ARRAY(SELECT DISTINCT run_id FROM measured))
            AND (%(with_excluded)s OR excluded_at IS NULL)
            AND (%(since)s::timestamptz IS NULL OR started_at >= %(since)s)
            AND (%(until)s::timestamptz IS NULL OR started_at <= %(until)s)
    ), place AS MATERIALIZED (
        SELECT place AS id, version_id, branch, hardware_id, configuration_id, counterpart,
            min(started_at) AS first, max(started_at) AS last
        FROM run GROUP BY place, version_id, branch, hardware_id, configuration_id, counterpart
    ), neighbour AS (
        SELECT DISTINCT place.id, other.started_at, other.started_at_is_assumed::int::int8 AS is_assumed
        FROM place JOIN results_run other
            USING (version_id, branch, hardware_id, configuration_id, counterpart)
        WHERE NEIGHBOURS
            AND (other.tags = '{}'
                OR NOT EXISTS (SELECT FROM unnest(other.tags) tag WHERE starts_with(tag, %(session)s)))
    )
    SELECT * FROM (
        SELECT string_agg(int8send(series_id), ''::bytea), string_agg(int8send(run_id), ''::bytea),
            string_agg(float8send(value), ''::bytea),
            string_agg(float8send(coalesce(low, 'NaN')), ''::bytea) FILTER (WHERE %(intervals)s),
            string_agg(float8send(coalesce(high, 'NaN')), ''::bytea) FILTER (WHERE %(intervals)s)
        FROM measured
    ) measurements, (
        SELECT string_agg(int8send(id), ''::bytea), string_agg(timestamptz_send(started_at), ''::bytea),
            string_agg(timestamptz_send(recorded_at), ''::bytea), string_agg(int8send(version_id), ''::bytea),
            string_agg(int8send(content_id), ''::bytea), string_agg(int8send(environment_id), ''::bytea),
            string_agg(int8send(is_excluded), ''::bytea), string_agg(int8send(is_assumed), ''::bytea),
            string_agg(int8send(place), ''::bytea), string_agg(int8send((branch <> '')::int), ''::bytea),
            json_object_agg(id, session) FILTER (WHERE session IS NOT NULL)::text
        FROM run
    ) runs, (
        SELECT string_agg(int8send(id), ''::bytea), string_agg(timestamptz_send(started_at), ''::bytea),
            string_agg(int8send(is_assumed), ''::bytea)
        FROM neighbour
    ) neighbours, (
        SELECT json_agg(json_build_array(version.id, version, build, commit,
            extract(epoch FROM committed_at)::float8, sort_key, product.id, product.project_id, product.name
        ))::text
        FROM results_serverversion version JOIN results_product product ON product.id = version.product_id
        WHERE version.id = ANY(ARRAY(SELECT DISTINCT version_id FROM run))
    ) versions
"""
# Written into the statement instead of a parameter: a plan made for any value of that would read all runs.
_ALL_NEIGHBOURS: Final = "true"
_NEIGHBOURS_BETWEEN: Final = """
            place.last - place.first > make_interval(secs => %(gap)s)
            AND other.started_at BETWEEN place.first AND place.last
"""
_OF_SERIES: Final = """
    SELECT series_id, run_id, value, low, high FROM results_measurement
    WHERE series_id = ANY(%(series)s) AND run_id >= %(least_run_id)s
"""
_NEWEST_OF_SERIES: Final = """
    SELECT wanted.id AS series_id, one.run_id, one.value, one.low, one.high
    FROM unnest(%(series)s::bigint[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT run_id, value, low, high FROM results_measurement
        WHERE series_id = wanted.id AND run_id >= %(least_run_id)s
        ORDER BY run_id DESC LIMIT %(newest)s
    ) one
"""
# A prepared statement does not know how many runs and series it gets and expects a handful: it would go
# through all series for each run. A FULL JOIN is always hashed, and stays one where it is materialized; what
# has no other side falls out after it. A derived series is of runs of any thread count.
_OF_RUNS: Final = """
    WITH pair AS MATERIALIZED (
        SELECT wanted.id AS series_id, chosen.id AS run_id
        FROM (SELECT id, workload_id, threads FROM results_run WHERE id IN (RUNS)) chosen
        FULL JOIN unnest(%(series)s::bigint[], %(workloads)s::bigint[], %(threads)s::int[])
            AS wanted (id, workload_id, threads)
            ON wanted.workload_id = chosen.workload_id
            AND (wanted.threads IS NULL OR wanted.threads = coalesce(chosen.threads, -1))
    )
    SELECT one.series_id, one.run_id, one.value, one.low, one.high
    FROM pair JOIN results_measurement one USING (series_id, run_id)
"""
_RUNS_ALONE: Final = """
    SELECT 0::bigint AS series_id, run_id, 0::float8 AS value, NULL::float8 AS low, NULL::float8 AS high
    FROM unnest(%(runs)s::bigint[]) AS wanted (run_id)
"""
_KINDS: Final = (*(">i8", ">i8", ">f8", ">f8", ">f8"), *[">i8"] * 10)


def read_measurements(
    series_ids: Iterable[int],
    *,
    newest: int | None = None,
    least_run_id: int = 0,
    with_excluded: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
    intervals: bool = True,
) -> Measurements:
    """Read the measurements of these series, ``with_excluded`` runs or without.

    Only of the ``newest`` runs of each series that came in last, from ``least_run_id`` on; and of these, of
    runs that started from ``since`` to ``until``. Intervals of tools are read only with ``intervals``.
    """
    of_series = {"series": list(series_ids), "newest": newest, "least_run_id": least_run_id}
    of_runs = {"with_excluded": with_excluded, "since": since, "until": until}
    measured = _OF_SERIES if newest is None else _NEWEST_OF_SERIES
    return _read(measured, {**of_series, **of_runs}, intervals=intervals)


def read_measurements_of_runs(runs: QuerySet[Run], series: Sequence[SeriesOfRuns]) -> Measurements:
    """Read the measurements of these runs, whether they count or not, in these series.

    Sessions are those of everything that was measured beside, so that they begin and end on all pages alike.
    """
    try:
        chosen, parameters = runs.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        chosen, parameters = "NULL", ()
    names = [f"run_{number}" for number, _ in enumerate(parameters)]
    wanted: dict[str, Any] = {
        "series": [one.pk for one in series],
        "workloads": [one.workload_id for one in series],
        "threads": [None if one.is_derived else -1 if one.threads is None else one.threads for one in series],
        "with_excluded": True,
        "since": None,
        "until": None,
        **dict(zip(names, parameters, strict=True)),
    }
    named = chosen % tuple(f"%({name})s" for name in names)
    return _read(_OF_RUNS.replace("RUNS", named), wanted, intervals=True, whole_sessions=True)


def read_sessions(runs: Collection[int]) -> dict[int, str]:
    """Name the session of each of these runs, given by their ids; one statement."""
    wanted = {"series": [0], "runs": list(runs), "with_excluded": True, "since": None, "until": None}
    found = _read(_RUNS_ALONE, wanted, intervals=False, whole_sessions=True).runs
    names = found.sessions_of(np.arange(len(found.ids)))
    return dict(zip(found.ids.tolist(), names, strict=True))


def _read(
    measured: str, wanted: Mapping[str, Any], *, intervals: bool, whole_sessions: bool = False
) -> Measurements:
    """Without ``whole_sessions`` runs that are far apart are looked at for what joins them, and no others."""
    how = {
        "session": SESSION_TAG,
        "gap": settings.SESSION_GAP_S,
        "intervals": intervals,
    }
    neighbours = _ALL_NEIGHBOURS if whole_sessions else _NEIGHBOURS_BETWEEN
    statement = _READ.replace("MEASURED", measured).replace("NEIGHBOURS", neighbours)
    with connection.cursor() as cursor:
        cursor.execute(statement, {**wanted, **how})
        [(*columns, tags, places, times, assumed, versions)] = cursor.fetchall()
    series, of_run, values, low, high, ids, *of_runs = (
        np.frombuffer(column or b"", kind).astype(kind[1:])
        for column, kind in zip(columns, _KINDS, strict=True)
    )
    place_of, started_us, is_assumed = (
        np.frombuffer(column or b"", ">i8").astype("i8") for column in (places, times, assumed)
    )
    beside = Starts(_chains(place_of, is_assumed), started_us)
    runs, place = _runs(ids, of_runs, orjson.loads(tags or "{}"), beside, orjson.loads(versions or "[]"))
    if not intervals:
        low = high = np.full(len(values), np.nan)
    run = indexes(of_run, ids)
    series = indexes(series, np.array(wanted["series"], dtype=np.int64))
    at = np.flatnonzero(run >= 0)
    at = at[np.argsort(place[run[at]], kind="stable")]
    return Measurements(series[at], place[run[at]], values[at], low[at], high[at], runs)


def _runs(
    ids: Indexes,
    columns: Sequence[Indexes],
    tags: Mapping[str, str],
    neighbours: Starts,
    versions: Sequence[Sequence[Any]],
) -> tuple[Runs, Indexes]:
    """Return the runs in the order of their starts, and the place of each row among them.

    ``neighbours`` are runs that may have been measured in the same sessions.
    """
    started_us, recorded_us, version_ids, contents, environments, is_excluded, *rest = columns
    assumed, places, of_branch = rest
    in_order = np.lexsort((ids, started_us))
    place = np.empty_like(in_order)
    place[in_order] = np.arange(len(in_order))
    known = _versions(versions)
    row_of = {pk: row for row, pk in enumerate(ids.tolist())} if tags else {}
    tag_of = {row_of[int(pk)]: tag for pk, tag in tags.items()}
    tag = np.zeros_like(ids)
    tag[list(tag_of)] = 1 + _ranks(list(tag_of.values()))
    is_timed = tag == 0
    is_assumed = is_timed & (assumed == 1)
    chains = _chains(places, is_assumed)
    began_us, ended_us = np.zeros_like(ids), np.zeros_like(ids)
    began_us[is_timed], ended_us[is_timed] = Starts(chains[is_timed], started_us[is_timed]).spans(
        neighbours, int(settings.SESSION_GAP_S * 1e6)
    )
    received = np.flatnonzero(is_assumed & (of_branch == 1))
    began_us[received] = joined_receipts(places[received], began_us[received])
    sessions, starts = sort_into_groups(np.stack((chains, tag, began_us)))
    session = np.empty_like(ids)
    session[sessions] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if len(ids):
        # Tags by their own runs.
        own = np.minimum.reduceat(started_us[sessions], starts[:-1])[session]
        began_us = np.where(is_timed, began_us, own)
        own = np.maximum.reduceat(started_us[sessions], starts[:-1])[session]
        ended_us = np.where(is_timed, ended_us, own)
    runs = Runs(
        ids=ids,
        started_at=(started_us + _YEAR_2000_US) / 1e6,
        recorded_at=(recorded_us + _YEAR_2000_US) / 1e6,
        days=(started_us + _YEAR_2000_US) // _DAY_US,
        content_ids=contents,
        environment_ids=environments,
        is_excluded=is_excluded,
        is_assumed=is_assumed,
        session=session,
        session_began_at=(began_us + _YEAR_2000_US) / 1e6,
        session_ended_at=(ended_us + _YEAR_2000_US) / 1e6,
        version=indexes(version_ids, np.array([one.pk for one in known], dtype=np.int64)),
        versions=known,
        tags=tag_of,
    )
    return runs.at(in_order), place


def _chains(places: Indexes, is_assumed: Indexes | Bools) -> Indexes:
    """Return numbers of places, others for runs of unknown start: what they followed is not known."""
    return 2 * places + is_assumed


def _versions(rows: Iterable[Sequence[Any]]) -> list[MeasuredVersion]:
    """Return the versions of rows whose fourth column is in epoch seconds."""
    # An object of Django takes as long as twenty rows.
    product = cache(lambda pk, project_id, name: Product(pk=pk, project_id=project_id, name=name))
    return [
        MeasuredVersion(
            pk, version, build, commit, None if time is None else moment(time), sort_key, product(*of_product)
        )
        for pk, version, build, commit, time, sort_key, *of_product in rows
    ]


def measured_versions(ids: Collection[int]) -> dict[int, MeasuredVersion]:
    """Return versions by id; one statement, none without ids."""
    rows = ServerVersion.objects.filter(pk__in=ids).values_list(
        *("pk", "version", "build", "commit", "committed_at", "sort_key"),
        *("product_id", "product__project_id", "product__name"),
    )
    known = _versions((*row[:4], row[4] and row[4].timestamp(), *row[5:]) for row in rows)
    return {version.pk: version for version in known}


def indexes(wanted: Indexes, ids: Indexes) -> Indexes:
    """Return the index of each of the wanted among the distinct ids; -1 where it is not there."""
    in_order = np.argsort(ids)
    places = np.searchsorted(ids, wanted, sorter=in_order)
    found = np.append(in_order, -1)[places]
    return np.where(np.append(ids, -1)[found] == wanted, found, -1)


# --- grouping ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """Groups of runs that are one point each, in order.

    ``of`` is the group of each element, ``first`` and ``last`` are the elements that each group begins and
    ends with; ``placed_at`` as of a point, in epoch seconds.
    """

    of: Indexes
    first: Indexes
    last: Indexes
    placed_at: Numbers


def points_of(streams: Iterable[OfStream], measured: Measurements) -> Points:
    """Group measurements into points; ``streams`` are the series that were read."""
    streams = list(streams)
    groups = group(streams, measured.series, measured.run, measured.runs)
    in_order = np.argsort(groups.of, kind="stable")
    return Points(
        streams=streams,
        series=measured.series[groups.first],
        placed_at=groups.placed_at,
        starts=np.searchsorted(groups.of[in_order], np.arange(len(groups.first) + 1)),
        run=measured.run[in_order],
        values=measured.values[in_order],
        tool_low=measured.low[in_order],
        tool_high=measured.high[in_order],
        runs=measured.runs,
    )


def group(streams: Sequence[OfStream], stream: Indexes, run: Indexes, runs: Runs) -> Groups:
    """Group runs, given by their index in the order of their starts, within each stream (an index).

    Runs of releases are one group by their version, runs of a branch by their commit or else their day, and
    those of a control by their day; those with different contents of their configuration never are.
    """
    of_control = np.array([is_control(one.build) for one in streams], dtype=bool)[stream]
    is_branch = np.array([_is_branch(one) for one in streams], dtype=bool)[stream]
    commit = _ranks([one.commit or "" for one in runs.versions])[runs.version[run]]
    has_commit = np.array([bool(one.commit) for one in runs.versions], dtype=bool)[runs.version[run]]
    by_commit = has_commit & ~of_control
    build = np.where(is_branch, np.where(by_commit, commit, -1 - runs.days[run]), runs.version[run])
    parts = np.stack((stream, build, runs.content_ids[run]))
    in_order, starts = sort_into_groups(parts)
    first, last = in_order[starts[:-1]], in_order[starts[1:] - 1]
    placed_at = _placed_at(streams, stream[last], run[first], run[last], runs)
    placed_at = np.where(of_control[last], runs.started_at[run[first]], placed_at)
    order = _order(is_branch[last], stream[last], run[first], run[last], placed_at, runs)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of = np.empty_like(in_order)
    of[in_order] = place[np.repeat(np.arange(len(first)), np.diff(starts))]
    return Groups(of, first[order], last[order], placed_at[order])


def _is_branch(stream: OfStream) -> bool:
    """Tell whether groups come in the order of their time: a control never changes, and is no release."""
    return bool(stream.branch) or is_control(stream.build)


def sort_into_groups(parts: Indexes) -> tuple[Indexes, Indexes]:
    """Return an order of elements that puts those with the same parts (parts x elements) next to each other.

    With it, where each group starts in it, and the end of all. Elements of a group keep their order.
    """
    in_order = np.lexsort(parts[::-1])
    parts = parts[:, in_order]
    begins = np.ones(len(in_order), dtype=bool)
    begins[1:] = (parts[:, 1:] != parts[:, :-1]).any(axis=0)
    return in_order, np.append(np.flatnonzero(begins), len(in_order))


def _placed_at(
    streams: Sequence[OfStream], stream: Indexes, first: Indexes, last: Indexes, runs: Runs
) -> Numbers:
    """Return when the commit of each group was made.

    Where that is not known: on a branch, when another build of the commit was made or when it was first
    measured; of releases, before all.
    """
    times = [one.committed_at for one in runs.versions]
    placed = np.array([_BEFORE_ALL_S if one is None else one.timestamp() for one in times], dtype=float)
    placed = placed[runs.version[last]]
    without = np.array([one is None for one in times], dtype=bool)[runs.version[last]]
    without &= np.array([bool(one.branch) for one in streams], dtype=bool)[stream]
    at = np.flatnonzero(without).tolist()
    of = [(streams[stream[i]], runs.versions[runs.version[last[i]]].commit) for i in at]
    known = times_of_commits(
        {one.product_id for one, _ in of},
        {one.branch for one, _ in of},
        {commit for _, commit in of if commit},
    )
    for i, (one, commit) in zip(at, of, strict=True):
        time = known.get((one.product_id, one.branch, commit))
        placed[i] = time.timestamp() if time else runs.started_at[first[i]]
    return placed


def _order(
    is_branch: Bools, stream: Indexes, first: Indexes, last: Indexes, placed_at: Numbers, runs: Runs
) -> Indexes:
    """Sort groups stream by stream: releases by their version, a branch by when its commits were made.

    Releases without an order stand before the others, by time.
    """
    versions, version = runs.versions, runs.version[last]
    commit = _ranks([one.commit or "" for one in versions])[version]
    release_key = _ranks([one.release_key for one in versions])[version]
    version_id = np.array([one.pk for one in versions], dtype=np.int64)[version]
    content = runs.content_ids[last]
    return np.lexsort(
        (
            np.where(is_branch, 0, content),
            np.where(is_branch, content, version_id),
            runs.started_at[first],
            np.where(is_branch, commit, placed_at),
            np.where(is_branch, placed_at, release_key),
            stream,
        )
    )


def _ranks(texts: Sequence[str]) -> Indexes:
    """Return for each text the number of different ones before it."""
    rank = {text: at for at, text in enumerate(sorted({*texts}))}
    return np.fromiter(map(rank.__getitem__, texts), np.int64, len(texts))


def times_of_commits(
    products: Collection[int], branches: Collection[str], commits: Collection[str]
) -> dict[tuple[int, str, str | None], datetime]:
    """Return times for commits without one, by product, branch and commit; one statement at most.

    A time is that of another build of the commit, or when it was first measured on its branch. ``products``
    are ids.
    """
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


# --- levels -----------------------------------------------------------------------------------------------


def medians(values: Numbers, starts: Indexes) -> Numbers:
    """Return the median of each group; group ``i`` has the values ``starts[i]`` to ``starts[i + 1]``."""
    n = np.diff(starts)
    if len(n) < len(values):
        values = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    return np.asarray((values[starts[:-1] + (n - 1) // 2] + values[starts[:-1] + n // 2]) / 2)


def _intervals(groups: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    """Return the 95 % interval of the level of each group of several values, widened to hold their median.

    It is Student's, of the logarithms where all values are positive.
    """
    n = np.array([len(values) for values in groups], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(n)))
    of_group = np.repeat(np.arange(len(groups)), n)
    values = np.concatenate(groups)
    values = values[np.lexsort((values, of_group))]
    in_logs = values[starts[:-1]] > 0
    x = np.where(in_logs[of_group], np.log(np.where(values > 0, values, 1)), values)
    means = np.add.reduceat(x, starts[:-1]) / n
    squares = np.add.reduceat((x - means[of_group]) ** 2, starts[:-1])
    half = stdtrit(n - 1, (1 + _CONFIDENCE) / 2) * np.sqrt(squares / (n - 1) / n)
    # Two values far apart have no interval that a number could hold.
    largest = np.where(in_logs, 700, np.finfo(float).max)
    low, high = np.maximum(means - half, -largest), np.minimum(means + half, largest)
    low = np.where(in_logs, np.exp(np.where(in_logs, low, 0)), low)
    high = np.where(in_logs, np.exp(np.where(in_logs, high, 0)), high)
    # A skewed group may have its median beside the interval of its mean.
    level = medians(values, starts)
    return np.minimum(low, level), np.maximum(high, level)


def _known(values: Numbers) -> list[float | None]:
    """Return the values, with None in place of NaN."""
    known: list[float | None] = values.tolist()
    for at in np.flatnonzero(np.isnan(values)).tolist():
        known[at] = None
    return known


# --- all series of a place --------------------------------------------------------------------------------

# The series of a place are about as long as each other: a sample of them tells.
_SAMPLED: Final = 20
# The cut moves in steps of this part of what is read, so that most looks begin where the one before began.
_CUT_AGAIN_AFTER: Final = 4


class PlacedGroup(NamedTuple):
    """One position: the values by which it is sorted and told from others, plain enough for JSON.

    ``version_id`` and ``commit`` are those of the latest run, ``started_at`` (epoch seconds) is of the first.
    """

    order: list[Any]
    version_id: int
    commit: str | None
    started_at: float


@dataclass(frozen=True)
class PlacedRuns(Runs):
    """The runs of all series of a place, in the order of their positions and starts.

    ``groups`` are the positions in order. ``is_cut``: there are older ones that were not read.
    """

    positions: Indexes
    groups: Sequence[PlacedGroup]
    is_branch: bool
    is_cut: bool

    @cached_property
    def first_in_order(self) -> int:
        """The first position that is known to come before the later ones; see ``versions.first_in_order``.

        Groups of a branch are in order from the first one on.
        """
        return 0 if self.is_branch else first_in_order([group.order[0] for group in self.groups])

    def since(self, position: int) -> "PlacedRuns":
        """Return the runs from a position on, which is then the first one."""
        kept = self.at(np.flatnonzero(self.positions >= position))
        return replace(kept, positions=kept.positions - position, groups=self.groups[position:])

    @cached_property
    def index_of(self) -> dict[int, int]:
        """The index of each run by its id."""
        return {pk: at for at, pk in enumerate(self.ids.tolist())}

    def independent(self, runs: Indexes) -> int:
        """Count the sessions of these runs (indexes) that count as independent.

        Releases that were measured in one go share one. On a branch every group has sessions of its own.
        """
        assumed = self.is_assumed[runs]
        known, received_at = runs[~assumed], np.unique(self.session_began_at[runs[assumed]])
        if self.is_branch:
            groups = set(zip(self.positions[known].tolist(), self.session[known].tolist(), strict=True))
            return len(groups) + int(counting(received_at, of_branch=True).sum())
        began_at: dict[str, list[float]] = defaultdict(list)
        for run, start in zip(known.tolist(), self.session_began_at[known].tolist(), strict=True):
            began_at[self.tags.get(run, "")].append(start)
        return sum(
            number_apart(starts, MAX_TAG_GAP_S if tag else settings.SESSION_GAP_S)
            for tag, starts in began_at.items()
        )


@dataclass(frozen=True, slots=True)
class SeriesValues:
    """The values of one series: ``runs`` are indexes of PlacedRuns in ascending order.

    ``levels`` are the median of each position, NaN where there is none.
    """

    runs: Indexes
    values: Numbers
    levels: Numbers

    def since(self, position: int, runs: PlacedRuns) -> "SeriesValues":
        """Return the values from a position of these runs on."""
        first = int(np.searchsorted(runs.positions, position))
        kept = self.runs >= first
        return SeriesValues(self.runs[kept] - first, self.values[kept], self.levels[position:])


@dataclass(frozen=True, slots=True)
class Layout:
    """The runs of a place, and the values of its series by their ids."""

    runs: PlacedRuns
    measured: dict[int, SeriesValues]


@dataclass(frozen=True, slots=True)
class _Cut:
    """The point where a long branch is cut: no run that started earlier is read, and no older commit."""

    started_at: datetime
    placed_at: float
    least_run_id: int


def lay_out(series: Collection[Series], *, most_values: int) -> Layout:
    """Put the included runs of series of one product and branch (or of releases) on common positions.

    Where the series of a branch have more than about ``most_values`` values together, only the newest
    positions are read that hold so many. Five statements at most.
    """
    cut = _cut(series, most_values)
    measured = read_measurements(
        [one.pk for one in series],
        least_run_id=cut.least_run_id if cut else 0,
        since=cut.started_at if cut else None,
        intervals=False,
    )
    each = np.arange(len(measured.runs.ids))
    stream = list(series)[:1]
    groups = group(stream, np.zeros_like(each), each, measured.runs)
    # Groups of a branch are sorted by when their commits were made.
    left_out = int(np.searchsorted(groups.placed_at, cut.placed_at)) if cut else 0
    in_order = np.argsort(groups.of, kind="stable")
    in_order = in_order[groups.of[in_order] >= left_out]
    placed = PlacedRuns(
        **vars(measured.runs.at(in_order)),
        positions=groups.of[in_order] - left_out,
        groups=_placed_groups(groups, measured.runs, stream)[left_out:],
        is_branch=any(map(_is_branch, stream)),
        is_cut=cut is not None,
    )
    place = np.full(len(each), -1)
    place[in_order] = np.arange(len(in_order))
    run = place[measured.run]
    counts = np.flatnonzero(run >= 0)
    found = _by_series(placed, measured.series[counts], run[counts], measured.values[counts], len(series))
    return Layout(placed, dict(zip([one.pk for one in series], found, strict=True)))


def lay_on(runs: PlacedRuns, values: Sequence[Mapping[int, float]]) -> list[SeriesValues]:
    """Put further series, whose values are given by the ids of runs, on the same positions."""
    series = np.repeat(np.arange(len(values)), [len(one) for one in values])
    run = np.array([runs.index_of[pk] for one in values for pk in one], dtype=np.int64)
    flat = np.array([value for one in values for value in one.values()])
    return _by_series(runs, series, run, flat, len(values))


def _by_series(
    runs: PlacedRuns, series: Indexes, run: Indexes, values: Numbers, number: int
) -> list[SeriesValues]:
    """Split values by their series (indexes below ``number``); ``run`` are indexes of ``runs``."""
    if not number:
        return []
    in_order = np.lexsort((run, series))
    series, run, values = series[in_order], run[in_order], values[in_order]
    length = len(runs.groups)
    cell = series * length + runs.positions[run]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    levels = np.full(number * length, np.nan)
    levels[cell[starts]] = medians(values, np.append(starts, len(values)))
    ends = np.searchsorted(series, np.arange(1, number))
    parts = zip(np.split(run, ends), np.split(values, ends), levels.reshape(number, length), strict=True)
    return [SeriesValues(*part) for part in parts]


def _placed_groups(groups: Groups, runs: Runs, stream: Sequence[Series]) -> list[PlacedGroup]:
    is_branch = any(one.branch for one in stream)
    placed = []
    for version, content, started_at, placed_at in zip(
        [runs.versions[at] for at in runs.version[groups.last].tolist()],
        runs.content_ids[groups.last].tolist(),
        runs.started_at[groups.first].tolist(),
        groups.placed_at.tolist(),
        strict=True,
    ):
        of_branch = [placed_at, version.commit or "", started_at, content]
        of_release = [version.release_key, placed_at, started_at, version.pk, content]
        order = of_branch if is_branch else of_release
        placed.append(PlacedGroup(order, version.pk, version.commit, started_at))
    return placed


def _cut(series: Collection[Series], most_values: int) -> _Cut | None:
    """Return where to cut a branch; None where everything can be read, and for releases."""
    some = sorted(one.pk for one in series if one.branch)[:_SAMPLED]
    lengths = Measurement.objects.filter(series__in=some).values_list("series").annotate(n=Count("run"))
    longest, length = lengths.order_by("-n", "series").first() or (0, 0)
    newest = max(1, most_values // max(1, len(series)))
    over = max(0, length - newest)
    over -= over % max(1, newest // _CUT_AGAIN_AFTER)
    if not over:
        return None
    starts = Measurement.objects.filter(series=longest).order_by("-run__started_at")
    started_at, placed_at = starts.values_list(
        "run__started_at", Coalesce("run__version__committed_at", "run__started_at")
    )[length - over - 1]
    branch = next(iter(series))
    runs = Run.objects.filter(project=branch.project_id, branch=branch.branch, started_at__gte=started_at)
    return _Cut(started_at, placed_at.timestamp(), runs.aggregate(least=Min("pk"))["least"])
