"""A table as it was found in a file: names over columns, rows, and the text around it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.formats.cells import is_missing
from ingest.formats.headings import said_by, thread_count
from ingest.formats.outputs import bounded
from ingest.formats.report import Fact, FormatError
from ingest.formats.tables.vocabulary import Metric, meaning_of

Cell = str | int | float | None

# A line with more names than this heads no table of measurements.
MAX_COLUMNS = 1_000
# With points or blanks between thousands, and a unit.
_FIGURE_WITH_COMMA = re.compile(
    r"\s*(?:[0-9][0-9.]*,[0-9]+|[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+,[0-9]+|[0-9]+\.[0-9]+)"
    r"(?:\s?[A-Za-zµ%/]{1,12})?\s*"
)
# Three digits may be thousands; two are parts.
_DECIMAL_COMMA = re.compile(
    r"\s*[0-9]{1,9}(?:[. \u00a0\u202f][0-9]{3})*,(?![0-9]{3}(?![0-9]))[0-9]+(?![0-9.,])"
)
_NAMING = frozenset({"version", "product", "server", "build", "configuration", "workload"})
_SUMMARY = re.compile(
    r"(?:(?:grand |sub-?)?total|sum|average|avg\.?|(?:geo(?:metric)?[ .-]*)?mean|geo\.|平均|合计|总计)"
    r"(?: *[(:].*)?",
    re.IGNORECASE,
)
_NUMBERED_QUERY = re.compile(r"Q(?:uery)?[ .#]?[0-9]+[a-z]?", re.IGNORECASE)
_VALUES = frozenset({"value", "values", "result", "results", "数值", "结果", "值"})


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
    ``warnings`` tell of what was changed in its cells.
    """

    line: int
    names: tuple[str, ...]
    rows: tuple[TableRow, ...]
    titles: tuple[tuple[int, str], ...] = ()
    headings: tuple[str, ...] = ()
    metric: Metric | None = None
    is_published: bool = False
    may_have_decimal_commas: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def lines(self) -> Iterable[int]:
        return (self.line, *(row.line for row in self.rows))

    def cells_of(self, index: int) -> list[Cell]:
        """Return the cells of a column that hold something."""
        return [row.cells[index] for row in self.rows if not is_empty(row.cells[index])]


def with_plain_figures(table: Table) -> Table:
    """Return the table with points for decimal commas.

    Decimal commas are certain where no number has a point and none may have commas between its thousands.
    """
    rows, warnings = table.rows, table.warnings
    # The first column names the rows, and 10.11 under 'Version' is no figure.
    places = {at for at, name in enumerate(table.names) if at and meaning_of(name) not in _NAMING}
    numbers = [
        (row.line, str(cell).strip())
        for row in rows
        for at, cell in enumerate(row.cells)
        if at in places and _is_figure_with_comma(cell)
    ]
    if numbers and all(_DECIMAL_COMMA.match(cell) for _, cell in numbers):
        line, first = numbers[0]
        rows = tuple(
            replace(
                row,
                cells=tuple(
                    with_point(str(cell)) if cell and at in places else cell
                    for at, cell in enumerate(row.cells)
                ),
            )
            for row in rows
        )
        warning = f"the commas in numbers such as {first} (line {line}) are taken for decimal ones"
        warnings = (*warnings, warning)
    return replace(table, rows=rows, warnings=warnings)


def without_summaries(table: Table) -> tuple[Table, Sequence[str]]:
    """Return the table without rows whose name says that they are computed from others, and warnings."""
    metrics = {at for at, name in enumerate(table.names) if meaning_of(name) == "metric"}
    summaries = [
        row
        for row in table.rows
        if any(_SUMMARY.fullmatch(str(cell)) for at, cell in enumerate(row.cells) if at not in metrics)
    ]
    others = [str(row.cells[0]) for row in table.rows if row not in summaries]
    if all(map(_NUMBERED_QUERY.fullmatch, others)):
        # The total is the time of a batch.
        summaries = [row for row in summaries if str(row.cells[0]).casefold() != "total"]
    if not others:
        return table, ()
    lines = ((row.line, " | ".join(map(str, row.cells))) for row in summaries)
    warnings = [
        f"line {line}: {text[:80]!r} is computed from other rows and was left out" for line, text in lines
    ]
    rows = tuple(row for row in table.rows if row not in summaries)
    return replace(table, rows=rows), bounded(warnings)


def _is_figure_with_comma(cell: Cell) -> bool:
    return _FIGURE_WITH_COMMA.fullmatch(str(cell)) is not None


def with_point(cell: str) -> str:
    """Return a figure with a point for its decimal comma: ``12345.6`` for ``12.345,6``."""
    return cell.replace(".", "").replace(",", ".") if _is_figure_with_comma(cell) else cell


def transposed(table: Table) -> Table:
    """Return the table with its rows for columns.

    The names over its columns are thread counts, products where one is known or has a version, or else
    configurations; ``Value`` alone names nothing. Every row has the line of the names, since it stands in all
    of them.
    """
    are_counts = all(map(thread_count, table.names[1:]))
    is_named = not (len(table.names) == 2 and table.names[1].casefold() in _VALUES)
    are_products = any((said := said_by(name)).product or said.version for name in table.names[1:])
    fact = "threads" if are_counts else "product" if are_products else "configuration"
    names = (fact if is_named else "", *(str(row.cells[0]) for row in table.rows))
    rows = tuple(
        TableRow(
            table.line,
            (
                (str(thread_count(name)) if are_counts else name) if is_named else "",
                *(row.cells[index] for row in table.rows),
            ),
        )
        for index, name in enumerate(table.names[1:], start=1)
    )
    return replace(table, names=names, rows=rows)


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
