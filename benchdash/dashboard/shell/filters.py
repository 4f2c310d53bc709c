"""The chips of the filter line: what can be chosen, and what is."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

M = TypeVar("M", bound=Model)
_MAX_SEARCH_LENGTH: Final = 200


class FilterChoice(NamedTuple):
    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True)
class FilterChip:
    """One chip. ``name`` is the query parameter; several values repeat it.

    ``empty`` is what the chip says when nothing is chosen (``all``, ``newest``). An address may say ``also``
    in place of values: names for ids. Where ``is_checked``, any other value of an address is unknown. A chip
    that is not shown leaves no choice.
    """

    name: str
    label: str
    choices: Sequence[FilterChoice]
    several: bool = False
    empty: str = "all"
    also: Collection[str] = ()
    is_checked: bool = True
    is_shown: bool = True

    @cached_property
    def chosen(self) -> list[FilterChoice]:
        return [choice for choice in self.choices if choice.chosen]

    @property
    def summary(self) -> str:
        chosen = self.chosen
        if not chosen:
            return self.empty
        if len(chosen) <= 2:
            return ", ".join(choice.label for choice in chosen)
        return f"{chosen[0].label} and {len(chosen) - 1} more"


def one_of(
    name: str, label: str, options: Iterable[tuple[str, str]], chosen: str | None, *, empty: str = "all"
) -> FilterChip:
    """Return a chip for at most one of ``options`` (value, label)."""
    choices = [FilterChoice(value, words, value == (chosen or "")) for value, words in options]
    return FilterChip(name, label, choices, empty=empty)


def some_of(
    name: str, label: str, options: Iterable[tuple[str, str]], chosen: Iterable[str], *, empty: str = "all"
) -> FilterChip:
    """Return a chip for any number of ``options`` (value, label)."""
    known = set(chosen)
    choices = [FilterChoice(value, words, value in known) for value, words in options]
    return FilterChip(name, label, choices, several=True, empty=empty)


def some_of_names(name: str, label: str, names: Iterable[str], chosen: Iterable[str]) -> FilterChip:
    """Return a chip for any number of things whose names are their values."""
    return some_of(name, label, [(text, text) for text in names], chosen)


def unseen(name: str, values: Iterable[str], *, shown: str = "") -> FilterChip:
    """Return a chip that only checks an address; ``shown`` is what the page shows of these values."""
    return FilterChip(name, name, [FilterChoice(one, one) for one in values], empty=shown, is_shown=False)


def search_text(query: QueryDict) -> str:
    """Return the text of the search field of an address."""
    return query.get("q", "").replace("\0", "").strip()[:_MAX_SEARCH_LENGTH]


def filtered(found: QuerySet[M], chips: Iterable[FilterChip], fields: Mapping[str, str]) -> QuerySet[M]:
    """Return the rows that chips choose; ``fields`` are the fields of chips by their names."""
    for chip in chips:
        if chip.chosen and chip.name in fields:
            found = found.filter(**{f"{fields[chip.name]}__in": [choice.value for choice in chip.chosen]})
    return found
