"""The rows of a table of comparisons: each column of cells against its base, all at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, log
from typing import Literal

import numpy as np

from benchdash.regressions.comparison.cells import Cell, RowKey, rests_on_receipts
from benchdash.regressions.comparison.noise_floors import Floors
from benchdash.regressions.comparison.shared_sessions import Pairs, paired_sessions, relative_to_control
from benchdash.regressions.detection.compare import (
    EQUIVALENT,
    MAX_PRIOR_DF,
    Comparison,
    Comparisons,
    adjusted_p,
    compare_sides,
    median_intervals,
    sign_of,
)
from benchdash.regressions.detection.counts import compare_counts
from benchdash.regressions.detection.noise import Bools, Floats, Ints
from benchdash.regressions.detection.scatter import (
    ASSUMED_START,
    CONTROL,
    HISTORY,
    SESSIONS,
    TABLE,
    Sides,
    Units,
    independent,
)
from benchdash.results.readings import LOWER, UNKNOWN, Direction
from benchdash.results.sessions import has_receipts
from benchdash.results.used_units import UsedUnit, used_unit
from benchdash.results.wording import count, counted

_NO_SCATTER = 1e-9  # what sums of squares leave of equal repeats by rounding

RelativeTo = Literal["base", "previous"]
"""Compare each column with the base, or with the column before it (the first one with the base)."""


Noise = Callable[[Pairs], Floors]
"""Returns the noise floors that histories give for pairs of cells."""


@dataclass(frozen=True, slots=True)
class Row:
    """``cells[i]`` and ``comparisons[i]`` belong to column i; None where it (or the base) has no runs.

    Rows of one metric may have units and directions of their own: a JMH score is a time or a throughput.
    Cells of one row in different units are not compared.
    """

    workload: str
    threads: int | None
    group: str | None
    base: Cell | None
    cells: tuple[Cell | None, ...]
    comparisons: tuple[Comparison | None, ...]

    @property
    def key(self) -> RowKey:
        return self.workload, self.threads

    @property
    def speeds(self) -> tuple[float | None, ...]:
        """The ratio of each comparison as one of speeds: above 1 is faster, whatever the direction.

        Where nobody has said the direction it is the plain ratio.
        """
        if self.direction != LOWER:
            return self.ratios
        return tuple([1 / ratio if ratio else None for ratio in self.ratios])

    @property
    def ratios(self) -> tuple[float | None, ...]:
        return tuple([one.ratio if one else None for one in self.comparisons])

    @property
    def sides(self) -> tuple[Cell | None, ...]:
        """The base and then the other cells."""
        return self.base, *self.cells

    @property
    def unit(self) -> str:
        return self._any_cell.unit

    @property
    def used(self) -> UsedUnit:
        """The unit that people use of its first cell."""
        return used_unit(self._any_cell)

    @property
    def direction(self) -> Direction:
        return self._any_cell.direction

    @property
    def _any_cell(self) -> Cell:
        return self.base or next(cell for cell in self.cells if cell)


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The ratios of a group of workloads, column by column: geometric mean, lowest and highest.

    They are ratios of speeds where more is better in some rows of the table and worse in others
    (``of_speeds``). ``name`` is None for the rows of no group. None where a column has no ratio of it.
    ``compared`` is how many of the ``rows`` have one; ``are_workloads``: each row is another workload.
    """

    name: str | None
    rows: int
    geomean: tuple[float | None, ...]
    lowest: tuple[float | None, ...]
    highest: tuple[float | None, ...]
    compared: tuple[int, ...]
    are_workloads: bool = True
    of_speeds: bool = False

    @property
    def noun(self) -> str:
        return "workload" if self.are_workloads else "thread count"

    def coverage(self, column: int) -> str:
        """Say how many rows the mean of a column is over: ``18 of 22 workloads``, ``22 thread counts``."""
        compared, all_rows = self.compared[column], counted(self.rows, self.noun)
        return all_rows if compared == self.rows else f"{count(compared)} of {all_rows}"


