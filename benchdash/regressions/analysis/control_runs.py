"""The figures of the control of a machine in the sessions of a place: how fast the machine was."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
from django.conf import settings
from django.db.models import Max, Min, QuerySet

from benchdash.regressions.analysis.places import History
from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.noise import Floats, Ints
from benchdash.regressions.watched_metrics import MetricRules
from benchdash.results.controls import CONTROL, is_control
from benchdash.results.models import Run, Series, TouchedSeries
from benchdash.results.place import Place
from benchdash.results.points import Point, Runs, read_measurements
from benchdash.results.pull_requests import of_pull_requests
from benchdash.results.services import touch


def control_levels(place: Place, histories: Mapping[int, History], rules: MetricRules) -> dict[Key, Floats]:
    """Return the levels of the control on the positions of a place, for its watched workloads and metrics.

    The control is any build of that kind on the same hardware. Its runs belong to the position in whose
    sessions they were made: they have a session tag of its runs, or started within ``SESSION_GAP_S`` of one.
    Of several controls the one that was there most often counts. Two statements at most; empty for a control.
    """
    if is_control(place.build) or not histories:
        return {}
    wanted = {_key(history.series) for history in histories.values() if not history.series.is_derived}
    series = [one for one in _series_of_controls(place, wanted) if rules.watches(one)]
    if not series:
        return {}
    runs = next(iter(histories.values())).runs
    measured = read_measurements([one.pk for one in series], intervals=False)
    values = np.full((len(series), len(measured.runs.ids)), np.nan)
    values[measured.series, measured.run] = measured.values
    starts = np.searchsorted(runs.positions, np.arange(len(runs.groups) + 1))
    levels = _levels(runs, starts, measured.runs, values)
    found: dict[Key, Floats] = {}
    for one, level in zip(series, levels, strict=True):
        key = _key(one)
        if np.isfinite(level).sum() > (np.isfinite(found[key]).sum() if key in found else 0):
            found[key] = level
    return found


def _series_of_controls(place: Place, wanted: Collection[Key]) -> list[Series]:
    workloads = {what[0] for what, _ in wanted}  # type: ignore[index]
    there = _controls([place.project_id], [place.hardware_id], workloads)
    return [one for one in there if _key(one) in wanted]


def controls_of(series: Iterable[Series]) -> dict[int, list[Series]]:
    """Return by the id of a series those of the controls that ran the same on the same hardware.

    Series without a control are left out. One statement.
    """
    measured = [one for one in series if not is_control(one.build) and not one.is_derived]
    of_key: dict[Hashable, list[Series]] = defaultdict(list)
    for one in _controls(
        {one.project_id for one in measured},
        {one.hardware_id for one in measured},
        {one.workload_id for one in measured},
    ):
        of_key[one.project_id, one.hardware_id, _key(one)].append(one)
    found = {one.pk: of_key.get((one.project_id, one.hardware_id, _key(one)), []) for one in measured}
    return {pk: controls for pk, controls in found.items() if controls}


def levels_beside(
    points: Mapping[int, Sequence[Point]], controls: Mapping[int, Sequence[Series]]
) -> dict[int, Floats]:
    """Return the level of the control at each point of series, which are given by id; NaN where it has none.

    ``controls`` are those of each series; the one that was there most often counts. One statement.
    """
    numbers = {
        pk: number for number, pk in enumerate({*points, *(s.pk for of in controls.values() for s in of)})
    }
    measured = read_measurements(numbers, with_excluded=True, intervals=False)
    index_of = {pk: at for at, pk in enumerate(measured.runs.ids.tolist())}
    counts = ~measured.runs.is_excluded.astype(bool)[measured.run]
    found: dict[int, Floats] = {}
    for pk, of_controls in controls.items():
        own = points[pk]
        runs = measured.runs.at(
            np.array([index_of[run] for one in own for run in one.run_ids], dtype=np.int64)
        )
        starts = np.cumsum([0, *(one.n for one in own)])
        found[pk] = np.full(len(own), np.nan)
        for control in of_controls:
            at = np.flatnonzero((measured.series == numbers[control.pk]) & counts)
            levels = _levels(runs, starts, measured.runs.at(measured.run[at]), measured.values[at][None])[0]
            if np.isfinite(levels).sum() > np.isfinite(found[pk]).sum():
                found[pk] = levels
    return found


def touch_beside_controls(due: QuerySet[TouchedSeries]) -> None:
    """Note that what ran in the sessions of a control is due where the control itself is.

    The control may come in after them, and what was found without it may have been the machine. Two
    statements for each machine with a control that is due, and two more.
    """
    of_controls = due.filter(series__build__contains=CONTROL).values_list(
        *("series__hardware", "series", "due_since", "quiet")
    )
    by_machine: dict[int, list[tuple[int, datetime, bool]]] = defaultdict(list)
    for hardware, *of_series in of_controls:
        by_machine[hardware].append(tuple(of_series))
    gap = timedelta(seconds=settings.SESSION_GAP_S)
    for hardware, found in by_machine.items():
        series, due_since, quiet = zip(*found, strict=True)
        runs = Run.objects.filter(measurements__series__in=series, recorded_at__gte=min(due_since))
        first, last = runs.aggregate(first=Min("started_at"), last=Max("started_at")).values()
        if first is None:
            continue
        within = (first - gap, last + gap)
        beside = Run.objects.filter(~of_pull_requests(), hardware=hardware, started_at__range=within)
        tested = Series.objects.filter(measurements__run__in=beside, touched=None, is_derived=False)
        touch(
            {pk for pk, build in tested.values_list("pk", "build") if not is_control(build)},
            quiet=all(quiet),
        )


def _controls(
    projects: Collection[int], hardware: Collection[int], workloads: Collection[int]
) -> list[Series]:
    there = Series.objects.filter(
        ~of_pull_requests(),
        project__in=projects,
        hardware__in=hardware,
        workload__in=workloads,
        build__contains=CONTROL,
        is_derived=False,
    ).order_by("pk")
    return [one for one in there if is_control(one.build)]


def _key(series: Series) -> Key:
    return (series.workload_id, series.threads), series.metric


def _levels(runs: Runs, starts: Ints, control: Runs, values: Floats) -> Floats:
    """Return the median of the control's values (series x its runs) in the sessions of each group of runs.

    Group ``i`` are the runs ``starts[i]`` to ``starts[i + 1]``.
    """
    levels = np.full((len(values), len(starts) - 1), np.nan)
    for position, beside in _runs_beside(runs, starts, control):
        there = values[:, beside]
        present = np.isfinite(there).any(axis=1)
        levels[present, position] = np.nanmedian(there[present], axis=1)
    return levels


def _runs_beside(runs: Runs, starts: Ints, control: Runs) -> Iterator[tuple[int, Ints]]:
    """Yield groups of runs with the control's runs (indexes) that were made in their sessions."""
    tagged: dict[str, list[int]] = defaultdict(list)
    for run, tag in control.tags.items():
        tagged[tag].append(run)
    gap = settings.SESSION_GAP_S
    first = np.searchsorted(control.started_at, runs.started_at - gap, side="left")
    last = np.searchsorted(control.started_at, runs.started_at + gap, side="right")
    for position in range(len(starts) - 1):
        members = slice(int(starts[position]), int(starts[position + 1]))
        beside: set[int] = set()
        end = 0
        for low, high in sorted(zip(first[members].tolist(), last[members].tolist(), strict=True)):
            beside.update(range(max(low, end), high))
            end = max(end, high)
        for run in range(members.start, members.stop):
            beside.update(tagged.get(runs.tags.get(run, ""), ()))
        if beside:
            yield position, np.array(sorted(beside), dtype=np.int64)
