"""Where does a list of numbers change its level?

Exact penalised segmentation proposes, moderated tests decide:

1. The scale of the noise comes from successive differences (``noise.py``).
2. Optimal partitioning (Jackson et al. 2005, An algorithm for optimal partitioning of data on an interval) of
   the normalised numbers into levels of at least three points: squared error plus 3 log n for each level.
3. Backward elimination: the weakest boundary goes, its neighbours are placed anew, until every one left
   stands:
   - p n < 0.02, where p is a Welch test (1947) of the two neighbouring levels with moderated variances
     (Smyth 2004, Linear models and empirical Bayes methods), widened by the correlation of neighbours, and
     n the number of positions searched (Bonferroni), at least 50;
   - the step is at least the least effect asked for;
   - no straight line explains both levels as well, and the step stands (two standard errors) beside one:
     drift is not a step;
   - a level between two boundaries has lasted five points.
4. One or two newest points count when they lie outside the prediction interval of the level before them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from benchdash.regressions.detection.noise import Floats, Noise, estimate_noise, tame_outliers

FALSE_ALARM = 0.02
"""A new boundary must have p below this after correction for all positions searched."""

KEPT_BELOW = 0.01
"""A boundary known from an earlier look is not searched for, so its own p alone has to be below this."""

LASTING = 5
"""So many points make a level."""

SETTLED = 15
"""A known boundary is judged by so many points of its new level: what comes later is another story."""

_SHORTEST = 3
_FEWEST_SEARCHED = 50  # a short series is looked at after every point, and each look searches it anew
_PENALTY = 3.0
_BESIDE_LINE = 2.0  # standard errors
_PRIOR_DF = 10  # degrees of freedom that the common variance counts for beside a level's own

Ints = NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class Boundary:
    """Between points ``index - 1`` and ``index`` the level changes from [start, index) to [index, end).

    ``p`` is the test's own; ``corrected`` allows for all the positions searched and is at most 1.
    """

    start: int
    index: int
    end: int
    p: float
    corrected: float
    confirmed: bool


def find_boundaries(
    x: Floats,
    *,
    known: Collection[int] = (),
    expected: Collection[int] = (),
    least_sd: float,
    least_step: float,
    tests: float = 1,
) -> list[Boundary]:
    """The changes of level in ``x``, in order. No gaps are allowed; everything is in the unit of ``x``.

    ``known`` are indexes confirmed in an earlier look; they stay where they are and go only when their
    evidence is gone. ``expected`` are indexes at which something else is known to have changed: they are
    tested where they are, and since nobody searched for them, they are corrected for their own number only.
    ``tests`` is the number of series searched for the same thing, for the correction.
    """
    if len(x) <= _SHORTEST:
        return []
    tamed = tame_outliers(x)
    noise = estimate_noise(tamed)
    noise = Noise(max(noise.sd, least_sd), noise.correlation)
    fixed = {index for index in known if _SHORTEST <= index < len(x)}
    placed = {index for index in expected if _SHORTEST <= index < len(x)} - fixed
    judge = _Judge(_Sums(tamed), noise, fixed=fixed, expected=placed, least_step=least_step, tests=tests)
    edges = judge.eliminate(_candidates(tamed / noise.sd, fixed | placed))
    if gone := fixed.difference(edges):
        # What a search finds anew was not gone: without this, an opinion could change from look to look.
        return find_boundaries(
            x,
            known=fixed - gone,
            expected=expected,
            least_sd=least_sd,
            least_step=least_step,
            tests=tests,
        )
    found = judge.boundaries(edges, tamed)
    newest = None if found and len(x) - found[-1].index < LASTING else judge.newest(x, edges)
    return [*found, newest] if newest else found


def step_p(x: Floats, index: int, noise: Noise) -> float:
    """Two-sided p of a step between the levels x[:index] and x[index:], a position not searched for."""
    return _p_alone(_Sums(tame_outliers(x)), noise, 0, index, len(x))


class _Sums:
    """Prefix sums of a series: size, mean and squared residuals of any stretch [start, end) at once."""

    def __init__(self, x: Floats) -> None:
        self.n = len(x)
        centred = x - x.mean()
        self._offset = float(x.mean())
        self._x = _prefix(centred)
        self._xx = _prefix(centred**2)
        self._ix = _prefix(np.arange(len(x)) * centred)

    def mean(self, start: Ints, end: Ints) -> Floats:
        return np.asarray((self._x[end] - self._x[start]) / (end - start) + self._offset)

    def residual(self, start: Ints, end: Ints) -> Floats:
        """Squared residuals around the mean."""
        total = self._x[end] - self._x[start]
        return np.maximum(self._xx[end] - self._xx[start] - total**2 / (end - start), 0)

    def line_residual(self, start: Ints, end: Ints) -> Floats:
        """Squared residuals around the best straight line."""
        n = end - start
        middle = (start + end - 1) / 2
        moment = self._ix[end] - self._ix[start] - middle * (self._x[end] - self._x[start])
        return np.maximum(self.residual(start, end) - moment**2 / (n * (n**2 - 1) / 12), 0)

    def step_beside_line(self, start: Ints, index: Ints, end: Ints) -> Floats:
        """The step at ``index`` over its standard error, in a regression on constant, line and step.

        For noise of standard deviation 1; divide by the noise. Frisch & Waugh 1933: what a line explains is
        taken out of the step itself, and ``squares`` is what is left of it.
        """
        n, after = end - start, end - index
        middle = (start + end - 1) / 2
        line_squares = n * (n**2 - 1) / 12
        share = after / n
        slope = after * (index - start) / 2 / line_squares
        squares = after * (1 - share) - slope**2 * line_squares
        total = self._x[end] - self._x[start]
        moment = self._ix[end] - self._ix[start] - middle * total
        step = self._x[end] - self._x[index] - share * total - slope * moment
        return np.asarray(step / np.sqrt(np.maximum(squares, 1e-9)))

    def best_split(self, start: int, end: int) -> int:
        """The index that parts [start, end) into the two levels with the least squared residuals."""
        index = np.arange(start + _SHORTEST, end - _SHORTEST + 1)
        left, right = np.full_like(index, start), np.full_like(index, end)
        return int(index[np.argmin(self.residual(left, index) + self.residual(index, right))])


class _Judge:
    """Decides which of the proposed boundaries stand."""

    def __init__(
        self,
        sums: _Sums,
        noise: Noise,
        *,
        fixed: Collection[int],
        expected: Collection[int],
        least_step: float,
        tests: float,
    ) -> None:
        self._sums = sums
        self._noise = noise
        self._fixed = fixed
        self._expected = expected
        self._least_step = least_step
        self._tests = tests
        self._searched = max(sums.n, _FEWEST_SEARCHED) * tests

    def eliminate(self, indexes: list[int]) -> list[int]:
        """The indexes that stand, between 0 and n: the weakest goes first, its neighbours are placed anew."""
        edges = [0, *indexes, self._sums.n]
        while len(edges) > 2:
            p = self._p_values(edges)
            failing = np.flatnonzero(self._fails(edges, p))
            if not len(failing):
                break
            weakest = int(failing[np.argmax(p[failing])]) + 1
            del edges[weakest]
            for neighbour in (weakest - 1, weakest):
                self._place_anew(edges, neighbour)
        return edges

    def boundaries(self, edges: list[int], x: Floats) -> list[Boundary]:
        if len(edges) == 2:
            return []
        p = self._p_values(edges)
        return [
            Boundary(
                start=start,
                index=index,
                end=end,
                p=float(own),
                corrected=min(1.0, float(own) * self._times_searched(index)),
                confirmed=index in self._fixed or end < self._sums.n or _is_there(x, start, index),
            )
            for start, index, end, own in zip(edges, edges[1:], edges[2:], p, strict=False)
        ]

    def newest(self, x: Floats, edges: list[int]) -> Boundary | None:
        """One or two newest points outside the prediction interval of the level before, outliers included."""
        start = edges[-2]
        if len(x) - start < LASTING + 1:
            return None
        sums = _Sums(x)
        choices = [index for index in (len(x) - 2, len(x) - 1) if index - start >= LASTING]
        p, index = min((_p_alone(sums, self._noise, start, index, len(x)), index) for index in choices)
        step = abs(x[index:].mean() - x[start:index].mean())
        if self._corrected(p) >= FALSE_ALARM or step < self._least_step:
            return None
        return Boundary(start, index, len(x), p, self._corrected(p), confirmed=False)

    def _corrected(self, p: float) -> float:
        return min(1.0, p * self._searched)

    def _times_searched(self, index: int) -> float:
        if index in self._fixed:
            return 1
        return len(self._expected) * self._tests if index in self._expected else self._searched

    def _sides(self, edges: list[int]) -> tuple[Ints, Ints, Ints]:
        """Of each inner edge: start of the old level, index and end of the new, as far as they are judged."""
        edge = np.array(edges)
        start, index, end = edge[:-2], edge[1:-1], edge[2:]
        known = np.isin(index, list(self._fixed))
        return start, index, np.where(known, np.minimum(end, index + SETTLED), end)

    def _p_values(self, edges: list[int]) -> Floats:
        """Two-sided p of each inner edge: are the levels on its two sides the same?

        A known boundary is judged by its own two sides alone, so that its evidence does not fade with time.
        """
        edge = np.array(edges)
        df = max(self._sums.n - len(edges) + 1, 1)
        common = float(self._sums.residual(edge[:-1], edge[1:]).sum()) / df
        start, index, end = self._sides(edges)
        p = _p_values(self._sums, self._noise, start, index, end, common=common, df=df)
        for i in np.flatnonzero(np.isin(index, list(self._fixed))):
            p[i] = _p_alone(self._sums, self._noise, int(start[i]), int(index[i]), int(end[i]))
        return p

    def _fails(self, edges: list[int], p: Floats) -> NDArray[np.bool_]:
        start, index, end = self._sides(edges)
        fixed = np.isin(index, list(self._fixed))
        searched = np.array([self._times_searched(i) for i in edges[1:-1]])
        limit = np.where(fixed, KEPT_BELOW, FALSE_ALARM / searched)
        step = np.abs(self._sums.mean(index, end) - self._sums.mean(start, index))
        lasted = np.diff(edges) >= LASTING
        passing = np.zeros(len(p), dtype=bool)
        passing[1:] |= ~lasted[1:-1]
        passing[:-1] |= ~lasted[1:-1]
        # Drift explains a step that was searched for, not one at a place where something changed.
        searched_for = ~np.isin(index, [*self._fixed, *self._expected])
        drifting = self._drifts(start, index, end) & searched_for
        return np.asarray((p >= limit) | (step < self._least_step) | drifting | passing)

    def _drifts(self, start: Ints, index: Ints, end: Ints) -> NDArray[np.bool_]:
        """Does a straight line explain both levels as well as the step, or leave nothing of the step?"""
        stepped = self._sums.residual(start, index) + self._sums.residual(index, end)
        shorter = np.minimum(index - start, end - index)
        error = self._noise.sd * np.sqrt(self._noise.variance_inflation(shorter))
        beside_line = np.abs(self._sums.step_beside_line(start, index, end))
        as_well = self._sums.line_residual(start, end) < stepped
        return np.asarray(as_well | (beside_line < _BESIDE_LINE * error))

    def _place_anew(self, edges: list[int], position: int) -> None:
        stays = edges[position] in self._fixed or edges[position] in self._expected
        if 0 < position < len(edges) - 1 and not stays:
            edges[position] = self._sums.best_split(edges[position - 1], edges[position + 1])


def _p_values(
    sums: _Sums, noise: Noise, start: Ints, index: Ints, end: Ints, *, common: float, df: int
) -> Floats:
    """Two-sided p of each step between the levels [start, index) and [index, end).

    The variance of a level is shrunk towards ``common``, the variance within all levels, known with ``df``
    degrees of freedom and never below the noise from successive differences.
    """
    common = max(common, noise.sd**2)

    def mean_variance(start: Ints, end: Ints) -> tuple[Floats, Ints]:
        n = end - start
        variance = (_PRIOR_DF * common + sums.residual(start, end)) / (_PRIOR_DF + n - 1)
        return variance / n * noise.variance_inflation(n), np.minimum(_PRIOR_DF + n - 1, df)

    old, old_df = mean_variance(start, index)
    new, new_df = mean_variance(index, end)
    return _welch(sums.mean(index, end) - sums.mean(start, index), old, new, old_df, new_df)


def _p_alone(sums: _Sums, noise: Noise, start: int, index: int, end: int) -> float:
    """The same for one step, with nothing known but its two sides and the noise."""
    sides = np.array([start]), np.array([index]), np.array([end])
    df = max(end - start - 2, 1)
    common = float((sums.residual(sides[0], sides[1]) + sums.residual(sides[1], sides[2]))[0]) / df
    return float(_p_values(sums, noise, *sides, common=common, df=df)[0])


def _candidates(x: Floats, fixed: Collection[int]) -> list[int]:
    """Boundaries of the best partition of each stretch between fixed ones, and the fixed ones."""
    edges = [0, *sorted(fixed), len(x)]
    penalty = _PENALTY * float(np.log(len(x)))
    inner = [start + index for start, end in pairwise(edges) for index in _partition(x[start:end], penalty)]
    return sorted({*inner, *fixed})


def _partition(x: Floats, penalty: float) -> list[int]:
    """The indexes that minimise squared error plus ``penalty`` for each level of at least three points."""
    n = len(x)
    if n < 2 * _SHORTEST:
        return []
    sums = _prefix(x)
    count = np.arange(n + 1, dtype=float)
    # cost of the best partition of x[:i], less the sum of squares so far, which all candidates share
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    last = np.zeros(n + 1, dtype=int)
    for end in range(_SHORTEST, n + 1):
        starts = end - _SHORTEST + 1
        cost = sums[end] - sums[:starts]
        cost *= cost
        cost /= count[end] - count[:starts]
        np.subtract(best[:starts], cost, out=cost)
        last[end] = cost.argmin()
        best[end] = cost[last[end]] + penalty
    indexes = []
    end = int(last[n])
    while end > 0:
        indexes.append(end)
        end = int(last[end])
    return indexes[::-1]


def _welch(step: Floats, left: Floats, right: Floats, left_df: Ints, right_df: Ints) -> Floats:
    """Two-sided p for a difference of two means with these variances (Welch-Satterthwaite)."""
    variance = left + right
    df = variance**2 / (left**2 / left_df + right**2 / right_df)
    return np.asarray(2 * stdtr(df, -np.abs(step) / np.sqrt(variance)))


def _is_there(x: Floats, start: int, index: int) -> bool:
    """Has the newest level lasted five points, and are its last three nearer to it than to the one before?"""
    if len(x) - index < LASTING:
        return False
    before, after, newest = np.median(x[start:index]), np.median(x[index:]), np.median(x[-3:])
    return bool(abs(newest - after) < abs(newest - before))


def _prefix(x: Floats) -> Floats:
    return np.concatenate(([0.0], np.cumsum(x)))
