"""The text of a file: its encoding found out, its lines counted, binary data and excess refused.

Colours, and a prefix that the lines share, are taken away (``prefixes``).
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

from ingest.formats.limits import DEFAULT_LIMITS, Limits
from ingest.formats.lines import Lines, decoded, decoded_line
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
_PART_BYTES = 256 * 1024
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
        self.check()
        return "".join(map(decoded, self._parts()))

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines without their ends; line number n of a message is ``lines[n - 1]``.

        Raise FormatError as ``check`` does, and for a line beyond the limit.
        """
        content = self._content
        self.limits.check("line_bytes", *content.longest_line)
        self.limits.check("lines", content.lines)
        return Lines(decoded_line(line) for part in self._parts() for line in part.splitlines())

    @property
    def ends_with_newline(self) -> bool:
        return self._content.ends_with_newline

    @property
    def size(self) -> int:
        """The bytes of the text, in UTF-8 mostly."""
        return self._content.size

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
        return self._times[line - 1] if self.prefixes.kinds else ""

    @cached_property
    def _times(self) -> Sequence[str]:
        plain = map(_plain, _parts_of(self._whole[0]))
        return [self.prefixes.time_of(line) for part in plain for line in part.splitlines()]

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
        is_empty, size, ends, odd, longest, part = True, 0, 0, 0, (0, 0), b""
        for part in self._parts():
            is_empty = is_empty and not decoded(part[:HEAD_BYTES]).strip() and not decoded(part).strip()
            longest = longest if longest[0] else _longest_line(part, self.limits.line_bytes, ends)
            odd = odd or _first_odd_line(part, ends)
            size, ends = size + len(part), ends + part.count(b"\n")
        if is_empty:
            raise FormatError("the file is empty")
        if longest[0] > self.limits.json_bytes:
            self.limits.check("line_bytes", *longest)
        ends_with_newline = part.endswith(b"\n")
        lines = ends + (not ends_with_newline)
        had_codes = may_hold_terminal_codes(whole) and any(
            len(without_terminal_codes(lines)) < len(lines) for lines in _parts_of(whole)
        )
        return _Content(size, lines, odd, longest, is_cut, had_codes, ends_with_newline)

    @cached_property
    def _whole(self) -> tuple[bytes, bool]:
        """The file in UTF-8 or Windows-1252, and whether it ends within a character."""
        if encoding := _UTF_16.get(self.data[:2]):
            return _utf_8_of(self.data, encoding)
        whole = self.data.removeprefix(codecs.BOM_UTF8)
        data = _whole_characters(whole)
        return data, len(data) < len(whole)

    def _parts(self) -> Iterator[bytes]:
        """Yield the text, a part of its lines at a time, without codes and prefixes."""
        plain = b""
        for part in _parts_of(self._whole[0]):
            plain = _plain(part)
            yield self.prefixes.strip(plain)
        # A prefix that ends the file stays: it tells that the line behind it is missing.
        last_line = plain.rpartition(b"\n")[2] if self.prefixes.kinds else b""
        if last_line and not self.prefixes.strip(last_line):
            yield last_line


@dataclass(frozen=True, slots=True)
class _Content:
    """The measures of a text.

    ``first_odd_line`` is the first one that is not UTF-8, 0 where there is none. ``longest_line`` is the size
    and the number of a line beyond the limit.
    """

    size: int
    lines: int
    first_odd_line: int
    longest_line: tuple[int, int]
    is_cut: bool
    had_codes: bool
    ends_with_newline: bool


def _parts_of(data: bytes) -> Iterator[bytes]:
    """Yield whole lines, a quarter of a megabyte at a time: a large file is never in memory thrice."""
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start + _PART_BYTES - 1) + 1 or len(data)
        yield data[start:stop]
        start = stop


def _plain(lines: bytes) -> bytes:
    """Return whole lines without terminal codes, ended by line feeds."""
    return without_terminal_codes(lines).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _binary(data: bytes, offset: int) -> FormatError:
    line = 1 + _plain(data[: offset + 1]).count(b"\n")
    if data[offset] == 0:
        return FormatError("a NUL byte: this is not a text file", line)
    return FormatError(f"a control character ({data[offset]:#04x}): this is not a text file", line)


def _first_odd_line(data: bytes, lines_before: int) -> int:
    """Return the first line that is not UTF-8, 0 where there is none."""
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        return lines_before + data.count(b"\n", 0, error.start) + 1
    return 0


def _longest_line(data: bytes, limit: int, lines_before: int) -> tuple[int, int]:
    """Return size and number of the first line beyond the limit, zeros where there is none."""
    start = 0
    while len(data) - start > limit:
        end = data.rfind(b"\n", start, start + limit + 1)
        if end < 0:
            stop = data.find(b"\n", start)
            line = lines_before + data.count(b"\n", 0, start) + 1
            return (len(data) if stop < 0 else stop) - start, line
        start = end + 1
    return 0, 0


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
