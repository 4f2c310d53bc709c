"""The way of a file: received, understood, imported; later mended, deleted, restored."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from benchdash.accounts.access import BeingDeleted, Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.celery import ring
from benchdash.database.locks import is_free
from benchdash.failures import DISK_FULL, is_disk_full
from benchdash.results.models import Measurement
from benchdash.results.services import Recorded, record_runs, remove_runs, remove_runs_of
from benchdash.results.stall_rule import stall_rule
from ingest import containers, storage
from ingest.beside import Beside, beside_received, beside_stored
from ingest.companions import CompanionFile, clean_file_name
from ingest.errors import (
    FieldError,
    FieldsError,
    FileRefusedError,
    FileUnavailableError,
    UploadBusyError,
)
from ingest.fields import ALL_FIELDS, ARCHIVE_FIELDS, FIELDS, unknown_field_warnings
from ingest.formats.report import FormatError
from ingest.masking import mask_text
from ingest.metadata import Metadata, metadata_digest, metadata_from_json, read_metadata
from ingest.models import ArchiveFile, Companion, RawFile, Upload
from ingest.queries import RunSummary, files_of_its_own, run_summaries, runs_of
from ingest.reading import REFUSALS, Parsed, error_of, errors_of, parse, try_to_parse
from ingest.records import decide
from ingest.storage import RawData

logger = logging.getLogger(__name__)

# Sent again, an upload in one of these states is read again.
_READ_AGAIN = frozenset({Upload.State.REFUSED, Upload.State.DELETED})
IMPORT_TASK = "ingest.tasks.import_upload"
# A file that made so many workers die is not tried again.
MOST_ATTEMPTS = 5
# A file that cannot be read is looked for again after twice as long each time.
MIN_RETRY_S = 15
MAX_RETRY_S = 600


@dataclass(frozen=True, slots=True)
class Received:
    """``duplicate``: the same file with the same metadata was there and needs no reading.

    ``runs`` are those of the upload where they are known without asking.
    """

    upload: Upload
    duplicate: bool
    runs: Sequence[RunSummary] | None = None


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an upload would have given."""

    format: str
    sha256: str
    duplicate: bool
    runs: list[RunSummary]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change of an upload would do to its runs, and to how many series."""

    before: list[RunSummary]
    after: list[RunSummary]
    series_left: int
    series_entered: int
    warnings: list[str]


# --- receiving ----------------------------------------------------------------------------------------------


def accept_upload(
    project: Project,
    *,
    by: Viewer,
    file_name: str,
    data: RawData,
    metadata: Metadata,
    companions: Sequence[CompanionFile] = (),
    warnings: Sequence[str] = (),
    quiet: bool = False,
    came_alone: bool = True,
) -> Received:
    """Receive a file and import it: at once if it is small, else by a job. The state of the upload tells.

    An archive is imported by a job. ``came_alone`` is not true of a file out of an archive.
    Raises FieldsError, with nothing stored, where neither sender nor file says what is required.
    """
    at_once = data.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES and not is_archive(data)
    metadata, warnings = _fit_for(data, metadata, warnings)
    parsed = None
    if at_once:
        if (same := _same_upload(project, data, metadata, companions)) and _needs_no_reading(same):
            _note_that_it_came(same, came_alone, by=by)
            return Received(same, duplicate=True)
        parsed = try_to_parse(data.read(), file_name, metadata)
        if isinstance(parsed, Parsed):
            try:
                decide(parsed.report, metadata, received_at=timezone.now())
            except FormatError as error:
                parsed = error
    received = receive_upload(
        project,
        by=by,
        file_name=file_name,
        data=data,
        metadata=metadata,
        companions=companions,
        warnings=warnings,
        quiet=quiet,
        came_alone=came_alone,
    )
    if received.upload.state in Upload.FINISHED:
        return received
    if at_once:
        return _import_or_leave_queued(received.upload, parsed)
    ring(IMPORT_TASK, received.upload.pk)
    return received


def receive_upload(
    project: Project,
    *,
    by: Viewer,
    file_name: str,
    data: RawData,
    metadata: Metadata,
    companions: Sequence[CompanionFile] = (),
    warnings: Sequence[str] = (),
    quiet: bool = False,
    came_alone: bool = True,
) -> Received:
    """Store bytes and metadata in one transaction. ``warnings`` are those of reading the metadata.

    The same upload again is the same upload: a refused or deleted one is then queued to be read again.
    Raises BeingDeleted: the deletion of the project may have begun since the file came.
    """
    if not Project.objects.filter(pk=project.pk, deleting_since=None).exists():
        raise BeingDeleted(project)
    with transaction.atomic():
        raw_files = storage.keep(project, [data, *(one.data for one in companions)])
        upload, is_new = Upload.objects.get_or_create(
            project=project,
            raw=raw_files[data.sha256],
            metadata_digest=digest_of(metadata, companions),
            defaults={
                "name": clean_file_name(file_name),
                "metadata": metadata.as_json(),
                "warnings": list(warnings),
                "quiet": quiet,
                "is_archive": is_archive(data),
                "came_alone": came_alone,
                "user": by.user,
                "token": by.token,
            },
        )
        if is_new:
            add_companions(upload, companions, raw_files)
        elif upload.state in _READ_AGAIN:
            upload = _queue_again(upload, by=by, warnings=warnings)
        _note_that_it_came(upload, came_alone, by=by)
    return Received(upload, duplicate=not is_new and _needs_no_reading(upload))


def is_archive(data: RawData) -> bool:
    return bool(containers.recognise(next(data.chunks(), b"")[: containers.HEAD_BYTES]))


def _fit_for(data: RawData, metadata: Metadata, warnings: Sequence[str]) -> tuple[Metadata, Sequence[str]]:
    """Without what is said of the names in an archive where the file is none."""
    said = [name for name in ARCHIVE_FIELDS if getattr(metadata, name)]
    if not said or is_archive(data):
        return metadata, warnings
    ignored = [f"'{name}' is for archives and was ignored" for name in said]
    return replace(metadata, pattern=None, path_map={}, companion_pattern=()), [*warnings, *ignored]


def _note_that_it_came(upload: Upload, came_alone: bool, *, by: Viewer) -> None:
    """A file out of an archive that is sent by itself stands by itself from then on.

    Another token that sends it again may follow it too.
    """
    if by.token and upload.token_id != by.token.pk:
        upload.also_sent_by.add(by.token)
    if came_alone and not upload.came_alone:
        upload.came_alone = True
        upload.save(update_fields=["came_alone"])


def dry_run(
    project: Project,
    *,
    file_name: str,
    data: RawData,
    metadata: Metadata,
    companions: Sequence[CompanionFile] = (),
    warnings: Sequence[str] = (),
) -> DryRun:
    """All that an upload would do, and nothing of it stored.

    Raises FieldsError, or FileRefusedError for a file that cannot be understood.
    """
    metadata, warnings = _fit_for(data, metadata, warnings)
    duplicate = is_known(project, data, metadata, companions)
    beside = beside_received(companions)
    with nothing_stored():
        # The rows are gone in a moment, and with them the need for the bytes.
        raw = RawFile.objects.create(
            project=project, sha256=f"dry run of {data.sha256}"[:64], size=0, content=b""
        )
        upload = Upload(project=project, raw=raw, name=clean_file_name(file_name))
        upload.metadata_digest = metadata_digest(metadata)
        upload.save()
        try:
            parsed = parse(data.read(), upload.name, metadata)
            recorded = _record(upload, parsed, metadata, beside)
        except REFUSALS as error:
            raise FileRefusedError(errors_of(error), upload_id=None, url=None) from None
        runs = run_summaries(upload)
    return DryRun(
        format=parsed.format,
        sha256=data.sha256,
        duplicate=duplicate,
        runs=[replace(run, id=None) for run in runs],
        warnings=joined(warnings, recorded.warnings),
    )


# --- importing ----------------------------------------------------------------------------------------------


def import_upload(upload: Upload) -> None:
    """Import an upload that waits, in one transaction: all of its runs, or a reason why not.

    Waits for another process that imports it, and does nothing to a finished one.
    """
    _import(upload, None)


def import_by_job(upload_id: int) -> None:
    """Import an upload that waits, unless another worker is at it.

    The worker holds the row: one that dies lets go of it, and the next one takes it up.
    """
    if not _claim(upload_id):
        return
    with put_back_without_storage(upload_id), transaction.atomic():
        locked = waiting().select_for_update(of=("self",), skip_locked=True).filter(pk=upload_id).first()
        if locked:
            _finish(locked, None)


@contextmanager
def put_back_without_storage(upload_id: int) -> Iterator[None]:
    """Have an import wait while its file cannot be read or the disk is full. That is no failed attempt."""
    try:
        yield
    except FileUnavailableError as error:
        _put_back(upload_id, str(error))
    except (OSError, DatabaseError) as error:
        if not is_disk_full(error):
            raise
        _put_back(upload_id, DISK_FULL)


def _put_back(upload_id: int, reason: str) -> None:
    with transaction.atomic():
        upload = waiting().select_for_update(of=("self",)).filter(pk=upload_id).first()
        if upload is None:
            return
        delay = timedelta(seconds=min(MIN_RETRY_S * 2 ** min(upload.misses, 10), MAX_RETRY_S))
        upload.state = Upload.State.QUEUED
        upload.attempts = max(upload.attempts - 1, 0)
        upload.misses += 1
        upload.retry_at = timezone.now() + delay
        upload.errors = [error_of(reason)]
        upload.save(update_fields=["state", "attempts", "misses", "retry_at", "errors"])
    logger.warning("upload %s waits: %s; tried again in %d s", upload_id, reason, delay.total_seconds())


def waiting_upload_ids() -> list[int]:
    """The uploads that are due for a job and that nobody is importing just now."""
    due = Q(retry_at=None) | Q(retry_at__lte=timezone.now())
    with transaction.atomic():
        rows = waiting().filter(due).select_for_update(of=("self",), skip_locked=True).order_by("received_at")
        return list(rows.values_list("pk", flat=True))


def _claim(upload_id: int) -> bool:
    """Show that the import has begun; give up on a file that made too many workers die."""
    with transaction.atomic():
        rows = waiting().filter(pk=upload_id, is_archive=False)
        upload = rows.select_for_update(of=("self",), skip_locked=True).first()
        if upload is None:
            return False
        if upload.attempts >= MOST_ATTEMPTS:
            _refuse(
                upload, [error_of(f"importing it failed {MOST_ATTEMPTS} times; the file is kept as it is")]
            )
            return False
        upload.state = Upload.State.IMPORTING
        upload.attempts += 1
        upload.errors = []
        upload.save(update_fields=["state", "attempts", "errors"])
    return True


def waiting() -> Any:
    states = (Upload.State.QUEUED, Upload.State.IMPORTING)
    there = Upload.objects.filter(project__deleting_since=None)
    return there.filter(state__in=states).select_related("project", "raw")


def _import_or_leave_queued(upload: Upload, parsed: Parsed | FormatError | None) -> Received:
    try:
        imported_here = _import(upload, parsed)
    except (OperationalError, FileUnavailableError):
        # A deadlock, a restart of the database, a companion out of reach: the upload is safe, and beat sends
        # it to a job.
        logger.warning("upload %s is left to a job", upload.pk, exc_info=True)
        return Received(upload, duplicate=False)
    return Received(upload, duplicate=not imported_here and _needs_no_reading(upload))


def _import(upload: Upload, parsed: Parsed | FormatError | None) -> bool:
    """Whether the import was done here, and not by another process meanwhile."""
    with transaction.atomic():
        locked = hold(upload)
        waits = locked.state not in Upload.FINISHED
        if waits:
            _finish(locked, parsed)
    upload.refresh_from_db()
    return waits


def _finish(upload: Upload, parsed: Parsed | FormatError | None) -> None:
    """Bring a locked upload to its end, imported or refused."""
    metadata = metadata_from_json(upload.metadata)
    try:
        with transaction.atomic():
            if parsed is None:
                parsed = try_to_parse(storage.read(upload.raw), upload.name, metadata)
            if isinstance(parsed, FormatError):
                raise parsed
            recorded = _record(upload, parsed, metadata, beside_stored(upload))
    except (*REFUSALS, FieldsError) as error:
        _refuse(upload, errors_of(error))
        return
    _mark_imported(upload, parsed, recorded)


def _mark_imported(upload: Upload, parsed: Parsed, recorded: Recorded) -> None:
    upload.state = Upload.State.IMPORTED
    upload.format = parsed.format
    upload.errors = []
    upload.warnings = joined(upload.warnings, recorded.warnings)
    upload.done = upload.total
    upload.finished_at = timezone.now()
    upload.save(update_fields=["state", "format", "errors", "warnings", "done", "finished_at"])


def _refuse(upload: Upload, errors: list[dict[str, Any]]) -> None:
    remove_runs(upload.project, upload_id=upload.pk)
    upload.state = Upload.State.REFUSED
    upload.errors = errors
    upload.done = upload.total
    upload.finished_at = timezone.now()
    upload.save(update_fields=["state", "errors", "done", "finished_at"])


def _record(upload: Upload, parsed: Parsed, metadata: Metadata, beside: Beside) -> Recorded:
    """Record the runs of a file; the warnings are those of the file, its metadata and the history."""
    rule = stall_rule(upload.project)
    decided = decide(parsed.report, metadata, received_at=upload.received_at, beside=beside, rule=rule)
    recorded = record_runs(upload.project, upload_id=upload.pk, records=decided.records, quiet=upload.quiet)
    return replace(recorded, warnings=[*decided.warnings, *recorded.warnings])


# --- mending ------------------------------------------------------------------------------------------------


def amend_upload(upload: Upload, changes: Mapping[str, Any], *, by: Viewer, reason: str = "") -> Upload:
    """Change metadata and record the runs again; None takes a field back. A large file is left to a job.

    Raises FieldsError, FileRefusedError, FileUnavailableError or UploadBusyError, with nothing changed.
    """
    with transaction.atomic():
        locked = hold(upload, wait=False)
        before = locked.metadata
        _amend(locked, changes)
        audit(
            locked.project,
            by,
            "upload changed",
            _subject(locked),
            reason=mask_text(reason),
            detail={
                "before": _differing(before, locked.metadata),
                "after": _differing(locked.metadata, before),
            },
        )
    return locked


def preview_amend(upload: Upload, changes: Mapping[str, Any]) -> Preview:
    """What amend_upload would do; raises what it raises."""

    def amend(locked: Upload) -> None:
        _amend(locked, changes, at_once=True)

    return preview_change(upload, amend)


def delete_upload(upload: Upload, *, by: Viewer, reason: str = "") -> None:
    """Remove the runs; the file is kept, and sending it again restores it. Raises UploadBusyError."""
    with transaction.atomic():
        locked = hold(upload, wait=False)
        if locked.state == Upload.State.DELETED:
            return
        number = _delete(locked)
        detail = {"runs": number}
        audit(locked.project, by, "upload deleted", _subject(locked), reason=mask_text(reason), detail=detail)


def preview_delete(upload: Upload) -> Preview:
    return preview_change(upload, _delete)


def restore_upload(upload: Upload, *, by: Viewer, reason: str = "") -> None:
    """Read a deleted upload again; nobody is mailed for what it brings back."""
    with transaction.atomic():
        locked = hold(upload, wait=False)
        if locked.state != Upload.State.DELETED:
            return
        locked = _queue_again(locked, by=by, warnings=(), reason=reason)
    if _is_read_at_once(locked):
        _import_or_leave_queued(locked, None)
    else:
        ring(IMPORT_TASK, locked.pk)


def _amend(upload: Upload, changes: Mapping[str, Any], *, at_once: bool = False) -> None:
    metadata = change_metadata(upload, changes)
    if at_once or _is_read_at_once(upload):
        read_again(upload, metadata)
    else:
        upload.quiet = upload.quiet or upload.is_archive
        wait_for_job(upload)
        ring(IMPORT_TASK, upload.pk)


def _is_read_at_once(upload: Upload) -> bool:
    return upload.raw.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES and not upload.is_archive


def change_metadata(upload: Upload, changes: Mapping[str, Any]) -> Metadata:
    """Change what is said of a held upload, which is to be read again. Raises FieldsError."""
    if upload.state == Upload.State.DELETED:
        raise FieldsError([FieldError("", "the upload is deleted; send the file again to restore it")])
    metadata, warnings = _amended(upload, changes)
    upload.metadata = metadata.as_json()
    upload.metadata_digest = _stored_digest(upload, metadata)
    _refuse_a_twin(upload)
    upload.warnings = warnings
    upload.save(update_fields=["metadata", "metadata_digest", "warnings"])
    return metadata


def read_again(upload: Upload, metadata: Metadata) -> None:
    """Record the runs of a held upload again; they keep their identity, and nobody is mailed.

    Raises FieldsError, FileRefusedError or FileUnavailableError where that does not work; the caller then
    rolls back.
    """
    upload.quiet = True
    upload.save(update_fields=["quiet"])
    beside = beside_stored(upload)
    try:
        parsed = parse(storage.read(upload.raw), upload.name, metadata)
        recorded = _record(upload, parsed, metadata, beside)
    except REFUSALS as error:
        raise FileRefusedError(errors_of(error), upload_id=upload.pk, url=None) from None
    _mark_imported(upload, parsed, recorded)


def _amended(upload: Upload, changes: Mapping[str, Any]) -> tuple[Metadata, list[str]]:
    fields = ALL_FIELDS if upload.is_archive else FIELDS
    known = {name: value for name, value in changes.items() if name in fields}
    metadata, warnings = read_metadata({**upload.metadata, **known})
    return metadata, [
        *unknown_field_warnings((name for name in changes if name not in fields), fields),
        *warnings,
    ]


def _refuse_a_twin(upload: Upload) -> None:
    twins = Upload.objects.filter(
        project=upload.project, raw=upload.raw, metadata_digest=upload.metadata_digest
    ).exclude(pk=upload.pk)
    if twin := twins.first():
        raise FieldsError([FieldError("", f"upload {twin.pk} is the same file with this metadata")])


def _delete(upload: Upload) -> int:
    """With an archive go those of its files that came with nothing else."""
    deleted = [upload.pk, *files_of_its_own(upload).values_list("pk", flat=True)]
    number = remove_runs_of(upload.project, deleted)
    Upload.objects.filter(pk__in=deleted).update(state=Upload.State.DELETED, finished_at=timezone.now())
    upload.refresh_from_db(fields=["state", "finished_at"])
    return number


def preview_change(upload: Upload, change: Callable[[Upload], Any]) -> Preview:
    with nothing_stored():
        locked = hold(upload, wait=False)
        before, left = run_summaries(locked), _series_of(locked)
        change(locked)
        after, entered = run_summaries(locked), _series_of(locked)
        return Preview(
            before=before,
            after=after,
            series_left=len(left - entered),
            series_entered=len(entered - left),
            warnings=list(locked.warnings),
        )


def _series_of(upload: Upload) -> set[int]:
    measured = Measurement.objects.filter(run__in=runs_of(upload), series__is_derived=False)
    return set(measured.values_list("series_id", flat=True))


def _subject(upload: Upload) -> str:
    return f"{upload.pk} {upload.name}"


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if other.get(name) != value}


# --- rows of uploads ----------------------------------------------------------------------------------------


def _queue_again(upload: Upload, *, by: Viewer, warnings: Sequence[str], reason: str = "") -> Upload:
    """Have a refused or deleted upload read again; any other stays as it is."""
    locked = hold(upload)
    if locked.state not in _READ_AGAIN:
        return locked
    if locked.state == Upload.State.DELETED:
        audit(locked.project, by, "upload restored", _subject(locked), reason=mask_text(reason))
        locked.quiet = True
    locked.warnings = list(warnings)
    wait_for_job(locked)
    return locked


def wait_for_job(upload: Upload) -> None:
    upload.state = Upload.State.QUEUED
    upload.errors = []
    upload.done = upload.attempts = upload.misses = 0
    upload.queued_at = timezone.now()
    upload.finished_at = upload.retry_at = None
    changed = ["state", "errors", "done", "attempts", "misses", "queued_at", "finished_at", "retry_at"]
    upload.save(update_fields=[*changed, "warnings", "quiet"])
    if upload.is_archive:
        upload.files.update(state=ArchiveFile.State.QUEUED)


def hold(upload: Upload, *, wait: bool = True) -> Upload:
    """The upload as it is now, held until the transaction ends. Raises UploadBusyError instead of waiting."""
    rows = Upload.objects.select_for_update(of=("self",), skip_locked=not wait)
    locked = rows.select_related("project", "raw").filter(pk=upload.pk).first()
    if locked is None or (not wait and locked.is_archive and not is_free("archive", locked.pk)):
        raise UploadBusyError(f"upload {upload.pk} is being imported; try again when it is done")
    return locked


def add_companions(
    upload: Upload,
    companions: Iterable[CompanionFile],
    raw_files: Mapping[str, RawFile],
    read_as: Mapping[tuple[str, str], str] | None = None,
) -> None:
    """``read_as`` are the formats of ``Beside``, where they are known already."""
    known = read_as or {}
    distinct: dict[tuple[str, str], CompanionFile] = {}
    for one in companions:
        distinct.setdefault((one.kind, one.data.sha256), one)
    Companion.objects.bulk_create(
        Companion(
            upload=upload,
            raw=raw_files[sha256],
            kind=kind,
            name=clean_file_name(one.name),
            format=known.get((kind, sha256), ""),
        )
        for (kind, sha256), one in distinct.items()
    )


def _same_upload(
    project: Project, data: RawData, metadata: Metadata, companions: Sequence[CompanionFile]
) -> Upload | None:
    return Upload.objects.filter(
        project=project, raw__sha256=data.sha256, metadata_digest=digest_of(metadata, companions)
    ).first()


def is_known(
    project: Project, data: RawData, metadata: Metadata, companions: Sequence[CompanionFile]
) -> bool:
    """Whether this upload is there and needs no reading."""
    same = _same_upload(project, data, metadata, companions)
    return same is not None and _needs_no_reading(same)


def _needs_no_reading(upload: Upload) -> bool:
    return upload.state in (Upload.State.IMPORTED, Upload.State.PARTIAL)


def digest_of(metadata: Metadata, companions: Iterable[CompanionFile]) -> str:
    """What tells apart two uploads of the same file."""
    return metadata_digest(metadata, {(one.kind, one.data.sha256) for one in companions})


def _stored_digest(upload: Upload, metadata: Metadata) -> str:
    return metadata_digest(metadata, upload.companions.values_list("kind", "raw__sha256"))


def joined(*warnings: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(warning for some in warnings for warning in some))


@contextmanager
def nothing_stored() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
