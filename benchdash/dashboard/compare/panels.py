"""The panels of the compare page: a chart for each workload and metric, with the table that says the same."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts import verdict_words
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import Value, ValueScale, VersionLine
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison.rows import Row, geometric_mean
from benchdash.regressions.comparison.version_table import ComparisonTable

CURVE_HEIGHT: Final = 340


@dataclass(frozen=True)
class PanelRow:
    """A row of thread counts; or of a value that was varied, with its name and the mean of its changes."""

    threads: int | None
    values: Sequence[Value]
    name: str = ""
    mean: float | None = None


@dataclass(frozen=True)
class Panel:
    """A chart with its table; ``name`` is its own on the page.

    A curve has a table of thread counts by versions, and a row of means of its ratios; bars have a table with
    one row a version.
    ``note`` says what the numbers are; ``says_n`` that the number of runs stands in each cell.
    ``corner`` says what the rows of the table are, ``hides_values`` that only percentages are shown.
    """

    name: str
    workload: str
    metric: str
    unit: str
    direction: str
    title: str
    figure: Figure
    height: int
    is_curve: bool
    lines: Sequence[VersionLine]
    rows: Sequence[PanelRow]
    means: Sequence[float | None]
    note: str
    says_n: bool
    csv_url: str
    url: str
    corner: str = "threads"
    is_over_values: bool = False
    hides_values: bool = False


@dataclass(frozen=True)
class PanelAddresses:
    """The links of a panel: to the history of a series, to its numbers, and to itself alone."""

    series: Callable[[int], str]
    csv: Callable[[str, str], str]
    alone: Callable[[str, str], str]


DrawCurve = Callable[[Sequence[Row], Sequence[VersionLine], str], Figure]
"""Draws rows of several thread counts; the text is their metric."""


def panels(
    table: ComparisonTable,
    lines: Sequence[VersionLine],
    *,
    scale: ValueScale,
    place: str,
    keys: Mapping[str, str],
    addresses: PanelAddresses,
    draw_curve: DrawCurve | None = None,
) -> list[Panel]:
    """Return the panels of one metric, by workload; ``place`` is what all titles end with.

    ``keys`` are short names of workloads for the page; those without one get no panel. Curves are drawn on
    the ``scale`` unless the page draws its own.
    """

    def draw(rows: Sequence[Row], lines: Sequence[VersionLine], metric: str) -> Figure:
        return charts.against_threads(rows, lines, metric, scale, addresses.series)

    return [
        _panel(table, rows, lines, scale, place, name, addresses, draw_curve or draw)
        for name, rows in named_parts(table.rows, keys, curves_and_bars)
    ]


def named_parts(
    rows: Sequence[Row],
    keys: Mapping[str, str],
    parts: Callable[[Sequence[Row]], Iterable[Sequence[Row]]],
) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the name and the rows of each panel, for the workloads that have a key."""
    for workload, found in groupby(rows, key=lambda row: row.workload):
        if key := keys.get(workload):
            for number, part in enumerate(parts(list(found))):
                yield f"{key}-{number}" if number else key, part


def curves_and_bars(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield several thread counts as one curve; a single one, and an unknown one, stand alone."""
    counted = [row for row in rows if row.threads is not None]
    if counted:
        yield counted
    yield from ([row] for row in rows if row.threads is None)


def _panel(
    table: ComparisonTable,
    rows: Sequence[Row],
    lines: Sequence[VersionLine],
    scale: ValueScale,
    place: str,
    name: str,
    addresses: PanelAddresses,
    draw_curve: DrawCurve,
) -> Panel:
    first, metric = rows[0], table.metric
    is_curve = len(rows) > 1
    has_base = any(row.base for row in rows)
    if not has_base:
        scale = replace(scale, relative_to="")
    values = [PanelRow(row.threads, charts.values(row, lines)) for row in rows]
    columns = zip(*(row.values for row in values), strict=True)
    shown = sum(any(value.cell for value in column) for column in columns)
    if is_curve:
        figure = draw_curve(rows, lines, metric)
    else:
        figure = charts.bars(first, lines, metric, scale, addresses.series)
    runs = {value.cell.n for row in values for value in row.values if value.cell}
    return Panel(
        name=name,
        workload=first.workload,
        metric=metric,
        unit=first.unit,
        direction=first.direction,
        title=_title(rows, metric, scale, place),
        figure=figure,
        height=CURVE_HEIGHT if is_curve else charts.bars_height(shown),
        is_curve=is_curve,
        lines=lines,
        rows=values,
        means=means_of(rows, lines) if is_curve else [],
        note=note_of(values, runs, has_base=has_base, margin=table.margin),
        says_n=len(runs) > 1,
        csv_url=addresses.csv(metric, first.workload),
        url=addresses.alone(metric, first.workload),
    )


def _title(rows: Sequence[Row], metric: str, scale: ValueScale, place: str) -> str:
    """``oltp_read_only, transactions per second against threads, bench-03``."""
    is_curve = len(rows) > 1
    threads = "" if is_curve or rows[0].threads is None else threads_words(rows[0].threads)
    against = " against threads" if is_curve else ""
    relative = f" relative to {scale.relative_to}" if scale.relative_to else ""
    what = f"{numbers.metric_name(metric)}{against}{relative}"
    return ", ".join(filter(None, [rows[0].workload, threads, what, place]))


def note_of(rows: Sequence[PanelRow], runs: set[int], *, has_base: bool, margin: float) -> str:
    """Explain the numbers of a table and their ±."""
    with_error = any(value.interval != (None, None) for row in rows for value in row.values)
    if runs != {1}:
        of = f"{numbers.count(next(iter(runs)))} runs" if len(runs) == 1 else "n runs"
        what = f"Medians of {of}; ± is the 95 % interval of the level."
    else:
        what = (
            "One run each; ± is the tool's own error." if with_error else "One run each: no error is known."
        )
    if not has_base:
        return f"{what} The reference was not measured here."
    compared = [one for row in rows for value in row.values if (one := value.comparison)]
    judged = verdict_words.note(compared, margin=margin)
    return " ".join(filter(None, [what, judged]))


def means_of(rows: Sequence[Row], lines: Sequence[VersionLine]) -> list[float | None]:
    """Return the geometric mean of each line's ratios over the rows, as a change; None for the base."""
    columns = iter(range(len(lines) - 1))
    ratios = [None if line.is_base else geometric_mean(rows, next(columns)) for line in lines]
    return [None if ratio is None else ratio - 1 for ratio in ratios]
