"""Text and tables in Markdown, in which no name is markup, a link or a call to somebody."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~&])")
_INVISIBLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# GitHub and the like look for these in what Markdown has become, so that no backslash helps.
_CALLS: Final = re.compile(r"(@|#|:(?=//)|www(?=\.))")
_ZERO_WIDTH: Final = "\N{ZERO WIDTH SPACE}"


def plain(text: str) -> str:
    """Return one line in which nothing is markup, and nobody is called by it."""
    line = " ".join(_INVISIBLE.sub(" ", text).split())
    return _SPECIAL.sub(r"\\\1", _CALLS.sub(rf"\1{_ZERO_WIDTH}", line))


def table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of plain texts."""
    yield _line(list(map(plain, head)))
    yield _line(["---"] * len(head))
    for row in rows:
        yield _line(list(map(plain, row)))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
