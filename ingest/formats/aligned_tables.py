"""Tables made of words and blanks, as people print them: where one begins, and what its rows hold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.formats.cells import is_cell
from ingest.formats.grids import (
    THREAD_HEADS,
    WORKLOAD_HEADS,
    Grid,
    Row,
    counted,
    counts_threads,
    heads_grid,
    is_count,
    read_grid,
    says_metric,
)
from ingest.formats.metric_words import mentions
from ingest.formats.records import MOST_COLUMNS
from ingest.formats.report import FormatError, ParsedReport

_HEADS = WORKLOAD_HEADS | THREAD_HEADS


@dataclass(frozen=True, slots=True)
class Word:
    """A word, with the columns of the screen that it covers."""

    text: str
    start: int
    end: int

    def overlaps(self, other: "Word") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class _Line:
    """A line below the names of the columns: the words of a row's label, then its cells."""

    number: int
    words: tuple[Word, ...]

    @property
    def cells(self) -> int:
        """How many numbers, or signs for no value, the line ends in."""
        label = [index for index, word in enumerate(self.words, start=1) if not is_cell(word.text)]
        return len(self.words) - max(label, default=0)


@dataclass(frozen=True, slots=True)
class AlignedTable:
    """A table in the lines of a file: the index of its first line, its head, the words over its columns."""

    lines: Sequence[str]
    index: int
    head: str
    columns: tuple[Word, ...]

    def read(self) -> ParsedReport:
        """What the table tells; raises FormatError where it cannot be understood."""
        titles, rows = self._titles_and_rows()
        self._check_labels(rows)
        grid = Grid(
            line=self.index + 1,
            head=self.head,
            columns=tuple(column.text for column in self.columns),
            rows=tuple(self._row(line) for line in rows),
            titles=tuple(titles),
        )
        return read_grid(grid)

    def _titles_and_rows(self) -> tuple[list[tuple[int, str]], list[_Line]]:
        """The lines above and below the table that are text, and its rows."""
        titles = [(number, text.strip()) for number, text in enumerate(self.lines[: self.index], start=1)]
        titles = [(number, text) for number, text in titles if text]
        rows: list[_Line] = []
        below_table = after_blank = False
        for number, text in enumerate(self.lines[self.index + 1 :], start=self.index + 2):
            words = _words(text)
            if not words:
                after_blank = True
            elif is_cell(words[-1].text):
                if below_table:
                    raise FormatError("a second table begins; send each table as a file of its own", number)
                rows.append(_Line(number, words))
            elif any(mentions(text)) or (after_blank and sum(is_cell(word.text) for word in words) < 2):
                titles.append((number, text.strip()))
                below_table = True
            else:
                raise FormatError(f"{words[-1].text[:40]!r} is not a number", number)
        return titles, rows

    def _check_labels(self, rows: Sequence[_Line]) -> None:
        """Raise FormatError for a row that lacks a cell or may lack one.

        Under two columns, is ``DO 1  19543`` the query ``DO 1`` with one value, or ``DO`` with two? The place
        of the cells tells. Where they do not stand under their columns, no name may end in a number.
        """
        width = len(self.columns)
        for row in rows:
            numbers = min(row.cells, len(row.words) - 1)
            if numbers < width:
                raise FormatError(
                    f"a name and {counted(numbers, 'number')} under {counted(width, 'column')}", row.number
                )
        misplaced = [row for row in rows if not self._is_aligned(row)]
        if misplaced and any(row.cells > width and len(row.words) > width + 1 for row in rows):
            raise FormatError(
                "the values do not stand under their columns; is one missing, or is a number part of a name? "
                "Put them under their columns, or send the table as CSV",
                misplaced[0].number,
            )

    def _is_aligned(self, row: _Line) -> bool:
        label, cells = row.words[: -len(self.columns)], row.words[-len(self.columns) :]
        stand_under = all(cell.overlaps(column) for cell, column in zip(cells, self.columns, strict=True))
        return stand_under and not any(word.overlaps(column) for word in label for column in self.columns)

    def _row(self, line: _Line) -> Row:
        words = [word.text for word in line.words]
        label, cells = words[: -len(self.columns)], words[-len(self.columns) :]
        return Row(line.number, " ".join(label), tuple(cells))


def find_aligned_table(lines: Sequence[str], most: int) -> AlignedTable | None:
    """The table whose names stand on one of the first ``most`` lines, or None."""
    for index, line in enumerate(lines[:most]):
        split = _split_thread_counts(line) or _split_names(line)
        if split and len(split[1]) <= MOST_COLUMNS and _heads_grid(*split, lines, index):
            head, columns = split
            return AlignedTable(lines, index, head, columns)
    return None


def _split_thread_counts(line: str) -> tuple[str, tuple[Word, ...]] | None:
    """``Concurrent clients 4 8 16`` is a head and three columns."""
    if not any(map(is_count, line.split())):
        return None
    words = _words(line)
    first = next((index for index, word in enumerate(words) if is_count(word.text)), len(words))
    head, columns = " ".join(word.text for word in words[:first]), words[first:]
    return (head, columns) if counts_threads(head) and columns else None


def _split_names(line: str) -> tuple[str, tuple[Word, ...]] | None:
    """Names over columns stand to the right of a blank place or of a word that says what the rows are."""
    if line[:1].isspace():
        words = _words(line)
        return ("", words) if words else None
    first = line.partition(" ")[0].partition("\t")[0]
    if first.casefold() in _HEADS:
        words = _words(line)
        return (words[0].text, words[1:]) if len(words) > 1 else None
    return None


def _heads_grid(head: str, columns: Sequence[Word], lines: Sequence[str], index: int) -> bool:
    names = [column.text for column in columns]
    told = says_metric(head, lines[:index])
    if all(map(is_count, names)):
        return counts_threads(head) and (len(names) > 1 or told)
    first_row = next((_words(line) for line in lines[index + 1 :] if line.strip()), ())
    if len(first_row) < 2 or not is_cell(first_row[-1].text):
        return False
    fits = _Line(index, first_row).cells >= len(columns)
    return heads_grid(head, names, looks_sure=told and fits)


def _words(line: str) -> tuple[Word, ...]:
    found = re.finditer(r"\S+", line.expandtabs())
    return tuple(Word(match.group(), match.start(), match.end()) for match in found)
