"""Distributions of response times: bars of one run, and percentiles of several versions over each other."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure, token
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
    trace = {
        "type": "bar",
        "x": [(low + high) / 2 for low, high in pairwise(ends)],
        "y": counts,
        "width": [high - low for low, high in pairwise(ends)],
        "marker": {"color": common.unordered_colour(0), "line": {"width": 0}},
        "text": [
            f"{_span(*span)}<br>{numbers.count(round(count))}, {numbers.share(count / distribution.total)}"
            for span, count in zip(pairwise(edges), counts, strict=True)
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }
    marked = [(name, found.middle) for name, found in named_percentiles(distribution) if name in _MARKED]
    ticks = _ticks(edges[0], edges[-1])
    layout = common.base_layout(
        margin={"l": 64, "r": 16, "t": 24, "b": 48},
        bargap=0,
        xaxis=common.axis(
            "response time (ms)",
            tickmode="array",
            tickvals=[math.log10(tick) for tick in ticks],
            ticktext=[numbers.number(tick, digits=1) for tick in ticks],
            range=[ends[0], ends[-1]],
            zeroline=False,
            showgrid=False,
        ),
        yaxis=common.axis("operations", rangemode="tozero"),
        shapes=[_mark(value) for _, value in marked],
        annotations=[
            {
                "text": name,
                "x": math.log10(value),
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 11, "color": token("ink-2")},
            }
            for name, value in marked
        ],
    )
    return common.figure([trace], layout)


def _span(low: float, high: float) -> str:
    return f"{numbers.number(low, digits=3)} to {numbers.number(high, digits=3)} ms"


def _mark(value: float) -> dict[str, Any]:
    x = math.log10(value)
    line = {"color": token("ink-2"), "width": 1, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


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
    drawn = list(zip(lines, distributions, strict=True))
    traces = [*(_curve(line, one) for line, one in drawn), *(_marks(line, one) for line, one in drawn)]
    decades = max(1, *(math.ceil(math.log10(one.total)) for one in distributions))
    shares = [0.5, *(1 - 10.0**-decade for decade in range(1, decades + 1))]
    layout = _layout(
        lines,
        xaxis=common.axis(
            "percentile of the operations",
            type="log",
            tickmode="array",
            tickvals=[_slowest(share) for share in shares],
            ticktext=[f"{100 * share:.10g}" for share in shares],
            unifiedhovertitle={"text": "1 of %{x:,.3~g} operations took longer"},
        ),
        yaxis=common.metric_axis("response time", "ms", LOWER, log=True),
    )
    return common.figure(traces, layout)


def _curve(line: VersionLine, distribution: Distribution) -> dict[str, Any]:
    """Draw a point for every twentieth of a decade from the 11th percentile on: lower ones say little."""
    steps = range(1, math.floor(math.log10(distribution.total) * _POINTS_A_DECADE) + 1)
    shares = sorted({*_told(distribution), *(1 - 10 ** (-step / _POINTS_A_DECADE) for step in steps)})
    found = distribution.percentiles(shares)
    return common.line(
        line.short_name,
        [_slowest(share) for share in shares],
        [bounds.middle for bounds in found],
        colour=line.colour,
        is_base=line.is_base,
        hover=[
            f"{percentile_name(round(share, 6))}: {bounds_words(bounds)} ms"
            for share, bounds in zip(shares, found, strict=True)
        ],
        mode="lines",
        legendgroup=line.name,
    )


def _marks(line: VersionLine, distribution: Distribution) -> dict[str, Any]:
    """Mark the percentiles of the table, with an error bar where the bucket is wide."""
    shares = _told(distribution)
    found = distribution.percentiles(shares)
    middles = [bounds.middle for bounds in found]
    trace = common.line(
        line.short_name,
        [_slowest(share) for share in shares],
        middles,
        colour=line.colour,
        is_base=line.is_base,
        mode="markers",
        legendgroup=line.name,
        showlegend=False,
        hoverinfo="skip",
        hovertemplate=None,
    )
    # Plotly ends even an error of nothing with a tick.
    if any(map(_is_wide, found)):
        ends = [(bounds.low, bounds.high) if _is_wide(bounds) else (None, None) for bounds in found]
        trace["error_y"] = common.error_bars(middles, *zip(*ends, strict=True))
    return trace


def _told(distribution: Distribution) -> list[float]:
    return [share for share in PERCENTILES if distribution.tells(share)]


def _slowest(share: float) -> float:
    """Return one of how many operations took longer."""
    return 1 / (1 - share)


def _is_wide(bounds: Bounds) -> bool:
    return 0 < bounds.low * (1 + _WIDE) < bounds.high < math.inf


def _layout(lines: Sequence[VersionLine], **parts: Any) -> dict[str, Any]:
    above = common.LEGEND_ABOVE if 1 < len(lines) <= common.MAX_END_LABELS else {}
    hovermode = common.hover_mode(len(lines))
    layout = common.base_layout(lines=len(lines), hovermode=hovermode, **above, **parts)
    return {**layout, "meta": {"end_labels": False}}
