"""Keeps raw bytes: small ones in PostgreSQL, large ones as files, safe before their row is."""

import hashlib
import logging
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader, BytesIO
from typing import BinaryIO, Final

import zstandard
from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from benchdash.accounts.models import Project
from benchdash.failures import is_disk_full
from ingest.containers import HEAD_BYTES, recognise
from ingest.errors import FileMissingError, FileTooLargeError, FileUnavailableError, StorageAwayError
from ingest.models import RawFile
from ingest.storage.identity import storage_trouble

logger = logging.getLogger(__name__)

FOLDER: Final = "raw"
_CHUNK = 1024 * 1024
_READ_BYTES = 64 * 1024
# The suffix of files that are compressed here; a file that came compressed is stored as it is.
_SUFFIX: Final = ".zst"
# A small window: whoever reads a file slowly holds one of them in memory.
_COMPRESSION: Final = zstandard.ZstdCompressionParameters.from_level(3, window_log=18, write_checksum=True)
_COMPRESSED: Final = frozenset({"zip", "gz", "bz2", "xz", "zst"})


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
        """Yield the bytes. Raises FileTooLargeError beyond settings.UPLOAD_MAX_BYTES."""
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
        """Return all bytes, only once in memory. Raises FileTooLargeError as ``chunks`` does."""
        whole = BytesIO()
        whole.writelines(self.chunks())
        return whole.getvalue()


@dataclass(frozen=True)
class StoredData(RawData):
    """Bytes that are stored already: they are read when they are asked for, and held to no limit again."""

    source: RawFile  # type: ignore[assignment] # nothing else of RawData reads it

    @cached_property
    def size(self) -> int:
        return self.source.size

    @cached_property
    def sha256(self) -> str:
        return self.source.sha256

    def chunks(self) -> Iterator[bytes]:
        yield self.read()

    def read(self) -> bytes:
        """Return all bytes. Raises FileUnavailableError."""
        return read(self.source)


def keep(project: Project, files: Iterable[RawData]) -> dict[str, RawFile]:
    """Return the rows of these bytes in the project by their digest: those that there are, and new ones.

    At most three statements, and one where all are small. A large file is in the storage before its row is
    written. The file of a row that is rolled back stays behind, under a name that no other row will ever
    have, until ``sweep_files`` deletes it. Rows are made in one order, so that two uploads never deadlock.
    Raises FileUnavailableError where the storage does not answer, or is not the right one.
    """
    by_digest = {data.sha256: data for data in files}
    # Small content is sent even if it should be there; large content is not stored again.
    if all(data.size <= settings.UPLOAD_INLINE_BYTES for data in by_digest.values()):
        # One that is there gets an update that changes nothing.
        kept = RawFile.objects.bulk_create(
            [_new_row(project, by_digest[sha256]) for sha256 in sorted(by_digest)],
            update_conflicts=True,
            unique_fields=["project", "sha256"],
            update_fields=["size"],
        )
        return {row.sha256: row for row in kept}
    found = _stored(project, by_digest)
    if missing := sorted(by_digest.keys() - found.keys()):
        rows = [_new_row(project, by_digest[sha256]) for sha256 in missing]
        RawFile.objects.bulk_create(rows, ignore_conflicts=True)
        found |= _stored(project, missing)
        # Another upload of the same bytes was quicker.
        names = {row.storage_name for row in found.values()}
        delete(row.storage_name for row in rows if row.storage_name and row.storage_name not in names)
    return found


def delete(names: Iterable[str]) -> None:
    """Delete files that no row names any more; one that cannot be deleted now is left to ``sweep_files``."""
    for name in names:
        try:
            default_storage.delete(name)
        except OSError as error:
            logger.warning("%s could not be deleted: %s", name, error)


def _stored(project: Project, digests: Iterable[str]) -> dict[str, RawFile]:
    """Return those that are there, by digest; their content is read when it is asked for."""
    rows = RawFile.objects.filter(project=project, sha256__in=list(digests)).defer("content")
    return {row.sha256: row for row in rows}


def _new_row(project: Project, data: RawData) -> RawFile:
    raw = RawFile(project=project, sha256=data.sha256, size=data.size)
    if data.size <= settings.UPLOAD_INLINE_BYTES:
        raw.content = zlib.compress(data.read())
    else:
        raw.storage_name = _put(f"{FOLDER}/{project.pk}/{data.sha256[:2]}/{data.sha256}", data)
    return raw


def _put(name: str, data: RawData) -> str:
    """Store the bytes, compressed, and return the name of their file, which begins with ``name``.

    Raises FileUnavailableError where a storage on another machine does not answer, or where this storage is
    not the one of the installation: nobody else would find the file.
    """
    own_name = f"{name}-{secrets.token_hex(4)}"
    with _telling_failures(name, StorageAwayError):
        if trouble := storage_trouble():
            logger.error("no file is stored: %s", trouble)
            raise FileUnavailableError("this machine has not the right storage of files; tell its operator")
        if recognise(next(data.chunks(), b"")[:HEAD_BYTES]) in _COMPRESSED:
            source = BytesIO(data.source) if isinstance(data.source, bytes) else data.source
            return default_storage.save(own_name, File(source))
        with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as packed:
            compressor = zstandard.ZstdCompressor(compression_params=_COMPRESSION)
            with compressor.stream_writer(packed, closefd=False) as writer:
                for chunk in data.chunks():
                    writer.write(chunk)
            return default_storage.save(own_name + _SUFFIX, File(packed))


@contextmanager
def _telling_failures(name: str, failure: type[OSError]) -> Iterator[None]:
    """Raise FileUnavailableError for a failure of the storage."""
    try:
        yield
    except failure as error:
        if is_disk_full(error) or isinstance(error, FileNotFoundError):
            raise
        logger.warning("%s cannot be stored or read: %s", name, error)
        raise FileUnavailableError("the storage of files does not answer now") from error


# --- reading ------------------------------------------------------------------------------------------------


def read(raw: RawFile) -> bytes:
    """Return all bytes. Raises FileUnavailableError."""
    whole = BytesIO()
    _copy(raw, whole)
    return whole.getvalue()


def open_raw(raw: RawFile) -> BinaryIO:
    """Open the bytes as received, to be read once from beginning to end. Raises FileUnavailableError."""
    if raw.content is not None:
        return BytesIO(zlib.decompress(raw.content))
    try:
        with _telling_failures(raw.storage_name, OSError):
            file: BinaryIO = default_storage.open(raw.storage_name)  # type: ignore[assignment] # reads like one
    except FileNotFoundError:
        raise FileMissingError("the file is not in the storage of this machine") from None
    if not raw.storage_name.endswith(_SUFFIX):
        return file
    # Buffered, because Django gives the file of an answer another method to close it, which this one refuses.
    return BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_size=_READ_BYTES))


@contextmanager
def open_seekable(raw: RawFile) -> Iterator[BinaryIO]:
    """Open the bytes as received, to be read in any order. Raises FileUnavailableError."""
    if not raw.storage_name.endswith(_SUFFIX):
        with open_raw(raw) as file:
            yield file
        return
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as unpacked:
        _copy(raw, unpacked)
        unpacked.seek(0)
        yield unpacked


def _copy(raw: RawFile, to: BinaryIO) -> None:
    with open_raw(raw) as file, _telling_failures(raw.storage_name, OSError):
        shutil.copyfileobj(file, to, _CHUNK)
