"""The arithmetic of finding changes of level, compiled (numba); ``levels.py`` says what it decides and why.

Everything works on one series ``x`` without gaps: logs, or numbers in units of their own noise. Edges are
indexes into it, with 0 and n at the ends. Nothing here knows of states, names or settings.
"""

import math

import numpy as np
from numba import njit

from benchdash.regressions.detection.noise import Bools, Floats, Ints

MIN_LEVEL = 3
"""A level of fewer points is not looked for."""

LASTING = 5
"""Points that a level between two others has at least."""

BOUND = 3.0
"""A point further from its level, in standard deviations of the noise, counts as one at this distance."""

WIDE_BOUND = 5.0
"""The bound where more than a few points are far: these are a second mode of what is measured."""

FEW = 0.06
"""More far points than this share are not outliers."""

PENALTY = 2.0
"""The cost of a proposed level, in log n."""

PRIOR_DF = 15.0
"""Degrees of freedom of the common variance, beside a level's own."""

TYPICAL_CORRELATION = 0.3
"""Correlation of neighbouring runs at one level, median of our measured sysbench series."""

CORRELATION_BESIDE_CONTROL = 0.15
"""The same where a control told the speed of the machine: a half of it is left."""

CORRELATION_WEIGHT = 100.0
"""Points that the typical correlation counts for: a short series says little about its own."""

MAX_CORRELATION = 0.8

BASE = -7.0
"""The constant in the bar for evidence; chosen on synthetic series of several seeds and measured ones."""

MIN_SEARCHED = 80.0
"""A short series is looked at after every point, and each look searches it anew."""

MIN_EVIDENCE = 5.4
"""Below this (p 0.02) nothing is a change, however much is known of the noise."""

SHORT = 8.0
"""Each point that a level is shorter raises its bar by one, and by two at both ends of the series."""

BESIDE_LINE = 1.6
"""Standard errors by which a step must exceed a straight line through both of its levels."""

NEWEST_BESIDE_LINE = 2.0
"""The same for the newest level before it is confirmed: a drift looks like a step while it goes on."""

STAIRS = 10.0
"""By how much each further step of a staircase must explain more than one straight line (squared errors)."""

FALSE_ALARM = 0.02
"""A step where one was expected must have p below this, after correction for all that were expected."""

KEPT_BELOW = 0.01
"""A step known from an earlier look is not searched for, so its own p alone has to be below this."""

SETTLED = 15
"""Points of its new level by which a known step is judged; later ones may have changed again."""

REJECTED = -1e3

MAX_ROUNDS = 2
"""How often the noise is estimated anew within the levels that were found."""

compiled = njit(cache=True, error_model="numpy")

_NORMAL_MEDIAN_DIFFERENCE = 0.9539  # median of |a - b| for standard normal a and b
_NORMAL_MEAN_DIFFERENCE = 1.1284


@compiled
def median(x: Floats) -> float:
    """Return what numpy does, much sooner where there are few values."""
    return float(np.median(x))


@compiled
def difference_scale(x: Floats) -> float:
    """Estimate the standard deviation of a point from differences of neighbours, hardly touched by steps."""
    size = np.abs(np.diff(x))
    middle = np.median(size)
    return float(middle / _NORMAL_MEDIAN_DIFFERENCE if middle > 0 else size.mean() / _NORMAL_MEAN_DIFFERENCE)


@compiled
def half_squared_difference(x: Floats, edges: Ints, lag: int) -> float:
    """Return half the mean squared difference at a lag within levels, clipped at three times the median."""
    size = np.empty(len(x))
    n = 0
    for k in range(len(edges) - 1):
        level = x[edges[k] : edges[k + 1]]
        here = size[n:]
        for i in range(len(level) - lag):
            here[i] = abs(level[i + lag] - level[i])
        n += max(len(level) - lag, 0)
    size = size[:n]
    limit = 3 * np.median(size) / 0.6745
    total = 0.0
    for i in range(n):
        one = size[i] if limit <= 0 or size[i] < limit else limit
        total += one * one
    return total / n / 2


@compiled
def noise_of(x: Floats, typical: float = TYPICAL_CORRELATION) -> tuple[float, float]:
    """Return ``noise_within`` of a series of which no change is known yet."""
    return noise_within(x, np.array([0, len(x)]), typical)


