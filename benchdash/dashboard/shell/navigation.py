"""The links of the top bar and the tabs of a project, and the addresses of its pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, Scope
from benchdash.addresses import QUERIES, ColumnId, PairQuery, ViewQuery
from benchdash.regressions.comparison.columns import id_at
from benchdash.results.models import Run, Series
from benchdash.results.points import Point


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


@dataclass(frozen=True)
class _Group:
    """A destination whose pages are its tabs: the link leads to the first that the viewer may open."""

    label: str
    entries: tuple[_Entry, ...]

    @property
    def pages(self) -> frozenset[str]:
        return frozenset(name for entry in self.entries for name in (entry.name, *entry.covers))


ROWS_OF_MATRIX: Final = frozenset({"compare", "curves", "latency"})
"""Names of pages that became rows of the matrix: articles and embeds say them still."""

_COMPARE = _Group(
    "Compare",
    (
        _Entry("Matrix", "matrix", ROWS_OF_MATRIX),
        _Entry("Two sides", "pair"),
        _Entry("Sweep", "sweep"),
    ),
)
_ARTICLES = _Entry("Articles", "articles", frozenset({"article", "article_add", "article_edit"}))
# Pages that show ratios alone to who may see no more.
_RELATIVE = (*(entry for entry in _COMPARE.entries if entry.name != "pair"), _ARTICLES)
_MAIN = (
    _Group("Overview", (_Entry("Overview", "overview"),)),
    _COMPARE,
    _Group("History", (_Entry("History", "history"),)),
    _Group(
        "Incidents",
        (_Entry("Incidents", "incidents", frozenset({"incident", "incidents_together", "rule"})),),
    ),
    _Group("Articles", (_ARTICLES,)),
)
# The menu of the project.
_MENU = (
    _Group(
        "Uploads and runs",
        (
            _Entry(
                "Uploads",
                "uploads",
                frozenset({"upload", "upload_new", "upload_change", "upload_delete", "upload_reread"}),
            ),
            _Entry("Runs", "runs", frozenset({"run"})),
        ),
    ),
    _Group(
        "Catalogue",
        (
            _Entry("Versions", "versions"),
            _Entry("Hardware", "hardware"),
            _Entry("Configurations", "configurations"),
            _Entry("Workloads", "workloads", frozenset({"workload_groups"})),
            _Entry("Metrics", "metrics", frozenset({"metric_change"})),
        ),
    ),
    _Group(
        "Notifications",
        (_Entry("Notifications", "notifications", frozenset({"subscription_change"}), members=True),),
    ),
    _Group(
        "Settings",
        (
            _Entry("Project settings", "project_settings", scope=Scope.ADMIN),
            _Entry("Tokens", "tokens", scope=Scope.ADMIN),
            _Entry("Badges and embeds", "share"),
            _Entry("Audit log", "audit", scope=Scope.TRIAGE),
        ),
    ),
)
_LABELS = {
    name: entry.label
    for group in (*_MAIN, *_MENU)
    for entry in group.entries
    for name in (entry.name, *entry.covers)
}


@dataclass(frozen=True)
class Navigation:
    """The links of a project: ``main`` stand in the bar, ``menu`` opens from the name of the project.

    ``upload`` leads to the form for files; it is None for who may send none.
    """

    main: Sequence[Link]
    menu: Sequence[Link]
    upload: Link | None = None


def navigation(project: Project, viewer: Viewer, current: str, query: ViewQuery | None = None) -> Navigation:
    """Return the links to the pages of a project; ``current`` is the URL name of the page being shown.

    Those to pages that share the selection of the page (``query``) take it along. Who may see relative
    figures only is led to the page that has them.
    """
    if not viewer.may_see_absolute(project):
        main = [_link(entry, project, current, None) for entry in _RELATIVE]
        return Navigation(main=main, menu=[])
    upload = Link("Upload", page_url("upload_new", project), current == "upload_new")
    return Navigation(
        main=_destinations(_MAIN, project, viewer, current, query),
        menu=_destinations(_MENU, project, viewer, current),
        upload=upload if viewer.may(Scope.UPLOAD, project) else None,
    )


def tabs(project: Project, viewer: Viewer, current: str, query: ViewQuery | None = None) -> Sequence[Link]:
    """Return the pages of the destination of the current one; empty where it is alone.

    Links to pages that show the same things in another way take the selection of the current page along.
    """
    group = next((group for group in (*_MAIN, *_MENU) if current in group.pages), None)
    if group is None or not viewer.may_see_absolute(project):
        return []
    links = [_link(entry, project, current, query) for entry in _visible(group, project, viewer)]
    return links if len(links) > 1 else []


def page_label(name: str) -> str:
    """Return the words in the bar or on the tab of a page."""
    return _LABELS[name]


def has_ratios(name: str) -> bool:
    """Tell whether a page shows ratios alone to who may see no more."""
    return any(name == entry.name or name in entry.covers for entry in _RELATIVE)


def _visible(group: _Group, project: Project, viewer: Viewer) -> list[_Entry]:
    return [
        entry
        for entry in group.entries
        if (viewer.is_member(project) or not entry.members)
        and (not entry.scope or viewer.may(entry.scope, project))
    ]


def _destinations(
    groups: Sequence[_Group], project: Project, viewer: Viewer, current: str, query: ViewQuery | None = None
) -> list[Link]:
    """Link each group that has a page for the viewer; one with a single page is called as that page."""
    links = []
    for group in groups:
        if entries := _visible(group, project, viewer):
            label = group.label if len(entries) > 1 else entries[0].label
            first = _link(entries[0], project, current, query)
            links.append(Link(label, first.url, current in group.pages))
    return links


def _link(entry: _Entry, project: Project, current: str, query: ViewQuery | None) -> Link:
    if query and entry.name in QUERIES:
        url = query.of_page(QUERIES[entry.name]).url(project)
    else:
        url = page_url(entry.name, project)
    return Link(entry.label, url, current == entry.name or current in entry.covers)


def page_url(name: str, project: Project, *args: int | str, **query: str) -> str:
    """Return the address of a page of the project, with a query of what is not empty."""
    url = reverse(f"dashboard:{name}", args=[project.slug, *args])
    chosen = urlencode({key: value for key, value in query.items() if value})
    return f"{url}?{chosen}" if chosen else url


def beside_url(project: Project, *runs: int) -> str:
    """Return the address of two runs side by side, or of one beside the run before it."""
    return PairQuery(runs=tuple(map(str, runs))).url(project)


def runs_url(project: Project, before: Run, after: Run) -> str:
    """Return the address of the versions of two runs, or of the runs where they are of one version."""
    ids = id_at(before.version_id, before), id_at(after.version_id, after)
    return _columns_url(project, *ids) if ids[0] != ids[1] else beside_url(project, before.pk, after.pk)


def points_url(project: Project, series: Series, before: Point, after: Point) -> str:
    """Return the same address for two groups of a history."""
    if before.version.pk == after.version.pk:
        return beside_url(project, before.run_id, after.run_id)
    return _columns_url(project, id_at(before.version.pk, series), id_at(after.version.pk, series))


def _columns_url(project: Project, base: ColumnId, against: ColumnId) -> str:
    return PairQuery(base=str(base), against=str(against)).url(project)
