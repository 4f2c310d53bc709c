"""Versions side by side."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from benchdash.accounts.models import Project
from benchdash.dashboard import numbers
from benchdash.dashboard.available import available_columns
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import Line, Scale
from benchdash.dashboard.charts.matrix import Head, Matrix, matrix
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.commands import upload_command
from benchdash.dashboard.compared import choosing, queries_of_api, tables_of
from benchdash.dashboard.forms import compare_controls as controls
from benchdash.dashboard.forms.compare import Choice, read_choice, read_columns
from benchdash.dashboard.measured import Measured, measured_of, workloads_measured
from benchdash.dashboard.navigation import page_url
from benchdash.dashboard.panels import Addresses, Panel, panels
from benchdash.dashboard.shell import ProjectPage, project_page
from benchdash.regressions.column_names import are_versions_in_order, names
from benchdash.regressions.comparability import doubts
from benchdash.regressions.comparison import Column, ComparisonTable
from benchdash.results import metrics

# So many charts on a page at most, whatever is chosen: each is computed, with its table.
_CHARTS: Final = 12


@require_safe
@project_page
def compare(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    return page.render(request, "dashboard/compare.html", compare_context(request, page))


def compare_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {"command": upload_command()}
    choice = read_choice(request.GET, read_columns(request.GET, available, page.project))
    context = {"kept": choice.view.kept, **choosing(request, choice, available)}
    if choice.columns.base:
        context |= _comparison(request, page.project, choice, choice.columns.base)
    return context


def _comparison(request: HttpRequest, project: Project, choice: Choice, base: Column) -> dict[str, Any]:
    chosen = choice.columns.chosen
    measured = measured_of(project, chosen)
    known = metrics.in_order(measured.metrics)
    asked = [metric for metric in known if metric in choice.metrics]
    wanted, found = _what_to_show(project, choice, measured, asked)
    pages = Paginator(found, max(1, _CHARTS // len(wanted))).get_page(request.GET.get("page"))
    workloads = list(pages.object_list)
    tables = tables_of(project, choice, base, workloads, wanted) if workloads else []
    called = names(chosen)
    at = chosen.index(base)
    lines = charts.lines(called, base=at, in_order=are_versions_in_order(chosen))
    shown = [table.metric for table in tables] or asked
    context = {
        "filters": controls.choice_filters(choice, measured, shown, called),
        "chips": controls.chips(request.path, choice, lines),
        "switches": controls.switches(request.path, choice),
        "pair_url": _pair_url(project, base, choice.columns.others),
    }
    if not tables:
        return {**context, "whole_url": choice.address(request.path, workload="", threads="")}
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    made = _panels(request.path, project, choice, tables, lines, ids, workloads)
    return {
        **context,
        "doubts": doubts(tables, list(zip(chosen, called, strict=True)), base),
        "fixed_url": choice.address(request.path, metric=shown),
        "lines": lines,
        "heads": [Head(called[at]), *(Head(line.name) for line in lines if not line.is_base)],
        "summary": _summary(request.path, choice, tables[0], ids),
        "summary_metric": tables[0],
        "matrix_url": choice.address(page_url("matrix", project), metric=tables[0].metric),
        "sections": _sections(made, workloads, by_workload=len(tables) > 1),
        "pages": pages,
    }


def _what_to_show(
    project: Project, choice: Choice, measured: Measured, asked: Sequence[str]
) -> tuple[Sequence[str], list[str]]:
    """The metrics, and the names of the workloads that have any of them.

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


def _panels(
    path: str,
    project: Project,
    choice: Choice,
    tables: Sequence[ComparisonTable],
    lines: Sequence[Line],
    ids: Mapping[str, str],
    workloads: Sequence[str],
) -> list[Panel]:
    history, api = page_url("history", project), reverse("api:compare")
    query = queries_of_api(project, choice)
    addresses = Addresses(
        series=lambda pk: f"{history}?series={pk}" if history else "",
        csv=lambda metric, workload: f"{api}?{query(metric, workload)}",
        alone=lambda metric, workload: choice.address(path, metric=metric, workload=ids[workload]),
    )
    relative_to = next(line.name for line in lines if line.is_base) if choice.view.relative else ""
    scale = Scale(relative_to=relative_to, log={"log": True, "linear": False}.get(choice.view.scale))
    machines = {column.hardware for column in choice.columns.chosen}
    place = next(iter(machines)) if len(machines) == 1 else ""
    return [
        panel
        for number, table in enumerate(tables)
        for panel in panels(
            table,
            lines,
            scale=scale,
            place=place,
            keys={workload: f"{ids[workload]}-{number}" for workload in workloads},
            addresses=addresses,
        )
    ]


def _sections(
    made: Sequence[Panel], workloads: Sequence[str], *, by_workload: bool
) -> list[tuple[str, list[Panel]]]:
    """The charts under their workloads, or all together where there is one metric."""
    if not by_workload:
        return [("", sorted(made, key=lambda panel: workloads.index(panel.workload)))]
    return [(workload, [panel for panel in made if panel.workload == workload]) for workload in workloads]


def _summary(path: str, choice: Choice, table: ComparisonTable, ids: Mapping[str, str]) -> Matrix | None:
    """The changes of the workloads by the first metric; a click leads to the charts of one."""
    workloads = {row.workload for row in table.rows}
    if not table.columns or len(workloads) < 2:
        return None
    urls = {workload: choice.address(path, workload=ids[workload]) for workload in workloads}
    return matrix(
        table,
        write=lambda ratio: numbers.change(ratio - 1),
        link=lambda rows, _: urls[rows[0].workload],
    )


def _pair_url(project: Project, base: Column, others: Sequence[Column]) -> str:
    """Where two are compared, these by all their metrics."""
    if len(others) != 1:
        return ""
    return page_url("pair", project, base=short_id(base), against=short_id(others[0]))


urlpatterns = [path("compare/", compare, name="compare")]
