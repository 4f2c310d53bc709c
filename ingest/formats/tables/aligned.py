"""Tables of words and blanks, as people print them: a grid, or a row for each run or thread count.

User Threads  Txns/sec  User  System  Idle
           1       523     6       1    93
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile

from ingest.formats.cells import is_cell
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.tables.grids import (
    THREAD_HEADS,
    WORKLOAD_HEADS,
    Grid,
    GridRow,
    Read,
    counted,
    counts_threads,
    heads_grid,
    is_count,
    numbered_texts,
    read_grid,
    refuse_relative,
    says_metric,
    second_table,
    title_fact,
)
from ingest.formats.tables.metric_words import mentions
from ingest.formats.tables.records import MAX_COLUMNS, Record, meaning_of, read_records, understand

# A word is a match, which knows the columns of the screen that it covers.
Words = Sequence[re.Match[str]]
Split = Callable[[str], Sequence[str]]

_HEADS = WORKLOAD_HEADS | THREAD_HEADS
_MAX_WORDS_OF_A_HEAD = 3


def find_aligned_records(lines: Sequence[str], most: int) -> Read | None:
    """Find a table with a row for each run, whose names stand on one of the first ``most`` lines."""
    for index, line in enumerate(lines[:most]):
        if len(line.split(maxsplit=1)) < 2:
            continue
        first_row = next((row for row in islice(lines, index + 1, None) if row.strip()), "")
        for names, split in ((_wide(line), _wide), (_wide(line), str.split), (_named(line), str.split)):
            cells = split(first_row)
            fits = 1 < len(names) <= MAX_COLUMNS and len(cells) == len(names)
            if fits and understand(names).tell_runs and _numbers_under_metrics(names, cells):
                return partial(_read_records, lines, index, tuple(names), split)
    return None


def find_aligned_grid(lines: Sequence[str], most: int) -> Read | None:
    """Find a grid whose names stand on one of the first ``most`` lines."""
    for index, line in enumerate(lines[:most]):
        split = _split_thread_counts(line) or _split_names(line)
        if split and len(split[1]) <= MAX_COLUMNS and _heads_grid(*split, lines, index):
            return partial(_read_grid, lines, index, *split)
    return None


# --- a row for each run -----------------------------------------------------------------------------------


def _read_records(lines: Sequence[str], index: int, names: tuple[str, ...], split: Split) -> ParsedReport:
    titles = numbered_texts(lines[:index])
    records: list[Record] = []
    after_blank = below_table = False
    for number, text in enumerate(lines[index + 1 :], start=index + 2):
        cells = split(text)
        if not cells:
            after_blank = True
        elif tuple(cells) == names or (below_table and len(cells) == len(names)):
            raise second_table(number)
        elif len(cells) == len(names):
            records.append(Record(number, dict(zip(names, cells, strict=True))))
        elif (after_blank or below_table) and sum(map(is_cell, text.split())) < 2:
            titles.append((number, text.strip()))
            below_table = True
        else:
            raise FormatError(f"{counted(len(cells), 'cell')} under {counted(len(names), 'column')}", number)
    refuse_relative(titles)
    return replace(read_records(understand(names), records, index + 1), facts=title_fact(titles))


def _numbers_under_metrics(names: Sequence[str], cells: Sequence[str]) -> bool:
    metrics = understand(names).metrics
    return all(
        is_cell(cell)
        for name, cell in zip(names, cells, strict=True)
        if name in metrics or meaning_of(name) == "threads"
    )


def _wide(line: str) -> list[str]:
    """Split where two blanks or more stand."""
    return [part for part in re.split(r"\s{2,}|\t", line.strip()) if part]


def _named(line: str) -> list[str]:
    """Split into words, with those before a word such as ``Threads`` put together: ``User Threads``."""
    words = line.split()
    for count in range(2, _MAX_WORDS_OF_A_HEAD + 1):
        head = " ".join(words[:count])
        if counts_threads(head) and meaning_of(head):
            return [head, *words[count:]]
    return words


# --- grids ------------------------------------------------------------------------------------------------


def _read_grid(lines: Sequence[str], index: int, head: str, columns: Words) -> ParsedReport:
    titles = numbered_texts(lines[:index])
    rows: list[tuple[int, Words]] = []
    below_table = after_blank = False
    for number, text in enumerate(lines[index + 1 :], start=index + 2):
        words = _words(text)
        if not words:
            after_blank = True
        elif is_cell(words[-1][0]):
            if below_table:
                raise second_table(number)
            rows.append((number, words))
        elif any(mentions(text)) or (after_blank and sum(is_cell(word[0]) for word in words) < 2):
            titles.append((number, text.strip()))
            below_table = True
        else:
            raise FormatError(f"{words[-1][0][:40]!r} is not a number", number)
    _check_labels(columns, rows)
    width = len(columns)
    grid_rows = tuple(
        GridRow(number, " ".join(_texts(words[:-width])), _texts(words[-width:])) for number, words in rows
    )
    return read_grid(Grid(index + 1, head, _texts(columns), grid_rows, tuple(titles)))


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
    if misplaced and any(_cells_at_end(words) > width and len(words) > width + 1 for _, words in rows):
        raise FormatError(
            "the values do not stand under their columns; is one missing, or is a number part of a name? "
            "Put them under their columns, or send the table as CSV",
            misplaced[0],
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
    if line.partition(" ")[0].partition("\t")[0].casefold() in _HEADS:
        words = _words(line)
        return (words[0][0], words[1:]) if len(words) > 1 else None
    return None


def _heads_grid(head: str, columns: Words, lines: Sequence[str], index: int) -> bool:
    names = _texts(columns)
    names_metric = says_metric(head, lines[:index])
    if all(map(is_count, names)):
        return counts_threads(head) and (len(names) > 1 or names_metric)
    first_row = next((_words(line) for line in lines[index + 1 :] if line.strip()), ())
    if len(first_row) < 2 or not is_cell(first_row[-1][0]):
        return False
    return heads_grid(head, names, looks_sure=names_metric and _cells_at_end(first_row) >= len(columns))


def _cells_at_end(words: Words) -> int:
    """Count the numbers, or signs for no value, that a line ends in."""
    return len(list(takewhile(is_cell, reversed(_texts(words)))))


def _words(line: str) -> Words:
    return list(re.finditer(r"\S+", line.expandtabs()))


def _texts(words: Words) -> tuple[str, ...]:
    return tuple(word[0] for word in words)
