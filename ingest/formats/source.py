"""The text of a file: its encoding found out, its lines counted, binary data and excess refused."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

from ingest.formats.limits import DEFAULT_LIMITS, Limits
from ingest.formats.lines import BLOCK_BYTES, LineBlock, Lines, count_lines, decoded, lines_of, pieces
from ingest.formats.report import FormatError

HEAD_BYTES = 64 * 1024

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_UTF_16_CHUNK = 1024 * 1024
# Tabs, line ends, and what terminals are sent (bell, backspace, escape) are found in the logs of real tools.
_BINARY = bytes({*range(0x20)} - {*b"\a\b\t\n\v\f\r\x1b"})


class Source:
    """A file as a format reads it. ``name`` is the sender's file name, for messages only."""

    def __init__(self, data: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> None:
        self.data = data
        self.name = name
        self.limits = limits

    @cached_property
    def head(self) -> bytes:
        """The first 64 kB of the text in UTF-8, for ``recognise``; without a byte order mark."""
        head = self.data[: 4 * HEAD_BYTES]
        if encoding := _utf_16(head):
            text = head[2:].decode(encoding, "ignore").replace("\r\n", "\n").replace("\r", "\n")
        else:
            head = head.removeprefix(codecs.BOM_UTF8)
            text = decoded(head[: _end_of_characters(head)])
        return text.encode()[:HEAD_BYTES]

    @cached_property
    def text(self) -> str:
        """The whole file as text with ``\\n`` line ends, for small files and for JSON; others have ``lines``.

        Raise FormatError as ``check`` does.
        """
        content = self._content
        return "".join(decoded(content.data[block.start : block.stop]) for block in content.blocks)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines without their ends; line number n of a message is ``lines[n - 1]``.

        They are decoded when they are asked for, so that a large file is never in memory twice. Raises
        FormatError as ``check`` does, and for a line beyond the limit.
        """
        content = self._content
        self.limits.check("line_bytes", *content.longest_line)
        self.limits.check("lines", content.lines)
        if len(content.blocks) == 1:
            return lines_of(content.data, content.blocks[0])
        return Lines(content.data, content.blocks, 0, content.lines)

    @property
    def ends_with_newline(self) -> bool:
        content = self._content
        return content.data[content.blocks[-1].stop - 1] in b"\r\n"

    @property
    def size(self) -> int:
        """The bytes of the text, in UTF-8 mostly."""
        return self._content.blocks[-1].stop - self._content.blocks[0].start

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was done to make this a text."""
        content, warnings = self._content, []
        if content.first_odd_line:
            warnings.append(
                f"line {content.first_odd_line}: not UTF-8; lines that are not were read as Windows-1252"
            )
        if content.is_cut:
            warnings.append(f"line {content.lines}: the file ends within a character; it may be cut off")
        return tuple(warnings)

    def check(self) -> None:
        """Raise FormatError for an empty file, binary data, broken UTF-16, and a file beyond the limits."""
        self._content  # noqa: B018 - it is checked when it is made

    @cached_property
    def _content(self) -> "_Content":
        self.limits.check("file_bytes", len(self.data))
        if encoding := _utf_16(self.data):
            data, is_cut = _utf_8_of(self.data, encoding)
            start, stop = 0, len(data)
        else:
            data, start = self.data, len(codecs.BOM_UTF8) if self.data.startswith(codecs.BOM_UTF8) else 0
            stop = _end_of_characters(data)
            is_cut = stop < len(data)
        return _content_of(data, start, stop, is_cut=is_cut, limits=self.limits)


@dataclass(frozen=True, slots=True)
class _Content:
    """Text in UTF-8 or Windows-1252, cut into blocks of whole lines.

    ``first_odd_line`` is the first one that is not UTF-8, 0 where there is none. ``longest_line`` is the size
    and the number of the longest line, where one is beyond the limit.
    """

    data: bytes
    blocks: tuple[LineBlock, ...]
    lines: int
    first_odd_line: int
    longest_line: tuple[int, int]
    is_cut: bool


def _content_of(data: bytes, start: int, stop: int, *, is_cut: bool, limits: Limits) -> _Content:
    """Raise FormatError for nothing but blanks, binary data, and a line that would not even do as JSON."""
    blocks: list[LineBlock] = []
    lines = first_odd = 0
    longest_line = (0, 0)
    is_empty = True
    for piece_start, piece_stop in pieces(data, start, stop):
        size = piece_stop - piece_start
        if size > max(limits.json_bytes, BLOCK_BYTES):
            limits.check("line_bytes", size, lines + 1)
        piece = data[piece_start:piece_stop]
        if len(piece.translate(None, _BINARY)) < len(piece):
            raise _binary(piece, lines)
        if is_empty:
            is_empty = not (piece.strip() and (piece.isascii() or decoded(piece).strip()))
        if not first_odd and not piece.isascii():
            first_odd = _first_odd_line(piece, lines)
        if size > limits.line_bytes:
            longest_line = max(longest_line, _longest_line(piece, lines))
        blocks.append(LineBlock(piece_start, piece_stop, lines))
        lines += count_lines(piece)
    if is_empty:
        raise FormatError("the file is empty")
    return _Content(data, tuple(blocks), lines, first_odd, longest_line, is_cut)


def _binary(piece: bytes, lines_before: int) -> FormatError:
    offset = next(offset for offset, byte in enumerate(piece) if byte in _BINARY)
    line = lines_before + count_lines(piece[: offset + 1])
    if piece[offset] == 0:
        return FormatError("a NUL byte: this is not a text file", line)
    return FormatError(f"a control character ({piece[offset]:#04x}): this is not a text file", line)


def _first_odd_line(piece: bytes, lines_before: int) -> int:
    """Return the first line that is not UTF-8, 0 where there is none."""
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        return lines_before + count_lines(piece[: error.start + 1])
    return 0


def _longest_line(piece: bytes, lines_before: int) -> tuple[int, int]:
    sizes = [len(line) for line in piece.splitlines()]
    return max(sizes), lines_before + sizes.index(max(sizes)) + 1


def _end_of_characters(data: bytes) -> int:
    """Return where the last whole character ends: a file may be cut within one of UTF-8."""
    for length in range(1, min(3, len(data)) + 1):
        byte = data[-length]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - length if length < needed else len(data)
        if byte < 0x80:
            break
    return len(data)


def _utf_16(data: bytes) -> str | None:
    """Return the encoding, if the data begins with the byte order mark of one of the two."""
    return _UTF_16.get(data[:2])


def _utf_8_of(data: bytes, encoding: str) -> tuple[bytes, bool]:
    """Return UTF-16 behind its byte order mark as UTF-8, and whether it ends within a character."""
    text = BytesIO()
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(2, len(data), _UTF_16_CHUNK):
        try:
            text.write(decoder.decode(data[start : start + _UTF_16_CHUNK]).encode())
        except UnicodeDecodeError:
            line = text.getvalue().count(b"\n") + 1
            raise FormatError("the UTF-16 breaks; save the file as UTF-8 and send it again", line) from None
    return text.getvalue(), bool(decoder.getstate()[0])
