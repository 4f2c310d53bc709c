"""The picture of one changed series, for a mail: drawn without a browser, the same bytes each time."""

import math
from collections.abc import Sequence
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from benchdash.regressions import headlines
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.used_units import change_point_in_unit, scaled
from benchdash.results import wording
from benchdash.results.models import UNKNOWN_VERSION
from benchdash.results.points import Point

WIDTH: Final = 560
HEIGHT: Final = 240
# Mail programs show the picture at half its size, sharp on dense screens.
_SCALE: Final = 2
# Lines and dots are drawn larger still and reduced, which smooths them.
_SMOOTH: Final = 2
_COLOURS: Final = 64

_PAPER: Final = "#ffffff"
_INK: Final = "#1a1f26"
_INK_2: Final = "#57606a"
_GRID: Final = "#d8dee4"
_VALUES: Final = "#0b5cad"
_WORSE: Final = "#9a4a04"
_BETTER: Final = "#1f5f9f"

# The plot within the picture: left, top, right, bottom.
_PLOT: Final = (64, 46, 548, 204)
_TICKS: Final = 4
# Single groups further out are drawn hollow at the edge, so that they do not flatten the levels.
_SHOWN_SHARE: Final = 0.95
_MARGIN: Final = 0.15
# The font of the drawing library knows no other signs.
_IN_ASCII: Final = str.maketrans({wording.MINUS: "-", wording.NO_BREAK: " ", "µ": "u", "–": "-", "±": "+-"})


def picture(change_point: ChangePoint, points: Sequence[Point], index: int) -> bytes:
    """Draw the groups around a change, whose new level begins at ``index``, as PNG.

    The two levels are thick lines, the change is a vertical one; the axis has the unit and the direction.
    """
    drawing = _Drawing(change_point, points, index)
    return drawing.png()


