"""Find a thing of a project by a part of its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.dashboard.shell.filters import search_text
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.results.catalogue import find_named
from benchdash.results.models import version_name
from ingest.queries import uploads_named

_MAX_HITS: Final = 25


@dataclass(frozen=True)
class Hit:
    text: str
    url: str


@dataclass(frozen=True)
class Hits:
    """The hits of one kind, and whether there are more than these."""

    kind: str
    hits: Sequence[Hit]
    more: bool


def find(page: ProjectPage, text: str) -> list[Hits]:
    """Find the things with all words of ``text`` in their names, by kind, in at most two statements."""
    words = text.split()
    if not words:
        return []
    project = page.project
    named = find_named(project, words, most=_MAX_HITS + 1)
    uploads = list(uploads_named(project, words)[: _MAX_HITS + 1]) if page.is_member else []

    def linked(kind: str, things: Sequence[str], url_name: str, parameter: str) -> Hits:
        return _hits(
            kind, things, lambda thing: Hit(thing, page_url(url_name, project, **{parameter: thing}))
        )

    def version(known: tuple[str, str, str, str | None]) -> Hit:
        product, name, build, commit = known
        query = {"product": product, "version": name, "commit": commit or ""}
        return Hit(version_name(name, build, commit), page_url("runs", project, **query))

    found = [
        linked("Workloads", named.workloads, "history", "workload"),
        _hits("Versions", named.versions, version),
        linked("Branches", named.branches, "history", "branch"),
        linked("Products", named.products, "history", "product"),
        linked("Hardware", named.hardware, "runs", "hardware"),
        linked("Configurations", named.configurations, "runs", "configuration"),
        _hits("Uploads", uploads, lambda upload: Hit(upload[1], page_url("upload", project, upload[0]))),
    ]
    return [hits for hits in found if hits.hits]


def _hits(kind: str, things: Sequence[Any], hit: Callable[[Any], Hit]) -> Hits:
    return Hits(kind, [hit(thing) for thing in things[:_MAX_HITS]], more=len(things) > _MAX_HITS)


@project_page
def search(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = search_text(request.GET)
    return page.render(request, "dashboard/search.html", {"text": text, "found": find(page, text)})


urlpatterns = [path("search/", search, name="search")]
