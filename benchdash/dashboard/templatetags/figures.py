"""Numbers, changes, times and states in templates: ``{% load figures %}``."""

from typing import Any

from django import template

from benchdash.dashboard import cells, compared_rows, incident_rows, matrix_rows, numbers, paging, sample_rows

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
register.simple_tag(cells.badge, name="badge")
register.simple_tag(cells.change_figure, name="change_figure")
register.simple_tag(compared_rows.table_markup, name="compared_table")
register.simple_tag(compared_rows.value_markup, name="compared_value")
register.simple_tag(matrix_rows.matrix_rows, name="matrix_rows")
register.filter("ago", cells.ago)
register.filter("exact", cells.exact)
register.filter("commit", cells.commit)
register.filter("total", paging.total)
register.filter("between", incident_rows.between)
register.filter("sample_rows", sample_rows.sample_rows)


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
