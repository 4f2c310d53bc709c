"""A curve of throughput against concurrency in a few numbers: peak, knee, tail-off, scale-up.

The **peak** is the largest median. Which other thread counts may be the true peak is a comparison with the
best (Hsu 1984, Constrained simultaneous confidence intervals for multiple comparisons with the best): those
whose mean of logs is not certainly below that of the peak, by a one-sided t test at 5 % divided by the number
of others (Bonferroni), with the scatter of the repeats of the whole curve.

The **knee** is where throughput over response time is largest (Kleinrock 1979, Power and deterministic rules
of thumb for probabilistic problems in computer communications; the knee capacity of Jain 1991, The art of
computer systems performance analysis, chapter 3). N clients without think time wait N / X(N) for an answer
(Little 1961), so it is the largest X(N)^2 / N: twice the clients are worth it while they bring 41 % more.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from benchdash.regressions.detection.compare import SIGNIFICANT
from benchdash.regressions.detection.noise import MIN_SD
from benchdash.results.sessions import session_means

MIN_THREAD_COUNTS = 4
"""Thread counts that a curve needs at least to have a peak and a knee."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The runs of a curve at one thread count (1 or more).

    ``value`` is the median of their throughputs, ``values``; ``sessions`` names that of each, empty where
    none is known.
    """

    threads: int
    value: float
    values: tuple[float, ...]
    sessions: tuple[Hashable, ...] = ()

    @property
    def logs(self) -> list[float]:
        """The logs of independent runs: the mean of each session counts once."""
        values = session_means(self.values, self.sessions) if self.sessions else self.values
        return [float(np.log(value)) for value in values]


@dataclass(frozen=True, slots=True)
class Peak:
    """``among`` are the thread counts that may be the true peak, in order; empty where no repeats tell."""

    threads: int
    value: float
    among: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScaleUp:
    """``factor`` is throughput at ``after`` threads over that at ``before``.

    ``efficiency`` is the factor over that of the thread counts, 1 where twice the threads bring twice the
    throughput.
    """

    before: int
    after: int
    factor: float

    @property
    def efficiency(self) -> float:
        return self.factor * self.before / self.after


@dataclass(frozen=True, slots=True)
class Shape:
    """``tail_off`` is how far throughput lies below the peak at the most threads: -0.2 for a fifth."""

    peak: Peak
    knee: int
    tail_off: float


def shape_of(points: Sequence[CurvePoint]) -> Shape | None:
    """Describe a curve by its points, in any order.

    None for fewer than four thread counts, or where a value is not positive.
    """
    in_order = sorted(points, key=lambda point: point.threads)
    if len(in_order) < MIN_THREAD_COUNTS or in_order[0].threads < 1:
        return None
    if any(min(point.value, *point.values) <= 0 for point in in_order):
        return None
    top = max(in_order, key=lambda point: point.value)
    return Shape(
        peak=Peak(top.threads, top.value, _among(in_order, top)),
        knee=max(in_order, key=lambda point: point.value**2 / point.threads).threads,
        tail_off=in_order[-1].value / top.value - 1,
    )


def scale_up(points: Sequence[CurvePoint], before: int, after: int) -> ScaleUp | None:
    """Return the scale-up; None where a thread count was not measured, or nothing was done at ``before``."""
    values = {point.threads: point.value for point in points}
    if before < 1 or after < 1 or before not in values or after not in values or values[before] <= 0:
        return None
    return ScaleUp(before, after, values[after] / values[before])


def _among(points: Sequence[CurvePoint], top: CurvePoint) -> tuple[int, ...]:
    logs = [np.array(point.logs) for point in points]
    df = sum(len(of_point) - 1 for of_point in logs)
    if df < 1:
        return ()
    squares = sum(float(((of_point - of_point.mean()) ** 2).sum()) for of_point in logs)
    sd = max(float(np.sqrt(squares / df)), MIN_SD)
    distance = float(stdtrit(df, 1 - SIGNIFICANT / (len(points) - 1))) * sd
    best = logs[points.index(top)]
    return tuple(
        point.threads
        for point, own in zip(points, logs, strict=True)
        if point is top or best.mean() - own.mean() < distance * np.sqrt(1 / len(best) + 1 / len(own))
    )
