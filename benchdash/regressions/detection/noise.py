"""How little a series is trusted to scatter."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIN_SD = 0.001
"""No measured series is trusted to scatter less than 0.1 %."""

SCALES: Floats = np.array([10.0**digits for digits in range(10)])
"""Up to nine decimals are printed."""

MAX_DIGITS = 1e10
"""A digit behind so many is worth nothing."""


def rounding_sd(values: Floats) -> float:
    """The least standard deviation, relative to the median, that the printed digits allow.

    A latency printed as 0.03 may move to 0.04 because of 1 % of speed. Half of the last printed digit is
    taken (uniform rounding would be 0.29 of it), so that a jump of one digit is no change until it has
    lasted.
    """
    first = float(values[0])
    for scale in SCALES.tolist():
        if first * scale > MAX_DIGITS:
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
