"""Files as received: the list, the form, one upload and its raw file."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.cache import never_cache
from django_htmx.http import reselect, retarget

from benchdash.accounts.access import NotVisible
from benchdash.accounts.models import Scope
from benchdash.accounts.services import create_token
from benchdash.dashboard.compare.next_steps import NextStep, next_step
from benchdash.dashboard.pages.uploads import archive_files, form_files
from benchdash.dashboard.pages.uploads import descriptions as received
from benchdash.dashboard.pages.uploads.first_upload import TOKEN_NAME, first_steps, first_upload
from benchdash.dashboard.pages.uploads.form_files import FileOutcome
from benchdash.dashboard.pages.uploads.forms import SaidForm, as_texts, remembered_in, said_in
from benchdash.dashboard.pages.uploads.guesses import guesses_of
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.numbers import count
from benchdash.dashboard.shell.paging import LongList
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_form, project_page
from ingest.api import raw_response
from ingest.errors import (
    FieldError,
    FieldsError,
    FileMissingError,
    FileRefusedError,
    FileUnavailableError,
)
from ingest.formats import FORMATS
from ingest.metadata.fields import ALL_FIELDS
from ingest.metadata.upload_metadata import JSON_FIELDS
from ingest.models import Upload
from ingest.queries import (
    file_counts,
    holders_of,
    known_names,
    last_said,
    may_see_raw,
    other_forms,
    run_summaries,
    runs_told_by,
    upload_for,
    uploads_for,
    with_run_counts,
)
from ingest.receiving.arrivals import received_data
from ingest.receiving.reimports import readable_uploads

_ID: Final = re.compile("[0-9]{1,18}")
_PAGE: Final = 50
_FILES: Final = 100
# The columns of a row of the list; metadata can be long.
_SHOWN: Final = (
    *("name", "state", "format", "errors", "warnings", "done", "total", "is_archive", "received_at"),
    *("user__name", "user__email", "token__name"),
)


@project_page
def uploads(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    text = filters.search_text(request.GET)
    chips = _chips(page, request.GET)
    listed = uploads_for(page.viewer, page.project).filter(came_alone=True)
    found = _chosen(listed, chips, text)
    shown = with_run_counts(found).select_related(None).select_related("user", "token").only(*_SHOWN)
    pages = LongList(shown, _PAGE, request.GET.get("page")).page_asked_for()
    files = file_counts([upload.pk for upload in pages if upload.is_archive])
    is_filtered = bool(text) or any(chip.chosen for chip in chips)
    sees_reasons = page.is_member or page.project.raw_files_are_public
    context = {
        "filters": chips,
        "text": text,
        "is_filtered": is_filtered,
        "reset_url": request.path if is_filtered else "",
        "pages": pages,
        "held_by": received.held_by(pages),
        "holders": holders_of([upload.pk for upload in pages]),
        "files_of": {archive: archive_files.counted(states) for archive, states in files.items()},
        "waits": any(upload.state not in Upload.FINISHED for upload in pages),
        "sees_reasons": sees_reasons,
    }
    return page.render(request, "dashboard/uploads.html", context)


def _chips(page: ProjectPage, query: QueryDict) -> list[FilterChip]:
    chips = [
        filters.some_of(
            "state", "State", Upload.State.choices, query.getlist("state"), empty="all but deleted"
        ),
        filters.some_of_names("format", "Format", FORMATS, query.getlist("format")),
    ]
    if page.is_member:
        chips.append(filters.some_of("by", "By", received.senders(page.project), query.getlist("by")))
    return chips


def _chosen(found: QuerySet[Upload], chips: Sequence[FilterChip], text: str) -> QuerySet[Upload]:
    chosen = {chip.name: [choice.value for choice in chip.chosen] for chip in chips}
    if not chosen["state"]:
        found = found.exclude(state=Upload.State.DELETED)
    found = filters.filtered(found, chips, {"state": "state", "format": "format"})
    if senders := chosen.get("by"):
        found = found.filter(
            Q(token__in=[one.removeprefix("token-") for one in senders if one.startswith("token-")])
            | Q(user__in=[one.removeprefix("user-") for one in senders if one.startswith("user-")])
        )
    if text:
        found = found.filter(Q(name__icontains=text) | Q(raw__sha256__startswith=text.lower()))
    return found


@project_form
def upload_new(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Show the form and take its files; a script that sends one at a time gets its outcome without a page."""
    page.require(Scope.UPLOAD)
    if request.method != "POST":
        return _empty_form(request, page)
    said = said_in(request.POST)
    step, _, choice = request.POST.get("step", "").partition(" ")
    if step == "guess":
        return _guesses(request, page, said)
    of_form = form_files.FormTexts(said, remembered_in(request.POST), choice)
    batch = form_files.sort_files(request.FILES, request.POST.get("pasted", ""))
    if step == "check":
        outcomes = [form_files.check(page.project, one, of_form) for one in batch.results]
    else:
        outcomes = [form_files.upload(page.project, one, of_form, by=page.viewer) for one in batch.results]
    outcomes += map(form_files.stray, batch.stray)
    done = _done(page, outcomes, request.POST.get("sent", ""))
    if request.headers.get("X-Requested-With") == "upload.js":
        context = {"outcomes": outcomes, "next": done}
        return page.render(request, "dashboard/_upload_outcomes.html", context)
    if len(outcomes) == 1 and (waiting := outcomes[0].left_to_a_job):
        return redirect("dashboard:upload", page.project.slug, waiting.pk)
    form = SaidForm(request.POST)
    form.show_errors(error for outcome in outcomes for error in outcome.fields)
    return _form(request, page, form, outcomes, done=done)


