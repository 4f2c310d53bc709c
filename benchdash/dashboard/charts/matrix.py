"""Workloads by versions: a table whose cells are filled with what their numbers mean."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp, log

from benchdash.dashboard import numbers, verdict_words
from benchdash.regressions.comparison import Cell, ComparisonTable, Row, geometric_mean
from benchdash.regressions.detection import Comparison
from benchdash.results.readings import HIGHER

Link = Callable[[Sequence[Row], int | None], str]
"""Where a click leads from the cell of a column (None: the base) in some rows of one workload."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column; ``note`` says when a commit was first measured."""

    name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """``says`` is what the number alone does not: the value, the number of runs, the verdict."""

    text: str
    level: str
    says: str
    url: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A workload with its thread counts folded into one, or one thread count of it.

    ``folds`` is how many thread counts lie in it.
    """

    workload: str
    threads: int | None
    folds: int
    is_open: bool
    base: MatrixCell | None
    cells: Sequence[MatrixCell | None]

    @property
    def is_part(self) -> bool:
        """Whether it stands under the row of its workload."""
        return self.folds == 0


@dataclass(frozen=True, slots=True)
class Matrix:
    """``total`` is the geometric mean of each column over everything; empty where that has no meaning."""

    rows: Sequence[MatrixRow]
    total: Sequence[MatrixCell | None]

    @property
    def is_folded(self) -> bool:
        return any(row.folds > 1 for row in self.rows)


def matrix(
    table: ComparisonTable,
    *,
    write: Callable[[float], str],
    link: Link,
    opened: Collection[str] = (),
) -> Matrix:
    """The rows of a comparison, folded by workload; ``write`` says a ratio as the page says it.

    Of ``opened`` workloads every thread count has a row of its own below.
    """
    rows: list[MatrixRow] = []
    for workload, found in groupby(table.rows, key=lambda row: row.workload):
        group = list(found)
        is_open = workload in opened and len(group) > 1
        rows.append(_row(group, write, link, folds=len(group), is_open=is_open))
        if is_open:
            rows.extend(_row([row], write, link, folds=0, is_open=False) for row in group)
    return Matrix(rows=rows, total=_total(table, write))


def _row(
    rows: Sequence[Row], write: Callable[[float], str], link: Link, *, folds: int, is_open: bool
) -> MatrixRow:
    return MatrixRow(
        workload=rows[0].workload,
        threads=rows[0].threads if len(rows) == 1 else None,
        folds=folds,
        is_open=is_open,
        base=_base_cell(rows, link),
        cells=[_cell(rows, column, write, link) for column in range(len(rows[0].cells))],
    )


def _base_cell(rows: Sequence[Row], link: Link) -> MatrixCell | None:
    cells = [row.base for row in rows if row.base]
    if not cells:
        return None
    positive = all(cell.value > 0 for cell in cells)
    value = exp(sum(log(cell.value) for cell in cells) / len(cells)) if positive else None
    return MatrixCell(
        text=numbers.number(cells[0].value if len(cells) == 1 else value),
        level="base",
        says=_value_words(cells),
        url=link(rows, None),
    )


def _cell(rows: Sequence[Row], column: int, write: Callable[[float], str], link: Link) -> MatrixCell | None:
    cells = [cell for row in rows if (cell := row.cells[column])]
    if not cells:
        return None
    compared = [one for row in rows if (one := row.comparisons[column])]
    ratio, direction = geometric_mean(rows, column), rows[0].direction
    return MatrixCell(
        text=numbers.NOTHING if ratio is None else write(ratio),
        level=numbers.ratio_level(ratio, direction, _verdict(compared, ratio, direction)),
        says=", ".join(filter(None, [_value_words(cells), _verdict_words(compared)])),
        url=link(rows, column),
    )


def _verdict(compared: Sequence[Comparison], ratio: float | None, direction: str) -> str:
    """Of several thread counts: what some say, if none and neither their mean contradicts; else nothing."""
    said = {one.verdict for one in compared}
    if said <= {"same"} and said:
        return "same"
    if said <= {"same", "unknown"} or ratio is None:
        return "unknown"
    agreed = "better" if (ratio > 1) == (direction == HIGHER) else "worse"
    return agreed if said <= {agreed, "same", "unknown"} else ""


def _value_words(cells: Sequence[Cell]) -> str:
    """``153.4 ms, n = 3``, or of several thread counts only how many runs there are."""
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


def _total(table: ComparisonTable, write: Callable[[float], str]) -> list[MatrixCell | None]:
    directions = {row.direction for row in table.rows}
    if len(directions) > 1 or len(table.rows) < 2:
        return []
    cells: list[MatrixCell | None] = []
    for column, ratio in enumerate(table.geomean):
        compared = [one for row in table.rows if (one := row.comparisons[column])]
        level = numbers.ratio_level(ratio, table.direction, _verdict(compared, ratio, table.direction))
        says = f"{len(compared)} ratios: {_verdict_words(compared)}"
        cells.append(None if ratio is None else MatrixCell(write(ratio), level, says, url=""))
    return cells
