"""Which sessions of two columns of a table were one: what was measured in them is compared within them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from django.conf import settings

from benchdash.regressions.comparison.cells import Cell, RowKey
from benchdash.regressions.detection.noise import Bools, Floats, Ints
from benchdash.regressions.detection.paired_sessions import MIN_SESSIONS, paired_with_first
from benchdash.regressions.detection.scatter import PairedSessions
from benchdash.results.sessions import Session

_Place = tuple[int, str]
"""A machine and the name of a session."""

MIN_CONTROL_DF: Final = 4
"""Differences between sessions that tell how much of the control's speed a server shares."""

MAX_SLOPE: Final = 1.5
WORTH_IT: Final = 0.8

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


@dataclass(frozen=True, slots=True)
class BesideControl:
    """The part of the means of cells that is the speed of the machine, by a control.

    ``rows`` tells the rows in which it is known of every session. ``shift`` is what it added to the mean of
    the logs of each cell, and ``rss`` are the squares that it leaves of the means of sessions.
    """

    rows: Bools
    shift: Floats
    rss: Floats


def relative_to_control(
    cells: Sequence[Cell],
    rows: Ints,
    columns: Ints,
    keys: Sequence[RowKey],
    control: Mapping[RowKey, Cell],
) -> BesideControl | None:
    """Take out of the rows of a table what the control of the same sessions tells of the machine.

    log mean - slope x (log mean of the control - its mean over all sessions). One slope for the table comes
    from how both differ from session to session within a column. None where that is not known, or takes less
    than a fifth of the squares away.
    """
    height = {key: at for at, key in enumerate(keys)}
    count = int(columns.max()) + 1
    measured = [(height[key], cell) for key, cell in control.items() if key in height]
    if not measured:
        return None
    of_control = [at for at, _ in measured]
    table = _Table(
        [*cells, *(cell for _, cell in measured)],
        np.append(rows, of_control),
        np.append(columns, [count] * len(measured)),
        len(keys),
    )
    beside = [table.own_and_beside(column, count) for column in range(count)]
    is_known = np.zeros(len(keys), dtype=bool)
    is_known[of_control] = True
    # The control may have run where no version did.
    is_known &= np.isfinite(np.concatenate([machine for _, machine in beside], axis=1)).any(axis=1)
    for own, machine in beside:
        is_known &= (np.isnan(own) | np.isfinite(machine)).all(axis=1)
    df = sum(max(own.shape[1] - 1, 0) for own, _ in beside)
    both = [(_within(own[is_known]), _within(machine[is_known])) for own, machine in beside]
    squares = sum(float((machine**2).sum()) for _, machine in both)
    if df < MIN_CONTROL_DF or not squares:
        return None
    slope = sum(float((own * machine).sum()) for own, machine in both) / squares
    slope = min(max(slope, 0.0), MAX_SLOPE)
    before = sum(float((own**2).sum()) for own, _ in both)
    after = sum(float(((own - slope * machine) ** 2).sum()) for own, machine in both)
    if after > WORTH_IT * before:
        return None
    centre = np.nanmean(np.concatenate([machine for _, machine in beside], axis=1)[is_known], axis=1)
    shift, rss = np.zeros((2, len(cells)))
    row_of = np.cumsum(is_known) - 1
    for at, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        if is_known[row]:
            own, machine = (values[row] for values in beside[column])
            there = np.isfinite(own)
            shift[at] = slope * float((machine[there] - centre[row_of[row]]).mean())
            rest = own[there] - slope * machine[there]
            rss[at] = float(((rest - rest.mean()) ** 2).sum())
    return BesideControl(is_known, shift, rss)


def _within(values: Floats) -> Floats:
    """Return what is left of rows beyond their means; 0 where nothing is."""
    there = np.isfinite(values)
    means = np.where(there, values, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return np.where(there, values - means[:, None], 0)


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

    def own_and_beside(self, column: int, other: int) -> tuple[Floats, Floats]:
        """Return the means of a column by session, and those of another one beside them; NaN for none."""
        own, beside = self._of_sessions(column), np.full((self._height, len(self.sessions(column))), np.nan)
        matched = self._matched(self.sessions(other), column, least=1)
        means = self._of_sessions(other)
        for at, number in matched.items():
            beside[:, at] = np.where(np.isfinite(own[:, at]), means[:, number], np.nan)
        return own, beside

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

    def _matched(
        self, of_base: Mapping[_Place, Session], column: int, least: int = MIN_SESSIONS
    ) -> dict[int, int]:
        """Return by its number the session of the base that each session of a column was one with."""
        own = self.sessions(column)
        if not least <= len(own) <= MAX_SESSIONS:
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
