"""Receives the uploads of an older installation, whose database this code cannot migrate, in a new one.

What people decided there is not in its files: members, tokens, subscriptions, corrections, articles.
"""

import shutil
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import psycopg
import zstandard
from django.conf import settings
from django.core.files.storage import Storage
from psycopg.rows import namedtuple_row

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.results.models import Run
from ingest import tasks
from ingest.errors import FieldsError, FileTooLargeError
from ingest.metadata.upload_metadata import metadata_from_json
from ingest.models import Upload
from ingest.receiving.arrivals import Arrival, CompanionFile
from ingest.receiving.reception import receive_one
from ingest.receiving.reimports import reimport
from ingest.storage.raw_bytes import RawData

KNOWN: Final = "known already"
DELETED: Final = "deleted there"
AMENDED: Final = "amended there after coming in an archive"
FAILED: Final = "not received"
_WAIT_FOR_JOB_S: Final = 1.0

_PROJECTS: Final = """
    SELECT id, slug, name, visibility, notice, is_sample, raw_files_are_public, options
    FROM accounts_project WHERE deleting_since IS NULL ORDER BY id
"""
# Archives before the files that come out of them.
_UPLOADS: Final = """
    SELECT upload.id, name, metadata, metadata_digest, state, came_alone, received_at, sha256, raw_id
    FROM ingest_upload upload JOIN ingest_rawfile raw ON raw.id = raw_id
    WHERE upload.project_id = %s ORDER BY came_alone DESC, received_at, upload.id
"""
_COMPANIONS: Final = "SELECT kind, name, raw_id FROM ingest_companion WHERE upload_id = %s ORDER BY id"
_RAW_FILE: Final = "SELECT content, storage_name FROM ingest_rawfile WHERE id = %s"


@dataclass(frozen=True, slots=True)
class OlderInstallation:
    """Its database, and the storage of its larger files."""

    database: "psycopg.Connection[Any]"
    storage: Storage


def receive_all(older: OlderInstallation, *, tell: Callable[[str], None]) -> Counter[str]:
    """Receive every upload through the ordinary door; return how many came to which end.

    Done again, it goes on where it was interrupted, and changes nothing else. ``tell`` hears of each project
    and of each upload that was not received.
    """
    counts: Counter[str] = Counter()
    for row in _rows(older, _PROJECTS):
        fields = row._asdict()
        old_id, slug = fields.pop("id"), fields.pop("slug")
        project, _ = Project.objects.get_or_create(slug=slug, defaults=fields)
        uploads = _rows(older, _UPLOADS, old_id)
        tell(f"{slug}: {len(uploads)} uploads")
        for old in uploads:
            try:
                counts[_receive(project, older, old)] += 1
            except (FieldsError, FileTooLargeError, OSError) as error:
                counts[FAILED] += 1
                tell(f"{slug}: upload {old.id} ('{old.name}') was not received: {error}")
    return counts


def _receive(project: Project, older: OlderInstallation, old: Any) -> str:
    """Return the state of the upload, or why it has none."""
    if old.state == Upload.State.DELETED:
        return DELETED
    same = Upload.objects.filter(
        project=project, raw__sha256=old.sha256, metadata_digest=old.metadata_digest
    ).select_related("project", "raw")
    upload = same.first()
    if upload is None:
        # The archive brought the file back as it was before it was amended.
        if not old.came_alone:
            return AMENDED
        upload = _send(project, older, old)
    elif upload.received_at == old.received_at:
        return KNOWN
    _finish(upload)
    _set_time_of_receipt(upload, old.received_at)
    return str(upload.state)


def _send(project: Project, older: OlderInstallation, old: Any) -> Upload:
    with ExitStack() as files:
        companions = [
            CompanionFile(row.kind, row.name, files.enter_context(_raw_data(older, row.raw_id)))
            for row in _rows(older, _COMPANIONS, old.id)
        ]
        arrival = Arrival(
            file_name=old.name,
            data=files.enter_context(_raw_data(older, old.raw_id)),
            metadata=metadata_from_json(old.metadata),
            companions=companions,
        )
        return receive_one(project, by=NOBODY, arrival=arrival, quiet=True).upload


def _finish(upload: Upload) -> None:
    """Import an upload that was left to a job, or wait for the worker that is at it."""
    while upload.state not in Upload.FINISHED:
        tasks.import_upload(upload.pk)
        upload.refresh_from_db()
        if upload.retry_at:
            return
        if upload.state not in Upload.FINISHED:
            time.sleep(_WAIT_FOR_JOB_S)


def _set_time_of_receipt(upload: Upload, received_at: datetime) -> None:
    """Read the file again where a run has no other time than that."""
    upload.received_at = received_at
    upload.save(update_fields=["received_at"])
    if Run.objects.filter(upload_id=upload.pk, started_at_is_assumed=True).exists():
        reimport(upload)


def _rows(older: OlderInstallation, statement: str, *values: Any) -> list[Any]:
    with older.database.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement, values).fetchall()


@contextmanager
def _raw_data(older: OlderInstallation, raw_id: int) -> Iterator[RawData]:
    [row] = _rows(older, _RAW_FILE, raw_id)
    if row.content is not None:
        yield RawData(zlib.decompress(row.content))
        return
    name = row.storage_name
    with (
        older.storage.open(name) as stored,
        tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file,
    ):
        packed = zstandard.ZstdDecompressor().stream_reader(stored) if name.endswith(".zst") else stored
        shutil.copyfileobj(packed, file)
        yield RawData(file)
