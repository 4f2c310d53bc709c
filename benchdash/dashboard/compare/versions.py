"""The versions that a project offers to compare: as many as a page shows, and what an address asks for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison.columns import Column, columns_at, short_id
from benchdash.regressions.comparison.default_columns import PlaceNames
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.version_places import PlaceOfVersions, newest_versions, places_of_versions

# Parameters that choose versions in the addresses of the pages, and one that looks for them.
_ASKED: Final = ("v", "base", "against")
_SEARCHED: Final = ("find", "find_base", "find_against")
MAX_SEARCH_LENGTH: Final = 200
_MAX_ASKED: Final = 100


class Available(list[Column]):
    """The offered columns, in the order of versions; ``versions`` is how many there are at each place."""

    def __init__(self, columns: Sequence[Column], versions: Mapping[PlaceNames, int] | None = None) -> None:
        super().__init__(columns)
        self.versions = Counter(map(PlaceNames.of, columns)) if versions is None else versions


def meant_by(text: str, columns: Iterable[Column]) -> list[Column]:
    """Return the columns with this short id; the id of a version alone (``12``) means it at every place."""
    versions = ids_in([text.partition(".")[0]])
    # Few of the thousands of columns of a project are of this version.
    of_version = (column for column in columns if column.version.pk in versions)
    return [column for column in of_version if text in (short_id(column), *map(str, versions))]


def available_columns(project: Project, query: QueryDict) -> Available:
    """Return the newest versions of each place, with those that the address chooses or looks for.

    Neighbours of chosen ones are among them; those of pull requests only where the address names them.
    Three statements.
    """
    said = " ".join(value for values in query.lists() for value in values[1])
    places = [
        place
        for place in places_of_versions(project)
        if not is_of_pull_request(place.branch) or place.branch in said
    ]
    # In ids of columns (``12.3.1~main``) and of versions alone.
    texts = dict.fromkeys(text.partition(".")[0] for name in _ASKED for text in query.getlist(name))
    asked = ids_in(texts)[:_MAX_ASKED]
    measured = newest_versions(project, places, asked=asked, words=_words(query, places))
    columns = columns_at(measured)
    shown = Counter(map(PlaceNames.of, columns))
    versions = {
        place: one.versions if one.versions > one.most else shown[place]
        for one in places
        if (place := _place(one)) in shown
    }
    return Available(columns, versions)


def _words(query: QueryDict, places: Sequence[PlaceOfVersions]) -> dict[PlaceOfVersions, list[str]]:
    """Return the words that versions of each place must have in their names; the place has the others."""
    text = " ".join(query.get(name, "")[:MAX_SEARCH_LENGTH] for name in _SEARCHED)
    words = text.replace("\0", " ").casefold().split()
    if not words:
        return {}
    return {place: [word for word in words if word not in str(_place(place)).casefold()] for place in places}


def _place(place: PlaceOfVersions) -> PlaceNames:
    return PlaceNames(
        place.product, place.build, place.branch, place.hardware, place.configuration, place.counterpart
    )
