"""The panels of the page about one setting: a chart for each workload, with the table that says the same."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from benchdash.dashboard import numbers, verdict_words
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import Line, Scale, Value
from benchdash.dashboard.charts.sweep import against_values, thread_lines
from benchdash.dashboard.panels import TableRow, curves_and_bars, means_of, note_of
from benchdash.dashboard.series_words import threads_words
from benchdash.regressions.rows import Row
from benchdash.regressions.sweeps.table import SweepTable
from benchdash.regressions.sweeps.values import positions

_HEIGHT: Final = 340


@dataclass(frozen=True)
class SweepRow:
    """A row of a table. ``mean`` is the geometric mean of its changes, where a row is a value."""

    name: str
    values: Sequence[Value]
    mean: float | None = None


@dataclass(frozen=True)
class SweepPanel:
    """``corner`` says what the rows of the table are, ``heads`` are its columns, which are the lines of the
    chart. Geometric means over the thread counts stand in a column, or where columns are values in a row,
    ``means``. ``name`` is its own on the page.
    """

    name: str
    workload: str
    metric: str
    unit: str
    direction: str
    title: str
    figure: Figure
    height: int
    corner: str
    is_over_values: bool
    heads: Sequence[Line]
    rows: Sequence[SweepRow]
    means: Sequence[float | None]
    note: str
    says_n: bool
    csv_url: str
    url: str
    hides_values: bool


@dataclass(frozen=True)
class Look:
    """How the panels of a page are drawn. ``x`` is ``value`` or ``threads``; empty: as the values need it.

    ``place`` is what all titles end with.
    """

    lines: Sequence[Line]
    scale: Scale
    x: str
    setting: str
    place: str


@dataclass(frozen=True)
class Addresses:
    """Where a panel leads to: the history of a series, its numbers, and itself alone, for a workload."""

    series: Callable[[int], str]
    csv: Callable[[str], str]
    alone: Callable[[str], str]


def sweep_panels(
    table: SweepTable, look: Look, *, names: Mapping[str, str], addresses: Addresses
) -> list[SweepPanel]:
    """By workload; ``names`` are short names of workloads for the page. Those without one get no panel."""
    made = []
    for workload, found in groupby(table.rows, key=lambda row: row.workload):
        if key := names.get(workload):
            for number, rows in enumerate(_together(list(found), look)):
                name = f"{key}-{number}" if number else key
                made.append(_panel(table, rows, look, name, addresses))
    return made


def _together(rows: Sequence[Row], look: Look) -> Iterator[Sequence[Row]]:
    """Over the values all thread counts stand together, known or not."""
    if look.x == "value":
        yield rows
    else:
        yield from curves_and_bars(rows)


def _panel(table: SweepTable, rows: Sequence[Row], look: Look, name: str, addresses: Addresses) -> SweepPanel:
    has_base = any(row.base for row in rows)
    if not has_base and not look.scale.hides_values:
        look = replace(look, scale=replace(look.scale, relative_to=""))
    over_values = look.x == "value" or (len(rows) == 1 and _is_on_an_axis(table))
    cells = [charts.values(row, look.lines) for row in rows]
    in_columns = [TableRow(row.threads, values) for row, values in zip(rows, cells, strict=True)]
    means = means_of(rows, look.lines)
    runs = {value.cell.n for values in cells for value in values if value.cell}
    return SweepPanel(
        name=name,
        workload=rows[0].workload,
        metric=table.metric,
        unit=rows[0].unit,
        direction=rows[0].direction,
        title=_title(rows, table.metric, look, over_values=over_values),
        figure=_figure(table, rows, look, addresses.series, over_values=over_values),
        height=_HEIGHT if over_values or len(rows) > 1 else charts.bars_height(len(look.lines)),
        is_over_values=over_values,
        corner=look.setting if over_values else "threads",
        heads=thread_lines(rows) if over_values else look.lines,
        rows=_rows_of_values(cells, look.lines, means) if over_values else _rows_of_threads(rows, cells),
        means=means if not over_values and len(rows) > 1 else [],
        note=_note(in_columns, runs, look, has_base=has_base, margin=table.margin),
        says_n=len(runs) > 1,
        csv_url=addresses.csv(rows[0].workload),
        url=addresses.alone(rows[0].workload),
        hides_values=look.scale.hides_values,
    )


def _is_on_an_axis(table: SweepTable) -> bool:
    """Whether the values are numbers that lie apart as they are."""
    return positions([point.value for point in table.sweep.points])[1] != "even"


def _figure(
    table: SweepTable, rows: Sequence[Row], look: Look, link: Callable[[int], str], *, over_values: bool
) -> Figure:
    if over_values:
        return against_values(
            rows,
            look.lines,
            [point.value for point in table.sweep.points],
            setting=look.setting,
            metric=table.metric,
            scale=look.scale,
            link=link,
        )
    if len(rows) > 1:
        return charts.against_threads(rows, look.lines, table.metric, look.scale, link)
    return charts.bars(rows[0], look.lines, table.metric, look.scale, link)


def _rows_of_values(
    cells: Sequence[Sequence[Value]], lines: Sequence[Line], means: Sequence[float | None]
) -> list[SweepRow]:
    return [
        SweepRow(line.name, [values[index] for values in cells], mean)
        for index, (line, mean) in enumerate(zip(lines, means, strict=True))
    ]


def _rows_of_threads(rows: Sequence[Row], cells: Sequence[Sequence[Value]]) -> list[SweepRow]:
    names = ["not said" if row.threads is None else numbers.count(row.threads) for row in rows]
    return [SweepRow(name, values) for name, values in zip(names, cells, strict=True)]


def _title(rows: Sequence[Row], metric: str, look: Look, *, over_values: bool) -> str:
    """``oltp_read_only, transactions per second against innodb_buffer_pool_size, MariaDB 10.11.19, box``."""
    threads = "" if len(rows) > 1 or rows[0].threads is None else threads_words(rows[0].threads)
    against = look.setting if over_values or len(rows) == 1 else "threads"
    relative = f" relative to {look.scale.relative_to}" if look.scale.relative_to else ""
    by = f" by {look.setting}" if against == "threads" else ""
    what = f"{numbers.metric_name(metric)} against {against}{by}{relative}"
    return ", ".join(filter(None, [rows[0].workload, threads, what, look.place]))


def _note(rows: Sequence[TableRow], runs: set[int], look: Look, *, has_base: bool, margin: float) -> str:
    if not look.scale.hides_values:
        return note_of(rows, runs, has_base=has_base, margin=margin)
    if not has_base:
        return f"{look.scale.relative_to} was not measured here."
    compared = [one for row in rows for value in row.values if (one := value.comparison)]
    judged = verdict_words.note(compared, margin=margin)
    what = f"Relative to {look.scale.relative_to}; ± is the 95 % interval of the ratio."
    return " ".join(filter(None, [what, judged]))
