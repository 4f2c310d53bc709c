"""Rows of names and numbers in a file that does not say what they are."""

from collections.abc import Sequence

from ingest.formats.cells import is_number, is_quantity
from ingest.formats.tables.layouts import SEPARATORS, separated_line
from ingest.formats.tables.table import TableRow


def rows_named_behind(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the lines of which each is numbers and a name behind them, where they are most of a file."""
    words = [(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]
    rows = [
        TableRow(number, (row[-1], *row[:-1]))
        for number, row in words
        if len(row) > 1 and row[-1][:1].isalpha() and all(map(is_number, row[:-1]))
    ]
    return tuple(rows) if 1 < len(rows) > len(words) / 2 else ()


def names_of_numbers(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names over numbers on the first line of a file whose second line has as many cells."""
    written = [line for line in lines if line.strip()][:2]
    for separator in SEPARATORS if len(written) == 2 else ():
        names, cells = (separated_line(line, separator) for line in written)
        are_names = len(names) > 2 and all(name[:1].isalpha() for name in names)
        if are_names and len(cells) == len(names) and any(map(is_quantity, cells)):
            return tuple(name for name, cell in zip(names, cells, strict=True) if is_quantity(cell))
    return ()


def rows_without_names(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the rows of a file in which every line is a name and as many numbers."""
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
