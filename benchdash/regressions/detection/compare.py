"""Two versions against each other, from the repeats of each.

Everything is done on logs: benchmark noise is relative, and a ratio is what people ask for. The noise comes
from the best source there is, named in ``Comparison.basis``:

- *history*: the scatter of the series within its levels, known from earlier versions, counts as so many
  degrees of freedom beside the runs' own (a moderated t test, Smyth 2004, Linear models and empirical Bayes
  methods), so one run each is enough. Where the runs scatter clearly more than the history (F test, p <
  0.01), it is not believed.
- *table*: the same with the scatter of the repeats in the rest of a table of comparisons in place of a
  history. Who makes the table says so; the arithmetic is that of a history.
- *runs*: Welch's t test (1947) with variances drawn towards the common one by two degrees of freedom. One run
  against several borrows the scatter of the several.
- *sessions*: the same on the means of sessions. Runs of one version that share one boot or one load of the
  data are more alike than they are like the next session, so that a session counts once (Laird & Ware 1982,
  Random-effects models for longitudinal data). A history is one of session means then.
- *within session*: one session each and no history. What differs from session to session is unknown: there is
  an interval of the scatter within the sessions, and no p; the verdict is unknown.
- *forks*: one run each of several JVMs: the same as *runs* on the means of the forks (Georges, Buytaert &
  Eeckhout 2007, Statistically rigorous Java performance evaluation: invocations are the independent ones).
- *tool*: one run each, with the tool's own interval (JMH prints 99.9 %): se = half width / t(0.9995,
  samples - 1). That is the noise within a fork only; what differs from fork to fork is not in it.
- *within fork*: the same where a run is known to have had a single fork: an interval, no p, unknown.
- *none*: one run each and nothing known: no interval, no p, the verdict is unknown.

No scatter is taken for smaller than 0.1 % or than half of the last printed digit.
"""

import statistics
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, inf, log, log1p, sqrt
from typing import Literal

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from benchdash.regressions.detection.noise import LEAST_SD, rounding_sd
from benchdash.results.readings import HIGHER, Direction
from benchdash.results.sessions import session_means

Verdict = Literal["better", "worse", "same", "unknown"]
Basis = Literal[
    "history", "table", "runs", "sessions", "within session", "forks", "tool", "within fork", "none"
]

SIGNIFICANT = 0.05

EQUIVALENT = 0.02
"""Versions whose ratio certainly lies between 1 / 1.02 and 1.02 are the same, unless told otherwise."""

MOST_RUNS = 100
"""More runs than this are not asked for."""

_PRIOR_DF = 2  # degrees of freedom that the common variance counts for beside each side's own
MOST_PRIOR_DF = 19
"""What is known from elsewhere counts for so many degrees of freedom at most in the interval of one group."""

_TOOL_QUANTILE = 0.9995
_FOREIGN = 0.01
_UNTESTED = ("within session", "within fork")
_LARGEST_LOG = 709.0  # of a number that a double holds
_MANY = 1e9  # degrees of freedom of a t distribution that is a normal one


