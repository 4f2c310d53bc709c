"""Imports uploads: their runs are recorded, or the reason why not, while a sender waits or by a job."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import DatabaseError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.celery import ring
from benchdash.database.locks import is_free
from benchdash.failures import DISK_FULL, is_disk_full
from benchdash.results.models import Run
from benchdash.results.services import remove_runs_of
from ingest.errors import FieldsError, FileRefusedError, FileUnavailableError, UploadBusyError
from ingest.masking import mask_text
from ingest.metadata.fields import Metadata
from ingest.metadata.upload_metadata import metadata_from_json
from ingest.models import ArchiveFile, Companion, RawFile, Upload
from ingest.queries import RunSummary, other_forms
from ingest.receiving.arrivals import CompanionFile, clean_file_name, distinct_files, stored_arrival
from ingest.receiving.copies import RepeatsError, hand_over, record_alone, record_first
from ingest.receiving.parsing import REFUSALS, Understood, error_of, errors_of, understand

logger = logging.getLogger(__name__)

IMPORT_TASK: Final = "ingest.tasks.import_upload"
# A file is given up after this many attempts, none of which its worker survived.
MAX_ATTEMPTS: Final = 5
# A file that cannot be read is looked for again after twice as long each time.
MIN_RETRY_S: Final = 15
MAX_RETRY_S: Final = 600
# Sent again, an upload in one of these states is read again.
_READ_AGAIN: Final = frozenset({Upload.State.REFUSED, Upload.State.DELETED})


@dataclass(frozen=True, slots=True)
class Received:
    """``duplicate``: the same file with the same metadata was there and needs no reading.

    ``runs`` are those of an upload without copies that was just recorded; else they are to be read.
    """

    upload: Upload
    duplicate: bool
    runs: Sequence[RunSummary] | None = None


def import_or_leave_queued(
    upload: Upload, understood: Understood | None = None, *, repeats: bool = False
) -> Received:
    """Import an upload while its sender waits, or leave it to a job where trouble may pass.

    That is a deadlock, a restart of the database, or a companion out of reach: the upload is safe, and beat
    sends it to a job.
    """
    try:
        imported_here = import_upload(upload, understood, repeats=repeats)
    except (OperationalError, FileUnavailableError):
        logger.warning("upload %s is left to a job", upload.pk, exc_info=True)
        return Received(upload, duplicate=False)
    return Received(upload, duplicate=not imported_here and upload.needs_no_reading)


def import_upload(upload: Upload, understood: Understood | None = None, *, repeats: bool = False) -> bool:
    """Import an upload that waits, in one transaction; return whether that was done here.

    Waits for another process that imports it, and does nothing to a finished one. Without ``understood``, the
    stored file is read. ``repeats`` says that some of its runs are there already.
    """
    is_done = _import(upload.pk, understood, alone=repeats, skip_locked=False)
    upload.refresh_from_db()
    return is_done


def import_by_job(upload_id: int) -> None:
    """Import an upload that waits, unless another worker is at it.

    The worker holds the row: one that dies lets go of it, and the next one takes it up.
    """
    if _claim(upload_id):
        with put_back_without_storage(upload_id):
            _import(upload_id, skip_locked=True)


def _import(
    upload_id: int, understood: Understood | None = None, *, alone: bool = False, skip_locked: bool
) -> bool:
    try:
        with transaction.atomic():
            rows = waiting().select_for_update(of=("self",), skip_locked=skip_locked)
            locked = rows.filter(pk=upload_id).first()
            if locked:
                _finish(locked, understood, alone=alone)
            return locked is not None
    except RepeatsError:
        if alone:
            raise
        return _import(upload_id, understood, alone=True, skip_locked=skip_locked)


def read_again(upload: Upload, metadata: Metadata) -> None:
    """Record the runs of a held upload again; they keep their identity, and nobody is mailed.

    Raises FieldsError, FileRefusedError or FileUnavailableError where that does not work; the caller then
    rolls back.
    """
    upload.quiet = True
    upload.save(update_fields=["quiet"])
    try:
        _record(upload, _understand_stored(upload, metadata), alone=True)
    except REFUSALS as error:
        raise FileRefusedError(errors_of(error), upload_id=upload.pk, url=None) from None


def _finish(upload: Upload, understood: Understood | None = None, *, alone: bool = False) -> None:
    """Bring a held upload to its end, imported or refused. Raises RepeatsError unless it is ``alone``."""
    try:
        with transaction.atomic():
            understood = understood or _understand_stored(upload, metadata_from_json(upload.metadata))
            _record(upload, understood, alone=alone)
    except FileRefusedError as error:
        _refuse(upload, error.errors)
    except (*REFUSALS, FieldsError) as error:
        _refuse(upload, errors_of(error))


def _understand_stored(upload: Upload, metadata: Metadata) -> Understood:
    """Read the stored file of an upload. Raises FieldsError or FileUnavailableError."""
    return understand(upload.project, stored_arrival(upload, metadata), received_at=upload.received_at)


def _record(upload: Upload, understood: Understood, *, alone: bool) -> None:
    """Record the runs of a file that was understood.

    Raises FileRefusedError for any other, RecordError or DataError for what the history cannot hold, and
    RepeatsError, unless it is ``alone``, where runs are there already.
    """
    if understood.errors:
        raise FileRefusedError(understood.errors, upload_id=upload.pk, url=None)
    others = list(other_forms([upload.pk])) if alone else []
    recorded = (record_alone if alone else record_first)(upload, understood.records)
    if understood.companion_formats:
        companions = list(upload.companions.select_related("raw").defer("raw__content"))
        for one in companions:
            one.format = understood.companion_formats[one.kind, one.raw.sha256]
        Companion.objects.bulk_update(companions, ["format"])
    upload.state = Upload.State.IMPORTED
    upload.format = understood.format
    upload.errors = []
    upload.warnings = joined(upload.warnings, understood.warnings, recorded.warnings)
    end(upload, "format", "warnings")
    _read_other_forms(others)


def _read_other_forms(uploads: Iterable[Upload]) -> None:
    """Read the other forms of runs that were recorded again or are gone: they may be copies no more.

    Raises UploadBusyError for one that is being imported.
    """
    for one in uploads:
        upload = hold(one, wait=False)
        upload.quiet = True
        wait_for_job(upload)
        try:
            _finish(upload, alone=True)
        except FileUnavailableError:
            ring(IMPORT_TASK, upload.pk)


def _refuse(upload: Upload, errors: list[dict[str, Any]]) -> None:
    _take_out(upload.project, [upload.pk])
    upload.state = Upload.State.REFUSED
    upload.errors = errors
    end(upload)


def end(upload: Upload, *changed: str) -> None:
    """Save a held upload whose import has come to its end, with the other fields that changed."""
    upload.done = upload.total
    upload.finished_at = timezone.now()
    upload.save(update_fields=["state", "errors", "done", "finished_at", *changed])


# --- jobs ---------------------------------------------------------------------------------------------------


def waiting() -> QuerySet[Upload]:
    """Return the uploads that are to be imported."""
    there = Upload.objects.filter(project__deleting_since=None).select_related("project", "raw")
    return there.filter(state__in=(Upload.State.QUEUED, Upload.State.IMPORTING))


def waiting_upload_ids() -> list[int]:
    """Return the uploads that are due for a job and that nobody is importing just now."""
    due = Q(retry_at=None) | Q(retry_at__lte=timezone.now())
    with transaction.atomic():
        rows = waiting().filter(due).select_for_update(of=("self",), skip_locked=True).order_by("received_at")
        return list(rows.values_list("pk", flat=True))


def wait_for_job(upload: Upload) -> None:
    """Have a held upload imported again, by whoever takes it up."""
    upload.state = Upload.State.QUEUED
    upload.errors = []
    upload.done = upload.attempts = upload.misses = 0
    upload.queued_at = timezone.now()
    upload.finished_at = upload.retry_at = None
    changed = ["state", "errors", "done", "attempts", "misses", "queued_at", "finished_at", "retry_at"]
    upload.save(update_fields=[*changed, "warnings", "quiet"])
    if upload.is_archive:
        upload.files.update(state=ArchiveFile.State.QUEUED)


def queue_again(upload: Upload, *, by: Viewer, warnings: Sequence[str], reason: str = "") -> Upload:
    """Have a refused or deleted upload read again; any other stays as it is."""
    if upload.state not in _READ_AGAIN:
        return upload
    locked = hold(upload)
    if locked.state not in _READ_AGAIN:
        return locked
    if locked.state == Upload.State.DELETED:
        audit(locked.project, by, "upload restored", locked.subject, reason=mask_text(reason))
        locked.quiet = True
    locked.warnings = list(warnings)
    wait_for_job(locked)
    return locked


def begin_attempt(upload: Upload) -> None:
    """Show that the import of a held upload has begun."""
    upload.state = Upload.State.IMPORTING
    upload.attempts += 1
    upload.errors = []
    upload.save(update_fields=["state", "attempts", "errors"])


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


@transaction.atomic
def _put_back(upload_id: int, reason: str) -> None:
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


@transaction.atomic
def _claim(upload_id: int) -> bool:
    """Show that the import has begun; give up on a file that made too many workers die."""
    rows = waiting().filter(pk=upload_id, is_archive=False)
    upload = rows.select_for_update(of=("self",), skip_locked=True).first()
    if upload is None:
        return False
    if upload.attempts >= MAX_ATTEMPTS:
        _refuse(upload, [error_of(f"importing it failed {MAX_ATTEMPTS} times; the file is kept as it is")])
        return False
    begin_attempt(upload)
    return True


# --- rows of uploads ----------------------------------------------------------------------------------------


def hold(upload: Upload, *, wait: bool = True) -> Upload:
    """Lock an upload until the transaction ends. Raises UploadBusyError instead of waiting."""
    rows = Upload.objects.select_for_update(of=("self",), skip_locked=not wait)
    locked = rows.select_related("project", "raw").filter(pk=upload.pk).first()
    if locked is None or (not wait and locked.is_archive and not is_free("archive", locked.pk)):
        raise UploadBusyError(f"upload {upload.pk} is being imported; try again when it is done")
    return locked


def delete_uploads(project: Project, upload_ids: Sequence[int]) -> int:
    """Take uploads out of the history, but keep their files; return how many runs they had."""
    number = _take_out(project, upload_ids)
    Upload.objects.filter(pk__in=upload_ids).update(state=Upload.State.DELETED, finished_at=timezone.now())
    return number


def _take_out(project: Project, upload_ids: Collection[int]) -> int:
    """Remove the runs of uploads and return their number; what other files tell of too is theirs from now."""
    number = Run.objects.filter(upload_id__in=upload_ids).count()
    others = list(other_forms(upload_ids))
    hand_over(project, upload_ids)
    remove_runs_of(project, upload_ids)
    _read_other_forms(others)
    return number


def companion_rows(
    upload: Upload,
    files: Iterable[CompanionFile],
    raw_files: Mapping[str, RawFile],
    understood: Understood | None = None,
) -> list[Companion]:
    """Return rows to be stored, one for each distinct file."""
    formats = understood.companion_formats if understood else {}
    return [
        Companion(
            upload=upload,
            raw=raw_files[key[1]],
            kind=one.kind,
            name=clean_file_name(one.name),
            format=formats.get(key, ""),
        )
        for key, one in distinct_files(files).items()
    ]


def joined(*warnings: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(warning for some in warnings for warning in some))
