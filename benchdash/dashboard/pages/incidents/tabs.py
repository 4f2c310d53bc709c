"""The tabs and filters of the list of incidents: which there are, and which the address chooses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Q, QuerySet

from benchdash.accounts.models import Project, User
from benchdash.addresses import IncidentsQuery, from_text, to_text
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.regressions import queries
from benchdash.regressions.models import Incident
from benchdash.results.models import Hardware, Product

OPEN: Final = "open"
EVERYTHING: Final = "everything"
LEFT_OUT: Final = "left-out"
MINE: Final = "mine"
NOBODY: Final = "nobody"
_ALWAYS: Final = (OPEN, EVERYTHING)

_State, _Kind = Incident.State, Incident.Kind
CURRENT: Final = Q(status__in=[Incident.Status.SUSPECTED, Incident.Status.CONFIRMED], folded_into=None)
_SNOOZED: Final = ~Q(snoozed_until=None) | ~Q(snoozed_until_version="")
_SET_ASIDE: Final = (_State.WONTFIX, _State.EXPECTED, _State.INVALID)


@dataclass(frozen=True)
class Tab:
    """One choice of incidents, which is one click away. ``empty`` says that there is none of it."""

    name: str
    label: str
    condition: Q
    empty: str


@dataclass(frozen=True)
class TabLink:
    label: str
    url: str
    count: int
    is_current: bool


TABS: Final[Mapping[str, Tab]] = {
    tab.name: tab
    for tab in (
        Tab(OPEN, "Open", queries.open_filter(), "Nothing is open"),
        Tab("snoozed", "Snoozed", CURRENT & _SNOOZED & Q(state__in=Incident.OPEN), "Nothing is snoozed"),
        Tab(
            "fixed",
            "Recovered or fixed",
            CURRENT & Q(state=_State.FIXED) & ~Q(kind=_Kind.IMPROVEMENT),
            "Nothing has recovered or was fixed",
        ),
        Tab(
            "declined",
            "Declined or expected",
            CURRENT & Q(state__in=_SET_ASIDE),
            "Nothing was declined, accepted as expected or marked as invalid",
        ),
        Tab(
            "historical",
            "Historical",
            CURRENT & Q(historical=True) & ~Q(kind=_Kind.IMPROVEMENT),
            "Nothing is historical",
        ),
        Tab(
            "improvements",
            "Improvements",
            CURRENT & Q(kind=_Kind.IMPROVEMENT, left_out=False),
            "Nothing became better",
        ),
        Tab(
            "environment",
            "Environment",
            CURRENT & Q(kind=_Kind.ENVIRONMENT),
            "No machine changed its speed as a whole",
        ),
        Tab("silence", "Silence", CURRENT & Q(kind=_Kind.SILENCE), "Nothing stopped to report"),
        Tab(
            LEFT_OUT,
            "Left out by the rule",
            CURRENT & Q(left_out=True),
            "The rule of the project leaves nothing out",
        ),
        Tab(EVERYTHING, "Everything", Q(), "There is none"),
    )
}


def chosen_tab(query: IncidentsQuery) -> Tab:
    """Return the tab of an address. One that asks for states or kinds without a tab asks among everything."""
    is_asking = query.state or query.status or query.kind
    return TABS.get(query.tab, TABS[EVERYTHING if is_asking else OPEN])


def chips_of(page: ProjectPage, query: IncidentsQuery, tab: Tab, people: Iterable[User]) -> list[FilterChip]:
    """Return the filters; ``people`` are those whom incidents may be assigned to."""
    project = page.project
    products = Product.objects.filter(project=project).order_by("name").values_list("name", flat=True)
    machines = Hardware.objects.filter(project=project).order_by("name").values_list("name", flat=True)
    known = Incident.objects.filter(project=project).order_by("branch")
    branches = known.values_list("branch", flat=True).distinct()
    named = [(to_text(one), one or "releases") for one in branches]
    chips = [
        filters.some_of_names("product", "Product", products, query.product),
        filters.some_of("branch", "Branch", named, query.branch),
        filters.some_of_names("hardware", "Hardware", machines, query.hardware),
        filters.some_of("state", "State", Incident.State.choices, query.state),
        filters.some_of("status", "Status", Incident.Status.choices, query.status),
        filters.some_of("kind", "Kind", Incident.Kind.choices, query.kind),
    ]
    if page.is_member:
        chips.insert(0, _assignee_chip(page, query, people))
    return [*chips, filters.unseen("tab", TABS, shown=tab.label.lower())]


def _assignee_chip(page: ProjectPage, query: IncidentsQuery, people: Iterable[User]) -> FilterChip:
    others = [(str(user.pk), str(user)) for user in people if user != page.viewer.user]
    own = [(MINE, "me")] if page.viewer.user else []
    options = [*own, (NOBODY, "nobody"), *others]
    return filters.one_of("assignee", "Assigned to", options, query.assignee, empty="anybody")


def members(project: Project) -> QuerySet[User]:
    """Return whom an incident may be assigned to."""
    return User.objects.filter(memberships__project=project, is_active=True).order_by("name", "email")


_FIELDS: Final = ("state", "status", "kind", "product__name", "branch")


def condition_of(page: ProjectPage, chips: list[FilterChip]) -> Q:
    """Return the condition that the chips make together."""
    chosen = {chip.name: [choice.value for choice in chip.chosen] for chip in chips}
    condition = Q()
    chosen["branch"] = list(map(from_text, chosen["branch"]))
    for field in _FIELDS:
        if values := chosen[field.partition("__")[0]]:
            condition &= Q(**{f"{field}__in": values})
    if chosen["hardware"]:
        machines = Hardware.objects.filter(project=page.project, name__in=chosen["hardware"])
        condition &= queries.seen_on(machines.values_list("pk", flat=True))
    for value in chosen.get("assignee", []):
        whom = {MINE: page.viewer.user, NOBODY: None}
        condition &= Q(assignee=whom[value] if value in whom else int(value))
    return condition


def tab_links(query: IncidentsQuery, current: Tab, project: Project, condition: Q) -> dict[str, TabLink]:
    """Return the tabs by name, with how many incidents each shows under the filters; one statement.

    Without any, a tab is left out unless it is the current one or always there.
    """
    found = Incident.objects.filter(condition, project=project)
    counts = found.aggregate(**{name: Count("pk", filter=tab.condition) for name, tab in TABS.items()})
    return {
        name: TabLink(tab.label, query.url(project, tab=name), counts[name], tab is current)
        for name, tab in TABS.items()
        if counts[name] or tab is current or name in _ALWAYS
    }
