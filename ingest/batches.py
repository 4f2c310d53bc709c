"""Many files at once, a folder or an archive: a constant number of statements for a batch of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from benchdash.accounts.access import BeingDeleted, Viewer
from benchdash.accounts.models import Project
from benchdash.database.json_text import json_text
from benchdash.database.row_updates import update_rows
from benchdash.results.records import RunRecord
from benchdash.results.services import Recorded, RecordError, record_new_uploads
from benchdash.results.stability import Rule
from benchdash.results.stall_rule import stall_rule
from ingest import storage
from ingest.beside import beside_received
from ingest.companions import CompanionFile, clean_file_name
from ingest.errors import FieldsError
from ingest.fields import ARCHIVE_FIELDS
from ingest.formats.report import FormatError
from ingest.metadata import Metadata
from ingest.models import RawFile, Upload
from ingest.queries import recorded_summaries
from ingest.reading import Parsed, try_to_parse
from ingest.records import decide
from ingest.services import Received, accept_upload, add_companions, digest_of, is_archive, joined
from ingest.storage import RawData
from ingest.twins import NEWEST_TWIN, Twin, twin_warning

# What tells uploads apart: content, and metadata with companions.
_Identity = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One file of many, with all that is said of it."""

    file_name: str
    data: RawData
    metadata: Metadata
    companions: Sequence[CompanionFile] = ()
    warnings: Sequence[str] = ()
    came_alone: bool = True


@dataclass(frozen=True, slots=True)
class _Understood:
    """A new file that is ready to be stored."""

    arrival: Arrival
    identity: _Identity
    format: str
    received_at: datetime
    records: tuple[RunRecord, ...]
    warnings: list[str]
    companion_formats: Mapping[tuple[str, str], str]


def accept_one(project: Project, *, by: Viewer, arrival: Arrival) -> Received:
    """As services.accept_upload, with a new file that is understood stored and imported in one transaction.

    Raises FieldsError, with nothing stored, where neither sender nor file says what is required.
    """
    [received] = accept_many(project, by=by, arrivals=[arrival], name_twins=True)
    if isinstance(received, FieldsError):
        raise received
    return received


def accept_many(
    project: Project,
    *,
    by: Viewer,
    arrivals: Sequence[Arrival],
    quiet: bool = False,
    name_twins: bool = False,
) -> list[Received | FieldsError]:
    """What became of each, in their order; a FieldsError where neither sender nor file says what is required.

    New files that are understood are stored together, in one transaction and a constant number of statements.
    All others go the way of a single upload, and so do these where one of them cannot be stored: one bad
    file does not stop the rest. ``name_twins``: a warning names an earlier upload of the same bytes with
    other metadata. Of the files of an archive, what it says would hang on which of them came first.

    Raises BeingDeleted.
    """
    if project.is_being_deleted:
        raise BeingDeleted(project)
    identities = [(one.data.sha256, digest_of(one.metadata, one.companions)) for one in arrivals]
    known, twins = _known(project, identities)
    if name_twins:
        arrivals = [
            _with_twin(arrival, twins.get(identity))
            for identity, arrival in zip(identities, arrivals, strict=True)
        ]
    rule = stall_rule(project)
    new: dict[_Identity, _Understood] = {}
    errors: dict[_Identity, FieldsError] = {}
    for identity, arrival in zip(identities, arrivals, strict=True):
        if identity not in known and identity not in new:
            try:
                if understood := _understand(arrival, identity, rule):
                    new[identity] = understood
            except FieldsError as error:
                errors[identity] = error
    stored = _store(project, by=by, files=list(new.values()), quiet=quiet)
    return [
        errors.get(identity) or stored.pop(identity, None) or _accept(project, by, arrival, quiet)
        for identity, arrival in zip(identities, arrivals, strict=True)
    ]


_KNOWN = f"""
    SELECT wanted.sha256, wanted.digest, same.id IS NOT NULL, twin.*
    FROM unnest(%(sha256s)s::varchar[], %(digests)s::varchar[]) AS wanted (sha256, digest)
    JOIN ingest_rawfile raw ON raw.project_id = %(project)s AND raw.sha256 = wanted.sha256
    LEFT JOIN ingest_upload same ON same.project_id = raw.project_id AND same.raw_id = raw.id
        AND same.metadata_digest = wanted.digest
    LEFT JOIN LATERAL ({NEWEST_TWIN}) twin ON true
"""  # noqa: S608 - of our own


def _known(
    project: Project, identities: Sequence[_Identity]
) -> tuple[set[_Identity], Mapping[_Identity, Twin]]:
    """Which of them are there already, and a twin of each that has one."""
    sha256s, digests = map(list, zip(*set(identities), strict=True)) if identities else ([], [])
    known: set[_Identity] = set()
    twins: dict[_Identity, Twin] = {}
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, {"project": project.pk, "sha256s": sha256s, "digests": digests})
        for sha256, digest, is_known, pk, name, received_at, metadata in cursor.fetchall():
            if is_known:
                known.add((sha256, digest))
            if pk is not None:
                twins[sha256, digest] = Twin(pk, name, received_at, json.loads(metadata))
    return known, twins


def _with_twin(arrival: Arrival, twin: Twin | None) -> Arrival:
    if twin is None:
        return arrival
    warning = twin_warning(twin, arrival.metadata.as_json())
    return replace(arrival, warnings=[*arrival.warnings, warning])


