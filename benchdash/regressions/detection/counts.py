"""Changes in how often something happens: stalls, errors, reconnects.

Events are counted, mostly there are none, and a rise from 0 has no per cent. So neither logs nor a t test
serve. A group has a number of events and a length, the seconds in which they could happen. Two questions are
asked of each position:

- are there too many *events* on one side? If nothing changed, each of them falls there with the share that
  the side has of the length: the conditional binomial test (Przyborowski & Wilenski 1940). Events come in
  bursts, so counts are first divided by their dispersion: the mean square of the groups' distances from their
  level over what Poisson lets expect, drawn towards 1, which counts for four degrees of freedom, and never
  below 1. It is widened by (1 + r)/(1 - r), because neighbours are alike: r is their correlation, drawn
  towards the usual 0.3.
- do the *groups* agree? Those above the middle of the two levels lie on one side: Fisher's exact test, which
  holds however events come in bursts.

Both p are corrected (Bonferroni) for two directions, for the positions of the history and for the series that
were looked at. A change is suspected with p < 0.01 for events and 0.05 for groups. It is confirmed with
p < 0.000005 for events, if

- the new level has three groups or more, the newest three lie nearer to it than to the old level;
- without any one group on each side two thirds of the step are left: a bad night is no new level;
- the level before has five groups or more.

A change is at least as large as the smallest effect of its metric, and the rate at least half as much again,
or less.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincinv, gammaln

from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.shifts import Shift, State

_SUSPECTED = 0.01
_SUSPECTED_BY_GROUPS = 0.05
_CONFIRMED = 5e-6
_KEPT_BELOW = 0.01
_AGREEMENT = 0.05 + 1e-9
_OUTSIDE = 0.05
_MIN_BEFORE = 5
_MIN_AFTER = 3
_NEWEST = 3
_LEFT_WITHOUT_ONE = 2 / 3
_MIN_RATIO = 1.5
_PRIOR_DF = 4
_USUAL_R, _WORTH_OF_R = 0.3, 8
_SETTLED = 15
_NOTHING = 1e-9
_MIN_POSITIONS = 80
"""A short history is looked at again after every group."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Events and seconds of each group; NaN and 0 where nothing was measured."""

    events: Floats
    seconds: Floats


@dataclass(frozen=True, slots=True)
class _Step:
    """A possible change; ``high`` and ``low`` are the sides with more and with fewer events.

    ``gain`` is how much better two levels explain the events than one: the largest is where it changed.
    """

    index: int
    before: float
    after: float
    p: float
    gain: float
    high: slice
    low: slice
    holds: bool


def find_count_shifts(
    counts: Counts, *, smallest: float, series: int = 1, known: Collection[int] = ()
) -> list[Shift]:
    """Find the changes in the rate of events, in order; see the top of the module.

    ``smallest`` is the smallest effect, in events per second, and ``series`` were looked at together. Levels
    of the shifts are events per second. ``known`` are positions confirmed in an earlier look, which stay
    while their own evidence has p < 0.01.
    """
    there = np.flatnonzero(np.isfinite(counts.events) & (counts.seconds > 0))
    if len(there) < _MIN_BEFORE + 1 or not counts.events[there].any():
        return []
    events, seconds = counts.events[there], counts.seconds[there]
    tests = 2 * max(len(there), _MIN_POSITIONS) * max(series, 1)
    edges = sorted({int(np.searchsorted(there, index)) for index in known} - {0, len(there)})
    found: dict[int, Shift] = {}
    for index in list(edges):
        step = _step(events, seconds, index, edges, smallest)
        if step and step.p < _KEPT_BELOW:
            found[index] = _shift(step, "confirmed", 1 - step.p)
        else:
            edges.remove(index)
    while True:
        steps = [
            step
            for index in _candidates(events, seconds, edges, _SUSPECTED / tests)
            if (step := _step(events, seconds, index, edges, smallest))
        ]
        best, of_groups = None, 1.0
        for step in sorted(steps, key=lambda step: -step.gain):
            middle = (step.before + step.after) / 2
            of_groups = _p_of_groups(events / seconds, step, middle) * tests
            if step.p * tests < _SUSPECTED and of_groups < _SUSPECTED_BY_GROUPS:
                best = step
                break
        if best is None:
            break
        is_sure = best.p * tests < _CONFIRMED
        state: State = "confirmed" if best.holds and is_sure else "suspected"
        found[best.index] = _shift(best, state, 1 - max(best.p * tests, of_groups))
        edges = sorted([*edges, best.index])
    return [
        Shift(int(there[shift.index]), shift.before, shift.after, None, shift.confidence, shift.state)
        for _, shift in sorted(found.items())
    ]


