"""The two sides in the address of the page "Side by side", and the default where it does not say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from benchdash.accounts.models import Project
from benchdash.addresses import PairQuery
from benchdash.dashboard.compare.selection import asked_place, meant_by
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison.columns import Column, short_id
from benchdash.regressions.comparison.default_columns import PlaceNames, default_reference, newest_columns

SIDES: Final = ("base", "against")
_MAX_INSTEAD: Final = 3


@dataclass(frozen=True, kw_only=True)
class PairSelection:
    """Two sides. ``runs`` are the ids of at most two runs, which come before columns.

    ``gone`` are texts that mean nothing here; ``unclear`` are those that mean several columns, with the side
    that they stand for. ``instead`` are other references, the best first, for a default that has nothing in
    common with the other side.
    """

    query: PairQuery
    base: Column | None
    against: Column | None
    runs: Sequence[int] = ()
    gone: Sequence[str] = ()
    unclear: Sequence[tuple[str, str, Sequence[Column]]] = ()
    instead: Sequence[Column] = ()

    @property
    def fixed(self) -> PairQuery:
        """The query that names both sides, and no place."""
        base, against = (short_id(one) if one and not self.runs else "" for one in (self.base, self.against))
        runs = tuple(map(str, self.runs))
        nowhere: dict[str, Any] = dict.fromkeys(self.query.place, ())
        return replace(self.query, base=base, against=against, runs=runs, **nowhere)

    @property
    def swapped(self) -> PairQuery:
        """The query with the sides swapped."""
        query = self.fixed
        return replace(query, base=query.against, against=query.base, runs=query.runs[::-1])


def read_pair(query: PairQuery, available: Sequence[Column], project: Project) -> PairSelection:
    """Read both sides; one that the address does not choose is the neighbour of the other at its place."""
    asked = {"base": query.base, "against": query.against}
    meant = {side: meant_by(text, available) for side, text in asked.items() if text}
    base, against = (found[0] if len(found := meant.get(side, [])) == 1 else None for side in SIDES)
    instead: Sequence[Column] = ()
    if not any(asked.values()):
        at_place = newest_columns(asked_place(query, available), project)
        base, against = default_reference(at_place) if len(at_place) > 1 else None, at_place[-1]
        instead = [column for column in at_place[-2::-1] if column != base][:_MAX_INSTEAD]
    elif base and not asked["against"]:
        against = _neighbour(base, available, later=True)
    elif against and not asked["base"]:
        base = _neighbour(against, available, later=False)
    return PairSelection(
        query=query,
        base=base,
        against=against,
        runs=ids_in(query.runs)[:2],
        gone=[asked[side] for side, found in meant.items() if not found],
        unclear=[(side, asked[side], found) for side, found in meant.items() if len(found) > 1],
        instead=instead,
    )


def _neighbour(column: Column, available: Sequence[Column], *, later: bool) -> Column | None:
    """Return the next version at the same place, or the one on the other side where there is none."""
    place = PlaceNames.of(column)
    of_place = [one for one in available if PlaceNames.of(one) == place]
    at = of_place.index(column)
    nearest = [*of_place[max(at - 1, 0) : at], *of_place[at + 1 : at + 2]]
    return nearest[-1 if later else 0] if nearest else None
