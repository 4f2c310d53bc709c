"""Says what an upload would give, and stores nothing of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Project
from benchdash.results.services import record_runs
from ingest.errors import FileRefusedError
from ingest.models import RawFile, Upload
from ingest.queries import RunCopy, RunSummary, run_summaries
from ingest.receiving.arrivals import Arrival, clean_file_name
from ingest.receiving.bound_hardware import of_bound_token
from ingest.receiving.copies import Form, Repeat, forms_of, repeats_among
from ingest.receiving.imports import joined
from ingest.receiving.parsing import REFUSALS, errors_of, understand
from ingest.receiving.reception import known_uploads


@dataclass(frozen=True, slots=True)
class DryRun:
    """The outcome of an upload that was only tried."""

    format: str
    sha256: str
    duplicate: bool
    runs: list[RunSummary]
    copies: list[RunCopy]
    warnings: list[str]


def dry_run(project: Project, arrival: Arrival, *, by: Viewer = NOBODY) -> DryRun:
    """Say what a file would become. Raises FieldsError, or FileRefusedError where it is not understood."""
    arrival = of_bound_token(project, arrival.with_fitting_metadata(), by.token)
    understood = understand(project, arrival, received_at=timezone.now())
    if understood.errors:
        raise FileRefusedError(understood.errors)
    sha256, digest = arrival.identity
    with nothing_stored():
        # The rows are gone in a moment, and with them the need for the bytes.
        raw = RawFile.objects.create(project=project, sha256=f"dry run of {sha256}"[:64], size=0, content=b"")
        upload = Upload.objects.create(
            project=project, raw=raw, name=clean_file_name(arrival.file_name), metadata_digest=digest
        )
        try:
            recorded = record_runs(project, upload_id=upload.pk, records=understood.records)
        except REFUSALS as error:
            raise FileRefusedError(errors_of(error)) from None
        runs = run_summaries(upload)
        keys = [record.key for record in recorded.records]
        stored = dict(zip(keys, recorded.run_ids, strict=True))
        own = forms_of([upload.pk] * len(keys), recorded.places, recorded.records, stored=stored)
        repeats = [(forms, _own(forms, upload)) for forms in repeats_among(own)]
        kept = {own.run_id: forms[0] for forms, own in repeats if own is not forms[0]}
        replaced = sorted({forms[1].upload_id for forms, own in repeats if own is forms[0]})
    return DryRun(
        format=understood.format,
        sha256=sha256,
        duplicate=is_duplicate(project, arrival),
        runs=[replace(run, id=kept[run.id].run_id if run.id in kept else None) for run in runs],
        copies=[RunCopy(form.run_id, form.upload_id) for form in kept.values()],
        warnings=joined(
            arrival.warnings,
            understood.warnings,
            recorded.warnings,
            [f"it tells more than upload {one}, another form of it, and takes its place" for one in replaced],
        ),
    )


def _own(forms: Repeat, upload: Upload) -> Form:
    return next(form for form in forms if form.upload_id == upload.pk)


def is_duplicate(project: Project, arrival: Arrival) -> bool:
    """Return whether this upload is there and needs no reading."""
    return any(upload.needs_no_reading for upload in known_uploads(project, [arrival]).values())


@contextmanager
def nothing_stored() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
