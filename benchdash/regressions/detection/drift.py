"""Drift: a loss that came little by little, so that no single position is to blame.

The newest positions are looked at, 60 at most, in several lengths. A straight line is fitted to the logs
of the mean of all workloads, of each workload and of each series, which share the permitted false alarms as
in ``joint``. It is a drift where the slope stands out of correlated noise, where the line explains more than
steps do, and where a series that shows it by itself lost 3 % or more.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Final

import numpy as np

from benchdash.regressions.detection.compare import adjusted_p
from benchdash.regressions.detection.joint import Key, OrientedTable, oriented_table, searched_lines
from benchdash.regressions.detection.noise import Floats, Ints
from benchdash.regressions.detection.shifts import Values, as_array
from benchdash.results.readings import Direction

MIN_POSITIONS: Final = 20
MIN_LOSS: Final = 0.03
"""A smaller loss over the whole stretch is none to act on."""

_LENGTHS: Final = (60, 50, 40, 30, MIN_POSITIONS)
_FALSE_ALARM: Final = 1e-4
_MIN_Z: Final = 4.0
_MEMBER_BELOW: Final = 0.05
# A drift has ended where the newest positions, so many at least, lie level.
_MIN_REST: Final = 10
_STRIDE: Final = 5
_MAX_STEPS: Final = 4
# By so many variances a line must explain more than steps do.
_BEYOND_A_STEP: Final = 2.0


@dataclass(frozen=True, slots=True)
class Drift:
    """From the position ``first`` to ``last`` the logs of the series in ``changes`` moved so much, evenly."""

    first: int
    last: int
    changes: Mapping[Key, float]


def without_drifts(table: Mapping[Key, Values], drifts: Sequence[Drift]) -> dict[Key, Values]:
    """Return the series as they would be at the level before the drifts."""
    found = dict(table)
    for drift in drifts:
        for key in drift.changes.keys() & table.keys():
            values = as_array(found[key])
            found[key] = values * np.exp(
                -drift.changes[key] * share_of_drift(drift.first, drift.last, len(values))
            )
    return found


def share_of_drift(first: int, last: int, length: int) -> Floats:
    """Return how much of a drift has come by each position: 0 up to ``first``, 1 from ``last`` on."""
    return np.clip((np.arange(length) - first) / max(last - first, 1), 0, 1)


def find_drift(
    table: Mapping[Key, Values],
    directions: Mapping[Key, Direction],
    *,
    steps: Collection[int],
    expected: Collection[int] = (),
    since: int = 0,
    known: Drift | None = None,
    machine: Mapping[Hashable, Values],
    controls: Mapping[Key, Values],
) -> Drift | None:
    """Find the drift for the worse that the newest positions show, from ``since`` on.

    ``steps`` are the positions of confirmed changes; a drift may hide behind the newest four of them, but not
    behind one that was ``expected``. A ``known`` drift that goes on is found with its beginning. The other
    arguments are those of ``joint.find_joint_shifts``.
    """
    end = max(map(len, table.values()), default=0)
    since = max([since, *sorted(steps)[:-_MAX_STEPS]])
    if end - since < MIN_POSITIONS:
        return None
    begin = max(since, min(end - _LENGTHS[0], known.first if known else end) - MIN_POSITIONS)
    series = _newest(begin, table, machine, controls, directions)
    starts = np.array([start for length in _LENGTHS if (start := end - length - begin) >= 0])
    inside = [step - begin for step in sorted(steps) if step > begin]
    # Steps that were taken for what is a drift hide it from a look within their levels: few are tried first.
    certain = {step - begin for step in expected}.intersection(inside)
    for edges in chain.from_iterable(combinations(inside, number) for number in range(len(inside) + 1)):
        # If something else changed, a step is what it seems.
        if not certain.issubset(edges):
            continue
        if _falls(series, starts, edges) and (found := _stretch(series, edges, rivals=inside)):
            return Drift(begin + found.first, begin + found.last, found.changes)
    return None


def _newest(
    begin: int,
    table: Mapping[Key, Values],
    machine: Mapping[Hashable, Values],
    controls: Mapping[Key, Values],
    directions: Mapping[Key, Direction],
) -> OrientedTable:
    return oriented_table(
        {key: as_array(values[begin:]) for key, values in table.items()},
        {what: as_array(cost[begin:]) for what, cost in machine.items()},
        {key: as_array(values[begin:]) for key, values in controls.items()},
        directions,
    )


def _falls(series: OrientedTable, starts: Ints, edges: Sequence[int]) -> bool:
    """Tell whether a straight line, from one of ``starts`` to the end, falls by more than chance lets it."""
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    inner = np.array(edges, dtype=np.int64)
    for lines, tests in searched_lines(series):
        stack, typical = np.array([one.values for one in lines]), np.array([one.typical for one in lines])
        z = kernel.falls(stack, typical, starts, inner, MIN_POSITIONS, _MIN_Z) if lines else np.zeros(1)
        if kernel.normal_p(-float(z.min())) * tests < _FALSE_ALARM:
            return True
    return False


def _stretch(series: OrientedTable, edges: Sequence[int], rivals: Sequence[int]) -> Drift | None:
    """Return the ramp between two levels that explains most, and the series that show it by themselves.

    None where steps, those at ``rivals`` or another one, explain the mean of these series nearly as well.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    n = series.oriented.shape[1]
    ramps = _ramps(n)
    moments, squares = _moments(series.oriented, _shares(ramps, n), [0, *edges, n])
    best = int(_explained(moments, squares).sum(axis=1).argmax())
    moment, square = moments[best], squares[best]
    widened = [kernel.inflation(n, float(one)) for one in series.correlations]
    p = [kernel.normal_p(float(one)) for one in np.abs(moment) / np.sqrt(square * widened)]
    logs = moment / square * series.sds
    members = np.flatnonzero(
        (adjusted_p(np.array(p)) < _MEMBER_BELOW) & (logs <= np.log1p(-MIN_LOSS))
    ).tolist()
    if not members or _ramp(series, members, edges, rivals)[1] < _BEYOND_A_STEP:
        return None
    changes = {series.keys[one]: float(logs[one] * series.signs[one]) for one in members}
    return Drift(*ramps[best], changes)


