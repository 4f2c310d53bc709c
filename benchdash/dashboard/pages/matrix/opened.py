"""The opened workloads of a matrix: charts of their metrics, and what each curve says in figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from benchdash.accounts.models import Project
from benchdash.addresses import MatrixQuery, history_of, to_text
from benchdash.charts.figure import Figure
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import ValueScale, VersionLine
from benchdash.dashboard.compare.panels import Panel, PanelAddresses, panels
from benchdash.dashboard.compare.selection import ChosenColumns, is_log
from benchdash.dashboard.pages.matrix.chosen import ChosenMatrix
from benchdash.dashboard.pages.matrix.key_figures import FiguresTable, curve_of_line, figures_table
from benchdash.dashboard.pages.matrix.percentiles import MAX_TABLES, Histograms, PercentilesTable
from benchdash.dashboard.pages.matrix.selection import ALL, opened_rows, opens
from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison import latency
from benchdash.regressions.comparison.columns import (
    Column,
    are_versions_in_order,
)
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.results import metrics
from benchdash.results.readings import HIGHER

MAX_OPENED: Final = 12
"""Workloads that are opened at most: each has charts with their tables."""

MAX_SMALL: Final = 60
# Bars of more lines than these are too thin to stand beside each other.
_MAX_GROUPED_LINES: Final = 6
_MAX_GROUPS: Final = 12


@dataclass(frozen=True)
class OpenedRow:
    """The charts of one workload, by metric; ``figures`` where its throughput is a curve.

    ``percentiles`` stand in place of the charts where they are asked for and known.
    """

    workload: str
    key: str
    panels: Sequence[Panel]
    figures: FiguresTable | None
    history_url: str
    percentiles: PercentilesTable | None = None

    @property
    def throughput(self) -> Panel:
        """The panel that the figures are of."""
        return next(panel for panel in self.panels if panel.is_curve and panel.direction == HIGHER)


@dataclass(frozen=True)
class SmallCurve:
    """The curves of one workload on the axes of all; ``url`` opens its row."""

    key: str
    workload: str
    figure: Figure
    url: str


@dataclass(frozen=True)
class GroupedBars:
    """Workloads that were measured at one thread count, side by side in one chart."""

    title: str
    figure: Figure
    note: str


@dataclass(frozen=True)
class Opened:
    """The charts below a matrix: those of opened ``rows``, by workload, or of all on the same axes.

    ``metrics`` are those of the rows. ``curves`` are against threads; of workloads with one thread count
    ``bars`` stand beside each other, or ``sides`` have a chart each where they are many.
    ``all_url`` shows all or, where they are shown, none; ``left_out`` is how many beyond the most are not
    open. ``lacks_histograms``: the percentiles that are asked for are of none.
    """

    all_url: str
    is_all: bool = False
    lines: Sequence[VersionLine] = ()
    metrics: Sequence[str] = ()
    rows: Mapping[str, OpenedRow] = field(default_factory=dict)
    curves: Sequence[SmallCurve] = ()
    sides: Sequence[SmallCurve] = ()
    bars: Sequence[GroupedBars] = ()
    left_out: int = 0
    lacks_histograms: bool = False


@dataclass(frozen=True)
class _Drawing:
    """How the tables of a matrix are drawn.

    ``ids`` are those of workloads, ``open_url`` opens the row of one; ``place`` is what all titles end with.
    ``has_figures``: curves are told in figures, too.
    """

    lines: Sequence[VersionLine]
    scale: ValueScale
    place: str
    ids: Mapping[str, str]
    addresses: PanelAddresses
    open_url: Callable[[str], str]
    history: Callable[[str], str]
    has_figures: bool

    def row(self, workload: str, tables: Sequence[ComparisonTable[Column]]) -> OpenedRow:
        """Draw what the tables have of a workload."""
        key, made, figures = self.ids[workload], [], None
        for number, table in enumerate(tables):
            rows = tuple(row for row in table.rows if row.workload == workload)
            if not rows:
                continue
            made += panels(
                replace(table, rows=rows),
                self.lines,
                scale=self.scale,
                place=self.place,
                keys={workload: f"{key}-{number}"},
                addresses=self.addresses,
            )
            if self.has_figures and figures is None:
                figures = self._figures(rows, table.metric)
        return OpenedRow(workload, key, made, figures, self.history(workload) if self.has_figures else "")

    def _figures(self, rows: Sequence[Row], metric: str) -> FiguresTable | None:
        counted = [(row.threads, charts.values(row, self.lines, metric)) for row in rows if row.threads]
        found = [
            (line, curve_of_line({threads: values[index] for threads, values in counted}))
            for index, line in enumerate(self.lines)
        ]
        return figures_table([(line, curve) for line, curve in found if curve])

    def all(self, table: ComparisonTable[Column], opened: Opened) -> Opened:
        """Draw all workloads at a glance, in the order of the table."""
        by_workload = [list(rows) for _, rows in groupby(table.rows, key=lambda row: row.workload)]
        counted = [[row for row in rows if row.threads is not None] for rows in by_workload]
        single = [row for [row, *others] in by_workload if not others]
        drawn = replace(opened, curves=self._small([rows for rows in counted if len(rows) > 1], table.metric))
        if len(self.lines) > _MAX_GROUPED_LINES:
            return replace(drawn, sides=self._small([[row] for row in single], table.metric))
        alike: dict[tuple[str, str, int | None], list[Row]] = {}
        for row in single:
            alike.setdefault((row.unit, row.direction, row.threads), []).append(row)
        parts = [
            rows[begin : begin + _MAX_GROUPS]
            for rows in alike.values()
            for begin in range(0, len(rows), _MAX_GROUPS)
        ]
        return replace(drawn, bars=[self._bars(part, table.metric) for part in parts])

    def _small(self, tables: Sequence[Sequence[Row]], metric: str) -> list[SmallCurve]:
        shown = tables[:MAX_SMALL]
        figures = charts.multiples(shown, self.lines, metric, self.addresses.series)
        names = [rows[0].workload for rows in shown]
        return [
            SmallCurve(self.ids[name], name, figure, self.open_url(name))
            for name, figure in zip(names, figures, strict=True)
        ]

    def _bars(self, rows: Sequence[Row], metric: str) -> GroupedBars:
        threads = "" if rows[0].threads is None else numbers.counted(rows[0].threads, "thread")
        base = next(line.name for line in self.lines if line.is_base)
        return GroupedBars(
            title=", ".join(filter(None, [numbers.metric_name(metric), threads, self.place])),
            figure=charts.grouped_bars(rows, self.lines, metric, self.addresses.series),
            note=f"In the bars: per cent of {base}.",
        )


def opened_charts(
    project: Project,
    query: MatrixQuery,
    view: MatrixQuery,
    chosen: ChosenMatrix,
    ids: Mapping[str, str],
    *,
    relative: bool,
    adds: bool,
) -> Opened:
    """Draw the opened workloads; without any, in no statement."""
    is_all = ALL in view.open
    opened = Opened(query.url(project, open=opened_rows(view) if is_all else (ALL,)), is_all)
    table = chosen.source.table
    if table is None or not view.open:
        return opened
    lines = _lines(chosen)
    # A base from elsewhere may have workloads of its own.
    table = replace(table, rows=tuple(row for row in table.rows if row.workload in ids))
    measured = dict.fromkeys(row.workload for row in table.rows)
    wanted = [name for name in measured if opens(view, ids[name])]
    drawing = _Drawing(
        lines=lines,
        scale=_scale(view, lines),
        place=chosen.place,
        ids=ids,
        addresses=_addresses(project, query, chosen, ids),
        open_url=lambda name: query.url(project, open=(ids[name],)),
        history=chosen.history,
        has_figures=not relative,
    )
    has_percentiles = bool(view.charts) and chosen.columns is not None and not relative
    shown = [chosen.metric] if has_percentiles else _shown_metrics(query, chosen, adds=adds)
    opened = replace(
        opened,
        lines=lines,
        metrics=shown,
        rows=_rows(drawing, chosen, shown, wanted[:MAX_OPENED]),
        left_out=max(len(wanted) - MAX_OPENED, 0),
    )
    if has_percentiles:
        opened = _with_percentiles(project, query, chosen, opened)
    return drawing.all(table, opened) if is_all else opened


def _lines(chosen: ChosenMatrix) -> list[VersionLine]:
    source, columns = chosen.source, chosen.columns
    called = [head.name for head in source.heads]
    base = columns.chosen.index(columns.base) if columns and columns.base else 0
    called.insert(base, source.base.name)
    in_order = columns is None or are_versions_in_order(columns.chosen)
    return charts.lines(called, base=base, in_order=in_order)


def _scale(view: MatrixQuery, lines: Sequence[VersionLine]) -> ValueScale:
    base = next(line.name for line in lines if line.is_base)
    return ValueScale(relative_to=base if view.drawn else "", log=is_log(view.axis))


def _shown_metrics(query: MatrixQuery, chosen: ChosenMatrix, *, adds: bool) -> list[str]:
    """Return the metrics of opened rows: those of the address; beside a single one the other main one."""
    measured = chosen.measured.metrics
    asked = [metric for metric in query.metrics if metric in measured]
    if len(asked) > 1 or (asked and not adds):
        return asked
    main, *times = metrics.shown_at_first(measured)
    return [chosen.metric, *(times[-1:] if chosen.metric == main else [main])]


def _rows(
    drawing: _Drawing, chosen: ChosenMatrix, shown: Sequence[str], workloads: Sequence[str]
) -> dict[str, OpenedRow]:
    if not workloads:
        return {}
    again = [chosen.read(metric, workloads) for metric in shown if metric != chosen.metric]
    tables = [table for table in (chosen.source.table, *again) if table]
    tables.sort(key=lambda table: shown.index(table.metric))
    return {workload: drawing.row(workload, tables) for workload in workloads}


def _with_percentiles(project: Project, query: MatrixQuery, chosen: ChosenMatrix, opened: Opened) -> Opened:
    """Put percentiles in the place of the charts of rows that have histograms."""
    columns, fixed = chosen.columns or ChosenColumns(), replace(chosen.fixed(query), relative_to="base")

    def csv_url(row: latency.LatencyRowKey) -> str:
        of_row = replace(fixed, metrics=(), workloads=(row.workload,), threads=(to_text(row.threads),))
        return of_row.numbers(project, "latency", format="csv")

    histograms = Histograms(
        project=project,
        columns=columns,
        lines=opened.lines,
        rows=latency.sampled_rows(project, columns.chosen),
        threads=query.thread_counts,
        operation=query.operation,
        csv_url=csv_url,
        operation_url=lambda operation: query.url(project, operation=operation),
    )
    rows = {
        name: replace(row, percentiles=histograms.table(name) if number < MAX_TABLES else None)
        for number, (name, row) in enumerate(opened.rows.items())
    }
    return replace(opened, rows=rows, lacks_histograms=not any(row.percentiles for row in rows.values()))


def _addresses(
    project: Project, query: MatrixQuery, chosen: ChosenMatrix, ids: Mapping[str, str]
) -> PanelAddresses:
    fixed = chosen.fixed(query)

    def csv(metric: str, workload: str) -> str:
        if chosen.columns is None:
            return ""
        of_row = replace(fixed, metrics=(metric,), workloads=(workload,))
        return of_row.numbers(project, "compare", format="csv")

    def alone(metric: str, workload: str) -> str:
        only = (ids[workload],)
        return fixed.url(project, metrics=(metric,), workloads=only, open=only)

    return PanelAddresses(series=lambda pk: history_of(pk).url(project), csv=csv, alone=alone)