def compared_rows(
    base: Mapping[RowKey, Cell],
    columns: Sequence[Mapping[RowKey, Cell]],
    *,
    noise: Noise | None = None,
    margin: float = EQUIVALENT,
    relative_to: RelativeTo = "base",
    group_of: Callable[[str], str | None] | None = None,
    is_alike: Callable[[RowKey, int], bool] | None = None,
    control: Mapping[RowKey, Cell] | None = None,
) -> list[Row]:
    """Make the rows of a table from the cells of its base and of each column, in the order of their keys.

    ``noise`` says what histories know of the runs of two columns in a row; other cells take the scatter of
    repeats over the rest of the table. ``margin`` is the relative difference that does not matter.
    ``group_of`` says the group of a workload. A cell that is not ``is_alike`` (of a row and the index of a
    column) was measured under other conditions than its base: it has no verdict, and p is adjusted as if it
    were not there. ``control`` are the cells of a control that was measured in the same sessions.
    """
    if not any((base, *columns)):
        return []
    grid = _Grid.of([base, *columns])
    cells = grid.steadied()
    if control:
        grid = grid.beside(control)
    pairs = grid.pairs(relative_to)
    compared = _compared(grid, pairs, noise, margin, is_alike)
    found: list[Comparison | None] = [None] * (len(grid.keys) * len(columns))
    places = pairs.rows * len(columns) + pairs.after - 1
    for place, comparison in zip(places.tolist(), compared, strict=True):
        found[place] = comparison
    return [
        Row(
            workload=key[0],
            threads=key[1],
            group=group_of(key[0]) if group_of else None,
            base=of_row[0],
            cells=of_row[1:],
            comparisons=tuple(found[at * len(columns) : (at + 1) * len(columns)]),
        )
        for at, (key, of_row) in enumerate(zip(grid.keys, cells, strict=True))
    ]


def _compared(
    grid: "_Grid",
    pairs: Pairs,
    noise: Noise | None,
    margin: float,
    is_alike: Callable[[RowKey, int], bool] | None,
) -> Iterable[Comparison]:
    """Compare pairs, p adjusted over the whole table; each verdict is by the direction of the base."""
    sides = np.stack((grid.at[pairs.rows, pairs.before], grid.at[pairs.rows, pairs.after]))
    lent = grid.scatter_elsewhere(pairs.rows, pairs.before, pairs.after)
    known = noise(pairs) if noise and len(pairs.rows) else Floors.of([None] * len(pairs.rows))
    floors = known.where_known_else(lent)
    paired = paired_sessions(grid.cells, grid.rows, grid.columns, pairs)
    before, after = grid.with_receipts[sides]
    assumed: Bools = before | after
    for pair in np.flatnonzero(assumed).tolist():
        assumed[pair] = rests_on_receipts(*(grid.cells[at] for at in sides[:, pair].tolist()))
    found = compare_sides(
        grid.sides, sides, floors.sd, floors.worth, paired=paired, assumed=assumed, margin=margin
    )
    found.basis[(found.basis == HISTORY) & ~(known.worth > 0)] = TABLE
    _compare_counts(found, [[grid.cells[at] for at in side] for side in sides.tolist()])
    by_control = grid.is_beside_control[pairs.rows] & np.isin(found.basis, (TABLE, SESSIONS))
    found.basis[by_control] = CONTROL
    if is_alike:
        unlike = np.array([not is_alike(row, after - 1) for row, _, after in pairs.each()], dtype=bool)
        found.p[unlike], found.more_runs[unlike] = np.nan, 0
    found.p[:] = adjusted_p(found.p)
    better = grid.better[sides[0]]
    found.more_runs[better == 0] = 0  # no number of them says which direction is better
    verdicts = found.verdicts(better, margin)
    if is_alike:
        verdicts = ["unknown" if is_unlike else one for one, is_unlike in zip(verdicts, unlike, strict=True)]
    return found.each(verdicts)


def _compare_counts(found: Comparisons, sides: Sequence[Sequence[Cell]]) -> None:
    """Compare pairs of counted events as such, in place: mostly there are none, and nothing has no log."""
    for at, (base, other) in enumerate(zip(*sides, strict=True)):
        if not base.events or not other.events or found.basis[at] == ASSUMED_START:
            continue
        counts = base.events.counts, other.events.counts
        if compared := compare_counts(*counts, smallest=base.events.what.smallest):
            found.p[at], found.low[at], found.high[at] = compared.p, compared.low, compared.high
            found.basis[at], found.more_runs[at] = SESSIONS, 0


