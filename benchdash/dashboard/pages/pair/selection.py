"""The two sides in the address of the page "Side by side", and the default where it does not say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.compare.places import Place
from benchdash.dashboard.compare.selection import (
    Selection,
    asked_place,
    default_reference,
    newest_columns,
    read_measured,
)
from benchdash.dashboard.compare.versions import meant_by
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison.columns import Column, short_id

SIDES: Final = ("base", "against")


@dataclass(frozen=True, kw_only=True)
class PairSelection(Selection):
    """Two sides. ``runs`` are the ids of at most two runs, which come before columns.

    ``gone`` are texts that mean nothing here; ``unclear`` are those that mean several columns, with the side
    that they stand for. ``beside`` are the ids of all versions that the pages of several hold.
    """

    base: Column | None
    against: Column | None
    runs: Sequence[int] = ()
    gone: Sequence[str] = ()
    unclear: Sequence[tuple[str, str, Sequence[Column]]] = ()
    beside: Sequence[str] = ()

    @property
    def versions(self) -> Mapping[str, str | Sequence[str]]:
        columns = {"base": self.base, "against": self.against}
        sides = {name: short_id(column) for name, column in columns.items() if column and not self.runs}
        return {**sides, "run": list(map(str, self.runs)), "v": self.beside}

    def swapped(self, path: str) -> str:
        """The address with the sides changed for each other."""
        if self.runs:
            return self.address(path, run=list(map(str, reversed(self.runs))))
        base, against = (short_id(column) if column else "" for column in (self.base, self.against))
        return self.address(path, base=against, against=base)


def read_pair(query: QueryDict, available: Sequence[Column], project: Project) -> PairSelection:
    """A side that the address does not choose is the neighbour of the other at its place."""
    asked = {side: query.get(side, "") for side in SIDES}
    meant = {side: meant_by(text, available) for side, text in asked.items() if text}
    base, against = (found[0] if len(found := meant.get(side, [])) == 1 else None for side in SIDES)
    if not any(asked.values()):
        base, against = _reference_and_newest(asked_place(query, available), project)
    elif base and not asked["against"]:
        against = _neighbour(base, available, later=True)
    elif against and not asked["base"]:
        base = _neighbour(against, available, later=False)
    return PairSelection(
        base=base,
        against=against,
        runs=_read_runs(query),
        gone=[asked[side] for side, found in meant.items() if not found],
        unclear=[(side, asked[side], found) for side, found in meant.items() if len(found) > 1],
        beside=query.getlist("v"),
        **read_measured(query),
    )


def _reference_and_newest(available: Sequence[Column], project: Project) -> tuple[Column | None, Column]:
    at_place = newest_columns(available, project)
    return default_reference(at_place) if len(at_place) > 1 else None, at_place[-1]


def _neighbour(column: Column, available: Sequence[Column], *, later: bool) -> Column | None:
    """The next version at the same place; the one before where there is none on that side."""
    place = Place.of(column)
    of_place = [one for one in available if Place.of(one) == place]
    at = of_place.index(column)
    before, after = of_place[:at], of_place[at + 1 :]
    nearest = [*before[-1:], *after[:1]]
    if later:
        nearest.reverse()
    return nearest[0] if nearest else None


def _read_runs(query: QueryDict) -> list[int]:
    """The first two numbers."""
    return ids_in(dict.fromkeys(query.getlist("run")))[:2]
