"""Figures as Plotly reads them, in a browser: ``{"data": [...], "layout": {...}}``.

Colours stay names of tokens, which chart.js looks up. Keys of ours ride in ``meta``, which Plotly leaves
alone: ``layout.meta.end_labels`` asks for names at the ends of lines, ``few_ticks`` and ``narrow`` are for
narrow screens, and ``trace.meta`` holds an address, and the time, of every point.
"""

import html
from collections.abc import Iterable, Sequence
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
    ValueMark,
    VerticalLine,
)

Json = dict[str, Any]

_MAX_UNIFIED_LINES: Final = 8
# The part of the height between two plots.
_GAP: Final = 0.05
_FLAG_HEIGHT: Final = 20
# The labels of an axis on a narrow screen.
_FEW_TICKS: Final = 3
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
    names = list(map(markup, figure.x.names))
    for number, plot in enumerate(figure.plots):
        axis = {"yaxis": _axis_name("y", number)} if len(figure.plots) > 1 else {}
        for mark in plot.marks:
            match mark:
                case Line():
                    data.append(_trace(mark, plot, names, with_links=with_links) | _line(mark) | axis)
                case Bars():
                    is_log = (figure.x if plot.has_rows else plot.y).scale == "log"
                    look = _bars_as_points(mark) if is_log else _bars(mark, plot)
                    data.append(_trace(mark, plot, names, with_links=with_links) | look | axis)
                case Band():
                    data.append(_band(mark, plot, names) | axis)
                case AxisMarks():
                    # An axis for the marks along the horizontal one has no ticks of its own.
                    own = {"yaxis": _axis_name("y", len(figure.plots))}
                    data.append(_axis_marks(mark, plot, names) | own)
                case VerticalLine() | Level() | Shade():
                    shapes.append(_shape(mark))
                case Label():
                    labels.append(_label(mark))
    labels += _flags(figure, _FLAG_PARTS, with_links=with_links)
    layout = _layout(figure, names)
    layout |= {"margin": _margin(figure, labels), "shapes": shapes, "annotations": labels}
    if figure.flags:
        few = _flags(figure, _FLAG_PARTS_OF_NARROW, with_links=with_links, with_words=False)
        layout["meta"]["narrow"] = {"margin": _margin(figure, few), "annotations": few}
    return {"data": data, "layout": layout}


def markup(text: str) -> str:
    """Escape a text: Plotly reads tags in names, labels and hover texts."""
    return html.escape(text, quote=False).replace("\n", "<br>")


# --- layout -----------------------------------------------------------------------------------------------


def _layout(figure: Figure, names: Sequence[str]) -> Json:
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
        "xaxis": _axis(figure.x) | _named_places(figure.x, names),
    }
    if figure.names == "above":
        layout["legend"] |= {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}
    if figure.x.key_places is not None:
        layout["xaxis"] |= _ticks(figure.x.chosen_ticks(figure.x.max_ticks), names)
        layout["meta"]["few_ticks"] = _ticks(figure.x.chosen_ticks(_FEW_TICKS), names)
    height = (1 - _GAP * (len(plots) - 1)) / len(plots)
    for number, plot in enumerate(plots):
        top = 1 - number * (height + _GAP)
        domain = {"domain": [max(0, top - height), top]} if len(plots) > 1 else {}
        layout[_axis_name("yaxis", number)] = (
            _axis(plot.y) | (_rows(plot.y) if plot.has_rows else {}) | domain
        )
    if len(plots) > 1:
        layout["xaxis"]["anchor"] = _axis_name("y", len(plots) - 1)
        layout["hoversubplots"] = "axis"
    if any(isinstance(mark, AxisMarks) for mark in figure.marks):
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


def _axis(axis: Axis) -> Json:
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
    if axis.ticks:
        written |= _ticks(axis.ticks)
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


def _named_places(axis: Axis, names: Sequence[str]) -> Json:
    """Return what a horizontal axis of names has beside; nothing for one of numbers or times."""
    if axis.scale != "names":
        return {}
    return {"type": "category", "categoryorder": "array", "categoryarray": names}


def _rows(axis: Axis) -> Json:
    ends = [len(axis.names) - 0.5, -0.5]
    return {**_ticks(list(enumerate(axis.names))), "range": ends, "ticks": "", "fixedrange": True}


