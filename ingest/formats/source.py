"""The text of a file: its encoding found out, its lines counted, binary data and excess refused.

Colours, and a prefix that the lines share, are taken away (``prefixes``).
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

from ingest.formats.limits import DEFAULT_LIMITS, Limits
from ingest.formats.lines import (
    FewLines,
    LineBlock,
    Lines,
    blocks_of,
    count_lines,
    decoded,
    lines_of,
)
from ingest.formats.prefixes import (
    Prefixes,
    may_hold_terminal_codes,
    prefix_of_most_lines,
    shared_prefixes,
    without_terminal_codes,
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
        self._at_hand: tuple[LineBlock, list[bytes]] | None = None

    @cached_property
    def head(self) -> bytes:
        """The first 64 kB of the text in UTF-8, for ``recognise``; without a byte order mark."""
        return self.prefixes.strip(self._head_in_file)[:HEAD_BYTES]

    @cached_property
    def prefixes(self) -> Prefixes:
        """The prefix that is taken away before the lines."""
        return shared_prefixes(self._head_in_file)

    def without_what_lines_begin_with(self) -> "Source | None":
        """Return the same without what most lines begin with; None where they do not begin alike."""
        if not (prefix := prefix_of_most_lines(self.head)):
            return None
        source = Source(self.data, self.name, self.limits, metric=self.metric)
        source.prefixes = Prefixes((*self.prefixes.kinds, prefix)).seen_in(self._head_in_file)
        return source

    @cached_property
    def _head_in_file(self) -> bytes:
        head = self.data[: 4 * HEAD_BYTES]
        if encoding := _UTF_16.get(head[:2]):
            head = head[2:].decode(encoding, "ignore").encode()
        else:
            head = _whole_characters(head.removeprefix(codecs.BOM_UTF8))
        return decoded(without_terminal_codes(head)).encode()

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
            return FewLines(lines_of(content.data, content.blocks[0]))
        return Lines.of(content.data, content.blocks, content.lines)

    @property
    def ends_with_newline(self) -> bool:
        return self._content.data.endswith((b"\r", b"\n"))

    @property
    def size(self) -> int:
        """The bytes of the text, in UTF-8 mostly."""
        return len(self._content.data)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The steps that made this a text."""
        content, warnings = self._content, []
        if taken_away := [*filter(None, ("terminal colours" * content.had_codes, self.prefixes.description))]:
            warnings.append(f"taken away from the lines before they were read: {' and '.join(taken_away)}")
        if content.first_odd_line:
            warnings.append(
                f"line {content.first_odd_line}: not UTF-8; lines that are not were read as Windows-1252"
            )
        if content.is_cut:
            warnings.append(f"line {content.lines}: the file ends within a character; it may be cut off")
        return tuple(warnings)

    def time_of(self, line: int) -> str:
        """Return the time in the prefix that was taken away from this line; empty where there was none."""
        if not self.prefixes.kinds:
            return ""
        blocks = self._content.blocks_in_file
        block = blocks[bisect_right(blocks, line - 1, key=lambda block: block.lines_before) - 1]
        if self._at_hand is None or self._at_hand[0] is not block:
            self._at_hand = block, self._lines_in_file(block)
        return self.prefixes.time_of(self._at_hand[1][line - 1 - block.lines_before])

    def check(self) -> None:
        """Raise FormatError for an empty file, binary data, broken UTF-16, and a file beyond the limits."""
        self._content  # noqa: B018 - it is checked when it is made

    @cached_property
    def _content(self) -> "_Content":
        """Raise FormatError for blanks alone, binary data, and a line that is too long even for JSON."""
        self.limits.check("file_bytes", len(self.data))
        whole, is_cut = self._whole
        if binary := _BINARY.search(whole):
            raise _binary(whole, binary.start())
        data, blocks_in_file, had_codes = self._cleaned(whole)
        blocks = tuple(blocks_of(data))
        if all(decoded(data[block.start : block.stop]).isspace() for block in blocks):
            raise FormatError("the file is empty")
        longest, line = _longest_line(data, blocks, self.limits.line_bytes)
        if longest > self.limits.json_bytes:
            self.limits.check("line_bytes", longest, line)
        lines = blocks[-1].lines_before + count_lines(data[blocks[-1].start :])
        return _Content(
            data,
            blocks,
            lines,
            _first_odd_line(data, blocks),
            (longest, line),
            is_cut,
            blocks_in_file,
            had_codes,
        )

    @cached_property
    def _whole(self) -> tuple[bytes, bool]:
        """The file in UTF-8 or Windows-1252, and whether it ends within a character."""
        if encoding := _UTF_16.get(self.data[:2]):
            return _utf_8_of(self.data, encoding)
        whole = self.data.removeprefix(codecs.BOM_UTF8)
        data = _whole_characters(whole)
        return data, len(data) < len(whole)

    def _cleaned(self, whole: bytes) -> tuple[bytes, tuple[LineBlock, ...], bool]:
        """Return the text without codes and prefixes, the blocks before that, and whether there were codes.

        The blocks count the lines as those of the text are counted.
        """
        if not self.prefixes.kinds and not may_hold_terminal_codes(whole):
            return whole, (), False
        text, blocks, lines, had_codes, plain = BytesIO(), [], 0, False, b""
        for block in blocks_of(whole):
            part = whole[block.start : block.stop]
            had_codes = had_codes or len(without_terminal_codes(part)) < len(part)
            plain = _plain(part)
            blocks.append(LineBlock(block.start, block.stop, lines))
            lines += plain.count(b"\n")
            text.write(self.prefixes.strip(plain))
        # A prefix that ends the file stays: it tells that the line behind it is missing.
        last_line = plain.rpartition(b"\n")[2]
        if last_line and not self.prefixes.strip(last_line):
            text.write(last_line)
        return text.getvalue(), tuple(blocks), had_codes

    def _lines_in_file(self, block: LineBlock) -> list[bytes]:
        """Return the lines of a block with their prefixes."""
        return _plain(self._whole[0][block.start : block.stop]).removesuffix(b"\n").split(b"\n")


@dataclass(frozen=True, slots=True)
class _Content:
    """Text in UTF-8 or Windows-1252, without a byte order mark.

    ``first_odd_line`` is the first one that is not UTF-8, 0 where there is none. ``longest_line`` is the size
    and the number of the longest line, where one is beyond the limit. Where something was taken away,
    ``blocks_in_file`` are blocks of the file as it was, which count the lines of this text.
    """

    data: bytes
    blocks: tuple[LineBlock, ...]
    lines: int
    first_odd_line: int
    longest_line: tuple[int, int]
    is_cut: bool
    blocks_in_file: tuple[LineBlock, ...]
    had_codes: bool


def _plain(lines: bytes) -> bytes:
    """Return whole lines without terminal codes, ended by line feeds."""
    return without_terminal_codes(lines).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


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
