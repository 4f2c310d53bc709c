"""Scaling curves: throughput and response time against threads, and what each curve says in figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import path, reverse

from benchdash.accounts.models import Project
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import Value, ValueScale, VersionLine
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare import tables as compared
from benchdash.dashboard.compare.folding import MIN_FOLDED, Fold, fold_of, strength
from benchdash.dashboard.compare.panels import Panel, panels
from benchdash.dashboard.compare.selection import read_columns, workload_ids
from benchdash.dashboard.compare.versions import available_columns
from benchdash.dashboard.pages.curves import figure as curve_charts
from benchdash.dashboard.pages.curves.figure import CurvesLook
from benchdash.dashboard.pages.curves.key_figures import FiguresTable, curve_of_line, figures_table
from benchdash.dashboard.pages.curves.selection import (
    PLANE,
    CurvesPresentation,
    CurvesSelection,
    curves_switches,
    read_curves_choice,
    scale_up_filters,
)
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.dashboard.shell.switches import checks
from benchdash.regressions.comparison.columns import Column, contents_of, names
from benchdash.regressions.comparison.comparability import doubts, single_sessions
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.verdicts import of_cell, of_row
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.regressions.detection.compare import Comparison
from benchdash.results import metrics
from benchdash.results.readings import DERIVED, HIGHER, LOWER

# Maximum number of charts on a page, whatever is chosen.
_MAX_CHARTS: Final = 24
_PLANE_HEIGHT: Final = 420
_PEAK_THREADS: Final = "curve_peak_threads"


@dataclass(frozen=True)
class Plane:
    """Response time against throughput, with the table that says the same.

    ``rows`` are thread counts with the throughput and response time of each line.
    """

    name: str
    title: str
    throughput: str
    response_time: str
    figure: Figure
    lines: Sequence[VersionLine]
    rows: Sequence[tuple[int, Sequence[tuple[Value, Value]]]]
    url: str
    height: int = _PLANE_HEIGHT


@dataclass(frozen=True)
class CurveFigures:
    """The key figures of the curves of one workload. ``history_url`` leads to the history of their peaks."""

    workload: str
    table: FiguresTable
    metric: str
    unit: str
    csv_url: str
    history_url: str


@dataclass(frozen=True)
class CurvesSection:
    """All of one workload; ``figures`` where throughput was measured."""

    workload: str
    key: str
    panels: Sequence[Panel]
    planes: Sequence[Plane]
    figures: CurveFigures | None


def curves_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {}
    choice = read_curves_choice(request.GET, read_columns(request.GET, available, page.project))
    context = {"kept": choice.view.look, **compared.choosing(request, choice, available)}
    if choice.columns.base:
        context |= _compared(request, page, choice, choice.columns.base)
    return context


def _compared(
    request: HttpRequest, page: ProjectPage, choice: CurvesSelection, base: Column
) -> dict[str, Any]:
    chosen = choice.columns.chosen
    everything = contents_of(page.project, chosen)
    choice = replace(choice, workloads=workload_ids(choice.workloads, everything.workloads))
    # Without what nobody said the threads of, and without what is derived of whole curves.
    measured = everything._replace(
        metrics={metric: one for metric, one in everything.metrics.items() if metric not in DERIVED},
        threads=[count for count in everything.threads if count is not None],
    )
    asked = [metric for metric in metrics.in_order(measured.metrics) if metric in choice.metrics]
    wanted = asked or metrics.shown_at_first(measured.metrics)
    workloads = [name for pk, name in measured.workloads.items() if str(pk) in choice.workloads]
    tables = _with_curves(compared.tables_of(page, choice, base, workloads, wanted))
    if page.is_relative:
        # Neither a plane nor the figures of a curve mean anything for ratios.
        choice = replace(choice, view=replace(choice.view, shows="", values="", fit=False))
    called = names(chosen)
    lines = compared.lines_of(choice.columns)
    shown = [table.metric for table in tables] or asked
    switches = curves_switches(request.path, choice)
    context = {
        "filters": [
            *controls.choice_filters(choice, measured, shown, called),
            *scale_up_filters(choice, measured.threads),
            *checks(switches),
        ],
        "chips": controls.chips(request.path, choice, lines),
        "switches": switches,
        "is_plane": choice.view.shows == PLANE,
        "has_history": _PEAK_THREADS in everything.metrics,
    }
    if not tables:
        is_narrowed = choice.workloads or choice.threads
        whole_url = choice.address(request.path, workload="", threads="") if is_narrowed else ""
        return {**context, "whole_url": whole_url}
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    found = _most_changed_first(tables)
    pages = Paginator(found, max(1, _MAX_CHARTS // len(tables))).get_page(request.GET.get("page"))
    drawing = _Drawing(request.path, page.project, choice, lines, has_figures=not page.is_relative)
    named = list(zip(chosen, called, strict=True))
    # Who chooses workloads wants to see them.
    of_page = list(pages.object_list)
    opened, fold = (of_page, None) if workloads else _folded(of_page)
    return {
        **context,
        "doubts": doubts(tables, named, base, for_others=page.is_relative),
        "headline": single_sessions(tables, named).headline,
        "fixed_url": choice.address(request.path, metric=shown),
        "lines": lines,
        "sections": [drawing.section(tables, one.workload, ids[one.workload]) for one in opened],
        "folded": [
            drawing.section(tables, one.workload, ids[one.workload]) for one in of_page if one not in opened
        ],
        "fold": fold,
        "nothing_changed": fold is not None and not any(one.has_changed for one in of_page),
        "pages": pages,
    }


def _with_curves(tables: Sequence[ComparisonTable]) -> list[ComparisonTable]:
    """Keep the workloads of which any metric has several thread counts."""
    counted = [replace(table, rows=tuple(row for row in table.rows if row.threads)) for table in tables]
    counts = [Counter(row.workload for row in table.rows) for table in counted]
    several = {workload for of_table in counts for workload, count in of_table.items() if count > 1}
    kept = [
        replace(table, rows=tuple(row for row in table.rows if row.workload in several)) for table in counted
    ]
    return [table for table in kept if table.rows]


@dataclass(frozen=True)
class _Changes:
    """The changes of a workload in all its metrics and thread counts."""

    workload: str
    comparisons: Sequence[Comparison]

    @property
    def verdict(self) -> str:
        return of_row(map(of_cell, self.comparisons))

    @property
    def strength(self) -> int:
        return min((strength(one.verdict) for one in self.comparisons), default=2)

    @property
    def has_changed(self) -> bool:
        return self.strength < 2

    @property
    def rank(self) -> tuple[int, float, str]:
        """The key that puts differences first, the largest before all, and then the likely ones."""
        own = [one for one in self.comparisons if strength(one.verdict) == self.strength < 2]
        largest = max((abs(log(one.ratio)) for one in own if one.ratio), default=0.0)
        return self.strength, -largest, self.workload


def _most_changed_first(tables: Sequence[ComparisonTable]) -> list[_Changes]:
    found: dict[str, list[Comparison]] = {}
    for row in (row for table in tables for row in table.rows):
        found.setdefault(row.workload, []).extend(filter(None, row.comparisons))
    changes = [_Changes(workload, comparisons) for workload, comparisons in found.items()]
    return sorted(changes, key=lambda one: one.rank)


def _folded(found: Sequence[_Changes]) -> tuple[Sequence[_Changes], Fold | None]:
    """Return the workloads that stand open, and the line for the others; the first is always open."""
    opened = [one for one in found if one.has_changed] or found[:1]
    others = [one for one in found if one not in opened]
    if len(others) < MIN_FOLDED or not any(one.comparisons for one in found):
        return found, None
    comparisons = [one for other in found for one in other.comparisons]
    are_all = not any(one.has_changed for one in found)
    return opened, fold_of([one.verdict for one in others], comparisons, what="workload", are_all=are_all)


def _by_line(
    rows: Sequence[Row], lines: Sequence[VersionLine], metric: str
) -> list[tuple[VersionLine, dict[int, Value]]]:
    """Return the values of each line by thread count."""
    table = [(row.threads or 0, charts.values(row, lines, metric)) for row in rows]
    return [(line, {threads: values[index] for threads, values in table}) for index, line in enumerate(lines)]


@dataclass(frozen=True)
class _Drawing:
    """Draw what was chosen, workload by workload; ``path`` is the address of the page.

    ``has_figures``: with the key figures of each curve.
    """

    path: str
    project: Project
    choice: CurvesSelection
    lines: Sequence[VersionLine]
    has_figures: bool = True

    def section(self, tables: Sequence[ComparisonTable], workload: str, key: str) -> CurvesSection:
        """``key`` is short for the workload."""
        named = {
            f"{key}-{number}": replace(
                table, rows=tuple(row for row in table.rows if row.workload == workload)
            )
            for number, table in enumerate(tables)
        }
        named = {name: table for name, table in named.items() if table.rows}
        throughput = next((table for table in named.values() if table.rows[0].direction == HIGHER), None)
        panels, planes = [], []
        for name, table in named.items():
            if self.choice.view.shows != PLANE:
                panels.append(self.panel(table, name, key))
            elif throughput and table.rows[0].direction == LOWER:
                planes.append(self.plane(throughput, table, name, key))
        figures = self.figures(throughput) if throughput and self.has_figures else None
        return CurvesSection(workload, key, panels, planes, figures)

    def figures(self, throughput: ComparisonTable) -> CurveFigures | None:
        view, rows = self.choice.view, throughput.rows
        found = [
            (line, curve_of_line(values)) for line, values in _by_line(rows, self.lines, throughput.metric)
        ]
        table = figures_table(
            [(line, curve) for line, curve in found if curve], before=view.before, after=view.after
        )
        if table is None:
            return None
        columns = self.choice.columns
        measured = tuple(one for one, (_, curve) in zip(columns.chosen, found, strict=True) if curve)
        choice = replace(self.choice, columns=replace(columns, chosen=measured, base=measured[0]))
        query = compared.queries_of_api(self.project, choice)(throughput.metric, rows[0].workload)
        counts = urlencode(
            {name: count for name, count in (("from", view.before), ("to", view.after)) if count}
        )
        return CurveFigures(
            workload=rows[0].workload,
            table=table,
            metric=throughput.metric,
            unit=rows[0].unit,
            history_url=page_url("history", self.project, workload=rows[0].workload, metric=_PEAK_THREADS),
            csv_url=f"{reverse('api:curves')}?{'&'.join(filter(None, [query, counts]))}",
        )

    def panel(self, table: ComparisonTable, name: str, key: str) -> Panel:
        workload, view = table.rows[0].workload, self.choice.view
        if view.values == "relative" and not any(row.base for row in table.rows):
            view = replace(view, values="")
        addresses = compared.addresses_of(self.path, self.project, self.choice, {workload: key})

        def draw(rows: Sequence[Row], lines: Sequence[VersionLine], metric: str) -> Figure:
            curves = [
                curve_charts.DrawnCurve(line, values, _fit(values) if view.fit else None)
                for line, values in _by_line(rows, lines, metric)
            ]
            return curve_charts.against_threads(
                curves,
                metric=metric,
                unit=rows[0].unit,
                direction=rows[0].direction,
                look=self.look(view),
                link=addresses.series,
            )

        [panel] = panels(
            table,
            self.lines,
            scale=ValueScale(),
            place=self.choice.columns.machine,
            keys={workload: name},
            addresses=addresses,
            draw_curve=draw,
        )
        relative = {"relative": f" relative to {self.base}", "own": " relative to its own first point"}
        what = f"{numbers.metric_name(table.metric)} against threads{relative.get(view.values, '')}"
        return replace(panel, title=self.title(workload, what)) if panel.is_curve else panel

    def plane(
        self, throughput: ComparisonTable, response_time: ComparisonTable, name: str, key: str
    ) -> Plane:
        firsts, seconds = (_by_line(one.rows, self.lines, one.metric) for one in (throughput, response_time))
        history = page_url("history", self.project)
        figure = curve_charts.plane(
            [
                (curve_charts.DrawnCurve(line, xs), curve_charts.DrawnCurve(line, ys))
                for (line, xs), (_, ys) in zip(firsts, seconds, strict=True)
            ],
            throughput=_named(throughput),
            response_time=_named(response_time),
            look=self.look(self.choice.view),
            link=lambda pk: f"{history}?series={pk}",
        )
        counts = [{row.threads or 0 for row in table.rows} for table in (throughput, response_time)]
        what = " against ".join(numbers.metric_name(one.metric) for one in (response_time, throughput))
        return Plane(
            name=name,
            throughput=numbers.short_metric_name(throughput.metric),
            response_time=numbers.short_metric_name(response_time.metric),
            title=self.title(throughput.rows[0].workload, what),
            figure=figure,
            lines=self.lines,
            rows=[
                (count, [(xs[count], ys[count]) for (_, xs), (_, ys) in zip(firsts, seconds, strict=True)])
                for count in sorted(counts[0] & counts[1])
            ],
            url=self.choice.address(
                self.path, metric=[throughput.metric, response_time.metric], workload=key
            ),
        )

    @property
    def base(self) -> str:
        return next(line.name for line in self.lines if line.is_base)

    def look(self, view: CurvesPresentation) -> CurvesLook:
        return CurvesLook(
            values=view.values or "absolute",
            relative_to=self.base,
            log=view.log,
            linear_threads=view.threads_axis == "linear",
            repeats=view.repeats or "bars",
        )

    def title(self, workload: str, what: str) -> str:
        """``oltp_read_only, transactions per second against threads, bench-03``."""
        return ", ".join(filter(None, [workload, what, self.choice.columns.machine]))


def _fit(values: Mapping[int, Value]) -> curve_charts.Fit | None:
    curve = curve_of_line(values)
    return curve.scalability.throughput if curve and curve.scalability else None


def _named(table: ComparisonTable) -> tuple[str, str, str]:
    return table.metric, table.rows[0].unit, table.rows[0].direction


urlpatterns = [
    path(
        "compare/curves/", content_page("dashboard/curves.html", curves_context, relative=True), name="curves"
    )
]
