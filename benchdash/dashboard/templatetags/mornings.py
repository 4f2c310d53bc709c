"""The rows of a morning in templates: ``{% load mornings %}``."""

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode

from benchdash.accounts.models import Project
from benchdash.dashboard.shell import numbers
from benchdash.regressions.headlines import threads_words
from benchdash.regressions.morning.rows import Standing
from benchdash.results.metrics import is_speed
from benchdash.results.wording import counted

register = template.Library()

_WIDTH, _HEIGHT, _MARGIN = 150, 28, 3
# Nothing is drawn larger than it is: a quiet history is a quiet line.
_MIN_SPAN = 0.04
_WIDE = 0.1
_HOURS = 3600
_INTERVALS = ((7 * 24 * _HOURS, "week"), (24 * _HOURS, "day"), (_HOURS, "hour"))


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
    text = f"{counted(len(row.curve), 'group')}, {low} to {high} of the level, newest {newest}"
    return f"{text}; {counted(len(row.changed_at), 'confirmed change')}" if row.changed_at else text


@register.simple_tag
def standing(row: Standing) -> str:
    """Say how the newest figure stands against its level: ``as usual, ± 1.2 %``."""
    match row.verdict:
        case "same":
            return f"as usual, {_usual(row)}"
        case "unknown":
            return f"not enough to tell: needs {counted(row.needed, 'more night')}"
    words = ("slower", "faster") if is_speed(row.metric) else ("worse", "better")
    word = words[row.verdict == "likely_better"]
    return f"{word} than usual, one night; not confirmed (usual: {_usual(row)})"


def _usual(row: Standing) -> str:
    """Write ``± 1.2 %``, or both ends of a range so wide that they differ: ``−28.6 to +40.0 %``."""
    usual = row.usual or 0.0
    if usual < _WIDE:
        return f"±{numbers.NO_BREAK}{numbers.share(usual)}"
    low, high = numbers.change(1 / (1 + usual) - 1), numbers.change(usual)
    return f"{low.partition(numbers.NO_BREAK)[0]} to {high}"


@register.filter
def of_level(row: Standing) -> str:
    """Write how far the newest figure is from its level: ``+0.4 %``."""
    return numbers.NOTHING if row.of_level is None else numbers.change(row.of_level - 1)


@register.filter
def threads_of(row: Standing) -> str:
    """Write ``4 threads``, ``8 thread counts``; nothing where no count is known."""
    if len(row.threads) > 1:
        return counted(len(row.threads), "thread count")
    return "" if row.first_threads is None else threads_words(row.first_threads)


@register.simple_tag
def history_url(project: Project, row: Standing) -> str:
    """Return the address of the history of a row."""
    url = reverse("dashboard:history", args=[project.slug])
    series = [("series", each.series_id) for each in row.each_threads]
    return f"{url}?{urlencode(series)}"


@register.filter
def every(seconds: float) -> str:
    """Write how often something reports: ``every day``, ``every 6 hours``."""
    for length, name in _INTERVALS:
        if seconds > 0.9 * length:
            number = round(seconds / length)
            return f"every {name}" if number == 1 else f"every {number} {name}s"
    return "every hour"
