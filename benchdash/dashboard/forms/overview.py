"""What the address of the overview chooses for its matrix, and what is chosen where it does not say."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.dashboard import filters, numbers
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms.version_picker import newest_of_lines
from benchdash.dashboard.places import Place
from benchdash.regressions.branch_table import Base
from benchdash.regressions.column_names import names
from benchdash.regressions.comparison import Column
from benchdash.results import metrics

AT_FIRST: Final = 8
_LENGTHS: Final = (8, 16, 40)
_NEWEST_OF_LINES: Final = "lines"
# In an address, for a part that is empty; no branch of git can be called so.
_NONE: Final = "~"
_STORED: Final = "set"

# The parts of a place in the order in which they narrow it down, with the words for an empty one.
_PARTS: Final = (
    ("product", "Product", ""),
    ("branch", "Branch", "releases"),
    ("hardware", "Hardware", ""),
    ("configuration", "Configuration", ""),
    ("counterpart", "Counterpart", "none"),
    ("build", "Build", "plain"),
)


def read_place(
    query: QueryDict, available: Sequence[Column], use: Counter[Place]
) -> tuple[Place, list[Filter]]:
    """The place that is asked for, as far as there is one, and a filter for each part that has a choice.

    Where the address leaves several, it is the one that recent runs use most; see ``recent_use``.
    """
    places = sorted(dict.fromkeys(map(Place.of, available)), key=lambda place: -use[place])
    found = []
    for name, label, empty in _PARTS:
        values = sorted({getattr(place, name) for place in places})
        found.append((name, label, empty, values))
        asked = "" if query.get(name) == _NONE else query.get(name)
        if asked in values:
            places = [place for place in places if getattr(place, name) == asked]
    place = places[0]
    chips = [
        filters.one_of(
            name,
            label,
            [(value or _NONE, value or empty) for value in values],
            getattr(place, name) or _NONE,
            empty="",
        )
        for name, label, empty, values in found
        if len(values) > 1
    ]
    return place, chips


def read_metric(query: QueryDict, measured: dict[str, int]) -> tuple[str, Filter]:
    asked = query.get("metric", "")
    metric = asked if asked in measured else metrics.main_metric(measured)
    options = [(name, numbers.metric_name(name)) for name in metrics.in_order(measured)]
    return metric, filters.one_of("metric", "Metric", options, metric, empty="")


@dataclass(frozen=True)
class Shown:
    """``last`` columns, or the newest version of each release line."""

    last: int = AT_FIRST
    by_line: bool = False

    def of(self, columns: Sequence[Column]) -> list[Column]:
        """``columns`` are in the order of versions, and so is the answer."""
        if not self.by_line:
            return list(columns[-self.last :])
        return newest_of_lines(columns[::-1])[::-1]


def read_shown(query: QueryDict, *, what: str, lines: bool) -> tuple[Shown, Filter]:
    """``what`` is the word for columns; ``lines`` whether there are release lines to choose from."""
    asked = query.get("show", "")
    lengths = {str(length): Shown(last=length) for length in _LENGTHS}
    options = [(text, f"last {text} {what}") for text in lengths]
    if lines:
        options.append((_NEWEST_OF_LINES, "newest of each line"))
    by_line = lines and asked == _NEWEST_OF_LINES
    shown = Shown(by_line=True) if by_line else lengths.get(asked, Shown())
    chosen = _NEWEST_OF_LINES if by_line else str(shown.last)
    return shown, filters.one_of("show", "Columns", options, chosen, empty="")


def read_branch_base(
    query: QueryDict, releases: Sequence[Column], stored: tuple[str, Base] | None
) -> tuple[Base | None, Filter]:
    """What a branch stands against: what people set for it (``stored``, with its name), one of the releases
    at its place, or None: the oldest group that is shown. At first the first of these that there is.
    """
    by_id = {short_id(column): Base(column) for column in releases}
    known: dict[str, Base | None] = {**({_STORED: stored[1]} if stored else {}), **by_id, _NONE: None}
    newest = next(reversed(by_id), _NONE)
    asked = query.get("base", "")
    chosen = asked if asked in known else (_STORED if stored else newest)
    options = [
        *([(_STORED, f"{stored[0]} (set for this branch)")] if stored else []),
        (_NONE, "the oldest shown"),
        *zip(by_id, names(releases), strict=True),
    ]
    return known[chosen], filters.one_of("base", "Baseline", options, chosen, empty="")


def read_base(query: QueryDict, offered: Sequence[Column], at_first: Column) -> tuple[Column, Filter]:
    """The baseline among those offered."""
    by_id = {short_id(column): column for column in offered}
    base = by_id.get(query.get("base", ""), at_first)
    options = zip(by_id, names(offered), strict=True)
    return base, filters.one_of("base", "Baseline", options, short_id(base), empty="")
