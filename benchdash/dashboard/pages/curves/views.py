"""Scaling curves: throughput and response time against threads, and what each curve says in figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.urls import path, reverse

from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import Value, ValueScale, VersionLine
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare.panels import DrawCurve, Panel, PanelAddresses, panels
from benchdash.dashboard.compare.selection import read_columns, workload_ids
from benchdash.dashboard.compare.tables import (
    addresses_of,
    choosing,
    chosen_workloads,
    lines_of,
    queries_of_api,
    tables_of,
)
from benchdash.dashboard.compare.versions import available_columns
from benchdash.dashboard.pages.curves import figure as curve_charts
from benchdash.dashboard.pages.curves.figure import CurvesLook
from benchdash.dashboard.pages.curves.key_figures import FiguresTable, curve_of_line, figures_table
from benchdash.dashboard.pages.curves.selection import (
    PLANE,
    CurvesSelection,
    curves_switches,
    read_curves_choice,
    scale_up_filters,
    without_reference,
)
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.regressions.comparison.columns import Column, ColumnContents, contents_of, names
from benchdash.regressions.comparison.comparability import doubts
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.results import metrics
from benchdash.results.readings import DERIVED, HIGHER, LOWER

# So many charts on a page at most, whatever is chosen.
_MAX_CHARTS: Final = 24
_PLANE_HEIGHT: Final = 420
_PEAK_THREADS: Final = "curve_peak_threads"


@dataclass(frozen=True)
class PlaneRow:
    """Throughput and response time of each line at one thread count."""

    threads: int
    pairs: Sequence[tuple[Value, Value]]


@dataclass(frozen=True)
class Plane:
    """Response time against throughput, with the table that says the same."""

    name: str
    title: str
    throughput: str
    response_time: str
    figure: Figure
    lines: Sequence[VersionLine]
    rows: Sequence[PlaneRow]
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
        return {"command": upload_command()}
    choice = read_curves_choice(request.GET, read_columns(request.GET, available, page.project))
    context = {"kept": choice.view.look, **choosing(request, choice, available)}
    if choice.columns.base:
        context |= _compared(request, page, choice, choice.columns.base)
    return context


def _compared(
    request: HttpRequest, page: ProjectPage, choice: CurvesSelection, base: Column
) -> dict[str, Any]:
    chosen = choice.columns.chosen
    everything = contents_of(page.project, chosen)
    choice = replace(choice, workloads=workload_ids(choice.workloads, everything.workloads))
    measured = _at_thread_counts(everything)
    known = metrics.in_order(measured.metrics)
    asked = [metric for metric in known if metric in choice.metrics]
    counts = [count for count in measured.threads if count is not None]
    shown_first = metrics.shown_at_first(measured.metrics)
    workloads = chosen_workloads(choice, measured)
    tables = _with_curves(tables_of(page.project, choice, base, workloads, asked or shown_first))
    called = names(chosen)
    lines = lines_of(choice.columns)
    shown = [table.metric for table in tables] or asked
    context = {
        "filters": [
            *controls.choice_filters(choice, measured, shown, called),
            *scale_up_filters(choice, counts),
        ],
        "chips": controls.chips(request.path, choice, lines),
        "switches": curves_switches(request.path, choice),
        "is_plane": choice.view.shows == PLANE,
        "has_history": _PEAK_THREADS in everything.metrics,
    }
    if not tables:
        return {**context, "whole_url": choice.address(request.path, workload="", threads="")}
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    pages = _pages(request, tables)
    return {
        **context,
        "doubts": doubts(tables, list(zip(chosen, called, strict=True)), base),
        "fixed_url": choice.address(request.path, metric=shown),
        "lines": lines,
        "sections": [
            _section(request.path, page, choice, tables, lines, workload, ids[workload])
            for workload in pages.object_list
        ],
        "pages": pages,
    }


def _at_thread_counts(measured: ColumnContents) -> ColumnContents:
    """Without what nobody said the threads of, and without what is derived of whole curves."""
    return measured._replace(
        metrics={metric: number for metric, number in measured.metrics.items() if metric not in DERIVED},
        threads=[count for count in measured.threads if count is not None],
    )


def _with_curves(tables: Sequence[ComparisonTable]) -> list[ComparisonTable]:
    """The workloads of which a metric has several thread counts, with what their other metrics have."""
    counted = [replace(table, rows=tuple(row for row in table.rows if row.threads)) for table in tables]
    numbers_of = [Counter(row.workload for row in table.rows) for table in counted]
    several = {workload for of_table in numbers_of for workload, number in of_table.items() if number > 1}
    kept = [
        replace(table, rows=tuple(row for row in table.rows if row.workload in several)) for table in counted
    ]
    return [table for table in kept if table.rows]


def _pages(request: HttpRequest, tables: Sequence[ComparisonTable]) -> Page[str]:
    """Names of workloads, as many on a page as its charts allow."""
    found = sorted({row.workload for table in tables for row in table.rows})
    return Paginator(found, max(1, _MAX_CHARTS // len(tables))).get_page(request.GET.get("page"))


def _section(
    path: str,
    page: ProjectPage,
    choice: CurvesSelection,
    tables: Sequence[ComparisonTable],
    lines: Sequence[VersionLine],
    workload: str,
    key: str,
) -> CurvesSection:
    of_workload = [
        (number, replace(table, rows=tuple(row for row in table.rows if row.workload == workload)))
        for number, table in enumerate(tables)
    ]
    of_workload = [(number, table) for number, table in of_workload if table.rows]
    throughput = next((table for _, table in of_workload if table.rows[0].direction == HIGHER), None)
    is_plane = choice.view.shows == PLANE
    return CurvesSection(
        workload=workload,
        key=key,
        panels=[] if is_plane else _panels(path, page, choice, of_workload, lines, workload, key),
        planes=_planes(path, page, choice, throughput, of_workload, lines, key) if is_plane else [],
        figures=_figures(page, choice, throughput, lines) if throughput else None,
    )


def _figures(
    page: ProjectPage, choice: CurvesSelection, throughput: ComparisonTable, lines: Sequence[VersionLine]
) -> CurveFigures | None:
    view, rows = choice.view, throughput.rows
    found = [(line, curve_of_line(values)) for line, values in _by_line(rows, lines)]
    table = figures_table(
        [(line, curve) for line, curve in found if curve], before=view.before, after=view.after
    )
    if table is None:
        return None
    with_curve = [column for column, (_, curve) in zip(choice.columns.chosen, found, strict=True) if curve]
    columns = replace(choice.columns, chosen=tuple(with_curve), base=with_curve[0])
    query = queries_of_api(page.project, replace(choice, columns=columns))(
        throughput.metric, rows[0].workload
    )
    counts = urlencode({name: count for name, count in (("from", view.before), ("to", view.after)) if count})
    return CurveFigures(
        workload=rows[0].workload,
        table=table,
        metric=throughput.metric,
        unit=rows[0].unit,
        history_url=page_url("history", page.project, workload=rows[0].workload, metric=_PEAK_THREADS),
        csv_url=f"{reverse('api:curves')}?{'&'.join(filter(None, [query, counts]))}",
    )


def _by_line(rows: Sequence[Row], lines: Sequence[VersionLine]) -> list[tuple[VersionLine, dict[int, Value]]]:
    """Return the values of each line by thread count."""
    table = [(row.threads or 0, charts.values(row, lines)) for row in rows]
    return [(line, {threads: values[index] for threads, values in table}) for index, line in enumerate(lines)]


# --- against threads --------------------------------------------------------------------------------------


def _panels(
    path: str,
    page: ProjectPage,
    choice: CurvesSelection,
    tables: Sequence[tuple[int, ComparisonTable]],
    lines: Sequence[VersionLine],
    workload: str,
    key: str,
) -> list[Panel]:
    addresses = addresses_of(path, page.project, choice, {workload: key})
    made = []
    for number, table in tables:
        own = choice
        if not any(row.base for row in table.rows) and choice.view.values == "relative":
            own = without_reference(choice)
        [panel] = panels(
            table,
            lines,
            scale=ValueScale(),
            place=choice.columns.machine,
            keys={workload: f"{key}-{number}"},
            addresses=addresses,
            draw_curve=_drawing(_look(own, lines), own, addresses),
        )
        made.append(replace(panel, title=_title(table, own, lines)) if panel.is_curve else panel)
    return made


def _drawing(look: CurvesLook, choice: CurvesSelection, addresses: PanelAddresses) -> DrawCurve:
    def draw(rows: Sequence[Row], lines: Sequence[VersionLine], metric: str) -> Figure:
        curves = [
            curve_charts.DrawnCurve(line, values, _fit(values) if choice.view.fit else None)
            for line, values in _by_line(rows, lines)
        ]
        return curve_charts.against_threads(
            curves,
            metric=metric,
            unit=rows[0].unit,
            direction=rows[0].direction,
            look=look,
            link=addresses.series,
        )

    return draw


def _fit(values: Mapping[int, Value]) -> curve_charts.Fit | None:
    curve = curve_of_line(values)
    return curve.scalability.throughput if curve and curve.scalability else None


def _look(choice: CurvesSelection, lines: Sequence[VersionLine]) -> CurvesLook:
    view = choice.view
    return CurvesLook(
        values="relative" if view.values == "relative" else "own" if view.values == "own" else "absolute",
        relative_to=next(line.name for line in lines if line.is_base),
        log=view.log,
        linear_threads=view.threads_axis == "linear",
        repeats="band" if view.repeats == "band" else "none" if view.repeats == "none" else "bars",
    )


def _title(table: ComparisonTable, choice: CurvesSelection, lines: Sequence[VersionLine]) -> str:
    """``oltp_read_only, transactions per second against threads, bench-03``."""
    relative = {
        "relative": f" relative to {next(line.name for line in lines if line.is_base)}",
        "own": " relative to its own first point",
    }.get(choice.view.values, "")
    what = f"{numbers.metric_name(table.metric)} against threads{relative}"
    return ", ".join(filter(None, [table.rows[0].workload, what, choice.columns.machine]))


# --- response time against throughput ---------------------------------------------------------------------


def _planes(
    path: str,
    page: ProjectPage,
    choice: CurvesSelection,
    throughput: ComparisonTable | None,
    tables: Sequence[tuple[int, ComparisonTable]],
    lines: Sequence[VersionLine],
    key: str,
) -> list[Plane]:
    if throughput is None:
        return []
    return [
        _plane(path, page, choice, throughput, table, lines, f"{key}-{number}")
        for number, table in tables
        if table.rows[0].direction == LOWER
    ]


def _plane(
    path: str,
    page: ProjectPage,
    choice: CurvesSelection,
    throughput: ComparisonTable,
    response_time: ComparisonTable,
    lines: Sequence[VersionLine],
    name: str,
) -> Plane:
    firsts, seconds = _by_line(throughput.rows, lines), _by_line(response_time.rows, lines)
    history = page_url("history", page.project)
    figure = curve_charts.plane(
        [
            (curve_charts.DrawnCurve(line, xs), curve_charts.DrawnCurve(line, ys))
            for (line, xs), (_, ys) in zip(firsts, seconds, strict=True)
        ],
        throughput=_named(throughput),
        response_time=_named(response_time),
        look=_look(choice, lines),
        link=lambda pk: f"{history}?series={pk}",
    )
    counts = [{row.threads or 0 for row in table.rows} for table in (throughput, response_time)]
    what = f"{numbers.metric_name(response_time.metric)} against {numbers.metric_name(throughput.metric)}"
    workload = throughput.rows[0].workload
    return Plane(
        name=name,
        throughput=numbers.short_metric_name(throughput.metric),
        response_time=numbers.short_metric_name(response_time.metric),
        title=", ".join(filter(None, [workload, what, choice.columns.machine])),
        figure=figure,
        lines=lines,
        rows=[
            PlaneRow(
                count,
                [(xs[count], ys[count]) for (_, xs), (_, ys) in zip(firsts, seconds, strict=True)],
            )
            for count in sorted(counts[0] & counts[1])
        ],
        url=choice.address(
            path, metric=[throughput.metric, response_time.metric], workload=name.rpartition("-")[0]
        ),
    )


def _named(table: ComparisonTable) -> tuple[str, str, str]:
    return table.metric, table.rows[0].unit, table.rows[0].direction


urlpatterns = [path("compare/curves/", content_page("dashboard/curves.html", curves_context), name="curves")]
