"""Workloads by versions: a table whose cells are filled with what their numbers mean."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from math import exp, inf, log
from typing import Literal

from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.html import GridCell
from benchdash.regressions.comparison import verdict_words, verdicts
from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import (
    GroupSummary,
    Row,
    geometric_mean,
    have_two_directions,
    summary_of,
)
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.readings import HIGHER, LOWER, Direction

Link = Callable[[Sequence[Row], int | None], str]
"""The address behind the cell of a column (None: the base) in some rows of one workload."""

Values = Literal["relative", "absolute", "both"]
Order = Literal["name", "last", "worst"]

OTHERS = "other workloads"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column; ``note`` says when a commit was first measured."""

    name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class MatrixLook:
    """The look of a matrix. ``opened`` workloads have a row for each thread count below their own.

    ``order``: by name, by the step into the last column (the largest first), or by what a workload lost in
    its worst column. ``only_changed`` leaves the rows with a difference. ``by_size`` colours by its size what
    has no certain verdict. ``groups`` shows sections with a summary each; ``only_groups`` just these.
    Of more workloads than ``most`` those are shown, in this order, that lost most in a column.
    """

    values: Values = "relative"
    order: Order = "name"
    opened: Collection[str] = ()
    only_changed: bool = False
    by_size: bool = False
    groups: bool = False
    only_groups: bool = False
    most: int | None = None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A workload with its thread counts folded into one, or one thread count of it.

    ``folds`` is how many thread counts lie in it; ``direction`` is said where rows differ in it.
    ``ends_opened``: it is the last of an opened workload.
    """

    workload: str
    threads: int | None
    folds: int
    is_open: bool
    base: GridCell | None
    cells: Sequence[GridCell | None]
    direction: str = ""
    ends_opened: bool = False

    @property
    def is_part(self) -> bool:
        """Tell whether it stands under the row of its workload."""
        return self.folds == 0

    @property
    def is_changed(self) -> bool:
        return any(cell.is_changed for cell in self.cells if cell)

    @property
    def newest_first(self) -> Sequence[GridCell | None]:
        return self.cells[::-1]


@dataclass(frozen=True, slots=True)
class Aggregates:
    """Over some rows, column by column; empty where they have no meaning."""

    mean: Sequence[GridCell | None] = ()
    lowest: Sequence[str] = ()
    highest: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MatrixSection:
    """A group of workloads; without a name all of them. ``size`` counts the workloads, hidden ones too."""

    name: str
    size: int
    rows: Sequence[MatrixRow]
    aggregates: Aggregates = field(default_factory=Aggregates)


@dataclass(frozen=True, slots=True)
class Matrix:
    """``total`` is over everything; ``hidden`` is how many workloads are not shown because none changed.

    ``left_out`` is how many workloads are beyond the most that are shown.
    ``is_of_speeds``: rows are better in different directions, and every ratio is one of speeds.
    """

    sections: Sequence[MatrixSection]
    total: Aggregates
    hidden: int = 0
    left_out: int = 0
    is_of_speeds: bool = False

    @property
    def rows(self) -> list[MatrixRow]:
        return list(chain.from_iterable(section.rows for section in self.sections))

    @property
    def mean_name(self) -> str:
        return "Geometric mean of speeds" if self.is_of_speeds else "Geometric mean"

    @property
    def is_folded(self) -> bool:
        return any(row.folds > 1 for row in self.rows)

    @property
    def shares_threads(self) -> bool:
        """Tell whether every row is of the same one thread count, which then need not stand in each."""
        return len(self.rows) > 1 and len({(row.folds, row.threads) for row in self.rows}) == 1


_Folded = tuple[MatrixRow, list[Row]]


def matrix(
    table: ComparisonTable[Column],
    *,
    write: Callable[[float], str],
    link: Link,
    look: MatrixLook | None = None,
) -> Matrix:
    """Fold the rows of a comparison by workload; ``write`` says a ratio as the page says it."""
    look = look or MatrixLook()
    workloads = [list(rows) for _, rows in groupby(table.rows, key=lambda row: row.workload)]
    left_out = max(len(workloads) - look.most, 0) if look.most else 0
    if left_out:
        look = replace(look, order="worst")
        workloads = sorted(workloads, key=lambda rows: _rank(rows, look.order))[: look.most]
    drawing = _Drawing(
        write, link, look, table.metric, table.margin, is_of_speeds=have_two_directions(table.rows)
    )
    folded = list(map(drawing.folded, workloads))
    shown = [one for one in folded if one[0].is_changed or not look.only_changed]
    shown.sort(key=lambda one: _rank(one[1], look.order))
    return Matrix(
        sections=list(_sections(table, drawing, folded, shown)),
        total=drawing.aggregates(summary_of(table.rows), table.rows),
        hidden=len(folded) - len(shown),
        left_out=left_out,
        is_of_speeds=drawing.is_of_speeds,
    )


def is_tested(table: ComparisonTable[Column]) -> bool:
    """Tell whether any difference in the table was tested against noise."""
    compared = (one for row in table.rows for one in row.comparisons if one)
    return any(one.verdict != "unknown" or not verdict_words.is_within_a_session(one) for one in compared)


def _sections(
    table: ComparisonTable[Column], drawing: "_Drawing", folded: Sequence[_Folded], shown: Sequence[_Folded]
) -> Iterator[MatrixSection]:
    look = drawing.look
    if not look.groups or len(table.groups) < 2:
        yield MatrixSection("", len(folded), [part for one in shown for part in drawing.with_parts(*one)])
        return
    for group in table.groups:
        within = [one for one in folded if one[1][0].group == group.name]
        visible = [] if look.only_groups else [one for one in shown if one[1][0].group == group.name]
        if not visible and not look.only_groups and look.only_changed:
            continue
        # Beside the row of its only workload a group has nothing to say.
        summed_up = within if len(within) > 1 or look.only_groups else []
        yield MatrixSection(
            name=group.name or OTHERS,
            size=len(within),
            rows=[part for one in visible for part in drawing.with_parts(*one)],
            aggregates=drawing.aggregates(group, [row for _, rows in summed_up for row in rows]),
        )


def _rank(rows: Sequence[Row], order: Order) -> tuple[float, str]:
    name = rows[0].workload
    if order == "last":
        return -_last_step(rows), name
    if order == "worst":
        return _worst(rows), name
    return 0, name


def _last_step(rows: Sequence[Row]) -> float:
    """Return the size of the step into the last column, as a mean of logs; -inf where it is not known."""
    steps = []
    for row in rows:
        before, last = [row.base, *row.cells][-2:] if row.cells else (None, None)
        if before and last and before.unit == last.unit and before.value > 0 and last.value > 0:
            steps.append(log(last.value / before.value))
    return abs(sum(steps) / len(steps)) if steps else -inf


def _worst(rows: Sequence[Row]) -> float:
    """Return the smallest ratio of any column, inverted where lower is better; inf where there is none."""
    speeds = (_mean_speed(rows, column) for column in range(len(rows[0].cells)))
    return min((speed for speed in speeds if speed), default=inf)


def _mean_speed(rows: Sequence[Row], column: int) -> float | None:
    """Return the mean of the ratios of one workload as one of speeds: above 1 is faster."""
    ratio = geometric_mean(rows, column)
    return 1 / ratio if ratio and rows[0].direction == LOWER else ratio


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How cells are written, where they lead, and what is shown of them."""

    write: Callable[[float], str]
    link: Link
    look: MatrixLook
    metric: str
    margin: float
    is_of_speeds: bool

    def folded(self, rows: list[Row]) -> _Folded:
        is_open = rows[0].workload in self.look.opened
        return self._row(rows, folds=len(rows), is_open=is_open), rows

    def with_parts(self, row: MatrixRow, rows: Sequence[Row]) -> Iterator[MatrixRow]:
        shown = [row]
        if row.is_open and len(rows) > 1:
            shown += [self._row([part], folds=0, is_open=False) for part in rows]
        if row.is_open:
            shown[-1] = replace(shown[-1], ends_opened=True)
        yield from shown

    def aggregates(self, summary: GroupSummary, rows: Sequence[Row]) -> Aggregates:
        """Summarise several rows; a single row needs no summary."""
        if len(rows) < 2:
            return Aggregates()
        return Aggregates(
            mean=[self._mean(summary, column, rows) for column, _ in enumerate(summary.geomean)],
            lowest=[self._ratio(ratio) for ratio in summary.lowest],
            highest=[self._ratio(ratio) for ratio in summary.highest],
        )

    def _ratio_of(self, rows: Sequence[Row], column: int) -> float | None:
        """Return the mean of the ratios of one workload, or of its speeds."""
        return _mean_speed(rows, column) if self.is_of_speeds else geometric_mean(rows, column)

    def _direction_of(self, rows: Sequence[Row]) -> Direction:
        return HIGHER if self.is_of_speeds else rows[0].direction

    def _mean(self, summary: GroupSummary, column: int, rows: Sequence[Row]) -> GridCell | None:
        ratio, over = summary.geomean[column], summary.coverage(column)
        if ratio is None:
            return None
        compared = [one for row in rows if (one := row.comparisons[column])]
        direction = self._direction_of(rows)
        says = f"{over}: {self._verdict_words(compared, direction)}"
        verdict = verdicts.of_table(rows, column, margin=self.margin)
        level = self._look(verdict, ratio, direction)
        is_partial = summary.compared[column] < summary.rows
        return GridCell(
            text=self.write(ratio),
            level=level,
            says=says,
            url="",
            below=over if is_partial else "",
            sign=numbers.sign(level, ratio - 1),
        )

    def _ratio(self, ratio: float | None) -> str:
        return numbers.NOTHING if ratio is None else self.write(ratio)

    def _look(self, verdict: str, ratio: float | None, direction: str) -> str:
        is_told = verdict == "same" or verdict_words.is_certain(verdict)
        if self.look.by_size and ratio is not None and not is_told:
            verdict = ""
        return numbers.ratio_level(ratio, direction, verdict)

    def _row(self, rows: Sequence[Row], *, folds: int, is_open: bool) -> MatrixRow:
        return MatrixRow(
            workload=rows[0].workload,
            threads=rows[0].threads if len(rows) == 1 else None,
            folds=folds,
            is_open=is_open,
            base=self._base_cell(rows),
            cells=[self._cell(rows, column) for column in range(len(rows[0].cells))],
            direction=rows[0].direction if self.is_of_speeds else "",
        )

    def _base_cell(self, rows: Sequence[Row]) -> GridCell | None:
        cells = [row.base for row in rows if row.base]
        if not cells:
            return None
        return GridCell(
            text=_value(cells),
            level="base",
            says=_value_words(cells),
            url=self.link(rows, None),
            below="" if self.look.values == "relative" else _runs(cells),
        )

    def _cell(self, rows: Sequence[Row], column: int) -> GridCell | None:
        cells = [cell for row in rows if (cell := row.cells[column])]
        if not cells:
            return None
        compared = [one for row in rows if (one := row.comparisons[column])]
        ratio, direction = self._ratio_of(rows, column), self._direction_of(rows)
        change = None if ratio is None else ratio - 1
        verdict = verdicts.of_row(map(verdicts.of_cell, compared), change, direction)
        text, below = self._ratio(ratio), ""
        if self.look.values == "absolute":
            text, below = _value(cells), _runs(cells)
        elif self.look.values == "both":
            below = f"{_value(cells)}, {_runs(cells)}"
        level = self._look(verdict, ratio, direction)
        return GridCell(
            text=text,
            level=level,
            says=", ".join(filter(None, [_value_words(cells), self._verdict_words(compared, direction)])),
            url=self.link(rows, column),
            below=below,
            sign=numbers.sign(level, change),
        )

    def _verdict_words(self, compared: Sequence[Comparison], direction: str) -> str:
        """``slower, noise: sessions``, or of several thread counts ``3 slower, 2 not enough to tell``."""
        if len(compared) != 1:
            return verdict_words.counts_in_words((one.verdict for one in compared), self.metric, direction)
        [one] = compared
        said = verdict_words.words(one.verdict, self.metric, direction=direction)
        return ", ".join(filter(None, [said, verdict_words.settling(one), verdict_words.noise(one)]))


def _value(cells: Sequence[Cell]) -> str:
    """Write the value, or the geometric mean of several thread counts."""
    if len(cells) == 1:
        return numbers.quantity(cells[0].value, cells[0].unit)
    positive = all(cell.value > 0 for cell in cells)
    mean = exp(sum(log(cell.value) for cell in cells) / len(cells)) if positive else None
    return numbers.quantity(mean, cells[0].unit)


def _runs(cells: Sequence[Cell]) -> str:
    return f"n{numbers.NO_BREAK}={numbers.NO_BREAK}{numbers.count(sum(cell.n for cell in cells))}"


def _value_words(cells: Sequence[Cell]) -> str:
    """``153.4 ms, n = 3 in 1 session``, or how many runs several thread counts have."""
    if len(cells) > 1:
        return f"{len(cells)} thread counts, {numbers.count(sum(cell.n for cell in cells))} runs"
    [cell] = cells
    unit = "per second" if cell.unit == "1/s" else cell.unit
    sessions = numbers.counted(verdict_words.session_count(cell), "session")
    return f"{numbers.quantity(cell.value, cell.unit)} {unit}, n = {cell.n} in {sessions}"
