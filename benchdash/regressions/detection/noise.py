"""Arrays of numbers, and how little they are trusted to scatter."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MIN_SD = 0.001
"""No measured series is trusted to scatter less than 0.1 %."""

SCALES: Floats = np.array([10.0**digits for digits in range(10)])
"""Up to nine decimals are printed."""

MAX_DIGITS = 1e10
"""Numbers with more digits than this are not taken for printed ones."""


def is_printed(values: Floats) -> Bools:
    """Tell which numbers of decimals suffice to write each value; shape (values, SCALES)."""
    scaled = np.outer(values, SCALES)
    digits = np.round(scaled)
    return (np.abs(scaled - digits) <= 1e-6 + 1e-12 * digits) & (digits >= 1)
