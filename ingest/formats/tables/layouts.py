"""How a table is laid out in lines of text: what its first line is like, and where its rows end."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from ingest.formats.cells import is_cell
from ingest.formats.report import FormatError
from ingest.formats.tables.metric_words import names_metric
from ingest.formats.tables.table import Table, TableRow, counted

_MIN_WORDS, _MIN_WORDS_WITHOUT_END = 4, 9
_SENTENCE_END = re.compile(r"[.:!?…。][)\]\"'’”]*")
_FOOTNOTE = re.compile(r"\s*(?:[*†‡§]+|\[[0-9a-z]\]|[¹²³])\s*[^\W\d].*")


class TableLayout(Protocol):
    """A table whose first line is known."""

    def table(self, lines: Sequence[str]) -> tuple[Table, int]:
        """Return the table without titles, and the index of the first line behind it.

        Raise FormatError for a row that lacks a cell or has one too many.
        """
        ...


def trimmed(names: Sequence[str], rows: Sequence[TableRow]) -> tuple[tuple[str, ...], tuple[TableRow, ...]]:
    """Return names and rows without empty columns at the end, as spreadsheets and trailing commas add them.

    Raise FormatError for a row whose cells do not fit to the names.
    """
    width = len(names)
    while width > 1 and not names[width - 1] and not any(any(row.cells[width - 1 :]) for row in rows):
        width -= 1
    fitting = []
    for row in rows:
        if len(row.cells) < width or any(row.cells[width:]):
            raise FormatError(
                f"{counted(len(row.cells), 'cell')}, where the first line has {width}", row.line
            )
        fitting.append(TableRow(row.line, row.cells[:width]))
    return tuple(names[:width]), tuple(fitting)


def is_title(text: str) -> bool:
    """Return whether a line below a table says what its numbers are."""
    return names_metric(text)


def ends_in_prose(lines: Sequence[str], index: int, is_row: Callable[[str], bool]) -> bool:
    """Return whether a line right below the rows of a table is a sentence or a footnote, and no row follows.

    Browsers copy no blank line behind a table.
    """
    if is_row(lines[index]) or not _is_prose(lines[index]):
        return False
    others = (line for line in lines[index + 1 :] if line.strip() and not _is_prose(line))
    return not is_row(next(others, ""))


def _is_prose(text: str) -> bool:
    """Return whether a line can be no row that was cut off: that has fewer words, or numbers."""
    if _FOOTNOTE.fullmatch(text):
        return True
    words = text.split()
    is_long = len(words) >= _MIN_WORDS_WITHOUT_END
    is_sentence = len(words) >= _MIN_WORDS and _SENTENCE_END.search(words[-1]) is not None
    numbers = sum(map(is_cell, words))
    return text[:1].isalpha() and "\t" not in text and (is_long or is_sentence) and 4 * numbers < len(words)
