"""Reads tar archives as they stream by.

Not by tarfile, which keeps in memory whatever a header says is its length.
"""

import re
import tarfile
from dataclasses import dataclass
from typing import Final

from ingest.containers.contents import BrokenError, Container
from ingest.containers.streams import UnpackedStream
from ingest.containers.unpacking import Unpacking

_BLOCK: Final = 512
_MAX_HEADER_BYTES: Final = 1024 * 1024
_PAX_LENGTH = re.compile(rb"(\d{1,8}) ")


@dataclass(slots=True)
class _Said:
    """The words of extended headers about the member behind them."""

    name: str | None = None
    size: int | None = None
    is_sparse: bool = False


def untar(stream: UnpackedStream, unpacking: Unpacking) -> None:
    """Read the members. Raises BrokenError where the archive breaks off; what came before is kept."""
    said = _Said()
    while block := stream.read(_BLOCK):
        if block == bytes(_BLOCK):
            _look_behind(stream, unpacking.container)
            return
        header = _header(block)
        if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            text = _extended(stream, header.size)
            if header.type == tarfile.GNUTYPE_LONGNAME:
                said.name = text.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
        elif header.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
            _read_pax(_extended(stream, header.size), said)
        elif header.type == tarfile.XGLTYPE:
            _extended(stream, header.size)
        else:
            _take_entry(stream, header, said, unpacking)
            said = _Said()
    raise BrokenError("breaks off")


def _header(block: bytes) -> tarfile.TarInfo:
    if len(block) < _BLOCK:
        raise BrokenError("breaks off")
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        raise BrokenError("is damaged") from None
    if header.size < 0:
        raise BrokenError("is damaged")
    return header


def _take_entry(stream: UnpackedStream, header: tarfile.TarInfo, said: _Said, unpacking: Unpacking) -> None:
    number, name = unpacking.count(), header.name if said.name is None else said.name
    if header.isdir():
        return
    if header.type == tarfile.GNUTYPE_SPARSE:
        _skip_sparse_map(stream, header)
    has_data = header.isreg() or header.type not in tarfile.SUPPORTED_TYPES
    size = (header.size if said.size is None else said.size) if has_data else 0
    pieces = stream.pieces(size)
    try:
        unpacking.add(number, name, size, pieces, _objection(header, said))
    except BrokenError as error:
        unpacking.refuse(number, name, f"the archive {error} within it")
        raise
    for _ in pieces:
        pass  # of one that was refused
    stream.read(-size % _BLOCK)


def _objection(header: tarfile.TarInfo, said: _Said) -> str:
    if header.issym() or header.islnk():
        return "it is a link"
    if header.isdev():
        return "it is a device"
    if said.is_sparse or header.type == tarfile.GNUTYPE_SPARSE:
        return "it is a sparse file"
    if not header.isreg():
        return "it is no ordinary file"
    return ""


def _skip_sparse_map(stream: UnpackedStream, header: tarfile.TarInfo) -> None:
    """Skip the blocks that go on with the map of a sparse file of old GNU tar."""
    is_extended = header._sparse_structs[1]  # type: ignore[attr-defined] # nothing public tells
    while is_extended:
        block = stream.read(_BLOCK)
        if len(block) < _BLOCK:
            raise BrokenError("breaks off")
        is_extended = block[504]


def _extended(stream: UnpackedStream, size: int) -> bytes:
    if size > _MAX_HEADER_BYTES:
        raise BrokenError("has a header that is too large")
    data = b"".join(stream.pieces(size))
    stream.read(-size % _BLOCK)
    return data


def _read_pax(data: bytes, said: _Said) -> None:
    """Note what counts here of records such as ``18 path=reads.txt``."""
    position = 0
    while found := _PAX_LENGTH.match(data, position):
        end = position + int(found[1])
        key, separator, value = data[found.end() : end - 1].partition(b"=")
        if end <= found.end() or not separator:
            raise BrokenError("is damaged")
        position = end
        if key == b"path":
            said.name = value.decode("utf-8", "surrogateescape")
        elif key == b"size" and value.isdigit() and len(value) < 20:
            said.size = int(value)
        elif key.startswith(b"GNU.sparse."):
            said.is_sparse = True


def _look_behind(stream: UnpackedStream, container: Container) -> None:
    """Read to the end, where what was compressed has its checksum."""
    if sum(bool(piece.strip(b"\0")) for piece in stream.rest()):
        container.warnings.append("what follows the end of the tar archive was not read")
