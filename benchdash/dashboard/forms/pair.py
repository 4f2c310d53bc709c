"""What the address of the page "Side by side" chooses, and what is chosen where it does not say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.columns import meant_by, short_id
from benchdash.dashboard.forms.compare import address_of, newest_columns, read_threads, threads_texts
from benchdash.dashboard.places import Place
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison import Column

SIDES: Final = ("base", "against")


@dataclass(frozen=True)
class PairChoice:
    """All that an address chooses; empty metrics, workloads (their ids) or threads were not chosen.

    ``runs`` are the ids of at most two runs, which come before columns. ``gone`` are texts that mean nothing
    here; ``unclear`` are those that mean several columns, with the side that they stand for.
    """

    base: Column | None
    against: Column | None
    runs: Sequence[int]
    gone: Sequence[str]
    unclear: Sequence[tuple[str, str, Sequence[Column]]]
    metrics: Sequence[str]
    workloads: Sequence[str]
    threads: Sequence[int | None]

    def address(self, path: str, **changes: str | Sequence[str]) -> str:
        """The address of this choice, with some parameters changed; an empty one goes."""
        columns = {"base": self.base, "against": self.against}
        sides = {name: short_id(column) for name, column in columns.items() if column and not self.runs}
        parameters: dict[str, str | Sequence[str]] = {
            **sides,
            "run": list(map(str, self.runs)),
            "metric": self.metrics,
            "workload": self.workloads,
            "threads": threads_texts(self.threads),
            **changes,
        }
        return address_of(path, parameters)

    def swapped(self, path: str) -> str:
        """The address with the sides changed for each other."""
        if self.runs:
            return self.address(path, run=list(map(str, reversed(self.runs))))
        base, against = (short_id(column) if column else "" for column in (self.base, self.against))
        return self.address(path, base=against, against=base)


def read_pair(query: QueryDict, available: Sequence[Column], project: Project) -> PairChoice:
    """A side that the address does not choose is the neighbour of the other at its place."""
    asked = {side: query.get(side, "") for side in SIDES}
    meant = {side: meant_by(text, available) for side, text in asked.items() if text}
    base, against = (found[0] if len(found := meant.get(side, [])) == 1 else None for side in SIDES)
    if not any(asked.values()):
        base, against = _newest_two(available, project)
    elif base and not asked["against"]:
        against = _neighbour(base, available, later=True)
    elif against and not asked["base"]:
        base = _neighbour(against, available, later=False)
    return PairChoice(
        base=base,
        against=against,
        runs=_read_runs(query),
        gone=[asked[side] for side, found in meant.items() if not found],
        unclear=[(side, asked[side], found) for side, found in meant.items() if len(found) > 1],
        metrics=list(dict.fromkeys(query.getlist("metric"))),
        workloads=list(dict.fromkeys(query.getlist("workload"))),
        threads=read_threads(query),
    )


def _newest_two(available: Sequence[Column], project: Project) -> tuple[Column | None, Column | None]:
    newest = newest_columns(available, project)[-2:]
    return (newest[0], newest[1]) if len(newest) == 2 else (None, newest[0] if newest else None)


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
