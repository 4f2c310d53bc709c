"""The matrix: all workloads against versions, or against the nights of a branch."""

from collections.abc import Iterator
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from benchdash.dashboard.commands import upload_command
from benchdash.dashboard.csv_files import csv_file
from benchdash.dashboard.forms import compare_controls as controls
from benchdash.dashboard.shell import ProjectPage, project_page
from benchdash.dashboard.whole_matrix import WholeMatrix, whole_matrix
from benchdash.regressions.comparison import Row, Selector, columns_of

_CELL: Final = ("value", "n", "ratio", "low", "high", "p", "verdict")


@require_safe
@project_page
def matrix(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    available = columns_of(page.project, Selector())
    if not available:
        return page.render(request, "dashboard/matrix.html", {"command": upload_command()})
    shown = whole_matrix(page.project, request.GET, request.path, available)
    if request.GET.get("format") == "csv":
        return _csv(page, shown)
    query = request.GET.copy()
    query["format"] = "csv"
    context = {
        "shown": shown,
        "filters": shown.filters,
        "kept": shown.kept,
        "version_picker": shown.picker,
        "picker": "dashboard/_version_picker.html" if shown.picker else "",
        "csv_url": f"{request.path}?{query.urlencode()}",
        "suggestions": controls.suggestions(shown.picker) if shown.picker else [],
    }
    return page.render(request, "dashboard/matrix.html", context)


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


urlpatterns = [path("compare/matrix/", matrix, name="matrix")]