def _understand(arrival: Arrival, identity: _Identity, rule: Rule) -> _Understood | None:
    """None for a file that is not stored in this way: a large one, an archive, one that is not understood.

    Raises FieldsError.
    """
    if arrival.data.size > settings.UPLOAD_IMPORT_AT_ONCE_BYTES or _is_of_an_archive(arrival):
        return None
    parsed = try_to_parse(arrival.data.read(), arrival.file_name, arrival.metadata)
    if not isinstance(parsed, Parsed):
        return None
    beside, now = beside_received(arrival.companions), timezone.now()
    try:
        decided = decide(parsed.report, arrival.metadata, received_at=now, beside=beside, rule=rule)
    except FormatError:
        return None
    warnings = joined(arrival.warnings, decided.warnings)
    return _Understood(arrival, identity, parsed.format, now, decided.records, warnings, beside.formats)


def _is_of_an_archive(arrival: Arrival) -> bool:
    """Whether it is one, or something is said that holds for archives only."""
    said = any(getattr(arrival.metadata, name) for name in ARCHIVE_FIELDS)
    return said or is_archive(arrival.data)


def _store(
    project: Project, *, by: Viewer, files: Sequence[_Understood], quiet: bool
) -> dict[_Identity, Received]:
    """Store all of these files with their runs, or none: then one of them is at fault, or was sent twice."""
    if not files:
        return {}
    try:
        with transaction.atomic():
            uploads = _make_uploads(project, by=by, files=files, quiet=quiet)
            records = {upload.pk: one.records for upload, one in zip(uploads, files, strict=True)}
            recorded = record_new_uploads(project, records, quiet=quiet)
            _add_warnings(uploads, recorded)
    except (RecordError, DatabaseError):
        return {}
    return {
        one.identity: Received(upload, duplicate=False, runs=recorded_summaries(recorded[upload.pk]))
        for upload, one in zip(uploads, files, strict=True)
    }


def _make_uploads(project: Project, *, by: Viewer, files: Sequence[_Understood], quiet: bool) -> list[Upload]:
    raw_files = storage.keep(
        project,
        [data for one in files for data in (one.arrival.data, *(c.data for c in one.arrival.companions))],
    )
    uploads = [_new_upload(project, by, one, raw_files, quiet=quiet) for one in files]
    _insert(uploads)
    for upload, one in zip(uploads, files, strict=True):
        if one.arrival.companions:
            add_companions(upload, one.arrival.companions, raw_files, one.companion_formats)
    return uploads


_COLUMNS = {
    "project_id": "bigint",
    "raw_id": "bigint",
    "name": "varchar",
    "metadata": "jsonb",
    "metadata_digest": "varchar",
    "state": "varchar",
    "format": "varchar",
    "errors": "jsonb",
    "warnings": "jsonb",
    "done": "integer",
    "total": "integer",
    "attempts": "smallint",
    "quiet": "boolean",
    "is_archive": "boolean",
    "came_alone": "boolean",
    "user_id": "bigint",
    "token_id": "bigint",
    "received_at": "timestamptz",
    "finished_at": "timestamptz",
}
_INSERT = f"""
    INSERT INTO ingest_upload ({", ".join(_COLUMNS)})
    SELECT {", ".join(_COLUMNS)} FROM json_to_recordset(%(uploads)s::json) AS given (
        {", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())}
    )
    RETURNING raw_id, metadata_digest, id
"""  # noqa: S608 - of our own names


def _insert(uploads: Sequence[Upload]) -> None:
    rows = [{name: getattr(upload, name) for name in _COLUMNS} for upload in uploads]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, {"uploads": json_text(rows)})
        ids = {(raw_id, digest): pk for raw_id, digest, pk in cursor.fetchall()}
    for upload in uploads:
        upload.pk = ids[upload.raw_id, upload.metadata_digest]
        upload._state.adding = False


def _new_upload(
    project: Project, by: Viewer, file: _Understood, raw_files: Mapping[str, RawFile], *, quiet: bool
) -> Upload:
    sha256, digest = file.identity
    return Upload(
        project=project,
        raw=raw_files[sha256],
        metadata_digest=digest,
        name=clean_file_name(file.arrival.file_name),
        metadata=file.arrival.metadata.as_json(),
        state=Upload.State.IMPORTED,
        format=file.format,
        warnings=file.warnings,
        done=1,
        quiet=quiet,
        came_alone=file.arrival.came_alone,
        user=by.user,
        token=by.token,
        received_at=file.received_at,
        finished_at=timezone.now(),
    )


def _add_warnings(uploads: Sequence[Upload], recorded: Mapping[int, Recorded]) -> None:
    warned = [upload for upload in uploads if recorded[upload.pk].warnings]
    if not warned:
        return
    for upload in warned:
        upload.warnings = joined(upload.warnings, recorded[upload.pk].warnings)
    update_rows(warned, ["warnings"])


def _accept(project: Project, by: Viewer, arrival: Arrival, quiet: bool) -> Received | FieldsError:
    try:
        return accept_upload(
            project,
            by=by,
            file_name=arrival.file_name,
            data=arrival.data,
            metadata=arrival.metadata,
            companions=arrival.companions,
            warnings=arrival.warnings,
            quiet=quiet,
            came_alone=arrival.came_alone,
        )
    except FieldsError as error:
        return error
