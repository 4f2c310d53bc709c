"""Series against versions or against time, with what happened to them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isnan, nan
from operator import itemgetter
from typing import Any, Final

from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure, plain, shortened, token
from benchdash.dashboard.pages.history.flags import Flag, flags_of
from benchdash.dashboard.pages.history.histories import (
    HistoryLine,
    HistoryLook,
    Position,
    iso,
    version_words,
)
from benchdash.dashboard.shell import numbers
from benchdash.regressions.headlines import change_words
from benchdash.results.models import Series
from benchdash.results.points import Point
from benchdash.results.thinning import thinned

MAX_POINTS: Final = 2000
_MAX_MARKERS: Final = 600
_MAX_ERROR_BARS: Final = 200
_POINTS_IN_SMALL: Final = 150
_MAX_MARKERS_IN_SMALL: Final = 20
_MAX_TICKS: Final = 10
_MAX_TICKS_OF_NARROW: Final = 3
# Ticks stand at least this part of their even distance apart.
_TICK_ROOM: Final = 0.9
# The levels around a change are drawn over this many groups, or this part of the axis.
_LEVEL_GROUPS: Final = 2
_LEVEL_PART: Final = 0.06
# The parts of the axis over which a flag with its change reaches, and one that is a number alone; those on a
# narrow screen, where all are.
_FLAG_PARTS: Final = (0.13, 0.03)
_FLAG_PARTS_OF_NARROW: Final = (0.14, 0.09)
_FLAG_ROWS: Final = 3
_FLAG_HEIGHT: Final = 20
_MAX_LABEL: Final = 20
_MAX_PER_CENT: Final = 300.0
# The width of a letter of a flag, and of what is around its text.
_LETTER: Final = 7
_FLAG_PADDING: Final = 10
_MAX_WORDS: Final = 8
# More dotted lines than this would hide those of histories.
_MAX_DOTTED: Final = 20


def line_colours(series: Sequence[Series]) -> list[str]:
    """Return a ramp for release lines or thread counts of one thing, else colours that only differ."""
    if len(series) > 1 and (differ_only_in(series, "line") or differ_only_in(series, "threads")):
        return common.ordered_colours(len(series))
    return [common.unordered_colour(index) for index in range(len(series))]


def suits_log(lines: Sequence[HistoryLine]) -> bool:
    """Tell whether response times span more than a decade, so that a log axis shows them better."""
    if not lines or not lines[0].series.metric.startswith("latency_"):
        return False
    return common.log_is_better([point.value for line in lines for point in line.points])


def history_figure(
    lines: Sequence[HistoryLine],
    names: Sequence[str],
    look: HistoryLook,
    run_url: Callable[[int], str],
    flags: Sequence[Flag] = (),
    *,
    with_times: bool = False,
) -> Figure:
    """Draw one chart of series of one metric; ``names`` are those of the lines, ``flags`` what happened.

    ``with_times``: points carry their times, by which chart.js tells the groups
    in view.
    """
    colours = line_colours([line.series for line in lines])
    data: list[dict[str, Any]] = [*_joined(lines, look, look.x)]
    for line, name, colour in zip(lines, names, colours, strict=True):
        data += _traces(line, name, colour, look, run_url, with_times=with_times)
    data += _on_axis(flags, look)

    def flagged(parts: tuple[float, float], *, with_changes: bool) -> dict[str, Any]:
        labels, rows = [], 0
        for flag, row, is_at_end in _flag_rows(flags, lines, look, parts):
            labels.append(_flag(flag, row, is_at_end=is_at_end))
            labels += _change_of(flag, row, is_at_end=is_at_end) if with_changes else []
            rows = max(rows, row + 1)
        return {"margin": {"l": 64, "r": 16, "t": 12 + _FLAG_HEIGHT * rows, "b": 36}, "annotations": labels}

    layout = common.base_layout(
        lines=len(lines),
        xaxis={**_x_axis(lines, look), **_ticks(flags, lines, look, _MAX_TICKS)},
        yaxis=_y_axis(lines, look),
        # An axis for the marks along the horizontal one; it has no ticks of its own.
        yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
        shapes=[*_flag_lines(flags), *_levels(lines, colours, look), *_spans(flags)],
        **flagged(_FLAG_PARTS, with_changes=True),
    )
    if differ_only_in([line.series for line in lines], "line"):
        # Names at the ends would stand in the order of values, and where no line ends.
        layout["showlegend"] = len(lines) > 1
        layout["meta"]["end_labels"] = False
    # On a narrow screen fewer labels have room: chart.js takes these.
    layout["meta"]["few_ticks"] = _ticks(flags, lines, look, _MAX_TICKS_OF_NARROW)
    if flags:
        layout["meta"]["narrow"] = flagged(_FLAG_PARTS_OF_NARROW, with_changes=False)
    return common.figure(data, layout)


def _traces(
    line: HistoryLine,
    name: str,
    colour: str,
    look: HistoryLook,
    run_url: Callable[[int], str],
    *,
    with_times: bool,
) -> Iterable[dict[str, Any]]:
    factor, series = look.factor(line), line.series

    def trace(called: str, points: Sequence[Point], after: str = "", **parts: Any) -> dict[str, Any]:
        drawn = common.line(
            called,
            [look.x(line, point) for point in points],
            [_drawn(point.value * factor) for point in points],
            colour=colour,
            hover=["" if isnan(point.value) else f"{_hover(line, point, look)}{after}" for point in points],
            links=[run_url(point.run_id) for point in points],
            **parts,
        )
        if with_times:
            drawn["meta"]["times"] = [
                f"{point.time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}" for point in points
            ]
        return drawn

    points = _drawn_points(line, MAX_POINTS)
    if len(points) > _MAX_ERROR_BARS and (band := _band(line, points, colour, look)):
        yield band
    where = f"{series.hardware.name}, configuration {series.configuration.name}"
    # Plotly fills in ``%{...}`` in templates.
    called, place = (plain(text).replace("%{", "%&#123;") for text in (name, where))
    parts: dict[str, Any] = {"hovertemplate": f"<b>{called}</b><br>%{{text}}<br>{place}<extra></extra>"}
    if len(points) <= _MAX_ERROR_BARS and any(point.low is not None for point in points):
        values = [point.value * factor for point in points]
        lows = [_scaled_low(point, factor, look) for point in points]
        parts["error_y"] = common.error_bars(values, lows, [_scaled(point.high, factor) for point in points])
    mode = "lines+markers" if len(points) <= _MAX_MARKERS else "lines"
    yield trace(shortened(name), points, mode=mode, **parts)
    if line.excluded:
        # Hollow markers, which no line joins.
        yield trace(
            f"{shortened(name)}, excluded",
            line.excluded[-MAX_POINTS:],
            "<br>excluded",
            mode="markers",
            marker={"color": colour, "size": 7, "symbol": "circle-open"},
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )


def _joined(
    lines: Sequence[HistoryLine], look: HistoryLook, at: Callable[[HistoryLine, Point], Position]
) -> Iterable[dict[str, Any]]:
    """Join release lines that have one version each: dots alone would not say which comes after which.

    ``at`` is the place of a point on the axis.
    """
    if len(lines) < 2 or any(len(line.points) > 1 for line in lines):
        return
    if not differ_only_in([line.series for line in lines], "line"):
        return
    placed = [(line, point) for line in lines for point in line.points]
    yield {
        "type": "scatter",
        "mode": "lines",
        "x": [at(line, point) for line, point in placed],
        "y": [_drawn(point.value * look.factor(line)) for line, point in placed],
        "line": {"color": token("line"), "width": 2},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _drawn_points(line: HistoryLine, most: int) -> list[Point]:
    """Return the points to draw. Groups without a control are among them without a value: gaps."""
    kept = _kept(line, most)
    in_order = [(index, 1, line.points[index]) for index in kept]
    in_order += [
        (index, 0, point._replace(value=nan, low=None, high=None)) for index, point in line.without_control
    ]
    return [point for _, _, point in sorted(in_order, key=itemgetter(0, 1))]


def _kept(line: HistoryLine, most: int) -> list[int]:
    """Return the indexes of the points to draw: extremes, and both sides of each change."""
    happened = {*line.shifts, *(index - 1 for index in line.shifts if index)}
    return thinned([point.value for point in line.points], most, keep=happened)


def _band(line: HistoryLine, points: Sequence[Point], colour: str, look: HistoryLook) -> dict[str, Any]:
    """Draw the intervals of very many points: a ground behind each stretch that has them."""
    factor = look.factor(line)
    x: list[str | None] = []
    y: list[float | None] = []
    for stretch in common.stretches((point, point.value, point.low, point.high) for point in points):
        there = [look.x(line, point) for point in stretch]
        lows = [_scaled_low(point, factor, look) for point in stretch]
        x += [*there, *reversed(there), None]
        y += [*(_scaled(point.high, factor) for point in stretch), *reversed(lows), None]
    return common.band(x, y, colour, 0.25) if x else {}


def _hover(line: HistoryLine, point: Point, look: HistoryLook) -> str:
    series = line.series
    unit = numbers.unit_words(series.metric, series.unit) or numbers.short_metric_name(series.metric)
    value = common.hover_text(point.value, point.low, point.high, point.n, unit)
    if look.relative:
        value = f"{numbers.number(point.value * look.factor(line))}{numbers.NO_BREAK}%: {value}"
    version = plain(version_words(point, series.branch))
    return f"{version}<br>{value}<br>{numbers.exact_time(point.time.astimezone(UTC))}"


def _on_axis(flags: Iterable[Flag], look: HistoryLook) -> Iterable[dict[str, Any]]:
    """Mark on the axis what people and settings did; a hover says what."""
    switched = [flag for flag in flags if flag.switches]
    if switched:
        texts = [_hover_of(flag, "settings changed", flag.switches) for flag in switched]
        yield _marks(switched, texts, look, "settings changed", "triangle-up", "ink-2")
    written = [flag for flag in flags if flag.annotations]
    if written:
        texts = [
            _hover_of(flag, "annotation", [f"{one.at:%Y-%m-%d}: {one.text}" for one in flag.annotations])
            for flag in written
        ]
        yield _marks(written, texts, look, "annotations", "diamond", "accent")


def _marks(
    flags: Sequence[Flag], texts: Sequence[str], look: HistoryLook, name: str, symbol: str, colour: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [look.at(flag.place) for flag in flags],
        # Above the line of the axis, which is drawn over it.
        "y": [0.012] * len(flags),
        "yaxis": "y2",
        "marker": {"symbol": symbol, "size": 10, "color": token(colour)},
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
        "showlegend": False,
    }


def _hover_of(flag: Flag, what: str, words: Sequence[str]) -> str:
    shown = [plain(shortened(word, 80)) for word in words[:_MAX_WORDS]]
    more = [f"and {len(words) - _MAX_WORDS} more"] if len(words) > _MAX_WORDS else []
    return "<br>".join([f"<b>{flag.number}: {what}</b>", *shown, *more])


def _spans(flags: Iterable[Flag]) -> list[dict[str, Any]]:
    """Draw a pale ground behind each annotated span."""
    ground = {"type": "rect", "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    look = {"fillcolor": token("accent"), "opacity": 0.08, "line": {"width": 0}}
    return [{**ground, "x0": flag.place, "x1": flag.end, **look} for flag in flags if flag.place != flag.end]


def _flag_lines(flags: Sequence[Flag]) -> list[dict[str, Any]]:
    """Draw a vertical line at each flag: solid where a change is confirmed, else dotted."""
    ends = {"y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    lines = []
    for flag in flags:
        if flag.changes or len(flags) <= _MAX_DOTTED:
            dash, width = "solid" if flag.is_confirmed else "dot", 1.5 if flag.changes else 1
            line = {"color": _colour(flag), "width": width, "dash": dash}
            lines.append({"type": "line", "x0": flag.place, "x1": flag.place, **ends, "line": line})
    return lines


def _colour(flag: Flag) -> str:
    if flag.changes:
        return token(f"{flag.tone}-ink")
    return token("accent" if flag.annotations else "ink-2")


def _levels(lines: Sequence[HistoryLine], colours: Sequence[str], look: HistoryLook) -> list[dict[str, Any]]:
    """Draw the levels before and after each change as short horizontal lines."""
    levels = []
    for line, colour in zip(lines, colours, strict=True):
        ends = [0, *line.shifts, len(line.points) - 1]
        factor = look.factor(line)
        reach = max(_LEVEL_GROUPS, round(len(line.points) * _LEVEL_PART))
        for nth, (index, shift) in enumerate(line.shifts.items(), 1):
            start, end = max(index - reach, ends[nth - 1]), min(index + reach, ends[nth + 1])
            x = [look.place(line, line.points[at]) for at in (start, index, end)]
            before, after = line.levels_at(index)
            shade = token("ink") if len(lines) == 1 else colour
            sides = ((x[0], x[1], before), (x[1], x[2], after))
            # The version that a line or branch goes on from has no group here.
            for x0, x1, value in sides[1:] if shift.origin else sides:
                x_end = x1 + 0.4 if isinstance(x1, int) and x0 == x1 else x1
                levels.append(common.level(x0, x_end, value * factor, shade, 2.5))
    return levels


def _flag_rows(
    flags: Sequence[Flag], lines: Sequence[HistoryLine], look: HistoryLook, parts: tuple[float, float]
) -> Iterable[tuple[Flag, int, bool]]:
    """Return the row above the plot of each flag, and whether it reaches to the left, as there is an end.

    Where room is short, weightier ones win; ``parts`` are the parts of the axis that they take.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(_FLAG_ROWS)]
    for flag in _by_weight(flags):
        part, width = _part_of_axis(flag.place, lines, look), parts[0 if flag.changes else 1]
        is_at_end = part + width > 1
        start, end = (part - width, part) if is_at_end else (part, part + width)
        for row, others in enumerate(taken):
            if all(end <= other_start or start >= other_end for other_start, other_end in others):
                others.append((start, end))
                yield flag, row, is_at_end
                break


