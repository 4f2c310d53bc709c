"""What the control of a machine measured in the sessions of a place: how fast the machine was."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

import numpy as np
from django.conf import settings

from benchdash.regressions.analysis.places import History
from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.noise import Floats, Ints
from benchdash.regressions.watched_metrics import is_watched
from benchdash.results.controls import CONTROL, is_control
from benchdash.results.models import Series
from benchdash.results.place import Place
from benchdash.results.points import PlacedRuns, Runs, read_measurements


def control_levels(place: Place, histories: Mapping[int, History]) -> dict[Key, Floats]:
    """Return the levels of the control on the positions of a place, for its watched workloads and metrics.

    The control is any build of that kind on the same hardware. Its runs belong to the position in whose
    sessions they were made: they have a session tag of its runs, or started within ``SESSION_GAP_S`` of one.
    Of several controls the one that was there most often counts. Two statements at most; empty for a control.
    """
    if is_control(place.build) or not histories:
        return {}
    wanted = {_key(history.series) for history in histories.values() if not history.series.is_derived}
    series = _series_of_controls(place, wanted)
    if not series:
        return {}
    runs = next(iter(histories.values())).runs
    measured = read_measurements([one.pk for one in series], intervals=False)
    values = np.full((len(series), len(measured.runs.ids)), np.nan)
    values[measured.series, measured.run] = measured.values
    levels = np.full((len(series), len(runs.groups)), np.nan)
    for position, beside in _runs_beside(runs, measured.runs):
        there = values[:, beside]
        present = np.isfinite(there).any(axis=1)
        levels[present, position] = np.nanmedian(there[present], axis=1)
    found: dict[Key, Floats] = {}
    for one, level in zip(series, levels, strict=True):
        key = _key(one)
        if np.isfinite(level).sum() > (np.isfinite(found[key]).sum() if key in found else 0):
            found[key] = level
    return found


def _series_of_controls(place: Place, wanted: Collection[Key]) -> list[Series]:
    there = Series.objects.filter(
        project=place.project_id,
        hardware=place.hardware_id,
        build__contains=CONTROL,
        workload__in={what[0] for what, _ in wanted},  # type: ignore[index]
        is_derived=False,
    ).order_by("pk")
    return [one for one in there if is_control(one.build) and is_watched(one.metric) and _key(one) in wanted]


def _key(series: Series) -> Key:
    return (series.workload_id, series.threads), series.metric


def _runs_beside(runs: PlacedRuns, control: Runs) -> Iterator[tuple[int, Ints]]:
    """Yield positions with the control's runs (indexes) that were made in their sessions."""
    tagged: dict[str, list[int]] = defaultdict(list)
    for run, tag in control.tags.items():
        tagged[tag].append(run)
    gap = settings.SESSION_GAP_S
    first = np.searchsorted(control.started_at, runs.started_at - gap, side="left")
    last = np.searchsorted(control.started_at, runs.started_at + gap, side="right")
    starts = np.searchsorted(runs.positions, np.arange(len(runs.groups) + 1))
    for position in range(len(runs.groups)):
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
