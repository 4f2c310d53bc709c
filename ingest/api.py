"""The door for files: ``/api/v1/uploads/``."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from django.http import FileResponse, HttpResponseBase, QueryDict
from django.utils import timezone
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_view,
)
from rest_framework.exceptions import NotAuthenticated
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.access import NotAllowed, NotVisible
from benchdash.accounts.models import Project, Scope
from benchdash.addresses import absolute
from benchdash.parsing import GuardedJSONParser
from benchdash.rest import parameters
from benchdash.rest.pagination import PAGE_PARAMETERS, Pages
from benchdash.rest.views import ApiView
from benchdash.throttling import AnonymousThrottle, MinuteThrottle, UploadThrottle
from ingest import services
from ingest.archives import services as archive_services
from ingest.archives.plan import MAX_COMPANIONS
from ingest.errors import FieldError, FieldsError, FileRefusedError
from ingest.metadata.fields import ALL_FIELDS, FIELDS, OF_THE_REQUEST
from ingest.metadata.upload_metadata import form_values, read_form
from ingest.metadata.values import NOT_TEXT, read_yes_or_no, unknown_field_warnings
from ingest.models import Companion, RawFile, Upload
from ingest.queries import (
    file_counts,
    files_in,
    has_sent,
    may_see_raw,
    upload_for,
    uploads_for,
    with_run_counts,
)
from ingest.receiving.arrivals import Arrival, CompanionFile, received_data
from ingest.receiving.bound_hardware import require_own_runs
from ingest.receiving.dry_runs import dry_run
from ingest.receiving.imports import Received
from ingest.receiving.reception import receive_one
from ingest.serializers import (
    ArchiveDryRunSerializer,
    DryRunSerializer,
    PreviewSerializer,
    ReceivedSerializer,
    UploadChangeSerializer,
    UploadDetailSerializer,
    UploadPageSerializer,
    UploadRequestSerializer,
    UploadSerializer,
)
from ingest.storage import raw_bytes

# A header of a sender that kept the file, because nobody answered: for how many seconds, a year at most.
_WAITED = "Benchdash-Waited"
_MAX_WAITED_S = 366 * 24 * 3600

_FILES = {"configuration_file": Companion.Kind.CONFIGURATION, "companion": Companion.Kind.OTHER}


class _View(ApiView):
    common_parameters = ("project",)  # a job that several projects trust names one

    def limits(self) -> list[MinuteThrottle]:
        return [AnonymousThrottle(), UploadThrottle()] if self.request.method == "POST" else super().limits()


_KNOWN_OR_TRIED = PolymorphicProxySerializer(
    component_name="KnownOrTried",
    serializers=[ReceivedSerializer, DryRunSerializer, ArchiveDryRunSerializer],
    resource_type_field_name=None,
)
_CHANGED_OR_PREVIEW = PolymorphicProxySerializer(
    component_name="ChangedOrPreview",
    serializers=[UploadDetailSerializer, PreviewSerializer],
    resource_type_field_name=None,
)


class UploadListView(_View):
    parser_classes = [MultiPartParser]
    recognises_repeats = True
    order = ("-pk",)

    @extend_schema(
        parameters=[
            OpenApiParameter("project", OpenApiTypes.STR, description="as in the form"),
            OpenApiParameter(
                _WAITED,
                parameters.whole_number(most=_MAX_WAITED_S),
                OpenApiParameter.HEADER,
                description="seconds for which the sender had to keep it: the time of receipt is before them",
            ),
        ],
        request={"multipart/form-data": UploadRequestSerializer},
        responses={201: ReceivedSerializer, 200: _KNOWN_OR_TRIED, 202: ReceivedSerializer},
    )
    def post(self, request: Request) -> Response:
        """Receive a file, or an archive of files that a job then imports.

        The same again is the same upload; a file that cannot be understood is kept too.
        """
        form = cast("QueryDict", request.data)  # the only parser gives nothing else
        project = self._project(form.get("project") or request.query_params.get("project", ""))
        self.viewer.require(Scope.UPLOAD, project)
        arrival = _arrival(form, request.FILES, waited=_waited(request))
        if not _yes(form.get("dry_run"), "dry_run"):
            return _answer(receive_one(project, by=self.viewer, arrival=arrival))
        if arrival.is_archive:
            tried = archive_services.dry_run(project, arrival, by=self.viewer, proposes=True)
            return Response(ArchiveDryRunSerializer(tried).data)
        return Response(DryRunSerializer(dry_run(project, arrival, by=self.viewer)).data)

    @extend_schema(
        operation_id="uploads_list",
        parameters=[
            OpenApiParameter("project", OpenApiTypes.STR),
            OpenApiParameter("state", OpenApiTypes.STR, enum=Upload.State.values),
            OpenApiParameter(
                "archive", {"type": "integer", "minimum": 1}, description="the files of this archive"
            ),
            *PAGE_PARAMETERS,
        ],
        responses=UploadPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """List uploads, newest first. Refused and deleted ones are for members of their project.

        A token with the scope `upload` alone sees those of a private project that it sent.

        Files that came in an archive alone are listed with ``archive``, its number.
        """
        slug = request.query_params.get("project", "")
        uploads = uploads_for(self.viewer, self._project(slug) if slug else None)
        if archive := request.query_params.get("archive"):
            number = parameters.integer("archive", archive, least=1, most=parameters.MAX_ID)
            uploads = uploads.filter(pk__in=files_in(upload_for(self.viewer, number).pk))
        else:
            uploads = uploads.filter(came_alone=True)
        if state := request.query_params.get("state"):
            uploads = uploads.filter(state=parameters.choice("state", state, Upload.State.values))
        pages = Pages()
        rows = pages.paginate_queryset(with_run_counts(uploads), request, self)
        context = {"counts": file_counts([row.pk for row in rows if row.is_archive])}
        return pages.get_paginated_response(UploadSerializer(rows, many=True, context=context).data)

    def _project(self, slug: Any) -> Project:
        """Return the project of the request. Raises NotVisible or BeingDeleted."""
        if not isinstance(slug, str) or "\0" in slug:
            raise NotVisible("no project is called so")
        own = self.viewer.token.project.slug if self.viewer.token else ""
        if slug := slug.strip() or own:
            return self.viewer.project_as_sender(slug)
        raise FieldsError([FieldError("project", "is required without a token")])


class UploadDetailView(_View):
    parser_classes = [GuardedJSONParser, MultiPartParser, FormParser]

    @extend_schema(responses=UploadDetailSerializer)
    def get(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Show one upload: its state, progress, files, runs and metadata."""
        return Response(self._detail(upload_for(self.viewer, pk)))

    @extend_schema(
        request=UploadChangeSerializer, responses={200: _CHANGED_OR_PREVIEW, 202: UploadDetailSerializer}
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change metadata and record the runs again, or with ``preview`` say what that would do.

        A large file or an archive is read again by a job.
        """
        upload = self._own(pk)
        changes = _changes(request.data)
        reason, preview = _reason(changes), _yes(changes.pop("preview", None), "preview")
        fields = ALL_FIELDS if upload.is_archive else FIELDS
        if not changes.keys() & set(fields):
            raise FieldsError([FieldError("", f"nothing to change; fields are {', '.join(fields)}")])
        if preview:
            return Response(
                PreviewSerializer(archive_services.preview_amend(upload, changes, by=self.viewer)).data
            )
        services.amend_upload(upload, changes, by=self.viewer, reason=reason)
        amended = upload_for(self.viewer, pk)
        status = 200 if amended.state in Upload.FINISHED else 202
        return Response(self._detail(amended), status=status)

    @extend_schema(
        parameters=[
            OpenApiParameter("reason", OpenApiTypes.STR),
            OpenApiParameter("preview", OpenApiTypes.BOOL),
        ],
        responses={204: None, 200: PreviewSerializer},
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Remove the runs of an upload. The file is kept; sent again it is restored."""
        upload = self._own(pk)
        changes = {**request.query_params.dict(), **(_changes(request.data) if request.data else {})}
        reason = _reason(changes)
        if _yes(changes.get("preview"), "preview"):
            return Response(PreviewSerializer(services.preview_delete(upload)).data)
        services.delete_upload(upload, by=self.viewer, reason=reason)
        return Response(status=204)

    def _detail(self, upload: Upload) -> Any:
        context = {"viewer": self.viewer, "counts": file_counts([upload.pk])}
        return UploadDetailSerializer(upload, context=context).data

    def _own(self, pk: int) -> Upload:
        """Return an upload that the viewer may change. Raises NotVisible or NotAllowed."""
        upload = upload_for(self.viewer, pk)
        self.viewer.require(Scope.UPLOAD, upload.project)
        is_bound = bool(self.viewer.token and self.viewer.token.hardware)
        is_open = self.viewer.is_member(upload.project) and not is_bound
        if not (is_open or has_sent(self.viewer, upload)):
            which = "that is bound to a machine" if is_bound else "without the scope 'read'"
            raise NotAllowed(f"a token {which} changes only what it sent itself")
        require_own_runs(upload, self.viewer.token)
        return upload


class RawView(_View):
    @extend_schema(
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (200, "text/plain"): OpenApiTypes.STR,
        }
    )
    def get(self, request: Request, pk: int, companion: int | None = None) -> HttpResponseBase:
        """Return the bytes as they were received, of an upload or of a file beside it.

        For members, and for the token that sent it.
        """
        upload = upload_for(self.viewer, pk)
        if not may_see_raw(self.viewer, upload):
            if self.viewer.is_anonymous:
                raise NotAuthenticated
            self.viewer.require(Scope.READ, upload.project)
        if companion is None:
            return _unless_known(request, upload.raw, upload.name, is_text=upload.is_text)
        beside = upload.companions.select_related("raw").filter(pk=companion).first()
        if beside is None:
            raise NotVisible("there is no such file beside this upload")
        return _unless_known(request, beside.raw, beside.name, is_text=False)


