"""The growth of throughput with concurrency: the Universal Scalability Law through a measured curve.

X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)), Gunther 2007, Guerrilla Capacity Planning, chapter 4.
``lambda`` is the throughput of one client, ``sigma`` the share that waits for one another (contention),
``kappa`` the cost of agreeing with everybody else (coherency), which makes the curve fall again.

N / X = a + b (N - 1) + c N (N - 1) with lambda = 1 / a, sigma = b / a, kappa = c / a is linear. It is solved
by least squares that keep a, b and c from being negative (Lawson & Hanson 1974). Each row is divided by its
fitted value, because noise is relative, and weighted as by Huber (1964), so that one failed run does not bend
the curve. Runs of one session are slower or faster together: their common factor is taken out.

Intervals are percentiles of a parametric bootstrap of the fit without the limit at 0, cut off there. What is
drawn is the noise, not the points: three sessions drawn again are too much alike, and the 95 % interval of
their mean would hold the truth in 74 % of cases. Each draw takes a variance that suits the residuals
(chi-squared), coefficients that suit that variance, and for ``rate`` one factor for the sessions.
Without sessions, or with a single one, what differs from session to session is not in the interval of
``rate``; ``contention`` and ``coherency`` do not depend on it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.special import fdtrc

from benchdash.regressions.detection.noise import MIN_SD, Bools, Floats

MIN_CONCURRENCIES = 5
"""Three coefficients and two degrees of freedom to judge them by."""

MAX_PEAK_RATIO = 2.0
"""No peak is predicted beyond this multiple of the largest concurrency measured."""

_DRAWS = 2000
_SEED = 20070101
_ROUNDS = 8
_HUBER = 2.0
_MIN_DF_FOR_WEIGHTS = 4
_NORMAL_MEDIAN = 0.6745  # median of |z| for a standard normal z
_NOT_BY_CHANCE = 0.01
_MISFIT = 0.02
_GREAT_MISFIT = 0.1
_TAILS = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval. ``high`` is infinite where nothing limits it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Scalability:
    """``rate`` is lambda in the unit of the values; ``contention`` is sigma and ``coherency`` kappa, plain.

    ``peak`` is the concurrency of the highest throughput, sqrt((1 - sigma) / kappa); None where no fall was
    seen (kappa = 0), where it would lie beyond twice the largest concurrency measured, or where the law does
    not fit. ``r_squared`` is the share of the variance of log throughput that the curve explains, and
    ``residual_sd`` the relative standard deviation around it.
    """

    rate: Estimate
    contention: Estimate
    coherency: Estimate
    peak: Estimate | None
    r_squared: float
    residual_sd: float
    does_not_fit: bool

    def throughput(self, concurrency: float) -> float:
        """Return the throughput of the fitted curve, in the unit of the values."""
        n = concurrency
        waiting = 1 + self.contention.value * (n - 1) + self.coherency.value * n * (n - 1)
        return self.rate.value * n / waiting


@dataclass(frozen=True, slots=True)
class _Fit:
    """``coefficients`` a, b, c with their ``covariance`` (3, 3) on ``df`` degrees of freedom.

    ``residuals`` (n) are logs of measured over fitted throughput, without the ``factors`` (sessions), logs.
    ``level`` (3) times a change of the coefficients is the relative change of the whole curve.
    """

    coefficients: Floats
    residuals: Floats
    covariance: Floats
    level: Floats
    factors: Floats
    df: int


def fit_scalability(
    concurrency: Sequence[float], values: Sequence[float], *, sessions: Sequence[Hashable] = ()
) -> Scalability | None:
    """Fit the law through n points: ``concurrency`` (n, from 1 up) and ``values`` (n, positive throughputs).

    ``sessions`` (n, or empty: every point is one of its own) names which points shared one boot or load of
    the data. None for fewer than five different concurrencies, for values that are not positive, and where
    sessions leave nothing to judge the scatter by. Raises ValueError where lengths differ.
    """
    n, x = np.asarray(concurrency, dtype=float), np.asarray(values, dtype=float)
    if len(n) != len(x) or (len(sessions) and len(sessions) != len(n)):
        raise ValueError("Concurrency, values and sessions must be of one length.")
    if len(np.unique(n)) < MIN_CONCURRENCIES or n.min() < 1 or x.min() <= 0 or not np.isfinite(x).all():
        return None
    members = _membership(sessions)
    if len(n) - 3 - max(members.shape[1] - 1, 0) < 1:
        return None
    design = np.column_stack((np.ones_like(n), n - 1, n * (n - 1)))
    free = _fit(design, n / x, members, is_limited=False)
    limited = _fit(design, n / x, members, is_limited=True)
    if limited.coefficients[0] <= 0:
        return None
    return _scalability(n, x, free, limited, does_not_fit=_does_not_fit(n, limited))


def _membership(sessions: Sequence[Hashable]) -> Bools:
    """Tell which point belongs to which session: (n, sessions), no column where none is known."""
    names = list(dict.fromkeys(sessions))
    cells = [one == name for one in sessions for name in names]
    return np.array(cells, dtype=bool).reshape(len(sessions), len(names))


def _fit(design: Floats, y: Floats, members: Bools, *, is_limited: bool) -> _Fit:
    """Fit by weighted least squares, weights and factors of sessions taken from the fit before."""
    count, sessions = len(y), members.shape[1]
    df = count - design.shape[1] - max(sessions - 1, 0)
    fitted, weights = y, np.ones(count)
    factors, common = np.zeros(sessions), np.zeros(count)
    for _ in range(_ROUNDS):
        scale = np.sqrt(weights) / fitted
        solve = nnls if is_limited else np.linalg.lstsq
        found = solve(design * scale[:, None], y * np.exp(common) * scale)
        coefficients = np.asarray(found[0], dtype=float)
        # Without the limit a wild curve may leave the positive numbers, where no logarithm follows.
        fitted = np.maximum(design @ coefficients, y / 10)
        residuals = np.log(fitted / y)
        if sessions > 1:
            factors = np.array([residuals[members[:, one]].mean() for one in range(sessions)])
            common = members @ (factors - factors.mean())
            residuals = residuals - common
        weights = _weights(residuals, df)
    rows = design / fitted[:, None]
    information = np.asarray(np.linalg.pinv(rows.T @ rows), dtype=float)
    covariance = _variance(residuals, weights, df) * information
    return _Fit(coefficients, residuals, covariance, rows.mean(axis=0), factors, df)


def _weights(residuals: Floats, df: int) -> Floats:
    """Return Huber's weights: 1 up to two robust sd, falling with the distance beyond. 1 for few points."""
    if df < _MIN_DF_FOR_WEIGHTS:
        return np.ones_like(residuals)
    distance = np.abs(residuals)
    spread = float(np.median(distance)) / _NORMAL_MEDIAN * float(np.sqrt(len(residuals) / df))
    return np.minimum(1, _HUBER * max(spread, MIN_SD) / np.maximum(distance, MIN_SD))


