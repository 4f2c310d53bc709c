"""Two versions against each other, from the repeats of each.

Everything is done on logs: benchmark noise is relative, and a ratio is what people ask for. The noise comes
from the best source there is, named in ``Comparison.basis``:

- *history*: the scatter of the series within its levels, known from earlier versions, counts as so many
  degrees of freedom beside the runs' own (a moderated t test, Smyth 2004, Linear models and empirical Bayes
  methods), so one run each is enough. Where the runs scatter clearly more than the history (F test, p <
  0.01), it is not believed.
- *table*: the same with the scatter of the repeats in the rest of a table of comparisons in place of a
  history. Who makes the table says so; the arithmetic is that of a history.
- *pairs*: both versions were measured in the same sessions. They are compared within these, so that the
  mood of the machine falls out. The scatter is what is left of a row of the table beyond versions and
  sessions (``paired_sessions.py``).
- *runs*: Welch's t test (1947) with variances drawn towards the common one by two degrees of freedom. One run
  against several borrows the scatter of the several.
- *sessions*: the same on the means of sessions. Runs of one version that share one boot or one load of the
  data are more alike than they are like the next session, so that a session counts once (Laird & Ware 1982,
  Random-effects models for longitudinal data). A history is one of session means then.

Where a side has one session and nothing tells how much sessions scatter there is no test and no p. The
scatter between sessions is taken for the usual one, 15 % worth five degrees of freedom, and added to the
scatter within them, which comes from the first of these that there is. What differs by more is *likely* and
no more:

- *within session*: from the repeats of the session.
- *forks*: one run each of several JVMs: from the means of the forks (Georges, Buytaert & Eeckhout 2007,
  Statistically rigorous Java performance evaluation: invocations are the independent ones).
- *tool*: one run each, with the tool's own interval (JMH prints 99.9 %): se = half width / t(0.9995,
  samples - 1).
- *within fork*: the same where a run is known to have had a single fork. Not even likely.
- *none*: one run each and nothing known: no interval, the verdict is unknown.
- *assumed start*: sessions of which only the receipt is known, and which do not count (``results.sessions``).
  The interval is that of whichever of the above there is, and who makes the table says so.

What a tool says of the error of its runs is the least that is believed, wherever the scatter comes from.
No scatter is taken for smaller than 0.1 % or than half of the last printed digit.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from benchdash.regressions.detection.noise import Bools, Floats, Ints
from benchdash.regressions.detection.scatter import (
    ASSUMED_START,
    BASES,
    FORKS,
    NONE,
    TOOL,
    WITHIN_FORK,
    WITHIN_SESSION,
    Basis,
    Evidence,
    PairedSessions,
    Sides,
    ToolInterval,
    evidence,
)
from benchdash.results.readings import HIGHER, LOWER, Direction

Verdict = Literal["better", "worse", "likely_better", "likely_worse", "same", "unknown"]

SIGNIFICANT = 0.05

EQUIVALENT = 0.02
"""Versions whose ratio certainly lies between 1 / 1.02 and 1.02 are the same, unless told otherwise."""

MAX_RUNS = 100
"""More runs are never recommended."""

MAX_PRIOR_DF = 19
"""Degrees of freedom that noise known from elsewhere counts for at most in the interval of a group."""

_UNTESTED = (NONE, WITHIN_SESSION, FORKS, TOOL, WITHIN_FORK, ASSUMED_START)
UNTESTED_BASES: Final[frozenset[Basis]] = frozenset(BASES[code] for code in _UNTESTED)
"""Sources that know nothing of the scatter between sessions."""

_LIKELY_AT_MOST = (WITHIN_SESSION, FORKS, TOOL, ASSUMED_START)
_VERDICTS: Final[tuple[Verdict, ...]] = (
    *("unknown", "same", "better", "worse", "likely_better", "likely_worse"),
)
_UNKNOWN, _SAME, _BETTER, _WORSE, _LIKELY_BETTER, _LIKELY_WORSE = range(len(_VERDICTS))

MORE_SESSIONS = 2
"""How many more of each side tell how much sessions scatter, where there is one each."""


class Comparison(NamedTuple):
    """``ratio`` is other / base of the medians, ``low`` and ``high`` its 95 % interval, ``p`` two-sided.

    The interval is that of the ratio of geometric means, widened where the ratio of the medians lies
    outside. ``more_runs`` says for an unknown or likely verdict how many more sessions of each side (runs
    where the basis is *runs*) would settle it if ratio and scatter stay as they are; None where that cannot
    be said or would be more than 100. Where nothing tells how much sessions scatter, it is how many would.
    """

    ratio: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    verdict: Verdict = "unknown"
    more_runs: int | None = None
    basis: Basis = "none"


@dataclass(frozen=True, slots=True)
class Sample:
    """Values, and what else is ``Sampled``."""

    values: Sequence[float]
    sessions: Sequence[Hashable] = ()
    forks: Sequence[float] = ()
    tool_interval: ToolInterval | None = None


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The fields of Comparison as arrays, an element for each pair; NaN, or 0 of ``more_runs``, for None.

    ``basis`` is an index of BASES. Verdicts follow from the rest.
    """

    ratio: Floats
    low: Floats
    high: Floats
    p: Floats
    more_runs: Ints
    basis: Ints

    def verdicts(self, better: Ints, margin: float | Floats) -> list[Verdict]:
        """Return the verdict of each pair by the sign of its direction (``sign_of``)."""
        return _verdicts(self.low, self.high, self.p, self.basis, better, margin)

    def each(self, verdicts: Sequence[Verdict]) -> Iterator[Comparison]:
        return starmap(
            Comparison,
            zip(
                *map(_known, (self.ratio, self.low, self.high, self.p)),
                verdicts,
                [more or None for more in self.more_runs.tolist()],
                [BASES[basis] for basis in self.basis.tolist()],
                strict=True,
            ),
        )


