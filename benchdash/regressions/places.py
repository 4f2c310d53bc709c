"""One place of measurement, as detection sees it: its series side by side over the same groups."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.releases import MOST_GROUPS, Sessions
from benchdash.results.models import Series
from benchdash.results.queries import Point, histories, positions
from benchdash.results.readings import Direction
from benchdash.results.sessions import session_means
from benchdash.results.stability import THROUGHPUT

# These follow from others of the same run, tell of the machine, or hang on a single event; they are drawn,
# not watched. So are those of an operation (``read.latency_max``), and all of single statements and scripts.
_UNWATCHED = (
    "latency_(min|max|sum|stddev)",
    "total_(time|events)",
    "fairness_(events|time)_stddev",
    "(reads|writes|other|events|errors|reconnects)_per_s",
    "tps_with_connecting",
    "(initial|average)_connection_time",
    "(serialization_failures|deadlock_failures|other_failures|retries)_per_s",
    "(retried|skipped|late)_percent",
    "schedule_lag_(avg|max)",
    "batch_seconds_(min|max)",
    "cpu_(user|system|wait|idle|steal)",
    "(context_switches|interrupts)_per_s",
    "run_queue",
    "client_cpu_per_op",
    "(read|write)_mb_per_s",
    "(read|write)_kb_per_op",
    "reads_per_op",
    r"gc\.(count|time)",
    "stalls_per_min",
    "stalled_percent",
    # The peak is one of the throughputs that are watched, and the knee follows the scale-up.
    "curve_(peak|knee_threads)",
    f"({'|'.join(THROUGHPUT)})_(worst|variation)",
)
UNWATCHED_METRICS = rf"^((statement|script)_[0-9]+\..*|(.*\.)?({'|'.join(_UNWATCHED)}))$"
"""A pattern that PostgreSQL and Python read alike."""

_IS_UNWATCHED = re.compile(UNWATCHED_METRICS)

SPEED_OF_THE_MACHINE = "client_cpu_per_op"
"""The same client does the same for every operation: its cost moves with the machine, not the server."""


def is_watched(metric: str) -> bool:
    return _IS_UNWATCHED.match(metric) is None


@dataclass(frozen=True, slots=True)
class Place:
    """What series must share to be looked at together. Ids of this project's rows; texts may be empty."""

    project_id: int
    product_id: int
    build: str
    branch: str
    line: str
    hardware_id: int
    configuration_id: int
    counterpart: str

    @classmethod
    def of(cls, series: Series) -> "Place":
        return cls(
            project_id=series.project_id,
            product_id=series.product_id,
            build=series.build,
            branch=series.branch,
            line=series.line,
            hardware_id=series.hardware_id,
            configuration_id=series.configuration_id,
            counterpart=series.counterpart,
        )

    def series(self) -> QuerySet[Series]:
        return Series.objects.filter(
            project=self.project_id,
            product=self.product_id,
            build=self.build,
            branch=self.branch,
            line=self.line,
            hardware=self.hardware_id,
            configuration=self.configuration_id,
            counterpart=self.counterpart,
        )


def all_places(series: QuerySet[Series]) -> list[Place]:
    """Where these series were measured, each place once, product by product."""
    names = [field.name for field in fields(Place)]
    rows = series.order_by(*names).values_list(*names).distinct()
    return [Place(*row) for row in rows]


@dataclass(frozen=True)
class History:
    """The points of one series, laid on the positions of its place. ``None`` where it has no group."""

    series: Series
    points: Sequence[Point | None] = field(repr=False)
    # Of a derived series, whose value may move to another run of its group: where every run of the place is.
    place: Mapping[int, int] = field(default_factory=dict, repr=False)

    @property
    def what(self) -> Hashable:
        return self.series.workload_id, self.series.threads

    @property
    def is_watched(self) -> bool:
        return is_watched(self.series.metric)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """One value a position, in the series' unit; NaN where there is none."""
        return np.array([np.nan if point is None else point.value for point in self.points], dtype=float)

    @cached_property
    def noise(self) -> float | None:
        """Relative sd of a group at one level, from the median absolute difference of neighbours' logs."""
        values = self.values[np.isfinite(self.values) & (self.values > 0)]
        if len(values) < 4:
            return None
        return float(np.median(np.abs(np.diff(np.log(values)))) / (0.6745 * np.sqrt(2)))

    @cached_property
    def _position_of_run(self) -> dict[int, int]:
        return {run: at for at, point in enumerate(self.points) if point for run in point.run_ids}

    def position_of(self, run_id: int) -> int | None:
        """Where the group of a run is, or None where the run is no longer part of this history."""
        return self._position_of_run.get(run_id, self.place.get(run_id))

    def has(self, position: int) -> bool:
        return any(self.points[position:])

    def at(self, position: int) -> Point:
        """The first group at or after a position. Raises LookupError where there is none."""
        for point in self.points[position:]:
            if point:
                return point
        raise LookupError(position)

    def before(self, position: int) -> Point | None:
        return next((point for point in reversed(self.points[:position]) if point), None)

    def groups_around(self, position: int) -> tuple[int, int]:
        """How many groups lie before a position and from it on."""
        return sum(map(bool, self.points[:position])), sum(map(bool, self.points[position:]))


