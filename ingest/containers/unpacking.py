"""Puts the members of an archive into one nameless file, within limits."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO, Final

from ingest.containers.contents import (
    ArchiveLimits,
    BrokenError,
    Container,
    ContainerError,
    Member,
    MemberError,
    RefusedMember,
)
from ingest.containers.recognition import HEAD_BYTES, recognise

# An archive that unpacks to less does no harm, however small it was.
HARMLESS_BYTES: Final = 64 * 1024 * 1024
CHUNK: Final = 64 * 1024

_MAX_PATH_LENGTH: Final = 500
_DRIVE = re.compile(r"[A-Za-z]:")
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd\ud800-\udfff]")


@dataclass(slots=True)
class Budget:
    """The bytes that may still be unpacked. ``plausible`` is what the packed bytes can honestly hold."""

    most: int
    plausible: int | None = None
    ratio: int = 0
    spent: int = 0

    def spend(self, number: int) -> None:
        self.spent += number
        if self.plausible is not None and self.spent > self.plausible:
            raise ContainerError(
                f"the archive unpacks to more than {self.ratio} times its size (ARCHIVE_MAX_RATIO)"
            )
        if self.spent > self.most:
            raise ContainerError(
                f"the archive unpacks to more than {self.most} bytes (ARCHIVE_MAX_UNPACKED_BYTES)"
            )


@dataclass(slots=True)
class Unpacking:
    """Puts the members of an archive into the temporary file, one by one."""

    container: Container
    spool: BinaryIO
    limits: ArchiveLimits
    budget: Budget
    paths: set[str] = field(default_factory=set)
    entries: int = 0

    def count(self) -> int:
        """Return the number of the next entry; folders and links count too."""
        self.entries += 1
        if self.entries > self.limits.files:
            raise ContainerError(f"the archive holds more than {self.limits.files} files (ARCHIVE_MAX_FILES)")
        return self.entries - 1

    def refuse(self, number: int, name: str, reason: str) -> None:
        self.container.refused.append(RefusedMember(number, shown(name), reason))

    def _objection(self, name: str, size: int) -> str:
        """Return why a member of this name and size is not to be read; empty where it is."""
        if trouble := trouble_with_name(name):
            return trouble
        if size > self.limits.member_bytes:
            return f"it is larger than {self.limits.member_bytes} bytes (UPLOAD_MAX_BYTES)"
        if _tidy(name) in self.paths:
            return "the archive holds this name more than once; the first counts"
        return ""

    def add(self, number: int, name: str, size: int, pieces: Iterator[bytes], objection: str = "") -> None:
        """Unpack one member, or refuse it. Raises BrokenError, and then it is as if it had never been."""
        objection = objection or self._objection(name, size)
        try:
            if not objection:
                self._take(number, name, pieces)
        except MemberError as error:
            objection = str(error)
        if objection:
            self.refuse(number, name, objection)

    def _take(self, number: int, name: str, pieces: Iterator[bytes]) -> None:
        start = self.spool.seek(0, io.SEEK_END)
        try:
            size = self._write(pieces)
        except (MemberError, BrokenError):
            self.spool.truncate(start)
            raise
        path = _tidy(name)
        self.paths.add(path)
        self.container.members.append(Member(number, path, size, partial(_opened, self.spool, start, size)))

    def _write(self, pieces: Iterator[bytes]) -> int:
        size, head = 0, b""
        for piece in pieces:
            head += piece[: HEAD_BYTES - len(head)]
            size += len(piece)
            if size > self.limits.member_bytes:
                raise MemberError(
                    f"it unpacks to more than {self.limits.member_bytes} bytes (UPLOAD_MAX_BYTES)"
                )
            self.spool.write(piece)
        if recognise(head):
            raise MemberError("it is an archive itself; unpack it first")
        return size


class _Window(io.RawIOBase):
    """A part of a file, as a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._start, self._size, self._position = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        self._file.seek(self._start + self._position)
        piece = self._file.read(max(min(len(buffer), self._size - self._position), 0))
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


def _opened(file: BinaryIO, start: int, size: int) -> BinaryIO:
    return io.BufferedReader(_Window(file, start, size))


def trouble_with_name(name: str) -> str:
    if not _tidy(name):
        return "it has no name"
    if _NOT_TEXT.search(name):
        return "its name holds what is no UTF-8 text"
    if "\\" in name:
        return "its name holds a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "its name is absolute"
    if ".." in name.split("/"):
        return "its name leads out of the archive"
    if len(name) > _MAX_PATH_LENGTH:
        return f"its name is longer than {_MAX_PATH_LENGTH} characters"
    return ""


def shown(name: str) -> str:
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", name)[:_MAX_PATH_LENGTH]


def _tidy(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))