def _unless_known(request: Request, raw: RawFile, name: str, *, is_text: bool) -> HttpResponseBase:
    """Return the file, which is not even opened for who has it already."""
    known = get_conditional_response(request, etag=_tag(raw))
    if known is None:
        return raw_response(raw, name, is_text=is_text)
    known.headers["ETag"] = _tag(raw)
    return known


@extend_schema_view(get=extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}))
class CompanionRawView(RawView):
    """The same for a file beside an upload, which is never taken for text."""


def raw_response(raw: RawFile, name: str, *, is_text: bool) -> FileResponse:
    """Return a download that no browser takes for a page. Raises FileUnavailableError."""
    response = FileResponse(
        raw_bytes.open_raw(raw),
        as_attachment=True,
        filename=name,
        content_type="text/plain; charset=utf-8" if is_text else "application/octet-stream",
    )
    response["Content-Length"] = str(raw.size)
    response["X-Content-Type-Options"] = "nosniff"
    response["ETag"] = _tag(raw)
    return response


def _tag(raw: RawFile) -> str:
    return f'"{raw.sha256}"'


# --- reading a request --------------------------------------------------------------------------------------


def _waited(request: Request) -> timedelta | None:
    """Return for how long the sender had to keep the file; None where it came at once."""
    text = request.headers.get(_WAITED)
    return timedelta(seconds=parameters.integer(_WAITED, text, most=_MAX_WAITED_S)) if text else None


