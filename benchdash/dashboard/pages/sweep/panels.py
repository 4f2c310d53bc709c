"""The panels of the page about one setting: a chart for each workload, with the table that says the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts import verdict_words
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import ValueScale, VersionLine
from benchdash.dashboard.compare import panels as shared
from benchdash.dashboard.compare.panels import Panel, PanelAddresses, PanelRow
from benchdash.dashboard.pages.sweep.figure import against_values, thread_lines
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.sweeps.table import SweepTable
from benchdash.regressions.sweeps.values import positions


@dataclass(frozen=True)
class SweepLook:
    """How the panels of a page are drawn. ``x`` is ``value`` or ``threads``; empty: as the values need it.

    ``place`` is what all titles end with.
    """

    lines: Sequence[VersionLine]
    scale: ValueScale
    x: str
    setting: str
    place: str


def sweep_panels(
    table: SweepTable, look: SweepLook, *, keys: Mapping[str, str], addresses: PanelAddresses
) -> list[Panel]:
    """Return the panels by workload; ``keys`` are short names, and workloads without one get no panel.

    The lines of a panel are the columns of its table. Means over the thread counts stand in a column, or
    where columns are values in a row.
    """

    def parts(rows: Sequence[Row]) -> Iterable[Sequence[Row]]:
        # Over the values all thread counts stand together, known or not.
        return [rows] if look.x == "value" else shared.curves_and_bars(rows)

    return [
        _panel(table, rows, look, name, addresses)
        for name, rows in shared.named_parts(table.rows, keys, parts)
    ]


def _panel(
    table: SweepTable, rows: Sequence[Row], look: SweepLook, name: str, addresses: PanelAddresses
) -> Panel:
    has_base = any(row.base for row in rows)
    if not has_base and not look.scale.hides_values:
        look = replace(look, scale=replace(look.scale, relative_to=""))
    _, spacing = positions([point.value for point in table.sweep.points])
    over_values = look.x == "value" or (len(rows) == 1 and spacing != "even")
    cells = [charts.values(row, look.lines) for row in rows]
    in_columns = [
        PanelRow(row.threads, values, "not said" if row.threads is None else numbers.count(row.threads))
        for row, values in zip(rows, cells, strict=True)
    ]
    means = shared.means_of(rows, look.lines)
    in_rows = [
        PanelRow(None, column, line.name, mean)
        for line, mean, *column in zip(look.lines, means, *cells, strict=True)
    ]
    runs = {value.cell.n for values in cells for value in values if value.cell}
    is_curve = over_values or len(rows) > 1
    return Panel(
        name=name,
        workload=rows[0].workload,
        metric=table.metric,
        unit=rows[0].unit,
        direction=rows[0].direction,
        title=_title(rows, table.metric, look, over_values=over_values),
        figure=_figure(table, rows, look, addresses.series, over_values=over_values),
        height=shared.CURVE_HEIGHT if is_curve else charts.bars_height(len(look.lines)),
        is_curve=is_curve,
        is_over_values=over_values,
        corner=look.setting if over_values else "threads",
        lines=thread_lines(rows) if over_values else look.lines,
        rows=in_rows if over_values else in_columns,
        means=means if not over_values and len(rows) > 1 else [],
        note=_note(in_columns, runs, look, has_base=has_base, margin=table.margin),
        says_n=len(runs) > 1,
        csv_url=addresses.csv(table.metric, rows[0].workload),
        url=addresses.alone(table.metric, rows[0].workload),
        hides_values=look.scale.hides_values,
    )


def _figure(
    table: SweepTable, rows: Sequence[Row], look: SweepLook, link: Callable[[int], str], *, over_values: bool
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


def _title(rows: Sequence[Row], metric: str, look: SweepLook, *, over_values: bool) -> str:
    """``oltp_read_only, transactions per second against innodb_buffer_pool_size, MariaDB 10.11.19, box``."""
    threads = "" if len(rows) > 1 or rows[0].threads is None else threads_words(rows[0].threads)
    against = look.setting if over_values or len(rows) == 1 else "threads"
    relative = f" relative to {look.scale.relative_to}" if look.scale.relative_to else ""
    by = f" by {look.setting}" if against == "threads" else ""
    what = f"{numbers.metric_name(metric)} against {against}{by}{relative}"
    return ", ".join(filter(None, [rows[0].workload, threads, what, look.place]))


def _note(rows: Sequence[PanelRow], runs: set[int], look: SweepLook, *, has_base: bool, margin: float) -> str:
    if not look.scale.hides_values:
        return shared.note_of(rows, runs, has_base=has_base, margin=margin)
    if not has_base:
        return f"{look.scale.relative_to} was not measured here."
    compared = [one for row in rows for value in row.values if (one := value.comparison)]
    judged = verdict_words.note(compared, margin=margin)
    what = f"Relative to {look.scale.relative_to}; ± is the 95 % interval of the ratio."
    return " ".join(filter(None, [what, judged]))
