"""Find the things of a project by a part of their names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

from benchdash.dashboard.navigation import page_url
from benchdash.dashboard.shell import ProjectPage
from benchdash.results.models import Configuration, Hardware, Product, Run, ServerVersion, Workload
from ingest.models import Upload

T = TypeVar("T")

_MOST = 25


@dataclass(frozen=True)
class Hit:
    text: str
    url: str


@dataclass(frozen=True)
class Hits:
    """What was found of one kind, and whether there is more than is shown."""

    kind: str
    hits: Sequence[Hit]
    more: bool


def find(page: ProjectPage, text: str) -> list[Hits]:
    """What has all words of ``text`` in its name, by kind, in a constant number of statements."""
    words = text.split()
    if not words:
        return []
    project = page.project
    in_name = _all_words(words, "name")
    workloads = Workload.objects.filter(in_name, project=project).order_by("name")
    products = Product.objects.filter(in_name, project=project).order_by("name")
    machines = Hardware.objects.filter(in_name, project=project).order_by("name")
    configurations = Configuration.objects.filter(in_name, project=project).order_by("name")
    found = [
        _hits("Workloads", workloads, lambda workload: page_url("history", project, workload=workload.name)),
        _hits("Versions", _versions(page, words), lambda version: _version_url(page, version)),
        _hits("Branches", _branches(page, words), lambda branch: page_url("history", project, branch=branch)),
        _hits("Products", products, lambda product: page_url("history", project, product=product.name)),
        _hits("Hardware", machines, lambda machine: page_url("runs", project, hardware=machine.name)),
        _hits("Configurations", configurations, lambda c: page_url("runs", project, configuration=c.name)),
    ]
    if page.is_member:
        uploads = Upload.objects.filter(in_name, project=project).order_by("-received_at")
        found.append(_hits("Uploads", uploads, lambda upload: page_url("upload", project, upload.pk)))
    return [hits for hits in found if hits.hits]


def _versions(page: ProjectPage, words: Sequence[str]) -> QuerySet[ServerVersion]:
    matching = _all_words(words, "version", "build", "commit", "product__name")
    versions = ServerVersion.objects.filter(matching, project=page.project)
    return versions.select_related("product").order_by("product__name", "-sort_key", "-committed_at")


def _branches(page: ProjectPage, words: Sequence[str]) -> QuerySet[Run, str]:
    runs = Run.objects.filter(_all_words(words, "branch"), project=page.project)
    return runs.order_by("branch").values_list("branch", flat=True).distinct()


def _version_url(page: ProjectPage, version: ServerVersion) -> str:
    query = {"product": version.product.name, "version": version.version, "commit": version.commit or ""}
    return page_url("runs", page.project, **query)


def _all_words(words: Iterable[str], *fields: str) -> Q:
    condition = Q()
    for word in words:
        anywhere = Q()
        for field in fields:
            anywhere |= Q(**{f"{field}__icontains": word})
        condition &= anywhere
    return condition


def _hits(kind: str, things: QuerySet[Any, T], url: Callable[[T], str]) -> Hits:
    some = list(things[: _MOST + 1])
    return Hits(kind, [Hit(str(thing), url(thing)) for thing in some[:_MOST]], more=len(some) > _MOST)
