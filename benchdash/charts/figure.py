"""A chart as it is seen: axes, lines, bars and marks, whoever draws it.

Texts are plain, with line breaks; colours are tokens of base.css (see colours.token), so that one figure
serves light and dark.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log10
from typing import Final, Literal

from benchdash.charts.colours import token

Position = float | str
"""A place along an axis: a number, of names the number of one, of times a time in UTC as text."""
Scale = Literal["linear", "log", "time", "names"]
Dash = Literal["solid", "dash", "dot"]
Tick = tuple[Position, str]
Interval = tuple[float, float]

MAX_END_LABELS: Final = 6
"""Beyond this many lines their names stand in a legend."""
TIME_ROOM: Final = 0.02
"""The part of a span that an axis of times is longer than it at both ends."""
# Ticks stand at least this part of their even distance apart.
_TICK_ROOM: Final = 0.9
_MAX_LABEL: Final = 20
_MAX_NAME_LENGTH: Final = 34
_FLAG_ROWS: Final = 3


def shortened(text: str, longest: int = _MAX_NAME_LENGTH) -> str:
    """Keep both ends of a long name, so that names that begin alike stay apart."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def iso(time: datetime) -> str:
    """Write a time as a place on an axis of times."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"


@dataclass(frozen=True, slots=True)
class Axis:
    """``names`` stand at 0, 1, 2 ...; on a vertical axis from top to bottom.

    Where no ``ticks`` are given, who draws chooses ``max_ticks`` of them: on an axis with ``key_places`` at
    these first. ``suffix`` stands behind numbers, ``hover_title`` above what all lines say at one place.
    """

    title: str = ""
    scale: Scale = "linear"
    names: Sequence[str] = ()
    ticks: Sequence[Tick] = ()
    key_places: Sequence[Position] | None = None
    range: tuple[Position, Position] | None = None
    from_zero: bool = False
    suffix: str = ""
    is_signed: bool = False
    max_ticks: int = 0
    has_grid: bool = True
    hover_title: str = ""

    def part(self, at: Position) -> float | None:
        """Return how far between the ends of its range, 0 and 1, a place lies; None where it has none."""
        if self.range is None or (place := self._number(at)) is None:
            return None
        low, high = map(self._number, self.range)
        return None if low is None or high is None else (place - low) / ((high - low) or 1)

    def _number(self, at: Position) -> float | None:
        if isinstance(at, str):
            time = datetime.fromisoformat(at)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        if self.scale == "log":
            return log10(at) if at > 0 else None
        return at

    def chosen_ticks(self, most: int) -> list[Tick]:
        """Return ticks whose labels do not meet: at key places first, and evenly between them."""
        # Twice as near as labels may be: they have to fit between key places.
        count = len(self.names)
        even = range(0, count, max(count // (2 * most), 1)) if count else self._even_times(2 * most)
        parts: dict[Position, float] = {}
        for place in [*(self.key_places or ()), *even]:
            part = self.part(place) or 0.0
            if all(abs(part - other) >= _TICK_ROOM / most for other in parts.values()):
                parts[place] = part
        places = sorted(parts, key=parts.__getitem__)
        if self.names:
            return [(place, shortened(self.names[int(place)], _MAX_LABEL)) for place in places]
        days = [datetime.fromisoformat(str(place)) for place in places]
        years = [None, *(day.year for day in days)]
        return [
            (place, f"{day.day} {day:%b}" + ("" if day.year == before else f"\n{day.year}"))
            for place, day, before in zip(places, days, years, strict=False)
        ]

    def _even_times(self, steps: int) -> Iterator[str]:
        first, last = (datetime.fromisoformat(str(end)) for end in self.range or ())
        room = (last - first) * TIME_ROOM / (1 + 2 * TIME_ROOM)
        for number in range(steps + 1):
            yield iso(first + room + (last - first - 2 * room) * number / steps)


@dataclass(frozen=True, slots=True)
class ValueMark:
    """Values at places. Where the vertical axis is of names, values lie along the horizontal one.

    ``colour`` may be one for each point. ``errors`` are intervals of the values, ``hover`` the words of
    points; without them they say nothing. ``links`` are where a click leads, ``times`` when they were
    measured. Marks without a name, or not ``is_named``, stand in no legend.
    """

    name: str
    x: Sequence[Position | None]
    y: Sequence[float | None]
    colour: str | Sequence[str]
    errors: Sequence[Interval | None] = ()
    hover: Sequence[str] = ()
    links: Sequence[str] = ()
    times: Sequence[str] = ()
    is_named: bool = True

    @property
    def colours(self) -> Sequence[str]:
        return [self.colour] * len(self.x) if isinstance(self.colour, str) else self.colour


@dataclass(frozen=True, slots=True)
class Line(ValueMark):
    """Points joined by lines where ``width`` is not 0; ``size`` and ``symbol`` may be one for each point.

    Their words stand below ``head`` and above ``foot``, which are the same for all.
    """

    width: float = 2
    dash: Dash = "solid"
    size: float | Sequence[float] = 6
    symbol: str | Sequence[str] = "circle"
    head: str = ""
    foot: str = ""


@dataclass(frozen=True, slots=True)
class Bars(ValueMark):
    """Bars from zero to their values; where the axis of these is logarithmic and has no zero, points.

    Those ``hollow`` have an outline alone. ``widths`` are parts of the axis of places. ``texts`` stand in
    the bars. Vertical ones at one name stand side by side.
    """

    hollow: Collection[int] = ()
    widths: Sequence[float] = ()
    texts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Band:
    """The ground within these corners; None stands between two areas."""

    x: Sequence[Position | None]
    y: Sequence[float | None]
    colour: str
    opacity: float


@dataclass(frozen=True, slots=True)
class VerticalLine:
    """A vertical line through all plots, such as at what others are compared with."""

    x: Position
    colour: str = token("ink-2")
    width: float = 1
    dash: Dash = "dot"
    is_below: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A line from one place to another, mostly the level of a stretch; without places all along the axis."""

    y: float
    x: tuple[Position, Position] | None = None
    y_end: float | None = None
    colour: str = token("ink")
    width: float = 2
    dash: Dash = "solid"


