"""The rest of losses that recovered: the level before each against that after the step back."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Final

import numpy as np

from benchdash.regressions.analysis.clusters import Cluster, Ranks
from benchdash.regressions.detection.remainders import Remainder, remainder_of
from benchdash.regressions.models import Incident
from benchdash.results.models import Measurement
from benchdash.results.points import moment

_WINDOW: Final = 20
"""Groups of each level that are compared: what comes later may have changed for other reasons."""
_LATELY: Final = 3 * _WINDOW
"""Groups after a step back from which on its remainder is settled and not computed again."""


_Windows = tuple[range, range]
"""The ranks of the groups before a loss, and of those at the level that it recovered to."""


def find_remainders(found: Mapping[Cluster, Incident], ranks: Ranks) -> dict[Cluster, Remainder]:
    """Return what is left of the losses that recovered lately, as far as it can be told; one statement."""
    newest = max(ranks.of_group.values(), default=0)
    windows = {
        loss: window
        for loss in found
        if loss.recovery and newest - (window := _windows_of(loss, found))[1].start <= _LATELY
    }
    if not windows:
        return {}
    levels = _levels_of(windows, ranks)
    remainders = {loss: _remainder(loss, found[loss].metric, of, levels) for loss, of in windows.items()}
    return {loss: remainder for loss, remainder in remainders.items() if remainder}


def _windows_of(loss: Cluster, clusters: Iterable[Cluster]) -> _Windows:
    """Return the groups to compare: up to the loss, and from its last step back on up to the next loss."""
    series = {one.series_id for one in loss.measured}
    around = [one for one in clusters if one.confirmed and series & {it.series_id for it in one.members}]
    start = max((one.last for one in around if one.last < loss.first), default=0)
    recovery = loss.recovery or loss
    later = [one for one in around if one.first >= recovery.first]
    end = min((one.first for one in later if one.for_the_worse), default=recovery.last + _LATELY)
    steps_back = [one.last for one in later if not one.for_the_worse and one.last < end]
    back = max(steps_back, default=recovery.last)
    return range(max(start, loss.first - _WINDOW), loss.first), range(back, min(end, back + _WINDOW))


def _levels_of(windows: Mapping[Cluster, _Windows], ranks: Ranks) -> dict[tuple[int, int], float]:
    """Read the mean log of each series (by its id) in each group (by its rank)."""
    first = min(before.start for before, _ in windows.values())
    since = min((start for start, rank in ranks.starts if rank >= first), default=0.0)
    rows = Measurement.objects.filter(
        series__in={one.series_id for loss in windows for one in loss.measured},
        run__excluded_at=None,
        run__started_at__gte=moment(since),
        value__gt=0,
    ).values_list(
        "series", "value", "run__version", "run__version__build", "run__version__commit", "run__started_at"
    )
    logs: dict[tuple[int, int], list[float]] = defaultdict(list)
    for series, value, version, build, commit, started_at in rows:
        if (rank := ranks.of_named(version, build, commit, started_at)) is not None:
            logs[series, rank].append(math.log(value))
    return {at: fmean(of_group) for at, of_group in logs.items()}


def _remainder(
    loss: Cluster, metric: str, windows: _Windows, levels: Mapping[tuple[int, int], float]
) -> Remainder | None:
    before, after = windows
    series = [one.series for one in loss.measured if one.change is not None]
    signs = np.array([1.0 if one.higher_is_better else -1.0 for one in series])
    logs = np.array([[levels.get((one.pk, at), np.nan) for at in (*before, *after)] for one in series])
    headline = np.array([one.metric == metric for one in series], dtype=bool)
    return remainder_of(logs * signs[:, None], len(before), headline) if headline.any() else None
