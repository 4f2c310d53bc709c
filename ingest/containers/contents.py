"""The contents of archives and folders, and their amount."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO


class ContainerError(Exception):
    """An archive of which nothing can be read, or nothing should be, with a sentence."""


class BrokenError(Exception):
    """The bytes of an archive end, or mean nothing, from here on."""


class MemberError(Exception):
    """One member is not to be read; those behind it are."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much an archive may hold; ``ratio`` is that of the unpacked to the packed bytes."""

    files: int
    member_bytes: int
    unpacked_bytes: int
    ratio: int


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive or of a folder. ``number`` is its place there, and ``open`` gives its bytes."""

    number: int
    path: str
    size: int
    open: Callable[[], BinaryIO]

    def read(self) -> bytes:
        with self.open() as file:
            return file.read()


@dataclass(frozen=True, slots=True)
class RefusedMember:
    """A member that is not to be read. ``path`` is made fit to be shown."""

    number: int
    path: str
    reason: str


@dataclass(slots=True)
class Container:
    """The contents of an archive. ``kind`` is that of its bytes: ``tar.gz``, ``zip``, ``zst``."""

    kind: str
    members: list[Member] = field(default_factory=list)
    refused: list[RefusedMember] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