@dataclass(frozen=True)
class _Grid:
    """The cells of a table, the base's first; ``at``, shape (rows, columns), has their indexes, -1 for none.

    What repeats scatter is what a cell with one run is judged by, on the same machines. Where sessions are
    known, repeats are sessions, which the rows of a column share: they count once.
    """

    keys: Sequence[RowKey]
    cells: Sequence[Cell]
    at: Ints
    rows: Ints  # of each cell
    columns: Ints
    sides: Sides
    with_receipts: Bools  # of each cell: it has sessions whose starts are assumed
    residual: Floats  # shape (rows, columns), as the next: squared residuals of the logs of repeats,
    df: Floats  # their degrees of freedom; 0 where there are none
    shares_sessions: Bools  # of each column
    is_beside_control: Bools  # of each row

    @classmethod
    def of(cls, columns: Sequence[Mapping[RowKey, Cell]]) -> "_Grid":
        keys = sorted(set().union(*columns), key=row_order)
        cells = [cell for column in columns for cell in column.values()]
        index_of = {key: at for at, key in enumerate(keys)}
        rows = np.array([index_of[key] for column in columns for key in column], dtype=np.int64)
        of_column = np.repeat(np.arange(len(columns)), list(map(len, columns)))
        at = np.full((len(keys), len(columns)), -1)
        at[rows, of_column] = np.arange(len(cells))
        sides = Sides.of(cells)
        residual, df = np.zeros((2, *at.shape))
        with_receipts = np.array([has_receipts(cell.sessions) for cell in cells], dtype=bool)
        lends = ~with_receipts
        for cell in np.flatnonzero(with_receipts).tolist():
            lends[cell] = not rests_on_receipts(cells[cell])
        residual[rows, of_column] = np.where(lends, sides.independent.rss, 0)
        df[rows, of_column] = np.where(lends, sides.independent.df, 0)
        shares = [any(cell.sessions for cell in column.values()) for column in columns]
        no_row = np.zeros(len(keys), dtype=bool)
        return cls(
            keys, cells, at, rows, of_column, sides, with_receipts, residual, df, np.array(shares), no_row
        )

    def beside(self, control: Mapping[RowKey, Cell]) -> "_Grid":
        """Take the speed of the machine out of the rows that were measured beside a control throughout."""
        found = relative_to_control(self.cells, self.rows, self.columns, self.keys, control)
        if found is None:
            return self
        is_known = found.rows[self.rows]
        own = self.sides.independent
        independent = Units(own.n, own.mean - found.shift, np.where(is_known, found.rss, own.rss))
        residual = self.residual.copy()
        residual[self.rows, self.columns] = np.where(self.df[self.rows, self.columns] > 0, independent.rss, 0)
        return replace(
            self,
            sides=replace(self.sides, independent=independent),
            residual=residual,
            is_beside_control=found.rows,
        )

    @property
    def better(self) -> Ints:
        """The sign of each cell's direction."""
        return np.fromiter((sign_of(cell.direction) for cell in self.cells), np.int64, len(self.cells))

    def pairs(self, relative_to: RelativeTo) -> Pairs:
        """Row by row."""
        units: dict[str, int] = {}
        of_cell = [units.setdefault(cell.unit, len(units)) for cell in self.cells]
        unit = np.array([*of_cell, -1])[self.at]
        before = unit[:, :-1] if relative_to == "previous" else unit[:, :1]
        rows, columns = np.nonzero((unit[:, 1:] == before) & (unit[:, 1:] >= 0))
        against = columns if relative_to == "previous" else np.zeros_like(columns)
        return Pairs(self.keys, rows, against, columns + 1)

    def scatter_elsewhere(self, rows: Ints, *columns: Ints) -> Floors:
        """Return sd of logs and degrees of freedom from all cells but those of these columns.

        These count anyway. Of columns with sessions nothing is left: their other rows had the same ones.
        """
        totals = self.residual.sum(axis=0), self.df.sum(axis=0)
        worth_of_column = np.where(self.shares_sessions, self.df.max(axis=0), totals[1])
        residual, df = (np.full(len(rows), total.sum()) for total in totals)
        worth = np.full(len(rows), worth_of_column.sum())
        for column in columns:
            shared = self.shares_sessions[column]
            residual -= np.where(shared, totals[0][column], self.residual[rows, column])
            df -= np.where(shared, totals[1][column], self.df[rows, column])
            worth -= np.where(shared, worth_of_column[column], self.df[rows, column])
        sd = np.sqrt(np.maximum(residual, 0) / np.maximum(df, 1))
        is_known = (df > 0) & (sd > _NO_SCATTER)
        return Floors(np.where(is_known, sd, np.nan), np.where(is_known, np.minimum(worth, MAX_PRIOR_DF), 0))

    def steadied(self) -> list[tuple[Cell | None, ...]]:
        """Return the cells of each row; several runs get an interval by the scatter of repeats in all rows.

        Of a single session it is that of its runs: the scatter from session to session is not in it.
        """
        cells: list[Cell] = list(self.cells)
        if repeated := [at for at, cell in enumerate(cells) if cell.n > 1]:
            elsewhere = self.scatter_elsewhere(self.rows[repeated], self.columns[repeated])
            groups = [independent(cells[at]) for at in repeated]
            several = np.array([len(group) > 1 for group in groups])
            groups = [
                group if len(group) > 1 else cells[at].values
                for at, group in zip(repeated, groups, strict=True)
            ]
            ends = median_intervals(groups, elsewhere.sd, np.where(several, elsewhere.worth, 0))
            for at, low, high in zip(repeated, *(end.tolist() for end in ends), strict=True):
                cell = cells[at]
                cells[at] = cell._replace(low=min(low, cell.value), high=max(high, cell.value))
        known = [*cells, None]
        return [tuple([known[at] for at in of_row]) for of_row in self.at.tolist()]