@compiled
def noise_within(x: Floats, edges: Ints, typical: float) -> tuple[float, float]:
    """Estimate the standard deviation of a point and the correlation of neighbours at an unchanged level.

    From differences of points 1 to 3 apart within the levels. A change that is not known yet touches few of
    them, so it hardly matters (von Neumann 1941); many of them look like correlation. Half the mean squared
    difference at lag k estimates sd^2 (1 - rho^k). A short series is taken for ``typical``.
    """
    n = len(x)
    pairs = 0
    for k in range(len(edges) - 1):
        pairs += max(edges[k + 1] - edges[k] - 3, 0)
    if pairs < LASTING:
        edges = np.array([0, n])
    nearest = half_squared_difference(x, edges, 1)
    correlation = typical
    if n > 7 and nearest > 0:
        second = half_squared_difference(x, edges, 2) / nearest - 1
        third = math.sqrt(max(0.0, half_squared_difference(x, edges, 3) / nearest - 0.75)) - 0.5
        own = min(max((second + third) / 2, 0.0), MAX_CORRELATION)
        weight = n / (n + CORRELATION_WEIGHT)
        correlation = weight * own + (1 - weight) * typical
    return math.sqrt(nearest / (1 - correlation)), correlation


@compiled
def inflation(n: float, rho: float) -> float:
    """Return by how much correlation widens the variance of a mean of n points."""
    return (1 + rho) / (1 - rho) - 2 * rho * (1 - rho**n) / (n * (1 - rho) ** 2)


# --- proposing ----------------------------------------------------------------------------------------------


@compiled
def partition(x: Floats, penalty: float, bound: float) -> Ints:
    """Find the inner edges that minimise bounded squared error plus ``penalty`` for each level. Exact.

    The best cost of x[:t] as a function of the newest level is kept as pieces of parabolas, each with the
    start of its level (functional pruning: Fearnhead & Rigaill 2019, Changepoint detection in the presence of
    outliers). A piece is (low, high, a, b, c, start): a u^2 + b u + c for levels u from low to high.
    """
    n = len(x)
    pieces = np.empty((64, 6))
    cut = np.empty((64, 6))
    _put(pieces, 0, x.min() - 1e-9, x.max() + 1e-9, 0.0, 0.0, -penalty, 0.0)
    count = 1
    best = -penalty
    last = np.zeros(n + 1, np.int64)
    for t in range(n):
        if 3 * count + 4 > len(cut):
            cut = np.empty((6 * count + 64, 6))
        parts = _lower_envelope(pieces, count, best + penalty, float(t), cut)
        if 3 * parts + 4 > len(pieces):
            pieces = np.empty((6 * parts + 64, 6))
        count, best, start = _add_point(cut, parts, x[t], bound, pieces)
        last[t + 1] = start
    return _trace(last)


@compiled
def _put(pieces: Floats, i: int, low: float, high: float, a: float, b: float, c: float, start: float) -> None:
    pieces[i, 0] = low
    pieces[i, 1] = high
    pieces[i, 2] = a
    pieces[i, 3] = b
    pieces[i, 4] = c
    pieces[i, 5] = start


@compiled
def _lower_envelope(pieces: Floats, count: int, level: float, start: float, out: Floats) -> int:
    """Take the lower of the pieces and the constant ``level``, which stands for a new level from here on."""
    parts = 0
    flat = False
    for i in range(count):
        low, high, a, b, c = pieces[i, 0], pieces[i, 1], pieces[i, 2], pieces[i, 3], pieces[i, 4]
        left, right = _below(low, high, a, b, c - level)
        if left >= right:
            left = right = high
        if left > low:
            if flat:
                out[parts - 1, 1] = left
            else:
                _put(out, parts, low, left, 0.0, 0.0, level, start)
                parts += 1
                flat = True
        if left < right:
            _put(out, parts, left, right, a, b, c, pieces[i, 5])
            parts += 1
            flat = False
            if right < high:
                _put(out, parts, right, high, 0.0, 0.0, level, start)
                parts += 1
                flat = True
    return parts


@compiled
def _below(low: float, high: float, a: float, b: float, c: float) -> tuple[float, float]:
    """Return where in [low, high] a parabola is negative; an empty range where it is not."""
    if a == 0:
        return (low, high) if c < 0 else (low, low)
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return low, low
    root = math.sqrt(discriminant)
    return max(low, (-b - root) / (2 * a)), min(high, (-b + root) / (2 * a))