def _done(page: ProjectPage, outcomes: Sequence[FileOutcome], sent: str) -> NextStep | None:
    """Return what uploaded files lead to, with those that a script ``sent`` before: ids between blanks."""
    ids = [outcome.upload.pk for outcome in outcomes if outcome.upload]
    ids += [int(text) for text in sent.split() if _ID.fullmatch(text)]
    if not ids:
        return None
    uploads = uploads_for(page.viewer, page.project).filter(pk__in=ids, state__in=Upload.WITH_RUNS)
    return next_step(page.project, runs_told_by(*uploads)) if uploads else None


@never_cache
@project_action
def first_token(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Make a token for the first upload; its secret is in this answer, and nowhere else."""
    page.require(Scope.ADMIN)
    _, secret = create_token(page.project, TOKEN_NAME, [Scope.UPLOAD], by=page.viewer)
    return _form(request, page, SaidForm(), secret=secret)


def _empty_form(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Show the form with what the address says, else with what this person said the last time."""
    given = request.GET.dict()
    last, said = last_said(page.viewer, page.project)
    texts = as_texts(said)
    remembered = "" if given else json.dumps(texts)
    form = SaidForm(initial=given or texts)
    return _form(request, page, form, last=None if given or not said else last, remembered=remembered)


def _guesses(request: HttpRequest, page: ProjectPage, said: Mapping[str, Sequence[str]]) -> HttpResponse:
    """Answer a script with what the files that it packed are taken for."""
    template, file = "dashboard/_upload_guesses.html", request.FILES.get("file")
    context: dict[str, Any] = {"known": known_names(page.project)}
    try:
        if file is None:
            raise FieldsError([FieldError("file", "is required")])  # noqa: TRY301 - one answer for all
        data, is_given = received_data(file), "is_given" in request.POST
        context["guesses"] = guesses_of(page.project, data, file.name or "", said, is_given=is_given)
    except FieldsError as error:
        context["troubles"] = [f"{one.field} {one.message}" for one in error.errors]
    except FileRefusedError as error:
        context["troubles"] = [one["message"] for one in error.errors]
    return page.render(request, template, context)


def _form(
    request: HttpRequest,
    page: ProjectPage,
    form: SaidForm,
    outcomes: Sequence[FileOutcome] | None = None,
    *,
    last: Upload | None = None,
    remembered: str = "",
    done: NextStep | None = None,
    secret: str = "",
) -> HttpResponse:
    has_results = uploads_for(page.viewer, page.project).filter(state__in=Upload.WITH_RUNS).exists()
    context = {
        "last": last,
        "next": done,
        "remembered": remembered or request.POST.get("remembered", ""),
        "max_files": settings.ARCHIVE_MAX_FILES,
        "max_unpacked_bytes": settings.ARCHIVE_MAX_UNPACKED_BYTES,
        "pasted": request.POST.get("pasted", ""),
        "form": form,
        "outcomes": outcomes,
        "nothing_chosen": outcomes == [],
        "known": known_names(page.project),
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "beside_suffixes": " ".join(form_files.BESIDE_SUFFIXES),
        "configuration_suffixes": " ".join(form_files.CONFIGURATION_SUFFIXES),
        "archive_suffixes": " ".join(form_files.ARCHIVE_SUFFIXES),
    }
    if secret or not has_results:
        context |= first_steps(page, secret=secret)
    status = 201 if secret else 422 if form.errors else 200
    return page.render(request, "dashboard/upload_new.html", context, status=status)


@project_page
def upload(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    shown = upload_for(page.viewer, pk, page.project)
    context = _about(page, shown)
    if shown.is_archive:
        return _archive(request, page, shown, context)
    holders = holders_of([shown.pk]).get(shown.pk, [])
    context |= {
        "runs": run_summaries(shown),
        "places": archive_files.places_of(shown, page.viewer),
        "holders": Upload.objects.filter(pk__in=holders).order_by("pk"),
        "other_forms": other_forms([shown.pk]),
    }
    return page.render(request, "dashboard/upload.html", context)


def _about(page: ProjectPage, shown: Upload) -> dict[str, Any]:
    """Return the context that all uploads share, archives or not."""
    sees_raw = may_see_raw(page.viewer, shown)
    context = {
        "upload": shown,
        "waits": shown.state not in Upload.FINISHED,
        "said": [(name, shown.metadata[name]) for name in ALL_FIELDS if name in shown.metadata],
        "said_json": {name: text for name, text in as_texts(shown.metadata).items() if name in JSON_FIELDS},
        "sees_raw": sees_raw,
        "may_change": page.may(Scope.UPLOAD),
        "is_readable": readable_uploads(page.project).filter(pk=shown.pk).exists(),
        "companions": shown.companions.select_related("raw").defer("raw__content").order_by("pk"),
        "next": next_step(page.project, runs_told_by(shown)) if shown.state in Upload.FINISHED else None,
    }
    if sees_raw and shown.state in Upload.FINISHED:
        context["troubles"] = received.troubles_of(shown, shown.errors)
    if page.is_member:
        context["told"] = received.told_of(shown)
    return context


@project_page
def upload_raw(
    request: HttpRequest, page: ProjectPage, pk: int, companion: int | None = None
) -> HttpResponseBase:
    """Return the bytes as they were received, of an upload or of a file beside it."""
    shown = upload_for(page.viewer, pk, page.project)
    if not may_see_raw(page.viewer, shown):
        page.require(Scope.READ)
    try:
        if companion is None:
            return raw_response(shown.raw, shown.name, is_text=shown.is_text)
        beside = shown.companions.select_related("raw").filter(pk=companion).first()
        if beside is None:
            raise NotVisible("there is no such file beside this upload")
        return raw_response(beside.raw, beside.name, is_text=False)
    except FileUnavailableError as error:
        status = 404 if isinstance(error, FileMissingError) else 503
        context = {"upload": shown, "reason": str(error)}
        return page.render(request, "dashboard/upload_unavailable.html", context, status=status)


def _archive(
    request: HttpRequest, page: ProjectPage, shown: Upload, context: Mapping[str, Any]
) -> HttpResponse:
    """While it waits, a script asks for its progress alone; what comes at the end is the whole page."""
    listed = archive_files.listed_files(shown, sees_reasons=context["sees_raw"])
    states = archive_files.states_of(listed)
    context = {**context, "states": states, "percent": shown.done * 100 // max(shown.total, 1)}
    if context["waits"]:
        return page.render(request, "dashboard/archive.html", context)
    text, chip = filters.search_text(request.GET), _state_chip(states, request.GET.getlist("state"))
    found = Paginator(_found(listed, chip, text), _FILES).get_page(request.GET.get("page"))
    context |= {
        "filters": [chip],
        "text": text,
        "search_label": "File name",
        "reset_url": request.path if text or chip.chosen else "",
        "pages": found,
        "rows": archive_files.file_rows(found),
        "number_of_files": sum(number for _, number in states),
        "lists_reasons": any(state == Upload.State.REFUSED for state, _ in states),
    }
    answer = page.render(request, "dashboard/archive.html", context)
    if request.headers.get("HX-Target") == "import":
        return retarget(reselect(answer, "#page"), "#page")
    return answer


@project_page
def upload_files_csv(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    """Write all files of an archive that the address asks for."""
    shown = upload_for(page.viewer, pk, page.project)
    listed = archive_files.listed_files(shown, sees_reasons=may_see_raw(page.viewer, shown))
    chip = _state_chip(archive_files.states_of(listed), request.GET.getlist("state"))
    files = _found(listed, chip, filters.search_text(request.GET))
    name, rows = f"{page.project.slug}-upload-{pk}-files", archive_files.csv_rows(page.project, files)
    return csv_file(name, archive_files.CSV_COLUMNS, rows)


def _state_chip(states: Sequence[tuple[str, int]], chosen: Sequence[str]) -> FilterChip:
    options = [(state, f"{state}, {count(number)}") for state, number in states]
    return filters.some_of("state", "State", options, chosen)


def _found(listed: QuerySet[Any], chip: FilterChip, text: str) -> QuerySet[Any]:
    if states := [choice.value for choice in chip.chosen]:
        listed = listed.filter(shown_state__in=states)
    return listed.filter(name__icontains=text) if text else listed


urlpatterns = [
    path("first-token/", first_token, name="first_token"),
    path("first-upload/", first_upload, name="first_upload"),
    path("uploads/", uploads, name="uploads"),
    path("uploads/new/", upload_new, name="upload_new"),
    path("uploads/<int:pk>/", upload, name="upload"),
    path("uploads/<int:pk>/files.csv", upload_files_csv, name="upload_files_csv"),
    path("uploads/<int:pk>/raw/", upload_raw, name="upload_raw"),
    path("uploads/<int:pk>/companions/<int:companion>/", upload_raw, name="upload_companion"),
]
