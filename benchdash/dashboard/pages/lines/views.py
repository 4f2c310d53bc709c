"""Versions side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.compare import ValueScale
from benchdash.dashboard.charts.matrix import Head, Matrix, matrix
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare.panels import panels
from benchdash.dashboard.compare.selection import VersionSelection, read_choice, read_columns, workload_ids
from benchdash.dashboard.compare.tables import addresses_of, choosing, lines_of, tables_of
from benchdash.dashboard.compare.versions import available_columns
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.dashboard.shell.switches import checks
from benchdash.regressions.comparison.columns import (
    Column,
    ColumnContents,
    contents_of,
    names,
    short_id,
    workloads_measured,
)
from benchdash.regressions.comparison.comparability import doubts, single_sessions
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.results import metrics

# Maximum number of charts on a page, whatever is chosen: each is computed, with its table.
_MAX_CHARTS: Final = 12


def compare_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {}
    choice = read_choice(request.GET, read_columns(request.GET, available, page.project))
    context = {"kept": choice.view.kept, **choosing(request, choice, available)}
    if choice.columns.base:
        context |= _comparison(request, page, choice, choice.columns.base)
    return context


def _comparison(
    request: HttpRequest, page: ProjectPage, choice: VersionSelection, base: Column
) -> dict[str, Any]:
    project = page.project
    chosen = choice.columns.chosen
    measured = contents_of(project, chosen)
    choice = replace(choice, workloads=workload_ids(choice.workloads, measured.workloads))
    asked = [metric for metric in metrics.in_order(measured.metrics) if metric in choice.metrics]
    wanted, found = _what_to_show(project, choice, measured, asked)
    pages = Paginator(found, max(1, _MAX_CHARTS // len(wanted))).get_page(request.GET.get("page"))
    workloads = list(pages.object_list)
    tables = tables_of(page, choice, base, workloads, wanted) if workloads else []
    called, lines = names(chosen), lines_of(choice.columns)
    shown = [table.metric for table in tables] or asked
    switches = controls.switches(request.path, choice)
    context = {
        "filters": [
            *controls.choice_filters(choice, measured, shown, called),
            *checks(switches),
        ],
        "chips": controls.chips(request.path, choice, lines),
        "switches": switches,
        "pair_url": "",
    }
    if len(choice.columns.others) == 1 and not page.is_relative:
        against = short_id(choice.columns.others[0])
        context["pair_url"] = page_url("pair", project, base=short_id(base), against=against)
    if not tables:
        is_narrowed = choice.workloads or choice.threads
        whole_url = choice.address(request.path, workload="", threads="") if is_narrowed else ""
        return {**context, "whole_url": whole_url}
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    relative_to = called[chosen.index(base)] if choice.view.relative else ""
    made = [
        panel
        for number, table in enumerate(tables)
        for panel in panels(
            table,
            lines,
            scale=ValueScale(relative_to=relative_to, log=choice.view.log),
            place=choice.columns.machine,
            keys={workload: f"{ids[workload]}-{number}" for workload in workloads},
            addresses=addresses_of(request.path, project, choice, ids),
        )
    ]
    # Under their workloads, or all together where there is one metric.
    sections = [(workload, [one for one in made if one.workload == workload]) for workload in workloads]
    if len(tables) == 1:
        sections = [("", [one for _, of_workload in sections for one in of_workload])]
    named = list(zip(chosen, called, strict=True))
    return {
        **context,
        "doubts": doubts(tables, named, base, for_others=page.is_relative),
        "headline": single_sessions(tables, named).headline,
        "fixed_url": choice.address(request.path, metric=shown),
        "lines": lines,
        "heads": [Head(called[chosen.index(base)]), *(Head(line.name) for line in lines if not line.is_base)],
        "summary": _summary(request.path, choice, tables[0], ids),
        "summary_metric": tables[0],
        "matrix_url": choice.address(page_url("matrix", project), metric=tables[0].metric),
        "sections": sections,
        "pages": pages,
    }


def _what_to_show(
    project: Project, choice: VersionSelection, measured: ColumnContents, asked: Sequence[str]
) -> tuple[Sequence[str], list[str]]:
    """Return the metrics, and the names of the workloads that have any of them.

    Where the address says none and the versions lack the main ones of their place, the first that they have.
    """
    columns = choice.columns.chosen
    chosen = [pk for pk in measured.workloads if str(pk) in choice.workloads]

    def having(wanted: Sequence[str]) -> list[str]:
        among = chosen or measured.workloads
        return workloads_measured(project, columns, wanted, among=among, threads=choice.threads)

    wanted = asked or metrics.shown_at_first(measured.metrics)
    if (found := having(wanted)) or asked:
        return wanted, found
    each = (([metric], having([metric])) for metric in metrics.in_order(measured.metrics))
    return next((one for one in each if one[1]), (wanted, []))


def _summary(
    path: str, choice: VersionSelection, table: ComparisonTable, ids: Mapping[str, str]
) -> Matrix | None:
    """Return the changes of the workloads by the first metric; a click leads to the charts of one."""
    workloads = {row.workload for row in table.rows}
    if not table.columns or len(workloads) < 2:
        return None
    urls = {workload: choice.address(path, workload=ids[workload]) for workload in workloads}
    return matrix(
        table,
        write=lambda ratio: numbers.change(ratio - 1, table.unit),
        link=lambda rows, _: urls[rows[0].workload],
    )


urlpatterns = [
    path("compare/", content_page("dashboard/compare.html", compare_context, relative=True), name="compare")
]
