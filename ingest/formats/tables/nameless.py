"""Rows of names and numbers in a file that does not say what they are."""

from collections.abc import Sequence

from ingest.formats.cells import is_number, is_quantity
from ingest.formats.tables.layouts import SEPARATORS, separated_line
from ingest.formats.tables.table import TableRow


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
    for separator in SEPARATORS if len(written) == 2 else ():
        names, cells = (separated_line(line, separator) for line in written)
        are_names = len(names) > 2 and all(name[:1].isalpha() for name in names)
        if are_names and len(cells) == len(names) and any(map(is_quantity, cells)):
            return tuple(name for name, cell in zip(names, cells, strict=True) if is_quantity(cell))
    return ()


def _named_rows(lines: Sequence[str]) -> tuple[TableRow, ...]:
    first = next((line for line in lines if line.strip()), "")
    separator = "\t" if "\t" in first else ","
    if not _is_row(separated_line(first, separator)):
        return ()
    rows = [
        (number, separated_line(line, separator))
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    widths = {len(cells) if _is_row(cells) else 0 for _, cells in rows}
    if len(rows) < 2 or len(widths) > 1 or 0 in widths:
        return ()
    return tuple(TableRow(number, cells) for number, cells in rows)


def _is_row(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and cells[0][:1].isalpha() and all(map(is_number, cells[1:]))
