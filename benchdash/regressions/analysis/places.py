"""One place of measurement, as detection sees it: its series side by side over the same groups."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
from django.conf import settings

from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.noise import Floats, Ints
from benchdash.regressions.detection.releases import MAX_RELEASE_GROUPS, Sessions
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.watched_metrics import MetricRules
from benchdash.results.models import Series
from benchdash.results.place import Place
from benchdash.results.points import PlacedRuns, SeriesValues, lay_on, lay_out, moment
from benchdash.results.readings import Direction
from benchdash.results.sessions import session_means

SPEED_OF_THE_MACHINE = "client_cpu_per_op"
"""The same client does the same for every operation: its cost moves with the machine, not the server."""


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one series at one position: when the first started, and the ids of the first and latest."""

    time: datetime
    first_run_id: int
    run_id: int


@dataclass(frozen=True)
class History:
    """The groups of one series, laid on the positions of its place."""

    series: Series
    runs: PlacedRuns = field(repr=False)
    measured: SeriesValues = field(repr=False)

    @property
    def values(self) -> Floats:
        """The median of each position, in the series' unit; NaN where there is none."""
        return self.measured.levels

    @property
    def length(self) -> int:
        """The number of positions of its place."""
        return len(self.runs.groups)

    @property
    def what(self) -> Hashable:
        return self.series.workload_id, self.series.threads

    @cached_property
    def noise(self) -> float | None:
        return noise_of(self.values)

    @cached_property
    def _positions(self) -> Ints:
        return self.runs.positions[self.measured.runs]

    def position_of(self, run_id: int) -> int | None:
        """Return where the group of a run is, or None where the run is no part of this history.

        The value of a derived series may move to another run of its group.
        """
        index = self.runs.index_of.get(run_id)
        if index is None:
            return None
        if self.series.is_derived:
            return int(self.runs.positions[index])
        at = int(np.searchsorted(self.measured.runs, index))
        is_measured = at < len(self.measured.runs) and self.measured.runs[at] == index
        return int(self._positions[at]) if is_measured else None

    def has(self, position: int) -> bool:
        return bool(len(self._positions)) and int(self._positions[-1]) >= position

    def at(self, position: int) -> Group:
        """Return the first group at or after a position. Raises LookupError where there is none."""
        start = int(np.searchsorted(self._positions, position))
        if start == len(self._positions):
            raise LookupError(position)
        return self._group(int(self._positions[start]))

    def before(self, position: int) -> Group | None:
        """Return the last group before a position."""
        end = int(np.searchsorted(self._positions, position))
        return self._group(int(self._positions[end - 1])) if end else None

    def groups_around(self, position: int) -> tuple[int, int]:
        """Count the groups before a position and from it on."""
        there = np.isfinite(self.values)
        return int(there[:position].sum()), int(there[position:].sum())

    def where_changed(self, ids: Ints) -> list[int]:
        """List the positions whose latest run's content or environment (``ids``) is known and a new one."""
        latest = np.flatnonzero(np.diff(self._positions, append=-1))
        latest = latest[ids[self.measured.runs[latest]] > 0]
        known = ids[self.measured.runs[latest]]
        found: list[int] = self._positions[latest][1:][known[1:] != known[:-1]].tolist()
        return found

    def values_at(self, position: int) -> list[float]:
        """Return the values of the runs at a position, in the order of their starts."""
        found: list[float] = self.measured.values[self._slice(position)].tolist()
        return found

    def sessions(self, position: int) -> Sequence[float]:
        """Return the value of each session at a position; of each run where not all values are positive."""
        values = self.values_at(position)
        if not values or min(values) <= 0:
            return values
        return session_means(values, self.runs.session[self.measured.runs[self._slice(position)]].tolist())

    def independent(self, start: int, end: int) -> int:
        """Count the sessions that count as independent from one position to before another."""
        first, last = np.searchsorted(self._positions, (start, end))
        return self.runs.independent(self.measured.runs[first:last])

    def _group(self, position: int) -> Group:
        start, end = np.searchsorted(self._positions, (position, position + 1))
        runs = self.measured.runs[start:end]
        return Group(
            time=moment(float(self.runs.started_at[runs[0]])),
            first_run_id=int(self.runs.ids[runs[0]]),
            run_id=int(self.runs.ids[runs[-1]]),
        )

    @cached_property
    def _starts(self) -> list[int]:
        starts: list[int] = np.searchsorted(self._positions, np.arange(self.length + 1)).tolist()
        return starts

    def _slice(self, position: int) -> slice:
        return slice(self._starts[position], self._starts[position + 1])


