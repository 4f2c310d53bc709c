"""Incidents in a few words: ``{% load incidents %}``."""

from django import template
from django.utils.html import format_html

from benchdash.dashboard.shell import numbers
from benchdash.dashboard.templatetags.figures import mark
from benchdash.regressions import headlines
from benchdash.regressions.event_words import until_words
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.used_units import in_used_unit
from benchdash.results.readings import HIGHER
from benchdash.results.wording import MINUS

register = template.Library()

register.filter("what_happened", headlines.what_happened)
register.filter("headline", headlines.figure)
register.filter("in_used_unit", in_used_unit)
register.filter("levels", headlines.levels)
register.filter("is_of_speed", headlines.is_of_speed)
register.filter("largest_words", headlines.largest_words)
register.filter("recovered_words", headlines.recovered_words)
register.filter("series_words", headlines.series_words)
register.filter("drift_words", headlines.drift_words)
register.filter("silence_words", headlines.silence_words)
register.filter("rhythm", headlines.rhythm)
register.filter("day", headlines.day)
register.simple_tag(until_words, name="until_words")


@register.simple_tag
def headline_figure(incident: Incident, *, beside_metric: bool = False) -> str:
    """Write the headline figure of an incident on the ground of what it means: ``▼ −14.3 %``."""
    text = headlines.bare_figure(incident) if beside_metric else headlines.figure(incident)
    return _coloured(text, incident.median, _side(incident), incident.status)


@register.simple_tag
def largest_figure(incident: Incident) -> str:
    """Write the largest change of an incident in the same way."""
    return _coloured(headlines.largest_figure(incident), incident.worst, _side(incident), incident.status)


@register.simple_tag
def shift_figure(change_point: ChangePoint) -> str:
    """Write the change of one series in its own unit in the same way: ``▲ +28.6 %`` of a response time."""
    return _of_series(headlines.change_words(change_point), change_point)


@register.simple_tag
def speed_figure(change_point: ChangePoint) -> str:
    """Write the change of speed of one series in the same way; slower is minus."""
    return _of_series(headlines.speed_words(change_point), change_point)


def _of_series(text: str, change_point: ChangePoint) -> str:
    side = "worse" if change_point.is_regression else "better"
    return _coloured(text, change_point.speed_change, side, change_point.state)


def _side(incident: Incident) -> str:
    return "worse" if headlines.is_for_the_worse(incident) else "better"


def _coloured(text: str, speed: float | None, side: str, state: str) -> str:
    """Write a figure; a suspicion has an outline in place of the colour of a verdict."""
    if not text:
        return numbers.NOTHING
    # A rise from zero has no size in per cent, and the palest ground.
    level = f"level-{side}-1" if speed is None else f"level-{numbers.level(speed, HIGHER, side)}"
    return format_html(
        '<span class="change {}">{}{}</span>',
        f"is-suspected is-{side}" if state == ChangePoint.State.SUSPECTED else level,
        mark("▼" if text.startswith(MINUS) else "▲"),
        text,
    )
