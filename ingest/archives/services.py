"""Archives: unpacked by a job, their files imported like any others, and what became of each is kept.

PostgreSQL remembers how far an import is: each file of an archive has its row, and one that still waits is
taken up again after a worker died.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import takewhile
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Project
from benchdash.database.locks import alone_with
from benchdash.heartbeat import still_at_work
from benchdash.results.services import hold_results, refresh_statistics
from benchdash.results.sessions import START_UNKNOWN
from ingest import services
from ingest.archives.files import FileSet, Prepared, Tried, batches, take, try_out
from ingest.archives.previews import FolderPreview, preview
from ingest.containers import ArchiveLimits, Container, ContainerError, unpacked
from ingest.errors import FieldsError, FileRefusedError
from ingest.formats.report import FormatError
from ingest.masking import mask_text
from ingest.metadata.fields import Metadata
from ingest.metadata.path_patterns import PatternError
from ingest.metadata.upload_metadata import metadata_from_json, path_rules
from ingest.models import ArchiveFile, Companion, Upload
from ingest.queries import files_of_its_own, known_names
from ingest.receiving import imports
from ingest.receiving.arrivals import Arrival, CompanionFile, clean_file_name
from ingest.receiving.bound_hardware import of_bound_token
from ingest.receiving.dry_runs import is_duplicate
from ingest.receiving.parsing import error_of, parse
from ingest.receiving.records import told as said_by_file
from ingest.storage import raw_bytes
from ingest.storage.raw_bytes import RawData

NOT_LOOKED_AT: Final = "not looked at"
# After an archive of this size PostgreSQL is told that its tables have grown.
_MANY_FILES: Final = 50
_MAX_REASONS: Final = 20
_MAX_NAME_LENGTH: Final = 500


def archive_limits() -> ArchiveLimits:
    return ArchiveLimits(
        files=settings.ARCHIVE_MAX_FILES,
        member_bytes=settings.UPLOAD_MAX_BYTES,
        unpacked_bytes=settings.ARCHIVE_MAX_UNPACKED_BYTES,
        ratio=settings.ARCHIVE_MAX_RATIO,
    )


# --- a dry run ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArchiveDryRun:
    """The outcome of an archive that was only tried, file by file.

    ``proposal`` is what its names are taken for, where no pattern was sent and fields are missing.
    """

    format: str
    sha256: str
    duplicate: bool
    files: list[Tried]
    warnings: list[str]
    proposal: FolderPreview | None = None


def dry_run(
    project: Project, arrival: Arrival, *, by: Viewer = NOBODY, proposes: bool = False
) -> ArchiveDryRun:
    """Say what would become of each file of an archive, as far as the time goes; nothing is stored.

    With ``proposes`` the names of files are looked at where fields are missing and no pattern was sent.

    Raises FileRefusedError for an archive that cannot be read.
    """
    arrival = of_bound_token(project, arrival, by.token)
    ends_at = time.monotonic() + settings.ARCHIVE_DRY_RUN_SECONDS
    with _received(arrival.data, arrival.file_name) as container:
        file_set = FileSet(container, path_rules(arrival.metadata), arrival.companions)
        tried = try_out(project, file_set, by=by)
        files = [
            next(tried)
            if time.monotonic() < ends_at
            else Tried(file.path, NOT_LOOKED_AT, companions=file.companions)
            for file in file_set.plan.files
        ]
        proposal = None
        if proposes and not arrival.metadata.pattern and any(one.missing for one in files):
            proposal = preview(container, arrival.metadata, known=known_names(project))
    return ArchiveDryRun(
        format=container.kind,
        sha256=arrival.data.sha256,
        duplicate=is_duplicate(project, arrival),
        files=[*files, *file_set.left_aside()],
        warnings=[*arrival.warnings, *container.warnings],
        proposal=proposal,
    )


def told(arrival: Arrival) -> dict[str, set[Any]]:
    """Return what a file says itself; of an archive what its files say, as far as there is time to look."""
    if not arrival.is_archive:
        return _told(arrival) if arrival.is_read_at_once else {}
    ends_at = time.monotonic() + settings.ARCHIVE_DRY_RUN_SECONDS / 3
    found: dict[str, set[Any]] = defaultdict(set)
    with suppress(FileRefusedError), _received(arrival.data, arrival.file_name) as container:
        file_set = FileSet(container, path_rules(arrival.metadata))
        for planned in takewhile(lambda _: time.monotonic() < ends_at, file_set.plan.files):
            prepared = file_set.prepared(planned)
            for name, values in (_told(prepared.arrival) if prepared.arrival else {}).items():
                found[name] |= values
    return found


def _told(arrival: Arrival) -> dict[str, set[Any]]:
    try:
        _, report = parse(arrival.data.read(), arrival.file_name, arrival.metadata)
        return said_by_file(report, arrival.metadata)
    except (FormatError, FieldsError):
        return {}


def look_into(
    data: RawData, name: str, said: Metadata, *, known: Mapping[str, Sequence[str]], is_given: bool = False
) -> FolderPreview:
    """Say what the files of an archive say, and what their names are taken for; nothing is stored.

    With ``is_given`` the names are read by the pattern and the mapping of ``said``.

    Raises FileRefusedError for what is no archive that can be read.
    """
    with _received(data, name) as container:
        return preview(container, said, known=known, is_given=is_given)


# --- importing ----------------------------------------------------------------------------------------------


def import_by_job(upload_id: int) -> None:
    """Import the files of an archive that waits, unless another worker is at it."""
    with alone_with("archive", upload_id) as is_alone:
        if is_alone and (archive := _begin(upload_id)):
            with imports.put_back_without_storage(upload_id):
                _import(archive)


def preview_amend(upload: Upload, changes: Mapping[str, Any], *, by: Viewer) -> services.Preview:
    """Say what services.amend_upload would do; raise what it raises.

    Of an archive as many files are read as there is time for.
    """
    if not upload.is_archive:
        return services.preview_amend(upload, changes, by=by)

    def amend(archive: Upload) -> None:
        hold_results(archive.project, alone=True)
        services.change_metadata(archive, changes, by=by)
        imports.wait_for_job(archive)
        _import(archive, ends_at=time.monotonic() + settings.ARCHIVE_DRY_RUN_SECONDS)
        if archive.state == Upload.State.REFUSED:
            raise FileRefusedError(archive.errors, upload_id=archive.pk, url=None)

    return services.preview_change(upload, amend)


def _begin(upload_id: int) -> Upload | None:
    """Show that the import has begun; leave out a file that made too many workers die."""
    with transaction.atomic():
        rows = imports.waiting().filter(pk=upload_id, is_archive=True)
        archive: Upload | None = rows.select_for_update(of=("self",)).first()
        if archive is None:
            return None
        if archive.attempts >= imports.MAX_ATTEMPTS:
            trouble = f"importing it failed {imports.MAX_ATTEMPTS} times; it is kept as it is"
            if not (stuck := _waiting(archive).first()):
                _refuse(archive, trouble)
                return None
            before = stuck.upload_id
            _tell(stuck, None, [error_of(trouble)])
            stuck.save()
            _delete_stray(archive.project, {before} if before else ())
            archive.attempts = 0
        imports.begin_attempt(archive)
    return archive


def _import(archive: Upload, *, ends_at: float | None = None) -> None:
    """Import the files of an archive; a preview stops at ``ends_at`` and leaves the rest as it was."""
    metadata = metadata_from_json(archive.metadata)
    try:
        with raw_bytes.open_seekable(archive.raw) as file, _unpacked(file, archive.name) as container:
            rows = archive.companions.select_related("raw").order_by("pk")
            companions = [CompanionFile(one.kind, one.name, RawData(raw_bytes.read(one.raw))) for one in rows]
            rules = path_rules(metadata)
            file_set = FileSet(container, rules, companions, received_at=archive.received_at)
            _note_files(archive, file_set)
            _take_files(archive, file_set, ends_at)
    except (ContainerError, PatternError) as error:
        _refuse(archive, str(error))
        return
    _settle(archive, container)


def _take_files(archive: Upload, file_set: FileSet, ends_at: float | None) -> None:
    rows = {row.number: row for row in _waiting(archive).select_related("upload")}
    waiting = [file for file in file_set.plan.files if file_set.number(file.path) in rows]
    # After a worker died, one at a time: so it is known which file it was.
    one_by_one = {"max_files": 1} if archive.attempts > 1 else {}
    for batch in batches(file_set, waiting, came_alone=False, **one_by_one):
        if ends_at is not None and time.monotonic() > ends_at:
            left = archive.total - archive.done
            archive.warnings = [*archive.warnings, f"{left} files were not looked at, for want of time"]
            return
        still_at_work()
        archive.project.refresh_from_db(fields=["deleting_since"])
        if archive.project.is_being_deleted:
            return
        _take(archive, [(rows[file_set.number(one.path)], one) for one in batch])


def _take(archive: Upload, batch: Sequence[tuple[ArchiveFile, Prepared]]) -> None:
    """Import a batch, and only then say so: a worker that dies in between finds the uploads again."""
    fresh = [(row, one) for row, one in batch if not _read_anew(archive, row, one)]
    viewer = Viewer(user=archive.user, token=archive.token)
    taken = take(archive.project, [one for _, one in fresh], by=viewer, quiet=archive.quiet)
    rows = [row for row, _ in batch]
    before = {row.upload_id for row in rows if row.upload_id}
    with transaction.atomic():
        for (row, _), one in zip(fresh, taken, strict=True):
            _tell(row, one.upload, one.errors)
        ArchiveFile.objects.bulk_update(rows, ["upload", "state", "errors"], batch_size=100)
        _delete_stray(archive.project, before - {row.upload_id for row in rows})
        archive.done += sum(row.state != ArchiveFile.State.QUEUED for row in rows)
        archive.attempts = 0
        archive.save(update_fields=["done", "attempts"])


def _read_anew(archive: Upload, row: ArchiveFile, prepared: Prepared) -> bool:
    """Read the upload of a file again with what is said of it now: it and its runs keep their identity.

    Not where it is also something else, where another upload is the same file with that, or where the sender
    of the archive may not say it.
    """
    if row.upload is None or prepared.arrival is None:
        return False
    with transaction.atomic():
        upload = imports.hold(row.upload)
        if not files_of_its_own(archive).filter(pk=upload.pk).exists():
            return False
        try:
            arrival = of_bound_token(archive.project, prepared.arrival, archive.token)
        except FieldsError:
            return False
        if not _say_anew(upload, arrival):
            return False
    imports.import_upload(upload)
    _tell(row, upload)
    return True


def _say_anew(upload: Upload, arrival: Arrival) -> bool:
    """Give the upload what is said of it now, and return whether that worked and it waits to be read."""
    _, digest = arrival.identity
    if upload.metadata_digest == digest and upload.state == Upload.State.IMPORTED:
        return True
    same = Upload.objects.filter(project=upload.project, raw=upload.raw, metadata_digest=digest)
    if same.exclude(pk=upload.pk).exists():
        return False
    if upload.metadata_digest != digest:
        upload.companions.all().delete()
        raw_files = raw_bytes.keep(upload.project, [one.data for one in arrival.companions])
        rows = imports.companion_rows(upload, arrival.companions, raw_files)
        Companion.objects.bulk_create(rows)
        upload.metadata, upload.metadata_digest = arrival.metadata.as_json(), digest
    upload.quiet = upload.quiet or upload.state in Upload.FINISHED
    upload.warnings = list(arrival.warnings)
    upload.save(update_fields=["metadata", "metadata_digest"])
    imports.wait_for_job(upload)
    return True


def _tell(row: ArchiveFile, upload: Upload | None, errors: Sequence[Any] = ()) -> None:
    """Note what a file became; one that could not be imported just now waits with its archive."""
    row.upload = upload
    row.errors = [] if upload else list(errors)
    if upload is None or upload.state == Upload.State.REFUSED:
        row.state = ArchiveFile.State.REFUSED
    elif upload.state in Upload.FINISHED:
        row.state = ArchiveFile.State.IMPORTED
    else:
        row.state = ArchiveFile.State.QUEUED


# --- the files of an archive --------------------------------------------------------------------------------


@transaction.atomic
def _note_files(archive: Upload, file_set: FileSet) -> None:
    """Make the rows of an archive those of its plan. A file that was planned before stays as far as it is."""
    planned = {file_set.number(file.path): file for file in file_set.plan.files}
    known = set(archive.files.filter(number__in=planned).values_list("number", flat=True))
    _remove(archive, archive.files.exclude(number__in=planned))
    ArchiveFile.objects.bulk_create(
        [
            *(_row(archive, n, file.path) for n, file in planned.items() if n not in known),
            *(
                _row(archive, one.number, one.path, ArchiveFile.State.REFUSED, one.reason)
                for one in file_set.container.refused
            ),
            *(
                _row(archive, file_set.number(path), path, ArchiveFile.State.IGNORED, reason)
                for path, reason in file_set.plan.ignored.items()
            ),
        ],
        batch_size=1000,
    )
    archive.format = file_set.container.kind
    archive.total = len(planned)
    archive.done = archive.total - _waiting(archive).count()
    archive.save(update_fields=["format", "total", "done"])


def _row(
    archive: Upload,
    number: int,
    path: str,
    state: ArchiveFile.State = ArchiveFile.State.QUEUED,
    reason: str = "",
) -> ArchiveFile:
    errors = [error_of(reason)] if reason else []
    name = mask_text(path)[:_MAX_NAME_LENGTH]
    return ArchiveFile(archive=archive, number=number, name=name, state=state, errors=errors)


def _waiting(archive: Upload) -> QuerySet[ArchiveFile]:
    return archive.files.filter(state=ArchiveFile.State.QUEUED).order_by("number")


def _remove(archive: Upload, rows: QuerySet[ArchiveFile]) -> None:
    """Remove rows, and take what the files were out of the history where nothing holds it any more."""
    upload_ids = set(rows.exclude(upload=None).values_list("upload_id", flat=True))
    rows.delete()
    _delete_stray(archive.project, upload_ids)


def _delete_stray(project: Project, upload_ids: Collection[int]) -> None:
    held = ArchiveFile.objects.filter(upload=OuterRef("pk")).exclude(archive__state=Upload.State.DELETED)
    stray = Upload.objects.filter(~Exists(held), pk__in=upload_ids, came_alone=False)
    ids = list(stray.exclude(state=Upload.State.DELETED).values_list("pk", flat=True))
    if ids:
        imports.delete_uploads(project, ids)


# --- the end of an import -----------------------------------------------------------------------------------


def _settle(archive: Upload, container: Container) -> None:
    """Say what became of the archive as a whole; one of which a file still waits is not at its end."""
    counts = Counter(archive.files.values_list("state", flat=True))
    if counts[ArchiveFile.State.QUEUED]:
        return
    imported, refused = counts[ArchiveFile.State.IMPORTED], counts[ArchiveFile.State.REFUSED]
    warnings = archive.files.exclude(upload=None).values_list("upload__warnings", flat=True)
    starts = [START_UNKNOWN] if any(START_UNKNOWN in of_file for of_file in warnings) else []
    archive.warnings = imports.joined(archive.warnings, container.warnings, starts)
    if not imported:
        archive.state = Upload.State.REFUSED
        archive.errors = _reasons(archive) or [error_of("the archive holds no file that fits the pattern")]
    else:
        archive.state = Upload.State.PARTIAL if refused or container.warnings else Upload.State.IMPORTED
        archive.errors = []
    imports.end(archive, "warnings")
    if imported >= _MANY_FILES:
        refresh_statistics()


def _refuse(archive: Upload, reason: str) -> None:
    """Refuse the archive as a whole: nothing of it can be read."""
    with transaction.atomic():
        _remove(archive, archive.files.all())
        archive.state = Upload.State.REFUSED
        archive.errors = [error_of(reason)]
        imports.end(archive)


def _reasons(archive: Upload) -> list[dict[str, Any]]:
    """Return the reasons of the first files that were refused."""
    rows = archive.files.filter(state=ArchiveFile.State.REFUSED).select_related("upload").order_by("number")
    found = [(row.name, row.upload.errors if row.upload else row.errors) for row in rows[:_MAX_REASONS]]
    told = [
        error_of(f"{name}: {error['message']}", error["line"]) for name, errors in found for error in errors
    ]
    more = rows.count() - _MAX_REASONS
    return [*told, error_of(f"and {more} files more")] if more > 0 else told


# --- bytes --------------------------------------------------------------------------------------------------


def _unpacked(file: BinaryIO, name: str) -> AbstractContextManager[Container]:
    return unpacked(file, archive_limits(), name=name, folder=settings.FILE_UPLOAD_TEMP_DIR)


@contextmanager
def _received(data: RawData, name: str) -> Iterator[Container]:
    """Unpack an archive that is not stored. Raises FileRefusedError for what cannot be read, also within."""
    file = BytesIO(data.source) if isinstance(data.source, bytes) else data.source
    try:
        with _unpacked(file, clean_file_name(name)) as container:
            yield container
    except (ContainerError, PatternError) as error:
        raise FileRefusedError([error_of(str(error))]) from None
