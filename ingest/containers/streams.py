"""Decompresses in pieces of bounded size, and counts them."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Final

import zstandard

from ingest.containers.contents import BrokenError
from ingest.containers.recognition import HEAD_BYTES
from ingest.containers.unpacking import CHUNK, Budget

# A window of `zstd --long` and the dictionary of `xz -9` fit; what asks for more is refused.
_MAX_MEMORY: Final = 128 * 1024 * 1024
# Four bytes can stand for 128 kB, and a frame gives all that it has for what it is fed.
_ZSTD_STEP: Final = 256


class UnpackedStream:
    """The unpacked bytes of an archive, one after another, counted."""

    def __init__(self, unpacked: Iterator[bytes], budget: Budget) -> None:
        self._unpacked, self._budget, self._held = unpacked, budget, memoryview(b"")

    def head(self) -> bytes:
        """Return the first HEAD_BYTES, which are read again afterwards."""
        head = self.read(HEAD_BYTES)
        self._held = memoryview(head + bytes(self._held))
        return head

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer only at the end. Raises BrokenError or ContainerError."""
        parts = []
        while size and (self._held or (piece := self._next())):
            if not self._held:
                self._budget.spend(len(piece))
                self._held = memoryview(piece)
            parts.append(self._held[:size])
            self._held = self._held[size:]
            size -= len(parts[-1])
        return b"".join(parts)

    def _next(self) -> bytes:
        try:
            return next(self._unpacked, b"")
        except OSError as error:
            if error.errno is not None:  # the disk, not the archive
                raise
            raise BrokenError("is damaged") from None
        except EOFError:
            raise BrokenError("breaks off") from None
        except (lzma.LZMAError, zstandard.ZstdError) as error:
            needs_memory = any(word in str(error) for word in ("limit", "memory"))
            reason = "needs too much memory to be unpacked" if needs_memory else "is damaged"
            raise BrokenError(reason) from None
        except zlib.error:
            raise BrokenError("is damaged") from None

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the next ``size`` bytes. Raises BrokenError where there are fewer."""
        while size:
            piece = self.read(min(size, CHUNK))
            if not piece:
                raise BrokenError("breaks off")
            size -= len(piece)
            yield piece

    def rest(self) -> Iterator[bytes]:
        while piece := self.read(CHUNK):
            yield piece


def decompressed(file: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the unpacked bytes, each piece as soon as it is there: behind it the archive may be damaged."""
    match kind:
        case "gz":
            yield from iter(partial(gzip.GzipFile(fileobj=file).read1, CHUNK), b"")
        case "bz2":
            yield from iter(partial(bz2.BZ2File(file).read1, CHUNK), b"")
        case "xz":
            yield from filter(None, _xz_pieces(file))
        case "zst":
            yield from filter(None, _zstd_pieces(file))
        case _:
            yield from iter(partial(file.read, CHUNK), b"")


def _xz_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Decompress as LZMAFile does, which cannot be told how much memory a file may ask for."""
    data = file.read(CHUNK)
    while data:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_MEMORY)
        while True:
            yield decoder.decompress(data, CHUNK)
            if decoder.eof:
                break
            data = file.read(CHUNK) if decoder.needs_input else b""
            if decoder.needs_input and not data:
                raise EOFError
        data = decoder.unused_data.lstrip(b"\0")
        while not data and (padding := file.read(CHUNK)):
            data = padding.lstrip(b"\0")


def _zstd_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Decompress as ZstdDecompressor.stream_reader does, which does not tell an end from a cut."""
    data = memoryview(file.read(CHUNK))
    while data:
        decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_MEMORY).decompressobj()
        while not decoder.eof:
            if not data:
                raise EOFError
            yield decoder.decompress(data[:_ZSTD_STEP])
            data = data[_ZSTD_STEP:] or memoryview(file.read(CHUNK))
        data = memoryview(decoder.unused_data + bytes(data))
