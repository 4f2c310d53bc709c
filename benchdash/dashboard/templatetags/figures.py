"""Numbers, changes, times and states in templates: ``{% load figures %}``."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchdash.dashboard import numbers

register = template.Library()

register.filter("number", numbers.number)
register.filter("count", numbers.count)
register.filter("change", numbers.change)
register.filter("share", numbers.share)
register.filter("ratio", numbers.ratio)
register.filter("p_value", numbers.p_value)
register.filter("metric_name", numbers.metric_name)
register.filter("short_metric_name", numbers.short_metric_name)
register.filter("direction_words", numbers.direction_words)
register.simple_tag(numbers.axis_title, name="axis_title")
register.simple_tag(numbers.unit_words, name="unit_words")
register.simple_tag(numbers.plus_minus, name="plus_minus")
register.simple_tag(numbers.level, name="level")
register.simple_tag(numbers.ratio_level, name="ratio_level")

# What a state means, beside its word: a tone for the colour and a sign for those who see none.
_TONES = {
    "regression": ("worse", "▼"),
    "improvement": ("better", "▲"),
    "environment": ("plain", "◆"),
    "silence": ("plain", "◌"),
    "worse": ("worse", "▼"),
    "better": ("better", "▲"),
    "same": ("plain", "="),
    "unknown": ("plain", "?"),
    "suspected": ("dotted", ""),
    "confirmed": ("strong", ""),
    "withdrawn": ("faded", ""),
    "historical": ("faded", ""),
    "new": ("strong", ""),
    "acknowledged": ("plain", ""),
    "investigating": ("plain", ""),
    "expected": ("faded", ""),
    "wontfix": ("faded", ""),
    "fixed": ("plain", "✓"),
    "invalid": ("faded", ""),
    "queued": ("dotted", "…"),
    "importing": ("dotted", "…"),
    "imported": ("plain", "✓"),
    "partial": ("warning", "!"),
    "refused": ("error", "×"),
    "deleted": ("faded", "×"),
    "ignored": ("faded", "–"),
    "would be imported": ("plain", "✓"),
    "known already": ("plain", "="),
    "not looked at": ("dotted", "…"),
    "excluded": ("faded", "○"),
    "revoked": ("faded", "×"),
    "public": ("plain", ""),
    "private": ("dotted", ""),
}


@register.simple_tag
def badge(state: str, label: str = "") -> SafeString:
    """A state as a small badge; ``label`` where its word for people differs (``won't fix``)."""
    tone, sign = _TONES.get(state, ("plain", ""))
    mark = format_html('<span aria-hidden="true">{}</span>\N{NO-BREAK SPACE}', sign) if sign else ""
    return format_html('<span class="badge badge-{}">{}{}</span>', tone, mark, label or state)


@register.simple_tag
def change_figure(value: float | None, direction: str, verdict: str = "") -> SafeString:
    """A relative change, coloured by what it means: ``▼ −8.4 %`` on the worse side's ground."""
    level = numbers.level(value, direction, verdict)
    side = level.partition("-")[0]
    sign = {"worse": "▼", "better": "▲"}.get(side, "")
    return format_html(
        '<span class="change level-{}" title="{}">{}{}</span>',
        level,
        {"same": "within the noise", "unknown": "not enough runs"}.get(side, side),
        format_html('<span aria-hidden="true">{}</span>\N{NO-BREAK SPACE}', sign) if sign else "",
        numbers.change(value),
    )


@register.filter
def ago(time: datetime | None) -> str:
    """A time relative to now, with the exact one in its title."""
    if time is None:
        return numbers.NOTHING
    moment = time.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        numbers.exact_time(moment),
        numbers.ago(moment, timezone.now()),
    )


@register.filter
def exact(time: datetime | None) -> str:
    """The exact time in UTC, where the moment itself matters."""
    if time is None:
        return numbers.NOTHING
    moment = time.astimezone(UTC)
    return format_html(
        '<time datetime="{}">{}</time>', f"{moment:%Y-%m-%dT%H:%M:%SZ}", numbers.exact_time(moment)
    )


@register.filter
def commit(value: str | None) -> str:
    """The first ten digits of a commit, the whole of it in the title."""
    if not value:
        return numbers.NOTHING
    return format_html('<code class="commit" title="{}">{}</code>', value, value[:10])


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
