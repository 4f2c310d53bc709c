"""Decompresses in pieces of bounded size, and counts them."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

import zstandard

from ingest.containers.found import BrokenError
from ingest.containers.recognition import HEAD_BYTES
from ingest.containers.unpacking import CHUNK, Budget

# A window of `zstd --long` and the dictionary of `xz -9` fit; what asks for more is refused.
_MOST_MEMORY: Final = 128 * 1024 * 1024
# Four bytes can stand for 128 kB, and a frame gives all that it has for what it is fed.
_ZSTD_STEP: Final = 256


class Pieces(io.RawIOBase):
    """A file of the pieces that a generator gives."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        number = min(len(buffer), len(self._rest))
        buffer[:number] = self._rest[:number]
        self._rest = self._rest[number:]
        return number


class Stream:
    """The unpacked bytes of an archive, one after another, counted."""

    def __init__(self, file: BinaryIO, budget: Budget) -> None:
        self._file, self._budget, self._held = file, budget, b""

    def head(self) -> bytes:
        """The first HEAD_BYTES, which are read again afterwards."""
        self._held = self.read(HEAD_BYTES)
        return self._held

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end. Raises BrokenError or ContainerError."""
        held, self._held = self._held[:size], self._held[size:]
        if len(held) == size:
            return held
        try:
            data = self._file.read(size - len(held))
        except OSError as error:
            if error.errno is not None:  # the disk, not the archive
                raise
            raise BrokenError("is damaged") from None
        except EOFError:
            raise BrokenError("breaks off") from None
        except lzma.LZMAError as error:
            reason = "needs too much memory to be unpacked" if "limit" in str(error) else "is damaged"
            raise BrokenError(reason) from None
        except zstandard.ZstdError as error:
            reason = "needs too much memory to be unpacked" if "memory" in str(error) else "is damaged"
            raise BrokenError(reason) from None
        except zlib.error:
            raise BrokenError("is damaged") from None
        self._budget.spend(len(data))
        return held + data

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next ``size`` bytes. Raises BrokenError where there are fewer."""
        while size:
            piece = self.read(min(size, CHUNK))
            if not piece:
                raise BrokenError("breaks off")
            size -= len(piece)
            yield piece

    def rest(self) -> Iterator[bytes]:
        while piece := self.read(CHUNK):
            yield piece


def decompressed(file: BinaryIO, kind: str) -> BinaryIO:
    match kind:
        case "gz":
            return gzip.GzipFile(fileobj=file)  # type: ignore[return-value] # it reads like a file
        case "bz2":
            return bz2.BZ2File(file)  # type: ignore[return-value]
        case "xz":
            return io.BufferedReader(Pieces(_xz_pieces(file)), CHUNK)
        case "zst":
            return io.BufferedReader(Pieces(_zstd_pieces(file)), CHUNK)
    return file


def _xz_pieces(file: BinaryIO) -> Iterator[bytes]:
    """As LZMAFile, which cannot be told how much memory a file may ask for."""
    data = file.read(CHUNK)
    while data:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
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
    """As ZstdDecompressor.stream_reader, which does not tell an end from a cut."""
    data = memoryview(file.read(CHUNK))
    while data:
        decoder = zstandard.ZstdDecompressor(max_window_size=_MOST_MEMORY).decompressobj()
        while not decoder.eof:
            if not data:
                raise EOFError
            yield decoder.decompress(data[:_ZSTD_STEP])
            data = data[_ZSTD_STEP:] or memoryview(file.read(CHUNK))
        data = memoryview(decoder.unused_data + bytes(data))
