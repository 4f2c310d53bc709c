"""The lines of a file, which look at the budget now and then while they are read."""

from collections.abc import Iterable, Iterator
from typing import SupportsIndex, overload

from ingest.budget import check_budget

# How much is read between two looks at the budget: so much of lines, each of which costs something by itself.
_CHECKED_CHARACTERS = 16 * 1024
_COST_OF_A_LINE = 64


def decoded(lines: bytes) -> str:
    """Return whole lines as text, ended by line feeds; a line that is not UTF-8 is Windows-1252."""
    try:
        text = lines.decode()
    except UnicodeDecodeError:
        text = "".join(map(decoded_line, lines.splitlines(keepends=True)))
    return with_plain_line_ends(text)


def decoded_line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Lines(list[str]):
    """Lines without their ends, the first of which has this number.

    Reading them raises OverBudgetError where the budget is spent.
    """

    def __init__(self, lines: Iterable[str], first_line: int = 1) -> None:
        super().__init__(lines)
        self._first_line = first_line

    def __iter__(self) -> Iterator[str]:
        unchecked = _CHECKED_CHARACTERS
        for number, line in enumerate(super().__iter__(), self._first_line):
            unchecked += len(line) + _COST_OF_A_LINE
            if unchecked > _CHECKED_CHARACTERS:
                check_budget(number)
                unchecked = 0
            yield line

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> str | list[str]:
        if isinstance(index, slice):
            return Lines(super().__getitem__(index), self._first_line + index.indices(len(self))[0])
        return super().__getitem__(index)
