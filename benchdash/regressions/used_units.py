"""Change points in the units that people use, for pages and mails; they are never saved so."""

from copy import copy

from benchdash.regressions.models import ChangePoint
from benchdash.results.models import Series
from benchdash.results.points import Point
from benchdash.results.used_units import UsedUnit


def in_used_unit(change_point: ChangePoint) -> ChangePoint:
    """Return a change point with its levels, and its series, in the unit that people use of that."""
    return change_point_in_unit(change_point, change_point.series.used)


def change_point_in_unit(change_point: ChangePoint, used: UsedUnit) -> ChangePoint:
    """Return a change point with its levels, and its series, in a unit."""
    if used == UsedUnit(change_point.series.unit):
        return change_point
    shown = copy(change_point)
    shown.series = series_in_unit(change_point.series, used)
    shown.before, shown.after = used.of(change_point.before), used.of(change_point.after)
    shown.expected_low = used.maybe(change_point.expected_low)
    shown.expected_high = used.maybe(change_point.expected_high)
    return shown


def series_in_unit(series: Series, used: UsedUnit) -> Series:
    """Return a series that is called by the unit that its figures are shown in."""
    shown = copy(series)
    shown.unit, shown.printed_unit = used.unit, ""
    return shown


def scaled(point: Point, factor: float) -> Point:
    """Return a point with its figures multiplied."""
    return point._replace(
        value=point.value * factor,
        low=None if point.low is None else point.low * factor,
        high=None if point.high is None else point.high * factor,
        values=tuple(value * factor for value in point.values),
    )
