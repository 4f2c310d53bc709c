"""The shapes of a picture, whatever format it is written in. Lengths are in points, from the top left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from benchdash.results import wording

Place = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

_TICKS: Final = 4


@dataclass(frozen=True, slots=True)
class Stroke:
    """Places joined by straight lines; ``dash`` is the length of its dashes, 0 for none."""

    places: Sequence[Place]
    colour: str
    width: float = 1.0
    dash: float = 0.0


@dataclass(frozen=True, slots=True)
class Dot:
    place: Place
    colour: str
    radius: float = 2.5
    is_hollow: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A filled polygon."""

    places: Sequence[Place]
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; ``place`` is on its baseline."""

    place: Place
    text: str
    colour: str
    size: int = 11
    anchor: Anchor = "start"


Shape = Stroke | Dot | Area | Text


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order in which they are drawn; ``says`` is what it shows, for who does not see it."""

    width: int
    height: int
    says: str
    ground: str
    shapes: Sequence[Shape]


def round_ticks(low: float, high: float, most: int = _TICKS) -> list[float]:
    """Return about ``most`` round numbers from ``low`` to ``high``, which differ."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 2.5, 5) if factor * power >= rough), 10 * power)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def tick_text(tick: float) -> str:
    """Write a number of an axis: ``12,500``, ``0.25``."""
    return f"{tick:,.10g}".replace("-", wording.MINUS)
