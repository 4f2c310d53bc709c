"""Percentiles of two versions against each other, from the histograms of their runs.

A percentile of a version is that of all operations of its runs together. How much it would differ from one
set of runs to the next is told by a bootstrap over the runs (Efron & Tibshirani 1993, An Introduction to the
Bootstrap, chapter 6): whole runs are drawn again, with replacement, because operations of one run are alike.
Drawn from n runs the variance is too small by (n - 1) / n, which is put right, and the interval is that of a
t distribution (Welch 1947), since few runs tell little about their own scatter. With one run on either side
nothing is known, and there is no test. Where runs shared sessions, all operations of a session are merged
first and a session takes the place of a run: clusters are drawn whole (Davison & Hinkley 1997, Bootstrap
Methods and their Application, section 3.8).

Buckets say where a percentile lies only within bounds. The interval of a ratio reaches from the smallest that
the bounds allow to the largest, and beyond by the scatter of the runs; p is that of the nearest of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtr, stdtrit

from benchdash.regressions.detection.compare import MORE_SESSIONS, SIGNIFICANT, Comparison
from benchdash.regressions.detection.noise import MIN_SD, Floats, Ints
from benchdash.results.distributions import Bounds, Distribution, merged

_DRAWS: Final = 400
_SEED: Final = 20130702
_ROUNDING: Final = 1e-9


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
    """Return the percentiles of runs. The same runs give the same variances: the seed is fixed."""
    together = merged(runs)
    bounds = [
        one if together.tells(share) else None
        for share, one in zip(shares, together.percentiles(shares), strict=True)
    ]
    variances = tuple(_variances(runs, shares).tolist()) if len(runs) > 1 else None
    return RunPercentiles(tuple(shares), tuple(bounds), variances, len(runs))


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


def _variances(runs: Sequence[Distribution], shares: Sequence[float]) -> Floats:
    """Return the variances of the logs of each percentile over sets of runs like this one."""
    drawn = np.random.default_rng(_SEED).multinomial(len(runs), np.full(len(runs), 1 / len(runs)), _DRAWS)
    lows = _drawn(drawn, [one.lows for one in runs], [one.counts for one in runs], shares)
    highs = _drawn(drawn, [one.highs for one in runs], [one.counts for one in runs], shares)
    middles = [
        [Bounds(low, high).middle for low, high in zip(*ends, strict=True)]
        for ends in zip(lows.tolist(), highs.tolist(), strict=True)
    ]
    logs: Floats = np.log(middles)
    corrected: Floats = logs.var(axis=0) * len(runs) / (len(runs) - 1)
    at_least: Floats = np.maximum(corrected, MIN_SD**2 / len(runs))
    return at_least


def _drawn(drawn: Ints, ends: Sequence[Floats], counts: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """Return the ends of buckets by which each share of the drawn operations is passed; (draws, shares)."""
    known, place = np.unique(np.concatenate(ends), return_inverse=True)
    of_run = np.repeat(np.arange(len(ends)), [len(one) for one in ends])
    by_run = np.zeros((len(ends), len(known)))
    np.add.at(by_run, (of_run, place), np.concatenate(counts))
    passed = np.cumsum(drawn @ by_run, axis=1)
    wanted = np.asarray(shares) * passed[:, -1:] * (1 - _ROUNDING)
    reached = [np.searchsorted(row, goals) for row, goals in zip(passed, wanted, strict=True)]
    found: Floats = known[np.minimum(np.array(reached), len(known) - 1)]
    return found
