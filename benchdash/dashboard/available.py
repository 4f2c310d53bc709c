"""The versions that a project offers to compare: as many as a page shows, and what an address asks for."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, overload

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.places import Place
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison import Column, columns_at
from benchdash.results.version_places import PlaceOfVersions, newest_versions, places_of_versions

# What chooses versions in the addresses of the pages, and what looks for them.
_ASKED: Final = ("v", "base", "against")
_SEARCHED: Final = ("find", "find_base", "find_against")
_LONGEST_SEARCH: Final = 200
_MOST_ASKED: Final = 100


@dataclass(frozen=True)
class Available(Sequence[Column]):
    """``columns`` are in the order of versions; ``versions`` is how many there are at each place."""

    columns: Sequence[Column]
    versions: Mapping[Place, int]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> "Available":
        """Where there are no others."""
        return cls(columns, Counter(map(Place.of, columns)))

    @cached_property
    def total(self) -> int:
        return sum(self.versions.values())

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @overload
    def __getitem__(self, at: int) -> Column: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Column]: ...
    def __getitem__(self, at: int | slice) -> Column | Sequence[Column]:
        return self.columns[at]


def available_columns(project: Project, query: QueryDict) -> Available:
    """The newest versions of each place, those that the address chooses with their neighbours, and those that
    it looks for; three statements.
    """
    places = places_of_versions(project)
    measured = newest_versions(project, places, asked=_asked(query), words=_words(query, places))
    columns = columns_at(measured)
    shown = Counter(map(Place.of, columns))
    versions = {
        place: one.versions if one.versions > one.most else shown[place]
        for one in places
        if (place := _place(one)) in shown
    }
    return Available(columns, versions)


def _asked(query: QueryDict) -> list[int]:
    """The versions in ids of columns (``12.3.1~main``) and in those of versions alone."""
    texts = [text for name in _ASKED for text in query.getlist(name)]
    return ids_in(dict.fromkeys(text.partition(".")[0] for text in texts))[:_MOST_ASKED]


def _words(query: QueryDict, places: Sequence[PlaceOfVersions]) -> dict[PlaceOfVersions, list[str]]:
    """What the versions of each place must have in their names; a place itself may have the others."""
    text = " ".join(query.get(name, "")[:_LONGEST_SEARCH] for name in _SEARCHED)
    words = text.replace("\0", " ").casefold().split()
    if not words:
        return {}
    return {place: [word for word in words if word not in str(_place(place)).casefold()] for place in places}


def _place(place: PlaceOfVersions) -> Place:
    return Place(
        place.product, place.build, place.branch, place.hardware, place.configuration, place.counterpart
    )