def _ticks(ticks: Sequence[Tick], names: Sequence[str] = ()) -> Json:
    places = _places([at for at, _ in ticks], names)
    return {"tickmode": "array", "tickvals": places, "ticktext": [markup(text) for _, text in ticks]}


def _places(places: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Return places as traces have them: names are told by themselves."""
    return [None if place is None else names[place] for place in places] if names else list(places)


# --- traces -----------------------------------------------------------------------------------------------


def _trace(points: ValueMark, plot: Plot, names: Sequence[str], *, with_links: bool) -> Json:
    trace: Json = {
        "name": markup(points.name),
        "x": _places(points.x, names),
        "y": list(points.y),
        "showlegend": bool(points.name) and points.is_named,
    }
    if any(points.errors):
        # Plotly ends even an error of nothing with a tick.
        along, values = ("error_x", trace["x"]) if plot.has_rows else ("error_y", points.y)
        trace[along] = _errors(values, points.errors)
        if isinstance(points, Bars):
            trace[along]["color"] = _INK
        elif not isinstance(points.colour, str):
            trace[along]["color"] = _INK_2
    if with_links and points.links:
        times = {"times": list(points.times)} if points.times else {}
        trace["meta"] = {"links": list(points.links), **times}
    return trace


def _line(line: Line) -> Json:
    modes = [name for name, is_so in (("lines", line.width), ("markers", line.size)) if is_so]
    colour = line.colour if isinstance(line.colour, str) else _INK
    trace: Json = {
        "type": "scatter",
        "mode": "+".join(modes),
        "line": {"color": colour, "width": line.width, "dash": line.dash},
        "connectgaps": False,
    }
    if line.size:
        symbol = {} if line.symbol == "circle" else {"symbol": line.symbol}
        trace["marker"] = {"color": line.colour, "size": line.size, **symbol}
    if not line.width:
        # Points at the edge are not cut in half.
        trace["cliponaxis"] = False
    if not line.hover:
        return trace | {"hoverinfo": "skip"}
    # Plotly fills in ``%{...}`` in templates.
    head, foot = (markup(text).replace("%{", "%&#123;") for text in (line.head, line.foot))
    parts = filter(None, (f"<b>{head}</b>" if head else "", "%{text}", foot))
    template = "<br>".join(parts) + _beside(line.name if not head else "")
    return trace | {"text": list(map(markup, line.hover)), "hovertemplate": template}


def _bars(bars: Bars, plot: Plot) -> Json:
    look = _bars_as_points(bars) | {"type": "bar"}
    del look["mode"], look["marker"]["size"]
    if plot.has_rows:
        return look | {"orientation": "h", "width": 0.72}
    look["marker"]["line"]["width"] = 0
    if bars.widths:
        look["width"] = list(bars.widths)
    if bars.texts:
        look |= {"text": list(bars.texts), "textposition": "inside", "insidetextanchor": "end"}
    return look


def _bars_as_points(bars: Bars) -> Json:
    fills = [_SURFACE if number in bars.hollow else colour for number, colour in enumerate(bars.colours)]
    return {
        "type": "scatter",
        "mode": "markers",
        "marker": {"color": fills, "size": 9, "line": {"color": list(bars.colours), "width": 1.5}},
        "customdata": list(map(markup, bars.hover)),
        "hovertemplate": "%{customdata}" + _beside(bars.name),
    }


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


def _band(band: Band, plot: Plot, names: Sequence[str]) -> Json:
    edge = Line("", band.x, band.y, band.colour, width=0, size=0)
    ground = {"mode": "lines", "fill": "toself", "fillcolor": band.colour, "opacity": band.opacity}
    return _trace(edge, plot, names, with_links=False) | _line(edge) | ground


def _axis_marks(marks: AxisMarks, plot: Plot, names: Sequence[str]) -> Json:
    # Above the line of the axis, which is drawn over it.
    y = [0.012] * len(marks.x)
    points = Line("", marks.x, y, marks.colour, width=0, size=10, symbol=marks.symbol, hover=marks.hover)
    titled = (markup(text).partition("<br>") for text in marks.hover)
    texts = [f"<b>{title}</b><br>{words}" for title, _, words in titled]
    return _trace(points, plot, names, with_links=False) | _line(points) | {"text": texts}


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
