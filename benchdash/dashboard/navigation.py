"""What stands in the top bar of a project, for one viewer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import URLResolver, get_resolver, get_script_prefix, get_urlconf, reverse

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, Scope
from benchdash.dashboard.carried import carried


@dataclass(frozen=True)
class Link:
    label: str
    url: str
    is_current: bool = False


@dataclass(frozen=True)
class _Entry:
    label: str
    name: str
    # The pages that belong under this entry.
    covers: frozenset[str] = frozenset()
    members: bool = False
    scope: str = ""


# The pages under "Compare", as tabs.
_COMPARE = (
    _Entry("Lines", "compare"),
    _Entry("Side by side", "pair"),
    _Entry("Matrix", "matrix"),
    _Entry("Curves", "curves"),
    _Entry("Latency", "latency"),
    _Entry("Settings", "sweep"),
    _Entry("Articles", "articles", frozenset({"article", "article_add", "article_edit"})),
)

_UNDER_COMPARE = frozenset(name for entry in _COMPARE for name in (entry.name, *entry.covers))

_MAIN = (
    _Entry("Overview", "overview"),
    _Entry("Compare", "compare", _UNDER_COMPARE),
    _Entry("History", "history"),
    _Entry("Incidents", "incidents", frozenset({"incident", "rule"})),
    _Entry(
        "Uploads",
        "uploads",
        frozenset({"upload", "upload_new", "upload_change", "upload_delete", "upload_reread"}),
    ),
)
_MORE = (
    _Entry("Runs", "runs", frozenset({"run"})),
    _Entry("Versions", "versions"),
    _Entry("Hardware", "hardware"),
    _Entry("Configurations", "configurations"),
    _Entry("Workloads", "workloads", frozenset({"workload_groups"})),
    _Entry("Subscriptions", "subscriptions", members=True),
    _Entry("Alerts", "alerts", members=True),
    _Entry("Audit log", "audit", scope=Scope.TRIAGE),
    _Entry("Tokens", "tokens", scope=Scope.ADMIN),
    _Entry("Project settings", "project_settings", scope=Scope.ADMIN),
)


@dataclass(frozen=True)
class Navigation:
    main: Sequence[Link]
    more: Sequence[Link]

    @property
    def is_under_more(self) -> bool:
        return any(link.is_current for link in self.more)


def navigation(project: Project, viewer: Viewer, current: str) -> Navigation:
    """The links to the pages of a project; ``current`` is the URL name of the page being shown."""
    return Navigation(
        main=_links(_MAIN, project, viewer, current), more=_links(_MORE, project, viewer, current)
    )


def tabs(project: Project, current: str, query: QueryDict) -> Sequence[Link]:
    """The pages beside the current one that show the same things another way; empty where it stands alone.

    Each link takes along what both pages understand of the current one's address.
    """
    if current not in _UNDER_COMPARE:
        return []
    links = []
    for entry in _COMPARE:
        url, chosen = page_url(entry.name, project), carried(query, here=current, there=entry.name)
        links.append(Link(entry.label, f"{url}?{chosen}" if chosen else url, _is_shown(entry, current)))
    return links


def _links(entries: Sequence[_Entry], project: Project, viewer: Viewer, current: str) -> list[Link]:
    links = []
    for entry in entries:
        if entry.members and not viewer.is_member(project):
            continue
        if entry.scope and not viewer.may(entry.scope, project):
            continue
        url = page_url(entry.name, project)
        links.append(Link(entry.label, url, is_current=_is_shown(entry, current)))
    return links


def _is_shown(entry: _Entry, current: str) -> bool:
    return current == entry.name or current in entry.covers


def page_url(name: str, project: Project, *args: int | str, **query: str) -> str:
    """The address of a page of the project, with a query of what is not empty."""
    if args:
        url = reverse(f"dashboard:{name}", args=[project.slug, *args])
    else:
        url = _address(get_resolver(get_urlconf()), get_script_prefix(), name, project.slug)
    chosen = urlencode({key: value for key, value in query.items() if value})
    return f"{url}?{chosen}" if chosen else url


def page_urls(name: str, project: Project, *args: str) -> Callable[[int], str]:
    """The addresses of the pages that are told apart by a number, which is the last in them."""
    before, _, after = page_url(name, project, *args, 0).rpartition("0")
    return lambda number: f"{before}{number}{after}"


@lru_cache(maxsize=1000)
def _address(_resolver: URLResolver, _prefix: str, name: str, slug: str) -> str:
    """Every page has fifteen of them, which stay as they are."""
    return reverse(f"dashboard:{name}", args=[slug])
