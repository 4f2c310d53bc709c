"""The matrix: all workloads against versions, or against the nights of a branch."""

from collections.abc import Iterator
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from benchdash.accounts.models import Scope
from benchdash.dashboard.available import available_columns
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.commands import upload_command
from benchdash.dashboard.csv_files import csv_file
from benchdash.dashboard.forms import compare_controls as controls
from benchdash.dashboard.forms.baseline import BaselineForm, meant_by
from benchdash.dashboard.navigation import page_url
from benchdash.dashboard.shell import ProjectPage, project_page
from benchdash.dashboard.whole_matrix import WholeMatrix, whole_matrix
from benchdash.regressions.branch_table import stream_of
from benchdash.regressions.comparison import Selector, columns_of
from benchdash.regressions.rows import Row
from benchdash.results.baselines import BaselineError, set_baseline
from benchdash.results.models import Baseline, ServerVersion

_LONGEST_QUERY: Final = 8000
_CELL: Final = ("value", "n", "ratio", "low", "high", "p", "verdict")


@require_safe
@project_page
def matrix(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    context = matrix_context(request, page)
    shown: WholeMatrix | None = context.get("shown")
    if shown and request.GET.get("format") == "csv":
        return _csv(page, shown)
    return page.render(request, "dashboard/matrix.html", context)


def matrix_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {"command": upload_command()}
    shown = whole_matrix(page.project, request.GET, request.path, available)
    query = request.GET.copy()
    query["format"] = "csv"
    return {
        "shown": shown,
        "fixed_url": _fixed_url(request, shown),
        "filters": shown.filters,
        "kept": shown.kept,
        "version_picker": shown.picker,
        "picker": "dashboard/_version_picker.html" if shown.picker else "",
        "may_move": shown.baseline is not None and page.may(Scope.TRIAGE),
        "csv_url": f"{request.path}?{query.urlencode()}",
        "suggestions": controls.suggestions(shown.picker) if shown.picker else [],
    }


def _fixed_url(request: HttpRequest, shown: WholeMatrix) -> str:
    """The address with the versions and the metric that it left open; empty for nights, which move on."""
    if shown.matrix is None or shown.columns is None or shown.columns.base is None:
        return ""
    query = request.GET.copy()
    query.setlist("v", list(map(short_id, shown.columns.chosen)))
    query["base"], query["metric"], query["over"] = short_id(shown.columns.base), shown.metric, "versions"
    return f"{request.path}?{query.urlencode()}"


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
    query = QueryDict(request.POST.get("back", "")[:_LONGEST_QUERY], mutable=True)
    query.pop("base", None)
    query["over"] = "nights"
    return query.urlencode()


# --- CSV ----------------------------------------------------------------------------------------------------


def _csv(page: ProjectPage, shown: WholeMatrix) -> HttpResponse:
    """A line for each workload and thread count, by name; of each column what is known."""
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
    path("compare/matrix/", matrix, name="matrix"),
    path("compare/matrix/baseline/", matrix_baseline, name="matrix_baseline"),
]