def _by_weight(flags: Iterable[Flag]) -> list[Flag]:
    """Return flags, confirmed and large changes first."""
    return sorted(flags, key=lambda flag: flag.weight, reverse=True)


def _part_of_axis(place: Position, lines: Sequence[HistoryLine], look: HistoryLook) -> float:
    if isinstance(place, str):
        times = [line.points[at].time for line in lines for at in (0, -1) if line.points]
        first, last = min(times), max(times)
        passed = datetime.fromisoformat(place).replace(tzinfo=UTC) - first
        return passed / (last - first) if last > first else 0.0
    return place / max(len(look.axis or ()) - 1, 1)


def _flag(flag: Flag, row: int, *, is_at_end: bool) -> dict[str, Any]:
    """Draw the number of a flag, which leads to its row in the list: filled where a change is confirmed."""
    colour = _colour(flag)
    ground, ink = (colour, token("surface")) if flag.is_confirmed else (token("surface"), colour)
    return {
        "name": f"flag-{flag.number}",
        "text": f'<a href="#flag-{flag.number}" target="_self">{flag.text}</a>',
        "bgcolor": ground,
        "bordercolor": colour,
        "borderwidth": 1,
        "borderpad": 2,
        "xanchor": "right" if is_at_end else "left",
        **_above_the_plot(flag, row),
        "font": {"size": 11, "color": ink},
    }


