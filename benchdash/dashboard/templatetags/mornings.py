"""The rows of a morning in templates: ``{% load mornings %}``."""

from django import template
from django.utils.html import format_html, format_html_join

from benchdash.accounts.models import Project
from benchdash.addresses import history_of
from benchdash.dashboard.shell import numbers
from benchdash.regressions.morning import sentences
from benchdash.regressions.morning.rows import Standing
from benchdash.results.wording import counted

register = template.Library()

register.simple_tag(sentences.standing, name="standing")
register.filter("threads_of", sentences.threads_of)

_WIDTH, _HEIGHT, _MARGIN = 150, 28, 3
# Nothing is drawn larger than it is: a quiet history is a quiet line.
_MIN_SPAN = 0.04


@register.simple_tag
def sparkline(row: Standing) -> str:
    """Draw the last groups of a row over its usual range, with a line where a confirmed level begins."""
    if not row.curve:
        return ""
    low, high = min(row.curve), max(row.curve)
    if row.usual is not None:
        low, high = min(low, 1 / (1 + row.usual)), max(high, 1 + row.usual)
    middle, span = (low + high) / 2, max(high - low, _MIN_SPAN)
    step = (_WIDTH - 2 * _MARGIN) / max(len(row.curve) - 1, 1)

    def x(index: float) -> str:
        return f"{_MARGIN + index * step:.1f}"

    def y(value: float) -> float:
        return _HEIGHT / 2 - (value - middle) / span * (_HEIGHT - 2 * _MARGIN)

    usual = ""
    if row.usual is not None:
        top, bottom = y(1 + row.usual), y(1 / (1 + row.usual))
        usual = format_html(
            '<rect x="0" y="{}" width="{}" height="{}"/>', f"{top:.1f}", _WIDTH, f"{bottom - top:.1f}"
        )
    steps = format_html_join("", '<path d="M{} 0V{}"/>', ((x(at - 0.5), _HEIGHT) for at in row.changed_at))
    points = " ".join(f"{x(at)},{y(value):.1f}" for at, value in enumerate(row.curve))
    return format_html(
        '<svg class="sparkline" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}'
        '<polyline points="{}"/><circle cx="{}" cy="{}" r="2.5"/></svg>',
        _WIDTH,
        _HEIGHT,
        _said(row),
        usual,
        steps,
        points,
        x(len(row.curve) - 1),
        f"{y(row.curve[-1]):.1f}",
    )


def _said(row: Standing) -> str:
    low, high, newest = (
        numbers.change(value - 1) for value in (min(row.curve), max(row.curve), row.curve[-1])
    )
    text = f"{counted(len(row.curve), 'point')}, {low} to {high} of the level, newest {newest}"
    return f"{text}; {counted(len(row.changed_at), 'confirmed change')}" if row.changed_at else text


@register.filter
def of_level(row: Standing) -> str:
    """Write how far the newest figure is from its level: ``+0.4 %``."""
    return numbers.NOTHING if row.of_level is None else numbers.change(row.of_level - 1)


@register.simple_tag
def history_url(project: Project, row: Standing) -> str:
    """Return the address of the history of a row."""
    return history_of(*(each.series_id for each in row.each_threads)).url(project)