@compiled
def _add_point(cut: Floats, parts: int, value: float, bound: float, out: Floats) -> tuple[int, float, int]:
    """Add a point's bounded squared error to each piece; gives their number, the least cost and its start."""
    count = 0
    best = np.inf
    start = 0.0
    near, far = value - bound, value + bound
    for i in range(parts):
        position, high, source = cut[i, 0], cut[i, 1], cut[i, 5]
        while position < high:
            a, b, c = cut[i, 2], cut[i, 3], cut[i, 4]
            end = high
            if position < near:
                end = min(high, near)
                c += bound * bound
            elif position < far:
                end = min(high, far)
                a += 1.0
                b -= 2 * value
                c += value * value
            else:
                c += bound * bound
            lowest = c
            if a > 0:
                at = min(max(-0.5 * b / a, position), end)
                lowest = (a * at + b) * at + c
            if lowest < best:
                best = lowest
                start = source
            _put(out, count, position, end, a, b, c, source)
            count += 1
            position = end
    return count, best, int(start)


@compiled
def _trace(last: Ints) -> Ints:
    count = 0
    end = last[-1]
    while end > 0:
        count += 1
        end = last[end]
    indexes = np.empty(count, np.int64)
    end = last[-1]
    while end > 0:
        count -= 1
        indexes[count] = end
        end = last[end]
    return indexes


@compiled
def propose(x: Floats, sd: float, pinned: Ints, bound: float) -> Ints:
    """Find the best partition of each stretch between pinned edges; edges with these and with 0 and n."""
    n = len(x)
    penalty = PENALTY * math.log(n)
    edges = np.zeros(n + 1, np.int64)
    count = 1
    start = 0
    for k in range(len(pinned) + 1):
        end = pinned[k] if k < len(pinned) else n
        if end - start >= 2 * MIN_LEVEL:
            for index in partition(x[start:end] / sd, penalty, bound):
                if MIN_LEVEL <= index <= end - start - MIN_LEVEL:
                    edges[count] = start + index
                    count += 1
        edges[count] = end
        count += 1
        start = end
    return edges[:count].copy()


@compiled
def tame(x: Floats, edges: Ints, sd: float, bound: float) -> tuple[Floats, float]:
    """Move far points of a series to the bound around their level; return also the share of those."""
    y = x.copy()
    far = 0
    reach = bound * sd
    for k in range(len(edges) - 1):
        level = x[edges[k] : edges[k + 1]]
        centre = float(np.median(level))
        for _ in range(2):
            total, count = 0.0, 0
            for value in level:
                if abs(value - centre) < reach:
                    total += value
                    count += 1
            if count:
                centre = total / count
        for i in range(edges[k], edges[k + 1]):
            if abs(y[i] - centre) > reach:
                y[i] = centre + math.copysign(reach, y[i] - centre)
                far += 1
    return y, far / len(x)


# --- judging ------------------------------------------------------------------------------------------------


@compiled
def prefix_sums(x: Floats) -> Floats:
    """Return sums of x, x^2 and i x, each with a leading zero: 3 x (n + 1)."""
    sums = np.zeros((3, len(x) + 1))
    centre = x.mean()
    for i in range(len(x)):
        value = x[i] - centre
        sums[0, i + 1] = sums[0, i] + value
        sums[1, i + 1] = sums[1, i] + value * value
        sums[2, i + 1] = sums[2, i] + i * value
    return sums


@compiled
def _mean(sums: Floats, start: int, end: int) -> float:
    return (sums[0, end] - sums[0, start]) / (end - start)


@compiled
def residual(sums: Floats, start: int, end: int) -> float:
    """Return the squared residuals around the mean of [start, end)."""
    total = sums[0, end] - sums[0, start]
    return max(sums[1, end] - sums[1, start] - total * total / (end - start), 0.0)


@compiled
def _line_moment(sums: Floats, start: int, end: int) -> float:
    middle = (start + end - 1) / 2
    return (sums[2, end] - sums[2, start]) - middle * (sums[0, end] - sums[0, start])


@compiled
def _line_residual(sums: Floats, start: int, end: int) -> float:
    """Return the squared residuals around the best straight line through [start, end)."""
    n = float(end - start)
    moment = _line_moment(sums, start, end)
    return max(residual(sums, start, end) - moment * moment / (n * (n * n - 1) / 12), 0.0)


