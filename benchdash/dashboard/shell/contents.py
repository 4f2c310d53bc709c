"""The contents of a page at an address, for who draws it elsewhere: in an article, or in a page of others."""

from copy import copy
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, QueryDict
from django.urls import get_script_prefix, resolve, reverse

from benchdash.dashboard.shell.project_page import Context, ProjectPage


def content_of(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    """Return the context of the content page at the address of a request; no page imports another."""
    view: Any = resolve("/" + request.path.removeprefix(get_script_prefix())).func
    context: Context = view.context
    return context(request, page)


def fixed_query(request: HttpRequest, page: ProjectPage, name: str, query: str) -> str:
    """Return the query of an address with all that it leaves to the page, such as the newest versions.

    What the page cannot fix stays as it is.
    """
    context = content_of(request_of(request, page, name, query), page)
    return urlsplit(context.get("fixed_url", "")).query or query


def request_of(request: HttpRequest, page: ProjectPage, name: str, query: str) -> HttpRequest:
    """Return the request as it would be on the content page of that name."""
    inner = copy(request)
    inner.method = "GET"
    inner.path = inner.path_info = reverse(f"dashboard:{name}", args=[page.project.slug])
    inner.META = {**request.META, "QUERY_STRING": query}
    inner.GET = QueryDict(query)
    return inner
