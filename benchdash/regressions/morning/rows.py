"""One row for each workload that is measured regularly: its newest figure beside the level before it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from django.db.models import Q

from benchdash.regressions.comparison.newest_nights import (
    MAX_RUNS,
    NewestNight,
    NightHistory,
    Step,
    level_of,
    newest_nights,
)
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results import metrics, wording
from benchdash.results.cadence import Reporter
from benchdash.results.controls import is_control
from benchdash.results.models import DEFAULT_CONFIGURATION, Series
from benchdash.results.place import Place
from benchdash.results.points import Points, first_known, moment, read_points
from benchdash.results.readings import Direction
from benchdash.results.used_units import used_unit

MAX_GROUPS: Final = 60
"""Groups that a row draws."""
MAX_SERIES: Final = 1000
"""Series that are read; of more, those are left out that reported least lately."""
_MAX_VALUES: Final = 60_000
LATELY: Final = timedelta(days=14)
"""A row that did not report for so long is not measured regularly any more."""
# A branch with fewer reports, such as that of a pull request, has no history to look at.
_MIN_REPORTS: Final = 3


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


@dataclass(frozen=True, kw_only=True)
class Standing(NewestNight):
    """A workload at one thread count; or over several, each of which has a row among ``parts``.

    ``value`` is the newest figure, None over several thread counts, of which ``of_level`` is a geometric
    mean. ``curve`` has the last groups as shares of the level; new levels begin at ``changed_at``, indexes of
    it. ``incident`` is the one that made the level what it is, whether it is open or not, and ``change`` the
    change there.
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
    newest = max(MAX_GROUPS, min(MAX_RUNS, _MAX_VALUES // len(series)))
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
    lately = [one for one in streams if latest and one.last_at > latest - LATELY]
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
    """The groups of a series by ``names``; releases whose order is not known are left out."""

    series: _Series
    threads: Sequence[int | None]
    nights: NightHistory
    names: Sequence[Hashable]
    value: float | None
    measured_at: datetime
    incident: Incident | None
    change: float | None

    @property
    def is_worth_a_row(self) -> bool:
        """Tell whether there are groups; of releases, more than the one that is measured again and again."""
        return len(self.names) > (0 if self.series.branch else 1)


def _histories(series: Sequence[_Series], points: Points) -> list[_History]:
    steps: dict[int, list[Step]] = defaultdict(list)
    confirmed = ChangePoint.objects.filter(state=ChangePoint.State.CONFIRMED, origin="")
    of_series = confirmed.filter(series__in=[one.pk for one in series]).order_by("pk")
    for pk, *columns in of_series.values_list("series_id", *Step._fields):
        steps[pk].append(Step._make(columns))
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
        index_of = partial(_index_of, points, at, begin, place_of)
        times = [started_at[begin + place] for place in usable.tolist()]
        nights = NightHistory.of(
            values[usable],
            times,
            steps[one.pk],
            machines,
            index_of,
            direction=one.direction,
            hardware=one.hardware_id,
        )
        newest = nights.step
        incident = incidents.get(newest.incident_id) if newest and newest.incident_id else None
        found.append(
            _History(
                series=one,
                threads=[one.threads],
                nights=nights,
                names=[names[begin + place] for place in usable.tolist()],
                value=float(values[usable[-1]]) if len(usable) else None,
                measured_at=moment(times[-1] if times else 0),
                incident=incident,
                change=newest.change if newest and incident else None,
            )
        )
    return found


def _index_of(points: Points, series: int, begin: int, place_of: Mapping[int, int], run: int) -> int | None:
    """Return the index of the group of a run among the usable ones of a series, which begin at ``begin``."""
    point = points.index_of(run, series)
    return None if point is None else place_of.get(point - begin)


def _of_machines(series: Sequence[_Series]) -> Q:
    """Select what the machines of these series did."""
    return Q(
        kind=Incident.Kind.ENVIRONMENT,
        status=Incident.Status.CONFIRMED,
        hardware__in={one.hardware_id for one in series},
    )


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
    main = max(several, key=lambda one: (one.measured_at, len(one.names)))
    index_of = {name: at for at, name in enumerate(main.names)}
    sums, drifts, n = np.zeros((3, len(main.names)))
    starts: set[int] = set()
    for one in several:
        known = [(index_of[name], at) for at, name in enumerate(one.names) if name in index_of]
        if known:
            there, here = np.array(known).T
            sums[there] += one.nights.logs[here]
            drifts[there] += one.nights.drifts[here]
            n[there] += 1
        starts |= {index_of[one.names[at]] for at in one.nights.starts if one.names[at] in index_of}
    logs = sums / np.maximum(n, 1)
    changed = [one for one in several if one.incident]
    changes = [one.change for one in changed if one.change is not None]
    return replace(
        main,
        threads=[thread for one in several for thread in one.threads],
        nights=NightHistory(
            logs=logs - level_of(logs, max(starts, default=0)),
            drifts=drifts / np.maximum(n, 1),
            starts=sorted(starts),
            direction=main.series.direction,
        ),
        value=None,
        incident=changed[0].incident if changed else None,
        change=float(np.median(changes)) if changes else None,
    )


# --- rows ---------------------------------------------------------------------------------------------------


def _rows(histories: Sequence[_History]) -> list[Standing]:
    nights = newest_nights([one.nights for one in histories])
    return [_row(*each) for each in zip(histories, nights, strict=True)]


def _row(history: _History, night: NewestNight) -> Standing:
    series, nights = history.series, history.nights
    first = max(0, len(nights.logs) - MAX_GROUPS)
    return Standing(
        **asdict(night),
        place=series.names,
        series_id=series.pk,
        workload=series.workload,
        threads=history.threads,
        metric=series.metric,
        unit=series.unit,
        printed_unit=series.printed_unit,
        direction=series.direction,
        value=history.value,
        measured_at=history.measured_at,
        curve=np.exp(nights.logs[first:] + nights.drifts[first:]).tolist(),
        changed_at=[start - first for start in nights.starts if start >= first],
        incident=history.incident,
        change=history.change,
    )
