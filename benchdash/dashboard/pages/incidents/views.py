"""The list of incidents, and what people do about several of them at once."""

from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils import timezone

from benchdash.accounts.models import Scope
from benchdash.addresses import IncidentsQuery
from benchdash.dashboard.pages.incidents import incident_views
from benchdash.dashboard.pages.incidents.forms import TogetherForm, add_errors
from benchdash.dashboard.pages.incidents.tabs import (
    CURRENT,
    EVERYTHING,
    OPEN,
    chips_of,
    chosen_tab,
    condition_of,
    members,
    tab_links,
)
from benchdash.dashboard.pages.incidents.wishes import question, what_was_done
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.numbers import counted
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_page
from benchdash.regressions import queries
from benchdash.regressions import triage as triaging
from benchdash.regressions.analysis.spans import span
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.briefs import mornings_of

_PAGE: Final = 50
_MAX_OTHERS: Final = 10
_UNDO_WITHIN_S: Final = 600


@project_page
def incidents(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    query = IncidentsQuery.of(request.GET)
    tab = chosen_tab(query)
    people = list(members(page.project)) if page.is_member else []
    chips = chips_of(page, query, tab, people)
    is_filtered = any(chip.chosen for chip in chips if chip.name != "tab")
    condition = condition_of(page, chips)
    tabs = tab_links(query, tab, page.project, condition)
    found = _with_relatives(queries.incidents(page.project).filter(condition, tab.condition))
    paginator = Paginator(found, _PAGE)
    paginator.count = tabs[tab.name].count
    pages = paginator.get_page(request.GET.get("page"))
    may_triage = page.may(Scope.TRIAGE)
    is_empty = not is_filtered and not tabs[EVERYTHING].count
    lost: list[Any] = []
    others: list[Any] = []
    if tab.name == OPEN and not (is_filtered or is_empty):
        holding = [one.pk for one in mornings_of([page.project])[page.project.pk].lost]
        lost = list(_with_relatives(queries.incidents(page.project).filter(CURRENT, pk__in=holding)))
    if tab.name == OPEN and not (is_filtered or is_empty or paginator.count or lost):
        others = list(_with_relatives(queries.incidents(page.project).filter(CURRENT))[:_MAX_OTHERS])
    context = {
        # Among none there is nothing to choose.
        "filters": [replace(chip, is_shown=False) for chip in chips] if is_empty else chips,
        "reset_url": page_url("incidents", page.project, tab=tab.name) if is_filtered else "",
        "kept": [("tab", query.tab)] if query.tab else [],
        "tabs": [] if is_empty else list(tabs.values()),
        "tab": tab,
        "is_empty": is_empty,
        "is_filtered": is_filtered,
        "pages": pages,
        "rows": [(one, span(one, last_good_at=one.last_good_at)) for one in pages],
        "lost": [(one, span(one, last_good_at=one.last_good_at)) for one in lost],
        "others": [(one, span(one, last_good_at=one.last_good_at)) for one in others],
        "may_triage": may_triage,
        "form": TogetherForm(people) if may_triage else None,
        "undo": _to_undo(request, page),
        "upload_command": upload_command(),
        "upload_url": page_url("upload_new", page.project) if page.may(Scope.UPLOAD) else "",
    }
    return page.render(request, "dashboard/incidents.html", context)


def _with_relatives(found: Any) -> Any:
    """Read what explains, ended or stopped each incident along with it."""
    folded = Incident.objects.select_related("product").order_by("-started_at", "-pk")
    return found.select_related(
        "recovered_by", "folded_into__hardware", "silence__hardware", "silence__product", "silence__workload"
    ).prefetch_related(Prefetch("folded", queryset=folded))


@project_action
def triage_together(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Ask before several incidents are triaged, and do it once that is answered."""
    page.require(Scope.TRIAGE)
    chosen = [int(pk) for pk in request.POST.getlist("incident") if pk.isdecimal() and len(pk) < 19]
    found = list(
        queries.incidents(page.project)
        .select_related("project")
        .filter(pk__in=chosen[: triaging.MAX_TOGETHER])
    )
    form = TogetherForm(members(page.project), request.POST)
    wanted = form.wanted() if form.is_valid() else {}
    if form.is_valid() and not (found and wanted):
        messages.warning(request, "Nothing was done: choose incidents, and what to do about them.")
        return _back(request, page)
    if wanted and request.POST.get("is_sure"):
        formerly = [triaging.decided(one) for one in found]
        try:
            triaging.triage_together(((one, wanted) for one in found), by=page.viewer)
        except ValidationError as error:
            add_errors(form, error)
        else:
            done = {"at": timezone.now().timestamp(), "said": what_was_done(wanted, len(found))}
            request.session[_key(page)] = {**done, "formerly": formerly}
            return _back(request, page)
    context = {
        "form": form,
        "question": question(wanted, len(found)) if wanted else "Triage several incidents",
        "rows": [(one, span(one, last_good_at=one.last_good_at)) for one in found],  # type: ignore[attr-defined]
        "query": request.POST.get("query", ""),
    }
    status = 422 if form.errors else 200
    return page.render(request, "dashboard/incidents_together.html", context, status=status)


@project_action
def undo(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Decide again what was decided before the last time that several incidents were triaged."""
    page.require(Scope.TRIAGE)
    done = _to_undo(request, page)
    if done is None:
        messages.warning(request, "There is nothing to undo any more.")
    else:
        del request.session[_key(page)]
        number = triaging.restore(page.project, done["formerly"], by=page.viewer)
        messages.success(request, f"Undone: {counted(number, 'incident')} as before.")
    return _back(request, page)


def _to_undo(request: HttpRequest, page: ProjectPage) -> dict[str, Any] | None:
    """Return what was done last in this session, unless that is long ago."""
    done: dict[str, Any] | None = request.session.get(_key(page))
    is_fresh = done is not None and timezone.now().timestamp() - done["at"] < _UNDO_WITHIN_S
    return done if is_fresh else None


def _key(page: ProjectPage) -> str:
    return f"triaged-{page.project.pk}"


def _back(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Go to the list as it was chosen."""
    query = request.POST.get("query", "")
    return redirect(f"{page_url('incidents', page.project)}{f'?{query}' if query else ''}")


urlpatterns = [
    path("incidents/", incidents, name="incidents"),
    path("incidents/together/", triage_together, name="incidents_together"),
    path("incidents/undo/", undo, name="incidents_undo"),
    path("incidents/<int:pk>/", incident_views.incident, name="incident"),
    path("incidents/<int:pk>/triage/", incident_views.triage, name="incident_triage"),
    path("incidents/<int:pk>/comments/", incident_views.comment, name="incident_comment"),
    path("incidents/<int:pk>/evidence.csv", incident_views.evidence_csv, name="incident_evidence"),
]
