"""Files as received: the list, the form, one upload and its raw file."""

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchdash.accounts.access import NotVisible
from benchdash.accounts.models import Scope
from benchdash.dashboard import filters, received, uploading
from benchdash.dashboard.commands import upload_command
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms.uploads import ChangeForm, SaidForm, as_texts, changes_in, said_in
from benchdash.dashboard.shell import ProjectPage, project_page, sent_reason
from benchdash.dashboard.uploading import Outcome
from ingest import services, storage
from ingest.api import raw_response
from ingest.errors import FieldError, FieldsError, FileRefusedError, UploadBusyError
from ingest.fields import FIELDS, JSON_FIELDS
from ingest.formats import FORMATS
from ingest.models import Upload
from ingest.queries import may_see_raw, run_summaries, upload_for, uploads_for, with_run_counts

_PAGE: Final = 50
_LONGEST_SEARCH: Final = 200
_EXAMPLE: Final = {
    "product": "MariaDB",
    "version": "10.11.7",
    "hardware": "bench-01",
    "workload": "oltp_read_only",
}


# --- the list -----------------------------------------------------------------------------------------------


@require_safe
@project_page
def uploads(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = request.GET.get("q", "").replace("\0", "").strip()[:_LONGEST_SEARCH]
    chips = _chips(page, request.GET)
    listed = uploads_for(page.viewer, page.project).filter(came_alone=True)
    found = _chosen(listed, chips, text)
    pages = Paginator(with_run_counts(found).select_related("user", "token"), _PAGE).get_page(
        request.GET.get("page")
    )
    held = received.held_by(pages.object_list)
    is_filtered = bool(text) or any(chip.chosen for chip in chips)
    context = {
        "filters": chips,
        "text": text,
        "is_filtered": is_filtered,
        "reset_url": request.path if is_filtered else "",
        "pages": pages,
        "rows": [(upload, held.get(upload.pk)) for upload in pages],
        "waits": any(upload.state not in Upload.FINISHED for upload in pages),
        "sees_reasons": page.is_member or page.project.raw_files_are_public,
        "may_upload": page.may(Scope.UPLOAD),
        "upload_command": upload_command(fields={"project": page.project.slug, **_EXAMPLE}),
    }
    return page.render(request, "dashboard/uploads.html", context)


def _chips(page: ProjectPage, query: QueryDict) -> list[Filter]:
    chips = [
        filters.some_of(
            "state", "State", Upload.State.choices, query.getlist("state"), empty="all but deleted"
        ),
        filters.some_of("format", "Format", [(name, name) for name in FORMATS], query.getlist("format")),
    ]
    if page.is_member:
        chips.append(filters.some_of("by", "By", received.senders(page.project), query.getlist("by")))
    return chips


def _chosen(found: QuerySet[Upload], chips: Sequence[Filter], text: str) -> QuerySet[Upload]:
    chosen = {chip.name: [choice.value for choice in chip.chosen] for chip in chips}
    found = (
        found.filter(state__in=chosen["state"])
        if chosen["state"]
        else found.exclude(state=Upload.State.DELETED)
    )
    if chosen["format"]:
        found = found.filter(format__in=chosen["format"])
    if senders := chosen.get("by"):
        found = found.filter(
            Q(token__in=[one.removeprefix("token-") for one in senders if one.startswith("token-")])
            | Q(user__in=[one.removeprefix("user-") for one in senders if one.startswith("user-")])
        )
    if text:
        found = found.filter(Q(name__icontains=text) | Q(raw__sha256__startswith=text.lower()))
    return found


# --- the form -----------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@project_page
def upload_new(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """The form. A script that sends one file at a time gets what became of it, and no page around it."""
    page.require(Scope.UPLOAD)
    if request.method != "POST":
        return _form(request, page, SaidForm(initial=request.GET.dict()))
    outcomes = _receive(request, page)
    if request.headers.get("X-Requested-With") == "upload.js":
        return page.render(request, "dashboard/_upload_outcomes.html", {"outcomes": outcomes})
    form = SaidForm(request.POST)
    form.show_errors(error for outcome in outcomes for error in outcome.fields)
    return _form(request, page, form, outcomes)


def _receive(request: HttpRequest, page: ProjectPage) -> list[Outcome]:
    batch = uploading.sort_files(request.FILES)
    said = said_in(request.POST)
    if request.POST.get("step") == "check":
        outcomes = [uploading.check(page.project, result, said) for result in batch.results]
    else:
        outcomes = [uploading.upload(page.project, result, said, by=page.viewer) for result in batch.results]
    return [*outcomes, *map(uploading.stray, batch.stray)]


def _form(
    request: HttpRequest, page: ProjectPage, form: SaidForm, outcomes: Sequence[Outcome] | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "outcomes": outcomes,
        "nothing_chosen": outcomes == [],
        "known": received.known_names(page.project),
        "most_bytes": settings.UPLOAD_MAX_BYTES,
        "beside_suffixes": " ".join(uploading.BESIDE_SUFFIXES),
        "configuration_suffixes": " ".join(uploading.CONFIGURATION_SUFFIXES),
    }
    return page.render(request, "dashboard/upload_new.html", context, status=422 if form.errors else 200)


# --- one upload ---------------------------------------------------------------------------------------------


@require_safe
@project_page
def upload(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _upload(page, pk)
    sees_raw = may_see_raw(page.viewer, shown)
    context = {
        "upload": shown,
        "waits": shown.state not in Upload.FINISHED,
        "runs": run_summaries(shown),
        "said": [(name, shown.metadata[name]) for name in FIELDS if name in shown.metadata],
        "said_json": {name: text for name, text in as_texts(shown.metadata).items() if name in JSON_FIELDS},
        "sees_raw": sees_raw,
        "may_change": page.may(Scope.UPLOAD),
        "companions": shown.companions.select_related("raw").defer("raw__content").order_by("pk"),
    }
    if sees_raw:
        context["troubles"] = received.troubles(shown.errors, _data(shown))
    if page.is_member:
        context["told"] = received.told_of(shown)
    return page.render(request, "dashboard/upload.html", context)


@require_safe
@project_page
def upload_raw(
    _request: HttpRequest, page: ProjectPage, pk: int, companion: int | None = None
) -> HttpResponseBase:
    """The bytes as they were received, of an upload or of a file beside it."""
    shown = _upload(page, pk)
    if not may_see_raw(page.viewer, shown):
        page.require(Scope.READ)
    if companion is None:
        return raw_response(shown.raw, shown.name, is_text=shown.is_text)
    beside = shown.companions.select_related("raw").filter(pk=companion).first()
    if beside is None:
        raise NotVisible("there is no such file beside this upload")
    return raw_response(beside.raw, beside.name, is_text=False)


def _upload(page: ProjectPage, pk: int) -> Upload:
    """Raises NotVisible."""
    shown = upload_for(page.viewer, pk)
    if shown.project_id != page.project.pk:
        raise NotVisible(f"no upload of this project has the number {pk}")
    return shown


def _data(shown: Upload) -> bytes | None:
    """The bytes, where the lines around an error are wanted of them and they are few."""
    is_wanted = any(error["line"] for error in shown.errors)
    return storage.read(shown.raw) if is_wanted and _is_small(shown) else None


def _is_small(shown: Upload) -> bool:
    return shown.raw.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES


# --- mending ------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@project_page
def upload_change(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Change metadata in two steps: what it would do, then doing it."""
    shown = _upload(page, pk)
    page.require(Scope.UPLOAD)
    if request.method != "POST":
        return _change_form(request, page, shown, ChangeForm(initial=as_texts(shown.metadata)))
    form = ChangeForm(request.POST)
    found: dict[str, Any] = {}
    try:
        changes = changes_in(request.POST, shown.metadata)
        if form.is_valid() and request.POST.get("step") == "change":
            amended = services.amend_upload(
                shown, changes, by=page.viewer, reason=form.cleaned_data["reason"]
            )
            messages.success(request, f"Changed: {', '.join(changes)}.")
            return redirect("dashboard:upload", page.project.slug, amended.pk)
        found = _previewed(services.preview_amend(shown, changes))
    except FieldsError as error:
        form.show_errors(error.errors)
    except FileRefusedError as error:
        found = {"troubles": received.troubles(error.errors, storage.read(shown.raw))}
    except UploadBusyError as error:
        form.show_errors([FieldError("", str(error))])
    return _change_form(request, page, shown, form, found)


def _change_form(
    request: HttpRequest,
    page: ProjectPage,
    shown: Upload,
    form: ChangeForm,
    found: dict[str, Any] | None = None,
) -> HttpResponse:
    context = {
        "upload": shown,
        "form": form,
        "known": received.known_names(page.project),
        "is_small": _is_small(shown),
        **(found or {}),
    }
    is_refused = bool(form.errors or context.get("troubles"))
    return page.render(request, "dashboard/upload_change.html", context, status=422 if is_refused else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page
def upload_delete(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _upload(page, pk)
    page.require(Scope.UPLOAD)
    try:
        if request.method == "POST":
            services.delete_upload(shown, by=page.viewer, reason=sent_reason(request))
            messages.success(request, f"Deleted {shown.name}. The file is kept and can be restored.")
            return redirect("dashboard:upload", page.project.slug, pk)
        found = _previewed(services.preview_delete(shown))
    except UploadBusyError as error:
        messages.error(request, f"Not deleted: {error}.")
        return redirect("dashboard:upload", page.project.slug, pk)
    return page.render(request, "dashboard/upload_delete.html", {"upload": shown, **found})


@require_POST
@project_page
def upload_restore(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = _upload(page, pk)
    page.require(Scope.UPLOAD)
    try:
        services.restore_upload(shown, by=page.viewer, reason=sent_reason(request))
    except UploadBusyError as error:
        messages.error(request, f"Not restored: {error}.")
    else:
        messages.success(request, f"Restored {shown.name}.")
    return redirect("dashboard:upload", page.project.slug, pk)


def _previewed(preview: services.Preview) -> dict[str, Any]:
    return {"preview": preview, "run_changes": received.run_changes(preview.before, preview.after)}


urlpatterns = [
    path("uploads/", uploads, name="uploads"),
    path("uploads/new/", upload_new, name="upload_new"),
    path("uploads/<int:pk>/", upload, name="upload"),
    path("uploads/<int:pk>/raw/", upload_raw, name="upload_raw"),
    path("uploads/<int:pk>/companions/<int:companion>/", upload_raw, name="upload_companion"),
    path("uploads/<int:pk>/change/", upload_change, name="upload_change"),
    path("uploads/<int:pk>/delete/", upload_delete, name="upload_delete"),
    path("uploads/<int:pk>/restore/", upload_restore, name="upload_restore"),
]
