"""Percentiles of two versions against each other, from the histograms of their runs.

A percentile of a version is that of all operations of its runs together. How much it would differ from one
set of runs to the next is told by the same percentile of each run, because operations of one run are alike:
the variance of their logs. The interval is that of a t distribution (Welch 1947), since few runs tell little
about their own scatter. With one run on either side nothing is known, and there is no test. Where runs shared
sessions, all operations of a session are merged first and a session takes the place of a run.

Buckets say where a percentile lies only within bounds. The interval of a ratio reaches from the smallest that
the bounds allow to the largest, and beyond by the scatter of the runs; p is that of the nearest of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from benchdash.regressions.detection.compare import MORE_SESSIONS, SIGNIFICANT, Comparison
from benchdash.regressions.detection.noise import MIN_SD
from benchdash.results.distributions import Bounds, Distribution, merged


@dataclass(frozen=True, slots=True)
class RunPercentiles:
    """Percentiles of the operations of several runs, None where these are too few to tell one.

    ``variances`` are those of their logs, None of one run.
    """

    shares: tuple[float, ...]
    bounds: tuple[Bounds | None, ...]
    variances: tuple[float, ...] | None
    runs: int


def percentiles_of_runs(runs: Sequence[Distribution], shares: Sequence[float]) -> RunPercentiles:
    """Return the percentiles of the operations of runs, and how much they vary with the runs."""
    together = merged(runs)
    bounds = [
        one if together.tells(share) else None
        for share, one in zip(shares, together.percentiles(shares), strict=True)
    ]
    return RunPercentiles(tuple(shares), tuple(bounds), _variances(runs, shares), len(runs))


def compared_percentiles(base: RunPercentiles, other: RunPercentiles) -> list[Comparison]:
    """Compare each percentile, without a verdict: p is not adjusted yet. See ``compare.adjusted``."""
    return [_compared(base, other, index) for index in range(len(base.shares))]


def _compared(base: RunPercentiles, other: RunPercentiles, index: int) -> Comparison:
    before, after = base.bounds[index], other.bounds[index]
    if before is None or after is None:
        return Comparison(ratio=None)
    ratio = after.middle / before.middle
    if base.variances is None or other.variances is None or not _have_ends(before, after):
        return Comparison(ratio=ratio, more_runs=MORE_SESSIONS)
    own = base.variances[index], other.variances[index]
    error = float(np.sqrt(sum(own)))
    df = sum(own) ** 2 / (own[0] ** 2 / (base.runs - 1) + own[1] ** 2 / (other.runs - 1))
    least, most = float(np.log(after.low / before.high)), float(np.log(after.high / before.low))
    half = float(stdtrit(df, 1 - SIGNIFICANT / 2)) * error
    nearest = max(least, -most, 0.0)
    return Comparison(
        ratio=ratio,
        low=float(np.exp(least - half)),
        high=float(np.exp(most + half)),
        p=2 * float(stdtr(df, -nearest / error)),
        basis="sessions",
    )


def _have_ends(*bounds: Bounds) -> bool:
    return all(one.low > 0 and np.isfinite(one.high) for one in bounds)


def _variances(runs: Sequence[Distribution], shares: Sequence[float]) -> tuple[float, ...] | None:
    """Return the variances of the logs of each percentile over sets of runs like this one."""
    if len(runs) < 2:
        return None
    logs = np.log([[bounds.middle for bounds in run.percentiles(shares)] for run in runs])
    return tuple((np.maximum(logs.var(axis=0, ddof=1), MIN_SD**2) / len(runs)).tolist())