@dataclass(frozen=True, slots=True)
class Shade:
    """A pale ground through all plots, with edges that are seen however narrow it is."""

    x: tuple[Position, Position]
    colour: str
    opacity: float
    has_edges: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A word at a place: above the plot, or in it at the top or bottom; ``side`` is that of the place."""

    x: Position
    text: str
    where: Literal["above", "top", "bottom"] = "above"
    side: Literal["left", "middle", "right"] = "middle"
    colour: str = token("ink-2")


@dataclass(frozen=True, slots=True)
class FlagMark:
    """A number in a frame above the plot, with ``words`` beside it where there is room.

    ``number`` is that of its row in the list beneath the chart; ``text`` is how it is written.
    """

    x: Position
    number: int
    text: str
    words: str
    colour: str
    is_filled: bool


@dataclass(frozen=True, slots=True)
class AxisMarks:
    """Triangles or diamonds along the horizontal axis; the first line of what each says is its title."""

    x: Sequence[Position]
    hover: Sequence[str]
    symbol: Literal["triangle-up", "diamond"]
    colour: str


Mark = Line | Bars | Band | VerticalLine | Level | Shade | Label | FlagMark | AxisMarks


@dataclass(frozen=True, slots=True)
class Plot:
    """Marks over one vertical axis. Flags stand in the order of their weight."""

    y: Axis
    marks: Sequence[Mark]

    @property
    def has_rows(self) -> bool:
        return self.y.scale == "names"

    @property
    def named(self) -> list[ValueMark]:
        """Return the lines that a legend names."""
        return [mark for mark in self.marks if isinstance(mark, ValueMark) and mark.name and mark.is_named]


@dataclass(frozen=True, slots=True)
class Figure:
    """Plots from top to bottom over one horizontal axis.

    The names of several lines stand at their ``ends``, of very many in a legend; or always in one ``beside``
    or ``above`` them; or nowhere. ``says_all``: a hover tells what all lines say at a place. One that
    ``is_small`` has little room around its plot.
    """

    x: Axis
    plots: Sequence[Plot]
    names: Literal["ends", "beside", "above", ""] = ""
    says_all: bool = False
    is_small: bool = False

    @property
    def marks(self) -> list[Mark]:
        return [mark for plot in self.plots for mark in plot.marks]

    @property
    def flags(self) -> list[FlagMark]:
        return [mark for mark in self.marks if isinstance(mark, FlagMark)]

    def flag_rows(self, width: Callable[[FlagMark], float]) -> Iterator[tuple[FlagMark, int, bool]]:
        """Yield the flags that have room, with the row of each above the plot, and whether it reaches left.

        ``width`` is the part of the axis that a flag takes. Weightier ones win.
        """
        taken: list[list[Interval]] = [[] for _ in range(_FLAG_ROWS)]
        for flag in self.flags:
            part, own = self.x.part(flag.x) or 0.0, width(flag)
            is_left = part + own > 1
            start, end = (part - own, part) if is_left else (part, part + own)
            for row, others in enumerate(taken):
                if all(end <= other_start or start >= other_end for other_start, other_end in others):
                    others.append((start, end))
                    yield flag, row, is_left
                    break
