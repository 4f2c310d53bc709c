"""The tables of the page "Side by side": all at a glance, metric by metric, and the rest."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from benchdash.charts.figure import Figure
from benchdash.dashboard.compare.folding import MIN_FOLDED, Fold, fold_of, strength
from benchdash.dashboard.pages.pair import figure as charts
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison.cells import Cell, RowKey
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.comparability import row_words
from benchdash.regressions.comparison.pair_words import Claim
from benchdash.regressions.comparison.rows import Row, have_two_directions, row_order
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.verdict_words import (
    change_of,
    counts_in_words,
    note,
    session_count,
)
from benchdash.regressions.comparison.verdicts import of_cell, of_row
from benchdash.regressions.detection.compare import Comparison
from benchdash.results import metrics
from benchdash.results.metrics import FAMILIES

Link = Callable[[int], str]
"""The address of the history of a series."""


@dataclass(frozen=True)
class PairLine:
    """One metric in one row: both sides and what became of it; ``url`` is its history.

    ``margin`` is the relative difference that does not matter. ``is_of_mixed``: the rows of its table differ
    in direction, so that each names its own.
    """

    metric: str
    row: Row
    url: str
    margin: float
    is_of_mixed: bool = False

    @property
    def base(self) -> Cell | None:
        return self.row.base

    @property
    def other(self) -> Cell | None:
        return self.row.cells[0]

    @property
    def comparison(self) -> Comparison | None:
        return self.row.comparisons[0]

    @property
    def change(self) -> float | None:
        return change_of(self.comparison)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the change."""
        one = self.comparison
        return None if one is None or one.low is None or one.high is None else (one.low - 1, one.high - 1)

    @property
    def verdict(self) -> str:
        return of_cell(self.comparison)

    @property
    def sessions(self) -> str:
        """``in 1 session / in 3 sessions``."""
        sides = [numbers.counted(session_count(side) if side else 0, "session") for side in self.row.sides]
        return " / ".join(f"in {side}" for side in sides)

    @property
    def strength(self) -> int:
        return strength(self.verdict)

    @property
    def rank(self) -> tuple[int, float, tuple[str, int]]:
        """The key that puts differences first, the largest before all, and then the likely ones."""
        ratio = self.comparison.ratio if self.comparison and self.strength < 2 else None
        return self.strength, -abs(log(ratio)) if ratio else 0.0, row_order(self.key)

    @property
    def key(self) -> RowKey:
        return self.row.workload, self.row.threads


@dataclass(frozen=True)
class GlanceRow:
    """One workload and thread count; a line for each metric, None where it was not measured."""

    workload: str
    threads: int | None
    lines: Sequence[PairLine | None]

    @property
    def has_changed(self) -> bool:
        return any(line.strength < 2 for line in self.lines if line)

    @property
    def verdict(self) -> str:
        """The verdict of all its metrics."""
        return of_row(line.verdict for line in self.lines if line)


@dataclass(frozen=True)
class Glance:
    """The most telling metrics beside each other; ``totals`` are the claims of each over all its rows.

    ``tables`` are those of the metrics, and whether their rows differ in direction. ``folded`` rows show no
    change and stand under ``fold``. ``more`` rows are left out.
    """

    tables: Sequence[tuple[ComparisonTable[Column], bool]]
    rows: Sequence[GlanceRow]
    totals: Sequence[Claim]
    more: int
    folded: Sequence[GlanceRow] = ()
    fold: Fold | None = None

    @property
    def has_total(self) -> bool:
        return len(self.rows) + len(self.folded) > 1


@dataclass(frozen=True)
class PairPanel:
    """A chart of changes with their intervals and the table that says the same, of one metric or of one row.

    ``metric`` is empty where each line has another, ``unit`` and ``direction`` where lines differ in them.
    ``words`` sum it up: ``5 slower, 7 not enough to tell``. ``more`` rows are left out of both.
    """

    title: str
    figure: Figure | None
    height: int
    lines: Sequence[PairLine]
    note: str
    words: str
    metric: str = ""
    unit: str = ""
    direction: str = ""
    more: int = 0


@dataclass(frozen=True)
class Rest:
    """All other metrics in one table, by family; ``more`` lines are left out. ``words`` sum them up."""

    lines: Sequence[PairLine]
    more: int
    words: str


