"""Mends what was received: metadata changed, uploads deleted and restored, each with a preview."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.services import audit
from benchdash.celery import ring
from benchdash.results.models import Measurement
from ingest.errors import FieldError, FieldsError
from ingest.masking import mask_text
from ingest.metadata.fields import ALL_FIELDS, FIELDS, Metadata
from ingest.metadata.upload_metadata import metadata_digest, read_metadata
from ingest.metadata.values import unknown_field_warnings
from ingest.models import Upload
from ingest.queries import RunSummary, files_of_its_own, run_summaries, runs_of
from ingest.receiving.bound_hardware import bound_metadata
from ingest.receiving.dry_runs import nothing_stored
from ingest.receiving.imports import (
    IMPORT_TASK,
    delete_uploads,
    hold,
    import_or_leave_queued,
    queue_again,
    read_again,
    wait_for_job,
)


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of a change of an upload on its runs, and on how many series."""

    before: list[RunSummary]
    after: list[RunSummary]
    series_left: int
    series_entered: int
    warnings: list[str]


def amend_upload(upload: Upload, changes: Mapping[str, Any], *, by: Viewer, reason: str = "") -> Upload:
    """Change metadata and record the runs again; None takes a field back. A large file is left to a job.

    Raises FieldsError, FileRefusedError, FileUnavailableError or UploadBusyError, with nothing changed.
    """
    with transaction.atomic():
        locked = hold(upload, wait=False)
        before = locked.metadata
        _amend(locked, changes, by=by)
        audit(
            locked.project,
            by,
            "upload changed",
            locked.subject,
            reason=mask_text(reason),
            detail={
                "before": _differing(before, locked.metadata),
                "after": _differing(locked.metadata, before),
            },
        )
    return locked


def preview_amend(upload: Upload, changes: Mapping[str, Any], *, by: Viewer) -> Preview:
    """Say what amend_upload would do; raise what it raises."""
    return preview_change(upload, partial(_amend, changes=changes, by=by, at_once=True))


def delete_upload(upload: Upload, *, by: Viewer, reason: str = "") -> None:
    """Remove the runs; the file is kept, and sending it again restores it. Raises UploadBusyError."""
    with transaction.atomic():
        locked = hold(upload, wait=False)
        if locked.state == Upload.State.DELETED:
            return
        number = _delete(locked)
        detail = {"runs": number}
        audit(locked.project, by, "upload deleted", locked.subject, reason=mask_text(reason), detail=detail)


def preview_delete(upload: Upload) -> Preview:
    return preview_change(upload, _delete)


def restore_upload(upload: Upload, *, by: Viewer, reason: str = "") -> None:
    """Read a deleted upload again; nobody is mailed for what it brings back."""
    with transaction.atomic():
        locked = hold(upload, wait=False)
        if locked.state != Upload.State.DELETED:
            return
        locked = queue_again(locked, by=by, warnings=(), reason=reason)
    if _is_read_at_once(locked):
        import_or_leave_queued(locked)
    else:
        ring(IMPORT_TASK, locked.pk)


def _amend(upload: Upload, changes: Mapping[str, Any], *, by: Viewer, at_once: bool = False) -> None:
    metadata = change_metadata(upload, changes, by=by)
    if at_once or _is_read_at_once(upload):
        read_again(upload, metadata)
    else:
        upload.quiet = upload.quiet or upload.is_archive
        wait_for_job(upload)
        ring(IMPORT_TASK, upload.pk)


def _is_read_at_once(upload: Upload) -> bool:
    return upload.raw.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES and not upload.is_archive


def change_metadata(upload: Upload, changes: Mapping[str, Any], *, by: Viewer) -> Metadata:
    """Change what is said of a held upload, which is to be read again. Raises FieldsError.

    What a bound token sent or changes stays with its machine. An archive that one sent does so whoever
    changes it, because its files are read in the name of that token.
    """
    if upload.state == Upload.State.DELETED:
        raise FieldsError([FieldError("", "the upload is deleted; send the file again to restore it")])
    metadata, warnings = _amended(upload, changes)
    for token in (by.token, upload.token if upload.is_archive else None):
        metadata = bound_metadata(upload.project, metadata, token, is_archive=upload.is_archive)
    upload.metadata = metadata.as_json()
    upload.metadata_digest = metadata_digest(
        metadata, upload.companions.values_list("kind", "raw__sha256"), bound_to=upload.bound_to
    )
    _refuse_a_twin(upload)
    upload.warnings = warnings
    upload.save(update_fields=["metadata", "metadata_digest", "warnings"])
    return metadata


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
    """Delete an upload; with an archive go those of its files that came with nothing else."""
    deleted = [upload.pk, *files_of_its_own(upload).values_list("pk", flat=True)]
    number = delete_uploads(upload.project, deleted)
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


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if other.get(name) != value}