@dataclass(frozen=True, slots=True)
class CountComparison:
    """Two-sided ``p``, and the 95 % interval of other / base of the rates; NaN where it has no end."""

    p: float
    low: float
    high: float


def compare_counts(base: Counts, other: Counts, *, smallest: float) -> CountComparison | None:
    """Compare the rates of two sides, whose elements are sessions, by the two tests at the top of the module.

    There is no comparison where the rates differ by less than ``smallest`` events per second, or where the
    sessions above the median of all do not lie on one side with p <= 0.05, which takes three of each side.
    """
    events, seconds = (
        np.concatenate([getattr(base, name), getattr(other, name)]) for name in ("events", "seconds")
    )
    old, new = slice(0, len(base.events)), slice(len(base.events), len(events))
    before, after = (float(events[side].sum() / seconds[side].sum()) for side in (old, new))
    more, fewer = (new, old) if after > before else (old, new)
    rates = events / seconds
    step = _Step(new.start, before, after, 1.0, 0.0, more, fewer, holds=True)
    if abs(after - before) < smallest or _p_of_groups(rates, step, np.median(rates)) > _AGREEMENT:
        return None
    expected = np.where(np.arange(len(events)) < new.start, before, after) * seconds
    dispersion = _dispersion(events, expected)
    of_new, total = np.array([events[new].sum(), events.sum()]) / dispersion
    many, share = float(events[more].sum()) / dispersion, float(seconds[more].sum() / seconds.sum())
    # Clopper & Pearson (1934), of the share of the events that are the other side's.
    low, high = (
        betaincinv(np.maximum(of_new + at, _NOTHING), np.maximum(total - of_new + 1 - at, _NOTHING), q)
        for at, q in ((0, _OUTSIDE / 2), (1, 1 - _OUTSIDE / 2))
    )
    length = float(seconds[old].sum() / seconds[new].sum())
    return CountComparison(
        p=min(1.0, 2 * float(betainc(many, total - many + 1, share))),
        low=float(low / (1 - low)) * length if of_new > 0 else 0.0,
        high=float(high / (1 - high)) * length if of_new < total else float("nan"),
    )


def _shift(step: _Step, state: State, confidence: float) -> Shift:
    return Shift(step.index, step.before, step.after, None, confidence, state)


def _candidates(events: Floats, seconds: Floats, edges: Sequence[int], p: float) -> list[int]:
    """List the positions that may pass: those that would if events never came in bursts."""
    index = np.setdiff1d(np.arange(_MIN_BEFORE, len(events)), edges)
    ends = np.array([0, *edges, len(events)])
    at = np.searchsorted(ends, index)
    start, stop = ends[at - 1], np.minimum(ends[at], index + _SETTLED)
    sums = [np.concatenate([[0.0], np.cumsum(each)]) for each in (events, seconds)]
    (old, new), (old_s, new_s) = ((each[index] - each[start], each[stop] - each[index]) for each in sums)
    share = new_s / (old_s + new_s)
    rise = np.where(new > 0, betainc(np.maximum(new, _NOTHING), old + 1, share), 1.0)
    fall = np.where(old > 0, betainc(np.maximum(old, _NOTHING), new + 1, 1 - share), 1.0)
    found: list[int] = index[np.minimum(rise, fall) < p].tolist()
    return found


