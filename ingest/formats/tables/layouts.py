"""Layouts of tables: how a line parts into cells, which line heads a table, and where the table ends.

Cells are parted by a sign (CSV, spreadsheets, browsers), by blanks, by their places under names, or by bars:

User Threads  Txns/sec  User  System  Idle
           1       523     6       1    93
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from benchdash.results.readings import HIGHER
from ingest.formats.cells import is_cell, is_missing, is_quantity, quantity
from ingest.formats.documents import DocumentBlock, table_cells
from ingest.formats.headings import is_count, product_and_version
from ingest.formats.report import FormatError
from ingest.formats.tables.columns import names_setting
from ingest.formats.tables.grids import heads_grid, metric_of_cells, says_metric
from ingest.formats.tables.table import (
    MAX_COLUMNS,
    Table,
    TableRow,
    counted,
    trimmed,
    with_plain_figures,
    with_point,
)
from ingest.formats.tables.vocabulary import (
    HINT,
    Metric,
    counts_threads,
    head_of,
    heads_of,
    heads_workloads,
    is_of_another_format,
    is_of_time,
    is_transposed,
    meaning_of,
    names_metric,
    tell_runs,
    time_factor,
)

# A word is a match, which knows the columns of the screen that it covers.
Words = Sequence[re.Match[str]]
Split = Callable[[str], Sequence[str]]

SEPARATORS = (",", "\t", ";", "|")
_BAR = "|"
# rss [MB, lower] is one cell, also where commas part cells.
_DECLARATION = re.compile(r"(\[[^\[\],;]{0,20})[,;] ?(higher|lower)(?=[ \]])", re.IGNORECASE)
_MAX_WORDS_OF_A_NAME = 10
_MAX_LINES_ABOVE = 10
_BORDER = frozenset("-=+ \t")
_DRAWN_BORDER = frozenset("+-|: =\t")
_FOOTER = re.compile(r"\(?([0-9]{1,9}) rows?(?:\)| in set\b.*)")
# Numbers of their own, and words with a colon: what tools print as they run, and no names of columns.
_NO_HEAD = re.compile(r"(?<!\S)[0-9][0-9.,]*(?!\S)(?!\s+percentile)|\S:(?!\S)")
# The prompt of a client, or the statement behind it.
_STATEMENT = re.compile(
    r"\s*(?:[\w./@-]{1,40}(?:[=#-][>#]|>)\s|(?:select|with|show)\s[^|]*\s(?:from|like)\s)", re.IGNORECASE
)
_SCAN_RATE = Metric("scan_rate", unit="rows/s, scaled", direction=HIGHER)
_SCAN = re.compile(r"scan(?:$|[._ ])", re.IGNORECASE)
_NAMED_COLUMN = re.compile(r"\s*(col-[0-9]{1,9})\s*:\s*(\S.*)", re.IGNORECASE)
_COLUMN_HEAD = re.compile(r"col-[0-9]{1,9}(?:\s+col-[0-9]{1,9})*\s*", re.IGNORECASE)

# --- is it a table of results? ------------------------------------------------------------------------------


def holds_results(
    names: Sequence[str],
    rows: Sequence[TableRow],
    titles: Sequence[str],
    *,
    is_sure: bool = False,
    may_name_rows: bool = True,
    may_be_grid: bool = True,
    may_be_transposed: bool = True,
) -> bool:
    """Return whether a table holds results: its names say so, or its cells or titles what the numbers are.

    ``is_sure`` says that numbers need no name, ``may_name_rows`` that a row may be named by its first cell,
    whatever the name over it.
    """
    names = _without_empty_end(names)
    if not 1 < len(names) <= MAX_COLUMNS or is_of_another_format(names):
        return False
    if may_be_transposed and is_transposed(names, [row.cells[0] for row in rows if row.cells]):
        return True
    if is_sure and may_be_grid and holds_numbers(names, rows):
        return True
    if tell_runs(names, may_name_rows=may_name_rows and not is_of_time(names[0])):
        return not rows or _has_figure_of_metric(names, rows)
    looks_sure = says_metric(names[0], titles) or metric_of_cells(names[0], rows) is not None
    return times_statistics(names, rows) or (
        may_be_grid and heads_grid(names[0], names[1:], looks_sure=looks_sure)
    )


def holds_numbers(names: Sequence[str], rows: Sequence[TableRow]) -> bool:
    """Return whether a table is one of names and numbers, whatever they are."""
    if not 1 < len(names) <= MAX_COLUMNS or is_of_another_format(names) or is_of_time(names[0]):
        return False
    has_names = not any(map(is_quantity, names[1:])) or counts_threads(names[0]) or heads_workloads(names[0])
    numbers = [str(cell) for row in rows for cell in row.cells[1 : len(names)] if not is_missing(str(cell))]
    are_settings = all(map(names_setting, names[1:]))
    return has_names and bool(numbers) and not are_settings and all(map(is_quantity, numbers))


def times_statistics(names: Sequence[str], rows: Sequence[TableRow]) -> bool:
    """Return whether statistics such as ``p95`` stand over times with units, and something before them."""
    if is_of_another_format(names):
        return False
    ranked = [index for index, head in enumerate(heads_of(names)) if index and head.statistic]
    cells = [row.cells[index] for index in ranked for row in rows if index < len(row.cells)]
    figures = [quantity(str(cell)) for cell in cells if not is_missing(str(cell))]
    return bool(figures) and all(one is not None and time_factor(one.unit) for one in figures)


def _has_figure_of_metric(names: Sequence[str], rows: Sequence[TableRow]) -> bool:
    """Return whether a number stands under a name of a metric or a value."""
    heads = heads_of(names)
    measured = [index for index, head in enumerate(heads) if head.named or head.is_declared]
    measured = measured or [index for index, head in enumerate(heads) if head.meaning == "value"]
    cells = [str(row.cells[index]) for row in rows for index in measured if index < len(row.cells)]
    return any(map(is_quantity, cells)) or (len(rows) == 1 and cells != [] and all(map(is_missing, cells)))


def is_statement(line: str) -> bool:
    """Return whether somebody typed a line for a client of a database, whose table follows."""
    return _STATEMENT.match(line) is not None


def _without_empty_end(names: Sequence[str]) -> Sequence[str]:
    width = len(names)
    while width and not names[width - 1]:
        width -= 1
    return names[:width]


# --- tables in text -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table in text whose first line is known.

    ``split`` parts a line into its cells, which stand between a ``separator`` or else between blanks.
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
        for number, line in enumerate(lines[self.index + 1 :], start=self.index + 2):
            try:
                cells = self.split(line)
            except csv.Error as error:
                raise FormatError(f"the quotes do not fit together: {error}", number) from None
            if not any(cells):
                after_blank = True
            elif self._ends(lines, number - 1, cells, after_blank=after_blank):
                return self._table(rows, lines), number - 1
            elif self.separator or not _BORDER.issuperset(lines[number - 1]):
                rows.append(TableRow(number, tuple(cells)))
                after_blank = False
        return self._table(rows, lines), len(lines)

    def _ends(self, lines: Sequence[str], index: int, cells: Sequence[str], *, after_blank: bool) -> bool:
        text = lines[index]
        if tuple(cells) == self.names or (after_blank and find_in_text(lines, index)):
            return True
        if self._is_row(text, cells):
            return False
        words = text.split()
        is_text = sum(map(is_cell, words)) < 2 and not is_cell(words[-1])
        may_end = after_blank or self.separator == _BAR or names_metric(text) or is_statement(text)
        return may_end and is_text and (len(cells) == 1 or not self.separator)

    def _is_row(self, line: str, cells: Sequence[str]) -> bool:
        if self.columns:
            return _cells_at_end(_words(line)) >= len(self.columns)
        return len(cells) == len(self.names) and (not self.separator or any(map(is_cell, cells)))

    def _table(self, rows: Sequence[TableRow], lines: Sequence[str]) -> Table:
        if self.columns:
            _check_labels(self.columns, [(row.line, _words(lines[row.line - 1])) for row in rows])
        has_semicolons = self.separator == ";"
        table = Table(self.index + 1, self.names, tuple(rows), may_have_decimal_commas=has_semicolons)
        return with_plain_figures(fitted(table))


def find_in_text(lines: Sequence[str], index: int, *, is_sure: bool = False) -> TextTable | None:
    """Return the table whose names stand on this line, or None.

    ``is_sure`` says that the numbers need no name: the sender says what they are.
    """
    line = lines[index]
    if not line.strip() or line.lstrip().startswith("+-"):
        return None
    above = lines[max(0, index - _MAX_LINES_ABOVE) : index]
    first_row = _first_row(lines, index)
    if not first_row and line.startswith("#"):
        return None  # a heading of a document, with a comma in it
    table = _find_rows(line, index, first_row, above, is_sure=is_sure) or _find_grid(
        line, index, first_row, above, is_sure=is_sure
    )
    return None if table is None or is_statement(line) else table


def _first_row(lines: Sequence[str], index: int) -> str:
    """Return the first line below that is neither blank nor drawn, without going over those above it."""
    below = map(lines.__getitem__, range(index + 1, len(lines)))
    return next((row for row in below if row.strip() and not _BORDER.issuperset(row)), "")


def _are_names(names: Sequence[str]) -> bool:
    return not any(
        len(name.split()) > _MAX_WORDS_OF_A_NAME or ": " in name or is_quantity(name) for name in names
    )


# --- as many cells as names ---------------------------------------------------------------------------------


def _find_rows(
    line: str, index: int, first_row: str, above: Sequence[str], *, is_sure: bool
) -> TextTable | None:
    """Return a table whose first row has a cell for each name, between separators or blanks."""
    words, wide = first_row.split(), _wide(line)
    has_hint = HINT.search(line) and not _NO_HEAD.search(line) and any(map(is_cell, words))
    for separator, names, split in _splits(line, first_row, wide):
        cells = separated_line(first_row, separator) if separator else split(first_row)
        cells = tuple(map(with_point, cells)) if separator == ";" else tuple(cells)
        width = len(_without_empty_end(names))
        fits = len(cells) >= width and not any(cells[width:])
        are_numbers = all(map(is_cell, cells[1:width]))
        is_row = len(cells) == len(names) if separator in ("", _BAR) else fits
        if separator:
            may_have_runs = may_be_grid = True
        else:
            may_have_runs = bool(has_hint) and is_row
            may_be_grid = is_row and names is wide and len(wide) != len(line.split()) and are_numbers
        may_name_rows = is_row and may_have_runs and (bool(separator) or names_setting(names[0]))
        if (may_have_runs or may_be_grid) and holds_results(
            names,
            [TableRow(0, cells[:width])] if fits else [],
            above if fits and are_numbers else (),
            is_sure=is_sure and is_row,
            may_name_rows=may_name_rows and _are_names(names),
            may_be_grid=may_be_grid,
            may_be_transposed=may_name_rows and meaning_of(names[0]) == "metric",
        ):
            return TextTable(index, tuple(names), split, separator)
    return None


def _splits(line: str, first_row: str, wide: Sequence[str]) -> Iterator[tuple[str, Sequence[str], Split]]:
    """Yield the ways in which a line and the row below it may part into cells: separator, names, split."""
    # Beside tabs, a comma is one of a number or of a text: 1,024.
    for separator in ("\t",) if "\t" in first_row else SEPARATORS:
        if any(names := separated_line(line, separator)):
            yield separator, names, partial(_separated, separator)
    yield "", wide, _wide
    yield "", wide, str.split
    yield "", line.split(), str.split


def separated_line(line: str, separator: str) -> tuple[str, ...]:
    """Return the cells of one line; none where it has no separator, or its quotes do not fit together."""
    try:
        return _separated(separator, line) if separator in line else ()
    except csv.Error:
        return ()


def _separated(separator: str, line: str) -> tuple[str, ...]:
    """Return the cells of one line. Raise csv.Error where its quotes do not fit together."""
    if separator == _BAR:
        inner = line.strip().removeprefix(_BAR).removesuffix(_BAR)
        return tuple(cell.strip() for cell in inner.split(_BAR))
    declared = _DECLARATION.sub(r"\1 \2", line) if "[" in line else line
    reader = csv.reader([declared], delimiter=separator, strict=True, skipinitialspace=True)
    return tuple(cell.strip() for cell in next(reader, ()))


def _wide(line: str) -> list[str]:
    """Split where two blanks or more stand."""
    return [part for part in re.split(r"\s{2,}|\t", line.strip()) if part]


# --- names over a grid of numbers ---------------------------------------------------------------------------


def _find_grid(
    line: str, index: int, first_row: str, above: Sequence[str], *, is_sure: bool
) -> TextTable | None:
    """Return a table of which each row is a name, with blanks in it or none, and a number for each column."""
    words, below = _words(line), _words(first_row)
    corner = _words_of_corner(line, _texts(words), _texts(below))
    if corner is None or not 0 < len(words) - corner <= MAX_COLUMNS:
        return None
    head, columns = " ".join(_texts(words[:corner])), words[corner:]
    names, numbers = _texts(columns), _cells_at_end(below)
    looks_sure = numbers > 0 and (is_sure or says_metric(head, above))
    if all(map(is_count, names)):
        # "Vuser 1" below rates is a line of a log where no row of numbers follows.
        heads_numbers = (counts_threads(head) and (len(names) > 1 or looks_sure)) or (
            looks_sure and heads_grid(head, names, looks_sure=True)
        )
    else:
        fits = looks_sure and numbers >= len(names)
        heads_numbers = numbers > 0 and len(below) > 1 and heads_grid(head, names, looks_sure=fits)
    split = partial(_label_and_cells, len(columns))
    return TextTable(index, (head, *names), split, "", columns) if heads_numbers else None


def _words_of_corner(line: str, words: Sequence[str], below: Sequence[str]) -> int | None:
    """Return how many words at the start of a line say what the rows are; None for no head of a grid.

    None is needed before products with versions: the blanks in front are lost where a table is copied.
    """
    first_count = next((at for at, word in enumerate(words) if is_count(word)), 0)
    if first_count and head_of(" ".join(words[:first_count])).meaning in {"threads", "version", "product"}:
        return first_count
    if line[:1].isspace():
        return 0
    if counts_threads(words[0]) or heads_workloads(words[0]):
        return 1
    corner = 1 if len(words) > 2 and not all(product_and_version(words[0])) else 0
    versions = words[corner:]
    fits = len(below) > len(versions) and all(map(is_cell, below[-len(versions) :]))
    return corner if fits and all(all(product_and_version(word)) for word in versions) else None


def _label_and_cells(width: int, line: str) -> tuple[str, ...]:
    words = line.split()
    return (" ".join(words[:-width]), *words[-width:]) if words else ()


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
    # If every name ends in as many numbers, none of them can be a value: there would be too many.
    counts = {min(_cells_at_end(words), len(words) - 1) for _, words in rows}
    may_part_thousands = all(_may_part_thousands(words, width) for _, words in rows)
    if misplaced and (may_part_thousands or (len(counts) > 1 and max(counts) > width)):
        raise FormatError(
            "the values do not stand under their columns; is one missing, is a number part of a name, or do "
            "blanks part thousands? Put them under their columns, or send the table as CSV",
            misplaced[0],
        )


def _may_part_thousands(words: Words, width: int) -> bool:
    """Return whether each of the last numbers may be two groups of digits: ``19 543 22 104``."""
    groups = " ".join(_texts(words[-2 * width :]))
    return re.fullmatch(rf"(?:[0-9]{{1,3}} [0-9]{{3}}(?:[.,][0-9]+)? ?){{{width}}}", groups) is not None


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


# --- drawn tables -------------------------------------------------------------------------------------------


def drawn_table(block: DocumentBlock, lines: Sequence[str]) -> Table:
    """Return the table of a block of a document, of which ``lines`` are all, as it is drawn.

    It is published where it is Markdown, and not where a client drew it.
    """
    numbered = enumerate(block.lines, start=block.line)
    drawn = [(number, line) for number, line in numbered if _BAR in line and not is_border(line)]
    has_sides = not drawn or any(line.lstrip().startswith(_BAR) for line in block.lines[:2])
    cells = [(number, table_cells(line, has_sides=has_sides)) for number, line in drawn]
    cells = [(number, tuple(cell.strip(" *\t") for cell in row)) for number, row in cells]
    names = tuple(name.rstrip(" :：") for name in cells[0][1]) if cells else ()
    rows = tuple(TableRow(number, row) for number, row in cells[1:] if any(row))
    above = lines[block.line - 2] if block.line > 1 else ""
    is_published = has_sides and not any(map(_is_corner, (above, *block.lines)))
    return with_plain_figures(Table(block.line, names, rows, is_published=is_published))


def fitted(table: Table) -> Table:
    """Return a table with a cell in each row for each name.

    Raise FormatError for a row that does not fit.
    """
    rows = [_padded(row, len(table.names)) for row in table.rows] if table.is_published else table.rows
    names, fitting = trimmed(table.names, rows)
    return replace(table, names=names, rows=fitting)


def _padded(row: TableRow, width: int) -> TableRow:
    """Return a row with the empty cells that a reader of Markdown sees behind its last one."""
    lacking = width - len(row.cells)
    return replace(row, cells=(*row.cells, *[""] * lacking)) if lacking > 0 and len(row.cells) > 1 else row


def is_border(line: str) -> bool:
    return "-" in line and _DRAWN_BORDER.issuperset(line)


def is_footer(text: str) -> bool:
    """Return whether a client says how many rows it wrote."""
    return _FOOTER.fullmatch(text.strip()) is not None


def _is_corner(line: str) -> bool:
    return line.strip().startswith("+-") and is_border(line)


# --- a block that names the columns, with the name of each row behind its numbers ---------------------------


def column_block(lines: Sequence[str]) -> Sequence[Table]:
    """Return the tables of a file whose columns are named in a block above; none of any other file.

        col-1 : x.my8043_rel.c8r32
        col-2 : x.my8044_rel.c8r32

        col-1	col-2
        2870	3013	hot-points_range=100

    The scripts that write it write queries per second. For scans they write rows per second instead, in
    thousands or in millions, and do not say which: these are a table of their own. Raise FormatError where
    the block names other columns.
    """
    if not any(map(_NAMED_COLUMN.fullmatch, lines[:_MAX_LINES_ABOVE])):
        return ()
    head = next((at for at, line in enumerate(lines) if _COLUMN_HEAD.fullmatch(line)), len(lines))
    above = [(number, line.strip()) for number, line in enumerate(lines[:head], start=1) if line.strip()]
    named = [found for _, line in above if (found := _NAMED_COLUMN.fullmatch(line))]
    meanings = {found[1].casefold(): " ".join(found[2].split()) for found in named}
    columns = lines[head].casefold().split() if head < len(lines) else []
    if sorted(meanings) != sorted(columns):
        above_all = ", ".join(meanings)[:80]
        raise FormatError(f"a block names {above_all}, and no line of the same names stands below it", 1)
    separator = "\t" if "\t" in lines[head].strip() else None
    rows = []
    for number, text in enumerate(lines[head + 1 :], start=head + 2):
        if text.strip():
            *cells, label = (cell.strip() for cell in text.split(separator, maxsplit=len(columns)))
            rows.append(TableRow(number, (" ".join(label.split()), *cells)))
    names, fitting = trimmed(("", *(meanings[column] for column in columns)), rows)
    titles = tuple((number, line) for number, line in above if not _NAMED_COLUMN.fullmatch(line))
    scans = tuple(row for row in fitting if _SCAN.match(str(row.cells[0])))
    queries = tuple(row for row in fitting if row not in scans)
    table = Table(head + 1, names, queries, titles, metric=Metric("qps"))
    of_scans = [replace(table, rows=scans, metric=_SCAN_RATE)] if scans else []
    return [table, *of_scans] if queries or not scans else of_scans
