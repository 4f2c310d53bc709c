"""The views that an article may hold, drawn as their own pages draw them."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.http import HttpRequest, QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from benchdash.articles.models import Block
from benchdash.articles.queries import runs_since
from benchdash.dashboard.navigation import page_url
from benchdash.dashboard.shell import ProjectPage
from benchdash.dashboard.views.compare import compare_context
from benchdash.dashboard.views.curves import curves_context
from benchdash.dashboard.views.history import history_context
from benchdash.dashboard.views.latency import latency_context
from benchdash.dashboard.views.matrix import matrix_context
from benchdash.dashboard.views.pair import pair_context
from benchdash.dashboard.views.sweep import sweep_context

Context = Callable[[HttpRequest, ProjectPage], dict[str, Any]]


@dataclass(frozen=True)
class PageOfViews:
    """``label`` is what the tab of the page says; ``context`` gives what its content shows."""

    label: str
    context: Context


PAGES: Final[Mapping[str, PageOfViews]] = {
    "compare": PageOfViews("Lines", compare_context),
    "pair": PageOfViews("Side by side", pair_context),
    "matrix": PageOfViews("Matrix", matrix_context),
    "curves": PageOfViews("Curves", curves_context),
    "latency": PageOfViews("Latency", latency_context),
    "sweep": PageOfViews("Settings", sweep_context),
    "history": PageOfViews("History", history_context),
}


@dataclass(frozen=True)
class ShownBlock:
    """``since`` is how many runs of what it shows came in after it was saved."""

    block: Block
    label: str
    url: str
    content: SafeString
    since: int


def shown_block(request: HttpRequest, page: ProjectPage, block: Block) -> ShownBlock:
    """A constant number of statements, those of the page itself and one more."""
    shown, url = PAGES[block.page], block_url(page, block)
    inner = request_of(request, page, block.page, block.query)
    context = {
        "page": page,
        "project": page.project,
        "viewer": page.viewer,
        "at": f"view-{block.pk}-",
        **shown.context(inner, page),
    }
    content = render_to_string(f"dashboard/_{block.page}_content.html", context, inner)
    return ShownBlock(block, shown.label, url, content, runs_since(page.project, block))


def block_url(page: ProjectPage, block: Block) -> str:
    return f"{page_url(block.page, page.project)}?{block.query}"


def fixed_query(request: HttpRequest, page: ProjectPage, name: str, query: str) -> str:
    """The query of an address with all that it leaves to the page, such as which versions are the newest.

    What the page cannot fix stays as it is.
    """
    context = PAGES[name].context(request_of(request, page, name, query), page)
    return urlsplit(context.get("fixed_url", "")).query or query


def request_of(request: HttpRequest, page: ProjectPage, name: str, query: str) -> HttpRequest:
    """The request as it would be on the page of that view."""
    inner = copy(request)
    inner.method = "GET"
    inner.path = inner.path_info = reverse(f"dashboard:{name}", args=[page.project.slug])
    inner.META = {**request.META, "QUERY_STRING": query}
    inner.GET = QueryDict(query)
    return inner
