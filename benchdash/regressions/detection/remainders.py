"""The part of a loss that is left after a step back, tested over all series that had lost.

Series that are measured in one night share its mood, so it is the means of nights that are held against each
other: the scatter of these means, and the correlation of neighbours, has the mood in it.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchdash.regressions.detection.noise import MIN_SD, Bools, Floats

LEFT_BELOW: Final = 0.01
"""Something is left of a loss where p is below this ..."""
GONE_ABOVE: Final = 0.1
"""... and until it is above this, so that one night more does not change what is told."""
MIN_BEFORE: Final = 5
MIN_AFTER: Final = 3
_MIN_SHARE: Final = 0.5
"""The share of the series without which a night has no mean: few series have another scatter than all."""


@dataclass(frozen=True, slots=True)
class Remainder:
    """``change`` of speed is left, in the mean; two equal levels differ by as much with ``p``, two-sided."""

    change: float
    p: float

    def is_certain(self, *, was_told: bool) -> bool:
        return self.p < (GONE_ABOVE if was_told else LEFT_BELOW)


def remainder_of(logs: Floats, nights_before: int, headline: Bools) -> Remainder | None:
    """Hold the level after a step back against that before the loss; None for too few nights.

    ``logs`` are series x nights, of speed (more is better), NaN where nothing was measured; the first
    ``nights_before`` nights are those before the loss, and the others those after the step back. All series
    are tested together; the change is that of the ``headline`` ones.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    measured = np.isfinite(logs)
    before, after = measured[:, :nights_before].sum(axis=1), measured[:, nights_before:].sum(axis=1)
    told = (before >= MIN_BEFORE) & (after >= MIN_AFTER)
    if not (told & headline).any():
        return None
    own = logs[told] - np.nanmean(logs[told, :nights_before], axis=1, keepdims=True)
    nights = np.flatnonzero(measured[told].mean(axis=0) >= _MIN_SHARE)
    means = np.nanmean(own[:, nights], axis=0)
    index = int((nights < nights_before).sum())
    if index < MIN_BEFORE or len(means) - index < MIN_AFTER:
        return None
    edges = np.array([0, index, len(means)])
    sd, correlation = kernel.noise_within(means, edges, kernel.TYPICAL_CORRELATION)
    p = kernel.step_p(means, index, max(sd, MIN_SD), correlation)
    step = float(means[index:].mean() - means[:index].mean())
    left = float(np.nanmean(own[headline[told], nights_before:]))
    # A level above the old one, by all series or by the headline, leaves nothing of the loss.
    return Remainder(math.expm1(left), float(p) if step < 0 else 1.0)