def _known(numbers: Floats) -> list[float | None]:
    """Return the numbers with None for NaN, which is not equal to itself."""
    return [one if one == one else None for one in numbers.tolist()]


def compare_samples(
    base: Sequence[float] | Sample,
    other: Sequence[float] | Sample,
    *,
    direction: Direction,
    history_sd: float | None = None,
    history_df: float = 0,
    margin: float = EQUIVALENT,
) -> Comparison:
    """Compare ``other`` with ``base`` by the values of their runs.

    ``history_sd`` is the standard deviation of the logs of single runs at an unchanged level (of session
    means, where sessions are said) and ``history_df`` how many degrees of freedom it is worth
    (``level_scatter`` gives both). ``margin`` is the relative difference that does not matter. Values that
    are not positive have no ratio: all is None then. Raises ValueError where a side has no runs.
    """
    sides = Sides.of([one if isinstance(one, Sample) else Sample(one) for one in (base, other)])
    known = np.array([history_sd or np.nan]), np.array([float(history_df)])
    found = compare_sides(sides, np.array([[0], [1]]), *known, margin=margin)
    [comparison] = found.each(found.verdicts(np.array([sign_of(direction)]), margin))
    return comparison


def compare_sides(
    sides: Sides,
    pairs: Ints,
    history_sd: Floats,
    history_df: Floats,
    *,
    paired: PairedSessions | None = None,
    assumed: Bools | None = None,
    margin: float = EQUIVALENT,
) -> Comparisons:
    """Compare many pairs, shape (2, pairs): indexes of the base and of the other among ``sides``.

    NaN and 0 where there is no history. Of pairs that rest on ``assumed`` starts nothing is certain. p is not
    adjusted.
    """
    found = evidence(sides, pairs, history_sd, history_df, paired)
    if assumed is not None:
        found.basis[assumed & (found.basis != WITHIN_FORK)] = ASSUMED_START
    difference = found.mean[1] - found.mean[0]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = np.where(
            sides.is_positive[pairs].all(axis=0), sides.medians[pairs[1]] / sides.medians[pairs[0]], np.nan
        )
        error, df = found.error()
        half = _t_quantiles(df) * error
        low = np.minimum(np.exp(difference - half), ratio)
        high = np.maximum(np.exp(difference + half), ratio)
        p = np.where(np.isin(found.basis, _UNTESTED), np.nan, 2 * stdtr(df, -np.abs(difference) / error))
    unsettled = _verdict_codes(low, high, p, found.basis, np.ones(len(p), np.int64), margin) == _UNKNOWN
    unsettled &= np.isfinite(p)
    more = np.where(np.isin(found.basis, _UNTESTED) & ~np.isnan(ratio), MORE_SESSIONS, 0)
    more[found.basis == ASSUMED_START] = 0
    more[unsettled] = _more_runs(np.abs(difference[unsettled]), found.at(unsettled), margin)
    return Comparisons(ratio, low, high, p, more, found.basis)


def adjusted(
    comparisons: Sequence[Comparison], *, direction: Direction, margin: float = EQUIVALENT
) -> list[Comparison]:
    """Adjust the p of the comparisons of one table for its size, and the verdicts that follow."""
    ends = (np.array([one[at] for one in comparisons], dtype=float) for at in (1, 2, 3))
    low, high, p = ends
    p = adjusted_p(p)
    basis = np.array([BASES.index(one.basis) for one in comparisons], dtype=np.int64)
    verdicts = _verdicts(low, high, p, basis, np.full(len(p), sign_of(direction)), margin)
    return [
        one._replace(p=number, verdict=verdict)
        for one, number, verdict in zip(comparisons, _known(p), verdicts, strict=True)
    ]


