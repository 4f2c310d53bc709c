"""Histories as pages show them: lines with their points, and what happened at which of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import isnan
from operator import itemgetter
from statistics import median
from typing import Final

import numpy as np
from django.db.models import Q

from benchdash.charts.figure import Position, iso
from benchdash.regressions.analysis.control_runs import levels_beside
from benchdash.regressions.analysis.places import noise_of
from benchdash.regressions.comparison.newest_nights import (
    MAX_RUNS,
    NewestNight,
    NightHistory,
    Step,
    newest_nights,
)
from benchdash.regressions.comparison.noise_floors import Histories, Levels
from benchdash.regressions.detection.compare import EQUIVALENT, Sample, compare_sides, sign_of
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.scatter import Sides
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import Margins
from benchdash.regressions.queries import (
    Difference,
    Surroundings,
    change_points,
    places,
    read_differences,
)
from benchdash.regressions.used_units import change_point_in_unit, scaled, series_in_unit
from benchdash.regressions.watched_metrics import MetricRules
from benchdash.results.models import UNKNOWN_VERSION, Series
from benchdash.results.points import Point, first_known, histories_and_excluded, positions
from benchdash.results.sessions import rest_on_receipts
from benchdash.results.used_units import UsedUnit, used_units

_SHORT_COMMIT: Final = 10
# The differences of this many newest switches are read; older ones only say that something changed.
_MAX_SWITCHES: Final = 200


@dataclass(frozen=True, eq=False)
class HistoryLine:
    """A series with its points in order, and what happened at their indexes.

    ``shifts`` are change points at the first group of their new level. ``switches`` are groups whose
    configuration or environment differs from those before, with what differs (nothing: not read).
    ``excluded`` are the groups that excluded runs would make. ``margin`` is the relative difference that does
    not matter. ``drift`` is that of a series which loses little by little. ``steps`` are its confirmed
    changes, and ``machines`` what machines did. ``is_beside_control``: values are relative to the control;
    ``without_control`` are the groups that have none, each with the index of the point after it.
    """

    series: Series
    points: Sequence[Point]
    excluded: Sequence[Point] = ()
    margin: float = EQUIVALENT
    shifts: Mapping[int, ChangePoint] = field(default_factory=dict)
    switches: Mapping[int, Sequence[Difference]] = field(default_factory=dict)
    drift: Incident | None = None
    steps: Sequence[Step] = ()
    machines: Sequence[Incident] = ()
    is_beside_control: bool = False
    without_control: Sequence[tuple[int, Point]] = ()

    @property
    def parts(self) -> Sequence[Sequence[Point]]:
        """Its groups, the excluded ones, and those that have a place but no value."""
        return self.points, self.excluded, [point for _, point in self.without_control]

    @property
    def all_points(self) -> Iterable[Point]:
        return chain.from_iterable(self.parts)

    @property
    def runs(self) -> int:
        return sum(point.n for point in self.points)

    @cached_property
    def first_in_order(self) -> int:
        """The first group that is known to come before the later ones; of a branch all are."""
        return first_known((point.version for point in self.points), self.series.branch)

    @property
    def level(self) -> float:
        """The median of its groups; 0 without any."""
        return median(point.value for point in self.points) if self.points else 0.0

    @property
    def levels(self) -> Levels:
        """Its groups by the runs that hold their places."""
        names = [point.run_id for point in self.points]
        return Levels.of(self.points, self.shifts.keys(), names, of_branch=bool(self.series.branch))

    @property
    def first_level(self) -> float:
        """The median of its groups before the first change, of all without one; 0 without a value above 0."""
        values = [point.value for point in self.points]
        first = values[: min(filter(None, self.shifts), default=None)]
        positive = [value for value in first if value > 0] or [value for value in values if value > 0]
        return median(positive) if positive else 0.0

    @property
    def of_first_level(self) -> float | None:
        """The newest group as a share of the first level."""
        return self.points[-1].value / self.first_level if self.first_level else None

    def levels_at(self, index: int) -> tuple[float, float]:
        """Return the levels before and after the change at an index, as its values are shown."""
        if not self.is_beside_control:
            return self.shifts[index].before, self.shifts[index].after
        values = [point.value for point in self.points]
        start = max((one for one in self.shifts if one < index), default=0)
        end = min((one for one in self.shifts if one > index), default=len(values))
        after = median(values[index:end])
        return (median(values[start:index]) if index > start else after), after

    @property
    def last_shift(self) -> ChangePoint | None:
        return self.shifts[max(self.shifts)] if self.shifts else None

    @cached_property
    def noise(self) -> float | None:
        """Relative standard deviation of a group where nothing changes; None for fewer than four."""
        return noise_of(np.array([point.value for point in self.points]))

    def change_at(self, index: int) -> float | None:
        """Return the relative change against the group before; None where nobody knows which that is."""
        before = self.points[index - 1].value if index > self.first_in_order else 0
        return self.points[index].value / before - 1 if before else None


@dataclass(frozen=True)
class LevelChange:
    """How a group does against an earlier one."""

    change: float
    verdict: str


def changes_of(lines: Sequence[HistoryLine]) -> dict[HistoryLine, LevelChange | None]:
    """Hold the newest group of each line against what was before, all at once; None where nothing is known.

    A night is held against its level, and a release against the one before it.
    """
    of_branches = [line for line in lines if line.series.branch]
    nights = newest_nights([_night_history(line) for line in of_branches])
    compared = [
        line for line in lines if not line.series.branch and len(line.points) - line.first_in_order > 1
    ]
    pairs = [(line.points[-2], line.points[-1]) for line in compared]
    changes = compared_groups(pairs, [line.levels for line in compared], compared)
    return {
        **dict.fromkeys(lines),
        **dict(zip(of_branches, map(_of_night, nights), strict=True)),
        **dict(zip(compared, changes, strict=True)),
    }


def _night_history(line: HistoryLine) -> NightHistory:
    """Lay the groups of the newest runs of a line around their level, as far as they can be."""
    runs = np.cumsum([point.n for point in reversed(line.points)])
    newest = line.points[len(line.points) - int(np.searchsorted(runs, MAX_RUNS, side="right")) :]
    points = [point for point in newest if point.value > 0]
    index_of = {run: at for at, point in enumerate(points) for run in point.run_ids}
    return NightHistory.of(
        np.array([point.value for point in points]),
        [point.time.timestamp() for point in points],
        line.steps,
        () if line.is_beside_control else line.machines,
        index_of.get,
        direction=line.series.better,
        hardware=line.series.hardware_id,
    )


def _of_night(night: NewestNight) -> LevelChange | None:
    return None if night.of_level is None else LevelChange(night.of_level - 1, night.verdict)


def compared_groups(
    pairs: Sequence[tuple[Point, Point]], levels: Sequence[Levels], lines: Sequence[HistoryLine]
) -> list[LevelChange | None]:
    """Compare the groups of each pair, all at once; None where there is no ratio.

    ``levels`` say how groups scatter where each pair was measured, ``lines`` which direction is better.
    """
    if not pairs:
        return []
    groups = [point for pair in pairs for point in pair]
    histories = Histories.of(levels)
    own = histories.coded([point.run_id for point in groups]).reshape(-1, 2)
    floors = histories.floors(np.arange(len(pairs)), without=own)
    found = compare_sides(
        Sides.of([Sample(point.values, point.sessions) for point in groups]),
        np.arange(len(groups)).reshape(-1, 2).T,
        floors.sd,
        floors.worth,
        assumed=np.array(
            [
                rest_on_receipts([one.sessions for one in pair], of_branch=bool(line.series.branch))
                for pair, line in zip(pairs, lines, strict=True)
            ]
        ),
    )
    better = np.array([sign_of(line.series.better) for line in lines])
    verdicts = found.verdicts(better, np.array([line.margin for line in lines]))
    return [
        None if isnan(ratio) else LevelChange(change=ratio - 1, verdict=verdict)
        for ratio, verdict in zip(found.ratio.tolist(), verdicts, strict=True)
    ]


_USUAL: Final = Margins(EQUIVALENT, MetricRules())


def read_lines(
    series: Sequence[Series], margins: Margins = _USUAL, controls: Iterable[Series] = ()
) -> list[HistoryLine]:
    """Read the line of each series, in their order, in a constant number of statements.

    The changes of ``controls`` tell what machines did.
    """
    by_id = {one.pk: one for one in series}
    included, excluded = histories_and_excluded(by_id)
    found = change_points({**{one.pk: one for one in controls}, **by_id}, Q())
    causes = {one.incident for changes in found.values() for one in changes if one.incident}
    causes |= {one.folded_into for one in causes if one.folded_into}
    machines = [
        one
        for one in causes
        if one.kind == Incident.Kind.ENVIRONMENT and one.status == Incident.Status.CONFIRMED
    ]
    steps = {pk: [one for one in changes if not one.is_drift] for pk, changes in found.items()}
    drifts = {pk: one.incident for pk, changes in found.items() for one in changes if one.is_drift}
    switches = _switches(included)
    return [
        HistoryLine(
            series=one,
            points=included[one.pk],
            excluded=excluded[one.pk],
            margin=margins.of(one.metric, (point.value for point in included[one.pk][-2:])),
            shifts=places(steps.get(one.pk, ()), included[one.pk]),
            switches=switches[one.pk],
            drift=drifts.get(one.pk),
            steps=[_step(change) for change in found.get(one.pk, ()) if _is_step(change)],
            machines=machines,
        )
        for one in series
    ]


def _is_step(change: ChangePoint) -> bool:
    return change.state == ChangePoint.State.CONFIRMED and not change.origin


def _step(change: ChangePoint) -> Step:
    return Step(*(getattr(change, name) for name in Step._fields))


def in_used_units(lines: Sequence[HistoryLine]) -> list[HistoryLine]:
    """Return lines in the units that people use, those of one metric in one: for what is shown of them."""
    of_metric: dict[str, list[Series]] = defaultdict(list)
    for line in lines:
        of_metric[line.series.metric].append(line.series)
    units = {metric: used_units(series) for metric, series in of_metric.items()}
    return [_in_unit(line, units[line.series.metric][line.series.unit]) for line in lines]


def _in_unit(line: HistoryLine, used: UsedUnit) -> HistoryLine:
    if used == UsedUnit(line.series.unit):
        return line
    return replace(
        line,
        series=series_in_unit(line.series, used),
        points=[scaled(point, used.factor) for point in line.points],
        excluded=[scaled(point, used.factor) for point in line.excluded],
        shifts={at: change_point_in_unit(shift, used) for at, shift in line.shifts.items()},
        without_control=[(at, scaled(point, used.factor)) for at, point in line.without_control],
    )


def beside_controls(
    lines: Sequence[HistoryLine], controls: Mapping[int, Sequence[Series]]
) -> list[HistoryLine]:
    """Return lines relative to their controls (by the id of a series); those without one stay as they are.

    One statement.
    """
    points = {line.series.pk: [*line.points, *line.excluded] for line in lines if line.series.pk in controls}
    levels = levels_beside(points, {pk: controls[pk] for pk in points})
    return [
        _beside_control(line, levels[line.series.pk]) if line.series.pk in levels else line for line in lines
    ]


def _beside_control(line: HistoryLine, levels: Floats) -> HistoryLine:
    """Return a line as it would be at the usual speed of the control: the unit stays.

    What happened at a group without a control is shown at the next one that has one.
    """
    is_known = levels > 0
    number = len(line.points)
    if not is_known[:number].any():
        return line
    factors = np.median(levels[:number][is_known[:number]]) / levels
    after = [int(is_known[:index].sum()) for index in range(number + 1)]

    def shown(points: Sequence[Point], offset: int) -> list[Point]:
        places = enumerate(points, offset)
        return [scaled(point, float(factors[at])) for at, point in places if is_known[at]]

    points = shown(line.points, 0)
    return replace(
        line,
        points=points,
        excluded=shown(line.excluded, number),
        shifts={after[at]: shift for at, shift in line.shifts.items() if after[at] < len(points)},
        switches={after[at]: found for at, found in line.switches.items() if after[at] < len(points)},
        is_beside_control=True,
        without_control=[(after[at], point) for at, point in enumerate(line.points) if not is_known[at]],
    )


def _switches(points_of: Mapping[int, Sequence[Point]]) -> dict[int, dict[int, Sequence[Difference]]]:
    """Return by series the groups whose surroundings differ from those before, with what differs."""
    found = {pk: _boundaries(points) for pk, points in points_of.items()}
    times = [
        (points_of[pk][index].time, switch)
        for pk, switches in found.items()
        for index, switch in switches.items()
    ]
    newest = dict.fromkeys(switch for _, switch in sorted(times, key=itemgetter(0), reverse=True))
    read = read_differences(list(newest)[:_MAX_SWITCHES])
    return {
        pk: {index: read.get(switch, ()) for index, switch in switches.items() if read.get(switch, True)}
        for pk, switches in found.items()
    }


def _boundaries(points: Sequence[Point]) -> dict[int, tuple[Surroundings, Surroundings]]:
    """Return the groups whose surroundings differ; those that a group does not say stay as they were."""
    boundaries: dict[int, tuple[Surroundings, Surroundings]] = {}
    before: Surroundings = (None, None)
    for index, point in enumerate(points):
        after = point.content_id or before[0], point.environment_id or before[1]
        if any(old is not None and old != new for old, new in zip(before, after, strict=True)):
            boundaries[index] = before, after
        before = after
    return boundaries


@dataclass(frozen=True)
class VersionsAxis:
    """Groups of one product's releases or of one branch in their order, evenly spaced: 0, 1, 2 ...

    Contents of one configuration that differ are neighbours; other configurations share their places.
    """

    labels: Sequence[str]
    place: Callable[[Series, Point], int]

    def __len__(self) -> int:
        return len(self.labels)


def versions_axis(lines: Sequence[HistoryLine]) -> VersionsAxis:
    """Return the axis of lines of one product that are of one branch, or all of releases."""
    branch = lines[0].series.branch if lines else ""
    order = positions((points for line in lines for points in line.parts), branch=branch)
    nth = _nth_content(lines, order, branch)

    def key(series: Series, point: Point) -> tuple[Hashable, int]:
        return point.group(branch), nth[series.configuration_id, point.position]

    first: dict[tuple[Hashable, int], tuple[int, Point]] = {}
    for line in lines:
        for point in line.all_points:
            at, one = order[point.position], key(line.series, point)
            if one not in first or at < first[one][0]:
                first[one] = at, point
    in_order = sorted(first, key=lambda one: first[one][0])
    places = {one: index for index, one in enumerate(in_order)}
    names = [point_name(first[one][1], branch) for one in in_order]
    labels = [f"{name} ({one[1] + 1})" if one[1] else name for name, one in zip(names, in_order, strict=True)]
    # Equal labels would be one place on a chart: later ones get a number.
    seen: Counter[str] = Counter()
    for at, label in enumerate(labels):
        seen[label] += 1
        labels[at] = label if seen[label] == 1 else f"{label} #{seen[label]}"
    return VersionsAxis(labels, lambda series, point: places[key(series, point)])


@dataclass(frozen=True)
class HistoryLook:
    """How histories are drawn. ``axis`` is None for times.

    ``bases`` are what is 100 %, by series; None: values are drawn as they are.
    """

    axis: VersionsAxis | None
    log: bool = False
    bases: Mapping[Series, float] | None = None

    @property
    def relative(self) -> bool:
        return self.bases is not None

    def place(self, line: HistoryLine, point: Point) -> Position:
        """Return the place of a point on the axis."""
        return iso(point.time) if self.axis is None else self.axis.place(line.series, point)

    def factor(self, line: HistoryLine) -> float:
        """Return the factor of the values of a line."""
        base = (self.bases or {}).get(line.series)
        return 100 / base if base else 1.0


def _nth_content(
    lines: Iterable[HistoryLine], order: Mapping[Hashable, int], branch: str
) -> dict[tuple[int, Hashable], int]:
    """Return by configuration and position: 0 for the first content of a version in it, 1 for the next."""
    of_build: dict[tuple[int, Hashable], set[Hashable]] = defaultdict(set)
    for line in lines:
        for point in line.all_points:
            of_build[line.series.configuration_id, point.group(branch)].add(point.position)
    return {
        (configuration, position): nth
        for (configuration, _), found in of_build.items()
        for nth, position in enumerate(sorted(found, key=order.__getitem__))
    }


def point_name(point: Point, branch: str) -> str:
    """``10.6.23 debug`` of releases; of a branch the commit, without one and of a control the day."""
    name = point.group(branch)
    if not isinstance(name, int):
        return name[:_SHORT_COMMIT] if isinstance(name, str) else str(name)
    return " ".join(filter(None, [point.version.version, point.version.build]))


def version_words(point: Point, branch: str) -> str:
    """Return the name of a point with what else is known of its version: ``1f3c9a0b2d, 11.8.1``."""
    return ", ".join(filter(None, [point_name(point, branch), version_beside(point, branch)]))


def version_beside(point: Point, branch: str) -> str:
    """Return what a page says of a version beside its name: on a branch the version, else the commit."""
    if branch:
        return "" if point.version.version == UNKNOWN_VERSION else point.version.version
    return (point.commit or "")[:_SHORT_COMMIT]


@dataclass(frozen=True)
class HistoryRow:
    """A group in a table. ``index`` is its place in its line, None for excluded runs.

    ``place`` is that on the axis, ``base`` is what is 100 %; None where values are as measured.
    """

    line: HistoryLine
    point: Point
    index: int | None
    place: Position
    base: float | None = None

    @property
    def is_excluded(self) -> bool:
        return self.index is None

    @property
    def name(self) -> str:
        return point_name(self.point, self.line.series.branch)

    @property
    def version(self) -> str:
        return version_beside(self.point, self.line.series.branch)

    @property
    def of_base(self) -> float | None:
        return self.point.value / self.base if self.base else None

    @property
    def change(self) -> float | None:
        return None if self.index is None else self.line.change_at(self.index)

    @property
    def shift(self) -> ChangePoint | None:
        return None if self.index is None else self.line.shifts.get(self.index)

    @property
    def is_switch(self) -> bool:
        return self.index in self.line.switches

    @property
    def switches(self) -> Sequence[Difference]:
        return () if self.index is None else self.line.switches.get(self.index, ())


def rows_of(lines: Sequence[HistoryLine], look: HistoryLook) -> list[HistoryRow]:
    """Return the groups of all lines, newest first on their axis."""
    rows = []
    for line in lines:
        groups = [*enumerate(line.points), *((None, point) for point in line.excluded)]
        base = (look.bases or {}).get(line.series)
        rows += [HistoryRow(line, point, index, look.place(line, point), base) for index, point in groups]
    if look.axis is None:
        return sorted(rows, key=lambda row: row.point.time, reverse=True)
    return sorted(rows, key=lambda row: row.place, reverse=True)
