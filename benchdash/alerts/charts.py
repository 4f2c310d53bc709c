"""The picture of one changed series, for a mail."""

from collections.abc import Sequence
from typing import Final

from benchdash.pictures.png import fitting, in_ascii, png, text_width
from benchdash.pictures.shapes import Anchor, Dot, Drawing, Line, Shape, Text, round_ticks, tick_text
from benchdash.regressions import headlines
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.used_units import change_point_in_unit, scaled
from benchdash.results import wording
from benchdash.results.models import UNKNOWN_VERSION
from benchdash.results.points import Point

WIDTH: Final = 560
HEIGHT: Final = 240

_PAPER: Final = "#ffffff"
_INK: Final = "#1a1f26"
_INK_2: Final = "#57606a"
_GRID: Final = "#d8dee4"
_VALUES: Final = "#0b5cad"
_WORSE: Final = "#9a4a04"
_BETTER: Final = "#1f5f9f"

# The plot within the picture: left, top, right, bottom.
_PLOT: Final = (64, 46, 548, 204)
# Single groups further out are drawn hollow at the edge, so that they do not flatten the levels.
_SHOWN_SHARE: Final = 0.95
_MARGIN: Final = 0.15


def picture(change_point: ChangePoint, points: Sequence[Point], index: int) -> bytes:
    """Draw the groups around a change, whose new level begins at ``index``, as PNG.

    The two levels are thick lines, the change is a vertical one; the axis has the unit and the direction.
    """
    return png(_Drawing(change_point, points, index).picture())


class _Drawing:
    def __init__(self, change_point: ChangePoint, points: Sequence[Point], index: int) -> None:
        used = change_point.series.used
        self.change_point = change_point_in_unit(change_point, used)
        self.points, self.index = [scaled(point, used.factor) for point in points], index
        self.low, self.high = _range(self.change_point, [point.value for point in self.points])
        self.shapes: list[Shape] = []

    def picture(self) -> Drawing:
        ticks = round_ticks(self.low, self.high)
        for tick in ticks:
            self._line([(_PLOT[0], self._y(tick)), (_PLOT[2], self._y(tick))], _GRID, 1)
        self._values()
        self._levels()
        self._words(ticks)
        title = f"{self._title}, {headlines.change_words(self.change_point)}"
        return Drawing(WIDTH, HEIGHT, title, _PAPER, self.shapes)

    def _values(self) -> None:
        places = [(self._x(at), self._y(point.value)) for at, point in enumerate(self.points)]
        self._line(places, _VALUES, 1)
        for place, point in zip(places, self.points, strict=True):
            self.shapes.append(Dot(place, _VALUES, is_hollow=not self.low <= point.value <= self.high))

    def _levels(self) -> None:
        one, last = self.change_point, len(self.points) - 1
        at_change = self._x(self.index) if self.index <= last else _PLOT[2]
        # At the beginning of a line or branch, the level before is that of the one it goes on from.
        end = at_change if self.index > 0 else _PLOT[2]
        self._line([(_PLOT[0], self._y(one.before)), (end, self._y(one.before))], _INK, 2)
        if self.index <= last:
            self._line([(at_change, self._y(one.after)), (_PLOT[2], self._y(one.after))], self._tone, 2)
            self._line([(at_change, _PLOT[1]), (at_change, _PLOT[3])], self._tone, 1)

    @property
    def _title(self) -> str:
        series = self.change_point.series
        return f"{headlines.series_words(series)}, {series.hardware.name}"

    def _words(self, ticks: Sequence[float]) -> None:
        one, series = self.change_point, self.change_point.series
        self._text((12, 20), fitting(self._title, 13, WIDTH - 110), size=13)
        change = headlines.change_words(one)
        self._text((WIDTH - 12, 20), change, size=13, anchor="end", colour=self._tone)
        better = series.get_direction_display()
        unit = wording.unit_words(series.metric, series.unit) or wording.short_metric_name(series.metric)
        self._text((12, 36), f"{unit}, {better}", colour=_INK_2)
        if one.change is not None:
            self._text((WIDTH - 12, 36), headlines.levels(one), anchor="end", colour=_INK_2)
        for tick in ticks:
            self._text((_PLOT[0] - 6, self._y(tick) + 4), tick_text(tick), anchor="end", colour=_INK_2)
        self._dates()

    def _dates(self) -> None:
        """Name the first, the last good, the first changed and the last group, as far as there is room."""
        last = len(self.points) - 1
        wanted = dict.fromkeys((self.index, self.index - 1, last, 0))
        taken: list[tuple[float, float]] = []
        for at in wanted:
            if not 0 <= at <= last:
                continue
            label = _label(self.points[at], self.change_point.series.branch)
            length = text_width(label, 11)
            x = min(max(self._x(at), _PLOT[0] + length / 2), _PLOT[2] - length / 2)
            if at == self.index - 1 and taken:
                x = min(x, taken[0][0] - length / 2 - 12)
            start, end = x - length / 2, x + length / 2
            if start < _PLOT[0] - 40 or any(start < high + 8 and end > low - 8 for low, high in taken):
                continue
            taken.append((start, end))
            colour = self._tone if at == self.index else _INK_2
            self._text((x, _PLOT[3] + 20), label, anchor="middle", colour=colour)

    @property
    def _tone(self) -> str:
        return _WORSE if self.change_point.is_regression else _BETTER

    def _x(self, at: int) -> float:
        width = _PLOT[2] - _PLOT[0]
        return _PLOT[0] + width * (at + 0.5) / max(1, len(self.points))

    def _y(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return _PLOT[3] - (_PLOT[3] - _PLOT[1]) * share

    def _line(self, places: Sequence[tuple[float, float]], colour: str, width: int) -> None:
        self.shapes.append(Line(places, colour, width))

    def _text(
        self,
        place: tuple[float, float],
        text: str,
        *,
        size: int = 11,
        colour: str = _INK,
        anchor: Anchor = "start",
    ) -> None:
        self.shapes.append(Text(place, text, colour, size, anchor))


def _label(point: Point, branch: str) -> str:
    """Name a group: its version, or on a branch its commit or day."""
    day = f"{point.time.day} {point.time:%b %Y}"
    if branch:
        return (point.commit or "")[:10] or day
    return in_ascii(point.version.version if point.version.version != UNKNOWN_VERSION else day)[:20]


def _range(change_point: ChangePoint, values: Sequence[float]) -> tuple[float, float]:
    """Return the values at the bottom and the top: both levels, and nearly all values, lie between them."""
    ordered = sorted(values)
    out = int(len(ordered) * (1 - _SHOWN_SHARE) / 2)
    shown = [*ordered[out : len(ordered) - out], change_point.before, change_point.after]
    low, high = min(shown), max(shown)
    margin = _MARGIN * ((high - low) or abs(high) or 1.0)
    return (max(0.0, low - margin) if low >= 0 else low - margin), high + margin