class _Drawing:
    def __init__(self, change_point: ChangePoint, points: Sequence[Point], index: int) -> None:
        used = change_point.series.used
        self.change_point = change_point_in_unit(change_point, used)
        self.points, self.index = [scaled(point, used.factor) for point in points], index
        self.low, self.high = _range(self.change_point, [point.value for point in self.points])
        self.image = Image.new("RGB", (WIDTH * _SCALE * _SMOOTH, HEIGHT * _SCALE * _SMOOTH), _PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self.factor = _SCALE * _SMOOTH

    def png(self) -> bytes:
        ticks = _ticks(self.low, self.high)
        for tick in ticks:
            self._line([(_PLOT[0], self._y(tick)), (_PLOT[2], self._y(tick))], _GRID, 1)
        self._values()
        self._levels()
        self.image = self.image.reduce(_SMOOTH)
        self.draw = ImageDraw.Draw(self.image)
        self.factor = _SCALE
        self._words(ticks)
        file = BytesIO()
        self.image.quantize(_COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
        return file.getvalue()

    def _values(self) -> None:
        places = [(self._x(at), self._y(point.value)) for at, point in enumerate(self.points)]
        self._line(places, _VALUES, 1)
        for (x, y), point in zip(places, self.points, strict=True):
            self._dot(x, y, is_hollow=not self.low <= point.value <= self.high)

    def _levels(self) -> None:
        one, last = self.change_point, len(self.points) - 1
        at_change = self._x(self.index) if self.index <= last else _PLOT[2]
        # Where a line or branch begins, the level before is of what it goes on from.
        end = at_change if self.index > 0 else _PLOT[2]
        self._line([(_PLOT[0], self._y(one.before)), (end, self._y(one.before))], _INK, 2)
        if self.index <= last:
            self._line([(at_change, self._y(one.after)), (_PLOT[2], self._y(one.after))], self._tone, 2)
            self._line([(at_change, _PLOT[1]), (at_change, _PLOT[3])], self._tone, 1)

    def _words(self, ticks: Sequence[float]) -> None:
        one, series = self.change_point, self.change_point.series
        title = f"{headlines.series_words(series)}, {series.hardware.name}"
        self._text((12, 8), title, size=13, width=WIDTH - 110)
        self._text((WIDTH - 12, 8), headlines.change_words(one), size=13, anchor="ra", colour=self._tone)
        better = series.get_direction_display()
        unit = wording.unit_words(series.metric, series.unit) or wording.short_metric_name(series.metric)
        self._text((12, 26), f"{unit}, {better}", size=11, colour=_INK_2)
        if one.change is not None:
            self._text((WIDTH - 12, 26), headlines.levels(one), size=11, anchor="ra", colour=_INK_2)
        for tick in ticks:
            place = (_PLOT[0] - 6, self._y(tick))
            self._text(place, f"{tick:,.10g}", size=11, anchor="rm", colour=_INK_2)
        self._dates()

    def _dates(self) -> None:
        """Name the first, the last good, the first changed and the last group, as far as there is room."""
        last = len(self.points) - 1
        wanted = dict.fromkeys((self.index, self.index - 1, last, 0))
        taken: list[tuple[float, float]] = []
        for at in wanted:
            if not 0 <= at <= last:
                continue
            label, font = _label(self.points[at], self.change_point.series.branch), _font(11)
            length = font.getlength(label)
            x = min(max(self._x(at), _PLOT[0] + length / 2), _PLOT[2] - length / 2)
            if at == self.index - 1 and taken:
                x = min(x, taken[0][0] - length / 2 - 12)
            start, end = x - length / 2, x + length / 2
            if start < _PLOT[0] - 40 or any(start < high + 8 and end > low - 8 for low, high in taken):
                continue
            taken.append((start, end))
            colour = self._tone if at == self.index else _INK_2
            self._text((x, _PLOT[3] + 16), label, size=11, anchor="mm", colour=colour)

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
        scaled = [(x * self.factor, y * self.factor) for x, y in places]
        self.draw.line(scaled, fill=colour, width=width * self.factor, joint="curve")

    def _dot(self, x: float, y: float, *, is_hollow: bool) -> None:
        x, y, radius = x * self.factor, y * self.factor, 2.5 * self.factor
        box = (x - radius, y - radius, x + radius, y + radius)
        self.draw.ellipse(box, fill=_PAPER if is_hollow else _VALUES, outline=_VALUES, width=self.factor)

    def _text(
        self,
        place: tuple[float, float],
        text: str,
        *,
        size: int,
        colour: str = _INK,
        anchor: str = "la",
        width: float = math.inf,
    ) -> None:
        font = _font(size * self.factor)
        text = _drawable(text)
        if font.getlength(text) > width * self.factor:
            while font.getlength(f"{text}...") > width * self.factor:
                text = text[:-1]
            text += "..."
        x, y = place
        self.draw.text((x * self.factor, y * self.factor), text, fill=colour, font=font, anchor=anchor)


def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _drawable(text: str) -> str:
    return text.translate(_IN_ASCII).encode("ascii", "replace").decode()


def _label(point: Point, branch: str) -> str:
    """Name a group: its version, or on a branch its commit or day."""
    day = f"{point.time.day} {point.time:%b %Y}"
    if branch:
        return (point.commit or "")[:10] or day
    return _drawable(point.version.version if point.version.version != UNKNOWN_VERSION else day)[:20]


def _range(change_point: ChangePoint, values: Sequence[float]) -> tuple[float, float]:
    """Return the values at the bottom and the top: both levels, and nearly all values, lie between them."""
    ordered = sorted(values)
    out = int(len(ordered) * (1 - _SHOWN_SHARE) / 2)
    shown = [*ordered[out : len(ordered) - out], change_point.before, change_point.after]
    low, high = min(shown), max(shown)
    margin = _MARGIN * ((high - low) or abs(high) or 1.0)
    return (max(0.0, low - margin) if low >= 0 else low - margin), high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return three to six round numbers from ``low`` to ``high``."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 2.5, 5) if factor * power >= rough), 10 * power)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]