def _arrival(form: QueryDict, files: Any, *, waited: timedelta | None) -> Arrival:
    """Read a form with its files. Raises FieldsError or FileTooLargeError."""
    errors: list[FieldError] = []
    texts = {name: form.getlist(name) for name in form if name not in files}
    metadata_texts = {name: given for name, given in texts.items() if name in ALL_FIELDS}
    sent = files.getlist("file")
    if len(sent) != 1:
        errors.append(FieldError("file", "one file at a time" if sent else "is required"))
    if sum(len(files.getlist(name)) for name in _FILES) > MAX_COMPANIONS:
        errors.append(FieldError("companion", f"more than {MAX_COMPANIONS} files"))
    errors += [
        FieldError(name, "must be a file") for name in (*_FILES,) if name in texts and any(texts[name])
    ]
    try:
        metadata, warnings = read_form(metadata_texts)
    except FieldsError as error:
        errors += error.errors
    if errors:
        raise FieldsError(errors)
    known = (*ALL_FIELDS, *OF_THE_REQUEST, "csrfmiddlewaretoken")
    unknown = [name for name in (*texts, *files) if name not in known]
    return Arrival(
        file_name=sent[0].name or "",
        data=received_data(sent[0]),
        metadata=metadata,
        companions=[
            CompanionFile(kind, file.name or "", received_data(file))
            for name, kind in _FILES.items()
            for file in files.getlist(name)
        ],
        warnings=[*unknown_field_warnings(unknown, known), *warnings],
        received_at=timezone.now() - waited if waited else None,
    )


def _changes(data: Any) -> dict[str, Any]:
    """Return a JSON object or a form as one mapping. Raises FieldsError."""
    if isinstance(data, QueryDict):
        texts = {name: [text for text in data.getlist(name) if isinstance(text, str)] for name in data}
        values, errors = form_values(texts)
        if errors:
            raise FieldsError(errors)
        return values
    if not isinstance(data, Mapping):
        raise FieldsError([FieldError("", "the body must be a JSON object")])
    return dict(data)


def _reason(changes: dict[str, Any]) -> str:
    reason = changes.pop("reason", None) or ""
    if not isinstance(reason, str) or len(reason) > 1000 or NOT_TEXT.search(reason):
        raise FieldsError([FieldError("reason", "must be a text of at most 1000 characters")])
    return reason


def _yes(value: Any, name: str) -> bool:
    if value in (None, "", False, True):
        return bool(value)
    try:
        return read_yes_or_no(value)
    except ValueError as error:
        raise FieldsError([FieldError(name, str(error))]) from None


# --- answering ----------------------------------------------------------------------------------------------


def _answer(received: Received) -> Response:
    """Answer with an upload. Raises FileRefusedError for one that was refused."""
    upload = received.upload
    url = absolute("ingest:upload-detail", upload.pk)
    if upload.state == Upload.State.REFUSED:
        raise FileRefusedError(upload.errors, upload_id=upload.pk, url=url)
    waits = upload.state not in Upload.FINISHED
    status = 202 if waits else 200 if received.duplicate else 201
    return Response(ReceivedSerializer(received).data, status=status, headers={"Location": url})
