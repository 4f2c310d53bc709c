"""Colours, axes, error bars and the layout that all figures share.

A figure is ``{"data": [...], "layout": {...}}``. Colours are named by their tokens in base.css and looked up
in the browser, so that one figure serves light and dark. Two keys of ours ride in ``meta``, which Plotly
leaves alone: ``layout.meta.end_labels`` asks for names at the ends of lines, and ``trace.meta.links`` holds
an address for every point.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from benchdash.dashboard.shell import numbers

Figure = dict[str, Any]
P = TypeVar("P")

RAMP_STEPS: Final = 12
CATEGORIES: Final = 8
# Beyond this many lines their names stand in a legend.
MAX_END_LABELS: Final = 6
_MAX_UNIFIED_LINES: Final = 8
# Two ticks of a threads axis lie at least this factor apart.
_TICK_FACTOR: Final = 1.3
_DECADE: Final = 10
# Whole numbers at every tick: Plotly abbreviates 20 to 2 otherwise.
_LOG_TICKS: Final = ",~f"
_MAX_NAME_LENGTH: Final = 34


LEGEND_ABOVE: Final[dict[str, Any]] = {
    "showlegend": True,
    "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"size": 12}},
    "margin": {"l": 64, "r": 16, "t": 40, "b": 48},
}


def token(name: str) -> str:
    """Return the colour of a token of base.css: ``token("worse-3")``."""
    return f"var(--{name})"


def ordered_colours(count: int) -> list[str]:
    """Return a ramp of colours for ``count`` ordered things: the oldest pale, the newest strong."""
    if count == 1:
        return [token(f"ramp-{RAMP_STEPS - 3}")]
    return [token(f"ramp-{1 + round(i * (RAMP_STEPS - 1) / (count - 1))}") for i in range(count)]


def unordered_colour(index: int) -> str:
    """Return one of eight colours that only differ; beyond eight they come again."""
    return token(f"cat-{index % CATEGORIES + 1}")


def plain(text: str) -> str:
    """Escape a text for a figure: Plotly reads tags in names, labels and hover texts."""
    return html.escape(text, quote=False)


def shortened(text: str, longest: int = _MAX_NAME_LENGTH) -> str:
    """Keep both ends of a long name, so that names that begin alike stay apart."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def hover_mode(lines: int) -> str:
    """Return the hover mode that says all lines at once, unless there are very many."""
    return "x unified" if lines <= _MAX_UNIFIED_LINES else "closest"


def base_layout(*, lines: int = 1, hovermode: str | bool = "closest", **parts: Any) -> dict[str, Any]:
    """Return the layout of a figure; ``parts`` are its own axes, shapes and annotations."""
    return {
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": token("ink")},
        "paper_bgcolor": token("surface"),
        "plot_bgcolor": token("surface"),
        "margin": {"l": 64, "r": 16, "t": 12, "b": 48},
        "hovermode": hovermode,
        "hoverlabel": {
            "bgcolor": token("raised"),
            "bordercolor": token("line"),
            "font": {"color": token("ink"), "size": 12},
            "align": "left",
            "namelength": -1,
        },
        "showlegend": lines > MAX_END_LABELS,
        "legend": {"font": {"size": 12}, "tracegroupgap": 0, "itemsizing": "constant"},
        "meta": {"end_labels": 1 < lines <= MAX_END_LABELS},
        **parts,
    }


def axis(title: str = "", **parts: Any) -> dict[str, Any]:
    """Return an axis in the lines and inks of the site."""
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": 12, "color": token("ink-2")}},
        "gridcolor": token("line"),
        "linecolor": token("line"),
        "zerolinecolor": token("line"),
        "tickcolor": token("line"),
        "tickfont": {"color": token("ink-2")},
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        "separatethousands": True,
        "exponentformat": "none",
        **parts,
    }


def threads_axis(counts: Sequence[int]) -> dict[str, Any]:
    """Return an axis of threads, each doubling as wide as the next, with ticks at the measured counts."""
    ticks: list[int] = []
    for count in sorted(set(counts)):
        if not ticks or count >= ticks[-1] * _TICK_FACTOR:
            ticks.append(count)
    return axis(
        "threads",
        type="log" if ticks and ticks[0] > 0 else "linear",
        tickmode="array",
        tickvals=ticks,
        ticktext=[numbers.count(tick) for tick in ticks],
        unifiedhovertitle={"text": "threads: %{x}"},
        showgrid=False,
    )


