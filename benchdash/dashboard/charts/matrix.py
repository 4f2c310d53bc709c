"""Workloads by versions: a table whose cells are filled with what their numbers mean."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from math import exp, inf, log
from typing import Literal

from benchdash.dashboard.charts import verdict_words
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.html import GridCell
from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.rows import GroupSummary, Row, geometric_mean, summary_of
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.readings import HIGHER

Link = Callable[[Sequence[Row], int | None], str]
"""Where a click leads from the cell of a column (None: the base) in some rows of one workload."""

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
    its worst column. ``only_changed`` leaves the rows with a coloured cell. ``by_size`` colours what could
    not be tested by its size. ``groups`` shows sections with a summary each; ``only_groups`` just these.
    """

    values: Values = "relative"
    order: Order = "name"
    opened: Collection[str] = ()
    only_changed: bool = False
    by_size: bool = False
    groups: bool = False
    only_groups: bool = False


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A workload with its thread counts folded into one, or one thread count of it.

    ``folds`` is how many thread counts lie in it.
    """

    workload: str
    threads: int | None
    folds: int
    is_open: bool
    base: GridCell | None
    cells: Sequence[GridCell | None]

    @property
    def is_part(self) -> bool:
        """Whether it stands under the row of its workload."""
        return self.folds == 0

    @property
    def is_changed(self) -> bool:
        return any(cell.is_changed for cell in self.cells if cell)


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
    """``total`` is over everything; ``hidden`` is how many workloads are not shown because none changed."""

    sections: Sequence[MatrixSection]
    total: Aggregates
    hidden: int = 0

    @property
    def rows(self) -> list[MatrixRow]:
        return list(chain.from_iterable(section.rows for section in self.sections))

    @property
    def is_folded(self) -> bool:
        return any(row.folds > 1 for row in self.rows)

    @property
    def shares_threads(self) -> bool:
        """Whether every row is of the same one thread count, which then need not stand in each."""
        return len(self.rows) > 1 and len({(row.folds, row.threads) for row in self.rows}) == 1


_Folded = tuple[MatrixRow, list[Row]]


def matrix(
    table: ComparisonTable,
    *,
    write: Callable[[float], str],
    link: Link,
    look: MatrixLook | None = None,
) -> Matrix:
    """Fold the rows of a comparison by workload; ``write`` says a ratio as the page says it."""
    look = look or MatrixLook()
    drawing = _Drawing(write=write, link=link, look=look)
    folded = [drawing.folded(list(rows)) for _, rows in groupby(table.rows, key=lambda row: row.workload)]
    shown = [one for one in folded if one[0].is_changed or not look.only_changed]
    shown.sort(key=lambda one: _rank(one[1], look.order))
    return Matrix(
        sections=list(_sections(table, drawing, folded, shown)),
        total=drawing.aggregates(summary_of(table.rows), table.rows),
        hidden=len(folded) - len(shown),
    )


def is_tested(table: ComparisonTable) -> bool:
    """Tell whether any difference in the table was tested against noise."""
    compared = (one for row in table.rows for one in row.comparisons if one)
    return any(one.verdict != "unknown" or one.p is not None for one in compared)


def _sections(
    table: ComparisonTable, drawing: "_Drawing", folded: Sequence[_Folded], shown: Sequence[_Folded]
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
        yield MatrixSection(
            name=group.name or OTHERS,
            size=len(within),
            rows=[part for one in visible for part in drawing.with_parts(*one)],
            aggregates=drawing.aggregates(group, [row for _, rows in within for row in rows]),
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
    ratios = [geometric_mean(rows, column) for column in range(len(rows[0].cells))]
    higher = rows[0].direction == HIGHER
    return min((ratio if higher else 1 / ratio for ratio in ratios if ratio), default=inf)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How cells are written, where they lead, and what is shown of them."""

    write: Callable[[float], str]
    link: Link
    look: MatrixLook

    def folded(self, rows: list[Row]) -> _Folded:
        is_open = rows[0].workload in self.look.opened and len(rows) > 1
        return self._row(rows, folds=len(rows), is_open=is_open), rows

    def with_parts(self, row: MatrixRow, rows: Sequence[Row]) -> Iterator[MatrixRow]:
        yield row
        if row.is_open:
            yield from (self._row([part], folds=0, is_open=False) for part in rows)

    def aggregates(self, summary: GroupSummary, rows: Sequence[Row]) -> Aggregates:
        """Summarise rows that are better in the same direction; a single row needs no summary."""
        directions = {row.direction for row in rows}
        if len(directions) > 1 or len(rows) < 2:
            return Aggregates()
        [direction] = directions
        return Aggregates(
            mean=[self._mean(ratio, column, rows, direction) for column, ratio in enumerate(summary.geomean)],
            lowest=[self._ratio(ratio) for ratio in summary.lowest],
            highest=[self._ratio(ratio) for ratio in summary.highest],
        )

    def _mean(self, ratio: float | None, column: int, rows: Sequence[Row], direction: str) -> GridCell | None:
        if ratio is None:
            return None
        compared = [one for row in rows if (one := row.comparisons[column])]
        says = f"{len(compared)} ratios: {_verdict_words(compared)}"
        level = self._level(ratio, direction, compared)
        if level.startswith(("better", "worse")):
            # One workload beyond the noise does not make a mean of 1.00 a change.
            level = numbers.ratio_level(ratio, direction)
        return GridCell(self.write(ratio), level, says, url="")

    def _ratio(self, ratio: float | None) -> str:
        return numbers.NOTHING if ratio is None else self.write(ratio)

    def _level(self, ratio: float | None, direction: str, compared: Sequence[Comparison]) -> str:
        verdict = _verdict(compared, ratio, direction)
        if verdict == "unknown" and self.look.by_size and ratio is not None:
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
        ratio, direction = geometric_mean(rows, column), rows[0].direction
        text, below = self._ratio(ratio), ""
        if self.look.values == "absolute":
            text, below = _value(cells), _runs(cells)
        elif self.look.values == "both":
            below = f"{_value(cells)}, {_runs(cells)}"
        return GridCell(
            text=text,
            level=self._level(ratio, direction, compared),
            says=", ".join(filter(None, [_value_words(cells), _verdict_words(compared)])),
            url=self.link(rows, column),
            below=below,
        )


