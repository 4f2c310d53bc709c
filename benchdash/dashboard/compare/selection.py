"""The versions that a project offers to compare, and those that an address chooses among them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId, ViewQuery, to_text
from benchdash.dashboard.shell.filters import FilterChip, unseen
from benchdash.regressions.comparison.columns import Column, columns_at, id_at
from benchdash.regressions.comparison.default_columns import PlaceNames, default_columns, newest_columns
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.version_places import PlaceOfVersions, newest_versions, places_of_versions
from benchdash.results.versions import release_line

# Default number of versions.
DEFAULT_COLUMNS: Final = 6
MAX_COLUMNS: Final = 40
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
    """Return the columns that an id in an address may mean."""
    wanted = ColumnId.of(text)
    if wanted is None:
        return []
    # Few of the thousands of columns of a project are of this version.
    of_version = (column for column in columns if column.version.pk == wanted.version)
    return [column for column in of_version if wanted.fits(id_at(wanted.version, column))]


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
    ids = (ColumnId.of(text) for name in _ASKED for text in query.getlist(name))
    asked = list(dict.fromkeys(one.version for one in ids if one))[:_MAX_ASKED]
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


@dataclass(frozen=True)
class ChosenColumns:
    """The chosen columns, in the order of versions, with the base among them, or none.

    ``gone`` are ids in the address that mean nothing here; ``unclear`` are those that mean several columns,
    with these; ``left_out`` is how many were chosen beyond what a page can hold.
    """

    chosen: tuple[Column, ...] = ()
    base: Column | None = None
    gone: tuple[str, ...] = ()
    unclear: tuple[tuple[str, tuple[Column, ...]], ...] = ()
    left_out: int = 0

    @property
    def machine(self) -> str:
        """The name of the machine, where there is only one."""
        machines = {column.hardware for column in self.chosen}
        return next(iter(machines)) if len(machines) == 1 else ""

    @property
    def others(self) -> list[Column]:
        return [column for column in self.chosen if column != self.base]


def read_columns(
    query: ViewQuery, available: Sequence[Column], project: Project, *, at_first: int = DEFAULT_COLUMNS
) -> ChosenColumns:
    """Return the columns that an address chooses, the newest versions where it chooses none."""
    asked = list(dict.fromkeys(filter(None, [*query.versions, query.base])))
    if not asked:
        chosen = default_columns(newest_columns(asked_place(query, available), project), at_first)
        return ChosenColumns(chosen=tuple(chosen), base=chosen[0])
    meant = {text: meant_by(text, available) for text in asked}
    wanted = {
        columns[0].key for text, columns in meant.items() if len(columns) == 1 and text in query.versions
    }
    base = meant.get(query.base, [])
    # Without any other choice the base stands alone.
    if not wanted and len(base) == 1:
        wanted = {base[0].key}
    in_order = [column for column in available if column.key in wanted]
    chosen = in_order[:MAX_COLUMNS]
    return ChosenColumns(
        chosen=tuple(chosen),
        base=base[0] if len(base) == 1 and base[0] in chosen else next(iter(chosen), None),
        gone=tuple(text for text, columns in meant.items() if not columns),
        unclear=tuple((text, tuple(columns)) for text, columns in meant.items() if len(columns) > 1),
        left_out=len(in_order) - len(chosen),
    )


def asked_place(query: ViewQuery, available: Sequence[Column]) -> Sequence[Column]:
    """Return the columns at the place that an address names, as far as there are any."""
    for name, texts in query.place.items():
        found = [column for column in available if to_text(_part_of_place(column, name)) in texts]
        available = found or available
    return available


def _part_of_place(column: Column, name: str) -> str:
    if name == "line":
        return release_line(column.version.product.name, column.version.version)
    return str(getattr(PlaceNames.of(column), name))


def place_checks(query: ViewQuery, available: Sequence[Column]) -> list[FilterChip]:
    """Return chips that check the place that an address names."""
    return [
        unseen(name, sorted({to_text(_part_of_place(column, name)) for column in available}))
        for name in query.place
    ]


def workload_ids(texts: Iterable[str], workloads: Mapping[int, str]) -> tuple[str, ...]:
    """Return ids for what an address says: ids, or the names that other pages use."""
    ids = {name: str(pk) for pk, name in workloads.items()}
    ids |= {pk: pk for pk in ids.values()}
    return tuple(dict.fromkeys(ids.get(text, text) for text in texts))


def is_log(scale: str) -> bool | None:
    return {"log": True, "linear": False}.get(scale)
