"""Costs of an operation that moved where a level changed: CPU, context switches, bytes read and written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log, sqrt
from statistics import median
from typing import Final

import numpy as np

from benchdash.regressions.analysis.places import noise_of
from benchdash.regressions.models import ChangePoint
from benchdash.results.metrics import family
from benchdash.results.models import Series
from benchdash.results.place import Place
from benchdash.results.points import Point, histories

MAX_GROUPS: Final = 5
"""The groups before and after a change that tell both levels of a counter."""
MIN_MOVE: Final = 0.03
"""Counters that moved by less are not worth telling."""
COSTS: Final = "Cost per operation"
_MIN_NOISES: Final = 3
_MAX_DISTANCE: Final = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class MovedCounter:
    """A counter with its levels before and after a change, in its own unit; ``change`` is relative."""

    series: Series
    before: float
    after: float
    change: float

    @property
    def metric(self) -> str:
        return self.series.metric


def moved_counters(change_points: Sequence[ChangePoint]) -> list[MovedCounter]:
    """Return the counters that moved with the first of the change points that is not derived.

    They are those of the same workload and threads at the same place, the largest move first. A counter moved
    where it changed by more than its own noise explains; one with too few groups to know its noise is left
    out. A constant number of statements.
    """
    told_by = next((one for one in change_points if not one.series.is_derived), None)
    if told_by is None:
        return []
    own = told_by.series
    beside = Place.of(own).series().filter(workload=own.workload_id, threads=own.threads, is_derived=False)
    counters = {one.pk: one for one in beside if one.pk != own.pk and family(one.metric) == COSTS}
    if not counters:
        return []
    since, until = _around(told_by)
    found = histories(counters, since=since, until=until)
    moved = [_moved(counters[pk], points, told_by.run_id) for pk, points in found.items()]
    return sorted(filter(None, moved), key=lambda one: -abs(log(1 + one.change)))


def _around(change_point: ChangePoint) -> tuple[datetime, datetime]:
    times = [run.started_at for run in (change_point.last_good, change_point.run) if run]
    return min(times) - _MAX_DISTANCE, max(times) + _MAX_DISTANCE


def _moved(series: Series, points: Sequence[Point], run_id: int) -> MovedCounter | None:
    at = next((index for index, point in enumerate(points) if run_id in point.run_ids), 0)
    old, new = points[max(0, at - MAX_GROUPS) : at], points[at : at + MAX_GROUPS]
    noise = noise_of(np.array([point.value for point in (*old, *new)]))
    if not old or noise is None:
        return None
    before, after = (median(point.value for point in side) for side in (old, new))
    if before <= 0 or after <= 0:
        return None
    least = max(log(1 + MIN_MOVE), _MIN_NOISES * noise * sqrt(1 / len(old) + 1 / len(new)))
    if abs(log(after / before)) < least:
        return None
    return MovedCounter(series, before, after, after / before - 1)