def _change_of(flag: Flag, row: int, *, is_at_end: bool) -> list[dict[str, Any]]:
    """Write the change beside a flag; none beside one of another kind."""
    if flag.largest is None:
        return []
    more = f" +{len(flag.changes) - 1}" if len(flag.changes) > 1 else ""
    beside = _FLAG_PADDING + len(flag.text) * _LETTER
    return [
        {
            "text": change_words(flag.largest) + more,
            "xanchor": "right" if is_at_end else "left",
            "xshift": -beside if is_at_end else beside,
            **_above_the_plot(flag, row),
            "font": {"size": 11, "color": _colour(flag)},
        }
    ]


def _above_the_plot(flag: Flag, row: int) -> dict[str, Any]:
    place = {"x": flag.place, "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {**place, "yshift": row * _FLAG_HEIGHT, "showarrow": False}


def _x_axis(lines: Sequence[HistoryLine], look: HistoryLook) -> dict[str, Any]:
    if look.axis is None:
        times = [point.time for line in lines for point in line.all_points]
        return {**common.time_axis(), "nticks": _MAX_TICKS, "range": _time_range(min(times), max(times))}
    axis = common.versions_axis(list(map(plain, look.axis.labels)))
    return {**axis, "nticks": _MAX_TICKS, "range": [-0.5, len(look.axis) - 0.5]}


def _ticks(
    flags: Sequence[Flag], lines: Sequence[HistoryLine], look: HistoryLook, most: int
) -> dict[str, Any]:
    """Return the labels of the axis: at changes, the weightiest of near ones, and evenly between them."""
    parts: dict[Position, float] = {}
    weighty = [flag.place for flag in _by_weight(flags) if flag.changes]
    for place in [*weighty, *_even_places(lines, look, most)]:
        part = _part_of_axis(place, lines, look)
        if all(abs(part - other) >= _TICK_ROOM / most for other in parts.values()):
            parts[place] = part
    ticks = sorted(parts, key=parts.__getitem__)
    return {"tickmode": "array", "tickvals": list(map(look.at, ticks)), "ticktext": _tick_texts(ticks, look)}


def _even_places(lines: Sequence[HistoryLine], look: HistoryLook, most: int) -> list[Position]:
    """Return places evenly apart, twice as near as labels may be: they have to fit between changes."""
    steps = 2 * most
    if look.axis is not None:
        return list(range(0, len(look.axis), max(len(look.axis) // steps, 1)))
    times = [point.time for line in lines for point in line.all_points]
    first, last = min(times), max(times)
    return [iso(first + (last - first) * number / steps) for number in range(steps + 1)]


def _tick_texts(ticks: Sequence[Position], look: HistoryLook) -> list[str]:
    """Return the names of versions, or days with each year once."""
    if look.axis is not None:
        return [shortened(look.at(place), _MAX_LABEL) for place in ticks]
    days = [datetime.fromisoformat(str(place)) for place in ticks]
    years = [None, *(day.year for day in days)]
    return [
        f"{day.day} {day:%b}" + ("" if day.year == before else f"<br>{day.year}")
        for day, before in zip(days, years, strict=False)
    ]


def _time_range(first: datetime, last: datetime) -> list[str]:
    """Add a little room at both ends; Plotly's own would make room for the labels of changes."""
    room = (last - first) * 0.02 or timedelta(hours=12)
    return [iso(first - room), iso(last + room)]


def _y_axis(lines: Sequence[HistoryLine], look: HistoryLook) -> dict[str, Any]:
    series = lines[0].series
    if look.relative:
        scale = {"type": "log", "dtick": "D2", "tickformat": ",~f"} if look.log else {}
        axis = {**common.relative_axis("the first level", series.direction), **scale}
    else:
        axis = common.metric_axis(series.metric, series.unit, series.direction, log=look.log)
    if any(line.is_beside_control for line in lines):
        axis["title"]["text"] += ", relative to control"
    return axis


@dataclass(frozen=True)
class Shared:
    """The ranges of axes that charts beside each other share. None: each has its own."""

    y: tuple[float, float] | None = None
    times: tuple[datetime, datetime] | None = None


def shared_axes(all_lines: Iterable[Sequence[HistoryLine]], look: HistoryLook) -> Shared:
    """Return the shared axes: percentages share one, values do where the largest are within a decade."""
    largest, values, times = [], [], []
    for lines in all_lines:
        found = [point.value * look.factor(line) for line in lines for point in line.points]
        times += [line.points[at].time for line in lines for at in (0, -1) if line.points]
        values += found
        largest += [max(found)] if found else []
    if not values:
        return Shared()
    span = (min(times), max(times)) if look.axis is None else None
    if look.relative:
        low, high = min(values), min(max(values), _MAX_PER_CENT)
        room = max((high - low) * 0.08, 2)
        return Shared(y=(max(low - room, 0), high + room), times=span)
    one_scale = not look.log and min(largest) > 0 and not common.log_is_better(largest)
    return Shared(y=(0, max(largest) * 1.05) if one_scale else None, times=span)


def small_figure(
    lines: Sequence[HistoryLine], names: Sequence[str], look: HistoryLook, shared: Shared
) -> Figure:
    """Draw a chart without titles and tools, for its place among many."""
    colours = line_colours([line.series for line in lines])
    data = [
        _small_trace(line, name if len(lines) > 1 else "", colour, look)
        for line, name, colour in zip(lines, names, colours, strict=True)
    ]
    data = [*_joined(lines, look, look.place), *data]
    data += [_edge(line, colour, look, shared) for line, colour in zip(lines, colours, strict=True)]
    layout = common.base_layout(
        lines=1,
        # On the right there is room for half of the last version.
        margin={"l": 44, "r": 28, "t": 6, "b": 22},
        xaxis=_small_x_axis(look, shared),
        yaxis={
            **_y_axis(lines, look),
            "title": None,
            "nticks": 4,
            **({"range": list(shared.y), "autorange": False} if shared.y and not look.log else {}),
        },
        shapes=_flag_lines([flag for flag in flags_of(lines, look) if flag.changes]),
    )
    return common.figure([trace for trace in data if trace], layout)


def clipped_words(lines: Sequence[HistoryLine], look: HistoryLook, shared: Shared) -> str:
    """Say which values lie beyond the axis; empty where all are within."""
    values = [point.value * look.factor(line) for line in lines for point in _clipped(line, look, shared)]
    if not values:
        return ""
    beyond = "1 value lies" if len(values) == 1 else f"{numbers.count(len(values))} values lie"
    unit = f"{numbers.NO_BREAK}%" if look.relative else ""
    return f"△ {beyond} above the axis, up to {numbers.number(max(values))}{unit}"


def _clipped(line: HistoryLine, look: HistoryLook, shared: Shared) -> list[Point]:
    if shared.y is None or look.log:
        return []
    return [point for point in line.points if point.value * look.factor(line) > shared.y[1]]


def _edge(line: HistoryLine, colour: str, look: HistoryLook, shared: Shared) -> dict[str, Any]:
    """Mark values beyond the axis at its edge; a hover says them. Empty where all are within."""
    points = _clipped(line, look, shared)
    if not points or shared.y is None:
        return {}
    return common.line(
        "beyond the axis",
        [look.place(line, point) for point in points],
        [shared.y[1]] * len(points),
        colour=colour,
        hover=[
            f"{plain(version_words(point, line.series.branch))}<br>{numbers.number(point.value)}, above it"
            for point in points
        ],
        mode="markers",
        marker={"color": colour, "size": 9, "symbol": "triangle-up-open"},
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )


def _small_trace(line: HistoryLine, name: str, colour: str, look: HistoryLook) -> dict[str, Any]:
    points = _drawn_points(line, _POINTS_IN_SMALL)
    factor, before = look.factor(line), f"{name}, " if name else ""

    def hover(point: Point) -> str:
        if isnan(point.value):
            return ""
        words = plain(before + version_words(point, line.series.branch))
        return f"{words}<br>{numbers.number(point.value)}"

    return common.line(
        name,
        [look.place(line, point) for point in points],
        [_drawn(point.value * factor) for point in points],
        colour=colour,
        hover=list(map(hover, points)),
        mode="lines+markers" if len(points) <= _MAX_MARKERS_IN_SMALL else "lines",
        line={"color": colour, "width": 1.5},
        marker={"color": colour, "size": 4},
        hovertemplate="%{text}<extra></extra>",
    )


def _small_x_axis(look: HistoryLook, shared: Shared) -> dict[str, Any]:
    if look.axis is None:
        times = {"range": _time_range(*shared.times)} if shared.times else {}
        return {**common.time_axis(), "title": None, "nticks": 4, **times}
    labels = look.axis.labels
    ticks = sorted({0, len(labels) - 1})
    return {
        **common.axis(showgrid=False, zeroline=False),
        "title": None,
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [plain(shortened(labels[tick], 14)) for tick in ticks],
        "range": [-0.5, len(labels) - 0.5],
    }


def _drawn(value: float) -> float | None:
    """Round to what a picture can show: thousands of points are a large part of a page. None: a gap."""
    return None if isnan(value) else float(f"{value:.7g}")


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else _drawn(value * factor)


def _scaled_low(point: Point, factor: float, look: HistoryLook) -> float | None:
    """Scale the lower end of an interval; below zero it has no place on a log axis."""
    if point.low is None or (look.log and point.low <= 0):
        return None
    return _drawn(point.low * factor)


def differ_only_in(series: Sequence[Series], field: str) -> bool:
    others = [name for name in Series.IDENTITY if name != field]
    # The id of what is a row of its own.
    columns = [f"{name}_id" if hasattr(Series, f"{name}_id") else name for name in others]
    return len({tuple(getattr(one, column) for column in columns) for one in series}) == 1