def sign_of(direction: Direction) -> int:
    """Return 1 where more is better, -1 where less is, and 0 where nobody has said it."""
    return {HIGHER: 1, LOWER: -1}.get(direction, 0)


def adjusted_p(p: Floats) -> Floats:
    """Adjust p values so that a share below q has at most q false among it (Benjamini & Hochberg 1995).

    NaN stays NaN and does not count. SciPy's differs in the last digit, and would flip decisions.
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(-p[known])]
    result = p.copy()
    scaled = p[order] * len(known) / np.arange(len(known), 0, -1)
    result[order] = np.minimum(np.minimum.accumulate(scaled), 1)
    return result


def median_intervals(
    groups: Sequence[Sequence[float]], noise_sd: Floats, noise_df: Floats
) -> tuple[Floats, Floats]:
    """Return the 95 % intervals of the levels of groups of at least two runs.

    A t interval on logs around the geometric mean: right for log-normal noise at any n >= 2, where
    intervals from order statistics need six runs to reach 95 %. It is widened where the median lies
    outside. Values of a group that are not all positive are taken as they are instead of as logs.

    ``noise_sd`` is the scatter of single runs elsewhere on the same machines (sd of logs, worth ``noise_df``
    degrees of freedom, of which 19 count at most; NaN and 0 where nothing is known): the variance is drawn
    towards it (Smyth 2004). Two runs alone leave one degree of freedom and an interval of 9 sd on either
    side.
    """
    sides = Sides.of([Sample(group) for group in groups])
    positive, units = sides.is_positive, sides.runs
    n = np.array(list(map(len, groups)), dtype=float)
    mean, rss = units.mean.copy(), units.rss.copy()
    for at in np.flatnonzero(~positive).tolist():
        values = np.asarray(groups[at], dtype=float)
        mean[at], rss[at] = values.mean(), ((values - values.mean()) ** 2).sum()
    prior = np.where(positive & (noise_sd > 0), np.minimum(noise_df, MAX_PRIOR_DF), 0)
    df = prior + n - 1
    variance = (np.where(prior > 0, prior * noise_sd**2, 0) + rss) / df
    half = _t_quantiles(df) * np.sqrt(variance / n)
    with np.errstate(over="ignore"):
        low, high = (
            np.where(positive, np.exp(np.where(positive, end, 0)), end) for end in (mean - half, mean + half)
        )
    return np.minimum(low, sides.medians), np.maximum(high, sides.medians)


def _t_quantiles(df: Floats) -> Floats:
    """Return the quantiles of 95 %, two-sided. The comparisons of a table share a few degrees of freedom."""
    distinct, places = np.unique(df, return_inverse=True)
    return np.asarray(stdtrit(distinct, 1 - SIGNIFICANT / 2)[places], dtype=float)


def _verdicts(
    low: Floats, high: Floats, p: Floats, basis: Ints, better: Ints, margin: float | Floats
) -> list[Verdict]:
    codes = _verdict_codes(low, high, p, basis, better, margin)
    return [_VERDICTS[code] for code in codes.tolist()]


def _verdict_codes(
    low: Floats, high: Floats, p: Floats, basis: Ints, better: Ints, margin: float | Floats
) -> Ints:
    """Indexes of _VERDICTS. Where no direction is known to be better, a difference stays unknown."""
    same = (low >= 1 / (1 + margin)) & (high <= 1 + margin) & ~np.isnan(p)
    is_beside = ((low > 1) | (high < 1)) & (better != 0)
    is_better = (low > 1) == (better > 0)
    likely = np.isin(basis, _LIKELY_AT_MOST) & is_beside
    return np.select(
        [same, (p < SIGNIFICANT) & is_beside, likely],
        [_SAME, np.where(is_better, _BETTER, _WORSE), np.where(is_better, _LIKELY_BETTER, _LIKELY_WORSE)],
        _UNKNOWN,
    )


def _more_runs(difference: Floats, found: Evidence, margin: float) -> Ints:
    """0 where it would be too many."""
    same = np.log1p(margin)
    # The interval only gets narrower with more runs: the most that do not settle it, by halving.
    too_few = np.zeros(len(difference), np.int64)
    for step in (64, 32, 16, 8, 4, 2, 1):
        more = too_few + step
        error, df = found.error(more)
        half = _t_quantiles(df) * error
        is_settled = (difference > half) | (difference + half <= same)
        too_few = np.where(is_settled, too_few, more)
    return np.where(too_few < MAX_RUNS, too_few + 1, 0)