def have_two_directions(rows: Sequence[Row]) -> bool:
    """Tell whether more is better in some of the rows and worse in others: only their speeds have a mean."""
    return len(rows) > 1 and len({row.direction for row in rows} - {UNKNOWN}) > 1


def geometric_mean(rows: Sequence[Row], column: int) -> float | None:
    """Return the mean of the ratios of one column, of speeds where the rows have two directions.

    None where it has none.
    """
    of_speeds = have_two_directions(rows)
    ratios = [
        1 / one.ratio if of_speeds and row.direction == LOWER else one.ratio
        for row in rows
        if (one := row.comparisons[column]) and one.ratio
    ]
    if len(ratios) < 2:
        return ratios[0] if ratios else None
    return exp(fsum(map(log, ratios)) / len(ratios))


def group_summaries(rows: Sequence[Row], names: Sequence[str]) -> tuple[GroupSummary, ...]:
    """Sum up each group that has rows, in the order of ``names``; the rows of no group come last."""
    of_group: dict[str | None, list[Row]] = {name: [] for name in [*names, None]}
    for row in rows:
        of_group[row.group].append(row)
    of_speeds = have_two_directions(rows)
    return tuple(summary_of(found, name, of_speeds=of_speeds) for name, found in of_group.items() if found)


def summary_of(rows: Sequence[Row], name: str | None = None, *, of_speeds: bool = False) -> GroupSummary:
    """Sum up at least one row: by speeds where that is wanted, or where the rows have two directions."""
    of_speeds = of_speeds or have_two_directions(rows)
    ratios = np.array([row.speeds if of_speeds else row.ratios for row in rows], dtype=float)
    known = ~np.isnan(ratios)
    n = known.sum(axis=0)
    means = np.exp(np.log(np.where(known, ratios, 1)).sum(axis=0) / np.maximum(n, 1))

    def told(numbers: Floats) -> tuple[float | None, ...]:
        return tuple(
            [number if of else None for number, of in zip(numbers.tolist(), n.tolist(), strict=True)]
        )

    return GroupSummary(
        name=name,
        rows=len(rows),
        geomean=told(means),
        lowest=told(np.where(known, ratios, np.inf).min(axis=0)),
        highest=told(np.where(known, ratios, -np.inf).max(axis=0)),
        compared=tuple(n.tolist()),
        are_workloads=len({row.workload for row in rows}) == len(rows),
        of_speeds=of_speeds,
    )


def row_order(key: RowKey) -> tuple[str, int]:
    workload, threads = key
    return workload, -1 if threads is None else threads