def glance(tables: Sequence[ComparisonTable[Column]], history: Link, *, most: int) -> Glance:
    """Put metrics beside each other; ``tables`` are those to show, the main one first."""
    by_key = [{line.key: line for line in _lines(table, history)} for table in tables]
    keys = sorted({key for lines in by_key for key in lines}, key=lambda key: _glance_rank(key, by_key))
    rows = [GlanceRow(*key, [lines.get(key) for lines in by_key]) for key in keys]
    heads = [(table, have_two_directions(table.rows)) for table in tables]
    shown, more = rows[:most], max(0, len(rows) - most)
    opened = [row for row in shown if row.has_changed]
    folded = [row for row in shown if not row.has_changed]
    if len(folded) < MIN_FOLDED:
        opened, folded = shown, []
    fold = None
    if folded:
        lines = [line for row in folded for line in row.lines if line]
        fold = fold_of(
            [row.verdict for row in folded],
            [line.comparison for line in lines if line.comparison],
            what=_row_word([(row.workload, row.threads) for row in shown]),
            are_all=not opened,
        )
    return Glance(heads, opened, list(map(Claim.of, tables)), more, folded, fold)


def panels(
    tables: Sequence[ComparisonTable[Column]], history: Link, *, names: tuple[str, str], most: int
) -> list[PairPanel]:
    keys = {(row.workload, row.threads) for table in tables for row in table.rows}
    if len(keys) == 1:
        return [_panel_of_row(tables, history, names)]
    return [_panel(table, history, names, most) for table in tables]


def rest(tables: Sequence[ComparisonTable[Column]], history: Link, *, most: int) -> Rest:
    lines = [line for table in tables for line in _lines(table, history)]
    lines.sort(
        key=lambda line: (line.rank[0], FAMILIES.index(metrics.family(line.metric)), line.metric, line.rank)
    )
    return Rest(lines[:most], max(0, len(lines) - most), counts_in_words(line.verdict for line in lines))


def _row_word(keys: Sequence[RowKey]) -> str:
    """Return the word for a row: several thread counts of one workload are not several workloads."""
    return "workload" if len({workload for workload, _ in keys}) == len(keys) else "row"


def _lines(table: ComparisonTable[Column], history: Link) -> Iterator[PairLine]:
    is_mixed = have_two_directions(table.rows)
    for row in table.rows:
        cell = row.cells[0] or row.base
        url = history(cell.series_id) if cell else ""
        yield PairLine(table.metric, row, url, table.margin, is_mixed)


def _glance_rank(
    key: RowKey, by_key: Sequence[Mapping[RowKey, PairLine]]
) -> tuple[int, float, tuple[str, int]]:
    """Return the key that puts first what the main metric shows, then what any other does."""
    main = by_key[0].get(key)
    if main and main.strength < 2:
        return main.strength, main.rank[1], row_order(key)
    is_shown = any(line.strength < 2 for lines in by_key if (line := lines.get(key)))
    return 2 if is_shown else 3, 0.0, row_order(key)


def _panel(table: ComparisonTable[Column], history: Link, names: tuple[str, str], most: int) -> PairPanel:
    lines = sorted(_lines(table, history), key=lambda line: line.rank)
    lines, more = lines[:most], max(0, len(lines) - most)
    workloads = {line.row.workload for line in lines}
    is_curve = len(workloads) == 1 and all(line.row.threads is not None for line in lines)
    drawn = _drawn(
        (threads_words(line.row.threads) if is_curve else row_words(line.key), line) for line in lines
    )
    name = numbers.metric_name(table.metric)
    what = f"{lines[0].row.workload}, {name}" if is_curve else name
    base, other = names
    is_mixed = have_two_directions(table.rows)
    axis = "change" if is_mixed else f"change, {numbers.direction_words(table.direction)}"
    return PairPanel(
        title=f"{what}, {other} against {base}",
        figure=charts.changes(drawn, title=axis) if drawn else None,
        height=charts.height(len(drawn)),
        lines=lines,
        note=note((line.comparison for line in lines if line.comparison), margin=table.margin),
        words=Claim.of(table).words,
        metric=table.metric,
        unit="" if is_mixed else table.unit,
        direction="" if is_mixed else table.direction,
        more=more,
    )


def _panel_of_row(
    tables: Sequence[ComparisonTable[Column]], history: Link, names: tuple[str, str]
) -> PairPanel:
    """Draw all metrics together where there is one workload at one thread count."""
    lines = [line for table in tables for line in _lines(table, history)]
    drawn = _drawn((numbers.short_metric_name(line.metric), line) for line in lines)
    base, other = names
    return PairPanel(
        title=f"{row_words(lines[0].key)}, {other} against {base}",
        figure=charts.changes(drawn, title="change") if drawn else None,
        height=charts.height(len(drawn)),
        lines=lines,
        note=note((line.comparison for line in lines if line.comparison), margin=tables[0].margin),
        words=counts_in_words(line.verdict for line in lines),
    )


def _drawn(named: Iterable[tuple[str, PairLine]]) -> list[charts.PairChange]:
    """Return the changes of the lines that have a ratio."""
    return [
        charts.PairChange(name, line.comparison, line.metric, line.url)
        for name, line in named
        if line.comparison and line.comparison.ratio
    ]
