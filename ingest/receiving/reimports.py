"""Reads kept files again, after a format got better: what changed, and nothing twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import Measurement
from ingest.errors import FieldsError, FileRefusedError, FileUnavailableError, UploadBusyError
from ingest.metadata.upload_metadata import read_metadata
from ingest.models import Upload
from ingest.receiving.imports import hold, read_again
from ingest.receiving.parsing import error_of, errors_of

_READABLE = (Upload.State.IMPORTED, Upload.State.REFUSED)
# Fields of each upload in the record of what was done.
_MAX_RECORDED = 100

_Values = dict[tuple[str, str], tuple[float, float | None, float | None]]


class ReimportOutcome(StrEnum):
    SAME = "the same"
    CHANGED = "changed"
    UNDERSTOOD = "understood now"
    COPY = "another form of runs that are there"
    STILL_REFUSED = "still refused"
    LEFT = "no longer understood, left as it was"
    BUSY = "being imported"
    UNAVAILABLE = "its file cannot be read now, left as it was"


_CHANGES = (ReimportOutcome.CHANGED, ReimportOutcome.UNDERSTOOD, ReimportOutcome.COPY)


@dataclass(frozen=True, slots=True)
class ChangedReading:
    """A reading of a run before and after; None where there was none or is none any more."""

    run: str
    metric: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Reread:
    """The outcome of one upload. ``errors`` say why it is not understood."""

    upload: Upload
    outcome: ReimportOutcome
    changes: tuple[ChangedReading, ...] = ()
    errors: tuple[dict[str, Any], ...] = ()


def readable_uploads(project: Project | None = None, *, format_: str = "") -> QuerySet[Upload]:
    """Return the uploads whose files can be read again, oldest first; refused ones have no format yet."""
    uploads = Upload.objects.filter(state__in=_READABLE, is_archive=False).order_by("pk")
    uploads = uploads.select_related("project", "raw")
    if project:
        uploads = uploads.filter(project=project)
    if format_:
        uploads = uploads.filter(format__in=(format_, ""))
    return uploads.defer("raw__content")


def reimport(upload: Upload, *, by: Viewer = NOBODY, store: bool = True) -> Reread:
    """Read the kept file again and record its runs, which keep their identity; nobody is mailed.

    A file that is no longer understood stays as it was. Without ``store`` nothing is changed.
    """
    try:
        with transaction.atomic():
            reread = _reread(hold(upload, wait=False))
            if not store:
                transaction.set_rollback(True)
            elif reread.outcome in _CHANGES:
                _audit(reread, by)
    except UploadBusyError:
        return Reread(upload, ReimportOutcome.BUSY)
    except FileUnavailableError as error:
        return Reread(upload, ReimportOutcome.UNAVAILABLE, errors=(error_of(str(error)),))
    return reread


def _reread(upload: Upload) -> Reread:
    was_refused = upload.state == Upload.State.REFUSED
    before = _values(upload)
    try:
        with transaction.atomic():
            metadata, upload.warnings = read_metadata(upload.metadata)
            read_again(upload, metadata)
    except FileRefusedError as error:
        return Reread(upload, _not_understood(was_refused), errors=tuple(error.errors))
    except FieldsError as error:
        return Reread(upload, _not_understood(was_refused), errors=tuple(errors_of(error)))
    changes = tuple(_changes(before, _values(upload)))
    if changes and not was_refused and upload.copies.exists():
        return Reread(upload, ReimportOutcome.COPY, changes)
    if was_refused:
        return Reread(upload, ReimportOutcome.UNDERSTOOD, changes)
    return Reread(upload, ReimportOutcome.CHANGED if changes else ReimportOutcome.SAME, changes)


def _not_understood(was_refused: bool) -> ReimportOutcome:
    return ReimportOutcome.STILL_REFUSED if was_refused else ReimportOutcome.LEFT


def _values(upload: Upload) -> _Values:
    rows = Measurement.objects.filter(run__upload_id=upload.pk, series__is_derived=False)
    return {
        (key, metric): (value, low, high)
        for key, metric, value, low, high in rows.values_list(
            "run__key", "series__metric", "value", "low", "high"
        )
    }


def _changes(before: _Values, after: _Values) -> Iterator[ChangedReading]:
    for run, metric in sorted(before.keys() | after.keys()):
        old, new = before.get((run, metric)), after.get((run, metric))
        if old != new:
            yield ChangedReading(run, metric, old[0] if old else None, new[0] if new else None)


def _audit(reread: Reread, by: Viewer) -> None:
    upload = reread.upload
    changes = [
        {"run": one.run, "metric": one.metric, "before": one.before, "after": one.after}
        for one in reread.changes[:_MAX_RECORDED]
    ]
    detail = {"changed readings": len(reread.changes), "first of them": changes}
    audit(upload.project, by, "upload read again", f"{upload.pk} {upload.name}", detail=detail)