def versions_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Return an axis of versions in their order, equally far apart; ``labels`` are as in the traces."""
    return axis(type="category", categoryorder="array", categoryarray=list(labels), showgrid=False)


def names_axis(names: Sequence[str]) -> dict[str, Any]:
    """Return an axis of names from top to bottom, at 0, 1, 2 ..."""
    return axis(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=list(map(plain, names)),
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        ticks="",
        zeroline=False,
        fixedrange=True,
    )


def line_at(x: Any, dash: str = "dot") -> dict[str, Any]:
    """Draw a vertical line, such as at what others are compared with."""
    line = {"color": token("ink-2"), "width": 1, "dash": dash}
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def level(x0: Any, x1: Any, y: float, colour: str, width: float) -> dict[str, Any]:
    """Draw a horizontal line: the level of a stretch."""
    return {"type": "line", "x0": x0, "x1": x1, "y0": y, "y1": y, "line": {"color": colour, "width": width}}


def band(x: Sequence[Any], y: Sequence[float | None], colour: str, opacity: float) -> dict[str, Any]:
    """Fill the area within these corners, behind a line."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "y": list(y),
        "fill": "toself",
        "fillcolor": colour,
        "line": {"color": colour, "width": 0},
        "opacity": opacity,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def stretches(points: Iterable[tuple[P, float | None, float | None, float | None]]) -> list[list[P]]:
    """Return neighbours that have intervals which do not dwarf their values, to draw bands around them.

    ``points`` are things with their value and the ends of its interval.
    """
    found: list[list[P]] = [[]]
    for point, value, low, high in points:
        if value is not None and low is not None and high is not None and high <= 2 * value:
            found[-1].append(point)
        else:
            found.append([])
    return [stretch for stretch in found if len(stretch) > 1]


def time_axis() -> dict[str, Any]:
    return axis("time, UTC", type="date", showgrid=False)


def metric_axis(metric: str, unit: str, direction: str, *, log: bool = False) -> dict[str, Any]:
    """Return the axis of a metric with its unit and direction, from zero unless logarithmic."""
    log_scale = {"type": "log", "dtick": "D2", "tickformat": _LOG_TICKS}
    scale = log_scale if log else {"type": "linear", "rangemode": "tozero"}
    return axis(plain(numbers.axis_title(metric, unit, direction)), **scale)


def relative_axis(reference: str, direction: str) -> dict[str, Any]:
    """Return an axis of percentages of a reference (= 100 %)."""
    return axis(f"% of {plain(reference)}, {numbers.direction_words(direction)}", ticksuffix=" %")


def log_is_better(values: Sequence[float]) -> bool:
    """Tell whether positive values span more than a decade, which a linear axis would flatten."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > _DECADE


def error_bars(
    values: Sequence[float],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    *,
    colour: str = "",
) -> dict[str, Any]:
    """Draw thin error bars of intervals, in the colour of their trace by default; no interval, no bar.

    An interval wider than its value says nothing and would flatten the chart: it is left to the table.
    """
    lengths = [
        (high - value, value - low)
        if low is not None and high is not None and high - value <= abs(value)
        else (None, None)
        for value, low, high in zip(values, lows, highs, strict=True)
    ]
    return {
        "type": "data",
        "symmetric": False,
        "array": [above for above, _ in lengths],
        "arrayminus": [below for _, below in lengths],
        "thickness": 1,
        "width": 3,
        **({"color": colour} if colour else {}),
    }


def hover_text(value: float, low: float | None, high: float | None, n: int, unit: str = "") -> str:
    """``15,344 ms ± 120, n = 5``."""
    parts = [numbers.quantity(value, unit), plain(unit), numbers.plus_minus(value, low, high)]
    return f"{' '.join(part for part in parts if part)}, n = {n}"


def line(
    name: str,
    x: Sequence[Any],
    y: Sequence[float | None],
    *,
    colour: str,
    is_base: bool = False,
    hover: Sequence[str] = (),
    links: Sequence[str] = (),
    **parts: Any,
) -> dict[str, Any]:
    """Draw markers at the measured points with straight lines between; the base is ink and dashed.

    ``hover`` is what a point says beside the name of its line (see hover_text), by default its value;
    ``links`` is where a click on it leads.
    """
    shade = token("ink") if is_base else colour
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(name),
        "x": list(x),
        "y": list(y),
        "line": {"color": shade, "width": 2, "dash": "dash" if is_base else "solid"},
        "marker": {"color": shade, "size": 6},
        "connectgaps": False,
        "text": list(hover) or [numbers.number(value) for value in y],
        "hovertemplate": "%{text}",
        **({"meta": {"links": list(links)}} if links else {}),
        **parts,
    }


def figure(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> Figure:
    return {"data": [dict(trace) for trace in data], "layout": dict(layout)}
