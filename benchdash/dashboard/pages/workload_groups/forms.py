"""The form of the groups of workloads: a name and patterns for each, in their order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from django.http import QueryDict

from benchdash.results.workload_groups import MAX_GROUPS, PatternGroup

_EMPTY: Final = 2
_MAX_ORDER_LENGTH: Final = 9
_MAX_TEXT_LENGTH: Final = 40_000


@dataclass(frozen=True)
class Field:
    """One group as its fields say it; ``patterns`` has one a line."""

    order: str = ""
    name: str = ""
    patterns: str = ""


def fields_of(groups: Iterable[PatternGroup]) -> list[Field]:
    """The fields of these groups, and empty ones for more."""
    return _with_empty(
        [Field(str(number), group.name, "\n".join(group.patterns)) for number, group in enumerate(groups, 1)]
    )


def groups_said(data: QueryDict) -> tuple[list[PatternGroup], list[Field]]:
    """The groups that a form says, in the order of its numbers, and its fields again.

    A group without a name and patterns is none.
    """
    said = zip(data.getlist("order"), data.getlist("name"), data.getlist("patterns"), strict=False)
    fields = [
        Field(_text(order)[:_MAX_ORDER_LENGTH], _text(name), _text(patterns))
        for order, name, patterns in said
    ]
    fields = sorted((one for one in fields if one.name or one.patterns), key=_order)[: MAX_GROUPS + _EMPTY]
    return [PatternGroup(one.name, _patterns(one)) for one in fields], _with_empty(fields)


def _with_empty(fields: Sequence[Field]) -> list[Field]:
    return [*fields, *(Field(str(len(fields) + number)) for number in range(1, _EMPTY + 1))]


def _patterns(field: Field) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, field.patterns.splitlines())))


def _order(field: Field) -> float:
    """A group whose number is none comes last."""
    return int(field.order) if field.order.isascii() and field.order.isdigit() else inf


def _text(text: str) -> str:
    return text.replace("\0", "").strip()[:_MAX_TEXT_LENGTH]
