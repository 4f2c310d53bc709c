"""The addresses of pages that became rows of the matrix: they lead there, and articles show the rows."""

from functools import partial
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path

from benchdash.dashboard.compare.versions import available_columns
from benchdash.dashboard.pages.matrix.figure import whole_matrix
from benchdash.dashboard.pages.matrix.selection import ALL, EACH
from benchdash.dashboard.shell.navigation import address_with, page_url
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.dashboard.shell.selection import PLACE

_ADDRESSES: Final = {"compare": "compare/", "curves": "compare/curves/", "latency": "compare/latency/"}
_KEPT: Final = ("v", "base", "metric", "workload", "threads", "axis", "operation", *PLACE)


def matrix_query(name: str, query: QueryDict) -> QueryDict:
    """Return the query of the matrix with the same selection; the chosen workloads are open, or all."""
    moved = QueryDict(mutable=True)
    for parameter in _KEPT:
        if query.get(parameter):
            moved.setlist(parameter, query.getlist(parameter))
    if moved.get("v"):
        # Commits of a branch were compared as any versions.
        moved["over"] = "versions"
    if query.get("values") == "relative":
        moved["drawn"] = "relative"
    if name == "latency":
        moved["charts"] = "percentiles"
    if moved:
        moved.setlist("open", query.getlist("workload") or [EACH if name == "latency" else ALL])
    return moved


def rows_context(name: str, request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    """Return the rows of the matrix that show what the page showed; all of them where it chose none."""
    query = matrix_query(name, request.GET)
    query.setlist("open", [ALL, *(request.GET.getlist("workload") or [EACH])])
    available = available_columns(page.project, query)
    if not available:
        return {}
    address = page_url("matrix", page.project)
    shown = whole_matrix(page.project, query, address, available, relative=page.is_relative, adds=False)
    opened = shown.opened
    # One chart for all says what a chart for each would say.
    are_alike = len(opened.metrics) == 1 < len(opened.rows) and not opened.curves and not shown.view.charts
    bars = opened.bars if are_alike else ()
    return {"shown": shown, "bars": bars, "fixed_url": address_with(address, request.GET, **shown.fixed)}


def _moved(request: HttpRequest, page: ProjectPage, *, name: str) -> HttpResponse:
    query = matrix_query(name, request.GET).urlencode()
    address = page_url("matrix", page.project)
    return redirect(f"{address}?{query}" if query else address, permanent=True)


def _view(name: str) -> Any:
    view: Any = project_page(partial(_moved, name=name), relative=True)
    # Articles and embeds read it, see content_page.
    view.context = partial(rows_context, name)
    return view


urlpatterns = [path(address, _view(name), name=name) for name, address in _ADDRESSES.items()]
