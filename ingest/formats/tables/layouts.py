"""How a table is laid out in lines of text: what its first line is like, and where its rows end."""

from collections.abc import Sequence
from typing import Protocol

from ingest.formats.report import FormatError
from ingest.formats.tables.metric_words import names_metric
from ingest.formats.tables.table import Table, TableRow, counted


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
