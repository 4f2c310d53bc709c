"""Figures as shapes, for pictures that are drawn on the server: in mails and at addresses of images."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import floor, log10
from typing import Final

from benchdash.charts.colours import Theme, colour_of, token
from benchdash.charts.figure import (
    Axis,
    AxisMarks,
    Band,
    Bars,
    Figure,
    FlagMark,
    Interval,
    Label,
    Level,
    Line,
    Mark,
    Plot,
    Position,
    Shade,
    ValueMark,
    VerticalLine,
)
from benchdash.charts.png import fitting, text_width
from benchdash.charts.shapes import (
    Anchor,
    Area,
    Dot,
    Drawing,
    Place,
    Shape,
    Stroke,
    Text,
    round_ticks,
    tick_text,
)

MAX_NAMES: Final = 12
"""Lines that a legend names; how many more there are stands behind them."""

_SMALL: Final = 11
_TITLE: Final = 14
_ROW: Final = 16
_TICKS: Final = 5
_EDGE: Final = 12
_BETWEEN_LABELS: Final = 10
_FLAG_ROW: Final = 20.0
_NARROW: Final = 440
_MAX_TICK: Final = 140
_WIDTH_OF_TICK: Final = 70
_MARGIN: Final = 0.06
# The font of who looks at an SVG may be wider than that by which texts are measured here.
_CERTAIN: Final = 0.84
_DASH: Final = 5.0
_MAX_LEFT: Final = 0.4
# The part of the room of a name that its bars take, and of a bar's room that it takes itself.
_GROUP: Final = 0.8
_BAR: Final = 0.9
_INK, _INK_2, _LINE, _SURFACE = map(token, ("ink", "ink-2", "line", "surface"))


@dataclass(frozen=True)
class PictureOptions:
    """The size of a picture in points and its theme."""

    width: int
    height: int
    theme: Theme = "light"


def picture_of(figure: Figure, options: PictureOptions, *, title: str, footer: Sequence[str]) -> Drawing:
    """Draw a figure under its title and above lines of small print."""
    picture = _Picture(figure, options)
    picture.draw(title, footer)
    ground = colour_of(_SURFACE, options.theme)
    return Drawing(options.width, options.height, f"{title}. {footer[-1]}", ground, picture.shapes)


def note_of(words: str, options: PictureOptions) -> Drawing:
    """Draw a sentence in the place of a chart."""
    ink, ground = (colour_of(colour, options.theme) for colour in (_INK_2, _SURFACE))
    lines = _wrapped(words, (options.width - 2 * _EDGE) * _CERTAIN, 13)
    first = options.height / 2 - (len(lines) - 1) * 10
    shapes = [
        Text((options.width / 2, first + 20 * number), line, ink, 13, "middle")
        for number, line in enumerate(lines)
    ]
    return Drawing(options.width, options.height, words, ground, shapes)


@dataclass(frozen=True)
class _Frame:
    """A plot within the picture. Places beyond the ends of an axis lie at its edge."""

    x: Axis
    y: Axis
    left: float
    top: float
    right: float
    bottom: float

    def across(self, x: Position) -> float | None:
        part = self.x.part(x)
        return None if part is None else self.left + (self.right - self.left) * min(max(part, 0), 1)

    def down(self, y: float) -> float | None:
        part = self.y.part(y)
        return None if part is None else self.bottom - (self.bottom - self.top) * min(max(part, 0), 1)

    def place(self, x: Position | None, y: float | None) -> Place | None:
        across = None if x is None else self.across(x)
        down = None if y is None else self.down(y)
        return None if across is None or down is None else (across, down)

    def box(self, ends: tuple[Position, Position], y: Interval) -> list[Place]:
        """Return the corners of a box between two places and two values; none where one has no place."""
        corners = [(ends[0], y[0]), (ends[1], y[0]), (ends[1], y[1]), (ends[0], y[1])]
        places = [self.place(*corner) for corner in corners]
        return [place for place in places if place] if None not in places else []

    def stretches(self, xs: Iterable[Position | None], ys: Iterable[float | None]) -> Iterator[list[Place]]:
        """Yield the places of a line between its gaps."""
        places = (self.place(x, y) for x, y in zip(xs, ys, strict=True))
        for is_gap, stretch in groupby(places, key=lambda place: place is None):
            if not is_gap:
                yield [place for place in stretch if place]


class _Picture:
    def __init__(self, figure: Figure, options: PictureOptions) -> None:
        self.figure, self.options = figure, options
        self.shapes: list[Shape] = []
        self.top = 8.0
        self.room = (options.width - 2 * _EDGE) * _CERTAIN

    def draw(self, title: str, footer: Sequence[str]) -> None:
        width, height, plots = self.options.width, self.options.height, self.figure.plots
        first, *others = _wrapped(title, self.room, _TITLE)
        for line in filter(None, (first, " ".join(others))):
            self.top += _TITLE + 4
            self._text((_EDGE, self.top), fitting(line, _TITLE, self.room), size=_TITLE)
        self._legend()
        x_axis = _with_range(self.figure.x, _values_along(self.figure), is_vertical=False)
        y_axes = [_with_range(plot.y, _values_up(plot), is_vertical=True) for plot in plots]
        labels = [words for axis in y_axes for _, words in _ticks(axis)]
        widest = max((text_width(words, _SMALL) for words in labels), default=0.0)
        left, right = _EDGE + min(widest, width * _MAX_LEFT) + 6, width - _EDGE - 4
        bottom = height - (2 + len(footer)) * _ROW + 4 - (_ROW if x_axis.title else 0)
        flags = self._flag_rows(x_axis, right - left)
        has_labels = any(isinstance(mark, Label) and mark.where == "above" for mark in self.figure.marks)
        rows = max((1 + row for _, row, _ in flags), default=1 if has_labels else 0)
        each = (bottom - self.top) / len(plots)
        for number, (plot, y_axis) in enumerate(zip(plots, y_axes, strict=True)):
            top, end = self.top + number * each, self.top + (number + 1) * each
            if y_axis.title:
                words = fitting(y_axis.title.replace("\n", ", "), _SMALL, self.room)
                self._text((_EDGE, top + _ROW), words, _INK_2)
                top += _ROW
            top += 12 + (_FLAG_ROW * rows if number == 0 else 0)
            frame = _Frame(x_axis, y_axis, left, top, right, end)
            self._grid(frame)
            for mark in sorted(plot.marks, key=_layer):
                self._mark(mark, frame, plot)
            for flag, row, is_left in flags if number == 0 else ():
                self._flag(flag, row, frame, is_left=is_left)
        self._ticks_along(replace(frame, bottom=bottom))
        for number, line in enumerate(reversed(footer)):
            words = fitting(line, _SMALL, self.room)
            self._text((_EDGE, height - 8 - number * _ROW), words, _INK_2)

    # --- words ------------------------------------------------------------------------------------------

    def _legend(self) -> None:
        """Name the lines in rows above the plots, where there are several."""
        named = [line for plot in self.figure.plots for line in plot.named]
        if len(named) < 2:
            return
        x = float(_EDGE)
        self.top += _ROW + 2
        for number, line in enumerate(named):
            is_last = number == MAX_NAMES
            words = f"and {len(named) - number} more" if is_last else line.name
            words = fitting(words, _SMALL, self.room - 12)
            length = text_width(words, _SMALL) + 12
            if x > _EDGE and x + length > _EDGE + self.room:
                x, self.top = float(_EDGE), self.top + _ROW
            if not is_last:
                self._symbol((x + 4, self.top - 4), "circle", line.colours[0], 3.5)
            self._text((x + 12, self.top), words)
            x += length + 14
            if is_last:
                break

    def _grid(self, frame: _Frame) -> None:
        for value, words in _ticks(frame.y):
            place = frame.place(frame.x.range[0] if frame.x.range else None, float(value))
            if place is None:
                continue
            self._stroke([place, (frame.right, place[1])], _LINE)
            shown = fitting(words, _SMALL, frame.left - _EDGE - 6)
            self._text((frame.left - 6, place[1] + 4), shown, _INK_2, anchor="end")
        self._stroke([(frame.left, frame.bottom), (frame.right, frame.bottom)], _LINE)

    def _ticks_along(self, frame: _Frame) -> None:
        taken: list[Interval] = []
        for value, words in _ticks(frame.x, frame.right - frame.left):
            part, at = frame.x.part(value), frame.across(value)
            if at is None or part is None or not 0 <= part <= 1:
                continue
            shown = fitting(words.replace("\n", " "), _SMALL, _MAX_TICK)
            length = text_width(shown, _SMALL)
            middle = min(max(at, _EDGE + length / 2), self.options.width - 4 - length / 2)
            if _finds_room(taken, middle, length):
                self._stroke([(at, frame.bottom), (at, frame.bottom + 4)], _LINE)
                self._text((middle, frame.bottom + _ROW), shown, _INK_2, anchor="middle")
        if frame.x.title:
            place = (frame.left + frame.right) / 2, frame.bottom + 2 * _ROW - 1
            self._text(place, frame.x.title, _INK_2, anchor="middle")

    def _words(self, flag: FlagMark) -> str:
        """Return the words beside a flag; in a narrow picture it is a number alone."""
        return flag.words if self.options.width >= _NARROW else ""

    def _flag_rows(self, x_axis: Axis, width: float) -> list[tuple[FlagMark, int, bool]]:
        def part(flag: FlagMark) -> float:
            texts = filter(None, (flag.text, self._words(flag)))
            return sum(text_width(text, _SMALL) + 8 for text in texts) / width

        return list(replace(self.figure, x=x_axis).flag_rows(part))

    def _flag(self, flag: FlagMark, row: int, frame: _Frame, *, is_left: bool) -> None:
        """Write a flag above the plot, with the change beside it."""
        at, y = frame.across(flag.x), frame.top - 6 - row * _FLAG_ROW
        if at is None:
            return
        words, length = self._words(flag), text_width(flag.text, _SMALL) + 6
        start = at - length if is_left else at
        box = [(start, y + 4), (start + length, y + 4), (start + length, y - 12), (start, y - 12)]
        self._area(box, flag.colour if flag.is_filled else _SURFACE)
        self._stroke([*box, box[0]], flag.colour)
        ink = _SURFACE if flag.is_filled else flag.colour
        self._text((start + length / 2, y), flag.text, ink, anchor="middle")
        if words and is_left:
            self._text((start - 4, y), words, flag.colour, anchor="end")
        elif words:
            self._text((start + length + 4, y), words, flag.colour)

    # --- ink --------------------------------------------------------------------------------------------

    def _mark(self, mark: Mark, frame: _Frame, plot: Plot) -> None:
        match mark:
            case Line():
                self._line(mark, frame, plot)
            case Bars():
                self._bars(mark, frame, plot)
            case Band():
                for corners in frame.stretches(mark.x, mark.y):
                    self._area(corners, mark.colour, mark.opacity)
            case Shade():
                if (start := frame.across(mark.x[0])) and (end := frame.across(mark.x[1])):
                    low, high = frame.bottom, frame.top
                    corners = [(start, low), (end, low), (end, high), (start, high)]
                    self._area(corners, mark.colour, mark.opacity)
            case VerticalLine():
                if at := frame.across(mark.x):
                    dash = _DASH / 2 if mark.dash != "solid" else 0.0
                    self._stroke([(at, frame.bottom), (at, frame.top)], mark.colour, mark.width, dash)
            case Level():
                ends = mark.x or frame.x.range or (0, 1)
                values = mark.y, mark.y if mark.y_end is None else mark.y_end
                for places in frame.stretches(ends, values):
                    dash = _DASH / 2 if mark.dash != "solid" else 0.0
                    self._stroke(places, mark.colour, mark.width, dash)
            case AxisMarks():
                for at in filter(None, map(frame.across, mark.x)):
                    self._symbol((at, frame.bottom - 5), mark.symbol, mark.colour, 5)
            case Label():
                self._label(mark, frame)

    def _line(self, line: Line, frame: _Frame, plot: Plot) -> None:
        count = len(line.x)
        symbols = [line.symbol] * count if isinstance(line.symbol, str) else line.symbol
        sizes = [line.size] * count if isinstance(line.size, int | float) else line.size
        if line.width:
            dash = _DASH if line.dash != "solid" else 0.0
            for stretch in frame.stretches(line.x, line.y):
                if len(stretch) > 1:
                    self._stroke(stretch, line.colours[0], line.width * 0.8, dash)
        self._errors(line, line.y if plot.has_rows else line.x, frame, has_rows=plot.has_rows)
        for x, y, colour, symbol, size in zip(line.x, line.y, line.colours, symbols, sizes, strict=True):
            if size and x is not None and y is not None and (place := frame.place(x, y)):
                is_within = 0 <= (frame.y.part(y) or 0.0) <= 1
                self._symbol(place, symbol if is_within else "circle-open", colour, size * 0.42)

    def _bars(self, bars: Bars, frame: _Frame, plot: Plot) -> None:
        places, values = (bars.y, bars.x) if plot.has_rows else (bars.x, bars.y)
        value_axis = frame.x if plot.has_rows else frame.y
        beside = [mark for mark in plot.marks if isinstance(mark, Bars)]
        nth = next(number for number, mark in enumerate(beside) if mark is bars)
        each = _GROUP / (1 if plot.has_rows else len(beside))
        shift = 0.0 if plot.has_rows or bars.widths else each * nth - (_GROUP - each) / 2
        middles = [float(place or 0) + shift for place in places]
        for number, (at, value, colour) in enumerate(zip(middles, values, bars.colours, strict=True)):
            if not isinstance(value, int | float):
                continue
            half = bars.widths[number] / 2 if bars.widths else each / 2 * _BAR
            is_hollow = number in bars.hollow
            if value_axis.scale != "log":
                sides = (at - half, at + half)
                corners = frame.box((0, value), sides) if plot.has_rows else frame.box(sides, (0, value))
                self._area(corners, _SURFACE if is_hollow else colour)
                self._stroke([*corners, *corners[:1]], colour, 1.5)
            elif place := frame.place(value, at) if plot.has_rows else frame.place(at, value):
                self._symbol(place, "circle-open" if is_hollow else "circle", colour, 4)
        self._errors(bars, middles, frame, has_rows=plot.has_rows)

    def _errors(
        self, points: ValueMark, places: Sequence[Position | None], frame: _Frame, *, has_rows: bool
    ) -> None:
        """Draw the intervals of values, with a tick at both ends."""
        for at, ends, colour in zip(places, points.errors, points.colours, strict=False):
            if at is None or ends is None:
                continue
            found = (frame.place(end, float(at)) if has_rows else frame.place(at, end) for end in ends)
            known, own = [place for place in found if place], _INK if isinstance(points, Bars) else colour
            self._stroke(known, own)
            x, y = (0, 3) if has_rows else (3, 0)
            for across, down in known:
                self._stroke([(across - x, down - y), (across + x, down + y)], own)

    def _symbol(self, place: Place, symbol: str, colour: str, radius: float) -> None:
        """Draw a circle, triangle or diamond, hollow where its name says so."""
        (x, y), is_hollow = place, symbol.endswith("-open")
        corners = {
            "triangle-up": [(x - radius, y + radius), (x + radius, y + radius), (x, y - radius)],
            "triangle-down": [(x - radius, y - radius), (x + radius, y - radius), (x, y + radius)],
            "diamond": [(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)],
        }.get(symbol.removesuffix("-open"))
        if corners is None:
            self.shapes.append(Dot(place, self._colour(colour), radius, is_hollow))
        else:
            self._area(corners, _SURFACE if is_hollow else colour)
            self._stroke([*corners, corners[0]], colour)

    def _label(self, label: Label, frame: _Frame) -> None:
        at = frame.across(label.x)
        if at is None:
            return
        y = {"above": frame.top - 6, "top": frame.top + 11, "bottom": frame.bottom - 6}[label.where]
        length = text_width(label.text, _SMALL)
        start = {"left": at - 4 - length, "middle": at - length / 2, "right": at + 4}[label.side]
        start = min(max(start, _EDGE), self.options.width - _EDGE - length)
        self._text((start, y), label.text, label.colour)

    def _colour(self, text: str) -> str:
        return colour_of(text, self.options.theme)

    def _area(self, places: Sequence[Place], colour: str, opacity: float = 1.0) -> None:
        self.shapes.append(Area(places, self._colour(colour), opacity))

    def _stroke(self, places: Sequence[Place], colour: str, width: float = 1.0, dash: float = 0.0) -> None:
        self.shapes.append(Stroke(places, self._colour(colour), width, dash))

    def _text(
        self, place: Place, text: str, colour: str = _INK, size: int = _SMALL, anchor: Anchor = "start"
    ) -> None:
        self.shapes.append(Text(place, text, self._colour(colour), size, anchor))


def _layer(mark: Mark) -> int:
    """Return grounds first, then lines and bars, and on them what is said of them."""
    if isinstance(mark, Shade) or (isinstance(mark, VerticalLine) and mark.is_below):
        return 0
    return 1 if isinstance(mark, Band | Line | Bars) else 2


# --- axes -------------------------------------------------------------------------------------------------


def _values_along(figure: Figure) -> list[float]:
    """Return the numbers that the horizontal axis has to hold."""
    values: list[float] = []
    for plot in figure.plots:
        for mark in plot.marks:
            if isinstance(mark, ValueMark):
                values += [x for x in mark.x if isinstance(x, int | float)]
                values += _other_ends(mark) if plot.has_rows else []
    return values


def _values_up(plot: Plot) -> list[float]:
    """Return the numbers that the vertical axis has to hold."""
    values: list[float] = []
    for mark in plot.marks:
        if isinstance(mark, ValueMark):
            values += [y for y in mark.y if y is not None]
            values += [] if plot.has_rows else _other_ends(mark)
        elif isinstance(mark, Level):
            values += [mark.y, mark.y if mark.y_end is None else mark.y_end]
    return values


def _other_ends(points: ValueMark) -> list[float]:
    """Return the ends of intervals, and the zero at which bars begin."""
    ends = [end for pair in points.errors if pair for end in pair]
    return [*ends, 0.0] if isinstance(points, Bars) else ends


def _with_range(axis: Axis, values: Sequence[float], *, is_vertical: bool) -> Axis:
    """Return an axis whose range holds all values, with a little room."""
    if axis.range:
        return axis
    if axis.scale == "names":
        last = len(axis.names) - 0.5
        return replace(axis, range=(last, -0.5) if is_vertical else (-0.5, last))
    if axis.scale == "log":
        logs = [log10(value) for value in values if value > 0] or [0.0]
        room = _MARGIN * (max(logs) - min(logs)) or 0.1
        return replace(axis, range=(10 ** (min(logs) - room), 10 ** (max(logs) + room)))
    known = values or [0.0, 1.0]
    low, high = min(known), max(known)
    room = _MARGIN * ((high - low) or abs(high) or 1.0)
    return replace(axis, range=(0.0 if axis.from_zero and low >= 0 else low - room, high + room))


def _ticks(axis: Axis, width: float = 0) -> list[tuple[Position, str]]:
    """Return the ticks of an axis that has a range: its own, its names, or round numbers."""
    if axis.key_places is not None:
        return axis.chosen_ticks(max(2, min(axis.max_ticks, int(width / _WIDTH_OF_TICK))))
    if axis.ticks or axis.scale == "names" or axis.range is None:
        return list(axis.ticks or enumerate(axis.names))
    if axis.scale == "time":
        return []
    low, high = (float(end) for end in axis.range)
    if axis.scale == "log":
        powers = range(floor(log10(low)), floor(log10(high)) + 1)
        ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    else:
        ticks = round_ticks(low, high, _TICKS)
    sign = "+" if axis.is_signed else ""
    return [
        (tick, f"{sign if tick > 0 else ''}{tick_text(tick)}{axis.suffix}")
        for tick in ticks
        if low <= tick <= high
    ]


def _finds_room(taken: list[Interval], middle: float, length: float) -> bool:
    """Take the room of a label in its row, unless it would come too near to one that is there."""
    start, end = middle - length / 2, middle + length / 2
    if any(
        start < other_end + _BETWEEN_LABELS and end > other - _BETWEEN_LABELS for other, other_end in taken
    ):
        return False
    taken.append((start, end))
    return True


def _wrapped(text: str, width: float, size: int) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
