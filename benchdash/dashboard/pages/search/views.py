"""Find a thing of a project by a part of its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Func, Q, TextField
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.articles.queries import articles_of
from benchdash.dashboard.shell.filters import search_text
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions.headlines import day, figure
from benchdash.regressions.models import Incident
from benchdash.regressions.queries import incidents
from benchdash.results.catalogue import find_named
from benchdash.results.models import ConfigurationContent, Series, version_name
from ingest.queries import uploads_named

_MAX_HITS: Final = 25
# Configurations whose settings are searched: each may have hundreds.
_MAX_CONTENTS: Final = 1000


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
    in_metric = [Q(metric__icontains=word) for word in words]
    series = Series.objects.filter(*in_metric, project=project).order_by("metric")
    metrics = list(series.values_list("metric", flat=True).distinct()[: _MAX_HITS + 1])
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
        linked("Metrics", metrics, "history", "metric"),
        linked("Settings", _settings(project, words), "sweep", "setting"),
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


def _settings(project: Project, words: Sequence[str]) -> list[str]:
    """Return the names of settings, of the newest configurations, that have all words in any case."""
    newest = ConfigurationContent.objects.filter(project=project).order_by("-pk")[:_MAX_CONTENTS]
    key = Func("settings", function="jsonb_object_keys", output_field=TextField())
    names = ConfigurationContent.objects.filter(pk__in=newest.values("pk")).annotate(key=key)
    found = {
        name
        for name in names.values_list("key", flat=True).distinct()
        if all(word.casefold() in name.casefold() for word in words)
    }
    return sorted(found)[: _MAX_HITS + 1]


def _incidents(project: Project, words: Sequence[str]) -> list[Any]:
    """Return incidents that analysis did not withdraw, the newest first."""
    fields = ("product__name", "branch", "line", "hardware__name", "metric", "cause")
    in_words = [Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR) for word in words]
    found = incidents(project).exclude(status=Incident.Status.WITHDRAWN).filter(*in_words)
    return list(found.select_related("silence__workload")[: _MAX_HITS + 1])


def _incident_words(one: Incident) -> str:
    """``MariaDB main −14.3 %, slow_query_log was switched on, since Mon 9 Nov``."""
    since = f"since {day(one.started_at)}"
    return ", ".join(filter(None, [f"{one.subject} {figure(one)}", one.cause, since]))


def _hits(kind: str, things: Sequence[Any], hit: Callable[[Any], Hit]) -> Hits:
    return Hits(kind, [hit(thing) for thing in things[:_MAX_HITS]], more=len(things) > _MAX_HITS)


@project_page
def search(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = search_text(request.GET)
    return page.render(request, "dashboard/search.html", {"text": text, "found": find(page, text)})


urlpatterns = [path("search/", search, name="search")]
