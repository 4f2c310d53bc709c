"""Shifts in one series of positive numbers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchdash.regressions.detection.levels import find_boundaries
from benchdash.regressions.detection.noise import MIN_SD, Floats

State = Literal["suspected", "confirmed"]
Values = Sequence[float | None] | Floats

MIN_EFFECT = 0.005
"""Changes below 0.5 % are not worth telling."""


@dataclass(frozen=True, slots=True)
class Family:
    """The evidence of the other series of a place, where a history is too short to know its own noise.

    ``noise`` is the relative sd of one session at one level, ``low`` and ``high`` hold the new level with
    95 % if nothing changed, and ``series`` were looked at. They are None where there was one session of each
    level, so that nothing tells how much sessions scatter.
    """

    noise: float | None
    low: float | None
    high: float | None
    series: int


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of level: ``index`` is the first point of the new level.

    ``before`` and ``after`` are the medians of the two levels in the metric's own unit, ``change`` is after
    / before - 1. Of events that are counted they are rates, and ``change`` is None, because 0 has no per
    cent.

    ``confidence`` is the share of changes told with it that are true: of those that were searched for, by a
    fit to synthetic series (``levels``). For one or two newest points and for a known place it is 1 less
    the p of their test, corrected for the places searched; it is None where one session on each side cannot
    tell it. ``family`` is set where the noise is that of other series (``releases``). ``began`` are the first
    and the last index at which it may have begun (``onsets``), None where only ``index`` is known.
    """

    index: int
    before: float
    after: float
    change: float | None
    confidence: float | None
    state: State
    family: Family | None = None
    began: tuple[int, int] | None = None


def find_shifts(
    values: Values, *, known: Collection[int] = (), min_effect: float = MIN_EFFECT
) -> list[Shift]:
    """Find the changes of level in a series, in order; see ``levels`` for how.

    Works on logs, so that all is relative. NaN, None, infinite and negative values are gaps. Zero counts as
    far below the smallest positive value (a run that failed); a rise from a level of zero has no per cent
    and is not reported. A shift is confirmed when five points have followed and the newest are still there,
    else suspected.

    ``known`` are indexes confirmed in an earlier look: they keep their place and stay until their own
    evidence is gone (p >= 0.01 without correction), so that an opinion does not flicker from look to look.
    """
    numbers = as_array(values)
    usable = np.flatnonzero(np.isfinite(numbers))
    present = numbers[usable]
    if not present.any():
        return []
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    boundaries = find_boundaries(
        logs(present),
        known=[int(np.searchsorted(usable, index)) for index in known],
        min_sd=max(MIN_SD, kernel.rounding_sd(present[present > 0])),
        min_step=float(np.log1p(min_effect)),
    )
    return [
        Shift(
            index=int(usable[one.index]),
            before=before,
            after=after,
            change=after / before - 1,
            confidence=1 - one.doubt,
            state="confirmed" if one.confirmed else "suspected",
        )
        for one in boundaries
        if (before := kernel.median(present[one.start : one.index])) > 0
        for after in [kernel.median(present[one.index : one.end])]
    ]


def as_array(values: Values) -> Floats:
    """Return the values as floats, NaN wherever there is no usable number: None, infinite, negative."""
    if isinstance(values, np.ndarray):
        numbers = values.astype(float)
    else:
        numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    numbers[~np.isfinite(numbers) | (numbers < 0)] = np.nan
    return numbers


def logs(values: Floats) -> Floats:
    """Take logs of values that are not negative; zero is put at a tenth of the smallest positive value."""
    smallest = values[values > 0].min()
    return np.asarray(np.log(np.maximum(values, smallest / 10)))
