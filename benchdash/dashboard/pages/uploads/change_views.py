"""Mistakes with files, mended: other metadata, deleting and restoring, reading a file again."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.access import NotVisible
from benchdash.accounts.models import Scope
from benchdash.dashboard.pages.uploads import descriptions as received
from benchdash.dashboard.pages.uploads.descriptions import is_small
from benchdash.dashboard.pages.uploads.forms import ChangeForm, as_texts, changes_in
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.commands import reimport_command
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_form, sent_reason
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.results.models import Run, Series
from ingest import services
from ingest.archives import services as archive_services
from ingest.errors import FieldError, FieldsError, FileRefusedError, FileUnavailableError, UploadBusyError
from ingest.models import Upload
from ingest.queries import known_names, other_forms, upload_for
from ingest.receiving.reimports import ReimportOutcome, Reread, readable_uploads, reimport

# The first of these that tells two values apart.
_DIGITS: Final = (4, 6, 9, 17)


@dataclass(frozen=True)
class ChangedRow:
    """A reading as it is and as it would be; None where there is none. ``run`` is empty for the only one."""

    run: str
    metric: str
    unit: str
    before: float | None
    after: float | None

    @property
    def texts(self) -> tuple[str, str]:
        """Both values, with as many digits as tell them apart."""
        written = [(numbers.number(self.before, n), numbers.number(self.after, n)) for n in _DIGITS]
        return next((pair for pair in written if pair[0] != pair[1]), written[0])

    @property
    def change(self) -> float | None:
        return self.after / self.before - 1 if self.before and self.after is not None else None


def changed_rows(reread: Reread, *, most: int) -> list[ChangedRow]:
    """Return the first readings that change, in a constant number of statements."""
    runs = {}
    for run in Run.objects.filter(upload_id=reread.upload.pk).select_related("workload"):
        threads = [] if run.threads is None else [threads_words(run.threads)]
        runs[run.key] = ", ".join([run.workload.name, *threads])
    if len(runs) == 1:
        runs = dict.fromkeys(runs, "")
    metrics = {one.metric for one in reread.changes}
    known = Series.objects.filter(project=reread.upload.project_id, metric__in=metrics).order_by()
    units = dict(known.values_list("metric", "unit").distinct())
    return [
        ChangedRow(runs.get(one.run, one.run), one.metric, units.get(one.metric, ""), one.before, one.after)
        for one in reread.changes[:most]
    ]


def planned_in_words(reread: Reread) -> str:
    readings = _readings(reread)
    return {
        ReimportOutcome.SAME: "Every reading is as it was: there is nothing to change.",
        ReimportOutcome.CHANGED: f"{readings} would change.",
        ReimportOutcome.UNDERSTOOD: (
            f"It was refused, and is understood now: {readings} would come into the history."
        ),
        ReimportOutcome.COPY: (
            "It is another form of runs that are there: it would be linked to them, and not be counted again."
        ),
        ReimportOutcome.STILL_REFUSED: "It is refused as before.",
        ReimportOutcome.LEFT: "It is no longer understood, so it would be left as it was.",
        ReimportOutcome.BUSY: "It is being imported just now; try again when that is done.",
        ReimportOutcome.UNAVAILABLE: "Its file cannot be read now, so it would be left as it was.",
    }[reread.outcome]


def done_in_words(reread: Reread) -> str:
    name, readings = reread.upload.name, _readings(reread)
    return {
        ReimportOutcome.SAME: f"Read {name} again: every reading is as it was.",
        ReimportOutcome.CHANGED: f"Read {name} again: {readings} changed.",
        ReimportOutcome.UNDERSTOOD: f"{name} is understood now: {readings} came into the history.",
        ReimportOutcome.COPY: f"{name} is another form of runs that are there, and not counted again.",
        ReimportOutcome.STILL_REFUSED: f"{name} is refused as before.",
        ReimportOutcome.LEFT: f"{name} is no longer understood and was left as it was.",
        ReimportOutcome.BUSY: f"{name} is being imported just now; try again when that is done.",
        ReimportOutcome.UNAVAILABLE: f"The file of {name} cannot be read now; nothing was changed.",
    }[reread.outcome]


def _readings(reread: Reread) -> str:
    return numbers.counted(len(reread.changes), "reading")


_MAX_RUNS: Final = 500
_MAX_READINGS: Final = 500


@project_form
def upload_change(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Change metadata in two steps: what it would do, then doing it."""
    shown = upload_for(page.viewer, pk, page.project)
    page.require(Scope.UPLOAD)
    if request.method != "POST":
        form = ChangeForm(is_archive=shown.is_archive, initial=as_texts(shown.metadata))
        return _change_page(request, page, shown, form)
    form = ChangeForm(request.POST, is_archive=shown.is_archive)
    found: dict[str, Any] = {}
    try:
        changes = changes_in(request.POST, shown.metadata)
        if form.is_valid() and request.POST.get("step") == "change":
            reason = form.cleaned_data["reason"]
            amended = services.amend_upload(shown, changes, by=page.viewer, reason=reason)
            return page.done(request, f"Changed: {', '.join(changes)}.", "upload", amended.pk)
        found = _previewed(shown, archive_services.preview_amend(shown, changes, by=page.viewer))
    except FieldsError as error:
        form.show_errors(error.errors)
    except FileRefusedError as error:
        found = {"troubles": received.troubles_of(shown, error.errors)}
    except (UploadBusyError, FileUnavailableError) as error:
        form.show_errors([FieldError("", str(error))])
    return _change_page(request, page, shown, form, found)