@compiled
def _step_beside_line(sums: Floats, start: int, index: int, end: int) -> float:
    """Return the step at ``index`` over its standard error for unit noise, beside a constant and a line."""
    n, after = float(end - start), float(end - index)
    line_squares = n * (n * n - 1) / 12
    share = after / n
    slope = after * (index - start) / 2 / line_squares
    squares = after * (1 - share) - slope * slope * line_squares
    total = sums[0, end] - sums[0, start]
    step = sums[0, end] - sums[0, index] - share * total - slope * _line_moment(sums, start, end)
    return step / math.sqrt(max(squares, 1e-9))


@compiled
def best_split(sums: Floats, start: int, end: int) -> int:
    """Find the index that parts [start, end) into two levels with the least squared residuals."""
    best, least = start + MIN_LEVEL, np.inf
    for index in range(start + MIN_LEVEL, end - MIN_LEVEL + 1):
        left, right = sums[0, index] - sums[0, start], sums[0, end] - sums[0, index]
        cost = -left * left / (index - start) - right * right / (end - index)
        if cost < least:
            best, least = index, cost
    return best


@compiled
def likeliest_split(sums: Floats, start: int, end: int, common: float) -> int:
    """Find the index that parts [start, end) best where the two levels may differ in their scatter too."""
    best, least = start + MIN_LEVEL, np.inf
    for index in range(start + MIN_LEVEL, end - MIN_LEVEL + 1):
        before, after = float(index - start), float(end - index)
        old = (PRIOR_DF * common + residual(sums, start, index)) / (PRIOR_DF + before)
        new = (PRIOR_DF * common + residual(sums, index, end)) / (PRIOR_DF + after)
        cost = (PRIOR_DF + before) * math.log(old) + (PRIOR_DF + after) * math.log(new)
        if cost < least:
            best, least = index, cost
    return best


@compiled
def step_z(
    sums: Floats, start: int, index: int, end: int, common: float, rho: float, most_df: float
) -> tuple[float, float]:
    """Return how many standard errors [start, index) and [index, end) differ, and that error.

    Welch's test with moderated variances, widened by correlation; its t is given as the standard normal
    deviate of the same p (Hill 1970, Algorithm 395: Student's t-distribution).
    """
    before, after = float(index - start), float(end - index)
    old = (PRIOR_DF * common + residual(sums, start, index)) / (PRIOR_DF + before - 1)
    new = (PRIOR_DF * common + residual(sums, index, end)) / (PRIOR_DF + after - 1)
    old *= inflation(before, rho) / before
    new *= inflation(after, rho) / after
    error = math.sqrt(old + new)
    old_df, new_df = min(PRIOR_DF + before - 1, most_df), min(PRIOR_DF + after - 1, most_df)
    df = (old + new) ** 2 / (old * old / old_df + new * new / new_df)
    t = abs(_mean(sums, index, end) - _mean(sums, start, index)) / error
    return _normal_deviate(t, df), error


