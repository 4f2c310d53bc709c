"""Tables whose cells are separated by commas, semicolons or tabs."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.formats.cells import is_cell, is_missing, is_number, is_quantity, separated_cells
from ingest.formats.tables.grids import heads_grid, says_metric
from ingest.formats.tables.heads import (
    counts_threads,
    heads_of,
    heads_workloads,
    is_of_another_format,
    is_of_time,
    tell_runs,
)
from ingest.formats.tables.layouts import ends_in_prose, is_title, trimmed
from ingest.formats.tables.table import MAX_COLUMNS, Table, TableRow, with_point

_SEPARATORS = (",", "\t", ";", "|")
_MAX_LINES_ABOVE = 10
_OPEN_DECLARATION = re.compile(r"[^\[\]]+\[[^\[\],;]{0,20}")
_MAX_WORDS_OF_A_NAME = 10


@dataclass(frozen=True, slots=True)
class SeparatedTable:
    """A table with one separator between its cells, the names of its columns on its first line."""

    index: int
    names: tuple[str, ...]
    separator: str

    def table(self, lines: Sequence[str]) -> tuple[Table, int]:
        rows: list[TableRow] = []
        stop = len(lines)
        below = lines[self.index + 1 :]
        after_blank = False
        for line, cells in self._cells_by_line(below):
            if line is None:
                after_blank = True
                continue
            is_text = len(cells) == 1 and (is_title(cells[0]) or after_blank or self.separator == "|")
            is_text = is_text or ends_in_prose(lines, line - 1, self._is_row)
            if is_text or cells == self.names or (after_blank and self._begins_another(lines, line - 1)):
                stop = line - 1
                break
            rows.append(TableRow(line, cells))
            after_blank = False
        names, fitting = trimmed(self.names, rows)
        unclear = self.separator == ";"
        return Table(self.index + 1, names, fitting, may_have_decimal_commas=unclear), stop

    def _is_row(self, line: str) -> bool:
        cells = _cells(line, self.separator)
        return len(cells) == len(self.names) and any(map(is_cell, cells))

    def _begins_another(self, lines: Sequence[str], index: int) -> bool:
        return find_separated(lines, index) is not None

    def _cells_by_line(self, below: Sequence[str]) -> Iterator[tuple[int | None, tuple[str, ...]]]:
        """Yield number and cells of each line; None for blank lines, lines of empty cells are left out."""
        number = self.index + 2
        last = number - 1
        for line, cells in separated_cells(below, self.separator, number, "the quotes do not fit together:"):
            if any(not text.strip() for text in below[last - number + 1 : line - number]):
                yield None, ()
            last = line
            yield line, cells


def find_separated(lines: Sequence[str], index: int, *, is_sure: bool = False) -> SeparatedTable | None:
    """Return the table whose names stand on this line, or None.

    ``is_sure`` says that the numbers need no name: the sender says what they are.
    """
    below = next((line for line in lines[index + 1 :] if line.strip()), "")
    # Beside tabs, a comma is one of a number or of a text: 1,024.
    for separator in ("\t",) if "\t" in below else _SEPARATORS:
        names = _cells(lines[index], separator)
        if not 1 < len(names) <= MAX_COLUMNS or not any(names):
            continue
        first_row = _cells(below, separator)
        if separator == ";":
            first_row = tuple(map(with_point, first_row))
        may_name_rows = separator != "|" and _numbers_follow(names, first_row)
        above = lines[max(0, index - _MAX_LINES_ABOVE) : index]
        heads_numbers = is_sure and separator != "|" and heads_of_numbers(names, first_row)
        if (
            tell_runs(names, may_name_rows=may_name_rows)
            or _heads_grid(names, first_row, above)
            or heads_numbers
        ):
            return SeparatedTable(index, names, separator)
    return None


def heads_of_numbers(names: Sequence[str], first_row: Sequence[str]) -> bool:
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


def rows_without_names(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the rows of a file in which every line is a name and several numbers."""
    rows = _named_rows(lines)
    return rows if rows and len(rows[0].cells) > 2 else ()


def rows_of_one_number(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the rows of a file in which every line is a name and one number."""
    rows = _named_rows(lines)
    return rows if rows and len(rows[0].cells) == 2 else ()


def rows_named_behind(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the lines of which each is numbers and a name behind them, where they are most of a file."""
    found = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if len(words) > 1 and words[-1][:1].isalpha() and all(map(is_number, words[:-1])):
            found.append(TableRow(number, (words[-1], *words[:-1])))
    written = sum(bool(line.strip()) for line in lines)
    return tuple(found) if len(found) > 1 and len(found) * 2 > written else ()


def names_of_numbers(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names over numbers on the first line of a file whose second line has as many cells."""
    written = [line for line in lines if line.strip()][:2]
    for separator in _SEPARATORS if len(written) == 2 else ():
        names, cells = (_cells(line, separator) for line in written)
        are_names = len(names) > 2 and all(name[:1].isalpha() for name in names)
        if are_names and len(cells) == len(names) and any(map(is_quantity, cells)):
            return tuple(name for name, cell in zip(names, cells, strict=True) if is_quantity(cell))
    return ()


def _named_rows(lines: Sequence[str]) -> tuple[TableRow, ...]:
    first = next((line for line in lines if line.strip()), "")
    separator = "\t" if "\t" in first else ","
    if not _is_row(_cells(first, separator)):
        return ()
    rows = [(number, _cells(line, separator)) for number, line in enumerate(lines, start=1) if line.strip()]
    widths = {len(cells) if _is_row(cells) else 0 for _, cells in rows}
    if len(rows) < 2 or len(widths) > 1 or 0 in widths:
        return ()
    return tuple(TableRow(number, cells) for number, cells in rows)


def _is_row(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and cells[0][:1].isalpha() and all(map(is_number, cells[1:]))


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


def _heads_grid(names: Sequence[str], first_row: Sequence[str], above: Sequence[str]) -> bool:
    head, *columns = names
    while columns and not columns[-1]:
        columns.pop()
    fits = len(first_row) >= len(columns) + 1 and all(map(is_cell, first_row[1 : len(columns) + 1]))
    return bool(columns) and heads_grid(head, columns, looks_sure=fits and says_metric(head, above))


def _cells(line: str, separator: str) -> tuple[str, ...]:
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
