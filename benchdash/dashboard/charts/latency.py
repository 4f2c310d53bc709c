"""Distributions of response times: bars of one run, and percentiles of several versions over each other."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from benchdash.charts.colours import unordered_colour
from benchdash.charts.figure import MAX_END_LABELS, Axis, Bars, Figure, Label, Line, Mark, Plot, VerticalLine
from benchdash.charts.parts import intervals, metric_axis
from benchdash.dashboard.charts.compare import VersionLine
from benchdash.dashboard.shell import numbers
from benchdash.results.distributions import Bounds, Distribution, shares_of
from benchdash.results.readings import LOWER

PERCENTILES: Final = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
_MARKED: Final = ("p50", "p95", "p99")
_MAX_OWN_BARS: Final = 300
_BARS: Final = 60
_TICKS_WANTED: Final = 4
_POINTS_A_DECADE: Final = 20
# A bucket wider than this share of its value is drawn as an error bar of the percentile in it.
_WIDE: Final = 0.05


def percentile_name(share: float) -> str:
    """``p99.9``."""
    return f"p{100 * share:.10g}"


def named_percentiles(distribution: Distribution) -> list[tuple[str, Bounds]]:
    """``p50`` ... ``p99.99`` and the largest, as far as there are operations to tell them apart."""
    told = _told(distribution)
    found = zip(map(percentile_name, told), distribution.percentiles(told), strict=True)
    return [*found, ("max", distribution.largest)]


def bounds_words(bounds: Bounds) -> str:
    """``12.1 to 12.3``, ``under 1``, ``over 1,000``: ms."""
    if not math.isfinite(bounds.high):
        return f"over {numbers.number(bounds.low)}"
    if bounds.low <= 0:
        return f"under {numbers.number(bounds.high)}"
    ends = [numbers.number(end) for end in (bounds.low, bounds.high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def bars(distribution: Distribution) -> Figure:
    """Draw the number of operations by their response time, whose axis is logarithmic.

    A bar for each bucket of the tool, or 60 where there are very many.
    """
    fine = len(distribution.counts) <= _MAX_OWN_BARS
    found = shares_of([distribution], _MAX_OWN_BARS if fine else _BARS)
    edges, (shares,) = found.edges.tolist(), found.shares
    ends = [math.log10(edge) for edge in edges]
    counts = (shares * distribution.total).tolist()
    drawn = Bars(
        "",
        [(low + high) / 2 for low, high in pairwise(ends)],
        counts,
        unordered_colour(0),
        widths=[high - low for low, high in pairwise(ends)],
        hover=[
            f"{_span(*span)}\n{numbers.count(round(count))}, {numbers.share(count / distribution.total)}"
            for span, count in zip(pairwise(edges), counts, strict=True)
        ],
    )
    named = [(name, found.middle) for name, found in named_percentiles(distribution) if name in _MARKED]
    marked = [(name, math.log10(value)) for name, value in named]
    x_axis = Axis(
        "response time (ms)",
        ticks=[(math.log10(tick), numbers.number(tick, digits=1)) for tick in _ticks(edges[0], edges[-1])],
        range=(ends[0], ends[-1]),
        has_grid=False,
    )
    marks: list[Mark] = [drawn]
    marks += [VerticalLine(at) for _, at in marked]
    marks += [Label(at, name) for name, at in marked]
    return Figure(x_axis, [Plot(Axis("operations", from_zero=True), marks)])


def _span(low: float, high: float) -> str:
    return f"{numbers.number(low, digits=3)} to {numbers.number(high, digits=3)} ms"


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every decade between two ends; all nine where these would be few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 2, 5), range(1, 10)):
        ticks = [digit * 10.0**decade for decade in decades for digit in digits]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= _TICKS_WANTED:
            break
    return ticks


def percentile_curves(lines: Sequence[VersionLine], distributions: Sequence[Distribution]) -> Figure:
    """Draw response time against the percentile, on an axis where 90, 99 and 99.9 are equally far apart."""
    drawn = [_curve(line, one) for line, one in zip(lines, distributions, strict=True)]
    decades = max(1, *(math.ceil(math.log10(one.total)) for one in distributions))
    shares = [0.5, *(1 - 10.0**-decade for decade in range(1, decades + 1))]
    x_axis = Axis(
        "percentile of the operations",
        "log",
        ticks=[(_slowest(share), f"{100 * share:.10g}") for share in shares],
        hover_title="1 of %{x:,.3~g} operations took longer",
    )
    plot = Plot(metric_axis("response time", "ms", LOWER, log=True), drawn)
    names: Literal["", "above", "beside"] = "above" if len(lines) <= MAX_END_LABELS else "beside"
    return Figure(x_axis, [plot], names=names if len(lines) > 1 else "", says_all=True)


def _curve(line: VersionLine, distribution: Distribution) -> Line:
    """Draw a point for every twentieth of a decade from the 11th percentile on: lower ones say little.

    The percentiles of the table are marked, with an error bar where the bucket is wide.
    """
    steps = range(1, math.floor(math.log10(distribution.total) * _POINTS_A_DECADE) + 1)
    told = set(_told(distribution))
    shares = sorted({*told, *(1 - 10 ** (-step / _POINTS_A_DECADE) for step in steps)})
    found = distribution.percentiles(shares)
    middles = [bounds.middle for bounds in found]
    ends = (
        (bounds.low, bounds.high) if share in told and _is_wide(bounds) else (None, None)
        for share, bounds in zip(shares, found, strict=True)
    )
    return Line(
        line.short_name,
        list(map(_slowest, shares)),
        middles,
        line.colour,
        dash="dash" if line.is_base else "solid",
        size=[6 if share in told else 0 for share in shares],
        errors=intervals(middles, ends),
        hover=[
            f"{percentile_name(round(share, 6))}: {bounds_words(bounds)} ms"
            for share, bounds in zip(shares, found, strict=True)
        ],
    )


def _told(distribution: Distribution) -> list[float]:
    return [share for share in PERCENTILES if distribution.tells(share)]


def _slowest(share: float) -> float:
    """Return one of how many operations took longer."""
    return 1 / (1 - share)


def _is_wide(bounds: Bounds) -> bool:
    return 0 < bounds.low * (1 + _WIDE) < bounds.high < math.inf
