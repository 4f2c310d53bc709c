"""Leaving runs of a span out of a history, taking them back, and writing on the span."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.access import NotVisible
from benchdash.accounts.models import Scope
from benchdash.addresses import history_of, moment, texts_of
from benchdash.dashboard.shell import series_words
from benchdash.dashboard.shell.numbers import counted
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    found_or_hidden,
    project_form,
    sent_reason,
)
from benchdash.database.ids import ids_in
from benchdash.results.annotations import annotate, annotations_of, remove_annotation
from benchdash.results.corrections import (
    MAX_RUNS_AT_ONCE,
    CorrectionError,
    exclude_runs,
    restore_runs,
)
from benchdash.results.models import Annotation, Run, Series
from benchdash.results.points import histories_and_excluded

_MAX_SERIES: Final = 60
_MAX_ROWS: Final = 200


@dataclass(frozen=True)
class Stretch:
    """The groups of some series whose first runs lie between two times, both included; None: no end."""

    series: Sequence[Series]
    since: datetime | None
    until: datetime | None

    @cached_property
    def run_ids(self) -> list[int]:
        included, excluded = histories_and_excluded({one.pk: one for one in self.series})
        points = (point for parts in (included, excluded) for points in parts.values() for point in points)
        return sorted({run for point in points if self._has(point.time) for run in point.run_ids})

    @cached_property
    def runs(self) -> list[Run]:
        """Its runs, as far as they can be corrected at once."""
        found = Run.objects.filter(pk__in=self.run_ids[: MAX_RUNS_AT_ONCE + 1])
        return list(found.select_related("version", "workload", "hardware").order_by("started_at", "pk"))

    @property
    def is_too_long(self) -> bool:
        return len(self.run_ids) > MAX_RUNS_AT_ONCE

    @property
    def counted(self) -> list[Run]:
        return [run for run in self.runs if not run.is_excluded]

    @property
    def excluded(self) -> list[Run]:
        return [run for run in self.runs if run.is_excluded]

    def _has(self, time: datetime) -> bool:
        return (self.since is None or time >= self.since) and (self.until is None or time <= self.until)


@project_form
def curate(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Show the runs of a stretch of a history, and do with them what the form says."""
    page.require(Scope.TRIAGE)
    stretch = _stretch(request, page)
    history_url = history_of(*(one.pk for one in stretch.series)).url(page.project)
    if request.method == "POST":
        try:
            messages.success(request, _do(request, page, stretch))
            return redirect(history_url)
        except (CorrectionError, ValidationError) as error:
            said = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            messages.error(request, f"Nothing was changed: {said}.")
    first, last = (stretch.runs[0], stretch.runs[-1]) if stretch.runs else (None, None)
    context: dict[str, Any] = {
        "stretch": stretch,
        "title": series_words.title(stretch.series),
        "first": first,
        "last": last,
        "at": stretch.since or (last and last.started_at),
        "until": stretch.until,
        "rows": stretch.runs[:_MAX_ROWS],
        "more": max(0, len(stretch.runs) - _MAX_ROWS),
        "most": MAX_RUNS_AT_ONCE,
        "hardware": {one.hardware_id: one.hardware for one in stretch.series}.values(),
        "products": {one.product_id: one.product for one in stretch.series}.values(),
        "annotations": annotations_of(stretch.series),
        "history_url": history_url,
    }
    status = 422 if request.method == "POST" else 200
    return page.render(request, "dashboard/curate.html", context, status=status)


def _stretch(request: HttpRequest, page: ProjectPage) -> Stretch:
    """Return what the address names. Raises NotVisible where there is none of its series."""
    ids = ids_in(texts_of(request.GET, "series"))[:_MAX_SERIES]
    known = Series.objects.filter(project=page.project, pk__in=ids)
    series = list(known.select_related("product", "hardware", "configuration", "workload").order_by("pk"))
    if not series:
        raise NotVisible("none of these series is here")
    return Stretch(series, *(moment(request.GET.get(name, "")) for name in ("since", "until")))


def _do(request: HttpRequest, page: ProjectPage, stretch: Stretch) -> str:
    """Do what the form says, and return what was done. Raises CorrectionError and ValidationError."""
    reason = sent_reason(request)
    match request.POST.get("do"):
        case "exclude":
            runs = [run.pk for run in stretch.counted]
            effect = exclude_runs(page.project, runs, by=page.viewer, reason=reason)
            return f"{_runs(effect.runs)} excluded. The series are looked at again."
        case "restore":
            runs = [run.pk for run in stretch.excluded]
            effect = restore_runs(page.project, runs, by=page.viewer, reason=reason)
            return f"{_runs(effect.runs)} restored. The series are looked at again."
        case "annotate":
            at = moment(request.POST.get("at", ""))
            if at is None:
                raise ValidationError({"at": "say when it happened"})
            wide = request.POST.get("of", "")
            annotate(
                page.project,
                at=at,
                until=moment(request.POST.get("until", "")),
                text=request.POST.get("text", "").replace("\0", ""),
                hardware=next(
                    (one.hardware for one in stretch.series if wide == f"hardware-{one.hardware_id}"), None
                ),
                product=next(
                    (one.product for one in stretch.series if wide == f"product-{one.product_id}"), None
                ),
                by=page.viewer,
            )
            return "The annotation is on the charts."
        case "remove":
            of_project = Annotation.objects.filter(
                project=page.project, pk__in=ids_in([request.POST.get("annotation", "")])
            )
            remove_annotation(found_or_hidden(of_project, "the annotation is gone"), by=page.viewer)
            return "The annotation is removed."
    raise CorrectionError("the form does not say what to do")


def _runs(number: int) -> str:
    return f"{counted(number, 'run')} {'is' if number == 1 else 'are'}"


urlpatterns = [path("history/curate/", curate, name="curate")]
