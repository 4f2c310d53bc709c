"""The matrix: all workloads against versions, or against the nights of a branch."""

from collections.abc import Iterator
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_POST

from benchdash.accounts.models import Scope
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare.versions import available_columns
from benchdash.dashboard.pages.matrix.baseline import BaselineForm, meant_by
from benchdash.dashboard.pages.matrix.figure import WholeMatrix, whole_matrix
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.navigation import address_with, page_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page, project_page
from benchdash.regressions.comparison.branch_table import stream_of
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.regressions.comparison.rows import Row
from benchdash.results.baselines import BaselineError, set_baseline
from benchdash.results.models import Baseline, ServerVersion

_MAX_QUERY_LENGTH: Final = 8000
_CELL: Final = ("value", "n", "ratio", "low", "high", "p", "verdict")


def matrix_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {"command": upload_command()}
    shown = whole_matrix(page.project, request.GET, request.path, available)
    return {
        "shown": shown,
        "fixed_url": _fixed_url(request, shown),
        "filters": shown.filters,
        "kept": shown.kept,
        "version_picker": shown.picker,
        "picker": "dashboard/_version_picker.html" if shown.picker else "",
        "may_move": shown.baseline is not None and page.may(Scope.TRIAGE),
        "csv_url": address_with(request.path, request.GET, format="csv"),
        "suggestions": controls.suggestions(shown.picker) if shown.picker else [],
    }


def _fixed_url(request: HttpRequest, shown: WholeMatrix) -> str:
    """The address with the versions and the metric that it left open; empty for nights, which move on."""
    if shown.matrix is None or shown.columns is None or shown.columns.base is None:
        return ""
    columns = shown.columns
    return address_with(
        request.path,
        request.GET,
        v=list(map(short_id, columns.chosen)),
        base=short_id(shown.columns.base),
        metric=shown.metric,
        over="versions",
    )


# --- the baseline of a branch ------------------------------------------------------------------------------


@require_POST
@project_page
def matrix_baseline(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Moves it, and leads back to the matrix that was shown."""
    page.require(Scope.TRIAGE)
    form = BaselineForm(request.POST)
    try:
        moved = _move_baseline(page, form)
    except BaselineError as error:
        messages.error(request, f"The baseline stays: {error}.")
    else:
        messages.success(request, f"The baseline is {moved.name} from now on.")
    return redirect(f"{page_url('matrix', page.project)}?{_back(request)}")


def _move_baseline(page: ProjectPage, form: BaselineForm) -> Baseline:
    """Raises BaselineError."""
    if not form.is_valid():
        [field, *_] = form.errors
        raise BaselineError(f"the {field} is missing or malformed")
    said = form.cleaned_data
    columns = [column for column in columns_of(page.project, Selector()) if column.branch]
    branch = next((column for column in columns if short_id(column) == said["stream"]), None)
    if branch is None:
        raise BaselineError("there is no such branch")
    versions = ServerVersion.objects.filter(project=page.project, product=branch.version.product_id)
    try:
        target = meant_by(said["target"], list(versions))
    except LookupError:
        raise BaselineError("there is no such version") from None
    return set_baseline(page.project, stream_of(branch), target, by=page.viewer, reason=said["reason"])


def _back(request: HttpRequest) -> str:
    """The query of the page that was left; what it said of the baseline is settled."""
    query = QueryDict(request.POST.get("back", "")[:_MAX_QUERY_LENGTH], mutable=True)
    query.pop("base", None)
    query["over"] = "nights"
    return query.urlencode()


# --- CSV ----------------------------------------------------------------------------------------------------


def _csv(page: ProjectPage, context: dict[str, Any]) -> HttpResponse:
    """A line for each workload and thread count, by name; of each column what is known."""
    shown: WholeMatrix = context["shown"]
    heads = [" ".join(filter(None, [head.name, head.note])) for head in shown.heads]
    columns = [
        *("group", "workload", "threads", "metric", "unit"),
        *(f"{shown.base.name} {what}" for what in ("value", "n")),
        *(f"{head} {what}" for head in heads for what in _CELL),
    ]
    rows = (_csv_row(shown.metric, row) for row in shown.table.rows) if shown.table else ()
    return csv_file(f"{page.project.slug}-matrix", columns, rows)


def _csv_row(metric: str, row: Row) -> list[Any]:
    base = (row.base.value, row.base.n) if row.base else (None, None)
    return [row.group, row.workload, row.threads, metric, row.unit, *base, *_csv_cells(row)]


def _csv_cells(row: Row) -> Iterator[Any]:
    for cell, one in zip(row.cells, row.comparisons, strict=True):
        yield from (cell.value, cell.n) if cell else (None, None)
        yield from (one.ratio, one.low, one.high, one.p, one.verdict) if one else (None,) * 5


urlpatterns = [
    path("compare/matrix/", content_page("dashboard/matrix.html", matrix_context, csv=_csv), name="matrix"),
    path("compare/matrix/baseline/", matrix_baseline, name="matrix_baseline"),
]
