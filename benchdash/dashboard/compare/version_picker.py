"""The chip in which versions are picked: grouped by where they were measured, newest first, with a search."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.dashboard.compare.selection import DEFAULT_COLUMNS, MAX_SEARCH_LENGTH, Available
from benchdash.regressions.comparison.columns import Column, short_commit, short_id
from benchdash.regressions.comparison.default_columns import PlaceNames
from benchdash.results.models import UNKNOWN_VERSION
from benchdash.results.versions import release_line

# A search finds the older ones too.
_RELEASES_SHOWN: Final = 60
_COMMITS_SHOWN: Final = 25


@dataclass(frozen=True)
class PickerChoice:
    """``words`` are what the place says of it, for the search and for who cannot see the heading."""

    value: str
    label: str
    words: str
    is_chosen: bool
    is_hidden: bool


@dataclass(frozen=True)
class PickerGroup:
    """The versions of one product at one place; ``older`` counts those that only a search shows.

    ``newest_url`` compares the newest of them; ``shortcuts`` are (label, address) of more ready choices.
    """

    place: PlaceNames
    choices: Sequence[PickerChoice]
    older: int
    newest_url: str
    shortcuts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class VersionPicker:
    """``name`` is the query parameter; ``several`` is whether more than one may be picked."""

    groups: Sequence[PickerGroup]
    find: str
    summary: str
    name: str = "v"
    label: str = "Versions"
    several: bool = True

    @property
    def find_name(self) -> str:
        """The query parameter of its search."""
        return "find" if self.several else f"find_{self.name}"


def version_picker(
    available: Available,
    chosen: Sequence[Column],
    *,
    find: str,
    address: Callable[[Sequence[Column]], str],
) -> VersionPicker:
    """Return the picker of any number of versions; ``address`` is that of a comparison of some of them.

    ``available`` are in the order of versions.
    """
    find = find[:MAX_SEARCH_LENGTH]
    summary = f"{len(chosen)} chosen"
    return VersionPicker(_groups(available, chosen, find, address), find=find, summary=summary)


def one_version_picker(
    available: Available, chosen: Column | None, *, name: str, label: str, find: str, summary: str
) -> VersionPicker:
    """Return the picker of one version; ``available`` are in the order of versions."""
    find = find[:MAX_SEARCH_LENGTH]
    groups = _groups(available, [chosen] if chosen else [], find, address=None)
    return VersionPicker(groups, find=find, summary=summary, name=name, label=label, several=False)


_Address = Callable[[Sequence[Column]], str] | None


def _groups(
    available: Available, chosen: Sequence[Column], find: str, address: _Address
) -> list[PickerGroup]:
    by_place: dict[PlaceNames, list[Column]] = defaultdict(list)
    for column in reversed(available):
        by_place[PlaceNames.of(column)].append(column)
    picked = {column.key for column in chosen}
    words = find.casefold().split()
    return [
        _group(place, columns, available.versions.get(place, len(columns)), picked, words, address)
        for place, columns in sorted(by_place.items(), key=lambda item: str(item[0]))
    ]


def _group(
    place: PlaceNames,
    newest_first: Sequence[Column],
    versions: int,
    picked: set[tuple[int, str, int, int, str]],
    words: Sequence[str],
    address: _Address,
) -> PickerGroup:
    most = _COMMITS_SHOWN if place.branch else _RELEASES_SHOWN
    choices = []
    for rank, column in enumerate(newest_first):
        label, is_chosen = _label(column), column.key in picked
        is_meant = all(word in f"{label} {place}".casefold() for word in words)
        if is_chosen or rank < most or (words and is_meant):
            choices.append(
                PickerChoice(short_id(column), label, str(place), is_chosen, is_hidden=not is_meant)
            )
    older = versions - len(choices)
    if address is None:
        return PickerGroup(place, choices, older, "", [])
    shortcuts = [(label, address(columns)) for label, columns in _shortcuts(place, newest_first)]
    return PickerGroup(place, choices, older, address(newest_first[:DEFAULT_COLUMNS]), shortcuts)


def _label(column: Column) -> str:
    known = column.version.version
    if known == UNKNOWN_VERSION and column.version.commit:
        return short_commit(column)
    return f"{known} {short_commit(column)}".strip() if column.branch else known


def _shortcuts(place: PlaceNames, newest_first: Sequence[Column]) -> list[tuple[str, Sequence[Column]]]:
    shortcuts = []
    if len(newest_first) > 1:
        newest = newest_first[:DEFAULT_COLUMNS]
        shortcuts.append(("all" if len(newest) == len(newest_first) else f"newest {DEFAULT_COLUMNS}", newest))
    of_lines = newest_of_lines(newest_first)
    if not place.branch and 1 < len(of_lines) < len(newest_first):
        shortcuts.append(("newest of each line", of_lines))
    return shortcuts


def newest_of_lines(newest_first: Sequence[Column]) -> list[Column]:
    """Return the newest version of each release line."""
    of_line: dict[str, Column] = {}
    for column in newest_first:
        line = release_line(column.version.product.name, column.version.version)
        of_line.setdefault(line or column.version.version, column)
    return list(of_line.values())