def confirmed_positions(
    change_points: Iterable[ChangePoint], histories: Mapping[int, History]
) -> frozenset[int]:
    """Return where the confirmed ones of these change points begin in their histories."""
    confirmed = (
        one
        for one in change_points
        if one.state == ChangePoint.State.CONFIRMED and not (one.origin or one.is_drift)
    )
    positions = (histories[one.series_id].position_of(one.run_id) for one in confirmed)
    return frozenset(position for position in positions if position is not None)


def noise_of(values: Floats) -> float | None:
    """Estimate the relative sd of a group at one level from the differences of neighbours' logs.

    None for fewer than four values; what is missing or not positive is left out.
    """
    values = values[np.isfinite(values) & (values > 0)]
    if len(values) < 4:
        return None
    return float(np.median(np.abs(np.diff(np.log(values)))) / (0.6745 * np.sqrt(2)))


def place_histories(place: Place) -> dict[int, History]:
    """Read the histories of a place as ``whole_histories`` does, as far as their groups are in order."""
    return in_order(whole_histories(place))


def in_order(histories: Mapping[int, History]) -> dict[int, History]:
    """Leave out the releases whose order nobody knows: there is no before and after among them."""
    runs = next((history.runs for history in histories.values()), None)
    if runs is None or not runs.first_in_order:
        return dict(histories)
    start, kept = runs.first_in_order, runs.since(runs.first_in_order)
    return {
        pk: History(one.series, kept, one.measured.since(start, one.runs)) for pk, one in histories.items()
    }


def whole_histories(place: Place) -> dict[int, History]:
    """Read the histories of all series of a place that tools printed, by id, over common positions.

    Of a place with more than ANALYSIS_MOST_VALUES measurements only the newest of each series.
    """
    series = {one.pk: one for one in place.series().filter(is_derived=False).order_by("pk")}
    layout = lay_out(series.values(), most_values=settings.ANALYSIS_MOST_VALUES)
    return {pk: History(series[pk], layout.runs, measured) for pk, measured in layout.measured.items()}


def derived_histories(runs: PlacedRuns, values: Mapping[Series, Mapping[int, float]]) -> dict[int, History]:
    """Lay derived series, given with their values by the ids of runs, on the runs of their place."""
    laid = zip(values, lay_on(runs, list(values.values())), strict=True)
    return {series.pk: History(series, runs, measured) for series, measured in laid}


@dataclass(frozen=True, slots=True)
class PlaceTable:
    """The watched series of a place as detection takes them; see ``detection.find_joint_shifts``.

    ``controls`` are the levels of the control where there is one (``control_runs``), ``series`` the ids.
    ``sessions`` gives the values of each session of the first groups; it is mostly not asked.
    """

    values: Mapping[Key, Floats]
    directions: Mapping[Key, Direction]
    machine: Mapping[Hashable, Floats]
    controls: Mapping[Key, Floats]
    expected: frozenset[int]
    sessions: Callable[[Key], Sessions]
    series: Mapping[Key, int]

    @property
    def length(self) -> int:
        return max(map(len, self.values.values()), default=0)


def table_of(
    histories: Mapping[int, History], controls: Mapping[Key, Floats], rules: MetricRules
) -> PlaceTable:
    """Make a table of what tools printed: what was derived of it is no further evidence."""
    printed = {pk: history for pk, history in histories.items() if not history.series.is_derived}
    return _table(printed, controls, rules)


def table_of_curves(histories: Mapping[int, History], rules: MetricRules) -> PlaceTable:
    """Make a table of derived series: the peak of a scaling curve may move and nothing else."""
    derived = {pk: history for pk, history in histories.items() if history.series.is_derived}
    return _table(derived, {}, rules)


def _table(
    histories: Mapping[int, History], controls: Mapping[Key, Floats], rules: MetricRules
) -> PlaceTable:
    watched: dict[Key, History] = {
        (history.what, history.series.metric): history
        for history in histories.values()
        if rules.watches(history.series)
    }

    def sessions(key: Key) -> Sessions:
        history = watched[key]
        return [history.sessions(position) for position in range(min(history.length, MAX_RELEASE_GROUPS))]

    return PlaceTable(
        values={key: history.values for key, history in watched.items()},
        directions={key: history.series.better for key, history in watched.items()},
        machine={
            history.what: history.values
            for history in histories.values()
            if history.series.metric == SPEED_OF_THE_MACHINE
        },
        controls=controls,
        expected=changed_surroundings(watched.values()),
        sessions=sessions,
        series={key: history.series.pk for key, history in watched.items()},
    )


def changed_surroundings(histories: Iterable[History]) -> frozenset[int]:
    """Find the positions whose configuration or environment is known not to be that of the group before."""
    # The metrics of a workload have the same runs.
    distinct = {history.measured.runs.tobytes(): history for history in histories}
    return frozenset(
        at
        for history in distinct.values()
        for ids in (history.runs.content_ids, history.runs.environment_ids)
        for at in history.where_changed(ids)
    )
