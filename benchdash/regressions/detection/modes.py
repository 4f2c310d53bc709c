"""Series that go between two levels and back, again and again: compiled, as ``kernel``.

A workload may settle in one of two plans, or a table in one of two places of a disk, for some nights each
time. Every stay is a level, and a search tells its ends as steps of innocent commits. Once a series was at
the same two levels often enough, the distance between the two is taken out of it before anything is searched:
the rest moves where both levels do.
"""

import math

import numpy as np

from benchdash.regressions.detection.kernel import compiled, resolution
from benchdash.regressions.detection.noise import MIN_SD, Bools, Floats

WINDOW = 60
"""Points in which a series must have gone to its other level and back."""

MIN_WINDOW = 40
"""Points without which nothing is called two levels."""

MIN_SWITCHES = 6
"""Three times there and back."""

MIN_SHARE = 0.2
"""Points of a window at its rarer level; fewer are outliers."""

MIN_GAP = 5.2
"""Standard deviations between the two levels, each point being the median of itself and its neighbours ..."""

MIN_OWN_GAP = 2.5
"""... and of the points themselves. Both were chosen so that at most one in 1,000 noisy series has them."""

MIN_STEPS_OF_PRINT = 1.5
"""Two neighbouring buckets of a histogram are no two levels: these are further apart."""

STEP = 5
"""Windows end at every fifth point, so that another look at more points sees the same windows."""


@compiled
def smoothed(x: Floats) -> Floats:
    """Return the median of each point and its neighbours: a single slow night is no visit."""
    smooth = x.copy()
    for at in range(1, len(x) - 1):
        a, b, c = x[at - 1], x[at], x[at + 1]
        smooth[at] = max(min(a, b), min(max(a, b), c))
    return smooth


@compiled
def two_levels(x: Floats) -> tuple[float, float]:
    """Return the lower and the higher level between which a window went again and again; else NaN.

    The smoothed points are divided where the two parts scatter least (Otsu 1979, A threshold selection method
    from gray-level histograms).
    """
    n = len(x)
    smooth = smoothed(x)
    ordered = np.sort(smooth)
    total, below, most, at = ordered.sum(), 0.0, -1.0, 0
    least = math.ceil(MIN_SHARE * n)
    for k in range(1, n - least + 1):
        below += ordered[k - 1]
        between = k * (n - k) * (below / k - (total - below) / (n - k)) ** 2
        if k >= least and between > most:
            most, at = between, k
    within = (ordered * ordered).sum() - total * total / n - most / n
    # Most windows end here: the wider part scatters at least as much as both together.
    if most / (at * (n - at)) < MIN_GAP**2 * within / n:
        return math.nan, math.nan
    cut = (ordered[:at].mean() + ordered[at:].mean()) / 2
    is_high = smooth > cut
    if np.sum(is_high[1:] != is_high[:-1]) < MIN_SWITCHES:
        return math.nan, math.nan
    if _gap(smooth, is_high) < MIN_GAP or _gap(x, is_high) < MIN_OWN_GAP:
        return math.nan, math.nan
    low, high = x[~is_high].mean(), x[is_high].mean()
    if high - low < MIN_STEPS_OF_PRINT * resolution(np.exp(x)):
        return math.nan, math.nan
    return low, high


@compiled
def _gap(x: Floats, is_high: Bools) -> float:
    """Return how many standard deviations of the wider part the means of two parts differ."""
    high, low = x[is_high], x[~is_high]
    return float((high.mean() - low.mean()) / max(high.std(), low.std(), MIN_SD))


@compiled
def offsets_of(x: Floats) -> tuple[Floats, float, float]:
    """Return what the second level adds to each point of logs, and the two levels of now; NaN without any.

    The level of the first visit is the one that counts. A stay of more than ``WINDOW`` points is a level of
    its own, whichever of the two it was.
    """
    offsets = np.zeros(len(x))
    smooth = smoothed(x)
    start, low, high = -1, math.nan, math.nan
    for end in range(MIN_WINDOW, len(x) + 1, STEP):
        first = max(0, end - WINDOW)
        own_low, own_high = two_levels(x[first:end])
        apart = (high - low) / 2
        if math.isnan(own_low) or max(abs(own_low - low), abs(own_high - high)) < apart:
            continue
        first = _first_visit(smooth, max(first, start), max(start, 0), own_low, own_high)
        if start >= 0:
            # Both levels changed: they are others from the first visit to the new ones on.
            _add_offsets(offsets, smooth, start, first, low, high)
        start, low, high = first, own_low, own_high
    if start >= 0 and _add_offsets(offsets, smooth, start, len(x), low, high) > WINDOW:
        low, high = math.nan, math.nan
    return offsets, low, high


@compiled
def _first_visit(smooth: Floats, start: int, least: int, low: float, high: float) -> int:
    """Return where the two levels began that a window from ``start`` on shows; not before ``least``.

    That is after the last stay at another level, or with the last one that is a level of its own. Visits
    before the window would stand out of what is left of the others.
    """
    end = start
    while end > least:
        is_high = smooth[end - 1] > (low + high) / 2
        begin = end - 1
        while begin > least and (smooth[begin - 1] > (low + high) / 2) == is_high:
            begin -= 1
        off = abs(smooth[begin:end].mean() - (high if is_high else low))
        if off > (high - low) / 2:
            break
        stay, end = end - begin, begin
        if stay > WINDOW:
            break
    return end


@compiled
def _add_offsets(offsets: Floats, smooth: Floats, start: int, end: int, low: float, high: float) -> int:
    """Set the offsets from ``start`` to ``end``, and return how many points the last stay has."""
    is_high = smooth > (low + high) / 2
    own = high if is_high[start] else low
    begin, stay = start, 0
    for at in range(start + 1, end + 1):
        if at < end and is_high[at] == is_high[begin]:
            continue
        if at - begin <= WINDOW:
            offsets[begin:at] = (high if is_high[begin] else low) - own
        stay, begin = at - begin, at
    return stay


@compiled
def without_modes(values: Floats) -> Floats:
    """Return series x positions as they would be, had each series stayed at the first of its two levels."""
    plain = values.copy()
    for row in range(len(values)):
        there = np.flatnonzero(values[row] > 0)
        if len(there) >= MIN_WINDOW:
            plain[row][there] = values[row][there] * np.exp(-offsets_of(np.log(values[row][there]))[0])
    return plain
