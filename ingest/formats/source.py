"""The text of a file: its encoding found out, its lines counted, binary data and excess refused."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

from ingest.formats.limits import DEFAULT_LIMITS, Limits
from ingest.formats.lines import (
    LineBlock,
    Lines,
    blocks_of,
    count_lines,
    decoded,
    lines_of,
    with_plain_line_ends,
)
from ingest.formats.report import FormatError

HEAD_BYTES = 64 * 1024

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_UTF_16_CHUNK = 1024 * 1024
# Tabs, line ends, and what terminals are sent (bell, backspace, escape) are found in the logs of real tools.
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


class Source:
    """A file as a format reads it.

    ``name`` is the sender's file name, for messages only. ``metric`` is what the sender says that the numbers
    of a plain table are (``tps``, ``rss_mb [MB, lower]``); empty where nobody says it.
    """

    def __init__(
        self, data: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS, *, metric: str = ""
    ) -> None:
        self.data = data
        self.name = name
        self.limits = limits
        self.metric = metric

    @cached_property
    def head(self) -> bytes:
        """The first 64 kB of the text in UTF-8, for ``recognise``; without a byte order mark."""
        head = self.data[: 4 * HEAD_BYTES]
        if encoding := _UTF_16.get(head[:2]):
            text = with_plain_line_ends(head[2:].decode(encoding, "ignore"))
        else:
            text = decoded(_whole_characters(head.removeprefix(codecs.BOM_UTF8)))
        return text.encode()[:HEAD_BYTES]

    @cached_property
    def text(self) -> str:
        """The whole text, its lines ended by line feeds, for small files and JSON; others have ``lines``.

        Raise FormatError as ``check`` does.
        """
        content = self._content
        return "".join(decoded(content.data[block.start : block.stop]) for block in content.blocks)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines without their ends; line number n of a message is ``lines[n - 1]``.

        They are decoded when they are asked for. Raise FormatError as ``check`` does, and for a line
        beyond the limit.
        """
        content = self._content
        self.limits.check("line_bytes", *content.longest_line)
        self.limits.check("lines", content.lines)
        if len(content.blocks) == 1:
            return lines_of(content.data, content.blocks[0])
        return Lines(content.data, content.blocks, 0, content.lines)

    @property
    def ends_with_newline(self) -> bool:
        return self._content.data.endswith((b"\r", b"\n"))

    @property
    def size(self) -> int:
        """The bytes of the text, in UTF-8 mostly."""
        return len(self._content.data)

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
        """Raise FormatError for blanks alone, binary data, and a line that is too long even for JSON."""
        self.limits.check("file_bytes", len(self.data))
        if encoding := _UTF_16.get(self.data[:2]):
            data, is_cut = _utf_8_of(self.data, encoding)
        else:
            whole = self.data.removeprefix(codecs.BOM_UTF8)
            data = _whole_characters(whole)
            is_cut = len(data) < len(whole)
        if binary := _BINARY.search(data):
            raise _binary(data, binary.start())
        blocks = tuple(blocks_of(data))
        if not any(decoded(data[block.start : block.stop]).strip() for block in blocks):
            raise FormatError("the file is empty")
        longest, line = _longest_line(data, blocks, self.limits.line_bytes)
        if longest > self.limits.json_bytes:
            self.limits.check("line_bytes", longest, line)
        lines = blocks[-1].lines_before + count_lines(data[blocks[-1].start :])
        return _Content(data, blocks, lines, _first_odd_line(data, blocks), (longest, line), is_cut)


@dataclass(frozen=True, slots=True)
class _Content:
    """Text in UTF-8 or Windows-1252, without a byte order mark.

    ``first_odd_line`` is the first one that is not UTF-8, 0 where there is none. ``longest_line`` is the size
    and the number of the longest line, where one is beyond the limit.
    """

    data: bytes
    blocks: tuple[LineBlock, ...]
    lines: int
    first_odd_line: int
    longest_line: tuple[int, int]
    is_cut: bool


def _binary(data: bytes, offset: int) -> FormatError:
    line = count_lines(data[: offset + 1])
    if data[offset] == 0:
        return FormatError("a NUL byte: this is not a text file", line)
    return FormatError(f"a control character ({data[offset]:#04x}): this is not a text file", line)


def _first_odd_line(data: bytes, blocks: Sequence[LineBlock]) -> int:
    """Return the first line that is not UTF-8, 0 where there is none."""
    for block in blocks:
        try:
            data[block.start : block.stop].decode()
        except UnicodeDecodeError as error:
            return block.lines_before + count_lines(data[block.start : block.start + error.start + 1])
    return 0


def _longest_line(data: bytes, blocks: Sequence[LineBlock], limit: int) -> tuple[int, int]:
    """Return size and number of the longest line, zeros where none is beyond the limit."""
    longest = (0, 0)
    for block in blocks:
        if block.stop - block.start > limit:
            sizes = [len(line) for line in data[block.start : block.stop].splitlines()]
            if max(sizes) > limit:
                longest = max(longest, (max(sizes), block.lines_before + sizes.index(max(sizes)) + 1))
    return longest


def _whole_characters(data: bytes) -> bytes:
    """Return the data without a last character that is cut: a file may end within one of UTF-8."""
    for length in range(1, min(3, len(data)) + 1):
        byte = data[-length]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-length] if length < needed else data
        if byte < 0x80:
            break
    return data


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
