"""The history around a change point, small, as a share of the level before it; counts as they are."""

from collections.abc import Sequence
from typing import Any, Final

from benchdash.dashboard.charts import common
from benchdash.dashboard.shell import numbers
from benchdash.regressions import headlines
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.used_units import scaled
from benchdash.results.models import UNKNOWN_VERSION
from benchdash.results.points import Point
from benchdash.results.used_units import UsedUnit

_MARGIN: Final = 5.0


def shared_range(histories: Sequence[tuple[Sequence[Point], ChangePoint]]) -> tuple[float, float]:
    """Return the vertical range, in per cent of the levels before, that holds all these histories."""
    shares = [
        point.value * _scale(change_point)
        for points, change_point in histories
        for point in points
        if change_point.change is not None
    ]
    return min([*shares, 100]) - _MARGIN, max([*shares, 100]) + _MARGIN


def _scale(change_point: ChangePoint) -> float:
    """Return what values are drawn times: counts begin at 0, which has no per cent."""
    return 1.0 if change_point.change is None else 100 / change_point.before


def change_figure(
    points: Sequence[Point],
    index: int,
    change_point: ChangePoint,
    *,
    y_range: tuple[float, float],
    is_large: bool = False,
) -> common.Figure:
    """Draw ``points`` of the change point's series, whose new level begins at ``index``.

    A vertical line stands at the first group of the new level, dotted while it is suspected; the two levels
    are horizontal lines, a drift is a sloping one. A level of zero has no per cent: then values are drawn as
    they are. A large one has a title at its axis.
    """
    series = change_point.series
    scale = _scale(change_point)
    of_level = f"% of the level before, {numbers.direction_words(series.direction)}"
    as_it_is = numbers.axis_title(series.metric, series.unit, series.direction)
    y_axis = (
        common.axis(as_it_is if is_large else "", rangemode="tozero", nticks=5)
        if change_point.change is None
        else common.axis(of_level if is_large else "", range=list(y_range), ticksuffix=" %", nticks=5)
    )
    x = [
        f"{point.time:%Y-%m-%dT%H:%M:%S}" if series.branch else common.plain(str(point.version))
        for point in points
    ]
    line = common.line(
        str(series),
        x,
        [scale * point.value for point in points],
        colour=common.token("accent"),
        hover=[_hover(point, series.used) for point in points],
        line={"color": common.token("accent"), "width": 1},
        marker={"color": common.token("accent"), "size": 4},
    )
    axis = {**common.time_axis(), "tickformat": "%-d %b"} if series.branch else common.versions_axis(x)
    # A version such as "1.4" would be read as a number: marks stand at numbers of groups.
    places: Sequence[Any] = x if series.branch else range(len(x))
    layout = common.base_layout(
        margin={"l": 48, "r": 8, "t": 8, "b": 8},
        xaxis={**axis, "title": {"text": ""}, "nticks": 5},
        yaxis=y_axis,
        shapes=_marks(places, index, change_point),
        annotations=[] if change_point.is_drift else _label(places, index, change_point),
    )
    return common.figure([line], layout)


def _hover(point: Point, used: UsedUnit) -> str:
    point = scaled(point, used.factor)
    version = "" if point.version.version == UNKNOWN_VERSION else point.version.version
    where = [version, (point.commit or "")[:10], f"{point.time.day} {point.time:%b %Y}"]
    value = common.hover_text(point.value, point.low, point.high, point.n, used.unit)
    return f"{common.plain(', '.join(filter(None, where)))}<br>{value}"


def _marks(x: Sequence[Any], index: int, change_point: ChangePoint) -> list[dict[str, Any]]:
    scale = _scale(change_point)
    before, after = change_point.before * scale, change_point.after * scale
    if change_point.per_point is not None:
        first = max(index - change_point.groups_after + 1, 0)
        start = after / (1 + change_point.per_point) ** (index - first)
        return [{**common.level(x[first], x[index], start, common.token("ink"), 2), "y1": after}]
    marks = []
    if index > 0:
        marks.append(common.level(x[0], x[index - 1], before, common.token("ink"), 2))
    elif change_point.origin and x:
        # The level that the line or branch goes on from, which has no group of its own here.
        marks.append(common.level(x[0], x[-1], before, common.token("ink"), 1))
    if index < len(x):
        marks.append(common.level(x[index], x[-1], after, common.token("ink"), 2))
        dash = "solid" if change_point.state == ChangePoint.State.CONFIRMED else "dot"
        marks.append(common.line_at(x[index], dash))
    return marks


def _label(x: Sequence[Any], index: int, change_point: ChangePoint) -> list[dict[str, Any]]:
    if index >= len(x):
        return []
    # On the side of the lower level there is room at the top.
    is_fall = change_point.is_fall
    return [
        {
            "x": x[index],
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "xanchor": "left" if is_fall else "right",
            "xshift": 4 if is_fall else -4,
            "text": headlines.change_words(change_point),
            "showarrow": False,
            "font": {"size": 12, "color": common.token("ink")},
        }
    ]
