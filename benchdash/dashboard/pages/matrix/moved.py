"""The addresses of pages that became rows of the matrix: they lead there, and articles show the rows."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.addresses import MatrixQuery, RowsQuery
from benchdash.dashboard.compare.selection import available_columns
from benchdash.dashboard.pages.matrix.figure import whole_matrix
from benchdash.dashboard.pages.matrix.selection import ALL, EACH
from benchdash.dashboard.shell.project_page import ProjectPage, project_page

_ADDRESSES: Final = {"compare": "compare/", "curves": "compare/curves/", "latency": "compare/latency/"}


def matrix_query(name: str, query: RowsQuery) -> MatrixQuery:
    """Return the query of the matrix with the same selection; the chosen workloads are open, or all."""
    moved = replace(
        query.of_page(MatrixQuery),
        # Commits of a branch were compared as any versions.
        over="versions" if query.versions else "",
        drawn=query.values,
        charts="percentiles" if name == "latency" else "",
        operation=query.operation,
        axis=query.axis,
    )
    opened = query.workloads or (EACH if name == "latency" else ALL,)
    return replace(moved, open=opened) if moved.parameters else moved


def rows_context(name: str, request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    """Return the rows of the matrix that show what the page showed; all of them where it chose none."""
    query, available = RowsQuery.of(request.GET), available_columns(page.project, request.GET)
    if not available:
        return {}
    opened = replace(matrix_query(name, query), open=(ALL, *(query.workloads or [EACH])))
    shown = whole_matrix(page.project, opened, available, relative=page.is_relative, adds=False)
    rows, fixed = shown.opened, shown.fixed
    # One chart for all says what a chart for each would say.
    are_alike = len(rows.metrics) == 1 < len(rows.rows) and not rows.curves and not shown.view.charts
    if fixed:
        query = replace(query, versions=fixed.versions, base=fixed.base, metrics=fixed.metrics)
    return {"shown": shown, "bars": rows.bars if are_alike else (), "fixed_url": query.url(page.project)}


def _moved(request: HttpRequest, page: ProjectPage, *, name: str) -> HttpResponse:
    query = matrix_query(name, RowsQuery.of(request.GET))
    return redirect(query.url(page.project), permanent=True)


def _view(name: str) -> Any:
    view: Any = project_page(partial(_moved, name=name), relative=True)
    # Articles and embeds read it, see content_page.
    view.context = partial(rows_context, name)
    return view


urlpatterns = [path(address, _view(name), name=name) for name, address in _ADDRESSES.items()]
