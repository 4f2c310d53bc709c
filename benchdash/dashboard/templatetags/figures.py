"""Numbers, changes, times and states in templates: ``{% load figures %}``."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from django import template
from django.utils import timezone
from django.utils.html import format_html

from benchdash.dashboard.shell import numbers, paging
from benchdash.dashboard.shell.html import grid_cells, number_cells
from benchdash.dashboard.templatetags.shell import statistics_url
from benchdash.regressions.comparison import verdict_words
from benchdash.results.wording import COUNTERPART, metric_at_start

register = template.Library()

# The meaning of a state beside its word: a tone for the colour, and a sign for those who see none.
# Other states are plain.
_TONES: Final = {
    **dict.fromkeys(("regression", "worse"), ("worse", "")),
    **dict.fromkeys(("improvement", "better"), ("better", "")),
    **dict.fromkeys(("likely_worse", "likely_better"), ("dotted", "")),
    **dict.fromkeys(("imported", "fixed", "would be imported"), ("plain", "✓")),
    **dict.fromkeys(("same", "known already"), ("plain", "=")),
    **dict.fromkeys(("suspected", "private"), ("dotted", "")),
    **dict.fromkeys(("queued", "importing", "not looked at"), ("dotted", "…")),
    **dict.fromkeys(("confirmed", "new"), ("strong", "")),
    **dict.fromkeys(("withdrawn", "historical", "expected", "wontfix", "invalid"), ("faded", "")),
    **dict.fromkeys(("deleted", "revoked"), ("faded", "×")),
    "environment": ("plain", "◆"),
    "silence": ("plain", "◌"),
    "drift": ("worse", "◢"),
    "unknown": ("plain", "?"),
    "partial": ("warning", "!"),
    "refused": ("error", "×"),
    "ignored": ("faded", "–"),
    "excluded": ("faded", "○"),
}

register.filter("number", numbers.number)
register.filter("count", numbers.count)
register.filter("counted", numbers.counted)
register.filter("change", numbers.change)
register.filter("share", numbers.share)
register.filter("ratio", numbers.ratio)
register.filter("p_value", numbers.p_value)
register.filter("metric_name", numbers.metric_name)
register.filter("metric_at_start", metric_at_start)
register.filter("short_metric_name", numbers.short_metric_name)
register.filter("direction_words", numbers.direction_words)
register.simple_tag(numbers.axis_title, name="axis_title")
register.simple_tag(numbers.unit_words, name="unit_words")
register.simple_tag(numbers.plus_minus, name="plus_minus")
register.simple_tag(numbers.level, name="level")
register.simple_tag(numbers.ratio_level, name="ratio_level")
register.filter("total", paging.total)
register.simple_tag(lambda: COUNTERPART, name="counterpart_label")
register.filter("grid_cells", grid_cells)
register.filter("number_cells", number_cells)


@register.filter
def each_of(rows: Iterable[Any], name: str) -> str:
    """Join what rows have under a name, each text once: ``of its level or against the one before``."""
    return " or ".join(dict.fromkeys(getattr(row, name) for row in rows))


@register.simple_tag
@lru_cache(maxsize=256)
def badge(state: str, label: str = "") -> str:
    """Write a state as a small badge; ``label`` where its word for people differs (``won't fix``)."""
    tone, sign = _TONES.get(state, ("plain", ""))
    return format_html('<span class="badge badge-{}">{}{}</span>', tone, mark(sign), label or state)


@register.simple_tag
def change_figure(
    value: float | None, direction: str, verdict: str = "", metric: str = "", unit: str = ""
) -> str:
    """Write a relative change with the look of its verdict: ``▼ −8.4 %`` on the worse side's ground.

    Without a verdict its size alone has a look.
    """
    level = numbers.level(value, direction, verdict)
    side = level.replace("likely-", "likely_").partition("-")[0]
    title = verdict_words.words(verdict or side, metric, direction=direction)
    return _figure(level, title, numbers.sign(level, value), numbers.change(value, unit))


def _figure(level: str, title: str, sign: str, text: str) -> str:
    return format_html('<span class="change level-{}" title="{}">{}{}</span>', level, title, mark(sign), text)


@register.simple_tag
@lru_cache(maxsize=256)
def verdict_word(verdict: str, metric: str = "", margin: float | None = None, direction: str = "") -> str:
    """Write a verdict in words, ``likely slower (one session)``, with a link to what they mean."""
    words = verdict_words.words(verdict, metric, direction=direction, margin=margin)
    return format_html('<a class="verdict" href="{}">{}</a>', statistics_url(verdict), words)


@register.simple_tag
def sign(level: str, change: float | None) -> str:
    """Write the arrow of a change with this look: ``▼``; hollow where it is only likely."""
    return mark(numbers.sign(level, change))


@register.filter
def ago(time: datetime | None) -> str:
    """Write a time relative to now, with the exact one in its title."""
    if time is None:
        return numbers.NOTHING
    local = timezone.localtime(time)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        _for_machines(time),
        numbers.exact_time(local),
        numbers.ago(local, timezone.now()),
    )


@register.filter
def exact(time: datetime | None) -> str:
    """Write the exact time, where the moment itself matters, in the zone of who reads it."""
    if time is None:
        return numbers.NOTHING
    words = numbers.exact_time(timezone.localtime(time))
    return format_html('<time datetime="{}">{}</time>', _for_machines(time), words)


def _for_machines(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@register.filter
def commit(value: str | None) -> str:
    """Write the first ten digits of a commit, the whole of it in the title."""
    if not value:
        return numbers.NOTHING
    return format_html('<code class="commit" title="{}">{}</code>', value, value[:10])


def mark(sign: str) -> str:
    """Write a sign before a figure, for those who see no colours."""
    if not sign:
        return ""
    return format_html('<span aria-hidden="true">{}</span>\N{NO-BREAK SPACE}', sign)


@register.filter
def bytes_words(size: int | None) -> str:
    """``12.4 kB``; thousands are decimal."""
    if size is None:
        return numbers.NOTHING
    if size < 1000:
        return f"{numbers.count(size)}\N{NO-BREAK SPACE}byte{'' if size == 1 else 's'}"
    value, unit = size / 1000, "kB"
    for unit in ("kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{numbers.number(value, digits=3)}\N{NO-BREAK SPACE}{unit}"


@register.filter
def seconds(value: float | None) -> str:
    """``1 h 05 min``, ``3 min 20 s``, ``12.5 s``."""
    if value is None:
        return numbers.NOTHING
    if value < 60:
        return f"{numbers.number(value, digits=3)}\N{NO-BREAK SPACE}s"
    whole = round(value)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return f"{hours}\N{NO-BREAK SPACE}h {minutes:02d}\N{NO-BREAK SPACE}min"
    return f"{minutes}\N{NO-BREAK SPACE}min {rest:02d}\N{NO-BREAK SPACE}s"


@register.filter
def lookup(mapping: Any, key: Any) -> Any:
    """``mapping[key]`` for a key held in a variable; nothing where there is none."""
    return mapping.get(key) if mapping else None