def _change_page(
    request: HttpRequest,
    page: ProjectPage,
    shown: Upload,
    form: ChangeForm,
    found: dict[str, Any] | None = None,
) -> HttpResponse:
    context = {
        "upload": shown,
        "form": form,
        "known": known_names(page.project),
        "is_small": is_small(shown),
        "preview_seconds": settings.ARCHIVE_DRY_RUN_SECONDS,
        **(found or {}),
    }
    is_refused = bool(form.errors or context.get("troubles"))
    return page.render(request, "dashboard/upload_change.html", context, status=422 if is_refused else 200)


@project_form
def upload_delete(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = upload_for(page.viewer, pk, page.project)
    page.require(Scope.UPLOAD)
    try:
        if request.method == "POST":
            services.delete_upload(shown, by=page.viewer, reason=sent_reason(request))
            return page.done(
                request, f"Deleted {shown.name}. The file is kept and can be restored.", "upload", pk
            )
        found = _previewed(shown, services.preview_delete(shown))
    except UploadBusyError as error:
        messages.error(request, f"Not deleted: {error}.")
        return redirect("dashboard:upload", page.project.slug, pk)
    context = {"upload": shown, "other_forms": other_forms([shown.pk]), **found}
    return page.render(request, "dashboard/upload_delete.html", context)


@project_action
def upload_restore(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = upload_for(page.viewer, pk, page.project)
    page.require(Scope.UPLOAD)
    try:
        services.restore_upload(shown, by=page.viewer, reason=sent_reason(request))
    except UploadBusyError as error:
        messages.error(request, f"Not restored: {error}.")
    else:
        messages.success(request, f"Restored {shown.name}.")
    return redirect("dashboard:upload", page.project.slug, pk)


def _previewed(shown: Upload, preview: services.Preview) -> dict[str, Any]:
    """Describe a preview; of an archive, which may hold thousands of runs, only the changes."""
    changes = received.run_changes(preview.before, preview.after)
    listed = [one for one in changes if one.changes_something or not shown.is_archive]
    return {
        "preview": preview,
        "run_changes": listed[:_MAX_RUNS],
        "unlisted": max(0, len(listed) - _MAX_RUNS),
        "leaving": sum(one.after is None for one in changes),
        "unchanged": len(changes) - len(listed),
    }


@project_form
def upload_reread(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Read the kept file again in two steps: what it would change, then doing it."""
    shown = upload_for(page.viewer, pk, page.project)
    page.require(Scope.UPLOAD)
    if not readable_uploads(page.project).filter(pk=pk).exists():
        raise NotVisible(f"upload {pk} cannot be read again")
    if not is_small(shown):
        command = reimport_command(page.project.slug, shown.format)
        return page.render(request, "dashboard/upload_reread.html", {"upload": shown, "command": command})
    if request.method == "POST":
        reread = reimport(shown, by=page.viewer)
        messages.add_message(request, _LEVELS.get(reread.outcome, messages.SUCCESS), done_in_words(reread))
        return redirect("dashboard:upload", page.project.slug, pk)
    reread = reimport(shown, store=False)
    context = {
        "upload": shown,
        "told": planned_in_words(reread),
        "changes_something": reread.outcome in (ReimportOutcome.CHANGED, ReimportOutcome.UNDERSTOOD),
        "rows": changed_rows(reread, most=_MAX_READINGS),
        "unlisted": max(0, len(reread.changes) - _MAX_READINGS),
        "troubles": received.troubles_of(shown, reread.errors),
    }
    return page.render(request, "dashboard/upload_reread.html", context)


_LEVELS: Final = {
    ReimportOutcome.STILL_REFUSED: messages.WARNING,
    ReimportOutcome.LEFT: messages.WARNING,
    ReimportOutcome.BUSY: messages.ERROR,
    ReimportOutcome.UNAVAILABLE: messages.ERROR,
}


urlpatterns = [
    path("uploads/<int:pk>/change/", upload_change, name="upload_change"),
    path("uploads/<int:pk>/delete/", upload_delete, name="upload_delete"),
    path("uploads/<int:pk>/restore/", upload_restore, name="upload_restore"),
    path("uploads/<int:pk>/reread/", upload_reread, name="upload_reread"),
]
