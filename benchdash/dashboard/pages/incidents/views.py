"""The list of incidents, and one with its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from django import forms
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.functions import TruncHour
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.models import AuditEntry, Project, Scope, User
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.pages.incidents.figure import change_figure, shared_range
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import page_url, runs_url
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    alerts_shown_to,
    found_or_hidden,
    project_action,
    project_page,
)
from benchdash.regressions import queries
from benchdash.regressions import triage as triaging
from benchdash.regressions.analysis.spans import last_good_at, span
from benchdash.regressions.headlines import threads_words
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.surroundings import around
from benchdash.results.models import Product
from benchdash.results.points import histories


class TriageForm(forms.Form):
    """No state leaves it as it is; no assignee means nobody."""

    state = forms.ChoiceField(choices=Incident.State, required=False)
    assignee = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="nobody")
    reason = forms.CharField(
        max_length=2000, required=False, widget=forms.TextInput(attrs={"placeholder": "Why?"})
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = User.objects.filter(memberships__project=project, is_active=True).order_by("name", "email")
        self.fields["assignee"].queryset = members  # type: ignore[attr-defined]


class CommentForm(forms.Form):
    text = forms.CharField(max_length=10_000, label="Comment", widget=forms.Textarea(attrs={"rows": 3}))


_PAGE: Final = 50
_MAX_CHARTS: Final = 6
# No branch of git can be called so.
_RELEASES: Final = "~"
_NOT_WITHDRAWN: Final = (Incident.Status.SUSPECTED, Incident.Status.CONFIRMED)

# What people do about an incident, by the state that it leads to.
_VERBS: Final = {
    Incident.State.NEW: "Reopen",
    Incident.State.ACKNOWLEDGED: "Acknowledge",
    Incident.State.INVESTIGATING: "Investigate",
    Incident.State.EXPECTED: "Accept as expected",
    Incident.State.WONTFIX: "Decline to fix",
    Incident.State.FIXED: "Mark as fixed",
    Incident.State.INVALID: "Mark as invalid",
}


# Fields of a change point, as columns of a file.
_EVIDENCE: Final = (
    *("before", "after", "change", "confidence", "noise", "family_size", "expected_low", "expected_high"),
    *("groups_before", "groups_after", "state"),
)


@dataclass(frozen=True)
class ShownChangePoint:
    """A change point as a row of the evidence, and as a chart where it is one of the largest."""

    change_point: ChangePoint
    history_url: str
    title: str
    figure: Figure | None = None


@project_page
def incidents(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    chips = _filters(page.project, request.GET)
    # What one analysis of an archive found stands in the order of its history.
    order = (TruncHour("detected_at").desc(), "-started_at", "-pk")
    found = _chosen(queries.incidents(page.project), chips).order_by(*order)
    pages = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    is_filtered = any(chip.chosen for chip in chips)
    context = {
        "filters": chips,
        "reset_url": request.path if is_filtered else "",
        "is_filtered": is_filtered,
        "pages": pages,
        "rows": [(one, span(one, last_good_at=one.last_good_at)) for one in pages],  # type: ignore[attr-defined]
        "upload_command": upload_command(),
        "upload_url": page_url("upload_new", page.project) if page.may(Scope.UPLOAD) else "",
    }
    return page.render(request, "dashboard/incidents.html", context)


def _filters(project: Project, query: QueryDict) -> list[FilterChip]:
    products = Product.objects.filter(project=project).order_by("name").values_list("name", flat=True)
    known = Incident.objects.filter(project=project).order_by("branch")
    branches = known.values_list("branch", flat=True).distinct()
    statuses, named = query.getlist("status"), [(one or _RELEASES, one or "releases") for one in branches]
    return [
        filters.some_of("state", "State", Incident.State.choices, query.getlist("state")),
        filters.some_of("status", "Status", Incident.Status.choices, statuses, empty="not withdrawn"),
        filters.some_of("kind", "Kind", Incident.Kind.choices, query.getlist("kind")),
        filters.some_of_names("product", "Product", products, query.getlist("product")),
        filters.some_of("branch", "Branch", named, query.getlist("branch")),
    ]


def _chosen(found: QuerySet[Incident], chips: Sequence[FilterChip]) -> QuerySet[Incident]:
    chosen = {chip.name: [choice.value for choice in chip.chosen] for chip in chips}
    found = found.filter(status__in=chosen["status"] or _NOT_WITHDRAWN)
    found = filters.filtered(found, chips, {"state": "state", "kind": "kind", "product": "product__name"})
    if chosen["branch"]:
        found = found.filter(branch__in=["" if name == _RELEASES else name for name in chosen["branch"]])
    return found


@project_page
def incident(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    return _show(request, page, _incident(page, pk))


@project_action
def triage(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _incident(page, pk)
    page.require(Scope.TRIAGE)
    form = TriageForm(page.project, request.POST)
    if not form.is_valid():
        return _show(request, page, shown, triage_form=form)
    said = form.cleaned_data
    triaging.triage(
        shown,
        by=page.viewer,
        state=said["state"] or None,
        assignee=said["assignee"],
        unassign=said["assignee"] is None,
        reason=said["reason"],
    )
    saved = f"Saved: {shown.get_state_display()}, assigned to {shown.assignee or 'nobody'}."
    return page.done(request, saved, "incident", pk)


@project_action
def comment(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _incident(page, pk)
    page.require(Scope.TRIAGE)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _show(request, page, shown, comment_form=form)
    triaging.comment(shown, by=page.viewer, text=form.cleaned_data["text"])
    return redirect(f"{page_url('incident', page.project, pk)}#comments")


@project_page
def evidence_csv(_request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _incident(page, pk)
    columns = (
        *("workload", "threads", "metric", "unit", "direction", "hardware", "configuration"),
        *("last_good", "first_changed", "started_at", *_EVIDENCE, "series", "run"),
    )
    rows = [
        (
            *(one.series.workload.name, one.series.threads, one.series.metric, one.series.unit),
            *(one.series.direction, one.series.hardware.name, one.series.configuration.name),
            *(one.last_good and one.last_good.version, one.run.version, one.run.started_at.isoformat()),
            *(getattr(one, name) for name in (*_EVIDENCE, "series_id", "run_id")),
        )
        for one in queries.evidence(shown)
    ]
    return csv_file(f"incident-{shown.pk}", columns, rows)


def _incident(page: ProjectPage, pk: int) -> Incident:
    """Return an incident. Raise NotVisible where there is none of this number."""
    found = queries.incidents(page.project).filter(pk=pk)
    return found_or_hidden(found, f"there is no incident {pk} in the project '{page.project.slug}'")


def _show(
    request: HttpRequest,
    page: ProjectPage,
    shown: Incident,
    *,
    triage_form: TriageForm | None = None,
    comment_form: CommentForm | None = None,
) -> HttpResponse:
    evidence = queries.evidence(shown)
    # The groups before and after the largest change that has both.
    pairs = ((one.last_good, one.run) for one in evidence if one.last_good)
    series = [f"series={one.series_id}" for one in evidence[:_MAX_CHARTS]]
    may_triage = page.may(Scope.TRIAGE)
    if may_triage and triage_form is None:
        triage_form = TriageForm(page.project, initial={"assignee": shown.assignee_id})
    context = {
        "incident": shown,
        "span": span(shown, last_good_at=last_good_at(shown, evidence)),
        "evidence": _shown(page.project, evidence),
        "family": queries.family_evidence(evidence),
        "is_of_one_session": queries.is_of_one_session(evidence),
        "headline_series": sum(one.series.metric == shown.metric for one in _told_by(evidence)),
        "history_url": f"{page_url('history', page.project)}?{'&'.join(series)}" if series else "",
        "pair_url": next((runs_url(page.project, *pair) for pair in pairs), ""),
        "differences": queries.what_changed(evidence),
        "may_triage": may_triage,
        "triage_form": triage_form,
        "verbs": [(state, verb) for state, verb in _VERBS.items() if state != shown.state],
        "comment_form": comment_form or CommentForm(),
    }
    if page.is_member:
        about = f"incident {shown.pk}:"
        entries = AuditEntry.objects.filter(project=shown.project_id, subject__startswith=about)
        context |= {
            "comments": shown.comments.all(),
            "alerts": alerts_shown_to(page).filter(incident=shown).order_by("address"),
            "entries": entries.select_related("user", "token"),
        }
    # What was sent and cannot be taken is said with the form.
    is_refused = any(form and form.errors for form in (triage_form, comment_form))
    return page.render(request, "dashboard/incident.html", context, status=422 if is_refused else 200)


def _told_by(evidence: Sequence[ChangePoint]) -> Sequence[ChangePoint]:
    """Return the change points that the headline sums up: confirmed ones, where there are any."""
    return [one for one in evidence if one.state == ChangePoint.State.CONFIRMED] or evidence


def _shown(project: Project, evidence: Sequence[ChangePoint]) -> list[ShownChangePoint]:
    largest = evidence[:_MAX_CHARTS]
    points = histories([one.series_id for one in largest])
    near = [(one, *around(points[one.series_id], one)) for one in largest]
    y_range = shared_range([(of_series, one) for one, of_series, _ in near])
    figures = (change_figure(of_series, index, one, y_range=y_range) for one, of_series, index in near)
    return [
        ShownChangePoint(one, page_url("history", project, series=str(one.series_id)), _title(one), figure)
        for one, figure in zip_longest(evidence, figures)
    ]


def _title(change_point: ChangePoint) -> str:
    series = change_point.series
    threads = None if series.threads is None else threads_words(series.threads)
    return ", ".join(filter(None, [series.workload.name, threads, series.metric, series.hardware.name]))


urlpatterns = [
    path("incidents/", incidents, name="incidents"),
    path("incidents/<int:pk>/", incident, name="incident"),
    path("incidents/<int:pk>/triage/", triage, name="incident_triage"),
    path("incidents/<int:pk>/comments/", comment, name="incident_comment"),
    path("incidents/<int:pk>/evidence.csv", evidence_csv, name="incident_evidence"),
]
