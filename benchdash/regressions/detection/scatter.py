"""The sources of the noise of comparisons, for all pairs of a table at once.

``compare.py`` says which sources there are and why. Arrays have an element for each sample, or for each pair;
where both sides of a pair have one, the shape is (2, pairs): base, other.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

import numpy as np
from scipy.special import fdtrc, ndtri, stdtrit

from benchdash.regressions.detection.noise import MAX_DIGITS, MIN_SD, SCALES, Bools, Floats, Ints, is_printed
from benchdash.results.sessions import session_means

Basis = Literal[
    "history",
    "table",
    "runs",
    "sessions",
    "within session",
    "forks",
    "tool",
    "within fork",
    "none",
    "pairs",
    "control",
    "assumed start",
]
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
HISTORY, TABLE, RUNS, SESSIONS, WITHIN_SESSION, FORKS = range(6)
TOOL, WITHIN_FORK, NONE, PAIRS, CONTROL, ASSUMED_START = range(6, len(BASES))

USUAL_SESSION_SD = 0.15
"""How much sessions scatter (sd of logs) where nothing tells it, as on the machines that were measured."""

USUAL_SESSION_DF = 5
"""Degrees of freedom that it is worth: machines differ."""

MIN_PAIR_DF = 4
"""With so many degrees of freedom the scatter within shared sessions is preferred to a history."""

_PRIOR_DF = 2  # degrees of freedom that the common variance counts for beside each side's own
_TOOL_QUANTILE = 0.9995
_FOREIGN = 0.01
_MANY = 1e9  # degrees of freedom of a t distribution that is a normal one


@dataclass(frozen=True, slots=True)
class ToolInterval:
    """The 99.9 % interval that a tool prints for one run, and the number of samples behind it where known.

    Without ``samples`` the normal quantile is used, which makes the error larger than it is.
    """

    low: float
    high: float
    samples: int | None = None

    @property
    def sd(self) -> float:
        """The standard deviation of the log of the value; 0 where that cannot be said."""
        return float(np.log(self.high / self.low) / 2 / ndtri(_TOOL_QUANTILE)) if self.low > 0 else 0.0


class Sampled(Protocol):
    """The measurements of one version: the values of its runs, all positive where a ratio is wanted.

    ``sessions`` names the session of each run; empty: every run is one of its own. ``forks`` are the mean
    scores of the forks of a single run. ``tool_interval`` is the tool's, of several runs that of their mean.
    """

    @property
    def values(self) -> Sequence[float]: ...
    @property
    def sessions(self) -> Sequence[Hashable]: ...
    @property
    def forks(self) -> Sequence[float]: ...
    @property
    def tool_interval(self) -> ToolInterval | None: ...


@dataclass(frozen=True, slots=True)
class Units:
    """Logs of independent measurements: how many, their mean, their squared residuals.

    ``n`` is 0 where there are none, or not all are positive.
    """

    n: Floats
    mean: Floats
    rss: Floats

    @property
    def df(self) -> Floats:
        return np.maximum(self.n - 1, 0)

    def of(self, pairs: Ints) -> "Units":
        return Units(self.n[pairs], self.mean[pairs], self.rss[pairs])


@dataclass(frozen=True, slots=True)
class _Groups:
    """Groups of values behind each other; empty ones are allowed."""

    values: Floats
    n: Ints

    @classmethod
    def of(cls, groups: Sequence[Sequence[float]]) -> "_Groups":
        n = np.fromiter(map(len, groups), np.int64, len(groups))
        values = np.fromiter((value for group in groups for value in group), float, int(n.sum()))
        return cls(values, n)

    @property
    def starts(self) -> Ints:
        return np.cumsum(self.n) - self.n

    @property
    def places(self) -> Ints:
        """The group of each value."""
        return np.repeat(np.arange(len(self.n)), self.n)

    def medians(self) -> Floats:
        """Return the medians of groups none of which is empty."""
        if len(self.values) == len(self.n):
            return self.values
        in_order = self.values[np.lexsort((self.values, self.places))]
        medians: Floats = (
            in_order[self.starts + (self.n - 1) // 2] + in_order[self.starts + self.n // 2]
        ) / 2
        return medians

    def are_positive(self) -> Bools:
        positive = np.ones(len(self.n), dtype=bool)
        positive[self.places[~(self.values > 0)]] = False
        return positive

    def units(self) -> Units:
        positive = self.are_positive()
        n = np.where(positive, self.n, 0).astype(float)
        if (self.n == 1).all():
            return Units(n, np.log(np.where(positive, self.values, 1)), np.zeros(len(n)))
        places, least = self.places, np.maximum(n, 1)
        logs = np.log(np.where(positive[places], self.values, 1))
        means = np.bincount(places, logs, len(n)) / least
        return Units(n, means, np.bincount(places, (logs - means[places]) ** 2, len(n)).astype(float))

    def joined(self, pairs: Ints) -> "_Groups":
        """Join the values of both sides of each pair."""
        n, starts = self.n[pairs].T.ravel(), self.starts[pairs].T.ravel()
        at = np.arange(n.sum()) + np.repeat(starts - (np.cumsum(n) - n), n)
        return _Groups(self.values[at], self.n[pairs].sum(axis=0))


@dataclass(frozen=True, slots=True)
class _Tools:
    """Variances of the logs of means by the intervals that tools print, and degrees of freedom.

    NaN where there is none.
    """

    variance: Floats
    df: Floats

    @classmethod
    def of(cls, samples: Sequence[Sampled]) -> "_Tools":
        told = [one.tool_interval for one in samples]
        variance, df = np.full(len(told), np.nan), np.full(len(told), _MANY)
        known = [at for at, one in enumerate(told) if one is not None and one.low > 0]
        ends = [(one.low, one.high, one.samples or 0) for one in told if one is not None and one.low > 0]
        if known:
            low, high, number = np.array(ends).T
            df[known] = np.where(number > 1, number - 1, _MANY)
            variance[known] = (np.log(high / low) / 2 / stdtrit(df[known], _TOOL_QUANTILE)) ** 2
        return cls(variance, df)


@dataclass(frozen=True, slots=True)
class Sides:
    """The figures of many samples, each of at least one value."""

    medians: Floats
    is_positive: Bools
    runs: Units
    independent: Units
    has_sessions: Bools
    forks: Units
    has_one_fork: Bools
    tools: _Tools
    _values: _Groups

    @classmethod
    def of(cls, samples: Sequence[Sampled]) -> "Sides":
        values = _Groups.of([one.values for one in samples])
        if not values.n.all():
            raise ValueError("A comparison needs at least one run of each version.")
        runs, forks = values.units(), [one.forks for one in samples]
        shares_sessions = any(one.sessions for one in samples)
        return cls(
            medians=values.medians(),
            is_positive=values.are_positive(),
            runs=runs,
            independent=_Groups.of(list(map(independent, samples))).units() if shares_sessions else runs,
            has_sessions=np.fromiter((len(one.sessions) > 0 for one in samples), bool, len(samples)),
            forks=_Groups.of(forks).units(),
            has_one_fork=np.fromiter((len(one) == 1 for one in forks), bool, len(forks)),
            tools=_Tools.of(samples),
            _values=values,
        )

    def min_sds(self, pairs: Ints) -> Floats:
        """Return the least scatter that a pair is trusted with (digits: see ``kernel.rounding_sd``)."""
        first = self._values.values[self._values.starts]
        of_sample = np.logical_and.reduceat(is_printed(self._values.values), self._values.starts)
        of_pair = of_sample[pairs].all(axis=0) & (np.outer(first[pairs[0]], SCALES) <= MAX_DIGITS)
        medians = self._values.joined(pairs).medians()
        allowed = 0.5 / SCALES[of_pair.argmax(axis=1)] / medians
        return np.maximum(np.where(of_pair.any(axis=1), allowed, 0), MIN_SD)


def independent(sample: Sampled) -> Sequence[float]:
    """Return the mean of each session; the values themselves where no session is known."""
    shares = 0 < len(set(sample.sessions)) < len(sample.values) and min(sample.values) > 0
    return session_means(sample.values, sample.sessions) if shares else sample.values


@dataclass(frozen=True, slots=True)
class PairedSessions:
    """The evidence of the sessions that both sides of each pair shared: ``n`` of them, 0 for none.

    ``means``, shape (2, pairs), are of the logs in these sessions. ``variance`` is that of one side in one
    session beyond what all of a session share, with ``df`` degrees of freedom.
    """

    n: Floats
    means: Floats
    variance: Floats
    df: Floats


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for the difference of each pair: ``basis`` is an index of BASES.

    Shape (2, pairs): ``n`` and ``mean`` of the units that count, ``variance`` of one of them, and the degrees
    of freedom ``df`` of that; ``total_df`` are those of both sides together.
    """

    basis: Ints
    n: Floats
    mean: Floats
    variance: Floats
    df: Floats
    total_df: Floats

    @classmethod
    def of_nothing(cls, pairs: int) -> "Evidence":
        n, mean, variance, df = np.full((4, 2, pairs), np.nan)
        return cls(np.full(pairs, NONE), n, mean, variance, df, np.full(pairs, np.nan))

    def at(self, which: Bools | Ints) -> "Evidence":
        return Evidence(
            self.basis[which],
            self.n[:, which],
            self.mean[:, which],
            self.variance[:, which],
            self.df[:, which],
            self.total_df[which],
        )

    def error(self, more: Ints | int = 0) -> tuple[Floats, Floats]:
        """Return the standard error of the difference of means after ``more`` further units of each side.

        And its degrees of freedom (Welch-Satterthwaite).
        """
        of_side = self.variance / (self.n + more)
        total = of_side.sum(axis=0)
        df = total**2 / (of_side**2 / (self.df + more)).sum(axis=0)
        return np.sqrt(total), np.minimum(df, self.total_df + 2 * more)

    def _take(self, which: Bools, basis: int, units: Units, scatter: "_Scatter") -> None:
        self.basis[which] = basis
        self.n[:, which] = units.n[:, which]
        self.mean[:, which] = units.mean[:, which]
        self.variance[:, which] = scatter.variance[:, which]
        self.df[:, which] = scatter.df[:, which]
        self.total_df[which] = scatter.total_df[which]

    def _take_pairs(self, which: Bools, paired: PairedSessions) -> None:
        self.basis[which] = PAIRS
        self.n[:, which] = paired.n[which]
        self.mean[:, which] = paired.means[:, which]
        self.variance[:, which] = paired.variance[which]
        self.df[:, which] = self.total_df[which] = paired.df[which]

    def _take_one_session(self, which: Bools, basis: int, units: Units, scatter: "_Scatter") -> None:
        """Take the mean of what was measured in one session, and the usual scatter of sessions with it."""
        within = scatter.variance / units.n
        between = USUAL_SESSION_SD**2
        total = within + between
        self.basis[which] = basis
        self.n[:, which] = 1
        self.mean[:, which] = units.mean[:, which]
        self.variance[:, which] = total[:, which]
        df = total**2 / (within**2 / scatter.df + between**2 / USUAL_SESSION_DF)
        self.df[:, which] = df[:, which]
        # Both sides take the usual scatter from the same source: it counts once.
        self.total_df[which] = df.min(axis=0)[which]


