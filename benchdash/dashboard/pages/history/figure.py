"""Series against versions or against time, with what happened to them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from math import isnan, nan
from operator import itemgetter
from typing import Final, Literal

from benchdash.charts.colours import ordered_colours, token, unordered_colour
from benchdash.charts.figure import (
    Axis,
    AxisMarks,
    Band,
    Figure,
    FlagMark,
    Level,
    Line,
    Mark,
    Plot,
    Position,
    Shade,
    VerticalLine,
    shortened,
)
from benchdash.charts.parts import (
    hover_text,
    intervals,
    log_is_better,
    metric_axis,
    names_axis,
    relative_axis,
    time_axis,
)
from benchdash.dashboard.pages.history.flags import Flag, flags_of
from benchdash.dashboard.pages.history.histories import (
    HistoryLine,
    HistoryLook,
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
# The levels around a change are drawn over this many groups, or this part of the axis.
_LEVEL_GROUPS: Final = 2
_LEVEL_PART: Final = 0.06
_MAX_PER_CENT: Final = 300.0
_MAX_WORDS: Final = 8
# More dotted lines than this would hide those of histories.
_MAX_DOTTED: Final = 20


def line_colours(series: Sequence[Series]) -> list[str]:
    """Return a ramp for release lines or thread counts of one thing, else colours that only differ."""
    if len(series) > 1 and (differ_only_in(series, "line") or differ_only_in(series, "threads")):
        return ordered_colours(len(series))
    return [unordered_colour(index) for index in range(len(series))]


def suits_log(lines: Sequence[HistoryLine]) -> bool:
    """Tell whether response times span more than a decade, so that a log axis shows them better."""
    if not lines or not lines[0].series.metric.startswith("latency_"):
        return False
    return log_is_better([point.value for line in lines for point in line.points])


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
    marks: list[Mark] = [*_joined(lines, look)]
    for line, name, colour in zip(lines, names, colours, strict=True):
        marks += _lines(line, name, colour, look, run_url, with_times=with_times)
    marks += [*_on_axis(flags), *_flag_lines(flags), *_levels(lines, colours, look), *_spans(flags)]
    marks += map(_flag, _by_weight(flags))
    # Names at the ends of release lines would stand in the order of values, and where no line ends.
    place: Literal["beside", "ends"] = "beside" if _are_release_lines(lines) else "ends"
    return Figure(_x_axis(lines, look, flags), [Plot(_y_axis(lines, look), marks)], names=place)


def _lines(
    line: HistoryLine,
    name: str,
    colour: str,
    look: HistoryLook,
    run_url: Callable[[int], str],
    *,
    with_times: bool,
) -> Iterator[Line | Band]:
    factor, series = look.factor(line), line.series

    def drawn(points: Sequence[Point], after: str = "") -> Line:
        times = [f"{point.time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}" for point in points if with_times]
        return Line(
            "",
            [look.place(line, point) for point in points],
            [_drawn(point.value * factor) for point in points],
            colour,
            hover=["" if isnan(point.value) else f"{_hover(line, point, look)}{after}" for point in points],
            links=[run_url(point.run_id) for point in points],
            times=times,
        )

    points = _drawn_points(line, MAX_POINTS)
    if len(points) > _MAX_ERROR_BARS and (band := _band(line, points, colour, look)):
        yield band
    ends = ((_scaled_low(point, factor, look), _scaled(point.high, factor)) for point in points)
    has_bars = len(points) <= _MAX_ERROR_BARS
    yield replace(
        drawn(points),
        name=shortened(name),
        head=name,
        foot=f"{series.hardware.name}, configuration {series.configuration.name}",
        size=6 if len(points) <= _MAX_MARKERS else 0,
        errors=intervals([point.value * factor for point in points], ends) if has_bars else (),
    )
    if line.excluded:
        # Hollow markers, which no line joins.
        excluded = drawn(line.excluded[-MAX_POINTS:], "\nexcluded")
        yield replace(excluded, width=0, size=7, symbol="circle-open")


def _are_release_lines(lines: Sequence[HistoryLine]) -> bool:
    return len(lines) > 1 and differ_only_in([line.series for line in lines], "line")


def _joined(lines: Sequence[HistoryLine], look: HistoryLook) -> Iterator[Line]:
    """Join release lines that have one version each: dots alone would not say which comes after which."""
    if not _are_release_lines(lines) or any(len(line.points) > 1 for line in lines):
        return
    placed = [(line, point) for line in lines for point in line.points]
    x = [look.place(line, point) for line, point in placed]
    y = [_drawn(point.value * look.factor(line)) for line, point in placed]
    yield Line("", x, y, token("line"), size=0)


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


def _band(line: HistoryLine, points: Sequence[Point], colour: str, look: HistoryLook) -> Band | None:
    """Draw the intervals of very many points: a ground behind each stretch that has them."""
    factor = look.factor(line)
    x: list[Position | None] = []
    y: list[float | None] = []
    for has_band, found in groupby(points, key=_has_band):
        stretch = list(found)
        if has_band and len(stretch) > 1:
            places = [look.place(line, point) for point in stretch]
            lows = [_scaled_low(point, factor, look) for point in stretch]
            x += [*places, *reversed(places), None]
            y += [*(_scaled(point.high, factor) for point in stretch), *reversed(lows), None]
    return Band(x, y, colour, 0.25) if x else None


def _has_band(point: Point) -> bool:
    return point.low is not None and point.high is not None and point.high <= 2 * point.value


def _hover(line: HistoryLine, point: Point, look: HistoryLook) -> str:
    series = line.series
    unit = numbers.unit_words(series.metric, series.unit) or numbers.short_metric_name(series.metric)
    value = hover_text(point.value, point.low, point.high, point.n, unit)
    if look.relative:
        value = f"{numbers.number(point.value * look.factor(line))}{numbers.NO_BREAK}%: {value}"
    time = numbers.exact_time(point.time.astimezone(UTC))
    return f"{version_words(point, series.branch)}\n{value}\n{time}"


def _on_axis(flags: Sequence[Flag]) -> Iterator[AxisMarks]:
    """Mark on the axis what people and settings did; a hover says what."""
    if switched := [flag for flag in flags if flag.switches]:
        texts = [_hover_of(flag, "settings changed", flag.switches) for flag in switched]
        places = [flag.place for flag in switched]
        yield AxisMarks(places, texts, "triangle-up", token("ink-2"))
    if written := [flag for flag in flags if flag.annotations]:
        texts = [
            _hover_of(flag, "annotation", [f"{one.at:%Y-%m-%d}: {one.text}" for one in flag.annotations])
            for flag in written
        ]
        places = [flag.place for flag in written]
        yield AxisMarks(places, texts, "diamond", token("accent"))


def _hover_of(flag: Flag, what: str, words: Sequence[str]) -> str:
    shown = [shortened(word, 80) for word in words[:_MAX_WORDS]]
    more = [f"and {len(words) - _MAX_WORDS} more"] if len(words) > _MAX_WORDS else []
    return "\n".join([f"{flag.number}: {what}", *shown, *more])


def _spans(flags: Iterable[Flag]) -> list[Shade]:
    """Draw a pale ground behind each annotated span."""
    ends = [(flag.place, flag.end) for flag in flags if flag.place != flag.end]
    return [Shade(pair, token("accent"), 0.08) for pair in ends]


def _flag_lines(flags: Sequence[Flag]) -> list[VerticalLine]:
    """Draw a vertical line at each flag: solid where a change is confirmed, else dotted."""
    return [
        VerticalLine(
            flag.place,
            _colour(flag),
            width=1.5 if flag.changes else 1,
            dash="solid" if flag.is_confirmed else "dot",
            is_below=True,
        )
        for flag in flags
        if flag.changes or len(flags) <= _MAX_DOTTED
    ]


def _colour(flag: Flag) -> str:
    if flag.changes:
        return token(f"{flag.tone}-ink")
    return token("accent" if flag.annotations else "ink-2")


def _levels(lines: Sequence[HistoryLine], colours: Sequence[str], look: HistoryLook) -> list[Level]:
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
                levels.append(Level(value * factor, (x0, x_end), colour=shade, width=2.5))
    return levels


def _by_weight(flags: Iterable[Flag]) -> list[Flag]:
    """Return flags, confirmed and large changes first."""
    return sorted(flags, key=lambda flag: flag.weight, reverse=True)


def _flag(flag: Flag) -> FlagMark:
    """Return the number above the plot, filled where a change is confirmed, with the largest change."""
    more = f" +{len(flag.changes) - 1}" if len(flag.changes) > 1 else ""
    words = change_words(flag.largest) + more if flag.largest else ""
    return FlagMark(flag.place, flag.number, flag.text, words, _colour(flag), flag.is_confirmed)


def _x_axis(lines: Sequence[HistoryLine], look: HistoryLook, flags: Sequence[Flag]) -> Axis:
    """Return the axis with labels at changes before others."""
    changed = [flag.place for flag in _by_weight(flags) if flag.changes]
    if look.axis is None:
        times = [point.time for line in lines for point in line.all_points]
        axis = time_axis(min(times), max(times), changed)
    else:
        axis = names_axis(look.axis.labels, changed)
    return replace(axis, max_ticks=_MAX_TICKS)


def _y_axis(lines: Sequence[HistoryLine], look: HistoryLook) -> Axis:
    series = lines[0].series
    axis = (
        relative_axis("the first level", series.direction, log=look.log)
        if look.relative
        else metric_axis(series.metric, series.unit, series.direction, log=look.log)
    )
    beside = ", relative to control" if any(line.is_beside_control for line in lines) else ""
    return replace(axis, title=axis.title + beside)


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
    one_scale = not look.log and min(largest) > 0 and not log_is_better(largest)
    return Shared(y=(0, max(largest) * 1.05) if one_scale else None, times=span)


def small_figure(
    lines: Sequence[HistoryLine], names: Sequence[str], look: HistoryLook, shared: Shared
) -> Figure:
    """Draw a chart without titles and tools, for its place among many."""
    colours = line_colours([line.series for line in lines])
    marks: list[Mark] = [*_joined(lines, look)]
    for line, name, colour in zip(lines, names, colours, strict=True):
        marks.append(_small_line(line, name if len(lines) > 1 else "", colour, look))
    for line, colour in zip(lines, colours, strict=True):
        marks += _edge(line, colour, look, shared)
    marks += _flag_lines([flag for flag in flags_of(lines, look) if flag.changes])
    y_range = shared.y if not look.log else None
    y_axis = replace(_y_axis(lines, look), title="", max_ticks=4, range=y_range)
    return Figure(_small_x_axis(look, shared), [Plot(y_axis, marks)], is_small=True)


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


def _edge(line: HistoryLine, colour: str, look: HistoryLook, shared: Shared) -> Iterator[Line]:
    """Mark values beyond the axis at its edge; a hover says them."""
    points = _clipped(line, look, shared)
    if points and shared.y is not None:
        yield Line(
            "",
            [look.place(line, point) for point in points],
            [shared.y[1]] * len(points),
            colour,
            width=0,
            size=9,
            symbol="triangle-up-open",
            hover=[
                f"{version_words(point, line.series.branch)}\n{numbers.number(point.value)}, above it"
                for point in points
            ],
        )


def _small_line(line: HistoryLine, name: str, colour: str, look: HistoryLook) -> Line:
    points = _drawn_points(line, _POINTS_IN_SMALL)
    factor, before = look.factor(line), f"{name}, " if name else ""

    def hover(point: Point) -> str:
        if isnan(point.value):
            return ""
        return f"{before}{version_words(point, line.series.branch)}\n{numbers.number(point.value)}"

    return Line(
        "",
        [look.place(line, point) for point in points],
        [_drawn(point.value * factor) for point in points],
        colour,
        width=1.5,
        size=4 if len(points) <= _MAX_MARKERS_IN_SMALL else 0,
        hover=list(map(hover, points)),
    )


def _small_x_axis(look: HistoryLook, shared: Shared) -> Axis:
    if look.axis is None:
        axis = time_axis(*shared.times) if shared.times else Axis(scale="time", has_grid=False)
        return replace(axis, title="", max_ticks=4)
    labels = look.axis.labels
    ticks = [(tick, shortened(labels[tick], 14)) for tick in sorted({0, len(labels) - 1})]
    return Axis(ticks=ticks, range=(-0.5, len(labels) - 0.5), has_grid=False)


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
