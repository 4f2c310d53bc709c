"""The matrix: all workloads against versions, or against the nights of a branch."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.models import Scope
from benchdash.addresses import MatrixQuery
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare.selection import available_columns
from benchdash.dashboard.pages.matrix import moved
from benchdash.dashboard.pages.matrix.baseline import BaselineForm, meant_by
from benchdash.dashboard.pages.matrix.chosen import ChosenMatrix
from benchdash.dashboard.pages.matrix.figure import whole_matrix
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.project_page import ProjectPage, content_page, project_action
from benchdash.regressions.comparison.branch_table import place_of
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.regressions.comparison.matrix_rows import matrix_heads, matrix_lines
from benchdash.results.baselines import BaselineError, set_baseline
from benchdash.results.models import Baseline, ServerVersion

_MAX_QUERY_LENGTH: Final = 8000


def matrix_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {}
    query = MatrixQuery.of(request.GET)
    shown = whole_matrix(page.project, query, available, relative=page.is_relative)
    picker = shown.chosen.picker
    return {
        "shown": shown,
        "fixed_url": shown.fixed.url(page.project) if shown.fixed else "",
        "filters": shown.filters,
        "kept": shown.kept,
        "version_picker": picker,
        "picker": "dashboard/_version_picker.html" if picker else "",
        "may_move": shown.chosen.baseline is not None and page.may(Scope.TRIAGE),
        "csv_url": query.url(page.project, format="csv"),
        "suggestions": controls.suggestions(picker) if picker else [],
    }


@project_action
def matrix_baseline(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Move the baseline of a branch, and lead back to the matrix that was shown."""
    page.require(Scope.TRIAGE)
    form = BaselineForm(request.POST)
    try:
        moved = _move_baseline(page, form)
    except BaselineError as error:
        messages.error(request, f"The baseline stays: {error}.")
    else:
        messages.success(request, f"The baseline is {moved.name} from now on.")
    query = MatrixQuery.of(request.POST.get("back", "")[:_MAX_QUERY_LENGTH])
    # The words of the page that was left about the baseline are settled.
    return redirect(query.url(page.project, base="", over="nights"))


def _move_baseline(page: ProjectPage, form: BaselineForm) -> Baseline:
    """Do what the form says. Raise BaselineError where that cannot be done."""
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
    return set_baseline(place_of(branch), target, by=page.viewer, reason=said["reason"])


def _csv(page: ProjectPage, context: dict[str, Any]) -> HttpResponse:
    """Write a line for each workload and thread count, with the numbers of each column."""
    chosen: ChosenMatrix = context["shown"].chosen
    heads = [" ".join(filter(None, [head.name, head.note])) for head in chosen.source.heads]
    table = chosen.source.table
    rows = matrix_lines(table) if table else ()
    columns = matrix_heads([chosen.source.base.name, *heads])
    return csv_file(f"{page.project.slug}-matrix", columns, rows)


urlpatterns = [
    *moved.urlpatterns,
    path(
        "compare/matrix/",
        content_page("dashboard/matrix.html", matrix_context, csv=_csv, relative=True),
        name="matrix",
    ),
    path("compare/matrix/baseline/", matrix_baseline, name="matrix_baseline"),
]
