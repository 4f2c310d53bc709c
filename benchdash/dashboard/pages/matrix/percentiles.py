"""The distribution of the response times of a workload: versions over each other, by their histograms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.accounts.models import Project
from benchdash.charts.figure import Figure
from benchdash.dashboard.charts import latency as charts
from benchdash.dashboard.charts.compare import VersionLine
from benchdash.dashboard.compare.selection import ChosenColumns
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.navigation import Link
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison import latency
from benchdash.regressions.comparison.comparability import Doubt
from benchdash.regressions.comparison.latency import LatencyCell, LatencyRowKey, LatencyTable
from benchdash.regressions.comparison.verdict_words import change_of
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.distributions import Bounds

ALL_OPERATIONS: Final = "all"
MAX_TABLES: Final = 4
"""Workloads whose percentiles are compared on one page: each takes statements of its own."""

# An interval of a ratio whose ends are this far apart says only that there are too few runs.
_SAYS_SOMETHING: Final = 10


@dataclass(frozen=True)
class PercentileFigures:
    """One percentile of one version as its table writes it."""

    words: str
    value: float | None = None
    comparison: Comparison | None = None

    @property
    def change(self) -> float | None:
        return change_of(self.comparison)

    @property
    def change_bounds(self) -> str:
        """``−10.0 % to −6.0 %``; in words where it would say nothing."""
        one = self.comparison
        if one is None or one.low is None or one.high is None:
            return ""
        if one.high > _SAYS_SOMETHING * one.low:
            return "too few runs"
        return " to ".join(numbers.change(end - 1) for end in (one.low, one.high))


@dataclass(frozen=True)
class PercentilesRow:
    """The percentiles of one version, and the largest of its response times."""

    line: VersionLine
    cell: LatencyCell
    percentiles: Sequence[PercentileFigures]
    largest: PercentileFigures


@dataclass(frozen=True)
class PercentilesTable:
    """Response time against the percentile of a workload at a thread count, in a chart and in figures.

    ``is_other``: the thread counts in the address have no histogram. ``operations`` are links to those of
    single operations; ``missing`` names the versions without a histogram.
    """

    title: str
    figure: Figure
    rows: Sequence[PercentilesRow]
    operations: Sequence[Link]
    missing: Sequence[str]
    doubts: Sequence[Doubt]
    csv_url: str
    is_other: bool

    @property
    def names(self) -> list[str]:
        return [charts.percentile_name(share) for share in latency.SHARES]

    @property
    def is_tested(self) -> bool:
        compared = (one.comparison for row in self.rows for one in row.percentiles)
        return any(one is not None and one.p is not None for one in compared)

    @property
    def has_sessions(self) -> bool:
        return any(row.cell.sessions for row in self.rows)

    @property
    def are_runs_left_out(self) -> bool:
        return any(row.cell.runs < row.cell.measured for row in self.rows)


@dataclass(frozen=True)
class Histograms:
    """The histograms of chosen columns; ``rows`` are how many columns each row has.

    ``threads`` and ``operation`` are those of the address, ``csv_url`` gives the numbers of a row, and
    ``operation_url`` leads to the same of one operation.
    """

    project: Project
    columns: ChosenColumns
    lines: Sequence[VersionLine]
    rows: Mapping[LatencyRowKey, int]
    threads: Sequence[int | None]
    operation: str
    csv_url: Callable[[LatencyRowKey], str]
    operation_url: Callable[[str], str]

    def table(self, workload: str) -> PercentilesTable | None:
        """Compare the columns in a workload; None where none has a histogram of it."""
        row = self._row(workload)
        if row is None or self.columns.base is None:
            return None
        table = latency.compare_columns(
            self.project, base=self.columns.base, columns=self.columns.others, row=row
        )
        shown = _table_rows(table, self.lines)
        if not shown:
            return None
        of_shown = [one.line for one in shown]
        return PercentilesTable(
            title=f"{_title(row)}, response time against percentile",
            figure=charts.percentile_curves(of_shown, [one.cell.distribution for one in shown]),
            rows=shown,
            operations=self._operations(row),
            missing=[line.name for line in self.lines if line not in of_shown],
            doubts=latency.latency_doubts(table),
            csv_url=self.csv_url(row),
            is_other=bool(self.threads) and row.threads not in self.threads,
        )

    def _row(self, workload: str) -> LatencyRowKey | None:
        """Return the row of the address; what it leaves open is what most columns have."""

        def fit(row: LatencyRowKey) -> tuple[bool, bool, int]:
            is_asked = (row.operation or ALL_OPERATIONS) == self.operation
            return row.threads in self.threads, is_asked, self.rows[row]

        return max((row for row in self.rows if row.workload == workload), key=fit, default=None)

    def _operations(self, row: LatencyRowKey) -> list[Link]:
        known = [
            one.operation for one in self.rows if (one.workload, one.threads) == (row.workload, row.threads)
        ]
        if known == [""]:
            return []
        return [
            Link(one or "all operations", self.operation_url(one or ALL_OPERATIONS), one == row.operation)
            for one in dict.fromkeys(known)
        ]


def _title(row: LatencyRowKey) -> str:
    """``workloada, read, 8 threads``."""
    threads = "" if row.threads is None else threads_words(row.threads)
    return ", ".join(filter(None, [row.workload, row.operation, threads]))


def _table_rows(table: LatencyTable, lines: Sequence[VersionLine]) -> list[PercentilesRow]:
    """Return the rows of the lines that have a histogram, in their order."""
    if not table.rows:
        return []
    (row,) = table.rows
    others = iter(row.cells)
    cells = [(line, row.base if line.is_base else next(others)) for line in lines]
    shown = []
    for line, cell in cells:
        if cell:
            percentiles = [_figures(one.bounds, one.comparison) for one in cell.percentiles]
            shown.append(PercentilesRow(line, cell, percentiles, _figures(cell.distribution.largest)))
    return shown


def _figures(bounds: Bounds | None, comparison: Comparison | None = None) -> PercentileFigures:
    if bounds is None:
        return PercentileFigures("")
    return PercentileFigures(charts.bounds_words(bounds), bounds.middle, comparison)
