"""A table as it was found in a file: names over columns, rows, and the text around it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ingest.formats.cells import is_missing
from ingest.formats.headings import thread_count
from ingest.formats.report import Fact, FormatError
from ingest.formats.tables.metric_words import Metric

Cell = str | int | float | None

# A line with more names than this heads no table of measurements.
MAX_COLUMNS = 1_000


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of one line. Numbers of text are still text; an empty cell is empty or None."""

    line: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """``titles`` are the lines around the table, with their numbers; every row has a cell for each name.

    ``headings`` are what it stands under in a document, the innermost first. ``metric`` is what the layout
    itself says that the numbers are; a title knows better. ``is_published`` is true of a table in a document
    that people wrote: a cell of it that is no number is left out, where a script's file would be refused.
    ``may_have_decimal_commas`` is true of cells between semicolons, as countries with such commas write them.
    """

    line: int
    names: tuple[str, ...]
    rows: tuple[TableRow, ...]
    titles: tuple[tuple[int, str], ...] = ()
    headings: tuple[str, ...] = ()
    metric: Metric | None = None
    is_published: bool = False
    may_have_decimal_commas: bool = False

    def cells_of(self, index: int) -> list[Cell]:
        """Return the cells of a column that hold something."""
        return [row.cells[index] for row in self.rows if not is_empty(row.cells[index])]


def transposed(table: Table) -> Table:
    """Return the table with its rows for columns; the names over its columns are products or thread counts.

    Every row has the line of the names, since it stands in all of them.
    """
    are_counts = all(map(thread_count, table.names[1:]))
    names = ("threads" if are_counts else "product", *(str(row.cells[0]) for row in table.rows))
    rows = tuple(
        TableRow(
            table.line,
            (str(thread_count(name)) if are_counts else name, *(row.cells[index] for row in table.rows)),
        )
        for index, name in enumerate(table.names[1:], start=1)
    )
    return replace(table, names=names, rows=rows)


def is_empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and is_missing(cell))


def refuse_copies(rows: Iterable[tuple[int, object]]) -> None:
    """Raise FormatError where a line says exactly what another says: a copy would be counted twice."""
    seen: dict[object, int] = {}
    for line, content in rows:
        if content in seen:
            raise FormatError(f"the same as line {seen[content]}; a copy is not a second measurement", line)
        seen[content] = line


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def title_fact(titles: Iterable[tuple[int, str]]) -> dict[str, Fact]:
    """Return the text around a table as a fact of its runs."""
    title = " ".join(text.strip() for _, text in titles)
    return {"title": title} if title else {}
