"""One incident with its evidence, its history, and what people do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from benchdash.accounts.models import Project, Scope
from benchdash.charts.changes import change_figure, shared_range
from benchdash.charts.figure import Figure
from benchdash.dashboard.pages.incidents.advice import what_now
from benchdash.dashboard.pages.incidents.forms import CommentForm, TriageForm, add_errors
from benchdash.dashboard.pages.incidents.timeline import timeline
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.navigation import page_url, runs_url
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    alerts_shown_to,
    found_or_hidden,
    project_action,
    project_page,
)
from benchdash.regressions import links, queries
from benchdash.regressions import triage as triaging
from benchdash.regressions.analysis.spans import last_good_at, span
from benchdash.regressions.counters import moved_counters
from benchdash.regressions.headlines import threads_words
from benchdash.regressions.models import ChangePoint, Incident, Silence
from benchdash.regressions.ranges import range_of
from benchdash.regressions.surroundings import around, level_starts
from benchdash.regressions.used_units import in_used_unit
from benchdash.results.points import histories

_MAX_CHARTS: Final = 6

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
def incident(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    return _show(request, page, _incident(page, pk))


@project_action
def triage(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _incident(page, pk)
    page.require(Scope.TRIAGE)
    form = TriageForm(shown, request.POST)
    if form.is_valid():
        try:
            triaging.triage(shown, by=page.viewer, **form.wanted())
        except ValidationError as error:
            add_errors(form, error)
            shown = _incident(page, pk)
        else:
            saved = f"Saved: {shown.get_state_display()}, assigned to {shown.assignee or 'nobody'}."
            return page.done(request, saved, "incident", pk)
    return _show(request, page, shown, triage_form=form)


@project_action
def comment(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _incident(page, pk)
    page.require(Scope.TRIAGE)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _show(request, page, shown, comment_form=form)
    said = triaging.comment(shown, by=page.viewer, text=form.cleaned_data["text"])
    return redirect(f"{page_url('incident', page.project, pk)}#comment-{said.pk}")


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
        for one in map(in_used_unit, queries.evidence(shown))
    ]
    return csv_file(f"incident-{shown.pk}", columns, rows)


def _incident(page: ProjectPage, pk: int) -> Incident:
    """Return an incident. Raise NotVisible where there is none of this number."""
    found = queries.incidents(page.project).filter(pk=pk)
    found = found.select_related(
        "project", "recovered_by__product", "folded_into__product", "folded_into__hardware"
    )
    return found_or_hidden(found, f"there is no incident {pk} in the project '{page.project.slug}'")


def _show(
    request: HttpRequest,
    page: ProjectPage,
    shown: Incident,
    *,
    triage_form: TriageForm | None = None,
    comment_form: CommentForm | None = None,
) -> HttpResponse:
    project, evidence = page.project, queries.evidence(shown)
    # The groups before and after the largest change that has both.
    pairs = ((one.last_good, one.run) for one in evidence if one.last_good)
    series = [f"series={one.series_id}" for one in evidence[:_MAX_CHARTS]]
    versions = range_of(shown)
    folded = queries.incidents(project).filter(folded_into=shown)
    may_triage = page.may(Scope.TRIAGE)
    if may_triage and triage_form is None:
        triage_form = TriageForm(shown)
    context = {
        "incident": shown,
        "span": span(shown, last_good_at=last_good_at(shown, evidence)),
        "evidence": _shown(shown, evidence),
        "family": queries.family_evidence(evidence),
        "is_of_one_machine": len({(one.series.hardware_id, one.series.configuration_id) for one in evidence})
        == 1,
        "is_of_one_session": queries.is_of_one_session(evidence),
        "headline_series": sum(one.series.metric == shown.metric for one in _told_by(evidence)),
        "history_url": f"{page_url('history', project)}?{'&'.join(series)}" if series else "",
        "pair_url": next((runs_url(project, *pair) for pair in pairs), ""),
        "compare_url": links.compare_url(shown, project),
        "bug_url": links.bug_url(shown, project),
        "differences": queries.what_changed(evidence),
        "range": versions,
        "counters": moved_counters(evidence),
        "what_now": what_now(shown, evidence, versions),
        "runs_url": _runs_url(project, shown),
        "recovers": shown.recovers.select_related("product").order_by("started_at"),
        "folded": [(one, span(one, last_good_at=one.last_good_at)) for one in folded],  # type: ignore[attr-defined]
        "timeline": timeline(shown, is_member=page.is_member),
        "may_triage": may_triage,
        "triage_form": triage_form,
        "actions": [(state, one) for state, one in triaging.ACTIONS.items() if state != shown.state],
        "comment_form": comment_form or CommentForm(),
    }
    if page.is_member:
        context["alerts"] = alerts_shown_to(page).filter(incident=shown).order_by("address")
    # The form says which part of it cannot be taken.
    is_refused = any(form and form.errors for form in (triage_form, comment_form))
    return page.render(request, "dashboard/incident.html", context, status=422 if is_refused else 200)


def _runs_url(project: Project, incident: Incident) -> str:
    """Return the address of the runs of a silence; empty for other incidents."""
    silence: Silence | None = getattr(incident, "silence", None)
    if silence is None:
        return ""
    names = {"hardware": silence.hardware, "product": silence.product, "workload": silence.workload}
    return page_url("runs", project, **{name: str(one) for name, one in names.items() if one})


def _told_by(evidence: Sequence[ChangePoint]) -> Sequence[ChangePoint]:
    """Return the change points that the headline sums up: confirmed ones, where there are any."""
    return [one for one in evidence if one.state == ChangePoint.State.CONFIRMED] or evidence


def _shown(incident: Incident, evidence: Sequence[ChangePoint]) -> list[ShownChangePoint]:
    project = incident.project
    largest = evidence[:_MAX_CHARTS]
    points = histories([one.series_id for one in largest])
    starts = level_starts([one.series_id for one in largest])
    near = [(one, *around(points[one.series_id], one)) for one in largest]
    y_range = shared_range([(of_series, one) for one, of_series, _ in near])
    figures = (
        change_figure(
            of_series,
            index,
            one,
            y_range=y_range,
            starts=starts[one.series_id],
            is_large=one is evidence[0],
        )
        for one, of_series, index in near
    )
    return [
        ShownChangePoint(
            one, page_url("history", project, series=str(one.series_id)), _title(incident, one), figure
        )
        for one, figure in zip_longest(evidence, figures)
    ]


def _title(incident: Incident, change_point: ChangePoint) -> str:
    series = change_point.series
    product = "" if incident.product else series.product.name
    threads = None if series.threads is None else threads_words(series.threads)
    parts = [product, series.workload.name, threads, series.metric, series.hardware.name]
    return ", ".join(filter(None, parts))
