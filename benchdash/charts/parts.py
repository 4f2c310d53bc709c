"""Axes, intervals and words that many figures share."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from benchdash.charts.figure import TIME_ROOM, Axis, Interval, Position, iso
from benchdash.results import wording

# Two ticks of a threads axis lie at least this factor apart.
_TICK_FACTOR: Final = 1.3
_DECADE: Final = 10


def threads_axis(counts: Sequence[int]) -> Axis:
    """Return an axis of threads, each doubling as wide as the next, with ticks at the measured counts."""
    ticks: list[int] = []
    for count in sorted(set(counts)):
        if not ticks or count >= ticks[-1] * _TICK_FACTOR:
            ticks.append(count)
    return Axis(
        "threads",
        "log" if ticks and ticks[0] > 0 else "linear",
        ticks=[(tick, wording.count(tick)) for tick in ticks],
        has_grid=False,
        hover_title="threads: %{x}",
    )


def time_axis(first: datetime, last: datetime, key_places: Sequence[Position] | None = None) -> Axis:
    """Return an axis of times with a little room at both ends."""
    room = (last - first) * TIME_ROOM or timedelta(hours=12)
    ends = iso(first - room), iso(last + room)
    return Axis("time, UTC", "time", range=ends, key_places=key_places, has_grid=False)


def names_axis(names: Sequence[str], key_places: Sequence[Position] | None = None) -> Axis:
    """Return an axis of names side by side."""
    ends = (-0.5, len(names) - 0.5)
    return Axis(scale="names", names=names, range=ends, key_places=key_places, has_grid=False)


def metric_axis(metric: str, unit: str, direction: str, *, log: bool = False) -> Axis:
    """Return the axis of a metric with its unit and direction, from zero unless logarithmic."""
    title = wording.axis_title(metric, unit, direction)
    return Axis(title, "log" if log else "linear", from_zero=not log)


def relative_axis(reference: str, direction: str, *, log: bool = False) -> Axis:
    """Return an axis of percentages of a reference (= 100 %)."""
    title = f"% of {reference}, {wording.direction_words(direction)}"
    return Axis(title, "log" if log else "linear", suffix=" %")


def log_is_better(values: Sequence[float]) -> bool:
    """Tell whether positive values span more than a decade, which a linear axis would flatten."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > _DECADE


def intervals(
    values: Iterable[float | None], ends: Iterable[tuple[float | None, float | None]]
) -> list[Interval | None]:
    """Return the intervals that are drawn as error bars.

    One wider than its value says nothing and would flatten the chart: it is left to the table.
    """
    return [
        (low, high)
        if value is not None and low is not None and high is not None and high - value <= abs(value)
        else None
        for value, (low, high) in zip(values, ends, strict=True)
    ]


def hover_text(value: float, low: float | None, high: float | None, n: int, unit: str = "") -> str:
    """``15,344 ms ± 120, n = 5``."""
    parts = [wording.quantity(value, unit), unit, wording.plus_minus(value, low, high)]
    return f"{' '.join(part for part in parts if part)}, n = {n}"
