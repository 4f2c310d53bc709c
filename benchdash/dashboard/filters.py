"""The chips of the filter line: what can be chosen, and what is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard.markup import EMPTY, html, joined

_INPUT: Final = '<label><input type="{}" name="{}" id="filter-{}-'
_CHOICE: Final = '{}{}" value="{}"{}> {}</label>\n'
_CHOSEN: Final = (EMPTY, mark_safe(" checked"))


class Choice(NamedTuple):
    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True)
class Filter:
    """One chip. ``name`` is the query parameter; several values repeat it.

    ``empty`` is what the chip says when nothing is chosen (``all``, ``newest``).
    """

    name: str
    label: str
    choices: Sequence[Choice]
    several: bool = False
    empty: str = "all"

    @cached_property
    def chosen(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.chosen]

    @property
    def summary(self) -> str:
        chosen = self.chosen
        if not chosen:
            return self.empty
        if len(chosen) <= 2:
            return ", ".join(choice.label for choice in chosen)
        return f"{chosen[0].label} and {len(chosen) - 1} more"

    @property
    def inputs(self) -> SafeString:
        """A box to tick or a radio button for each choice."""
        shared = html(_INPUT, "checkbox" if self.several else "radio", self.name, self.name)
        return joined(
            html(_CHOICE, shared, number, value, _CHOSEN[chosen], label)
            for number, (value, label, chosen) in enumerate(self.choices, start=1)
        )


def one_of(
    name: str, label: str, options: Iterable[tuple[str, str]], chosen: str | None, *, empty: str = "all"
) -> Filter:
    """A chip for at most one of ``options`` (value, label)."""
    return Filter(name, label, _choices(options, {chosen or ""}), empty=empty)


def some_of(
    name: str, label: str, options: Iterable[tuple[str, str]], chosen: Iterable[str], *, empty: str = "all"
) -> Filter:
    """A chip for any number of ``options`` (value, label)."""
    return Filter(name, label, _choices(options, set(chosen)), several=True, empty=empty)


def _choices(options: Iterable[tuple[str, str]], chosen: set[str]) -> list[Choice]:
    return [Choice(value, label, value in chosen) for value, label in options]
