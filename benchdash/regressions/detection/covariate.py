"""Takes out of a series what the speed of the machine explains.

On a shared or throttled machine every cost goes up and down together. Two witnesses tell of it and have no
part in what is judged: a control, a server that never changes and runs the same workload in the same
session, and the client, which does the same for every operation whatever the server does, so that its CPU
time per operation measures the machine. They are covariates (analysis of covariance: Fisher 1932; as a way to
less noise: Deng et al. 2013, Improving the sensitivity of online controlled experiments by utilizing
pre-experiment data). Slopes come from differences of neighbours, as the noise does: a change of level touches
one of them only.
"""

from collections.abc import Collection

import numpy as np

from benchdash.regressions.detection.noise import Floats, Ints

SERVER_COST = "server_cpu_per_op"
"""The metric that tells how much CPU time the server spends on an operation."""

_MIN_POINTS = 12
_MAX_SLOPE = 2.0
_CLIPPED_AT = 4.0  # median absolute differences
_WORTH = 0.8

_LEAST_SQUARES = 1e-12
_SLOPES_OF_RATIO: Floats = np.array([1.0, 0.0])
"""On a series' own control, and on the mean of all controls."""


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
    usual = _usual(dx)
    squares = float((dc[usual] ** 2).sum())
    if squares == 0:
        return values
    slope = float(np.clip((dx[usual] * dc[usual]).sum() / squares, -_MAX_SLOPE, _MAX_SLOPE))
    if np.median(np.abs(dx - slope * dc)) > _WORTH * np.median(np.abs(dx)):
        return values
    adjusted = values.copy()
    adjusted[both] = np.exp(x - slope * (c - np.median(c)))
    return adjusted


def relative_to_control(values: Floats, control: Floats | None, machine: Floats) -> Floats:
    """Return values as they would be at the machine's usual speed, as the controls measured it.

    ``control`` is the same metric of the same workload on the control, ``machine`` is what all controls say,
    in logs (``mean_of_controls``); it stands in where there is no such control. Both are noisy, which draws a
    fitted slope to nothing and would leave a part of the machine's slow waves in the series. So the slopes
    are drawn to those of the plain ratio, as if half of the points said so (ridge regression: Hoerl and
    Kennard 1970). A point without a control stays as it is, as does everything where fewer than twelve points
    have one.
    """
    x, own = logs(values), machine if control is None else logs(control)
    both = np.isfinite(x) & np.isfinite(own) & np.isfinite(machine)
    if both.sum() < _MIN_POINTS:
        return values
    x, covariates = x[both], np.array([own[both] - np.median(own[both]), machine[both]])
    dx, dc = np.diff(x), np.diff(covariates, axis=1)
    left = dx - _SLOPES_OF_RATIO @ dc
    usual = _usual(left)
    squares = dc[:, usual] @ dc[:, usual].T
    drawn = squares + np.diag(np.maximum(np.diag(squares), _LEAST_SQUARES))
    together = dc[:, usual] @ left[usual]
    # The control's own noise, about half of what the ratio has, is no sign of a smaller slope.
    together[0] += (left[usual] ** 2).sum() / 2
    slopes = _SLOPES_OF_RATIO + np.linalg.solve(drawn, together)
    adjusted = values.copy()
    adjusted[both] = np.exp(x - np.clip(slopes, -_MAX_SLOPE, _MAX_SLOPE) @ covariates)
    return adjusted


def mean_of_controls(oriented: Collection[Floats]) -> Floats:
    """Return how fast the machine was, in logs around its usual speed: the mean of all controls.

    ``oriented`` are logs of equal length that are larger where the machine is faster, NaN where nothing is.
    """
    centred = np.array([one - np.median(one[np.isfinite(one)]) for one in oriented if np.isfinite(one).any()])
    present = np.isfinite(centred)
    count = present.sum(axis=0)
    return np.where(count > 0, np.where(present, centred, 0).sum(axis=0) / np.maximum(count, 1), np.nan)


def logs(values: Floats) -> Floats:
    """Return logs, NaN where there is no positive number."""
    return np.log(np.where(np.isfinite(values) & (values > 0), values, np.nan))


def _usual(differences: Floats) -> Ints:
    """Leave out far differences: they are changes of level or outliers."""
    return np.flatnonzero(np.abs(differences) <= _CLIPPED_AT * np.median(np.abs(differences)))
