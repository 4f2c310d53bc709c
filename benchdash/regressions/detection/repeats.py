"""The scatter by runs that repeat in a group, and what more of them would do.

The scatter of a group has up to three parts, each with its own cure: from run to run within a session (more
runs), from session to session of one group (more sessions), and the rest, which only more groups help.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchdash.regressions.detection.noise import MIN_SD, Floats, Ints

MORE: Final = 4

_MIN_DF = 5
# The variance of the median of so many normal values, times their number.
_OF_MEDIAN = (1.0, 1.0, 1.346, 1.193, 1.434, 1.288, 1.473, 1.346, 1.494, 1.384)
_OF_LONG_MEDIAN = math.pi / 2


@dataclass(frozen=True, slots=True)
class Scatter:
    """How a series scatters at one level: standard deviations of logs.

    ``group`` is that of a group as the search sees it, ``correlation`` that of neighbouring groups.
    ``within`` is that of a run in its session, ``between`` that of the sessions of a group; None where too
    few repeat. A group usually has so many ``runs`` and ``sessions``.
    """

    group: float
    correlation: float
    within: float | None
    between: float | None
    runs: int
    sessions: int

    def with_runs(self, runs: int) -> "Scatter":
        """Return the scatter that so many runs a group would have, in as many sessions as now."""
        if self.within is None:
            raise ValueError("It is not known how much runs of one session scatter.")
        part = self.within**2
        return self._of(self._rest(part, self.runs) + part * of_median(runs) / runs, runs=runs)

    def with_sessions(self, sessions: int) -> "Scatter":
        """Return the scatter that so many sessions a group would have, with as many runs each as now."""
        if self.between is None:
            raise ValueError("It is not known how much sessions scatter.")
        runs = self.runs * sessions // self.sessions
        inner, outer = (self.within or 0.0) ** 2, self.between**2
        rest = max(self.group**2 - inner * of_median(self.runs) / self.runs - outer / self.sessions, 0.0)
        variance = rest + inner * of_median(runs) / runs + outer / sessions
        return replace(self._of(variance, runs=runs), sessions=sessions)

    def _rest(self, part: float, runs: int) -> float:
        return max(self.group**2 - part * of_median(runs) / runs, 0.0)

    def _of(self, variance: float, *, runs: int) -> "Scatter":
        return replace(self, group=max(min(math.sqrt(variance), self.group), MIN_SD), runs=runs)


def of_median(n: int) -> float:
    """Return how much more the median of n normal values varies than their mean."""
    return _OF_MEDIAN[n - 1] if n <= len(_OF_MEDIAN) else _OF_LONG_MEDIAN


def more_than(n: int) -> int:
    """Return the number of runs or sessions that is proposed where there are n: four, else twice as many."""
    return MORE if n < MORE else 2 * n


def repeat_scatter(values: Floats, groups: Ints, sessions: Ints) -> tuple[float | None, float | None]:
    """Return the sd of logs of runs within their sessions, and of sessions within their groups.

    One entry of each array is a run. None where too little repeats to tell.
    """
    usable = values > 0
    values, groups, sessions = values[usable], groups[usable], sessions[usable]
    if len(values) - len(set(groups.tolist())) < _MIN_DF:
        return None, None
    logs = np.log(values)
    # A number for each session of a group, from which the group can be told.
    many = int(sessions.max()) + 1
    pairs, of_run = np.unique(groups * many + sessions, return_inverse=True)
    within = _pooled_variance(logs, of_run)
    n = np.bincount(of_run)
    means = np.bincount(of_run, logs) / n
    between = _pooled_variance(means, pairs // many)
    if between is not None:
        # The mean of a session carries what its runs scatter by.
        alone = float(np.mean(1 / n))
        if alone == 1:
            within = None
        between = max(between - (within or 0.0) * alone, 0.0)
    return tuple(None if one is None else math.sqrt(one) for one in (within, between))  # type: ignore[return-value]


def _pooled_variance(x: Floats, places: Ints) -> float | None:
    """Return the variance around the means of places; None with less than five degrees of freedom."""
    n = np.bincount(places)
    df = int(len(x) - (n > 0).sum())
    if df < _MIN_DF:
        return None
    means = np.bincount(places, x) / np.maximum(n, 1)
    return float(((x - means[places]) ** 2).sum() / df)
