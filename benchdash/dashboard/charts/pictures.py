"""Figures as pictures, drawn on the server for addresses of images: lines against anything, and bars."""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import floor, log10
from typing import Any, Final

from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.themes import Theme, colour_of
from benchdash.pictures.png import fitting, text_width
from benchdash.pictures.shapes import (
    Anchor,
    Area,
    Dot,
    Drawing,
    Line,
    Place,
    Shape,
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
_MARGIN: Final = 0.06
# The font of who looks at an SVG may be wider than that by which texts are measured here.
_CERTAIN: Final = 0.84
_DASH: Final = 5.0
_MAX_LEFT: Final = 0.4
_TAG: Final = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class PictureWishes:
    """The wishes for a picture: its size in points and its theme."""

    width: int
    height: int
    theme: Theme


def picture_of(figure: Figure, wishes: PictureWishes, *, title: str, footer: Sequence[str]) -> Drawing:
    """Draw a figure under its title and above lines of small print."""
    drawing = _Drawing(figure, wishes)
    drawing.draw(title, footer)
    return Drawing(
        wishes.width,
        wishes.height,
        f"{title}. {footer[-1]}",
        drawing.colour("var(--surface)"),
        drawing.shapes,
    )


def note_of(words: str, wishes: PictureWishes) -> Drawing:
    """Draw a sentence in the place of a chart."""
    ink, ground = colour_of("var(--ink-2)", wishes.theme), colour_of("var(--surface)", wishes.theme)
    lines = _wrapped(words, (wishes.width - 2 * _EDGE) * _CERTAIN, 13)
    first = wishes.height / 2 - (len(lines) - 1) * 10
    shapes = [
        Text((wishes.width / 2, first + 20 * number), line, ink, 13, "middle")
        for number, line in enumerate(lines)
    ]
    return Drawing(wishes.width, wishes.height, words, ground, shapes)


@dataclass(frozen=True)
class _Axis:
    """An axis of a figure: ``part`` tells where between its ends, 0 and 1, a value stands; None: nowhere."""

    title: str
    part: Callable[[Any], float | None]
    ticks: Sequence[tuple[float, str]]


class _Drawing:
    def __init__(self, figure: Figure, wishes: PictureWishes) -> None:
        self.figure, self.wishes = figure, wishes
        self.traces = [one for one in figure["data"] if one.get("yaxis") != "y2"]
        layout = figure["layout"]
        narrow = layout.get("meta", {}).get("narrow") if wishes.width < _NARROW else None
        labels = (narrow or layout).get("annotations", ())
        self.above = [label for label in labels if label.get("y") == 1 and label.get("yref") == "paper"]
        self.shapes: list[Shape] = []
        self.left = self.top = self.right = self.bottom = 0.0
        self.x = _horizontal(self.traces, layout)
        self.y = _vertical(self.traces, layout)

    def colour(self, text: str) -> str:
        return colour_of(text, self.wishes.theme)

    def draw(self, title: str, footer: Sequence[str]) -> None:
        width, height = self.wishes.width, self.wishes.height
        self.top = 8.0
        room = (width - 2 * _EDGE) * _CERTAIN
        first, *others = _wrapped(title, room, _TITLE)
        for line in filter(None, (first, " ".join(others))):
            self.top += _TITLE + 4
            self._text((_EDGE, self.top), fitting(line, _TITLE, room), "var(--ink)", _TITLE)
        if self.y.title:
            self.top += _ROW
            self._text((_EDGE, self.top), fitting(self.y.title, _SMALL, room), "var(--ink-2)")
        self._legend()
        self.top += self._room_of_flags() + 12
        widest = max((text_width(words, _SMALL) for _, words in self.y.ticks), default=0.0)
        self.left = _EDGE + min(widest, width * _MAX_LEFT) + 6
        self.right, self.bottom = width - _EDGE - 4, height - (2 + len(footer)) * _ROW + 4
        if self.x.title:
            self.bottom -= _ROW
        self._axes()
        for shape in self.figure["layout"].get("shapes", ()):
            self._shape(shape)
        for trace in self.traces:
            self._bars(trace) if trace["type"] == "bar" else self._trace(trace)
        self._marks()
        self._flags()
        for number, line in enumerate(reversed(footer)):
            words = fitting(line, _SMALL, room)
            self._text((_EDGE, height - 8 - number * _ROW), words, "var(--ink-2)")

    # --- words ------------------------------------------------------------------------------------------

    def _legend(self) -> None:
        """Name the lines in rows above the plot, where there are several."""
        named = [one for one in self.traces if one.get("name") and one.get("showlegend") is not False]
        if len(named) < 2:
            return
        x, room = float(_EDGE), (self.wishes.width - 2 * _EDGE) * _CERTAIN
        self.top += _ROW + 2
        for number, trace in enumerate(named):
            is_last = number == MAX_NAMES
            words = f"and {len(named) - number} more" if is_last else _plain(trace["name"])
            words = fitting(words, _SMALL, room - 12)
            length = text_width(words, _SMALL) + 12
            if x > _EDGE and x + length > _EDGE + room:
                x, self.top = float(_EDGE), self.top + _ROW
            if not is_last:
                self.shapes.append(Dot((x + 4, self.top - 4), self.colour(_colour(trace)), 3.5))
            self._text((x + 12, self.top), words, "var(--ink)")
            x += length + 14
            if is_last:
                break

    def _axes(self) -> None:
        for part, words in self.y.ticks:
            y = self._at_y(part)
            self._line([(self.left, y), (self.right, y)], "var(--line)")
            shown = fitting(words, _SMALL, self.left - _EDGE - 6)
            self._text((self.left - 6, y + 4), shown, "var(--ink-2)", anchor="end")
        self._line([(self.left, self.bottom), (self.right, self.bottom)], "var(--line)")
        taken: list[tuple[float, float]] = []
        for part, words in self.x.ticks:
            if not 0 <= part <= 1:
                continue
            at, shown = self._at_x(part), fitting(words, _SMALL, _MAX_TICK)
            length = text_width(shown, _SMALL)
            middle = min(max(at, _EDGE + length / 2), self.wishes.width - 4 - length / 2)
            if not _finds_room(taken, middle, length, _BETWEEN_LABELS):
                continue
            self._line([(at, self.bottom), (at, self.bottom + 4)], "var(--line)")
            self._text((middle, self.bottom + _ROW), shown, "var(--ink-2)", anchor="middle")
        if self.x.title:
            place = (self.left + self.right) / 2, self.bottom + 2 * _ROW - 1
            self._text(place, self.x.title, "var(--ink-2)", anchor="middle")

    def _room_of_flags(self) -> float:
        return _FLAG_ROW * len({label["yshift"] for label in self.above})

    def _flags(self) -> None:
        """Write the flags above the plot, with the changes beside them where there is room."""
        taken: dict[float, list[tuple[float, float]]] = {}
        for label in self.above:
            part = self.x.part(label["x"])
            if part is None:
                continue
            words, at = _plain(label["text"]), self._at_x(part) + label.get("xshift", 0)
            length = text_width(words, _SMALL) + 6
            start = at - length if label["xanchor"] == "right" else at
            row = taken.setdefault(label["yshift"], [])
            if start < 0 or not _finds_room(row, start + length / 2, length, 0):
                continue
            y = self.top - 6 - label["yshift"]
            if "bgcolor" in label:
                low, high, end = y + 4, y - 12, start + length
                corners = [(start, low), (end, low), (end, high), (start, high)]
                self.shapes.append(Area(corners, self.colour(label["bgcolor"])))
                self._line([*corners, corners[0]], label["bordercolor"])
            self._text((start + length / 2, y), words, label["font"]["color"], anchor="middle")

    # --- ink --------------------------------------------------------------------------------------------

    def _trace(self, trace: Mapping[str, Any]) -> None:
        colour = _colour(trace)
        if trace.get("fill") == "toself":
            for corners in self._stretches(trace["x"], trace["y"]):
                self.shapes.append(Area(corners, self.colour(colour), trace["opacity"]))
            return
        mode = trace["mode"]
        width = trace.get("line", {}).get("width", 2) * 0.8
        dash = 0.0 if trace.get("line", {}).get("dash", "solid") == "solid" else _DASH
        places = self._stretches(trace["x"], trace["y"])
        if "lines" in mode:
            for stretch in places:
                if len(stretch) > 1:
                    self._line(stretch, colour, width, dash)
        self._errors(trace, colour)
        if "markers" in mode:
            marker = trace["marker"]
            is_hollow = marker.get("symbol", "").endswith("-open")
            colours = marker["line"]["color"] if isinstance(marker["color"], list) else None
            for number, place in enumerate(place for stretch in places for place in stretch):
                own = self.colour(colours[number] if colours else colour)
                self.shapes.append(Dot(place, own, marker["size"] * 0.42, is_hollow))

    def _errors(self, trace: Mapping[str, Any], colour: str) -> None:
        errors = trace.get("error_y")
        if not errors:
            return
        ends = zip(trace["x"], trace["y"], errors["array"], errors["arrayminus"], strict=True)
        for x, y, above, below in ends:
            if y is None or above is None or below is None:
                continue
            across, high = self.x.part(x), self.y.part(y + above)
            low = self.y.part(y - below)
            if across is not None and high is not None and low is not None:
                at, top, bottom = self._at_x(across), self._at_y(high), self._at_y(low)
                self._line([(at, top), (at, bottom)], colour)
                for end in (top, bottom):
                    self._line([(at - 3, end), (at + 3, end)], colour)

    def _bars(self, trace: Mapping[str, Any]) -> None:
        zero = self.x.part(0)
        fills, outlines = trace["marker"]["color"], trace["marker"]["line"]["color"]
        errors = trace.get("error_x", {})
        for number, (value, row) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            end, top, bottom = self.x.part(value), self.y.part(row - 0.36), self.y.part(row + 0.36)
            if end is None or zero is None or top is None or bottom is None:
                continue
            left, right = self._at_x(zero), self._at_x(end)
            corners = [(left, self._at_y(top)), (right, self._at_y(top))]
            corners += [(right, self._at_y(bottom)), (left, self._at_y(bottom))]
            self.shapes.append(Area(corners, self.colour(fills[number])))
            self._line([*corners, corners[0]], outlines[number], 1.5)
            if errors and errors["array"][number] is not None:
                middle = self._at_y((top + bottom) / 2)
                low = self.x.part(value - errors["arrayminus"][number])
                high = self.x.part(value + errors["array"][number])
                if low is not None and high is not None:
                    self._line([(self._at_x(low), middle), (self._at_x(high), middle)], errors["color"])

    def _shape(self, shape: Mapping[str, Any]) -> None:
        x0, x1 = self.x.part(shape["x0"]), self.x.part(shape["x1"])
        is_paper = shape.get("yref") == "paper"
        y0 = shape["y0"] if is_paper else self.y.part(shape["y0"])
        y1 = shape["y1"] if is_paper else self.y.part(shape["y1"])
        if x0 is None or x1 is None or y0 is None or y1 is None:
            return
        left, right, low, high = self._at_x(x0), self._at_x(x1), self._at_y(y0), self._at_y(y1)
        if shape["type"] == "rect":
            corners = [(left, low), (right, low), (right, high), (left, high)]
            self.shapes.append(Area(corners, self.colour(shape["fillcolor"]), shape["opacity"]))
            return
        line = shape["line"]
        dash = _DASH / 2 if line.get("dash", "solid") != "solid" else 0.0
        self._line([(left, low), (right, high)], line["color"], line["width"], dash)

    def _marks(self) -> None:
        """Draw a triangle where settings changed and a diamond where somebody wrote something."""
        for trace in self.figure["data"]:
            if trace.get("yaxis") != "y2":
                continue
            colour = self.colour(trace["marker"]["color"])
            for part in filter(None, map(self.x.part, trace["x"])):
                at, y = self._at_x(part), self.bottom
                corners: list[Place] = [(at - 5, y - 1), (at + 5, y - 1), (at, y - 9)]
                if trace["marker"]["symbol"] == "diamond":
                    corners = [(at - 5, y - 5), (at, y - 10), (at + 5, y - 5), (at, y)]
                self.shapes.append(Area(corners, colour))

    def _stretches(self, xs: Iterable[Any], ys: Iterable[Any]) -> list[list[Place]]:
        """Return the places of a line between its gaps."""
        found = []
        parts = [
            (None if x is None else self.x.part(x), None if y is None else self.y.part(y))
            for x, y in zip(xs, ys, strict=True)
        ]
        for is_there, stretch in groupby(parts, key=lambda one: None not in one):
            if is_there:
                found.append([(self._at_x(x or 0.0), self._at_y(y or 0.0)) for x, y in stretch])
        return found

    def _at_x(self, part: float) -> float:
        return self.left + (self.right - self.left) * part

    def _at_y(self, part: float) -> float:
        return self.bottom - (self.bottom - self.top) * part

    def _line(self, places: Sequence[Place], colour: str, width: float = 1.0, dash: float = 0.0) -> None:
        self.shapes.append(Line(places, self.colour(colour), width, dash))

    def _text(
        self,
        place: Place,
        text: str,
        colour: str,
        size: int = _SMALL,
        anchor: Anchor = "start",
    ) -> None:
        self.shapes.append(Text(place, text, self.colour(colour), size, anchor))


# --- axes -------------------------------------------------------------------------------------------------


def _horizontal(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> _Axis:
    axis = layout["xaxis"]
    title = _title(axis)
    if axis.get("type") == "category":
        places = {name: number for number, name in enumerate(axis["categoryarray"])}
        total = max(len(places), 1)

        def of_category(value: Any) -> float | None:
            at = places.get(value) if isinstance(value, str) else value
            return None if at is None else (at + 0.5) / total

        return _named(title, of_category, axis)
    if axis.get("type") == "date":
        first, last = (_seconds(end) for end in axis["range"])

        def of_time(value: Any) -> float | None:
            return (_seconds(value) - first) / ((last - first) or 1)

        return _named(title, of_time, axis)
    values = [x for trace in traces for x in trace["x"] if x is not None]
    if any(trace["type"] == "bar" for trace in traces):
        values.append(0.0)
    values += [
        value + error
        for trace in traces
        if (errors := trace.get("error_x"))
        for value, error in zip(trace["x"], errors["array"], strict=True)
        if error is not None
    ]
    return _numeric(title, values, axis)


def _vertical(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> _Axis:
    axis = layout["yaxis"]
    if axis.get("range") and axis.get("ticktext"):
        # Names from top to bottom.
        low, high = axis["range"]

        def of_name(value: Any) -> float | None:
            return float((value - low) / (high - low))

        return _named("", of_name, axis)
    values: list[float] = []
    for trace in traces:
        ys = [y for y in trace["y"] if y is not None]
        values += ys
        if errors := trace.get("error_y"):
            ends = zip(trace["y"], errors["array"], errors["arrayminus"], strict=True)
            for y, above, below in ends:
                if y is not None and above is not None and below is not None:
                    values += [y + above, y - below]
    for shape in layout.get("shapes", ()):
        if shape.get("yref") != "paper":
            values += [shape["y0"], shape["y1"]]
    return _numeric(_title(axis), values, axis)


def _named(title: str, part: Callable[[Any], float | None], axis: Mapping[str, Any]) -> _Axis:
    """Make an axis whose ticks have texts."""
    named = zip(axis.get("tickvals", ()), axis.get("ticktext", ()), strict=True)
    ticks = [(at, _plain(words)) for value, words in named if (at := part(value)) is not None]
    return _Axis(title, part, ticks)


def _numeric(title: str, values: Sequence[float], axis: Mapping[str, Any]) -> _Axis:
    if axis.get("type") == "log":
        positive = [value for value in values if value > 0] or [1.0]
        low, high = log10(min(positive)), log10(max(positive))
        room = _MARGIN * (high - low) or 0.1
        low, high = low - room, high + room

        def of_log(value: Any) -> float | None:
            return (log10(value) - low) / (high - low) if value > 0 else None

        if axis.get("tickvals"):
            return _named(title, of_log, axis)
        found = [10.0**power * digit for power in range(floor(low), floor(high) + 1) for digit in (1, 2, 5)]
        return _Axis(title, of_log, _told(found, of_log, axis))
    known = list(values) or [0.0, 1.0]
    low, high = min(known), max(known)
    room = _MARGIN * ((high - low) or abs(high) or 1.0)
    if axis.get("rangemode") == "tozero" and low >= 0:
        low, room_below = 0.0, 0.0
    else:
        room_below = room
    low, high = low - room_below, high + room

    def of_number(value: Any) -> float | None:
        return float((value - low) / (high - low))

    if axis.get("tickvals"):
        return _named(title, of_number, axis)
    return _Axis(title, of_number, _told(round_ticks(low, high, _TICKS), of_number, axis))


def _told(
    ticks: Iterable[float], part: Callable[[Any], float | None], axis: Mapping[str, Any]
) -> list[tuple[float, str]]:
    suffix = axis.get("ticksuffix", "")
    places = ((tick, part(tick)) for tick in ticks)
    return [(at, f"{tick_text(tick)}{suffix}") for tick, at in places if at is not None and 0 <= at <= 1]


def _title(axis: Mapping[str, Any]) -> str:
    return _plain((axis.get("title") or {}).get("text") or "")


def _seconds(text: str) -> float:
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _colour(trace: Mapping[str, Any]) -> str:
    line, marker = trace.get("line", {}), trace.get("marker", {})
    return str(line.get("color") or marker.get("color"))


def _finds_room(taken: list[tuple[float, float]], middle: float, length: float, apart: float) -> bool:
    """Take the room of a label in its row, unless it would come too near to one that is there."""
    start, end = middle - length / 2, middle + length / 2
    if any(start < other_end + apart and end > other_start - apart for other_start, other_end in taken):
        return False
    taken.append((start, end))
    return True


def _plain(markup: str) -> str:
    """Take the tags and entities out of a text that was written for Plotly."""
    return html.unescape(_TAG.sub("", markup.replace("<br>", " ")))


def _wrapped(text: str, width: float, size: int) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
