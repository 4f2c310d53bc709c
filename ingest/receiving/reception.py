"""Receives files: one, or a batch of them, which takes as many statements as one.

A small new file is read first; then its bytes, its metadata and its runs are stored in one transaction. A
large file or an archive is stored and left to a job.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.db import DataError, IntegrityError, OperationalError, transaction
from django.utils import timezone

from benchdash.accounts.access import BeingDeleted, Viewer
from benchdash.accounts.models import Project
from benchdash.celery import ring
from benchdash.results.services import Recorded, RecordError, record_new_uploads
from ingest.errors import FieldsError
from ingest.models import Companion, RawFile, Upload
from ingest.queries import summaries_of
from ingest.receiving.arrivals import Arrival, Identity, clean_file_name
from ingest.receiving.bound_hardware import of_bound_token
from ingest.receiving.copies import RepeatsError, refuse_repeats, same_and_twin
from ingest.receiving.imports import (
    IMPORT_TASK,
    Received,
    companion_rows,
    import_or_leave_queued,
    joined,
    queue_again,
)
from ingest.receiving.parsing import Understood, errors_of, understand
from ingest.storage import raw_bytes

logger = logging.getLogger(__name__)

# A warning about the same bytes names at most this many differences, each cut to this many characters.
_MAX_NAMED_FIELDS: Final = 3
_MAX_QUOTED: Final = 40


@dataclass(frozen=True, slots=True)
class _NewFile:
    """A file that is ready to be stored; without ``understood`` it is left to a job."""

    arrival: Arrival
    received_at: datetime
    understood: Understood | None

    @property
    def has_runs(self) -> bool:
        return self.understood is not None and not self.understood.errors


def receive_one(project: Project, *, by: Viewer, arrival: Arrival, quiet: bool = False) -> Received:
    """Receive a file as ``receive`` does; a warning names an earlier upload of the same bytes.

    Files of an archive get no such warning: it would depend on which of them came first.
    Raises FieldsError, with nothing stored, where neither sender nor file says what is required, where the
    pattern does not fit the name of the file, and where a token bound to a machine sends runs of another.
    """
    arrival = of_bound_token(project, arrival.with_fitting_metadata(), by.token)
    _, digest = arrival.identity
    uploads = same_and_twin(project, arrival.identity)
    same = [one for one in uploads if one.metadata_digest == digest]
    if twins := [one for one in uploads if one not in same]:
        arrival = replace(arrival, warnings=[*arrival.warnings, _twin_warning(twins[0], arrival)])
    known = dict.fromkeys([arrival.identity], same[0]) if same else {}
    [received] = _receive(project, by=by, arrivals=[arrival], known=known, errors={}, quiet=quiet)
    if isinstance(received, FieldsError):
        raise received
    return received


def receive(
    project: Project, *, by: Viewer, arrivals: Sequence[Arrival], quiet: bool = False
) -> list[Received | FieldsError]:
    """Store and import files; return what became of each, in their order.

    New files are stored together, in one transaction and a constant number of statements. The same upload
    again is the same upload: a refused or deleted one is read again. A file that lacks a required field is
    not stored, nor is one of another machine than the token is bound to, and a FieldsError stands for it.
    One bad file does not stop the rest.
    Raises BeingDeleted and FileUnavailableError.
    """
    errors: dict[Identity, FieldsError] = {}
    fitting = [one.with_fitting_metadata() for one in arrivals]
    for at, one in enumerate(fitting):
        try:
            fitting[at] = of_bound_token(project, one, by.token)
        except FieldsError as error:
            errors[one.identity] = error
    known = known_uploads(project, fitting)
    return _receive(project, by=by, arrivals=fitting, known=known, errors=errors, quiet=quiet)


def _receive(
    project: Project,
    *,
    by: Viewer,
    arrivals: Sequence[Arrival],
    known: Mapping[Identity, Upload],
    errors: dict[Identity, FieldsError],
    quiet: bool,
) -> list[Received | FieldsError]:
    """Receive files of which some are known uploads, and some have errors already."""
    if project.is_being_deleted:
        raise BeingDeleted(project)
    new: dict[Identity, _NewFile] = {}
    for one in arrivals:
        if one.identity in errors:
            continue
        if one.identity not in known and one.identity not in new:
            since = one.received_at or timezone.now()
            try:
                new[one.identity] = _NewFile(one, since, _understand(project, one, received_at=since))
            except FieldsError as error:
                errors[one.identity] = error
    stored = _store(project, list(new.values()), by=by, quiet=quiet)
    return [
        errors.get(one.identity)
        or stored.pop(one.identity, None)
        or _receive_again(project, one, known.get(one.identity), by=by)
        for one in arrivals
    ]


def known_uploads(project: Project, arrivals: Sequence[Arrival]) -> dict[Identity, Upload]:
    """Return the uploads that these files are already."""
    identities = {one.identity for one in arrivals}
    rows = Upload.objects.filter(
        project=project,
        raw__sha256__in=[sha256 for sha256, _ in identities],
        metadata_digest__in=[digest for _, digest in identities],
    )
    rows = rows.select_related("project", "raw").defer("raw__content")
    return {(row.raw.sha256, row.metadata_digest): row for row in rows}


def _understand(project: Project, arrival: Arrival, *, received_at: datetime) -> Understood | None:
    """Return None for a file that is left to a job. Raises FieldsError."""
    if not arrival.is_read_at_once:
        return None
    return understand(project, arrival, received_at=received_at)


# --- new files ----------------------------------------------------------------------------------------------


def _store(
    project: Project, files: Sequence[_NewFile], *, by: Viewer, quiet: bool
) -> dict[Identity, Received]:
    """Store new files with their runs: together or, where that fails, each by itself.

    A file that the history cannot hold is then refused, and one that meets trouble that may pass is left to
    a job. One that somebody else has just sent is left out.
    """
    if not files:
        return {}
    try:
        with transaction.atomic():
            uploads, recorded = _insert(project, files, by=by, quiet=quiet)
    except (RepeatsError, RecordError, DataError, IntegrityError, OperationalError) as error:
        if len(files) == 1 and isinstance(error, RepeatsError):
            return {files[0].arrival.identity: _store_and_import(project, files[0], by=by, quiet=quiet)}
        if len(files) == 1:
            instead = _instead_of(project, files[0], error)
            return _store(project, [instead], by=by, quiet=quiet) if instead else {}
        alone = [_store(project, [one], by=by, quiet=quiet) for one in files]
        return {identity: received for one in alone for identity, received in one.items()}
    return {
        one.arrival.identity: Received(
            upload,
            duplicate=False,
            runs=summaries_of(recorded[upload.pk]) if upload.pk in recorded else None,
        )
        for one, upload in zip(files, uploads, strict=True)
    }


def _store_and_import(project: Project, file: _NewFile, *, by: Viewer, quiet: bool) -> Received:
    """Store a file that repeats another, then record what of it is new."""
    with transaction.atomic():
        [upload], _ = _insert(project, [replace(file, understood=None)], by=by, quiet=quiet)
    return import_or_leave_queued(upload, file.understood, repeats=True)


def _instead_of(project: Project, file: _NewFile, error: Exception) -> _NewFile | None:
    """Return what to store of a file that could not be stored with its runs.

    None where somebody else has just sent the same. Raises the error where it has nothing to do with runs.
    """
    if isinstance(error, IntegrityError) and known_uploads(project, [file.arrival]):
        return None
    if file.has_runs and isinstance(error, RecordError | DataError):
        return replace(file, understood=Understood(errors=errors_of(error)))
    if file.understood and isinstance(error, OperationalError):
        logger.warning("%s is left to a job: %s", file.arrival.file_name, error)
        return replace(file, understood=None)
    # Its deletion may have begun since the file came.
    if not Project.objects.filter(pk=project.pk, deleting_since=None).exists():
        raise BeingDeleted(project)
    raise error


def _insert(
    project: Project, files: Sequence[_NewFile], *, by: Viewer, quiet: bool
) -> tuple[list[Upload], Mapping[int, Recorded]]:
    """Store files, and record the runs of those that were understood; return uploads, and runs by upload."""
    sent = [one.arrival for one in files]
    raw_files = raw_bytes.keep(
        project, [data for one in sent for data in (one.data, *(beside.data for beside in one.companions))]
    )
    uploads = Upload.objects.bulk_create(
        _upload_row(project, one, raw_files, by=by, quiet=quiet) for one in files
    )
    companions = [
        row
        for upload, one in zip(uploads, files, strict=True)
        for row in companion_rows(upload, one.arrival.companions, raw_files, one.understood)
    ]
    if companions:
        Companion.objects.bulk_create(companions)
    recorded = _record(project, uploads, files, quiet=quiet)
    for upload in uploads:
        if upload.state == Upload.State.QUEUED:
            ring(IMPORT_TASK, upload.pk)
    return uploads, recorded


def _upload_row(
    project: Project, file: _NewFile, raw_files: Mapping[str, RawFile], *, by: Viewer, quiet: bool
) -> Upload:
    arrival, understood = file.arrival, file.understood
    sha256, digest = arrival.identity
    upload = Upload(
        project=project,
        raw=raw_files[sha256],
        metadata_digest=digest,
        name=clean_file_name(arrival.file_name),
        metadata=arrival.metadata.as_json(),
        warnings=list(arrival.warnings),
        quiet=quiet,
        is_archive=arrival.is_archive,
        came_alone=arrival.came_alone,
        user=by.user,
        token=by.token,
        received_at=file.received_at,
        queued_at=timezone.now(),
    )
    if understood:
        upload.state = Upload.State.REFUSED if understood.errors else Upload.State.IMPORTED
        upload.format = understood.format
        upload.errors = understood.errors
        upload.warnings = joined(arrival.warnings, understood.warnings)
        upload.done = upload.total
        upload.finished_at = timezone.now()
    return upload


def _record(
    project: Project, uploads: Sequence[Upload], files: Sequence[_NewFile], *, quiet: bool
) -> Mapping[int, Recorded]:
    """Record the runs of new uploads. Raises RecordError, and RepeatsError where one may be a copy."""
    records = {
        upload.pk: one.understood.records
        for upload, one in zip(uploads, files, strict=True)
        if one.understood and one.has_runs
    }
    if not records:
        return {}
    recorded = record_new_uploads(project, records, quiet=quiet, check=refuse_repeats)
    warned = [upload for upload in uploads if upload.pk in recorded and recorded[upload.pk].warnings]
    for upload in warned:
        upload.warnings = joined(upload.warnings, recorded[upload.pk].warnings)
    if len(warned) == 1:
        Upload.objects.filter(pk=warned[0].pk).update(warnings=warned[0].warnings)
    elif warned:
        Upload.objects.bulk_update(warned, ["warnings"])
    return recorded


# --- files that were sent before ----------------------------------------------------------------------------


def _receive_again(project: Project, arrival: Arrival, upload: Upload | None, *, by: Viewer) -> Received:
    """Receive a file that is ``upload``, or whatever has become of it in the meantime.

    Raises FieldsError, with nothing changed, for a small file that is to be read and lacks a field.
    """
    if upload is None:
        upload = known_uploads(project, [arrival])[arrival.identity]
    if upload.needs_no_reading:
        _note_sender(upload, arrival, by=by)
        return Received(upload, duplicate=True)
    understood = _understand(project, arrival, received_at=upload.received_at)
    with transaction.atomic():
        upload = queue_again(upload, by=by, warnings=arrival.warnings)
        _note_sender(upload, arrival, by=by)
        if understood is None:
            ring(IMPORT_TASK, upload.pk)
    if understood is None:
        return Received(upload, duplicate=upload.needs_no_reading)
    return import_or_leave_queued(upload, understood)


def _note_sender(upload: Upload, arrival: Arrival, *, by: Viewer) -> None:
    """Note who sent the upload again, and that it came alone.

    A file out of an archive that is sent by itself stands by itself from then on. Another token that sends
    it may follow it too.
    """
    if by.token and upload.token_id != by.token.pk:
        upload.also_sent_by.add(by.token)
    if arrival.came_alone and not upload.came_alone:
        upload.came_alone = True
        upload.save(update_fields=["came_alone"])


def _twin_warning(twin: Upload, arrival: Arrival) -> str:
    """Return a warning that names an earlier upload of the same bytes."""
    return (
        f"upload {twin.pk} of {twin.received_at:%Y-%m-%d} ('{twin.name}') is the same file with other "
        f"metadata: {_difference(twin.metadata, arrival.metadata.as_json())}; "
        "if it was said wrongly then, change or delete that upload"
    )


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if not names:
        return "other files lay beside it"
    said = []
    for name in names[:_MAX_NAMED_FIELDS]:
        values = before.get(name), now.get(name)
        if any(isinstance(value, dict | list) for value in values):
            said.append(f"'{name}' differs")
        else:
            said.append(f"{name} was {_quoted(values[0])} and is {_quoted(values[1])}")
    if len(names) > _MAX_NAMED_FIELDS:
        said.append(f"{len(names) - _MAX_NAMED_FIELDS} more differ")
    return ", ".join(said)


def _quoted(value: Any) -> str:
    if value is None:
        return "not said"
    text = str(value)
    return f"'{text[:_MAX_QUOTED]}…'" if len(text) > _MAX_QUOTED else f"'{text}'"
