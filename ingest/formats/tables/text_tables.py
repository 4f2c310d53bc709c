"""Tables in text that is not drawn: cells parted by a sign, by blanks, or by their places under names.

User Threads  Txns/sec  User  System  Idle
           1       523     6       1    93
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from ingest.formats.cells import is_cell, is_missing, is_quantity, separated_cells
from ingest.formats.headings import is_count, product_and_version
from ingest.formats.report import FormatError
from ingest.formats.tables.columns import names_setting
from ingest.formats.tables.grids import heads_grid, says_metric
from ingest.formats.tables.heads import (
    HINT,
    counts_threads,
    heads_of,
    heads_workloads,
    is_of_another_format,
    is_of_time,
    tell_runs,
)
from ingest.formats.tables.metric_words import names_metric
from ingest.formats.tables.table import (
    MAX_COLUMNS,
    Table,
    TableRow,
    counted,
    trimmed,
    with_plain_figures,
    with_point,
)

# A word is a match, which knows the columns of the screen that it covers.
Words = Sequence[re.Match[str]]
Split = Callable[[str], Sequence[str]]

SEPARATORS = (",", "\t", ";", "|")
_OPEN_DECLARATION = re.compile(r"[^\[\]]+\[[^\[\],;]{0,20}")
_MAX_WORDS_OF_A_NAME = 10
_MAX_JOINED = 5
_MAX_LINES_ABOVE = 10
_BORDER = frozenset("-=+ \t")
# Numbers of their own, and words with a colon: what tools print as they run, and no names of columns.
_NO_HEAD = re.compile(r"(?<!\S)[0-9][0-9.,]*(?!\S)(?!\s+percentile)|\S:(?!\S)")
_FIRST_DIGITS, _THREE_DIGITS = re.compile(r"[0-9]{1,3}"), re.compile(r"[0-9]{3}(?:[.,][0-9]+)?")
_MIN_WORDS, _MIN_WORDS_WITHOUT_END = 4, 9
_SENTENCE_END = re.compile(r"[.:!?…。][)\]\"'’”]*")
_FOOTNOTE = re.compile(r"\s*(?:[*†‡§]+|\[[0-9a-z]\]|[¹²³])\s*[^\W\d].*")


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table in text whose first line is known.

    ``split`` parts a line into its cells; with a ``separator`` a cell in quotes may hold several lines.
    ``columns`` are the places of the names over a grid.
    """

    index: int
    names: tuple[str, ...]
    split: Split
    separator: str = ""
    columns: Words = ()

    def table(self, lines: Sequence[str]) -> tuple[Table, int]:
        """Return the table without titles, and the index of the first line behind it.

        Raise FormatError for a row that lacks a cell or has one too many.
        """
        rows: list[TableRow] = []
        after_blank = False
        for number, cells in self._cells_by_line(lines):
            if not cells:
                after_blank = True
            elif self._ends(lines, number - 1, cells, after_blank=after_blank):
                return self._table(rows, lines), number - 1
            elif self.separator or not _BORDER.issuperset(lines[number - 1]):
                rows.append(TableRow(number, tuple(cells)))
                after_blank = False
        return self._table(rows, lines), len(lines)

    def _cells_by_line(self, lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield number and cells of each line below the names; no cells for blank lines."""
        first, below = self.index + 2, lines[self.index + 1 :]
        if not self.separator:
            yield from ((number, self.split(line)) for number, line in enumerate(below, start=first))
            return
        last = first - 1
        for number, cells in separated_cells(below, self.separator, first, "the quotes do not fit together:"):
            if any(not text.strip() for text in below[last - first + 1 : number - first]):
                yield number, ()
            last = number
            yield number, cells

    def _ends(self, lines: Sequence[str], index: int, cells: Sequence[str], *, after_blank: bool) -> bool:
        text = lines[index]
        if tuple(cells) == self.names or (after_blank and find_in_text(lines, index)):
            return True
        if self._is_row(text):
            return False
        words = text.split()
        is_text = sum(map(is_cell, words)) < 2 and not is_cell(words[-1])
        may_end = after_blank or self.separator == "|" or names_metric(text)
        if may_end and is_text and (len(cells) == 1 or not self.separator):
            return True
        return _ends_in_prose(lines, index, self._is_row)

    def _is_row(self, line: str) -> bool:
        if self.columns:
            return _cells_at_end(_words(line)) >= len(self.columns)
        cells = self.split(line)
        return len(cells) == len(self.names) and (not self.separator or any(map(is_cell, cells)))

    def _table(self, rows: Sequence[TableRow], lines: Sequence[str]) -> Table:
        if self.columns:
            _check_labels(self.columns, [(row.line, _words(lines[row.line - 1])) for row in rows])
        names, fitting = trimmed(self.names, rows)
        has_semicolons = self.separator == ";"
        table = Table(self.index + 1, names, fitting, may_have_decimal_commas=has_semicolons)
        return with_plain_figures(table)


def find_in_text(lines: Sequence[str], index: int, *, is_sure: bool = False) -> TextTable | None:
    """Return the table whose names stand on this line, or None.

    ``is_sure`` says that the numbers need no name: the sender says what they are.
    """
    if not lines[index].strip() or lines[index].lstrip().startswith(("|", "+-")):
        return None
    above = lines[max(0, index - _MAX_LINES_ABOVE) : index]
    return (
        _find_separated(lines, index, above, is_sure=is_sure)
        or _find_rows(lines, index, above, is_sure=is_sure)
        or _find_grid(lines, index, above, is_sure=is_sure)
    )


def _ends_in_prose(lines: Sequence[str], index: int, is_row: Callable[[str], bool]) -> bool:
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


# --- cells parted by a sign -------------------------------------------------------------------------------


def _find_separated(
    lines: Sequence[str], index: int, above: Sequence[str], *, is_sure: bool
) -> TextTable | None:
    below = next((line for line in lines[index + 1 :] if line.strip()), "")
    # Beside tabs, a comma is one of a number or of a text: 1,024.
    for separator in ("\t",) if "\t" in below else SEPARATORS:
        names = separated_line(lines[index], separator)
        if not 1 < len(names) <= MAX_COLUMNS or not any(names):
            continue
        first_row = separated_line(below, separator)
        if separator == ";":
            first_row = tuple(map(with_point, first_row))
        may_name_rows = separator != "|" and _numbers_follow(names, first_row)
        heads_numbers = is_sure and separator != "|" and _heads_of_numbers(names, first_row)
        if (
            tell_runs(names, may_name_rows=may_name_rows)
            or _heads_separated_grid(names, first_row, above)
            or heads_numbers
        ):
            return TextTable(index, names, partial(separated_line, separator=separator), separator)
    return None


def _heads_of_numbers(names: Sequence[str], first_row: Sequence[str]) -> bool:
    """Return whether a name and numbers follow under names that are no numbers, or are thread counts."""
    names = list(names)
    while names and not names[-1]:
        names.pop()
    fits = len(names) > 1 and len(first_row) >= len(names) and not any(first_row[len(names) :])
    if not fits or is_of_another_format(names) or is_of_time(names[0]) or not first_row[0]:
        return False
    are_names = not any(map(is_quantity, names[1:])) or counts_threads(names[0]) or heads_workloads(names[0])
    cells = first_row[1 : len(names)]
    return (
        are_names
        and any(map(is_quantity, cells))
        and all(is_quantity(one) or is_missing(one) for one in cells)
    )


def _numbers_follow(names: Sequence[str], first_row: Sequence[str]) -> bool:
    """Return whether numbers stand under all names of metrics, and the names are names."""
    names = tuple(names)
    while names and not names[-1]:
        names = names[:-1]
    if len(first_row) < len(names) or any(first_row[len(names) :]) or any(map(is_of_time, names[:1])):
        return False
    under = zip(heads_of(names), first_row, strict=False)
    return not any(
        len(name.split()) > _MAX_WORDS_OF_A_NAME or ": " in name or is_quantity(name) for name in names
    ) and all(is_quantity(cell) or is_missing(cell) for head, cell in under if head.named)


def _heads_separated_grid(names: Sequence[str], first_row: Sequence[str], above: Sequence[str]) -> bool:
    head, *columns = names
    while columns and not columns[-1]:
        columns.pop()
    fits = len(first_row) >= len(columns) + 1 and all(map(is_cell, first_row[1 : len(columns) + 1]))
    return bool(columns) and heads_grid(head, columns, looks_sure=fits and says_metric(head, above))


def separated_line(line: str, separator: str) -> tuple[str, ...]:
    """Return the cells of one line; none where its quotes do not fit together."""
    if separator not in line:
        return ()
    try:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error:
        return ()
    return tuple(_with_declarations(cells, separator))


def _with_declarations(cells: Sequence[str], separator: str) -> Iterator[str]:
    """Yield the cells, those of a declaration put together that its own comma parts: ``rss [MB, lower]``."""
    held = ""
    for cell in cells:
        whole = f"{held}{separator} {cell}" if held else cell
        is_open = _OPEN_DECLARATION.fullmatch(whole) is not None
        if held and not is_open and not whole.endswith("]"):
            yield held
            whole = cell
        held = whole if is_open else ""
        if not is_open:
            yield whole
    if held:
        yield held


# --- cells parted by blanks -------------------------------------------------------------------------------


def _find_rows(lines: Sequence[str], index: int, above: Sequence[str], *, is_sure: bool) -> TextTable | None:
    """Return a table with blanks between as many cells as names, whose names may have blanks in them."""
    line, first_row = lines[index], _first_row(lines, index)
    words = first_row.split()
    may_have_runs = HINT.search(line) and not _NO_HEAD.search(line) and any(map(is_cell, words))
    wide = _wide(line)
    has_wide_names = len(wide) != len(line.split())
    for names, split in ((wide, _wide), (wide, str.split), (_joined(line, len(words)), str.split)):
        cells = split(first_row)
        if not 1 < len(names) <= MAX_COLUMNS or len(cells) != len(names):
            continue
        has_runs = (
            may_have_runs
            and tell_runs(names, may_name_rows=names_setting(names[0]))
            and _numbers_under_metrics(names, cells)
        )
        may_be_grid = has_wide_names and names is wide and all(map(is_cell, cells[1:]))
        looks_sure = is_sure or says_metric(names[0], above)
        if has_runs or (may_be_grid and heads_grid(names[0], names[1:], looks_sure=looks_sure)):
            return TextTable(index, tuple(names), split)
    return None


def _first_row(lines: Sequence[str], index: int) -> str:
    """Return the first line below that is neither blank nor drawn, without going over those above it."""
    below = map(lines.__getitem__, range(index + 1, len(lines)))
    return next((row for row in below if row.strip() and not _BORDER.issuperset(row)), "")


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


# --- names over a grid of numbers -------------------------------------------------------------------------


def _find_grid(lines: Sequence[str], index: int, above: Sequence[str], *, is_sure: bool) -> TextTable | None:
    first_row = _words(_first_row(lines, index))
    named = (
        _split_thread_counts(lines[index])
        or _split_names(lines[index])
        or _split_versions(lines[index], first_row)
    )
    if named is None or len(named[1]) > MAX_COLUMNS:
        return None
    head, columns = named
    says_rate = is_sure or says_metric(head, above)
    if not _heads_grid(head, _texts(columns), first_row, names_metric=says_rate):
        return None
    return TextTable(index, (head, *_texts(columns)), partial(_label_and_cells, len(columns)), "", columns)


def _label_and_cells(width: int, line: str) -> tuple[str, ...]:
    words = line.split()
    return (" ".join(words[:-width]), *words[-width:]) if words else ()


def _heads_grid(head: str, names: Sequence[str], first_row: Words, *, names_metric: bool) -> bool:
    are_counts = all(map(is_count, names))
    if not are_counts and (len(first_row) < 2 or not is_cell(first_row[-1][0])):
        return False
    if are_counts:
        # "Vuser 1" below rates is a line of a log where no row of numbers follows.
        is_column = names_metric and _cells_at_end(first_row) > 0
        return counts_threads(head) and (len(names) > 1 or is_column)
    return heads_grid(head, names, looks_sure=names_metric and _cells_at_end(first_row) >= len(names))


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


def _split_versions(line: str, below: Words) -> tuple[str, Words] | None:
    """Split a line of products with versions, over rows of a name and as many numbers.

    The blanks in front of it are lost where a table is copied; a word may stand over the names of the rows.
    """
    words = _words(line)
    corner = words[0][0] if len(words) > 2 and not all(product_and_version(words[0][0])) else ""
    versions = words[1:] if corner else words
    are_versions = bool(versions) and all(all(product_and_version(word[0])) for word in versions)
    fits = len(below) > len(versions) and _cells_at_end(below) >= len(versions)
    return (corner, versions) if are_versions and fits else None


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


def _cells_at_end(words: Words) -> int:
    """Count the numbers, or signs for no value, that a line ends in."""
    return len(list(takewhile(is_cell, reversed(_texts(words)))))


def _words(line: str) -> Words:
    return list(re.finditer(r"\S+", line.expandtabs()))


def _texts(words: Words) -> tuple[str, ...]:
    return tuple(word[0] for word in words)
