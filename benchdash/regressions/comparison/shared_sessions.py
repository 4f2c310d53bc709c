"""Which sessions of two columns of a table were one: what was measured in them is compared within them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from django.conf import settings

from benchdash.regressions.comparison.cells import Cell, RowKey
from benchdash.regressions.detection.noise import Floats, Ints
from benchdash.regressions.detection.paired_sessions import MIN_SESSIONS, paired_with_first
from benchdash.regressions.detection.scatter import PairedSessions
from benchdash.results.sessions import Session

_Place = tuple[int, str]
"""A machine and the name of a session."""

MAX_SESSIONS: Final = 100
"""More of a column are not compared within sessions: they are a history."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which cells are compared, an element each.

    ``rows`` are indexes of ``keys``, ``before`` and ``after`` are columns: 0 is the base, 1 the first column.
    """

    keys: Sequence[RowKey]
    rows: Ints
    before: Ints
    after: Ints

    def each(self) -> Iterable[tuple[RowKey, int, int]]:
        rows = (self.keys[row] for row in self.rows.tolist())
        return zip(rows, self.before.tolist(), self.after.tolist(), strict=True)


def paired_sessions(cells: Sequence[Cell], rows: Ints, columns: Ints, pairs: Pairs) -> PairedSessions | None:
    """Compare pairs within the sessions that both sides shared; None where no pair shared several.

    ``rows`` and ``columns`` are those of the cells.
    """
    table = _Table(cells, rows, columns, len(pairs.keys))
    found = PairedSessions(*(np.zeros(shape) for shape in _shapes(len(pairs.rows))))
    for before in np.unique(pairs.before).tolist():
        of_base = np.flatnonzero(pairs.before == before)
        afters = np.unique(pairs.after[of_base]).tolist()
        x = table.beside(before, afters)
        if x is None:
            continue
        paired = paired_with_first(x)
        at = pairs.rows[of_base], np.searchsorted(afters, pairs.after[of_base])
        found.n[of_base], found.df[of_base] = paired.n[at], paired.df[at]
        found.means[:, of_base], found.variance[of_base] = paired.means[:, *at], paired.variance[at]
    return found if found.n.any() else None


def _shapes(pairs: int) -> list[tuple[int, ...]]:
    return [(pairs,), (2, pairs), (pairs,), (pairs,)]


class _Table:
    """The sessions of each column of a table, and the means of their logs by row."""

    def __init__(self, cells: Sequence[Cell], rows: Ints, columns: Ints, height: int) -> None:
        self._height = height
        self._members: dict[int, list[tuple[int, Cell]]] = defaultdict(list)
        for row, column, cell in zip(rows.tolist(), columns.tolist(), cells, strict=True):
            if cell.spans:
                self._members[column].append((row, cell))
        self._sessions: dict[int, dict[_Place, Session]] = {}
        self._means: dict[int, Floats] = {}

    def beside(self, base: int, others: Sequence[int]) -> Floats | None:
        """Lay other columns on the sessions of a base; shape (rows, base and others, sessions).

        None where no other column shares several sessions with it.
        """
        of_base = self.sessions(base)
        if not MIN_SESSIONS <= len(of_base) <= MAX_SESSIONS:
            return None
        matches = [self._matched(of_base, other) for other in others]
        if all(len(set(one.values())) < MIN_SESSIONS for one in matches):
            return None
        own = {at: at for at in range(len(of_base))}
        return np.stack(
            [
                self._laid(column, onto, len(of_base))
                for column, onto in zip([base, *others], [own, *matches], strict=True)
            ],
            axis=1,
        )

    def sessions(self, column: int) -> dict[_Place, Session]:
        """Return the sessions of a column by machine and name."""
        if column not in self._sessions:
            found: dict[_Place, Session] = {}
            for _, cell in self._members[column]:
                for name, span in set(zip(cell.sessions, cell.spans, strict=True)):
                    at = cell.machine, name
                    before = found.get(at)
                    began, ended = (before.began_at, before.ended_at) if before else span
                    found[at] = Session(name, min(began, span[0]), max(ended, span[1]))
            self._sessions[column] = found
        return self._sessions[column]

    def _matched(self, of_base: Mapping[_Place, Session], column: int) -> dict[int, int]:
        """Return by its number the session of the base that each session of a column was one with."""
        own = self.sessions(column)
        if not MIN_SESSIONS <= len(own) <= MAX_SESSIONS:
            return {}
        found = {}
        for number, ((machine, _), session) in enumerate(own.items()):
            near = [
                (abs(session.began_at - other.began_at), at)
                for at, ((of_machine, _), other) in enumerate(of_base.items())
                if machine == of_machine and session.is_one_with(other, settings.SESSION_GAP_S)
            ]
            if near:
                found[number] = min(near)[1]
        return found

    def _laid(self, column: int, onto: Mapping[int, int], sessions: int) -> Floats:
        means = self._of_sessions(column)
        laid, n = np.zeros((2, self._height, sessions))
        for own, at in onto.items():
            known = np.isfinite(means[:, own])
            laid[:, at] += np.where(known, means[:, own], 0)
            n[:, at] += known
        return np.where(n > 0, laid / np.maximum(n, 1), np.nan)

    def _of_sessions(self, column: int) -> Floats:
        """Return the means of the logs of a column; shape (rows, sessions)."""
        if column not in self._means:
            number_of = {at: number for number, at in enumerate(self.sessions(column))}
            total, n = np.zeros((2, self._height, len(number_of)))
            for row, cell in self._members[column]:
                if min(cell.values) > 0:
                    for value, name in zip(cell.values, cell.sessions, strict=True):
                        at = number_of[cell.machine, name]
                        total[row, at] += log(value)
                        n[row, at] += 1
            self._means[column] = np.where(n > 0, total / np.maximum(n, 1), np.nan)
        return self._means[column]
