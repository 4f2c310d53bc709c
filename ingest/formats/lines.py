"""The lines of a file, decoded a block at a time: a large file is never in memory twice."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import SupportsIndex, overload

from ingest.budget import check_budget

BLOCK_BYTES = 256 * 1024
# How much is read between two looks at the budget: so much of lines, each of which costs something by itself.
_CHECKED_CHARACTERS = 16 * 1024
_COST_OF_A_LINE = 64
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


def within_budget(lines: Iterable[str], first_line: int) -> Iterator[str]:
    """Yield lines, and look now and then whether the budget is spent; raise OverBudgetError."""
    unchecked = _CHECKED_CHARACTERS
    for number, line in enumerate(lines, first_line):
        unchecked += len(line) + _COST_OF_A_LINE
        if unchecked > _CHECKED_CHARACTERS:
            check_budget(number)
            unchecked = 0
        yield line


class FewLines(list[str]):
    """Lines of a small file, the first of which has this number."""

    def __init__(self, lines: Iterable[str], first_line: int = 1) -> None:
        super().__init__(lines)
        self._first_line = first_line

    def __iter__(self) -> Iterator[str]:
        return within_budget(super().__iter__(), self._first_line)

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> str | list[str]:
        if isinstance(index, slice):
            return FewLines(super().__getitem__(index), self._first_line + index.indices(len(self))[0])
        return super().__getitem__(index)


class Lines(Sequence[str]):
    """The lines from ``start`` to ``stop``, without their ends; ``read`` gives those of a block."""

    def __init__(
        self, blocks: Sequence[LineBlock], start: int, stop: int, read: Callable[[LineBlock], list[str]]
    ) -> None:
        self._blocks = blocks
        self._start = start
        self._stop = stop
        self._read = read

    @classmethod
    def of(cls, data: bytes, blocks: Sequence[LineBlock], count: int) -> "Lines":
        """Return all lines of a file. Slices share the block at hand: there may be one for each run."""
        return cls(blocks, 0, count, lru_cache(maxsize=2)(partial(lines_of, data)))

    def __len__(self) -> int:
        return self._stop - self._start

    def __iter__(self) -> Iterator[str]:
        return within_budget(self._lines(), self._start + 1)

    def _lines(self) -> Iterator[str]:
        if not self:
            return
        first = self._block_with(self._start)
        last = self._block_with(self._stop - 1)
        for block in islice(self._blocks, first, last + 1):
            yield from self._read(block)[
                max(self._start - block.lines_before, 0) : self._stop - block.lines_before
            ]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            chosen = range(self._start, self._stop)[index]
            if chosen.step != 1:
                return [self._line(number) for number in chosen]
            return Lines(self._blocks, chosen.start, max(chosen.start, chosen.stop), self._read)
        return self._line(range(self._start, self._stop)[index])

    def _line(self, number: int) -> str:
        block = self._blocks[self._block_with(number)]
        return self._read(block)[number - block.lines_before]

    def _block_with(self, line: int) -> int:
        return bisect_right(self._blocks, line, key=lambda block: block.lines_before) - 1
