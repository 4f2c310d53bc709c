"""Reads zip archives."""

import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from ingest.containers.contents import Container, ContainerError, MemberError
from ingest.containers.unpacking import CHUNK, HARMLESS_BYTES, Unpacking

_MAX_DIRECTORY_BYTES_PER_FILE: Final = 1024
_ENTRY: Final = b"PK\x01\x02"
_ENCRYPTED: Final = 0x1
_MS_DOS: Final = 0
_UTF_8: Final = 0x800


class _Frugal:
    """A file that refuses to read a zip directory beyond the limits: zipfile would keep it in memory."""

    def __init__(self, file: BinaryIO, files: int) -> None:
        self._file, self._files = file, files
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size > self._files * _MAX_DIRECTORY_BYTES_PER_FILE:
            raise ContainerError(f"the archive has a directory of {size} bytes")
        data = self._file.read(size)
        if data.count(_ENTRY) > self._files:
            raise ContainerError(f"the archive holds more than {self._files} files (ARCHIVE_MAX_FILES)")
        return data


def unzip(file: BinaryIO, unpacking: Unpacking) -> Container:
    try:
        archive = ZipFile(_Frugal(file, unpacking.limits.files))
    except UnicodeDecodeError:
        raise ContainerError("the zip archive holds a name that is not UTF-8, though it says so") from None
    except (BadZipFile, NotImplementedError, ValueError, EOFError, OverflowError, struct.error) as error:
        raise ContainerError(
            f"the zip archive is cut or damaged: its directory cannot be read ({error})"
        ) from None
    with archive:
        for info in archive.infolist():
            number, name = unpacking.count(), _name(info)
            if name.endswith("/"):
                continue
            unpacking.add(number, name, info.file_size, _pieces(archive, info, unpacking), _objection(info))
    return unpacking.container


def _name(info: ZipInfo) -> str:
    """Return the name as it was written: without the flag of UTF-8 zipfile takes it for one of MS-DOS.

    Old tools of Windows part folders by a backslash.
    """
    name = info.orig_filename
    if not info.flag_bits & _UTF_8:
        with suppress(UnicodeEncodeError):
            name = name.encode("cp437").decode("utf-8", "surrogateescape")
    return name.replace("\\", "/") if info.create_system == _MS_DOS else name


def _objection(info: ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "it is a link"
    if kind not in (0, stat.S_IFREG):
        return "it is no ordinary file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return "it is compressed by another method than deflate"
    return ""


def _pieces(archive: ZipFile, info: ZipInfo, unpacking: Unpacking) -> Iterator[bytes]:
    plausible = max(HARMLESS_BYTES, unpacking.limits.ratio * info.compress_size)
    size = 0
    try:
        with archive.open(info) as member:
            while piece := member.read(CHUNK):
                size += len(piece)
                unpacking.budget.spend(len(piece))
                if size > plausible:
                    raise MemberError(
                        f"it unpacks to more than {unpacking.limits.ratio} times its size (ARCHIVE_MAX_RATIO)"
                    )
                yield piece
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error, struct.error):
        raise MemberError("it is damaged") from None
    if size != info.file_size:
        raise MemberError("it is cut")