def _variance(residuals: Floats, weights: Floats, df: int) -> float:
    """Return the variance of one point: times (X'X)^-1 it is the covariance of the coefficients.

    Huber 1981, Robust statistics, section 7.6, with his correction for few points; the usual residual
    variance where no point lost weight.
    """
    full = float((weights >= 1).mean())
    correction = 1 + (len(residuals) - df) / len(residuals) * (1 - full) / full
    return max(float(((weights * residuals) ** 2).sum()) / df * (correction / full) ** 2, MIN_SD**2)


def _scalability(n: Floats, x: Floats, free: _Fit, limited: _Fit, *, does_not_fit: bool) -> Scalability:
    a, b, c = limited.coefficients
    rates, contentions, coherencies = _draws(free)
    rate, contention, coherency = (
        _estimate(float(value), draws)
        for value, draws in ((1 / a, rates), (b / a, contentions), (c / a, coherencies))
    )
    scatter = float((limited.residuals**2).sum())
    logs = np.log(x)
    return Scalability(
        rate=rate,
        contention=contention,
        coherency=coherency,
        peak=None if does_not_fit else _peak(contention, coherency, contentions, coherencies, n.max()),
        r_squared=max(0.0, 1 - scatter / total)
        if (total := float(((logs - logs.mean()) ** 2).sum()))
        else 0.0,
        residual_sd=float(np.sqrt(scatter / limited.df)),
        does_not_fit=does_not_fit,
    )