def _step(events: Floats, seconds: Floats, index: int, edges: Sequence[int], smallest: float) -> _Step | None:
    """Judge the step at an index between its neighbouring edges; None where it is too small to matter."""
    start = max((edge for edge in edges if edge < index), default=0)
    end = min((edge for edge in edges if edge > index), default=len(events))
    old = slice(start, index)
    new = slice(index, min(end, index + _SETTLED))
    if index - start < _MIN_BEFORE:
        return None
    before, after = (events[side].sum() / seconds[side].sum() for side in (old, new))
    low, high = sorted((before, after))
    if high - low < smallest or high < _MIN_RATIO * low:
        return None
    p = _p(events, seconds, old, new, before, after)
    holds = new.stop - new.start >= _MIN_AFTER and _holds(events, seconds, old, new, before, after)
    newest = slice(max(new.start, new.stop - _NEWEST), new.stop)
    rates = events[newest] / seconds[newest]
    is_there = bool((np.abs(rates - after) < np.abs(rates - before)).all())
    more, fewer = (new, old) if after > before else (old, new)
    gain = _gain(events, seconds, old, new)
    return _Step(index, float(before), float(after), p, gain, more, fewer, holds and is_there)


def _p(events: Floats, seconds: Floats, old: slice, new: slice, before: float, after: float) -> float:
    """Return the one-sided p of a step in the direction that it has."""
    dispersion = _dispersion(
        np.concatenate([events[old], events[new]]),
        np.concatenate([before * seconds[old], after * seconds[new]]),
    )
    side = new if after > before else old
    many = float(events[side].sum()) / dispersion
    total = float(events[old].sum() + events[new].sum()) / dispersion
    share = float(seconds[side].sum() / (seconds[old].sum() + seconds[new].sum()))
    # The binomial tail P(X >= many) of total events, also for fractions of events.
    return float(betainc(many, max(total - many, 0.0) + 1, share)) if many > 0 else 1.0


def _gain(events: Floats, seconds: Floats, old: slice, new: slice) -> float:
    """Return the log of the likelihood ratio of two Poisson rates and one."""
    common = float(events[old.start : new.stop].sum() / seconds[old.start : new.stop].sum())
    sums = [(float(events[side].sum()), float(seconds[side].sum())) for side in (old, new)]
    return sum(many * float(np.log(many / length / common)) for many, length in sums if many > 0)


def _p_of_groups(rates: Floats, step: _Step, middle: float) -> float:
    """Return the one-sided p of Fisher's exact test for the groups above the middle."""
    high, low = (int((rates[side] > middle).sum()) for side in (step.high, step.low))
    of_high, of_low = (side.stop - side.start for side in (step.high, step.low))
    # The hypergeometric tail P(X >= high); scipy.stats has it too, but takes half a second to load.
    drawn = np.arange(high, min(high + low, of_high) + 1)
    ways = _log_ways(of_high, drawn) + _log_ways(of_low, high + low - drawn)
    return float(np.exp(ways - _log_ways(of_high + of_low, high + low)).sum())


def _log_ways(of: int, drawn: npt.NDArray[np.int64] | int) -> Floats:
    """Return the log of the number of ways to draw so many of them."""
    return np.asarray(gammaln(of + 1) - gammaln(drawn + 1) - gammaln(of - drawn + 1))


def _dispersion(events: Floats, expected: Floats) -> float:
    """Return how much more counts scatter than Poisson's; groups of a level of 0 say nothing of it."""
    at = expected > 0
    rest = (events[at] - expected[at]) / np.sqrt(expected[at])
    df = max(int(at.sum()) - 1, 0)
    dispersion = max(1.0, float(_PRIOR_DF + (rest**2).sum()) / (_PRIOR_DF + df))
    together, apart = float((rest[1:] * rest[:-1]).sum()), float((rest**2).sum())
    alike = (_USUAL_R * _WORTH_OF_R + together) / (_WORTH_OF_R + apart)
    return dispersion * (1 + max(alike, 0.0)) / (1 - max(alike, 0.0))


def _holds(events: Floats, seconds: Floats, old: slice, new: slice, before: float, after: float) -> bool:
    """Tell whether two thirds of a step are left whichever group is left out."""
    sign = 1.0 if after > before else -1.0

    def without_one(side: slice) -> Floats:
        rest = seconds[side].sum() - seconds[side]
        return np.asarray((events[side].sum() - events[side]) / np.where(rest > 0, rest, np.inf))

    left = np.concatenate([without_one(new) - before, after - without_one(old)]) * sign
    return bool(left.min() >= _LEFT_WITHOUT_ONE * abs(after - before))
