"""Changes from one side of a pair to the other, as points with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.charts.colours import token
from benchdash.charts.figure import Axis, Figure, Line, Plot, VerticalLine, shortened
from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison.verdict_words import words
from benchdash.regressions.detection.compare import Comparison

_ROW: Final = 22
_AROUND: Final = 72
# On a phone the script shortens them further.
_MAX_NAME_LENGTH: Final = 44
# The chart reaches this many times as far as its largest change; wider intervals leave it.
_FAR: Final = 2.5
_MIN_PER_CENT: Final = 5.0
_MARGIN: Final = 0.05
# Colour never says it alone.
_SIGNS: Final = {
    "worse": ("triangle-down", "worse-ink"),
    "better": ("triangle-up", "better-ink"),
    "likely_worse": ("triangle-down-open", "ink-2"),
    "likely_better": ("triangle-up-open", "ink-2"),
    "same": ("circle", "ink-2"),
    "unknown": ("circle-open", "ink-2"),
}


@dataclass(frozen=True)
class PairChange:
    """A row of the chart: a change with its interval and verdict. ``link`` is where a click leads."""

    name: str
    comparison: Comparison
    metric: str
    link: str = ""


def changes(rows: Sequence[PairChange], *, title: str) -> Figure:
    """Draw changes from top to bottom, with a line at no change; every row has a ratio."""
    x = [_per_cent(row.comparison.ratio or 0) for row in rows]
    ends = [
        (_per_cent(row.comparison.low), _per_cent(row.comparison.high))
        if row.comparison.low is not None and row.comparison.high is not None
        else None
        for row in rows
    ]
    signs = [_SIGNS[row.comparison.verdict] for row in rows]
    changed = Line(
        "",
        x,
        range(len(rows)),
        [token(colour) for _, colour in signs],
        width=0,
        size=9,
        symbol=[symbol for symbol, _ in signs],
        # All intervals: without its wide one, the least certain change would look the most certain.
        errors=ends,
        hover=[f"{row.name}\n{_hover(row)}" for row in rows],
        links=[row.link for row in rows],
    )
    x_axis = Axis(title, suffix=" %", is_signed=True, max_ticks=6, range=_range(x, ends))
    names = [shortened(row.name, _MAX_NAME_LENGTH) for row in rows]
    y_axis = Axis(scale="names", names=names, has_grid=False)
    return Figure(x_axis, [Plot(y_axis, [changed, VerticalLine(0)])])


def height(count: int) -> int:
    """Return the height in pixels of a chart with this number of rows."""
    return _AROUND + _ROW * max(count, 2)


def _per_cent(ratio: float) -> float:
    return 100 * ratio - 100


def _range(x: Sequence[float], ends: Sequence[tuple[float, float] | None]) -> tuple[float, float]:
    """Return a range with all changes and no change in it, and as much of the intervals as is readable."""
    far = _FAR * max(_MIN_PER_CENT, *map(abs, x))
    lows, highs = zip(*[pair for pair in ends if pair] or [(0.0, 0.0)], strict=True)
    first = min(0.0, *x, max(min(lows), -far))
    last = max(0.0, *x, min(max(highs), far))
    margin = _MARGIN * (last - first) or _MIN_PER_CENT
    return first - margin, last + margin


def _hover(row: PairChange) -> str:
    """``−8.4 % (−10.1 % to −6.6 %), slower``."""
    one = row.comparison
    interval = ""
    if one.low is not None and one.high is not None:
        interval = f" ({numbers.change(one.low - 1)} to {numbers.change(one.high - 1)})"
    return f"{numbers.change((one.ratio or 0) - 1)}{interval}, {words(one.verdict, row.metric)}"