def place_histories(place: Place) -> dict[int, History]:
    """The histories of all series of a place, by id, over common positions."""
    series = {one.pk: one for one in place.series()}
    points = histories(list(series))
    order = positions(points.values(), branch=place.branch)
    derived = {one.pk for one in series.values() if one.is_derived}
    of_runs = {
        run: order[point.position]
        for of_series in (points.values() if derived else ())
        for point in of_series
        for run in point.run_ids
    }
    return {
        pk: History(one, _lay_out(points[pk], order), of_runs if pk in derived else {})
        for pk, one in series.items()
    }


@dataclass(frozen=True, slots=True)
class Table:
    """The watched series of a place as detection takes them; see ``detection.find_joint_shifts``.

    ``series`` are their ids, ``sessions`` the values of each session of the first groups.
    """

    values: Mapping[Key, NDArray[np.float64]]
    directions: Mapping[Key, Direction]
    machine: Mapping[Hashable, NDArray[np.float64]]
    expected: frozenset[int]
    sessions: Mapping[Key, Sessions]
    series: Mapping[Key, int]

    @property
    def length(self) -> int:
        return max(map(len, self.values.values()), default=0)


def table_of(histories: Mapping[int, History]) -> Table:
    """Of what tools printed: what was derived of it is no further evidence."""
    printed = {pk: history for pk, history in histories.items() if not history.series.is_derived}
    return _table(printed)


def table_of_curves(histories: Mapping[int, History]) -> Table:
    """Of the derived series that are watched: the peak of a scaling curve may move and nothing else."""
    return _table({pk: history for pk, history in histories.items() if history.series.is_derived})


def _table(histories: Mapping[int, History]) -> Table:
    watched: dict[Key, History] = {
        (history.what, history.series.metric): history for history in histories.values() if history.is_watched
    }
    return Table(
        values={key: history.values for key, history in watched.items()},
        directions={key: history.series.better for key, history in watched.items()},
        machine={
            history.what: history.values
            for history in histories.values()
            if history.series.metric == SPEED_OF_THE_MACHINE
        },
        expected=changed_surroundings(watched.values()),
        sessions={
            key: [_sessions(point) for point in one.points[:MOST_GROUPS]] for key, one in watched.items()
        },
        series={key: history.series.pk for key, history in watched.items()},
    )


def _sessions(point: Point | None) -> Sequence[float]:
    """The value of each session of a group; a run of which none is known is one of its own."""
    if point is None:
        return ()
    known = point.sessions and min(point.values) > 0
    return session_means(point.values, point.sessions) if known else point.values


def changed_surroundings(histories: Iterable[History]) -> frozenset[int]:
    """The positions whose configuration or environment is known not to be that of the group before."""
    return frozenset(
        at
        for history in histories
        for at in (*_differing(history, _content), *_differing(history, _environment))
    )


def _differing(history: History, surroundings: Callable[[Point], int | None]) -> Iterator[int]:
    last = None
    for at, point in enumerate(history.points):
        now = surroundings(point) if point else None
        if now is not None:
            if last not in (None, now):
                yield at
            last = now


def _content(point: Point) -> int | None:
    return point.content_id


def _environment(point: Point) -> int | None:
    return point.environment_id


def _lay_out(points: Sequence[Point], order: dict[Hashable, int]) -> list[Point | None]:
    laid_out: list[Point | None] = [None] * len(order)
    for point in points:
        laid_out[order[point.position]] = point
    return laid_out
