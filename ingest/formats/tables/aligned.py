"""Tables of words and blanks, as people print them: a grid, or a row for each run or thread count.

User Threads  Txns/sec  User  System  Idle
           1       523     6       1    93
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ingest.formats.cells import is_cell
from ingest.formats.headings import is_count, product_and_version
from ingest.formats.report import FormatError
from ingest.formats.tables.columns import names_setting
from ingest.formats.tables.grids import heads_grid, says_metric
from ingest.formats.tables.heads import HINT, counts_threads, heads_of, heads_workloads, tell_runs
from ingest.formats.tables.layouts import ends_in_prose, is_title
from ingest.formats.tables.table import MAX_COLUMNS, Table, TableRow, counted

# A word is a match, which knows the columns of the screen that it covers.
Words = Sequence[re.Match[str]]
Split = Callable[[str], Sequence[str]]

_MAX_JOINED = 5
_BORDER = frozenset("-=+ \t")
# Numbers of their own, and words with a colon: what tools print as they run, and no names of columns.
_NO_HEAD = re.compile(r"(?<!\S)[0-9][0-9.,]*(?!\S)(?!\s+percentile)|\S:(?!\S)")
_FIRST_DIGITS, _THREE_DIGITS = re.compile(r"[0-9]{1,3}"), re.compile(r"[0-9]{3}(?:[.,][0-9]+)?")
_MAX_LINES_ABOVE = 10


def find_aligned(
    lines: Sequence[str], index: int, *, is_sure: bool = False
) -> "AlignedRows | AlignedGrid | None":
    """Return the table whose names stand on this line, or None; ``is_sure`` as for separated tables."""
    return (
        _find_rows(lines, index)
        or _find_wide_grid(lines, index, is_sure=is_sure)
        or _find_grid(lines, index, is_sure=is_sure)
    )


# --- a row for each run -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AlignedRows:
    """A table with a row for each run. ``split`` parts a line into its cells."""

    index: int
    names: tuple[str, ...]
    split: Split

    def table(self, lines: Sequence[str]) -> tuple[Table, int]:
        rows: list[TableRow] = []
        after_blank = False
        for number, text in enumerate(lines[self.index + 1 :], start=self.index + 2):
            cells = self.split(text)
            if not cells:
                after_blank = True
            elif _BORDER.issuperset(text):
                continue
            elif tuple(cells) == self.names or self._ends(lines, number - 1, cells, after_blank=after_blank):
                return self._table(rows), number - 1
            elif len(cells) == len(self.names):
                rows.append(TableRow(number, tuple(cells)))
            else:
                raise FormatError(
                    f"{counted(len(cells), 'cell')} under {counted(len(self.names), 'column')}", number
                )
        return self._table(rows), len(lines)

    def _ends(self, lines: Sequence[str], index: int, cells: Sequence[str], *, after_blank: bool) -> bool:
        if not after_blank:
            return ends_in_prose(lines, index, self._is_row)
        is_text = len(cells) != len(self.names) and sum(map(is_cell, lines[index].split())) < 2
        return is_text or find_aligned(lines, index) is not None

    def _is_row(self, line: str) -> bool:
        return len(self.split(line)) == len(self.names)

    def _table(self, rows: Sequence[TableRow]) -> Table:
        return Table(self.index + 1, self.names, tuple(rows))


def _find_rows(lines: Sequence[str], index: int) -> AlignedRows | None:
    line = lines[index]
    if not HINT.search(line) or _NO_HEAD.search(line):
        return None
    first_row = _first_row(lines, index)
    if not any(map(is_cell, first_row.split())):
        return None
    joined = _joined(line, len(first_row.split()))
    for names, split in ((_wide(line), _wide), (_wide(line), str.split), (joined, str.split)):
        cells = split(first_row)
        fits = 1 < len(names) <= MAX_COLUMNS and len(cells) == len(names)
        if (
            fits
            and tell_runs(names, may_name_rows=names_setting(names[0]))
            and _numbers_under_metrics(names, cells)
        ):
            return AlignedRows(index, tuple(names), split)
    return None


def _find_wide_grid(lines: Sequence[str], index: int, *, is_sure: bool) -> AlignedRows | None:
    """Return a grid whose names have blanks in them, and stand two blanks or more apart."""
    names = _wide(lines[index])
    if not 1 < len(names) <= MAX_COLUMNS or len(names) == len(lines[index].split()):
        return None
    first_row = _first_row(lines, index)
    for split in (_wide, str.split):
        cells = split(first_row)
        fits = len(cells) == len(names) and all(map(is_cell, cells[1:]))
        above = lines[max(0, index - _MAX_LINES_ABOVE) : index]
        if fits and heads_grid(names[0], names[1:], looks_sure=is_sure or says_metric(names[0], above)):
            return AlignedRows(index, tuple(names), split)
    return None


def _first_row(lines: Sequence[str], index: int) -> str:
    """Return the first line below that is neither blank nor drawn."""
    below = _below(lines, index)
    return next((row for row in below if row.strip() and not _BORDER.issuperset(row)), "")


def _below(lines: Sequence[str], index: int) -> Iterator[str]:
    """Yield the lines below one, without going over those above it for each of them."""
    return map(lines.__getitem__, range(index + 1, len(lines)))


def _numbers_under_metrics(names: Sequence[str], cells: Sequence[str]) -> bool:
    return all(
        is_cell(cell)
        for head, cell in zip(heads_of(names), cells, strict=True)
        if head.named or head.meaning == "threads"
    )


def _wide(line: str) -> list[str]:
    """Split where two blanks or more stand."""
    return [part for part in re.split(r"\s{2,}|\t", line.strip()) if part]


def _joined(line: str, width: int) -> list[str]:
    """Split into as many heads as the row below has cells; words that one head needs are put together.

    ``User Threads TPS 95th percentile (ms)`` are three heads where a row has three cells.
    """
    words = line.split()
    if len(words) <= width:
        return words
    heads: list[str] = []
    at = 0
    while at < len(words):
        for count in range(min(_MAX_JOINED, len(words) - at), 0, -1):
            head = " ".join(words[at : at + count])
            if count == 1 or _is_head(head):
                heads.append(head)
                at += count
                break
    return heads


def _is_head(text: str) -> bool:
    """Return whether several words are one head: a metric or a fact, and nothing beside it."""
    (head,) = heads_of([text])
    return head.meaning is not None or (head.named is not None and not head.named.of)


# --- grids ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AlignedGrid:
    """A grid: the words over its columns, and ``head`` over the names of its rows."""

    index: int
    head: str
    columns: Words

    @property
    def names(self) -> tuple[str, ...]:
        return (self.head, *_texts(self.columns))

    def table(self, lines: Sequence[str]) -> tuple[Table, int]:
        rows: list[tuple[int, Words]] = []
        after_blank = False
        stop = len(lines)
        for number, text in enumerate(lines[self.index + 1 :], start=self.index + 2):
            words = _words(text)
            if not words:
                after_blank = True
            elif after_blank and find_aligned(lines, number - 1):
                stop = number - 1
                break
            elif is_cell(words[-1][0]):
                rows.append((number, words))
            elif (
                is_title(text)
                or ends_in_prose(lines, number - 1, self._is_row)
                or (after_blank and sum(is_cell(word[0]) for word in words) < 2)
            ):
                stop = number - 1
                break
            else:
                raise FormatError(f"{words[-1][0][:40]!r} is not a number", number)
        _check_labels(self.columns, rows)
        width = len(self.columns)
        grid_rows = tuple(
            TableRow(number, (" ".join(_texts(words[:-width])), *_texts(words[-width:])))
            for number, words in rows
        )
        return Table(self.index + 1, self.names, grid_rows), stop

    def _is_row(self, line: str) -> bool:
        return _cells_at_end(_words(line)) >= len(self.columns)


def _check_labels(columns: Words, rows: Sequence[tuple[int, Words]]) -> None:
    """Raise FormatError for a row that lacks a cell or may lack one.

    Under two columns, is ``DO 1  19543`` the query ``DO 1`` with one value, or ``DO`` with two? The place
    of the cells tells. Where they do not stand under their columns, no name may end in a number.
    """
    width = len(columns)
    for number, words in rows:
        numbers = min(_cells_at_end(words), len(words) - 1)
        if numbers < width:
            raise FormatError(
                f"a name and {counted(numbers, 'number')} under {counted(width, 'column')}", number
            )
    misplaced = [number for number, words in rows if not _is_aligned(words, columns)]
    if misplaced and all(_may_part_thousands(words, width) for _, words in rows):
        raise FormatError(
            "do the blanks part thousands, or are these numbers of a name? Write the numbers without blanks, "
            "or send the table as CSV",
            misplaced[0],
        )
    # Where every name ends in as many numbers, none of them can be a value: there would be too many.
    counts = {min(_cells_at_end(words), len(words) - 1) for _, words in rows}
    if misplaced and len(counts) > 1 and max(counts) > width:
        raise FormatError(
            "the values do not stand under their columns; is one missing, or is a number part of a name? "
            "Put them under their columns, or send the table as CSV",
            misplaced[0],
        )


def _may_part_thousands(words: Words, width: int) -> bool:
    """Return whether each of the last numbers may be two groups of digits: ``19 543 22 104``."""
    groups = [word[0] for word in words[-2 * width :]]
    return (
        len(groups) == 2 * width
        and all(map(_FIRST_DIGITS.fullmatch, groups[::2]))
        and all(map(_THREE_DIGITS.fullmatch, groups[1::2]))
    )


def _is_aligned(words: Words, columns: Words) -> bool:
    label, cells = words[: -len(columns)], words[-len(columns) :]
    stand_under = all(_overlap(cell, column) for cell, column in zip(cells, columns, strict=True))
    return stand_under and not any(_overlap(word, column) for word in label for column in columns)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()


def _split_thread_counts(line: str) -> tuple[str, Words] | None:
    """Split ``Concurrent clients 4 8 16`` into a head and three columns."""
    if not any(map(is_count, line.split())):
        return None
    words = _words(line)
    first = next((index for index, word in enumerate(words) if is_count(word[0])), len(words))
    head, columns = " ".join(_texts(words[:first])), words[first:]
    return (head, columns) if counts_threads(head) and columns else None


def _split_names(line: str) -> tuple[str, Words] | None:
    """Split off names that stand to the right of a blank place or of a word that says what the rows are."""
    if line[:1].isspace():
        words = _words(line)
        return ("", words) if words else None
    first = line.partition(" ")[0].partition("\t")[0]
    if counts_threads(first) or heads_workloads(first):
        words = _words(line)
        return (words[0][0], words[1:]) if len(words) > 1 else None
    return None


def _split_versions(line: str, first_row: str) -> tuple[str, Words] | None:
    """Split a line of products with versions, over rows of a name and as many numbers.

    The blanks in front of it are lost where a table is copied; a word may stand over the names of the rows.
    """
    words, below = _words(line), _words(first_row)
    corner = words[0][0] if len(words) > 2 and not all(product_and_version(words[0][0])) else ""
    versions = words[1:] if corner else words
    are_versions = bool(versions) and all(all(product_and_version(word[0])) for word in versions)
    fits = len(below) > len(versions) and _cells_at_end(below) >= len(versions)
    return (corner, versions) if are_versions and fits else None


def _find_grid(lines: Sequence[str], index: int, *, is_sure: bool) -> AlignedGrid | None:
    first_row = next((row for row in _below(lines, index) if row.strip()), "")
    split = (
        _split_thread_counts(lines[index])
        or _split_names(lines[index])
        or _split_versions(lines[index], first_row)
    )
    if split and len(split[1]) <= MAX_COLUMNS and _heads_grid(*split, lines, index, is_sure=is_sure):
        return AlignedGrid(index, *split)
    return None


def _heads_grid(head: str, columns: Words, lines: Sequence[str], index: int, *, is_sure: bool) -> bool:
    names = _texts(columns)
    first_row = next((_words(line) for line in _below(lines, index) if line.strip()), ())
    are_counts = all(map(is_count, names))
    if not are_counts and (len(first_row) < 2 or not is_cell(first_row[-1][0])):
        return False
    names_metric = is_sure or says_metric(head, lines[max(0, index - _MAX_LINES_ABOVE) : index])
    if are_counts:
        # "Vuser 1" below rates is a line of a log where no row of numbers follows.
        is_column = names_metric and _cells_at_end(first_row) > 0
        return counts_threads(head) and (len(names) > 1 or is_column)
    return heads_grid(head, names, looks_sure=names_metric and _cells_at_end(first_row) >= len(columns))


def _cells_at_end(words: Words) -> int:
    """Count the numbers, or signs for no value, that a line ends in."""
    return len(list(takewhile(is_cell, reversed(_texts(words)))))


def _words(line: str) -> Words:
    return list(re.finditer(r"\S+", line.expandtabs()))


def _texts(words: Words) -> tuple[str, ...]:
    return tuple(word[0] for word in words)
