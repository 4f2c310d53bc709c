"""The beginnings of the series of a joint shift: all at one position, or at several a few positions apart.

Each series is a step from one level to another, plus what all series of a position share (the mood of the
machine that night), plus noise of its own. The more likely this makes what was measured, the likelier is the
position of the step; one value counts up to four standard deviations.

- Two positions explain the series better than one where that is a hundred times likelier, the number of ways
  to place the two and to deal the series out to them included (a Bayes factor: Kass & Raftery 1995). Chance
  alone shows such odds in at most one of a hundred cases, however many series there are.
- A shift may have begun wherever it is at most 500 times less likely than at the best position. A random
  walk with the drift of such a likelihood climbs that high in 0.2 % on each side; the rest of 2 % is for
  levels and noise, which are estimated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchdash.regressions.detection.levels import LASTING
from benchdash.regressions.detection.noise import Floats, Ints

_MIN_ODDS: Final = math.log(100)
_UNLIKELY: Final = math.log(500)
_FAR: Final = 4.0
_REACH: Final = 2 * LASTING
_MIN_APART: Final = 2
# A search puts a level within so many positions; its own place stays in the range then, whatever is likely.
_NEAR: Final = 2
# Positions on each side that tell the two levels; those further off may have drifted.
_AROUND: Final = 20
_MIN_SD: Final = 1e-6
# Shares of the variance of a series: the least of its own, and that which it shares with others.
_MIN_OWN: Final = 0.1
_MIN_MOOD: Final = 0.01
_ROUNDS: Final = 3
# Positions that the share of the variance which is common counts for.
_PRIOR_DF: Final = 4.0
_NORMAL_MEDIAN: Final = 0.6745


@dataclass(frozen=True, slots=True)
class Onset:
    """The series in ``rows`` moved at ``index``; it may have been anywhere from ``first`` to ``last``."""

    index: int
    first: int
    last: int
    rows: Ints


def find_onsets(
    oriented: Floats,
    sds: Floats,
    weights: Floats,
    moved: Ints,
    steady: Ints,
    *,
    window: tuple[int, int],
    leads: Sequence[int],
    may_part: bool,
) -> list[Onset]:
    """Deal out the rows that ``moved`` to the positions where they did; those that are ``steady`` did not.

    ``oriented`` are series x positions, in units of the noise of each (``sds``, in logs), and rows of one
    workload share their ``weights`` of one. The search is around the ``leads``, where a shift was found,
    within the levels in ``window``. A lead stays where it is while it is likely, or near what is: what people
    saw moves no more than it must. Where what moved is parted (if it ``may_part``), only likely leads stay.
    """
    if not len(moved):
        return []
    low, high = min(leads), max(leads)
    start, end = max(window[0], low - _AROUND), min(window[1], high + _AROUND)
    places = np.arange(max(start + 1, low - _REACH), min(end, high + _REACH + 1))
    rows = np.concatenate((moved, steady))
    x = oriented * sds[:, None]
    mood, own = _variances(x, sds, weights)
    fit = _Fit(x[rows, start:end], weights[rows], own * sds[rows] ** 2, mood, len(moved), places - start)
    at_leads = 1 + np.searchsorted(places, leads)
    is_near = (places >= low - LASTING) & (places <= high + LASTING) & may_part
    everything = np.arange(len(moved))
    nearest = at_leads[fit.deal(everything, at_leads[None])[0]]
    parts = fit.parts(everything, nearest, 1 + np.flatnonzero(is_near))
    found: list[Onset] = []
    for part in parts:
        best, likely = fit.range(part)
        possible, best = places[likely].tolist(), int(places[best])
        lead = min(leads, key=lambda at: abs(at - best))
        stays = lead in possible or (len(parts) <= len(leads) and abs(lead - best) <= _NEAR)
        index = lead if stays and all(one.index != lead for one in found) else best
        if all(one.index != index for one in found):
            found.append(Onset(index, min(index, *possible), max(index, *possible), moved[part]))
    return found


def _variances(x: Floats, sds: Floats, weights: Floats) -> tuple[float, float]:
    """Estimate the variance of what all rows of a position share, and the share of the rest in a row's own.

    Both come from the differences of neighbours.
    """
    differences = np.diff(x, axis=1)
    precision = weights / sds**2
    present = np.where(np.isfinite(differences), precision[:, None], 0.0)
    told = present.sum(axis=0) > precision.sum() / 2
    if not told.any():
        return 0.0, 1.0
    mean = (present * np.nan_to_num(differences)).sum(axis=0)[told] / present.sum(axis=0)[told]
    # The noise of a series makes up for the likeness of neighbours, which its differences hide.
    hidden = max(float(np.nanmedian(np.abs(differences) / sds[:, None])), _MIN_SD)
    size = np.abs(mean)
    clipped = np.minimum(size, _FAR * np.median(size) / _NORMAL_MEDIAN)
    together = float((clipped**2).mean()) * (_NORMAL_MEDIAN / hidden) ** 2
    of_one = float((precision**2 / weights).sum() / precision.sum() ** 2)
    own = (float(np.nanmedian(np.abs(differences[:, told] - mean) / sds[:, None])) / hidden) ** 2
    own = min(max(own / max(1 - of_one, _MIN_SD), _MIN_OWN), 1.0)
    return max(together - own / float(precision.sum()), 0.0), own


class _Fit:
    """Rows of which the first ones, the members, have a step at one of the ``places``, and the others none.

    ``steps`` are where the members have it now: 0 for nowhere, 1 for the first of the places.
    """

    def __init__(
        self, x: Floats, weights: Floats, own: Floats, mood: float, members: int, places: Ints
    ) -> None:
        present = np.isfinite(x)
        self.places = len(places)
        self.mood = max(mood, _MIN_MOOD * float(own.min()))
        self.own = own[:, None]
        self.weights = np.where(present, weights[:, None], 0.0)
        self.steps = np.zeros(members, dtype=np.int64)
        values = np.where(present, x, 0.0)
        zero = np.zeros((len(x), 1))
        sums = np.concatenate((zero, values.cumsum(axis=1)), axis=1)
        counts = np.concatenate((zero, present.cumsum(axis=1)), axis=1)
        inner = np.concatenate(([0], places))
        before = sums[:, inner] / np.maximum(counts[:, inner], 1)
        after = (sums[:, -1:] - sums[:, inner]) / np.maximum(counts[:, -1:] - counts[:, inner], 1)
        is_after = np.arange(x.shape[1]) >= inner[:, None]
        levels = np.where(is_after, after[:, :, None], before[:, :, None])
        # The remainder of each row with a step at each place.
        self.left = np.where(present[:, None], values[:, None] - levels, 0.0)

    def parts(self, members: Ints, steps: Ints, near: Ints) -> list[Ints]:
        """Part members by their ``steps``, and each part again while two ``near`` ones explain it better."""
        parts = [members[steps == step] for step in np.unique(steps)]
        self.steps[members] = steps
        for part in parts:
            self.steps[part] = 1 + self.range(part)[0]
        found: list[Ints] = []
        for part in parts:
            apart = self._steps_apart(part, near)
            found += [part] if apart is None else self.parts(part, apart, near)
        return found

    def range(self, members: Ints) -> tuple[int, Ints]:
        """Return the best place for these members, and the places that are likely."""
        likelihood = self._likelihood(self._cases(members, np.arange(1, self.places + 1)[:, None]))
        # Places that none of the members has are as likely as the next one that they have.
        best = self.places - 1 - int(likelihood[::-1].argmax())
        return best, np.flatnonzero(likelihood >= likelihood[best] - _UNLIKELY)

    def deal(self, members: Ints, steps: Ints) -> Ints:
        """Deal members out to the steps of each case (cases x steps); the larger group attracts."""
        number = steps.shape[1]
        odds = np.zeros((len(steps), 1, number))
        shared = np.zeros((len(steps), self.weights.shape[1]))
        for _ in range(_ROUNDS):
            left = self.left[members[:, None], steps[:, None]] - shared[:, None, None]
            bounded = np.minimum(left**2 / self.own[members][:, None], _FAR**2)
            likely = -(bounded * self.weights[members][:, None]).sum(axis=3) / 2 + odds
            choice: Ints = likely.argmax(axis=2)
            counts = (choice[:, :, None] == np.arange(number)).sum(axis=1)
            odds = np.log(counts + 1)[:, None]
            shared = self._shared(self._cases(members, np.take_along_axis(steps, choice, axis=1)))
        return choice

    def _steps_apart(self, members: Ints, near: Ints) -> Ints | None:
        """Return where the steps of members are if at two places; None where one explains them as well."""
        pairs = [(a, b) for a in near for b in near if b - a >= _MIN_APART]
        if len(members) < 2 or not pairs:
            return None
        best, most = None, _MIN_ODDS + math.log(len(pairs) / len(near))
        most += self._likelihood(self._cases(members, near[:, None])).max()
        # A place may have thousands of series: not all pairs at once.
        for some in np.array_split(pairs, len(near)):
            choice = self.deal(members, some)
            steps = np.take_along_axis(some, choice, axis=1)
            counts = choice.sum(axis=1).tolist()
            ways = [math.log((len(members) + 1) * math.comb(len(members), count)) for count in counts]
            odds = self._likelihood(self._cases(members, steps)) - np.array(ways)
            if len(odds) and odds.max() > most:
                best, most = steps[odds.argmax()], float(odds.max())
        return best

    def _cases(self, members: Ints, steps: Ints) -> Ints:
        """Return the steps of all rows in cases where these members have others (cases x members, or x 1)."""
        cases = np.zeros((len(steps), len(self.weights)), dtype=np.int64)
        cases[:, : len(self.steps)] = self.steps
        cases[:, members] = steps
        return cases

    def _shared(self, cases: Ints) -> Floats:
        """Estimate what the rows of each position share."""
        far = _FAR * np.sqrt(self.own + self.mood)
        left = np.clip(self.left[np.arange(len(self.weights)), cases], -far, far)
        precision = self.weights / self.own
        shared: Floats = (precision * left).sum(axis=1) / (precision.sum(axis=0) + 1 / self.mood)
        return shared

    def _likelihood(self, cases: Ints) -> Floats:
        shared = self._shared(cases)
        left = self.left[np.arange(len(self.weights)), cases] - shared[:, None]
        # How much positions scatter is known by these positions alone: Student's t, and not the normal.
        number = _PRIOR_DF + shared.shape[1]
        moods = number * np.log1p((shared**2).sum(axis=1) / self.mood / _PRIOR_DF)
        bounded = np.minimum(left**2 / self.own, _FAR**2)
        total: Floats = -((bounded * self.weights).sum(axis=(1, 2)) + moods) / 2
        return total