@compiled
def _normal_deviate(t: float, df: float) -> float:
    a = df - 0.5
    b = 48 * a * a
    y = a * math.log1p(t * t / df)
    z = math.sqrt(y)
    return ((((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b) + y + 3) / b * z + z


@compiled
def normal_p(z: float) -> float:
    """Return the two-sided p of a normal deviate."""
    return math.erfc(z / math.sqrt(2.0))


@compiled
def spare(z: float, below: float) -> float:
    """Return the evidence left over where p must be ``below``; negative where it is not."""
    return 2 * math.log(below / max(normal_p(z), 1e-300))


@compiled
def common_variance(sums: Floats, edges: Ints, least: float) -> tuple[float, float]:
    """Return the variance within all levels, never below ``least``, and its degrees of freedom."""
    squares = 0.0
    for k in range(len(edges) - 1):
        squares += residual(sums, edges[k], edges[k + 1])
    df = max(float(edges[-1] - len(edges) + 2), 1.0)
    return max(squares / df, least), df


@compiled
def bar(searched: float, error: float, typical_step: float) -> float:
    """Return what z^2 of a step must exceed that was looked for at ``searched`` places."""
    return 2 * math.log(searched) + 4 * math.log1p(typical_step / error) + BASE


@compiled
def excess(
    sums: Floats,
    start: int,
    index: int,
    end: int,
    common: float,
    rho: float,
    df: float,
    searched: float,
    typical_step: float,
    tail_is_short: bool,
) -> float:
    """Return the evidence for a step that was searched for, less what it must exceed.

    A level at the end of the series is not held to be short unless ``tail_is_short`` says so.
    """
    z, error = step_z(sums, start, index, end, common, rho, df)
    needed = bar(searched, error, typical_step)
    before, after = index - start, end - index
    needed += max(0.0, SHORT - (before if end == len(sums[0]) - 1 else min(before, after)))
    if start == 0:
        needed += max(0.0, SHORT - before)
    if tail_is_short:
        needed += tail_needs(before, after)
    needed = max(needed, MIN_EVIDENCE)
    return z * z - needed


@compiled
def tail_needs(before: int, after: int) -> float:
    """Return how much more evidence a new level at the end of the series needs to be confirmed."""
    return max(0.0, SHORT - after) + max(0.0, SHORT - min(before, after)) - max(0.0, SHORT - before)


@compiled
def drifts(sums: Floats, start: int, index: int, end: int, common: float, rho: float, beside: float) -> bool:
    """Tell whether a straight line explains both levels as well as the step, or leaves nothing of it."""
    if _line_residual(sums, start, end) < residual(sums, start, index) + residual(sums, index, end):
        return True
    error = math.sqrt(common * inflation(float(min(index - start, end - index)), rho))
    return abs(_step_beside_line(sums, start, index, end)) < beside * error


@compiled
def reject_staircases(sums: Floats, edges: Ints, common: float, rho: float, scores: Floats) -> None:
    """Reject steps in one direction that one straight line explains nearly as well: they are drift."""
    first = 0
    inner = len(edges) - 2
    while first < inner:
        last = first
        while last + 1 < inner and _goes_on(sums, edges, last):
            last += 1
        if last > first:
            start, end = edges[first], edges[last + 2]
            stepped = 0.0
            for k in range(first, last + 2):
                stepped += residual(sums, edges[k], edges[k + 1])
            length = max(1.0, float((end - start) // (last - first + 2)))
            better = (_line_residual(sums, start, end) - stepped) / common / inflation(length, rho)
            if better < STAIRS * (last - first):
                for k in range(first, last + 1):
                    scores[k] = min(scores[k], 1e-6 * scores[k] - 1)
        first = last + 1


@compiled
def _goes_on(sums: Floats, edges: Ints, k: int) -> bool:
    """Tell whether the step after that of the k-th inner edge is in the same direction."""
    old, new = _mean(sums, edges[k], edges[k + 1]), _mean(sums, edges[k + 1], edges[k + 2])
    return (new > old) == (_mean(sums, edges[k + 2], edges[k + 3]) > new)


@compiled
def _contains(indexes: Ints, index: int) -> bool:
    for one in indexes:  # noqa: SIM110 - the compiler knows no generators
        if one == index:
            return True
    return False


@compiled
def alone_z(sums: Floats, start: int, index: int, end: int, sd: float, rho: float) -> tuple[float, float]:
    """Return ``step_z`` with nothing known but the two sides and the noise."""
    df = max(float(end - start - 2), 1.0)
    squares = residual(sums, start, index) + residual(sums, index, end)
    return step_z(sums, start, index, end, max(squares / df, sd * sd), rho, df)


@compiled
def _score(
    sums: Floats,
    start: int,
    index: int,
    end: int,
    is_fixed: bool,
    is_expected: bool,
    sd: float,
    rho: float,
    common: float,
    df: float,
    min_step: float,
    searched: float,
    expected_tests: float,
    typical_step: float,
) -> float:
    """Return the evidence of an inner edge less what it must exceed; negative where it does not stand."""
    if is_fixed:
        end = min(end, index + SETTLED)
    if abs(_mean(sums, index, end) - _mean(sums, start, index)) < min_step:
        return REJECTED
    if is_fixed:
        return spare(alone_z(sums, start, index, end, sd, rho)[0], KEPT_BELOW)
    if is_expected:
        return spare(step_z(sums, start, index, end, common, rho, df)[0], FALSE_ALARM / expected_tests)
    score = excess(sums, start, index, end, common, rho, df, searched, typical_step, False)
    return (
        min(score, 1e-6 * score - 1) if drifts(sums, start, index, end, common, rho, BESIDE_LINE) else score
    )


@compiled
def eliminate(
    sums: Floats,
    edges: Ints,
    fixed: Ints,
    expected: Ints,
    sd: float,
    rho: float,
    min_step: float,
    searched: float,
    expected_tests: float,
    typical_step: float,
) -> Ints:
    """Return the edges that stand: the weakest goes first, and its neighbours are placed anew.

    Those that are left are placed once more where scatter counts too, and have to stand there.
    """
    n = edges[-1]
    is_fixed = np.zeros(n + 1, np.bool_)
    is_fixed[fixed] = True
    is_expected = np.zeros(n + 1, np.bool_)
    is_expected[expected] = True
    # A fixed edge is judged by its two levels alone: while these stay, its score does.
    judged = np.full((n + 1, 2), -1)
    scored = np.empty(n + 1)
    is_refined = False
    while len(edges) > 2:
        common, df = common_variance(sums, edges, sd * sd)
        inner = len(edges) - 2
        scores = np.empty(inner)
        pinned = np.zeros(inner, np.bool_)
        for k in range(inner):
            start, index, end = edges[k], edges[k + 1], edges[k + 2]
            pinned[k] = is_fixed[index] or is_expected[index]
            if is_fixed[index] and judged[index, 0] == start and judged[index, 1] == end:
                scores[k] = scored[index]
                continue
            scores[k] = _score(
                sums, start, index, end, is_fixed[index], is_expected[index], sd, rho, common, df,
                min_step, searched, expected_tests, typical_step,
            )  # fmt: skip
            judged[index, 0], judged[index, 1], scored[index] = start, end, scores[k]
        kept = scores.copy()
        reject_staircases(sums, edges, common, rho, scores)
        for k in range(inner):
            if pinned[k]:
                scores[k] = kept[k]
        for k in range(1, inner):
            if edges[k + 1] - edges[k] < LASTING:
                scores[k - 1] += REJECTED
                scores[k] += REJECTED
        weakest = int(np.argmin(scores))
        if scores[weakest] >= 0:
            if is_refined or not refine(sums, edges, pinned, common):
                break
            is_refined = True
            continue
        edges = np.concatenate((edges[: weakest + 1], edges[weakest + 2 :]))
        for k in (weakest, weakest + 1):
            if k in (0, len(edges) - 1) or is_fixed[edges[k]] or is_expected[edges[k]]:
                continue
            if edges[k + 1] - edges[k - 1] >= 2 * MIN_LEVEL:
                edges[k] = best_split(sums, edges[k - 1], edges[k + 1])
    return edges


@compiled
def refine(sums: Floats, edges: Ints, pinned: Bools, common: float) -> bool:
    """Put each edge where its two levels are likeliest; return whether one moved."""
    moved = False
    for k in range(1, len(edges) - 1):
        if not pinned[k - 1] and edges[k + 1] - edges[k - 1] >= 2 * MIN_LEVEL:
            index = likeliest_split(sums, edges[k - 1], edges[k + 1], common)
            moved = moved or index != edges[k]
            edges[k] = index
    return moved


@compiled
def settled(edges: Ints) -> Ints:
    """Leave out an edge whose new level is the newest and short: it does not vouch for itself."""
    if len(edges) > 2 and edges[-1] - edges[-2] < SHORT:
        return np.concatenate((edges[:-2], edges[-1:]))
    return edges


@compiled
def find_edges(
    x: Floats,
    fixed: Ints,
    expected: Ints,
    min_sd: float,
    min_step: float,
    tests: float,
    typical_step: float,
    typical_correlation: float,
) -> tuple[Ints, Floats, Floats, float, float, float]:
    """Find the edges of the levels, 0 and n included; for each inner one z and the evidence left over.

    And the noise: standard deviation, correlation, and the number of places searched.
    """
    n = len(x)
    sd = max(difference_scale(x), min_sd)
    pinned = np.sort(np.concatenate((fixed, expected)))
    edges = propose(x, sd, pinned, BOUND)
    y, share = tame(x, edges, sd, BOUND)
    if share > FEW:
        edges = propose(x, sd, pinned, WIDE_BOUND)
        y = x
    sd, rho = noise_of(y, typical_correlation)
    sd = max(sd, min_sd)
    sums = prefix_sums(y)
    searched = max(float(n), MIN_SEARCHED) * tests
    expected_tests = max(1, len(expected)) * tests
    proposed = edges
    edges = eliminate(sums, edges, fixed, expected, sd, rho, min_step, searched, expected_tests, typical_step)
    for _ in range(MAX_ROUNDS):
        if len(edges) == 2:
            break
        found = edges
        sd, rho = noise_within(y, settled(found), typical_correlation)
        sd = max(sd, min_sd)
        edges = eliminate(
            sums, proposed, fixed, expected, sd, rho, min_step, searched, expected_tests, typical_step
        )
        if len(edges) == len(found) and (edges == found).all():
            break
    inner = len(edges) - 2
    z, left = np.empty(inner), np.empty(inner)
    common, df = common_variance(sums, edges, sd * sd)
    for k in range(inner):
        start, index, end = edges[k], edges[k + 1], edges[k + 2]
        if _contains(fixed, index):
            z[k], _ = alone_z(sums, start, index, min(end, index + SETTLED), sd, rho)
            left[k] = spare(z[k], KEPT_BELOW)
        elif _contains(expected, index):
            z[k], _ = step_z(sums, start, index, end, common, rho, df)
            left[k] = spare(z[k], FALSE_ALARM / expected_tests)
        else:
            z[k], _ = step_z(sums, start, index, end, common, rho, df)
            left[k] = excess(sums, start, index, end, common, rho, df, searched, typical_step, end == n)
            if end == n and drifts(sums, start, index, end, common, rho, NEWEST_BESIDE_LINE):
                left[k] = min(left[k], -1.0)
    return edges, z, left, sd, rho, searched


@compiled
def newest_step(x: Floats, start: int, sd: float, rho: float) -> tuple[int, float]:
    """Find which of the two newest points begins something unlike the level from ``start`` on, and its z.

    Outliers count: the newest point cannot be told from one yet. (-1, 0) where the level is too young.
    """
    n = len(x)
    found, most = -1, 0.0
    sums = prefix_sums(x)
    for index in (n - 2, n - 1):
        if index - start >= LASTING:
            z, _ = alone_z(sums, start, index, n, sd, rho)
            if z > most:
                found, most = index, z
    return found, most


# --- many series at once ------------------------------------------------------------------------------------

WINDOW = 7
OUTLYING = 4.0
FEW_OUTLYING = 0.08
DECIMALS = 10
MAX_DIGITS = 1e10


@compiled
def tame_outliers(x: Floats, min_sd: float) -> Floats:
    """Put isolated outliers, beyond 4 robust sd of a running median of 7, on that median.

    Only where they are few: more than 8 % of the points are a second mode of what is measured, not outliers.
    """
    n = len(x)
    if n < WINDOW:
        return x
    level = np.empty(n)
    window = np.empty(WINDOW)
    for i in range(n):
        for j in range(WINDOW):
            at = abs(i + j - WINDOW // 2)
            value = x[at if at < n else 2 * (n - 1) - at]
            k = j
            while k > 0 and window[k - 1] > value:
                window[k] = window[k - 1]
                k -= 1
            window[k] = value
        level[i] = window[WINDOW // 2]
    limit = OUTLYING * max(np.median(np.abs(x - level)) / 0.6745, min_sd)
    tamed = x.copy()
    count = 0
    for i in range(n):
        if abs(x[i] - level[i]) > limit:
            tamed[i] = level[i]
            count += 1
    return tamed if count / n <= FEW_OUTLYING else x


@compiled
def rounding_sd(values: Floats) -> float:
    """Return the least standard deviation, relative to the median, that the printed digits allow.

    A latency printed as 0.03 may move to 0.04 because of 1 % of speed. Half of the last printed digit is
    taken (uniform rounding would be 0.29 of it), so that a jump of one digit is no change until it has
    lasted.
    """
    for decimals in range(DECIMALS):
        scale = 10.0**decimals
        if values[0] * scale > MAX_DIGITS:
            break
        printed = True
        for value in values:
            scaled = value * scale
            digits = np.rint(scaled)
            if digits < 1 or abs(scaled - digits) > 1e-6 + 1e-12 * digits:
                printed = False
                break
        if printed:
            return 0.5 / scale / float(np.median(values))
    return 0.0


@compiled
def resolution(values: Floats) -> float:
    """Return the least difference of the logs of two values where few values return again and again, else 0.

    The percentiles of a histogram are those of its buckets: sysbench's are 1.8 % apart.
    """
    present = values[np.isfinite(values) & (values > 0)]
    distinct = np.unique(present)
    if len(distinct) < 2 or len(distinct) > len(present) / 2:
        return 0.0
    return float(np.log(distinct[1:] / distinct[:-1]).min()) * (1 - 1e-9)


@compiled
def orient(
    numbers: Floats, signs: Floats, typical: Floats, min_points: int, min_sd: float
) -> tuple[Floats, Floats, Floats]:
    """Turn series x positions into what a search sees: logs around the median, worse is negative, 1 is noise.

    Gaps are NaN. And the noise of each series: its standard deviation in logs, NaN where there are fewer
    points than ``min_points``, or no scatter, and the correlation of neighbours.
    """
    oriented = np.full(numbers.shape, np.nan)
    sds, correlations = np.full(len(numbers), np.nan), np.empty(len(numbers))
    for at in range(len(numbers)):
        there = np.flatnonzero(np.isfinite(numbers[at]))
        present = numbers[at][there]
        if len(present) < min_points or present.max() <= 0 or present.max() == present.min():
            continue
        positive = present[present > 0]
        x = np.log(np.maximum(present, positive.min() / 10))
        sd, correlations[at] = noise_of(tame_outliers(x, min_sd), typical[at])
        sds[at] = max(sd, min_sd, rounding_sd(positive))
        x = (x - np.median(x)) * signs[at] / sds[at]
        for i in range(len(there)):
            oriented[at, there[i]] = x[i]
    return oriented, sds, correlations


@compiled
def steps(
    values: Floats, oriented: Floats, correlations: Floats, start: int, index: int, end: int, min_points: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return how each series moved at ``index``: medians before and after, the oriented step, and its p.

    p is two-sided and not corrected, NaN where fewer than ``min_points`` points lie before or none after.
    """
    number = len(values)
    old, new, step, p = np.empty(number), np.empty(number), np.empty(number), np.full(number, np.nan)
    for at in range(number):
        before = values[at, start:index]
        before = before[np.isfinite(before)]
        after = values[at, index:end]
        after = after[np.isfinite(after)]
        if len(before) < min_points or len(after) == 0:
            continue
        old[at], new[at] = np.median(before), np.median(after)
        if old[at] <= 0:
            continue
        x = oriented[at, start:end]
        x = x[np.isfinite(x)]
        step[at] = x[len(before) :].mean() - x[: len(before)].mean()
        p[at] = step_p(x, len(before), 1.0, correlations[at])
    return old, new, step, p


@compiled
def step_p(x: Floats, index: int, sd: float, rho: float) -> float:
    """Return the two-sided p of a step between x[:index] and x[index:], a position not searched for."""
    y, share = tame(x, np.array([0, index, len(x)]), sd, BOUND)
    sums = prefix_sums(x if share > FEW else y)
    return normal_p(alone_z(sums, 0, index, len(x), sd, rho)[0])


@compiled
def falls(
    lines: Floats, typical: Floats, starts: Ints, edges: Ints, min_points: int, needed: float
) -> Floats:
    """Return for each line how far it falls, from one of ``starts`` to its end: the least z of a slope.

    z is for correlated noise, and 0 where it cannot reach ``needed``. The slope is that within the levels
    between ``edges``.
    """
    found = np.zeros(len(lines))
    for at in range(len(lines)):
        there = np.flatnonzero(np.isfinite(lines[at]))
        if len(there) < min_points:
            continue
        x = tame_outliers(lines[at][there], 0.0)
        sd, rho = 0.0, 0.0
        sums = prefix_sums(x)
        changes = np.searchsorted(there, edges)
        for start in starts:
            first = int(np.searchsorted(there, start))
            if len(x) - first < min_points:
                continue
            inner = changes[(changes > first) & (changes < len(x))]
            levels = np.concatenate((np.array([first]), inner, np.array([len(x)])))
            # The noise is not estimated where even independent points would not do.
            if _slope_z(sums, levels, 0.0, 0.0) < -needed:
                if sd == 0:
                    sd, rho = noise_of(x, typical[at])
                found[at] = min(found[at], _slope_z(sums, levels, sd, rho))
    return found


@compiled
def _slope_z(sums: Floats, edges: Ints, sd: float, rho: float) -> float:
    """Return how many standard errors the common slope within levels is."""
    spread, moment, squares = 0.0, 0.0, 0.0
    for k in range(len(edges) - 1):
        n = float(edges[k + 1] - edges[k])
        if n > 0:
            spread += n * (n * n - 1) / 12
            moment += _line_moment(sums, edges[k], edges[k + 1])
            squares += residual(sums, edges[k], edges[k + 1])
    if spread == 0:
        return 0.0
    n = float(edges[-1] - edges[0])
    df = n - len(edges)
    rest = max(squares - moment * moment / spread, 0.0)
    variance = max((PRIOR_DF * sd * sd + rest) / (PRIOR_DF + df), rest / df) * inflation(n, rho)
    return moment / math.sqrt(spread * max(variance, 1e-9))
