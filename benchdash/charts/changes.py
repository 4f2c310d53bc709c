"""The history around a change point, as a share of the level before it; counts as they are."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from benchdash.charts.colours import token
from benchdash.charts.drawing import PictureOptions, picture_of
from benchdash.charts.figure import (
    Axis,
    Figure,
    Interval,
    Label,
    Level,
    Line,
    Mark,
    Plot,
    Position,
    VerticalLine,
    iso,
)
from benchdash.charts.parts import hover_text, metric_axis, names_axis, relative_axis, time_axis
from benchdash.charts.png import png
from benchdash.regressions import headlines
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.used_units import change_point_in_unit, scaled
from benchdash.results.models import UNKNOWN_VERSION, Series
from benchdash.results.points import Point

PICTURE_WIDTH: Final = 560
PICTURE_HEIGHT: Final = 260

_MARGIN: Final = 5.0
_MAX_TICKS: Final = 5
_SHARE_IN_PICTURE: Final = 0.95


def shared_range(
    histories: Sequence[tuple[Sequence[Point], ChangePoint]], *, shown_share: float = 1.0
) -> Interval:
    """Return the vertical range, in per cent of the levels before, that holds all these histories.

    With a ``shown_share`` below 1 the furthest groups are left out, so that they do not flatten the levels.
    """
    shares = sorted(
        100 * point.value / change_point.before
        for points, change_point in histories
        for point in points
        if change_point.change is not None
    )
    out = int(len(shares) * (1 - shown_share) / 2)
    shown = [*shares[out : len(shares) - out], 100]
    shown += [100 * one.after / one.before for _, one in histories if one.change is not None]
    return min(shown) - _MARGIN, max(shown) + _MARGIN


def change_figure(
    points: Sequence[Point],
    index: int,
    change_point: ChangePoint,
    *,
    y_range: Interval,
    starts: Collection[int] = (),
    is_large: bool = False,
) -> Figure:
    """Draw ``points`` of the change point's series, whose new level begins at ``index``.

    A vertical line stands at the first group of the new level, dotted while it is suspected; the two levels
    are horizontal lines, each as far as the next change of the series (``starts`` are the runs with which its
    levels begin); a drift is a sloping one. A level of zero has no per cent: then values are drawn as they
    are. A large one has a title at its axis.
    """
    used = change_point.series.used
    points = [scaled(point, used.factor) for point in points]
    change_point = change_point_in_unit(change_point, used)
    series = change_point.series
    if change_point.change is None:
        y_axis, scale = metric_axis(series.metric, series.unit, series.direction), 1.0
    else:
        y_axis = replace(relative_axis("the level before", series.direction), range=y_range)
        scale = 100 / change_point.before
    x_axis, places = _x_axis(points, index, series)
    line = Line(
        str(series),
        places,
        [scale * point.value for point in points],
        token("accent"),
        width=1,
        size=4,
        hover=[_hover(point, series.unit) for point in points],
    )
    runs = set(starts)
    begun = [at for at, point in enumerate(points) if not runs.isdisjoint(point.run_ids)]
    first = max((at for at in begun if at < index), default=0)
    end = min((at for at in begun if at > index), default=len(points))
    marks = [line, *_marks(places, (first, index, end), change_point, scale)]
    y_axis = replace(y_axis, title=y_axis.title if is_large else "", max_ticks=_MAX_TICKS)
    return Figure(x_axis, [Plot(y_axis, marks)], is_small=not is_large)


def change_picture(
    points: Sequence[Point], index: int, change_point: ChangePoint, starts: Collection[int] = ()
) -> bytes:
    """Draw the same as PNG, for a mail; the furthest single groups stand at its edge."""
    y_range = shared_range([(points, change_point)], shown_share=_SHARE_IN_PICTURE)
    figure = change_figure(points, index, change_point, y_range=y_range, starts=starts, is_large=True)
    series, levels = change_point.series, headlines.levels(change_point)
    title = f"{headlines.series_words(series)}, {series.hardware.name}"
    options = PictureOptions(PICTURE_WIDTH, PICTURE_HEIGHT)
    return png(picture_of(figure, options, title=title, footer=[levels]))


def _x_axis(points: Sequence[Point], index: int, series: Series) -> tuple[Axis, Sequence[Position]]:
    """Return the axis and the places on it: of a branch along time, else by version."""
    last = len(points) - 1
    key_places = [at for at in (index, last, 0) if 0 <= at <= last]
    if series.branch:
        times = [iso(point.time) for point in points]
        axis = time_axis(points[0].time, points[-1].time, [times[at] for at in key_places])
        return replace(axis, title="", max_ticks=_MAX_TICKS), times
    axis = names_axis([str(point.version) for point in points], key_places)
    return replace(axis, max_ticks=_MAX_TICKS), range(len(points))


def _hover(point: Point, unit: str) -> str:
    version = "" if point.version.version == UNKNOWN_VERSION else point.version.version
    where = [version, (point.commit or "")[:10], f"{point.time.day} {point.time:%b %Y}"]
    value = hover_text(point.value, point.low, point.high, point.n, unit)
    return f"{', '.join(filter(None, where))}\n{value}"


def _marks(
    x: Sequence[Position], reach: tuple[int, int, int], change_point: ChangePoint, scale: float
) -> Iterator[Mark]:
    """``reach``: where the level before begins, where the new one does, and where that has ended."""
    first, index, end = reach
    before, after = change_point.before * scale, change_point.after * scale
    tone = token("worse-ink" if change_point.is_regression else "better-ink")
    if change_point.per_point is not None:
        begun = max(index - change_point.groups_after + 1, 0)
        start = after / (1 + change_point.per_point) ** (index - begun)
        yield Level(start, (x[begun], x[index]), after, colour=tone)
        return
    if index > 0:
        yield Level(before, (x[first], x[index - 1]))
    elif change_point.origin and x:
        # The level that the line or branch goes on from, which has no group of its own here.
        yield Level(before, (x[0], x[-1]), width=1)
    if index < len(x):
        yield Level(after, (x[index], x[end - 1]), colour=tone)
        is_confirmed = change_point.state == ChangePoint.State.CONFIRMED
        yield VerticalLine(x[index], tone, dash="solid" if is_confirmed else "dot")
        # On the side of the lower level there is room at the top.
        words = headlines.change_words(change_point)
        yield Label(x[index], words, "top", "right" if change_point.is_fall else "left", tone)
