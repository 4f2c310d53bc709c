"""Figures as Plotly reads them, in a browser: ``{"data": [...], "layout": {...}}``.

Colours stay names of tokens, which chart.js looks up. Keys of ours ride in ``meta``, which Plotly leaves
alone: ``layout.meta.end_labels`` asks for names at the ends of lines, ``few_ticks`` and ``narrow`` are for
narrow screens, and ``trace.meta`` holds an address, and the time, of every point.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log10
from typing import Any, Final

from benchdash.charts.colours import token
from benchdash.charts.figure import (
    MAX_END_LABELS,
    Axis,
    AxisMarks,
    Band,
    Bars,
    Figure,
    Interval,
    Label,
    Level,
    Line,
    Plot,
    Shade,
    Tick,
    VerticalLine,
)

Json = dict[str, Any]

_MAX_UNIFIED_LINES: Final = 8
# The part of the height between two plots.
_GAP: Final = 0.05
_FLAG_HEIGHT: Final = 20
# The parts of the axis over which a flag with its words reaches, and one that is a number alone; those on a
# narrow screen, where all are.
_FLAG_PARTS: Final = (0.13, 0.03)
_FLAG_PARTS_OF_NARROW: Final = (0.14, 0.09)
# The width of a letter of a flag, and of what is around its text.
_LETTER: Final = 7
_FLAG_PADDING: Final = 10
_INK, _INK_2, _LINE, _SURFACE = map(token, ("ink", "ink-2", "line", "surface"))


def plotly(figure: Figure, *, with_links: bool = True) -> Json:
    """Write a figure. Without links it is for a frame, in which no page may be shown."""
    data: list[Json] = []
    shapes: list[Json] = []
    labels: list[Json] = []
    for number, plot in enumerate(figure.plots):
        axis = {"yaxis": _axis_name("y", number)} if len(figure.plots) > 1 else {}
        for mark in plot.marks:
            match mark:
                case Line():
                    data.append(_line(mark, figure.x, with_links=with_links) | axis)
                case Bars():
                    data.append(_bars(mark, figure, plot, with_links=with_links) | axis)
                case Band():
                    data.append(_band(mark, figure.x) | axis)
                case AxisMarks():
                    data.append(_axis_marks(mark, figure))
                case VerticalLine() | Level() | Shade():
                    shapes.append(_shape(mark))
                case Label():
                    labels.append(_label(mark))
    labels += _flags(figure, _FLAG_PARTS, with_links=with_links)
    layout = _layout(figure) | {"margin": _margin(figure, labels), "shapes": shapes, "annotations": labels}
    if figure.flags:
        few = _flags(figure, _FLAG_PARTS_OF_NARROW, with_links=with_links, with_words=False)
        layout["meta"]["narrow"] = {"margin": _margin(figure, few), "annotations": few}
    return {"data": data, "layout": layout}


def markup(text: str) -> str:
    """Escape a text: Plotly reads tags in names, labels and hover texts."""
    return html.escape(text, quote=False).replace("\n", "<br>")


# --- layout -----------------------------------------------------------------------------------------------


def _layout(figure: Figure) -> Json:
    plots = figure.plots
    lines = sum(len(plot.named) for plot in plots)
    most = max(len(plot.named) for plot in plots)
    bars = [mark for mark in figure.marks if isinstance(mark, Bars)]
    layout: Json = {
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": _INK},
        "paper_bgcolor": _SURFACE,
        "plot_bgcolor": _SURFACE,
        "hovermode": "x unified" if figure.says_all and most <= _MAX_UNIFIED_LINES else "closest",
        "hoverlabel": {
            "bgcolor": token("raised"),
            "bordercolor": _LINE,
            "font": {"color": _INK, "size": 12},
            "align": "left",
            "namelength": -1,
        },
        "showlegend": figure.names in ("above", "beside")
        or (figure.names == "ends" and lines > MAX_END_LABELS),
        "legend": {"font": {"size": 12}, "tracegroupgap": 0, "itemsizing": "constant"},
        "meta": {"end_labels": figure.names == "ends" and 1 < lines <= MAX_END_LABELS},
        "xaxis": _axis(figure.x),
    }
    if figure.names == "above":
        layout["legend"] |= {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}
    if figure.x.few_ticks:
        layout["meta"]["few_ticks"] = _ticks(figure.x, figure.x.few_ticks)
    height = (1 - _GAP * (len(plots) - 1)) / len(plots)
    for number, plot in enumerate(plots):
        top = 1 - number * (height + _GAP)
        domain = {"domain": [max(0, top - height), top]} if len(plots) > 1 else {}
        layout[_axis_name("yaxis", number)] = _axis(plot.y, is_vertical=True) | domain
    if len(plots) > 1:
        layout["xaxis"]["anchor"] = _axis_name("y", len(plots) - 1)
        layout["hoversubplots"] = "axis"
    if any(isinstance(mark, AxisMarks) for mark in figure.marks):
        # An axis for the marks along the horizontal one; it has no ticks of its own.
        own = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
        layout[_axis_name("yaxis", len(plots))] = own
    if bars:
        layout |= {"barmode": "group", "bargap": 0 if bars[0].widths else 0.2}
    return layout


def _margin(figure: Figure, labels: Iterable[Json]) -> Json:
    """Return the room around the plot: for titles, and above it for names, labels and rows of flags."""
    if figure.is_small:
        # On the right there is room for half of the last version.
        return {"l": 44, "r": 28 if figure.x.range else 12, "t": 6, "b": 22}
    rows = max((1 + label["yshift"] // _FLAG_HEIGHT for label in labels if "yshift" in label), default=0)
    top = 40 if figure.names == "above" else 12 + _FLAG_HEIGHT * rows
    # Names of rows make their own room.
    left = 8 if figure.plots[0].y.scale == "names" else 64
    return {"l": left, "r": 16, "t": top, "b": 48 if figure.x.title else 36}


def _axis_name(axis: str, number: int) -> str:
    return f"{axis}{number + 1}" if number else axis


def _axis(axis: Axis, *, is_vertical: bool = False) -> Json:
    written: Json = {
        "title": {
            "text": markup(axis.title), "standoff": 8, "font": {"size": 12, "color": _INK_2}
        },
        "showgrid": axis.has_grid,
        "zeroline": axis.has_grid,
        "gridcolor": _LINE,
        "linecolor": _LINE,
        "zerolinecolor": _LINE,
        "tickcolor": _LINE,
        "tickfont": {"color": _INK_2},
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        "separatethousands": True,
        "exponentformat": "none",
    }  # fmt: skip
    match axis.scale:
        case "linear":
            written |= {"type": "linear", **({"rangemode": "tozero"} if axis.from_zero else {})}
        case "log":
            written["type"] = "log"
        case "time":
            written["type"] = "date"
        case "names" if is_vertical:
            written |= _ticks(replace(axis, scale="linear"), enumerate(axis.names))
            written |= {"range": [len(axis.names) - 0.5, -0.5], "ticks": "", "fixedrange": True}
        case "names":
            names = list(map(markup, axis.names))
            written |= {"type": "category", "categoryorder": "array", "categoryarray": names}
    if axis.ticks:
        written |= _ticks(axis, axis.ticks)
    elif axis.scale == "log":
        # Whole numbers at every tick: Plotly abbreviates 20 to 2 otherwise.
        written |= {"dtick": "D2", "tickformat": ",~f"}
    if axis.range:
        is_log = axis.scale == "log"
        written["range"] = [log10(float(end)) if is_log else end for end in axis.range]
    if axis.suffix:
        written["ticksuffix"] = axis.suffix
    if axis.is_signed:
        written["tickformat"] = "+,~r"
    if axis.max_ticks:
        written["nticks"] = axis.max_ticks
    if axis.hover_title:
        written["unifiedhovertitle"] = {"text": axis.hover_title}
    return written


def _ticks(axis: Axis, ticks: Iterable[Tick]) -> Json:
    places, texts = zip(*ticks, strict=True)
    return {"tickmode": "array", "tickvals": _places(places, axis), "ticktext": list(map(markup, texts))}


def _places(places: Iterable[Any], axis: Axis) -> list[Any]:
    """Return places as traces have them: names are told by themselves."""
    if axis.scale != "names":
        return list(places)
    names = list(map(markup, axis.names))
    return [None if place is None else names[place] for place in places]


# --- traces -----------------------------------------------------------------------------------------------


def _line(line: Line, axis: Axis, *, with_links: bool) -> Json:
    modes = [name for name, is_so in (("lines", line.width), ("markers", line.size)) if is_so]
    one_colour = line.colour if isinstance(line.colour, str) else _INK
    trace: Json = {
        "type": "scatter",
        "mode": "+".join(modes),
        "name": markup(line.name),
        "x": _places(line.x, axis),
        "y": list(line.y),
        "line": {"color": one_colour, "width": line.width, "dash": line.dash},
        "connectgaps": False,
        "showlegend": bool(line.name) and line.is_named,
    }
    if line.size:
        symbol = {} if line.symbol == "circle" else {"symbol": line.symbol}
        trace["marker"] = {"color": line.colour, "size": line.size, **symbol}
    if not line.width:
        # Points at the edge are not cut in half.
        trace["cliponaxis"] = False
    if line.group:
        trace["legendgroup"] = line.group
    if any(line.errors):
        trace["error_y"] = _errors(line.y, line.errors)
    if not line.hover:
        return trace | {"hoverinfo": "skip"}
    trace["text"] = list(map(markup, line.hover))
    # Plotly fills in ``%{...}`` in templates.
    head, foot = (markup(text).replace("%{", "%&#123;") for text in (line.head, line.foot))
    parts = [f"<b>{head}</b>" if head else "", "%{text}", foot]
    trace["hovertemplate"] = "<br>".join(filter(None, parts)) + _beside(line.name if not head else "")
    if with_links and line.links:
        trace["meta"] = {"links": list(line.links), **({"times": list(line.times)} if line.times else {})}
    return trace


def _bars(bars: Bars, figure: Figure, plot: Plot, *, with_links: bool) -> Json:
    along, value_axis = (plot.y, figure.x) if bars.is_horizontal else (figure.x, plot.y)
    values, error = ("x", "error_x") if bars.is_horizontal else ("y", "error_y")
    count = len(bars.values)
    own = [bars.colours] * count if isinstance(bars.colours, str) else list(bars.colours)
    fills = [_SURFACE if number in bars.hollow else colour for number, colour in enumerate(own)]
    trace: Json = {
        "name": markup(bars.name),
        values: list(bars.values),
        "y" if bars.is_horizontal else "x": list(bars.at) if bars.is_horizontal else _places(bars.at, along),
        "marker": {"color": fills, "line": {"color": own, "width": 1.5 if bars.is_horizontal else 0}},
        "customdata": list(map(markup, bars.hover)),
        "hovertemplate": "%{customdata}" + _beside(bars.name),
    }
    if any(bars.errors):
        # Plotly ends even an error of nothing with a tick.
        trace[error] = _errors(bars.values, bars.errors) | {"color": _INK}
    if with_links and bars.links:
        trace["meta"] = {"links": list(bars.links)}
    if value_axis.scale == "log":
        trace["marker"]["size"] = 9
        return trace | {"type": "scatter", "mode": "markers"}
    if bars.widths or bars.is_horizontal:
        trace["width"] = list(bars.widths) or 0.72
    if bars.is_horizontal:
        trace["orientation"] = "h"
    if bars.texts:
        trace |= {"text": list(bars.texts), "textposition": "inside", "insidetextanchor": "end"}
    return trace | {"type": "bar"}


def _beside(name: str) -> str:
    """Return the end of a template beside which Plotly writes the name of the line, or nothing."""
    return "" if name else "<extra></extra>"


def _errors(values: Sequence[float | None], intervals: Sequence[Interval | None]) -> Json:
    lengths = [
        (None, None) if value is None or ends is None else (ends[1] - value, value - ends[0])
        for value, ends in zip(values, intervals, strict=True)
    ]
    above, below = zip(*lengths, strict=True)
    sides = {"symmetric": False, "array": list(above), "arrayminus": list(below)}
    return {"type": "data", **sides, "thickness": 1, "width": 3}


def _band(band: Band, axis: Axis) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _places(band.x, axis),
        "y": list(band.y),
        "fill": "toself",
        "fillcolor": band.colour,
        "line": {"color": band.colour, "width": 0},
        "opacity": band.opacity,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _axis_marks(marks: AxisMarks, figure: Figure) -> Json:
    titled = (text.partition("\n") for text in marks.hover)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": marks.name,
        "x": _places(marks.x, figure.x),
        # Above the line of the axis, which is drawn over it.
        "y": [0.012] * len(marks.x),
        "yaxis": _axis_name("y", len(figure.plots)),
        "marker": {"symbol": marks.symbol, "size": 10, "color": marks.colour},
        "text": [f"<b>{markup(title)}</b><br>{markup(words)}" for title, _, words in titled],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
        "showlegend": False,
    }


# --- marks ------------------------------------------------------------------------------------------------


def _shape(mark: VerticalLine | Level | Shade) -> Json:
    through_all = {"yref": "paper", "y0": 0, "y1": 1}
    match mark:
        case VerticalLine():
            line = {"color": mark.colour, "width": mark.width, "dash": mark.dash}
            shape = {"type": "line", "x0": mark.x, "x1": mark.x, **through_all, "line": line}
            return shape | ({"layer": "below"} if mark.is_below else {})
        case Level():
            ends = mark.x or (0, 1)
            line = {"color": mark.colour, "width": mark.width, "dash": mark.dash}
            y_end = mark.y if mark.y_end is None else mark.y_end
            shape = {"type": "line", "x0": ends[0], "x1": ends[1], "y0": mark.y, "y1": y_end, "line": line}
            return shape | ({} if mark.x else {"xref": "paper"})
    line = {"color": mark.colour, "width": 1 if mark.has_edges else 0}
    look = {"fillcolor": mark.colour, "opacity": mark.opacity, "line": line, "layer": "below"}
    return {"type": "rect", "x0": mark.x[0], "x1": mark.x[1], **through_all, **look}


def _label(label: Label) -> Json:
    """Write a word; one that stands above the plot takes the first row there."""
    vertical = {"above": "bottom", "top": "top", "bottom": "bottom"}
    horizontal = {"left": ("right", -4), "middle": ("center", 0), "right": ("left", 4)}
    anchor, shift = horizontal[label.side]
    return {
        "text": markup(label.text),
        "x": label.x,
        "xanchor": anchor,
        "xshift": shift,
        "y": 0 if label.where == "bottom" else 1,
        "yref": "paper" if label.where != "bottom" else "y domain",
        "yanchor": vertical[label.where],
        **({"yshift": 0} if label.where == "above" else {}),
        "showarrow": False,
        "font": {"size": 11, "color": label.colour},
    }


def _flags(
    figure: Figure, parts: tuple[float, float], *, with_links: bool, with_words: bool = True
) -> list[Json]:
    """Write the numbers, each leading to its row in the list, and what changed beside them."""
    labels = []
    for flag, row, is_left in figure.flag_rows(lambda flag: parts[0 if flag.words else 1]):
        place = {
            "x": flag.x,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "yshift": row * _FLAG_HEIGHT,
            "xanchor": "right" if is_left else "left",
            "showarrow": False,
        }
        ground, ink = (flag.colour, _SURFACE) if flag.is_filled else (_SURFACE, flag.colour)
        link = f'<a href="#flag-{flag.number}" target="_self">{flag.text}</a>'
        frame = {"bgcolor": ground, "bordercolor": flag.colour, "borderwidth": 1, "borderpad": 2}
        number = {"name": f"flag-{flag.number}", "text": link if with_links else flag.text, **frame}
        labels.append({**number, **place, "font": {"size": 11, "color": ink}})
        if flag.words and with_words:
            beside = _FLAG_PADDING + len(flag.text) * _LETTER
            shift = {"xshift": -beside if is_left else beside}
            words = {"text": markup(flag.words), "font": {"size": 11, "color": flag.colour}}
            labels.append({**words, **place, **shift})
    return labels