@dataclass(frozen=True, slots=True)
class ToolInterval:
    """The 99.9 % interval that a tool prints for one run, and the number of samples behind it where known.

    Without ``samples`` the normal quantile is used, which makes the error larger than it is.
    """

    low: float
    high: float
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """``ratio`` is other / base of the medians, ``low`` and ``high`` its 95 % interval, ``p`` two-sided.

    The interval is that of the ratio of geometric means, widened where the ratio of the medians lies
    outside. ``more_runs`` says for an unknown verdict how many more runs of each side would settle it if
    ratio and scatter stay as they are; None where that cannot be said or would be more than 100. Of the basis
    *sessions* it counts sessions, of *forks* forks.
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
    """What is known of one version: the values of its runs, all positive where a ratio is wanted.

    ``sessions`` names the session of each run; empty: every run is one of its own. ``forks`` are the mean
    scores of the forks and ``interval`` is the tool's; both count only for a single run.
    """

    values: Sequence[float]
    sessions: Sequence[Hashable] = ()
    forks: Sequence[float] = ()
    interval: ToolInterval | None = None


@dataclass(frozen=True, slots=True)
class _Units:
    """Logs of independent measurements of one side: how many, their mean, their squared residuals."""

    n: int
    mean: float
    rss: float

    @property
    def df(self) -> int:
        return self.n - 1


@dataclass(frozen=True, slots=True)
class _Scatter:
    """Variances of one unit of base and of other, the degrees of freedom of each and of both together."""

    basis: Basis
    variances: tuple[float, float]
    df: tuple[float, float]
    total_df: float

    def half_width(self, base: int, other: int, *, more: int = 0) -> float:
        """Half of the 95 % interval of the difference of means after ``more`` further units of each side."""
        error, df = self.error(base, other, more=more)
        return _t_quantile(df) * error

    def error(self, base: int, other: int, *, more: int = 0) -> tuple[float, float]:
        """Standard error of the difference of means, and its degrees of freedom (Welch-Satterthwaite)."""
        left, right = self.variances[0] / (base + more), self.variances[1] / (other + more)
        df = (left + right) ** 2 / (left**2 / (self.df[0] + more) + right**2 / (self.df[1] + more))
        return sqrt(left + right), min(df, self.total_df + 2 * more)


@lru_cache(maxsize=4096)
def _t_quantile(df: float) -> float:
    """Of 95 %, two-sided. The comparisons of a table share a few degrees of freedom."""
    return float(stdtrit(df, 1 - SIGNIFICANT / 2))


def compare_samples(
    base: Sequence[float] | Sample,
    other: Sequence[float] | Sample,
    *,
    direction: Direction,
    history_sd: float | None = None,
    history_df: float = 0,
    margin: float = EQUIVALENT,
) -> Comparison:
    """How ``other`` does against ``base``, from the values of their runs.

    ``history_sd`` is the standard deviation of the logs of single runs at an unchanged level (of session
    means, where sessions are said) and ``history_df`` how many degrees of freedom it is worth
    (``level_scatter`` gives both). ``margin`` is the relative difference that does not matter. Values that
    are not positive have no ratio: all is None then. Raises ValueError where a side has no runs.
    """
    left, right = (one if isinstance(one, Sample) else Sample(one) for one in (base, other))
    if not len(left.values) or not len(right.values):
        raise ValueError("A comparison needs at least one run of each version.")
    if min(*left.values, *right.values) <= 0:
        return Comparison(ratio=None)
    ratio = statistics.median(right.values) / statistics.median(left.values)
    found = _evidence(left, right, history_sd, history_df)
    if found is None:
        return Comparison(ratio=ratio)
    least = max(LEAST_SD, rounding_sd(np.array([*left.values, *right.values]))) ** 2
    first, second = found.scatter.variances
    if min(first, second) < least:
        scatter = replace(found.scatter, variances=(max(first, least), max(second, least)))
        found = replace(found, scatter=scatter)
    return _compare(ratio, found, direction, margin)


def adjusted(
    comparisons: Sequence[Comparison], *, direction: Direction, margin: float = EQUIVALENT
) -> list[Comparison]:
    """The comparisons of one table with p adjusted for its size, and the verdicts that follow."""
    return [
        Comparison(
            one.ratio,
            one.low,
            one.high,
            p,
            _verdict(one.low, one.high, p, direction, margin),
            one.more_runs,
            one.basis,
        )
        for one, p in zip(comparisons, adjust([one.p for one in comparisons]), strict=True)
    ]


def adjust(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini & Hochberg 1995: p values adjusted so that a share below q has at most q false among it.

    None stays None and does not count.
    """
    known = np.array([p for p in p_values if p is not None])
    order = np.argsort(-known)
    scaled = known[order] * len(known) / np.arange(len(known), 0, -1)
    result = np.empty(len(known))
    result[order] = np.minimum(np.minimum.accumulate(scaled), 1)
    adjusted_values = iter(result.tolist())
    return [None if p is None else next(adjusted_values) for p in p_values]


