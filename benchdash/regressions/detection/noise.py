"""How much a series scatters when nothing changes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

Floats = NDArray[np.float64]

LEAST_SD = 0.001
"""No measured series is trusted to scatter less than 0.1 %."""

TYPICAL_CORRELATION = 0.3
"""Correlation of neighbouring runs at one level, median of our measured sysbench series."""

CORRELATION_WEIGHT = 100
"""The typical correlation counts as much as so many points: a short series says little about its own."""

SCALES: Floats = np.array([10.0**digits for digits in range(10)])
"""Up to nine decimals are printed."""

MOST_DIGITS = 1e10
"""A digit behind so many is worth nothing."""

_NORMAL_MEDIAN = 0.6745  # median of |z| for a standard normal z
_WINDOW = 7
_OUTLYING = 4.0
_FEW = 0.08


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviation of one point and correlation of neighbouring points, both at an unchanged level."""

    sd: float
    correlation: float

    def variance_inflation(self, n: NDArray[np.int_]) -> Floats:
        """By how much correlation widens the variance of a mean of ``n`` points (1 without correlation).

        1 + 2 sum_{k<n} (1 - k/n) rho^k in closed form, for a first-order autoregression
        (Bayley & Hammersley 1946, The "effective" number of independent observations).
        """
        rho = self.correlation
        return (1 + rho) / (1 - rho) - 2 * rho * (1 - rho**n) / (n * (1 - rho) ** 2)


def estimate_noise(x: Floats) -> Noise:
    """The noise of a series of at least two points from differences of points 1 to 3 apart.

    A change of level touches few differences, so steps hardly matter (von Neumann 1941). Half the mean
    squared difference at lag k estimates sd^2 (1 - rho^k); large ones are clipped at three times their
    median scale.
    """
    nearest = _half_squared_difference(x, lag=1)
    correlation = TYPICAL_CORRELATION
    if len(x) > _WINDOW and nearest > 0:
        own = _autoregression(
            second=_half_squared_difference(x, lag=2) / nearest,
            third=_half_squared_difference(x, lag=3) / nearest,
        )
        weight = len(x) / (len(x) + CORRELATION_WEIGHT)
        correlation = weight * own + (1 - weight) * TYPICAL_CORRELATION
    return Noise(sd=float(np.sqrt(nearest / (1 - correlation))), correlation=correlation)


def tame_outliers(x: Floats) -> Floats:
    """The series with isolated outliers, beyond 4 robust sd of a running median of 7, put on that median.

    Only where they are few: more than 8 % of the points are a second mode of what is measured, not outliers.
    """
    if len(x) < _WINDOW:
        return x
    level = median_filter(x, size=_WINDOW, mode="mirror")
    distance = np.abs(x - level)
    outlying = distance > _OUTLYING * max(float(np.median(distance)) / _NORMAL_MEDIAN, LEAST_SD)
    return np.where(outlying, level, x) if outlying.mean() <= _FEW else x


def rounding_sd(values: Floats) -> float:
    """The least standard deviation, relative to the median, that the printed digits allow.

    A latency printed as 0.03 may move to 0.04 because of 1 % of speed. Half of the last printed digit is
    taken (uniform rounding would be 0.29 of it), so that a jump of one digit is no change until it has
    lasted.
    """
    first = float(values[0])
    for scale in SCALES.tolist():
        if first * scale > MOST_DIGITS:
            break
        # The first number rules out nearly every scale of what was not printed.
        if abs(first * scale - round(first * scale)) > 1e-6 + 1e-12 * first * scale:
            continue
        if _is_whole(values * scale).all():
            return float(0.5 / scale / np.median(values))
    return 0.0


def is_printed(values: Floats) -> NDArray[np.bool_]:
    """Shape (values, SCALES): whether so many decimals write the value."""
    return _is_whole(np.outer(values, SCALES))


def _is_whole(scaled: Floats) -> NDArray[np.bool_]:
    digits = np.round(scaled)
    return (np.abs(scaled - digits) <= 1e-6 + 1e-12 * digits) & (digits >= 1)


def _half_squared_difference(x: Floats, *, lag: int) -> float:
    difference = np.abs(x[lag:] - x[:-lag])
    typical = float(np.median(difference)) / _NORMAL_MEDIAN
    if typical > 0:
        difference = np.minimum(difference, 3 * typical)
    return float(np.mean(difference**2)) / 2


def _autoregression(*, second: float, third: float) -> float:
    """rho from the ratios (1 - rho^2) / (1 - rho) = 1 + rho and (1 - rho^3) / (1 - rho) = 1 + rho + rho^2."""
    from_second = second - 1
    from_third = np.sqrt(max(0.0, third - 0.75)) - 0.5
    return float(np.clip((from_second + from_third) / 2, 0, 0.8))
