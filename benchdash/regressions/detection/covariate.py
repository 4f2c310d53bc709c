"""Takes out of a series what the speed of the machine explains.

On a shared or throttled machine every cost goes up and down together. The client does the same for every
operation whatever the server does, so its own CPU time per operation measures the machine and not the
server. It is a covariate (analysis of covariance: Fisher 1932; as a way to less noise: Deng et al. 2013,
Improving the sensitivity of online controlled experiments by utilizing pre-experiment data). The slope comes
from differences of neighbours, as the noise does: a change of level touches one of them only.
"""

import numpy as np

from benchdash.regressions.detection.noise import Floats

_MIN_POINTS = 12
_MAX_SLOPE = 2.0
_CLIPPED_AT = 4.0  # median absolute differences
_WORTH = 0.8


def without_machine(values: Floats, cost: Floats | None) -> Floats:
    """Return values as they would be at the machine's usual speed; both in one length, NaN where nothing is.

    log value - slope x (log cost - its median). Unchanged where fewer than twelve points have both, or where
    the noise gets less by less than a fifth. A point without a cost stays as it is.
    """
    if cost is None:
        return values
    both = np.isfinite(values) & np.isfinite(cost) & (values > 0) & (cost > 0)
    if both.sum() < _MIN_POINTS:
        return values
    x, c = np.log(values[both]), np.log(cost[both])
    dx, dc = np.diff(x), np.diff(c)
    usual = np.abs(dx) <= _CLIPPED_AT * np.median(np.abs(dx))
    squares = float((dc[usual] ** 2).sum())
    if squares == 0:
        return values
    slope = float(np.clip((dx[usual] * dc[usual]).sum() / squares, -_MAX_SLOPE, _MAX_SLOPE))
    if np.median(np.abs(dx - slope * dc)) > _WORTH * np.median(np.abs(dx)):
        return values
    adjusted = values.copy()
    adjusted[both] = np.exp(x - slope * (c - np.median(c)))
    return adjusted