def median_interval(
    values: Sequence[float], *, noise_sd: float | None = None, noise_df: float = 0
) -> tuple[float, float] | None:
    """The 95 % interval of the level of a group of runs, None for a single run.

    A t interval on logs around the geometric mean: right for log-normal noise at any n >= 2, where
    intervals from order statistics need six runs to reach 95 %. It is widened where the median lies
    outside. Values that are not all positive are taken as they are instead of as logs.

    ``noise_sd`` is the scatter of single runs elsewhere on the same machines (sd of logs, worth ``noise_df``
    degrees of freedom, of which 19 count at most): the variance is drawn towards it (Smyth 2004). Two runs
    alone leave one degree of freedom and an interval of 9 sd on either side.
    """
    numbers = np.asarray(values, dtype=float)
    if len(numbers) < 2:
        return None
    positive = bool(numbers.min() > 0)
    x = np.log(numbers) if positive else numbers
    prior = min(noise_df, MOST_PRIOR_DF) if noise_sd and positive else 0
    df = prior + len(x) - 1
    variance = (prior * (noise_sd or 0) ** 2 + float(((x - x.mean()) ** 2).sum())) / df
    half = float(stdtrit(df, 1 - SIGNIFICANT / 2)) * float(np.sqrt(variance / len(x)))
    bounds = np.array([x.mean() - half, x.mean() + half])
    low, high = np.exp(bounds) if positive else bounds
    median = statistics.median(values)
    return min(float(low), median), max(float(high), median)


@dataclass(frozen=True, slots=True)
class _Evidence:
    base: _Units
    other: _Units
    scatter: _Scatter


def _compare(ratio: float, found: _Evidence, direction: Direction, margin: float) -> Comparison:
    base, other, scatter = found.base, found.other, found.scatter
    difference = other.mean - base.mean
    error, df = scatter.error(base.n, other.n)
    half = _t_quantile(df) * error
    low, high = min(_exp(difference - half), ratio), max(_exp(difference + half), ratio)
    if scatter.basis in _UNTESTED:
        return Comparison(ratio, low, high, basis=scatter.basis)
    p = float(2 * stdtr(df, -abs(difference) / error))
    verdict = _verdict(low, high, p, direction, margin)
    more_runs = _more_runs(abs(difference), found, margin) if verdict == "unknown" else None
    return Comparison(ratio, low, high, p, verdict, more_runs, scatter.basis)


def _exp(x: float) -> float:
    """Infinite where it is too large for a number."""
    return exp(x) if x < _LARGEST_LOG else inf


def _verdict(
    low: float | None, high: float | None, p: float | None, direction: Direction, margin: float
) -> Verdict:
    if low is None or high is None or p is None:
        return "unknown"
    if low >= 1 / (1 + margin) and high <= 1 + margin:
        return "same"
    if p < SIGNIFICANT and (low > 1 or high < 1):
        return "better" if (low > 1) == (direction == HIGHER) else "worse"
    return "unknown"


def _more_runs(difference: float, found: _Evidence, margin: float) -> int | None:
    if found.scatter.basis == "tool":
        return None

    same = log1p(margin)

    def settles(more: int) -> bool:
        half = found.scatter.half_width(found.base.n, found.other.n, more=more)
        return difference > half or difference + half <= same

    # The interval only gets narrower with more runs.
    counts = range(1, MOST_RUNS + 1)
    first = bisect_left(counts, True, key=settles)
    return counts[first] if first < len(counts) else None


# --- where the noise comes from ---------------------------------------------------------------------------