def _ramp(
    series: OrientedTable, members: Sequence[int], edges: Sequence[int], rivals: Sequence[int]
) -> tuple[int, float]:
    """Return the ramp that explains most of the mean of some series, and how much more than steps it does.

    In variances. Beside the steps at ``edges`` it is held against another one, and against ``rivals``.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    n = series.oriented.shape[1]
    measured = np.isfinite(series.oriented[members])
    total = np.where(measured, series.oriented[members], 0).sum(axis=0, keepdims=True)
    number = measured.sum(axis=0, keepdims=True)
    mean = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    sd, rho = kernel.noise_of(mean[0, np.isfinite(mean[0])], float(series.typical[members].mean()))
    steps = [(first, first + 1) for first in range(n - 1)]
    ramps = _ramps(n)
    explained = _explained(*_moments(mean, _shares([*ramps, *steps], n), [0, *edges, n]))[:, 0]
    rival = float(explained[len(ramps) :].max())
    rival = max(rival, _left(mean[0], [0, *edges, n]) - _left(mean[0], [0, *rivals, n]))
    at = int(explained[: len(ramps)].argmax())
    return at, float(explained[at] - rival) / (sd**2 * kernel.inflation(n, rho))


def _ramps(n: int) -> list[tuple[int, int]]:
    """List the stretches of a drift among ``n`` positions; it may have ended some positions ago."""
    lasts = [n - 1, *range(n - 1 - _MIN_REST, MIN_POSITIONS, -_STRIDE)]
    return [(first, last) for last in lasts for first in range(last - MIN_POSITIONS + 2)]


def _shares(stretches: Sequence[tuple[int, int]], n: int) -> Floats:
    return np.array([share_of_drift(*stretch, n) for stretch in stretches])


def _explained(moments: Floats, squares: Floats) -> Floats:
    """Return the squared errors that stretches for the worse explain."""
    return np.where(moments < 0, moments**2 / squares, 0)


def _left(x: Floats, edges: Sequence[int]) -> float:
    """Return the squared errors within levels."""
    levels = (x[start:end][np.isfinite(x[start:end])] for start, end in pairwise(edges))
    return float(sum(level.var() * len(level) for level in levels if len(level)))


def _moments(lines: Floats, shares: Floats, edges: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the products of ``shares`` with each line and with themselves, within levels."""
    moments = np.zeros((len(shares), len(lines)))
    squares = np.full_like(moments, 1e-9)
    for start, end in pairwise(edges):
        x, share = lines[:, start:end], shares[:, start:end]
        there = np.isfinite(x)
        n = np.maximum(there.sum(axis=1), 1)
        mean = np.where(there, x, 0).sum(axis=1) / n
        moments += share @ np.where(there, x - mean[:, None], 0).T
        squares += share**2 @ there.T - (share @ there.T) ** 2 / n
    return moments, squares
