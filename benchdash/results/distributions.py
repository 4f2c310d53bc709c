"""Distributions of response times, from the histograms of tools. Numbers only, no framework.

A histogram says of an operation only which bucket it fell into: it took between ``low`` and ``high``
milliseconds. A percentile of the operations therefore lies between the same percentile of the low ends and
that of the high ends. This holds whatever the buckets are, also where they overlap, so histograms with
different buckets are merged as they stand.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

VALUE_COLUMNS: Final = ("latency_ms", "count")
"""A value that stands for its bucket: see _ends_of_values."""

BUCKET_COLUMNS: Final = ("from_ms", "to_ms", "count")
"""A bucket with its ends; without an upper end (null) for the last one, which holds all that took longer."""

MAX_BUCKETS: Final = 2000
"""Finer histograms are read with wider buckets."""

# sb_histogram of sysbench 1.0: 1024 values from 0.001 to 100,000 ms, equally far apart in logs.
_SYSBENCH_MIN: Final = 0.001
_SYSBENCH_LAST: Final = 1023
_SYSBENCH_STEP: Final = math.log(1e8) / _SYSBENCH_LAST
_SYSBENCH_PRINTED: Final = 0.001
# SampleBuffer of JMH: nanoseconds, of which the ten leading bits are kept.
_JMH_BITS: Final = 10
_NS_PER_MS: Final = 1e6
_MAX_NS: Final = 2.0**62
_ALONE: Final = 1.01
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Bounds:
    """A response time that is known to lie from ``low`` to ``high`` ms; ``high`` may be infinite."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The middle in logs, where a chart draws it; a bucket from 0 or without an end is one octave."""
        low, high = _octaves(np.array([self.low]), np.array([self.high]))
        return float(math.sqrt(low[0]) * math.sqrt(high[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """Numbers of operations (``counts``, all above 0) that took ``lows`` to ``highs`` ms; sorted by these."""

    lows: Numbers
    highs: Numbers
    counts: Numbers

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def largest(self) -> Bounds:
        return Bounds(float(self.lows.max()), float(self.highs.max()))

    def percentile(self, share: float) -> Bounds:
        """Return bounds of the smallest time within which at least this share of the operations was done."""
        return self.percentiles([share])[0]

    def percentiles(self, shares: Sequence[float]) -> list[Bounds]:
        lows = _reached(self.lows, self.counts, shares)
        highs = _reached(self.highs, self.counts, shares)
        return [Bounds(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]

    def tells(self, share: float) -> bool:
        """Return whether at least one operation lies beyond the percentile; the median always counts."""
        return share <= 0.5 or self.total * (1 - share) >= 1 - _ROUNDING


def is_histogram(columns: Sequence[str]) -> bool:
    return set(columns) in (set(VALUE_COLUMNS), set(BUCKET_COLUMNS))


def distribution_of(
    columns: Sequence[str], rows: Sequence[Sequence[float | None]], *, most: int = MAX_BUCKETS
) -> Distribution | None:
    """Read a stored table of buckets; None where it is none, or counts no operation."""
    if not is_histogram(columns) or not rows:
        return None
    table = np.array([[math.nan if cell is None else cell for cell in row] for row in rows], dtype=float)
    counts = table[:, columns.index("count")]
    if set(columns) == set(BUCKET_COLUMNS):
        lows, highs = table[:, columns.index("from_ms")], table[:, columns.index("to_ms")]
        highs = np.where(np.isnan(highs), math.inf, highs)
    else:
        lows = highs = table[:, columns.index("latency_ms")]
    known = np.isfinite(lows) & np.isfinite(counts) & (lows >= 0) & (highs >= lows) & (counts > 0)
    if not known.any():
        return None
    lows, highs, counts = lows[known], highs[known], counts[known]
    if set(columns) == set(VALUE_COLUMNS):
        lows, highs = _ends_of_values(lows)
    return coarsened(_summed(lows, highs, counts), most)


def merged(distributions: Iterable[Distribution]) -> Distribution:
    """Merge distributions: equal buckets are summed, others stand side by side."""
    parts = list(distributions)
    return _summed(
        np.concatenate([one.lows for one in parts]),
        np.concatenate([one.highs for one in parts]),
        np.concatenate([one.counts for one in parts]),
    )


def coarsened(fine: Distribution, most: int) -> Distribution:
    """Join neighbouring buckets until there are at most ``most``; the bounds stay true."""
    if len(fine.counts) <= most:
        return fine
    lows, _ = _octaves(fine.lows, fine.highs)
    at = np.log(lows)
    cells = np.minimum(((at - at.min()) / (at.max() - at.min() or 1.0) * most).astype(int), most - 1)
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    return Distribution(
        np.minimum.reduceat(fine.lows, starts),
        np.maximum.reduceat(fine.highs, starts),
        np.add.reduceat(fine.counts, starts),
    )


@dataclass(frozen=True, slots=True)
class Shares:
    """``shares[i][j]`` of the operations of distribution i took from ``edges[j]`` to ``edges[j + 1]`` ms."""

    edges: Numbers
    shares: Sequence[Numbers]


def shares_of(distributions: Sequence[Distribution], most: int) -> Shares:
    """Return at most ``most`` bars, equally wide in logs and the same for all distributions.

    A bar is not narrower than most buckets are. What a bucket holds is spread evenly (in logs) over the bars
    that it covers; one that begins at 0 or has no end is drawn as one octave.
    """
    ends = [_octaves(one.lows, one.highs) for one in distributions]
    first = math.log(min(lows.min() for lows, _ in ends))
    last = math.log(max(highs.max() for _, highs in ends))
    usual = max(
        _weighted_median(np.log(highs / lows), one.counts)
        for one, (lows, highs) in zip(distributions, ends, strict=True)
    )
    width = max(usual, (last - first) / most)
    number = max(1, math.ceil((last - first) / width - _ROUNDING))
    edges: Numbers = first + width * np.arange(number + 1, dtype=np.float64)
    shares = [
        np.diff(_passed(edges, np.log(lows), np.log(highs), one.counts)) / one.total
        for one, (lows, highs) in zip(distributions, ends, strict=True)
    ]
    return Shares(np.exp(edges), shares)


# --- buckets ----------------------------------------------------------------------------------------------


def _ends_of_values(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the ends of the buckets for which these values stand.

    Those of sysbench and JMH are recognised by what their histograms can hold. Any other value is taken for
    the middle of its bucket in logs, as wide as the two nearest values are apart.
    """
    return _ends_of_sysbench(values) or _ends_of_jmh(values) or _ends_by_neighbours(values)


def _ends_of_sysbench(values: Numbers) -> tuple[Numbers, Numbers] | None:
    """Return the ends for sysbench: its nearest value counts an operation; the outermost, all beyond."""
    if values.min() <= 0:
        return None
    number = np.rint(np.log(values / _SYSBENCH_MIN) / _SYSBENCH_STEP)
    exact = _SYSBENCH_MIN * np.exp(number * _SYSBENCH_STEP)
    in_digits = np.abs(values / _SYSBENCH_PRINTED - np.rint(values / _SYSBENCH_PRINTED)) < 1e-6 * np.maximum(
        values / _SYSBENCH_PRINTED, 1
    )
    fits = (np.abs(exact - values) <= _SYSBENCH_PRINTED * 0.51) & in_digits
    if not fits.all() or number.min() < 0 or number.max() > _SYSBENCH_LAST:
        return None
    half = math.exp(_SYSBENCH_STEP / 2)
    lows = np.where(number == 0, 0.0, exact / half)
    return lows, np.where(number == _SYSBENCH_LAST, math.inf, exact * half)


def _ends_of_jmh(values: Numbers) -> tuple[Numbers, Numbers] | None:
    """Return the ends for JMH: a value is the low end of its bucket, the time without its last bits."""
    times = values * _NS_PER_MS
    if times.max() > _MAX_NS:
        return None
    whole = np.rint(times)
    widths = np.exp2(np.maximum(np.floor(np.log2(np.maximum(whole, 1))) + 1 - _JMH_BITS, 0))
    is_one = (np.abs(times - whole) <= _ROUNDING * np.maximum(times, 1)) & (np.mod(whole, widths) == 0)
    return (whole / _NS_PER_MS, (whole + widths) / _NS_PER_MS) if is_one.all() else None


def _ends_by_neighbours(values: Numbers) -> tuple[Numbers, Numbers]:
    positive = np.unique(values[values > 0]).tolist()
    ratio = min((high / low for low, high in pairwise(positive)), default=_ALONE**2)
    half = math.sqrt(ratio)
    least = positive[0] / half if positive else 0.0
    return np.where(values > 0, values / half, 0.0), np.where(values > 0, values * half, least)


def _summed(lows: Numbers, highs: Numbers, counts: Numbers) -> Distribution:
    ends, place = np.unique(np.column_stack([lows, highs]), axis=0, return_inverse=True)
    summed = np.bincount(place.ravel(), weights=counts).astype(np.float64)
    return Distribution(ends[:, 0], ends[:, 1], summed)


# --- counting ---------------------------------------------------------------------------------------------


def _reached(ends: Numbers, counts: Numbers, shares: Sequence[float]) -> Numbers:
    """Return the first end by which each share of the counts is reached."""
    order = np.argsort(ends, kind="stable")
    passed = np.cumsum(counts[order])
    wanted = np.asarray(shares) * passed[-1] * (1 - _ROUNDING)
    reached: Numbers = ends[order][np.minimum(np.searchsorted(passed, wanted), len(ends) - 1)]
    return reached


def _octaves(lows: Numbers, highs: Numbers) -> tuple[Numbers, Numbers]:
    """Return ends that have a place on an axis of logs."""
    finite = np.where(np.isfinite(highs), highs, 2 * np.where(lows > 0, lows, 0.5))
    finite = np.where(finite > 0, finite, _SYSBENCH_MIN)
    placed = np.where(lows > 0, lows, finite / 2)
    return placed, np.maximum(finite, placed * (1 + _ROUNDING))


def _passed(edges: Numbers, lows: Numbers, highs: Numbers, counts: Numbers) -> Numbers:
    """Count the operations below each of the edges, all in logs."""
    below: Numbers = np.clip((edges[:, None] - lows) / (highs - lows), 0, 1) @ counts
    return below


def _weighted_median(values: Numbers, weights: Numbers) -> float:
    return float(_reached(values, weights, [0.5])[0])