@dataclass(frozen=True, slots=True)
class _Scatter:
    """Variances and degrees of freedom; see Evidence."""

    variance: Floats
    df: Floats
    total_df: Floats

    @classmethod
    def common(cls, variance: Floats, df: Floats) -> "_Scatter":
        """One variance for both sides."""
        both = np.tile(variance, (2, 1))
        return cls(both, np.full(both.shape, _MANY), df)


def evidence(
    sides: Sides,
    pairs: Ints,
    history_sd: Floats,
    history_df: Floats,
    paired: PairedSessions | None = None,
) -> Evidence:
    """Take the best source that there is of each pair, which has indexes of ``sides``.

    The history of a pair is what ``compare_samples`` says; NaN and 0 where there is none.
    """
    found = Evidence.of_nothing(pairs.shape[1])
    runs, own = sides.runs.of(pairs), sides.independent.of(pairs)
    shares_sessions = (own.n < runs.n).any(axis=0) | sides.has_sessions[pairs].any(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = sides.is_positive[pairs].all(axis=0)
        trusted = left & _is_trusted(own, history_sd, history_df)
        if paired is not None:
            shared = left & (paired.df >= np.where(trusted, MIN_PAIR_DF, 1))
            found._take_pairs(shared, paired)
            left &= ~shared
        trusted &= left
        found._take(trusted, HISTORY, own, _with_history(own, history_sd, history_df))
        left &= ~trusted
        if (repeated := left & (own.df.sum(axis=0) > 0)).any():
            scatter = _of_units(own)
            found._take(repeated & shares_sessions, SESSIONS, own, scatter)
            found._take(repeated & ~shares_sessions, RUNS, own, scatter)
            left &= ~repeated
        if (within := left & (runs.df.sum(axis=0) > 0)).any():
            found._take_one_session(within, WITHIN_SESSION, runs, _of_units(runs))
            left &= ~within
        forks = sides.forks.of(pairs)
        if (forked := left & (forks.n > 1).all(axis=0)).any():
            found._take_one_session(forked, FORKS, forks, _of_units(forks))
            left &= ~forked
        tool = _Scatter(sides.tools.variance[pairs], sides.tools.df[pairs], sides.tools.df[pairs].sum(axis=0))
        left &= np.isfinite(tool.variance).all(axis=0)
        within_fork = sides.has_one_fork[pairs].any(axis=0)
        found._take_one_session(left & within_fork, WITHIN_FORK, runs, tool)
        found._take_one_session(left & ~within_fork, TOOL, runs, tool)
        of_tool = np.where(np.isfinite(tool.variance), tool.variance, 0) * found.n
        np.maximum(found.variance, np.maximum(sides.min_sds(pairs) ** 2, of_tool), out=found.variance)
    return found


def _is_trusted(own: Units, sd: Floats, df: Floats) -> Bools:
    """Tell whether there is a history that the scatter of the runs does not contradict."""
    trusted: Bools = (sd > 0) & (df > 0)
    own_df = own.df.sum(axis=0)
    if (tested := trusted & (own_df > 0)).any():
        f = own.rss.sum(axis=0)[tested] / own_df[tested] / sd[tested] ** 2
        trusted[tested] = fdtrc(own_df[tested], df[tested], f) >= _FOREIGN
    return trusted


def _with_history(own: Units, sd: Floats, df: Floats) -> _Scatter:
    total = df + own.df.sum(axis=0)
    return _Scatter.common((df * sd**2 + own.rss.sum(axis=0)) / total, total)


def _of_units(own: Units) -> _Scatter:
    """Draw each side's variance a little to that of both.

    Without, a nominal 5 % is 2.4 % for two runs against two and 9 % for two against eight.
    """
    df = own.df.sum(axis=0)
    common = _Scatter.common(own.rss.sum(axis=0) / df, df)
    has_both = (own.df > 0).all(axis=0)
    drawn = (_PRIOR_DF * common.variance + own.rss) / (_PRIOR_DF + own.df)
    return _Scatter(
        np.where(has_both, drawn, common.variance), np.where(has_both, own.df + _PRIOR_DF, common.df), df
    )
