"""Panels: a chart for each workload and metric, with the table that says the same."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from benchdash.charts.figure import Figure
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import Value, ValueScale, VersionLine
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison import verdict_words
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import Row, geometric_mean
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.results.wording import RelativeUnit

CURVE_HEIGHT: Final = 340


@dataclass(frozen=True)
class PanelRow:
    """A row of a thread count, or of a value that was varied, with the mean of its changes."""

    name: str
    values: Sequence[Value]
    mean: float | None = None


@dataclass(frozen=True)
class Panel:
    """A chart with its table; ``name`` is its own on the page.

    A curve has a table of thread counts by versions, and a row of means of its ratios; bars have a table with
    one row a version.
    ``note`` says what the numbers are; ``says_n`` that the number of runs stands in each cell.
    ``corner`` says what the rows of the table are, ``hides_values`` that only percentages are shown;
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
    margin: float
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


def panels(
    table: ComparisonTable[Column],
    lines: Sequence[VersionLine],
    *,
    scale: ValueScale,
    place: str,
    keys: Mapping[str, str],
    addresses: PanelAddresses,
) -> list[Panel]:
    """Return the panels of one metric, by workload; ``place`` is what all titles end with.

    ``keys`` are short names of workloads for the page; those without one get no panel.
    """
    metric = table.metric
    made = []
    for name, rows in named_parts(table.rows, keys, curves_and_bars):
        own = scale if any(row.base for row in rows) else replace(scale, relative_to="")
        if len(rows) == 1:
            figure = charts.bars(rows[0], lines, metric, own, addresses.series)
        else:
            figure = charts.against_threads(rows, lines, metric, scale, addresses.series)
        title = _title(rows, metric, own, place)
        panel = panel_of(rows, lines, metric, own, table.margin, name, title, figure, addresses)
        shown = sum(bool(value.cell) for value in panel.rows[0].values)
        made.append(panel if panel.is_curve else replace(panel, height=charts.bars_height(shown)))
    return made


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


def panel_of(
    rows: Sequence[Row],
    lines: Sequence[VersionLine],
    metric: str,
    scale: ValueScale,
    margin: float,
    name: str,
    title: str,
    figure: Figure,
    addresses: PanelAddresses,
) -> Panel:
    """Return a panel whose table has a row for each thread count and a column for each line."""
    first, is_curve = rows[0], len(rows) > 1
    values = [
        PanelRow(
            "not said" if row.threads is None else numbers.count(row.threads),
            charts.values(row, lines, metric),
        )
        for row in rows
    ]
    runs = {value.cell.n for row in values for value in row.values if value.cell}
    return Panel(
        name=name,
        workload=first.workload,
        metric=metric,
        unit=first.unit,
        direction=first.direction,
        title=title,
        figure=figure,
        height=CURVE_HEIGHT if is_curve else charts.bars_height(len(lines)),
        is_curve=is_curve,
        lines=lines,
        rows=values,
        means=means_of(rows, lines) if is_curve else [],
        note=_note(values, runs, scale, margin, first.unit, has_base=any(row.base for row in rows)),
        margin=margin,
        says_n=len(runs) > 1,
        csv_url=addresses.csv(metric, first.workload),
        url=addresses.alone(metric, first.workload),
        hides_values=scale.hides_values,
    )


def _title(rows: Sequence[Row], metric: str, scale: ValueScale, place: str) -> str:
    """``oltp_read_only, transactions per second against threads, bench-03``."""
    is_curve = len(rows) > 1
    threads = "" if is_curve or rows[0].threads is None else threads_words(rows[0].threads)
    against = " against threads" if is_curve else ""
    relative = f" relative to {scale.relative_to}" if scale.relative_to else ""
    what = f"{numbers.metric_name(metric)}{against}{relative}"
    return ", ".join(filter(None, [rows[0].workload, threads, what, place]))


def _note(
    rows: Sequence[PanelRow],
    runs: set[int],
    scale: ValueScale,
    margin: float,
    unit: str,
    *,
    has_base: bool,
) -> str:
    """Explain the numbers of a table and their ±."""
    with_error = any(value.interval != (None, None) for row in rows for value in row.values)
    compared = [one for row in rows for value in row.values if (one := value.comparison)]
    if isinstance(unit, RelativeUnit):
        what = "Ratios with two decimals, and changes in whole per cent."
    elif scale.hides_values:
        is_own = all(map(verdict_words.is_within_a_session, compared))
        interval = "of the value within its session" if is_own else "of the ratio"
        what = f"Relative to {scale.relative_to}; ± is the 95 % interval {interval}."
    elif runs != {1}:
        of = f"{numbers.count(next(iter(runs)))} runs" if len(runs) == 1 else "n runs"
        sessions = {len(set(value.cell.sessions)) for row in rows for value in row.values if value.cell}
        interval = (
            "the scatter of the runs of one session" if sessions == {1} else "the 95 % interval of the level"
        )
        what = f"Medians of {of}; ± is {interval}."
    else:
        what = (
            "One run each; ± is the tool's own error." if with_error else "One run each: no error is known."
        )
    if not has_base:
        missing = f"{scale.relative_to} was" if scale.hides_values else f"{what} The reference was"
        return f"{missing} not measured here."
    return " ".join(filter(None, [what, verdict_words.note(compared, margin=margin)]))


def means_of(rows: Sequence[Row], lines: Sequence[VersionLine]) -> list[float | None]:
    """Return the geometric mean of each line's ratios over the rows, as a change; None for the base."""
    columns = iter(range(len(lines) - 1))
    ratios = [None if line.is_base else geometric_mean(rows, next(columns)) for line in lines]
    return [None if ratio is None else ratio - 1 for ratio in ratios]