def _evidence(base: Sample, other: Sample, sd: float | None, df: float) -> _Evidence | None:
    """From the best source that there is; None where there is none."""
    runs = _units(base.values), _units(other.values)
    independent = _session_means(base), _session_means(other)
    has_sessions = any(session.n < run.n for session, run in zip(independent, runs, strict=True))
    if scatter := _from_history(*independent, sd, df):
        return _Evidence(*independent, scatter)
    if scatter := _from_units("sessions" if has_sessions else "runs", *independent):
        return _Evidence(*independent, scatter)
    if has_sessions:
        within = _from_units("within session", *runs)
        return _Evidence(*independent, _of_one_session(within, *runs)) if within else None
    if len(base.forks) > 1 and len(other.forks) > 1 and min(*base.forks, *other.forks) > 0:
        forks = _units(base.forks), _units(other.forks)
        return _Evidence(*forks, scatter) if (scatter := _from_units("forks", *forks)) else None
    scatter = _from_tool(base, other)
    return _Evidence(*runs, scatter) if scatter else None


def _units(values: Sequence[float]) -> _Units:
    # Mostly of one to five runs, where an array takes longer to make than to use.
    if len(values) == 1:
        return _Units(1, log(values[0]), 0.0)
    logs = [log(value) for value in values]
    mean = statistics.fmean(logs)
    return _Units(len(logs), mean, sum((one - mean) ** 2 for one in logs))


def _session_means(sample: Sample) -> _Units:
    if not sample.sessions:
        return _units(sample.values)
    return _units(session_means(sample.values, sample.sessions))


def _from_history(base: _Units, other: _Units, sd: float | None, df: float) -> _Scatter | None:
    if not sd or df <= 0:
        return None
    own_df, rss = base.df + other.df, base.rss + other.rss
    if own_df and fdtrc(own_df, df, rss / own_df / sd**2) < _FOREIGN:
        return None
    return _common("history", (df * sd**2 + rss) / (df + own_df), df + own_df)


def _from_units(basis: Basis, base: _Units, other: _Units) -> _Scatter | None:
    """Each side's variance is drawn a little to that of both.

    Without, a nominal 5 % is 2.4 % for two runs against two and 9 % for two against eight.
    """
    df = base.df + other.df
    if not df:
        return None
    common = (base.rss + other.rss) / df
    if not base.df or not other.df:
        return _common(basis, common, df)
    variances = tuple((_PRIOR_DF * common + side.rss) / (_PRIOR_DF + side.df) for side in (base, other))
    return _Scatter(basis, (variances[0], variances[1]), (base.df + _PRIOR_DF, other.df + _PRIOR_DF), df)


def _of_one_session(within: _Scatter, base: _Units, other: _Units) -> _Scatter:
    """The scatter of the mean of a session from that of its runs."""
    first, second = within.variances
    return replace(within, variances=(first / base.n, second / other.n))


def _from_tool(base: Sample, other: Sample) -> _Scatter | None:
    tools = base.interval, other.interval
    if max(len(base.values), len(other.values)) > 1 or tools[0] is None or tools[1] is None:
        return None
    if min(tools[0].low, tools[1].low) <= 0:
        return None
    left, right = _tool_variance(tools[0]), _tool_variance(tools[1])
    basis: Basis = "within fork" if 1 in (len(base.forks), len(other.forks)) else "tool"
    return _Scatter(basis, (left[0], right[0]), (left[1], right[1]), left[1] + right[1])


def _common(basis: Basis, variance: float, df: float) -> _Scatter:
    """One variance for both sides."""
    return _Scatter(basis, (variance, variance), (_MANY, _MANY), df)


def _tool_variance(tool: ToolInterval) -> tuple[float, float]:
    """Variance of the log of the printed value, and its degrees of freedom."""
    df = tool.samples - 1 if tool.samples and tool.samples > 1 else _MANY
    half = float(np.log(tool.high / tool.low)) / 2
    return (half / float(stdtrit(df, _TOOL_QUANTILE))) ** 2, df
