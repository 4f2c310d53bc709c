"""The filter line: what can be chosen, what is, and which chips stand in the line or under "More"."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

from benchdash.addresses import NOTHING, texts_of

M = TypeVar("M", bound=Model)
# More chips in the line than these would have to be read before the page is.
MAX_VISIBLE: Final = 3
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
    that is not shown leaves no choice. ``default`` is the value that is chosen where an address is silent.
    """

    name: str
    label: str
    choices: Sequence[FilterChoice]
    several: bool = False
    empty: str = "all"
    also: Collection[str] = ()
    is_checked: bool = True
    is_shown: bool = True
    default: str = ""

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

    @property
    def leaves_choice(self) -> bool:
        return self.is_shown and len(self.choices) > 1

    def is_set_by(self, query: QueryDict) -> bool:
        """Tell whether an address chooses something that would not be so without it."""
        return self.is_shown and any(query.getlist(self.name)) and self._values != [self.default]

    @property
    def _values(self) -> list[str]:
        return [choice.value for choice in self.chosen] or [""]


@dataclass(frozen=True)
class SetFilter:
    """A choice of a chip under "More", with the address without it."""

    chip: FilterChip
    url: str


@dataclass(frozen=True)
class FilterLine:
    """The chips of a page, the most useful first. ``set_in_more`` are the choices made under "More".

    ``is_touched``: the address says anything, so that there is something to reset.
    """

    visible: Sequence[FilterChip]
    more: Sequence[FilterChip]
    set_in_more: Sequence[SetFilter]
    is_touched: bool

    @classmethod
    def of(
        cls,
        chips: Iterable[FilterChip],
        query: QueryDict,
        path: str,
        *,
        kept: Sequence[tuple[str, str]] = (),
        beside: int = 0,
    ) -> "FilterLine":
        """Divide the chips of a page; ``beside`` is how many chips of its own stand before them.

        One that leaves no choice is not shown, unless the address sets it. ``kept`` is what the form sends
        besides.
        """
        shown = [chip for chip in chips if chip.leaves_choice or chip.is_set_by(query)]
        room = max(0, MAX_VISIBLE - beside)
        visible, more = shown[:room], shown[room:]
        return cls(
            visible=visible,
            more=more,
            set_in_more=[
                SetFilter(chip, _without(chip, shown, query, path, kept))
                for chip in more
                if chip.is_set_by(query)
            ],
            is_touched=any(any(query.getlist(name)) for name in query if name != "page"),
        )


def _without(
    chip: FilterChip,
    chips: Sequence[FilterChip],
    query: QueryDict,
    path: str,
    kept: Sequence[tuple[str, str]],
) -> str:
    """Return the address that the form would lead to without the choice of a chip."""
    said = query.copy()
    for other in chips:
        said.setlist(other.name, [choice.value for choice in other.chosen])
    for name in {name for name, _ in kept}:
        said.setlist(name, [value for one, value in kept if one == name and value])
    for name in (chip.name, "page"):
        said.pop(name, None)
    return f"{path}?{said.urlencode()}"


def one_of(
    name: str,
    label: str,
    options: Iterable[tuple[str, str]],
    chosen: str | None,
    *,
    empty: str = "all",
    default: str = "",
) -> FilterChip:
    """Return a chip for at most one of ``options`` (value, label)."""
    choices = [FilterChoice(value, words, value == (chosen or "")) for value, words in options]
    return FilterChip(name, label, choices, empty=empty, default=default)


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


# --- values that nothing here has ---------------------------------------------------------------------------
# An address may be old, shared, or written by hand. A page shows what it can all the same, and says above it
# what it could not follow, so that nobody takes the default for an answer.

_MAX_NAMED: Final = 8
_MAX_LENGTH: Final = 100
# Parameters that are called otherwise in a sentence.
_CALLED: Final = {
    "threads": "thread count",
    "show": "choice of columns",
    "sort": "order",
    "v": "version",
    "with": "condition",
    "counterpart": "measurement with",
}


def unknown_value(what: str, value: str, known: Collection[str] = (), *, shown: str = "") -> str:
    """Say it: ``There is no metric “zzz” here; there are tps, latency_avg``, and what is shown instead."""
    said = value if len(value) <= _MAX_LENGTH else f"{value[:_MAX_LENGTH]}…"
    sentence = f"There is no {_CALLED.get(what, what)} “{said}” here"
    if known:
        named = list(known)[:_MAX_NAMED]
        more = len(known) - len(named)
        sentence += f"; there {'are' if len(known) > 1 else 'is'} {', '.join(named)}"
        sentence += f" and {more:,} more" if more else ""
    return f"{sentence}. Shown: {shown}." if shown else f"{sentence}."


def unknown_of_chips(query: QueryDict, chips: Iterable[FilterChip]) -> Iterator[str]:
    """Yield a sentence for each value of an address that is none of the choices of its chip."""
    for chip in chips:
        if not chip.is_checked:
            continue
        values = {choice.value for choice in chip.choices}
        for text in texts_of(query, chip.name):
            if text not in values and text not in chip.also:
                yield unknown_value(chip.name, text, list(map(_name, chip.choices)), shown=chip.summary)


def _name(choice: FilterChoice) -> str:
    """Name a choice as an address may: by its label where its value is an id."""
    is_name = choice.value and choice.value != NOTHING and not choice.value.isdigit()
    return choice.value if is_name else choice.label
