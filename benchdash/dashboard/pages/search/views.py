"""Find a thing of a project by a part of its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.dashboard.shell.navigation import page_url, page_urls
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
    upload_url = page_urls("upload", project)

    def histories(kind: str, name: str, things: Sequence[str]) -> Hits:
        return _hits(kind, things, lambda thing: Hit(thing, page_url("history", project, **{name: thing})))

    def runs(kind: str, name: str, things: Sequence[str]) -> Hits:
        return _hits(kind, things, lambda thing: Hit(thing, page_url("runs", project, **{name: thing})))

    found = [
        histories("Workloads", "workload", named.workloads),
        _hits("Versions", named.versions, lambda version: _version(page, *version)),
        histories("Branches", "branch", named.branches),
        histories("Products", "product", named.products),
        runs("Hardware", "hardware", named.hardware),
        runs("Configurations", "configuration", named.configurations),
        _hits("Uploads", uploads, lambda upload: Hit(upload[1], upload_url(upload[0]))),
    ]
    return [hits for hits in found if hits.hits]


def _version(page: ProjectPage, product: str, version: str, build: str, commit: str | None) -> Hit:
    query = {"product": product, "version": version, "commit": commit or ""}
    return Hit(version_name(version, build, commit), page_url("runs", page.project, **query))


def _hits(kind: str, things: Sequence[Any], hit: Callable[[Any], Hit]) -> Hits:
    return Hits(kind, [hit(thing) for thing in things[:_MAX_HITS]], more=len(things) > _MAX_HITS)


_MAX_TEXT_LENGTH = 200


@project_page
def search(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = request.GET.get("q", "").replace("\x00", "").strip()[:_MAX_TEXT_LENGTH]
    return page.render(request, "dashboard/search.html", {"text": text, "found": find(page, text)})


urlpatterns = [path("search/", search, name="search")]
