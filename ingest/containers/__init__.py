"""Archives, compressed files and folders: what lies in them, read with care.

Recognised by content, never by name. What is unpacked goes into one nameless temporary file, so that no
member's name ever touches the disk, memory stays small whatever the archive says of itself, and the members
can be read in any order.
"""

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ingest.containers.contents import (
    ArchiveLimits,
    BrokenError,
    Container,
    ContainerError,
    Member,
    RefusedMember,
)
from ingest.containers.recognition import HEAD_BYTES, is_tar, recognise
from ingest.containers.streams import UnpackedStream, decompressed
from ingest.containers.tars import untar
from ingest.containers.unpacking import HARMLESS_BYTES, Budget, Unpacking, shown, trouble_with_name
from ingest.containers.zips import unzip

__all__ = [
    "HEAD_BYTES",
    "ArchiveLimits",
    "Container",
    "ContainerError",
    "Member",
    "RefusedMember",
    "of_folder",
    "recognise",
    "unpacked",
]


@contextmanager
def unpacked(
    file: BinaryIO, limits: ArchiveLimits, *, name: str = "", folder: str | None = None
) -> Iterator[Container]:
    """Unpack an archive; its members can be read while the context lasts.

    ``name`` is that of the archive: a single compressed file is called so without its suffix. ``folder`` is
    where the temporary file lies. Raises ContainerError.
    """
    file.seek(0)
    kind = recognise(file.read(HEAD_BYTES))
    packed_bytes = file.seek(0, io.SEEK_END)
    file.seek(0)
    with tempfile.TemporaryFile(dir=folder) as spool:
        if kind == "zip":
            budget = Budget(limits.unpacked_bytes)
            container = unzip(file, Unpacking(Container(kind), spool, limits, budget))
        elif kind:
            harmless = max(HARMLESS_BYTES, limits.ratio * packed_bytes)
            budget = Budget(limits.unpacked_bytes, harmless, limits.ratio)
            stream = UnpackedStream(decompressed(file, kind), budget)
            container = _unpack_stream(stream, kind, name, Unpacking(Container(kind), spool, limits, budget))
        else:
            raise ContainerError("the file is no archive")
        yield container


def _unpack_stream(stream: UnpackedStream, kind: str, name: str, unpacking: Unpacking) -> Container:
    """Unpack a tar archive, compressed or not, or a single compressed file."""
    container = unpacking.container
    try:
        if is_tar(stream.head()):
            container.kind = kind if kind == "tar" else f"tar.{kind}"
            untar(stream, unpacking)
        else:
            name = name.removesuffix(f".{kind}") or "file"
            unpacking.add(unpacking.count(), name, 0, stream.rest())
    except BrokenError as error:
        if not container.members and not container.refused:
            raise ContainerError(f"the file {error}, and nothing of it can be read") from None
        found: list[Member | RefusedMember] = [*container.members, *container.refused]
        last = max(found, key=lambda one: one.number)
        container.warnings.append(f"the archive {error} after '{last.path}'")
    return container


def of_folder(folder: Path) -> Container:
    """List the regular files of a folder and of those below it, by path. Links are left alone."""
    container = Container("folder")
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    for number, file in enumerate(files):
        path = file.relative_to(folder).as_posix()
        if trouble := trouble_with_name(path):
            container.refused.append(RefusedMember(number, shown(path), trouble))
        else:
            container.members.append(Member(number, path, file.stat().st_size, partial(_opened, file)))
    return container


def _opened(file: Path) -> BinaryIO:
    return file.open("rb")