def _verdict(compared: Sequence[Comparison], ratio: float | None, direction: str) -> str:
    """Return the verdict of several thread counts if neither any of them nor their mean contradicts it."""
    said = {one.verdict for one in compared}
    if said <= {"same"} and said:
        return "same"
    if said <= {"same", "unknown"} or ratio is None:
        return "unknown"
    agreed = "better" if (ratio > 1) == (direction == HIGHER) else "worse"
    return agreed if said <= {agreed, "same", "unknown"} else ""


def _value(cells: Sequence[Cell]) -> str:
    """Write the value, or the geometric mean of several thread counts."""
    if len(cells) == 1:
        return numbers.number(cells[0].value)
    positive = all(cell.value > 0 for cell in cells)
    return numbers.number(exp(sum(log(cell.value) for cell in cells) / len(cells)) if positive else None)


def _runs(cells: Sequence[Cell]) -> str:
    return f"n{numbers.NO_BREAK}={numbers.NO_BREAK}{numbers.count(sum(cell.n for cell in cells))}"


def _value_words(cells: Sequence[Cell]) -> str:
    """``153.4 ms, n = 3``, or how many runs several thread counts have."""
    if len(cells) > 1:
        return f"{len(cells)} thread counts, {numbers.count(sum(cell.n for cell in cells))} runs"
    [cell] = cells
    unit = "per second" if cell.unit == "1/s" else cell.unit
    return f"{numbers.number(cell.value)} {unit}, n = {cell.n}"


def _verdict_words(compared: Sequence[Comparison]) -> str:
    """``worse, noise: repeats``, or of several thread counts ``3 worse, 2 unknown``."""
    counts = Counter(one.verdict for one in compared)
    if len(compared) == 1:
        [one] = compared
        return ", ".join(filter(None, [one.verdict, verdict_words.settling(one), verdict_words.noise(one)]))
    return ", ".join(
        f"{counts[verdict]} {verdict}"
        for verdict in ("better", "worse", "same", "unknown")
        if counts[verdict]
    )
