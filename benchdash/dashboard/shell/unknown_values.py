"""Values in an address that nothing here has: which, and what there is in their place.

An address may be old, shared, or written by hand. A page shows what it can all the same, and says above it
what it could not follow, so that nobody takes the default for an answer.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from django.http import QueryDict

from benchdash.dashboard.shell.filters import FilterChip, FilterChoice
from benchdash.dashboard.shell.selection import EMPTY

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
        for text in dict.fromkeys(query.getlist(chip.name)):
            if text and text not in values and text not in chip.also:
                yield unknown_value(chip.name, text, list(map(_name, chip.choices)), shown=chip.summary)


def _name(choice: FilterChoice) -> str:
    """Name a choice as an address may: by its label where its value is an id."""
    is_name = choice.value and choice.value not in EMPTY and not choice.value.isdigit()
    return choice.value if is_name else choice.label