def _draws(fit: _Fit) -> tuple[Floats, Floats, Floats]:
    """Draw lambda, sigma and kappa as they might be, (draws) each."""
    rng = np.random.default_rng(_SEED)
    noise = rng.multivariate_normal(np.zeros(3), fit.covariance, _DRAWS, method="svd")
    level, df = np.zeros(_DRAWS), float(fit.df)
    if len(fit.factors) > 1:
        # The scatter of sessions holds all that moves the curve as a whole, and noise keeps its shape only.
        noise -= np.outer(noise @ fit.level, fit.coefficients)
        spread = float(fit.factors.std(ddof=1) / np.sqrt(len(fit.factors)))
        level = spread * rng.normal(size=_DRAWS)
        df = _welch_satterthwaite(
            (spread**2, float(np.var(noise[:, 0] / fit.coefficients[0]))), (len(fit.factors) - 1, fit.df)
        )
    a, b, c = (fit.coefficients + _scales(rng, fit.df)[:, None] * noise).T
    scales = _scales(rng, df)
    alone = fit.coefficients[0] + scales * noise[:, 0]
    least = np.finfo(float).tiny
    a, alone = np.maximum(a, least), np.maximum(alone, least)
    return np.exp(scales * level) / alone, np.maximum(b, 0) / a, np.maximum(c, 0) / a


def _scales(rng: np.random.Generator, df: float) -> Floats:
    """Draw by how much a standard deviation estimated with ``df`` degrees of freedom may be too small."""
    return np.sqrt(df / rng.chisquare(df, _DRAWS))


def _welch_satterthwaite(variances: tuple[float, float], df: tuple[int, int]) -> float:
    """Return the degrees of freedom of the sum of two estimated variances (Welch 1947)."""
    (first, second), (first_df, second_df) = variances, df
    return (first + second) ** 2 / (first**2 / first_df + second**2 / second_df)


def _estimate(value: float, draws: Floats) -> Estimate:
    low, high = np.percentile(draws, _TAILS, method="nearest")
    return Estimate(value, min(float(low), value), max(float(high), value))


def _peak(
    contention: Estimate, coherency: Estimate, contentions: Floats, coherencies: Floats, measured: float
) -> Estimate | None:
    if coherency.value <= 0:
        return None
    value = float(_peaks(np.array([contention.value]), np.array([coherency.value]))[0])
    return _estimate(value, _peaks(contentions, coherencies)) if value <= MAX_PEAK_RATIO * measured else None


def _peaks(contention: Floats, coherency: Floats) -> Floats:
    """Return the peaks: at least one client, infinitely many where nothing makes the curve fall."""
    squares = np.full_like(coherency, np.inf)
    np.divide(np.maximum(1 - contention, 0), coherency, out=squares, where=coherency > 0)
    return np.maximum(np.sqrt(squares), 1)


def _does_not_fit(n: Floats, fit: _Fit) -> bool:
    """Tell whether the means at each concurrency lie off the curve by more than repeats scatter.

    The F test of lack of fit (Draper & Smith 1998, Applied regression analysis, section 2.1), p < 0.01, for
    means that lie off by at least 2 %. Without repeats nobody can tell a bad fit from noise; points that lie
    off by more than 10 % are called a bad fit.
    """
    groups = [fit.residuals[n == one] for one in np.unique(n)]
    lack = sum(len(group) * float(group.mean()) ** 2 for group in groups)
    pure = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    lack_df = len(groups) - np.count_nonzero(fit.coefficients)
    pure_df = len(n) - len(groups) - max(len(fit.factors) - 1, 0)
    if pure_df < 1:
        return bool(np.sqrt((lack + pure) / fit.df) > _GREAT_MISFIT)
    least = max(pure / pure_df, MIN_SD**2)
    is_off = fdtrc(lack_df, pure_df, lack / lack_df / least) < _NOT_BY_CHANCE
    return bool(is_off and np.sqrt(lack / len(n)) > _MISFIT)
