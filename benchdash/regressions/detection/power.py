"""How small a change may be and still be found: the rule of ``levels``, read backwards.

A change counts once the normal deviate of its test exceeds the bar for the places searched. What exceeds it
in eight of ten cases is the step at which the test stands at the bar, and 0.84 standard errors more, times
an allowance that was measured (``benchmarks.power``): the step widens the very noise that it is held against,
and a drift is no step. That is of a series alone; what several series share is found where it is smaller.
"""

import math
from typing import Final

from scipy.special import ndtr, ndtri, stdtrit

from benchdash.regressions.detection.levels import LASTING, TYPICAL_STEP
from benchdash.regressions.detection.repeats import Scatter
from benchdash.regressions.detection.shifts import MIN_EFFECT

POWER: Final = 0.8
"""The share of changes that are found, of those called large enough to be."""

FOUND_WITHIN: Final = LASTING
"""Groups at the new level by which they are found."""

MIN_BEFORE: Final = 20
"""Fewer groups at the level before know too little of their own noise; sensitivity is told as of then."""

_ALLOWANCE = 1.3


def smallest_change(scatter: Scatter, *, before: int, length: int, tests: float) -> float:
    """Return the relative size of a loss that is found in eight of ten cases, within five groups.

    ``before`` of the ``length`` groups lie at the level before it; ``tests`` is as of
    ``levels.find_boundaries``.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    sd, rho, after = scatter.group, scatter.correlation, FOUND_WITHIN
    before = max(before, MIN_BEFORE)
    old, new = (kernel.inflation(float(n), rho) / n for n in (before, after))
    error = math.sqrt(old + new)
    places = max(float(length + after), kernel.MIN_SEARCHED) * tests
    needed = kernel.bar(places, error, TYPICAL_STEP / sd) + kernel.tail_needs(before, after)
    z = math.sqrt(max(needed, kernel.MIN_EVIDENCE))
    most_df = before + after - 2
    old_df, new_df = (min(kernel.PRIOR_DF + n - 1, most_df) for n in (before, after))
    df = (old + new) ** 2 / (old * old / old_df + new * new / new_df)
    at_the_bar = float(-stdtrit(df, float(ndtr(-z))))
    step = _ALLOWANCE * (at_the_bar + float(ndtri(POWER))) * error * sd
    return max(-math.expm1(-step), MIN_EFFECT)
