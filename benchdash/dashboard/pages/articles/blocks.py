"""The views that an article may hold, drawn as their own pages draw them."""

from copy import copy
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, QueryDict
from django.template.loader import render_to_string
from django.urls import get_script_prefix, resolve, reverse

from benchdash.articles.models import Block
from benchdash.articles.queries import runs_since
from benchdash.dashboard.shell.navigation import page_label, page_url
from benchdash.dashboard.shell.project_page import Context, ProjectPage


@dataclass(frozen=True)
class ShownBlock:
    """``since`` is how many runs of what it shows came in after it was saved."""

    block: Block
    label: str
    url: str
    content: str
    since: int


def shown_block(request: HttpRequest, page: ProjectPage, block: Block) -> ShownBlock:
    """Draw a block in the statements of its page and one more."""
    url, inner = block_url(page, block), request_of(request, page, block.page, block.query)
    context = {**page.shared, "at": f"view-{block.pk}-", **_context(inner, page)}
    content = render_to_string(f"dashboard/_{block.page}_content.html", context, inner)
    return ShownBlock(block, page_label(block.page), url, content, runs_since(page.project, block))


def _context(inner: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    """Return the context of the page at the address of a request; no page imports another."""
    view: Any = resolve("/" + inner.path.removeprefix(get_script_prefix())).func
    context: Context = view.context
    return context(inner, page)


def block_url(page: ProjectPage, block: Block) -> str:
    return f"{page_url(block.page, page.project)}?{block.query}"


def fixed_query(request: HttpRequest, page: ProjectPage, name: str, query: str) -> str:
    """Return the query of an address with all that it leaves to the page, such as the newest versions.

    What the page cannot fix stays as it is.
    """
    context = _context(request_of(request, page, name, query), page)
    return urlsplit(context.get("fixed_url", "")).query or query


def request_of(request: HttpRequest, page: ProjectPage, name: str, query: str) -> HttpRequest:
    """Return the request as it would be on the page of that view."""
    inner = copy(request)
    inner.method = "GET"
    inner.path = inner.path_info = reverse(f"dashboard:{name}", args=[page.project.slug])
    inner.META = {**request.META, "QUERY_STRING": query}
    inner.GET = QueryDict(query)
    return inner
