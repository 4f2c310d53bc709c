"""The lines of a file, decoded a block at a time: a large file is never in memory twice."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import overload

BLOCK_BYTES = 256 * 1024
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines of a file: where they stand in its bytes, and how many lines come before them."""

    start: int
    stop: int
    lines_before: int


def blocks_of(data: bytes) -> Iterator[LineBlock]:
    """Yield blocks of a quarter of a megabyte and the rest of their last line."""
    start = lines = 0
    while start < len(data):
        end = _LINE_END.search(data, start + BLOCK_BYTES - 1)
        stop = end.end() if end else len(data)
        yield LineBlock(start, stop, lines)
        lines += count_lines(data[start:stop])
        start = stop


def count_lines(data: bytes) -> int:
    """Count the lines, a last one without an end too."""
    ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    return ends if data.endswith((b"\n", b"\r")) else ends + 1


def decoded(lines: bytes) -> str:
    """Return whole lines as text, ended by line feeds; a line that is not UTF-8 is Windows-1252."""
    try:
        text = lines.decode()
    except UnicodeDecodeError:
        text = "".join(map(_decoded_line, lines.splitlines(keepends=True)))
    return with_plain_line_ends(text)


def _decoded_line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(data: bytes, block: LineBlock) -> list[str]:
    """Return the lines of a block without their ends."""
    return decoded(data[block.start : block.stop]).removesuffix("\n").split("\n")


class Lines(Sequence[str]):
    """The lines from ``start`` to ``stop``, without their ends."""

    def __init__(self, data: bytes, blocks: Sequence[LineBlock], start: int, stop: int) -> None:
        self._data = data
        self._blocks = blocks
        self._start = start
        self._stop = stop
        self._at_hand: tuple[LineBlock, list[str]] | None = None

    def __len__(self) -> int:
        return self._stop - self._start

    def __iter__(self) -> Iterator[str]:
        if not self:
            return
        first = self._block_with(self._start)
        last = self._block_with(self._stop - 1)
        for block in islice(self._blocks, first, last + 1):
            lines = lines_of(self._data, block)
            yield from lines[max(self._start - block.lines_before, 0) : self._stop - block.lines_before]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            chosen = range(self._start, self._stop)[index]
            if chosen.step != 1:
                return [self._line(number) for number in chosen]
            return Lines(self._data, self._blocks, chosen.start, max(chosen.start, chosen.stop))
        return self._line(range(self._start, self._stop)[index])

    def _line(self, number: int) -> str:
        block = self._blocks[self._block_with(number)]
        if self._at_hand is None or self._at_hand[0] is not block:
            self._at_hand = block, lines_of(self._data, block)
        return self._at_hand[1][number - block.lines_before]

    def _block_with(self, line: int) -> int:
        return bisect_right(self._blocks, line, key=lambda block: block.lines_before) - 1
