"""Find a thing of a project by a part of its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Func, Q, QuerySet, TextField
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.articles.queries import articles_of
from benchdash.dashboard.shell.filters import search_text
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions.headlines import figure
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import incidents
from benchdash.results.catalogue import find_named
from benchdash.results.models import ConfigurationContent, Series, version_name
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
    """Find the things with all words of ``text`` in their names, by kind, in at most six statements.

    Of an incident they may stand in its subject, metric or cause, and so name a setting that was changed.
    """
    words = text.split()
    if not words:
        return []
    project = page.project
    named = find_named(project, words, most=_MAX_HITS + 1)
    metrics = Series.objects.filter(project=project).order_by().values_list("metric", flat=True)
    contents = ConfigurationContent.objects.filter(project=project)
    key = Func("settings", function="jsonb_object_keys", output_field=TextField())
    settings = contents.annotate(key=key).values_list("key", flat=True)
    articles = articles_of(project).filter(*(Q(title__icontains=word) for word in words))
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
        linked("Metrics", _with_words(metrics, words), "history", "metric"),
        linked("Settings", _with_words(settings, words), "sweep", "setting"),
        _hits(
            "Incidents",
            _incidents(project, words),
            lambda one: Hit(_incident_words(one), page_url("incident", project, one.pk)),
        ),
        _hits(
            "Articles",
            list(articles[: _MAX_HITS + 1]),
            lambda one: Hit(one.title, page_url("article", project, one.slug)),
        ),
        _hits("Uploads", uploads, lambda upload: Hit(upload[1], page_url("upload", project, upload[0]))),
    ]
    return [hits for hits in found if hits.hits]


def _with_words(names: QuerySet[Any, str], words: Sequence[str]) -> list[str]:
    """Return the different names that have all words, in any case."""
    found = {name for name in names.distinct() if all(word.casefold() in name.casefold() for word in words)}
    return sorted(found)[: _MAX_HITS + 1]


def _incidents(project: Project, words: Sequence[str]) -> list[Any]:
    """Return incidents that analysis did not withdraw, the newest first."""
    fields = ("product__name", "branch", "line", "hardware__name", "metric", "cause")
    in_words = [Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR) for word in words]
    found = incidents(project).exclude(status=Incident.Status.WITHDRAWN).filter(*in_words)
    return list(found.select_related("silence__workload")[: _MAX_HITS + 1])


def _incident_words(one: Incident) -> str:
    """``MariaDB main −14.3 %, slow_query_log was switched on, since 9 Nov 2026``."""
    since = f"since {one.started_at:%-d %b %Y}"
    return ", ".join(filter(None, [f"{one.subject} {figure(one)}", one.cause, since]))


def _hits(kind: str, things: Sequence[Any], hit: Callable[[Any], Hit]) -> Hits:
    return Hits(kind, [hit(thing) for thing in things[:_MAX_HITS]], more=len(things) > _MAX_HITS)


@project_page
def search(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = search_text(request.GET)
    return page.render(request, "dashboard/search.html", {"text": text, "found": find(page, text)})


urlpatterns = [path("search/", search, name="search")]
