"""Keeps raw bytes: small ones compressed in PostgreSQL, large ones as files, safe before their row is."""

import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection

from benchdash.accounts.models import Project
from ingest.errors import FileTooLargeError
from ingest.models import RawFile

_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class RawData:
    """Bytes as they came in: in memory, or a seekable file."""

    source: bytes | BinaryIO

    @cached_property
    def size(self) -> int:
        return sum(len(chunk) for chunk in self.chunks())

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        for chunk in self.chunks():
            digest.update(chunk)
        return digest.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """Raises FileTooLargeError beyond settings.UPLOAD_MAX_BYTES."""
        if isinstance(self.source, bytes):
            chunks = iter([self.source])
        else:
            self.source.seek(0)
            chunks = iter(lambda: self.source.read(_CHUNK), b"")  # type: ignore[union-attr]
        total = 0
        for chunk in chunks:
            total += len(chunk)
            if total > settings.UPLOAD_MAX_BYTES:
                raise FileTooLargeError(f"the file is larger than {settings.UPLOAD_MAX_BYTES} bytes")
            yield chunk

    def read(self) -> bytes:
        """Raises FileTooLargeError as ``chunks`` does. The bytes of a file are in memory only once."""
        whole = BytesIO()
        whole.writelines(self.chunks())
        return whole.getvalue()


def keep(project: Project, files: Iterable[RawData]) -> dict[str, RawFile]:
    """The rows of these bytes in the project by their digest: those that there are, and new ones.

    At most three statements, mostly one. A large file is on the disk, synced with its folder, before its row
    is written. The file of a row that is rolled back stays behind; the same content finds its place again.
    Rows are made in the order of which two uploads never deadlock.
    """
    by_digest = {data.sha256: data for data in files}
    # Small content is sent even if it should be there; the large is not written to the disk again.
    is_small = all(data.size <= settings.UPLOAD_INLINE_BYTES for data in by_digest.values())
    found = {} if is_small else _stored(project, by_digest)
    if missing := sorted(by_digest.keys() - found.keys()):
        found |= _made(project, [_new_row(project, by_digest[sha256]) for sha256 in missing])
    # Those that were there, or that another upload was quicker to make.
    if others := by_digest.keys() - found.keys():
        found |= _stored(project, others)
    return found


_FIND = """
    SELECT id, project_id, sha256, size, storage_name FROM ingest_rawfile
    WHERE project_id = %(project)s AND sha256 = ANY(%(digests)s)
"""
_MAKE = """
    INSERT INTO ingest_rawfile (project_id, sha256, size, content, storage_name)
    SELECT %(project)s, * FROM unnest(
        %(digests)s::varchar[], %(sizes)s::bigint[], %(contents)s::bytea[], %(names)s::varchar[]
    )
    ON CONFLICT DO NOTHING
    RETURNING sha256, id
"""


def _stored(project: Project, digests: Iterable[str]) -> dict[str, RawFile]:
    """Those that are there, by digest; their content is read when it is asked for."""
    with connection.cursor() as cursor:
        cursor.execute(_FIND, {"project": project.pk, "digests": list(digests)})
        names = ("id", "project_id", "sha256", "size", "storage_name")
        rows = [RawFile.from_db("default", names, row) for row in cursor.fetchall()]
    return {row.sha256: row for row in rows}


def _made(project: Project, rows: Sequence[RawFile]) -> dict[str, RawFile]:
    """Those of the rows that were not there, stored, by digest."""
    with connection.cursor() as cursor:
        cursor.execute(
            _MAKE,
            {
                "project": project.pk,
                "digests": [row.sha256 for row in rows],
                "sizes": [row.size for row in rows],
                "contents": [row.content for row in rows],
                "names": [row.storage_name for row in rows],
            },
        )
        ids = dict(cursor.fetchall())
    made = {row.sha256: row for row in rows if row.sha256 in ids}
    for sha256, row in made.items():
        row.pk = ids[sha256]
    return made


def _new_row(project: Project, data: RawData) -> RawFile:
    raw = RawFile(project=project, sha256=data.sha256, size=data.size)
    if data.size <= settings.UPLOAD_INLINE_BYTES:
        raw.content = zlib.compress(data.read())
    else:
        raw.storage_name = f"raw/{project.pk}/{data.sha256[:2]}/{data.sha256}"
        _write(Path(default_storage.path(raw.storage_name)), data.chunks())
    return raw


def read(raw: RawFile) -> bytes:
    if raw.content is not None:
        return zlib.decompress(raw.content)
    with default_storage.open(raw.storage_name) as file:
        return bytes(file.read())


def open_raw(raw: RawFile) -> BinaryIO | None:
    """A large file, open for reading; None for one that lives in its row."""
    return None if raw.content is not None else default_storage.open(raw.storage_name)  # type: ignore[return-value]


def _write(path: Path, chunks: Iterator[bytes]) -> None:
    """Put a whole file in its place: nobody ever sees a part of it, and a crash does not lose it."""
    made = _make_folders(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".partial-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    for folder in (path.parent, *made):
        _sync_folder(folder)


def _make_folders(folder: Path) -> list[Path]:
    """The folders in which a new folder was made; they must be synced too."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return [parent.parent for parent in missing]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
