"""Switches between ways to draw: all of a page are in its menu "Display"."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchdash.accounts.models import Project
from benchdash.addresses import ViewQuery
from benchdash.dashboard.shell.filters import FilterChip, unseen
from benchdash.dashboard.shell.navigation import Link


@dataclass(frozen=True)
class Switch:
    """A choice between ways to draw; ``values`` are those of the parameter ``name``.

    ``is_set``: a person chose it, so that the menu names it while it is closed.
    """

    label: str
    links: Sequence[Link]
    name: str
    values: Sequence[str]
    is_set: bool = False

    @cached_property
    def chosen(self) -> str:
        """The words of the way in which the page is drawn."""
        return next((link.label for link in self.links if link.is_current), "")

    @property
    def check(self) -> FilterChip:
        """A chip that checks what an address says of it."""
        return unseen(self.name, [value for value in self.values if value], shown=self.chosen)


def switch(
    label: str,
    name: str,
    options: Iterable[tuple[str, str]],
    query: ViewQuery,
    project: Project,
    *,
    chosen: str | None = None,
    is_set: bool | None = None,
) -> Switch:
    """Return a switch between values of a field of the query.

    ``chosen`` is how the page is drawn where the field alone does not tell. The first option is how it is
    drawn by itself, unless ``is_set`` says whether a person chose.
    """
    known, chosen = list(options), getattr(query, name) if chosen is None else chosen
    links = [Link(words, query.url(project, **{name: value}), value == chosen) for value, words in known]
    values = [value for value, _ in known]
    return Switch(label, links, name, values, chosen != values[0] if is_set is None else is_set)


def checks(made: Iterable[Switch]) -> list[FilterChip]:
    """Return chips that check what an address says of switches."""
    return [one.check for one in made]
