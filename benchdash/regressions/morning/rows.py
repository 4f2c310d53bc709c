"""One row for each workload that is measured regularly: its newest figure beside the level before it.

The newest group is held against the median of the groups before it since the last confirmed change. How far
groups usually fall from that is Student's prediction interval, from the scatter of the history within its
levels. A single night outside is no change of level yet. A row that moved with its machine has a level there,
too, as its incidents are those of the machine.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import expm1, log1p
from typing import Final, NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Q
from scipy.special import stdtrit

from benchdash.regressions.comparison.verdicts import of_night
from benchdash.regressions.detection.compare import Verdict
from benchdash.regressions.detection.level_scatter import MIN_WORTH, LevelHistories
from benchdash.regressions.detection.noise import MIN_SD, Floats
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results import metrics, wording
from benchdash.results.cadence import Reporter
from benchdash.results.controls import is_control
from benchdash.results.models import DEFAULT_CONFIGURATION, Series
from benchdash.results.place import Place
from benchdash.results.points import Points, first_known, moment, read_points
from benchdash.results.readings import HIGHER, Direction
from benchdash.results.used_units import used_unit

USUAL: Final = 0.99
"""The share of nights at an unchanged level that the usual range holds."""
MAX_GROUPS: Final = 60
"""Groups that a row draws."""
MAX_SERIES: Final = 1000
"""Series that are read; of more, those are left out that reported least lately."""
_MAX_VALUES: Final = 60_000
_MAX_RUNS_OF_SERIES: Final = 240
# A row that did not report for so long is not measured regularly any more.
_LATELY: Final = timedelta(days=14)
# A branch with fewer reports, such as that of a pull request, has no history to look at.
_MIN_REPORTS: Final = 3
# Steps of a series so many groups apart are one with that of its machine.
_NEAR: Final = 2
_VARIANCE_OF_MEDIAN: Final = np.pi / 2


class RowPlace(NamedTuple):
    """The place of a row in names."""

    product: str
    build: str
    branch: str
    line: str
    hardware: str
    configuration: str
    counterpart: str

    def __str__(self) -> str:
        """``MariaDB main on bench-03``, with what is not usual."""
        product = " ".join(filter(None, [self.product, self.branch or self.line, self.build]))
        configuration = "" if self.configuration == DEFAULT_CONFIGURATION else self.configuration
        return ", ".join(filter(None, [f"{product} on {self.hardware}", configuration, self.counterpart]))


@dataclass(frozen=True)
class Standing:
    """A workload at one thread count; or over several, each of which has a row among ``parts``.

    ``value`` is the newest figure, None over several thread counts. ``of_level`` is the newest figure as a
    share of its level, a geometric mean over thread counts; ``usual`` is how far from 1 it falls as a rule.
    ``verdict`` holds one against the other; ``beyond`` is how many of the newest groups fall outside on the
    same side. ``groups`` counts those that the scatter is known from, and
    ``needed`` is how many more it takes to tell. ``curve`` has the last groups as shares of the level; new
    levels begin at ``changed_at``, indexes of it. ``incident`` is the one that made the level what it is,
    whether it is open or not, and ``change`` the change there.
    """

    place: RowPlace
    series_id: int
    workload: str
    threads: Sequence[int | None]
    metric: str
    unit: str
    printed_unit: str
    direction: str
    value: float | None
    of_level: float | None
    usual: float | None
    verdict: Verdict
    beyond: int
    groups: int
    needed: int
    measured_at: datetime
    curve: Sequence[float]
    changed_at: Sequence[int]
    incident: Incident | None = None
    change: float | None = None
    parts: Sequence["Standing"] = ()

    @property
    def each_threads(self) -> "Sequence[Standing]":
        """Return a row for each thread count."""
        return self.parts or [self]

    @property
    def shown_value(self) -> float | None:
        """The newest figure in the unit that people use."""
        return used_unit(self).maybe(self.value)

    @property
    def metric_words(self) -> str:
        """Name the metric, with the unit where the name does not say it: ``tps``, ``score ns/op``."""
        unit = wording.unit_words(self.metric, used_unit(self).unit)
        return f"{wording.short_metric_name(self.metric)} {unit}".rstrip()

    @property
    def first_threads(self) -> int | None:
        return self.threads[0]

    @property
    def is_control(self) -> bool:
        return is_control(self.place.build)

    @property
    def is_explained_by_machine(self) -> bool:
        """Tell whether the level is what it is because the machine became slower or faster."""
        one = self.incident
        return one is not None and (one.kind == one.Kind.ENVIRONMENT or one.folded_into_id is not None)


def rows_of(found: Sequence[Reporter], is_open: Collection[int]) -> list[Standing]:
    """Return the rows of what reported lately, in five statements at most.

    ``is_open`` are the ids of open incidents. Rows with one come first, then those outside their usual range;
    controls are last.
    """
    series = _main_series(_regular(found))
    if not series:
        return []
    newest = max(MAX_GROUPS, min(_MAX_RUNS_OF_SERIES, _MAX_VALUES // len(series)))
    points = read_points({one.pk: one for one in series}, newest=newest, intervals=False)
    histories = [one for one in _histories(series, points) if one.is_worth_a_row]
    of_workload: dict[tuple[Place, int], list[_History]] = defaultdict(list)
    for history in histories:
        of_workload[history.series.place, history.series.workload_id].append(history)
    several = [each for each in of_workload.values() if len(each) > 1]
    rows = iter(_rows([*histories, *map(_fold, several)]))
    row_of = {history.series.pk: next(rows) for history in histories}
    folded = [
        replace(row, parts=[row_of[one.series.pk] for one in each])
        for row, each in zip(rows, several, strict=True)
    ]
    alone = [row_of[each[0].series.pk] for each in of_workload.values() if len(each) == 1]

    def order(row: Standing) -> tuple[object, ...]:
        is_open_row = row.incident is not None and row.incident.pk in is_open
        is_unusual = row.verdict in ("likely_worse", "likely_better")
        return (row.is_control, not is_open_row, not is_unusual, row.place, row.workload)

    return sorted([*alone, *folded], key=order)


# --- series -------------------------------------------------------------------------------------------------


class _Series(NamedTuple):
    """The columns of a series that rows need; those of its place first."""

    project_id: int
    product_id: int
    build: str
    branch: str
    line: str
    hardware_id: int
    configuration_id: int
    counterpart: str
    pk: int
    workload_id: int
    threads: int | None
    metric: str
    unit: str
    printed_unit: str
    direction: Direction
    product: str
    hardware: str
    configuration: str
    workload: str

    @property
    def place(self) -> Place:
        return Place._make(self[: len(Place._fields)])

    @property
    def names(self) -> RowPlace:
        return RowPlace(
            *(self.product, self.build, self.branch, self.line),
            *(self.hardware, self.configuration, self.counterpart),
        )


_COLUMNS: Final = (
    *(*Place._fields, "pk", "workload_id", "threads", "metric", "unit"),
    *("printed_unit", "direction"),
    *("product__name", "hardware__name", "configuration__name", "workload__name"),
)


def _regular(found: Sequence[Reporter]) -> list[Reporter]:
    """Return what is measured regularly, and was lately; the last reported first."""
    streams = [one for one in found if one.place.branch or one.cadence]
    latest = max((one.last_at for one in streams), default=None)
    lately = [one for one in streams if latest and one.last_at > latest - _LATELY]
    regular = [one for one in lately if len(one.starts) >= _MIN_REPORTS] or lately
    return sorted(regular, key=lambda one: one.last_at, reverse=True)


def _main_series(reporters: Sequence[Reporter]) -> list[_Series]:
    """Return the series of the main metric of each workload; one statement."""
    if not reporters:
        return []
    wanted = {(one.place, one.workload_id): at for at, one in enumerate(reporters)}
    rows = Series.objects.filter(
        project=reporters[0].place.project_id,
        is_derived=False,
        workload__in={one.workload_id for one in reporters},
        branch__in={one.place.branch for one in reporters},
        hardware__in={one.place.hardware_id for one in reporters},
    )
    of_workload: dict[tuple[Place, int], list[_Series]] = defaultdict(list)
    for one in map(_Series._make, rows.order_by("threads", "pk").values_list(*_COLUMNS)):
        if (one.place, one.workload_id) in wanted:
            of_workload[one.place, one.workload_id].append(one)
    found: list[_Series] = []
    for _, several in sorted(of_workload.items(), key=lambda item: wanted[item[0]]):
        main = metrics.main_metric(Counter(one.metric for one in several))
        found += [one for one in several if one.metric == main]
    return found[:MAX_SERIES]


# --- histories ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _History:
    """The groups of a series in order: ``logs`` relative to the level of the newest, by ``names``.

    Releases whose order is not known are left out. ``starts`` are the indexes at which a confirmed level
    begins. ``logs`` are without the drift of the series; ``drifts`` are how far it was from its end.
    """

    series: _Series
    threads: Sequence[int | None]
    logs: Floats
    drifts: Floats
    names: Sequence[Hashable]
    starts: Sequence[int]
    value: float | None
    measured_at: datetime
    incident: Incident | None
    change: float | None

    @property
    def is_worth_a_row(self) -> bool:
        """Tell whether there are groups; of releases, more than the one that is measured again and again."""
        return len(self.logs) > (0 if self.series.branch else 1)

    @property
    def level_start(self) -> int:
        return max(self.starts, default=0)


class _Step(NamedTuple):
    """A confirmed change of level in a series."""

    run_id: int
    change: float | None
    incident_id: int | None
    last_good_id: int | None = None
    per_point: float | None = None


def _histories(series: Sequence[_Series], points: Points) -> list[_History]:
    steps: dict[int, list[_Step]] = defaultdict(list)
    confirmed = ChangePoint.objects.filter(state=ChangePoint.State.CONFIRMED, origin="")
    of_series = confirmed.filter(series__in=[one.pk for one in series]).order_by("pk")
    for pk, *columns in of_series.values_list("series_id", *_Step._fields):
        steps[pk].append(_Step._make(columns))
    of_steps = {step.incident_id for found in steps.values() for step in found}
    relevant = Incident.objects.filter(Q(pk__in=of_steps) | _of_machines(series))
    incidents = {one.pk: one for one in relevant.select_related("largest__series")}
    machines = [one for one in incidents.values() if one.kind == one.Kind.ENVIRONMENT]
    ends = np.searchsorted(points.series, np.arange(len(series) + 1)).tolist()
    started_at = points.runs.started_at[points.first].tolist()
    names = _names(points)
    found = []
    for at, one in enumerate(series):
        begin, end = ends[at], ends[at + 1]
        versions = points.runs.version[points.last[begin:end]].tolist()
        begin += first_known((points.runs.versions[version] for version in versions), one.branch)
        values = points.levels[begin:end]
        usable = np.flatnonzero(values > 0)
        place_of = {int(place): index for index, place in enumerate(usable.tolist())}
        placed = {}
        logs = np.log(values[usable])
        drift: _Step | None = None
        drifts = np.zeros(len(logs))
        for step in steps[one.pk]:
            place, first = (
                place_of.get(point - begin) if (point := points.index_of(run, at)) is not None else None
                for run in (step.run_id, step.last_good_id or 0)
            )
            if place is None:
                continue
            if step.per_point is None:
                placed[place] = step
            else:
                # How far values fall from the level is told around the drift, and not by it.
                since_last = np.clip(np.arange(len(logs)) - place, (first or 0) - place, 0)
                drifts[:] = since_last * log1p(step.per_point)
                logs -= drifts
                drift = step
        times = [started_at[begin + place] for place in usable.tolist()]
        for machine in sorted(machines, key=lambda machine: machine.started_at):
            if moved := _step_with_machine(machine, one, logs, times, placed):
                placed[moved[0]] = moved[1]
        newest = drift or placed.get(max(placed, default=-1))
        incident = incidents.get(newest.incident_id) if newest and newest.incident_id else None
        found.append(
            _History(
                series=one,
                threads=[one.threads],
                logs=logs - _level(logs, max(placed, default=0)),
                drifts=drifts,
                names=[names[begin + place] for place in usable.tolist()],
                starts=sorted(placed),
                value=float(values[usable[-1]]) if len(usable) else None,
                measured_at=moment(times[-1] if times else 0),
                incident=incident,
                change=newest.change if newest and incident else None,
            )
        )
    return found


def _of_machines(series: Sequence[_Series]) -> Q:
    """Select what the machines of these series did."""
    return Q(
        kind=Incident.Kind.ENVIRONMENT,
        status=Incident.Status.CONFIRMED,
        hardware__in={one.hardware_id for one in series},
    )


def _step_with_machine(
    machine: Incident, series: _Series, logs: Floats, times: Sequence[float], known: Mapping[int, _Step]
) -> tuple[int, _Step] | None:
    """Return where a series moved as its machine did, by half as much or more; None where it did not."""
    at = bisect_left(times, machine.started_at.timestamp() - settings.SESSION_GAP_S)
    is_here = machine.hardware_id == series.hardware_id and 0 < at < len(times)
    if not is_here or machine.median is None or any(abs(at - place) <= _NEAR for place in known):
        return None
    start = max((place for place in known if place < at), default=0)
    end = min((place for place in known if place > at), default=len(times))
    moved = float(np.median(logs[at:end]) - np.median(logs[start:at]))
    speed = log1p(machine.median) * (1 if series.direction == HIGHER else -1)
    if moved * speed < speed**2 / 2:
        return None
    return at, _Step(0, expm1(moved), machine.pk)


def _level(logs: Floats, start: int) -> float:
    """Return the level of the groups from ``start`` on before the newest; of the newest where it is alone."""
    level = logs[start:-1] if len(logs) - 1 > start else logs[-1:]
    return float(np.median(level)) if len(level) else 0.0


def _names(points: Points) -> list[Hashable]:
    """Name the groups alike in all series of a place: by version, and by day if its commit does not tell."""
    runs = points.runs
    by_commit = [bool(one.commit) and not is_control(one.build) for one in runs.versions]
    has_commit = np.array(by_commit, dtype=bool)
    version, days = runs.version[points.last], runs.days[points.first]
    day = np.where(has_commit[version], 0, days) if len(version) else days
    return list(zip(version.tolist(), day.tolist(), runs.content_ids[points.last].tolist(), strict=True))


def _fold(several: Sequence[_History]) -> _History:
    """Take the mean of the logs of thread counts, group by group."""
    main = max(several, key=lambda one: (one.measured_at, len(one.logs)))
    index_of = {name: at for at, name in enumerate(main.names)}
    sums, drifts, n = np.zeros((3, len(main.names)))
    starts: set[int] = set()
    for one in several:
        known = [(index_of[name], at) for at, name in enumerate(one.names) if name in index_of]
        if known:
            there, here = np.array(known).T
            sums[there] += one.logs[here]
            drifts[there] += one.drifts[here]
            n[there] += 1
        starts |= {index_of[one.names[at]] for at in one.starts if one.names[at] in index_of}
    logs = sums / np.maximum(n, 1)
    changed = [one for one in several if one.incident]
    changes = [one.change for one in changed if one.change is not None]
    return replace(
        main,
        threads=[thread for one in several for thread in one.threads],
        logs=logs - _level(logs, max(starts, default=0)),
        drifts=drifts / np.maximum(n, 1),
        starts=sorted(starts),
        value=None,
        incident=changed[0].incident if changed else None,
        change=float(np.median(changes)) if changes else None,
    )


# --- rows ---------------------------------------------------------------------------------------------------


def _rows(histories: Sequence[_History]) -> list[Standing]:
    before = [np.exp(one.logs[:-1]) for one in histories]
    known = LevelHistories.of(before, [one.starts for one in histories])
    sd, worth = known.scatter(np.arange(len(histories)))
    return [
        _row(history, float(of_row), int(df))
        for history, of_row, df in zip(histories, sd, worth, strict=True)
    ]


def _row(history: _History, sd: float, worth: int) -> Standing:
    """``worth`` are the degrees of freedom of ``sd``, 0 where too few groups are known."""
    series, n = history.series, len(history.logs) - 1
    of_level = n - history.level_start
    degrees = n - len({start for start in history.starts if 0 < start < n} | {0})
    needed = max(MIN_WORTH - degrees, 1 - of_level, 0)
    usual = None
    if not needed and worth:
        error = max(sd, MIN_SD) * np.sqrt(1 + _VARIANCE_OF_MEDIAN / of_level)
        usual = float(np.expm1(stdtrit(worth, (1 + USUAL) / 2) * error))
    ratio = float(np.exp(history.logs[-1])) if of_level > 0 else None
    first = max(0, len(history.logs) - MAX_GROUPS)
    return Standing(
        place=series.names,
        series_id=series.pk,
        workload=series.workload,
        threads=history.threads,
        metric=series.metric,
        unit=series.unit,
        printed_unit=series.printed_unit,
        direction=series.direction,
        value=history.value,
        of_level=ratio,
        usual=usual,
        verdict=of_night(ratio, usual, series.direction),
        beyond=_beyond(history.logs[history.level_start :], usual),
        groups=n,
        needed=needed,
        measured_at=history.measured_at,
        curve=np.exp(history.logs[first:] + history.drifts[first:]).tolist(),
        changed_at=[start - first for start in history.starts if start >= first],
        incident=history.incident,
        change=history.change,
    )


def _beyond(logs: Floats, usual: float | None) -> int:
    """Count the newest groups of a level that fall out of the usual range on the side of the newest one."""
    if usual is None or not len(logs):
        return 0
    side = np.sign(logs[-1])
    within = np.flatnonzero(side * logs[::-1] <= np.log1p(usual))
    return int(within[0]) if len(within) else len(logs)
