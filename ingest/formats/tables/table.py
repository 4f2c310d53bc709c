"""A table as it was found in a file: names over columns, rows, and the text around it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.formats.cells import is_missing, is_quantity
from ingest.formats.headings import said_by, thread_count
from ingest.formats.outputs import bounded
from ingest.formats.report import Fact, FormatError
from ingest.formats.tables.heads import head_of, meaning_of
from ingest.formats.tables.metric_words import Metric, metric_named

Cell = str | int | float | None

# A line with more names than this heads no table of measurements.
MAX_COLUMNS = 1_000
_MAX_NAME = 200
# avg/.95/max
_FIGURES = re.compile(r"[^\s/()\[\],]+(?:\s*/\s*[^\s/()\[\],]+)+")
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
_POINT = re.compile(r"^\.(?=[0-9]{2}$)")
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

    def cells_of(self, index: int) -> list[Cell]:
        """Return the cells of a column that hold something."""
        return [row.cells[index] for row in self.rows if not is_empty(row.cells[index])]


def with_plain_figures(table: Table) -> Table:
    """Return the table with points for decimal commas, and with a column for each figure between slashes.

    Decimal commas are certain where no number has a point and none may have commas between its thousands. A
    second line of names and a column of units are put into the names that they belong to.
    """
    table = _with_units_in_names(_with_one_head(table))
    rows, warnings = table.rows, table.warnings
    # The first column names the rows, and 10.11 under 'Version' is no figure.
    places = {at for at, name in enumerate(table.names) if at and meaning_of(name) not in _NAMING}
    numbers = [
        str(cell)
        for row in rows
        for at, cell in enumerate(row.cells)
        if at in places and _is_figure_with_comma(cell)
    ]
    if any("," in cell for cell in numbers) and all(map(_DECIMAL_COMMA.match, numbers)):
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
        warnings = (*warnings, "the commas in numbers such as 12,5 are taken for decimal ones")
    names, rows = _with_single_figures(table.names, rows)
    return replace(table, names=names, rows=rows, warnings=warnings)


def _with_one_head(table: Table) -> Table:
    """Return the table with one name over each column, where the first row names metrics below the names.

    ``MySQL`` stands over all columns up to the next name: ``MySQL QPS`` and ``MySQL p95``.
    """
    second, *rows = table.rows or (None,)
    if second is None or not rows or len(second.cells) != len(table.names):
        return table
    lower = [str(cell or "") for cell in second.cells]
    are_names = not any(map(is_quantity, lower)) and all(head_of(name).named for name in lower[1:])
    if not are_names or len(lower) < 2 or (table.names[0] and lower[0]):
        return table
    names, above = [table.names[0] or lower[0]], ""
    for name, below in zip(table.names[1:], lower[1:], strict=True):
        above = name or above
        names.append(f"{above} {below}".strip())
    return replace(table, names=tuple(names), rows=tuple(rows))


def _with_units_in_names(table: Table) -> Table:
    """Return the table with the column of units put behind the metrics that name its rows."""
    meanings = [meaning_of(name) for name in table.names]
    fits = all(len(row.cells) == len(table.names) for row in table.rows)
    names_runs = not {"metric", "unit", "value"}.issuperset(meanings)
    if (
        not fits
        or meanings[:1] != ["metric"]
        or "unit" not in meanings
        or ("value" in meanings and names_runs)
    ):
        return table
    at = meanings.index("unit")
    rows = (
        replace(row, cells=(f"{row.cells[0]} ({unit})" if unit else row.cells[0], *row.cells[1:]))
        for row in table.rows
        for unit in row.cells[at : at + 1]
    )
    rows = (replace(row, cells=(*row.cells[:at], *row.cells[at + 1 :])) for row in rows)
    return replace(table, names=(*table.names[:at], *table.names[at + 1 :]), rows=tuple(rows))


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


def _with_single_figures(
    names: tuple[str, ...], rows: Sequence[TableRow]
) -> tuple[tuple[str, ...], tuple[TableRow, ...]]:
    """Return names and rows with a column for each figure, where cells hold several between slashes.

    ``Latency (avg/.95/max)`` over ``0.63 / 0.90 / 15.62`` become three columns; ``TPS/QPS`` over one figure
    two that are equal.
    """
    if not any("/" in name for name in names) or any(len(row.cells) != len(names) for row in rows):
        return names, tuple(rows)
    columns: list[tuple[str, list[Cell]]] = []
    for index, name in enumerate(names):
        cells = [row.cells[index] for row in rows]
        columns += _single_figures(name, cells) or [(name, cells)]
    by_row = zip(*(cells for _, cells in columns), strict=True)
    return (
        tuple(name for name, _ in columns),
        tuple(replace(row, cells=cells) for row, cells in zip(rows, by_row, strict=True)),
    )


def _single_figures(name: str, cells: Sequence[Cell]) -> list[tuple[str, list[Cell]]] | None:
    found = _FIGURES.search(name) if len(name) <= _MAX_NAME else None
    if found is None:
        return None
    parts = [_POINT.sub("p", part.strip()) for part in found.group().split("/")]
    names = [f"{name[: found.start()]}{part}{name[found.end() :]}" for part in parts]
    if all(map(metric_named, parts)) and any(map(_is_figure, cells)):
        return [(part, list(cells)) for part in names]
    split = [["" for _ in parts] if is_empty(cell) else str(cell).split("/") for cell in cells]
    fits = all(len(figures) == len(parts) for figures in split) and any(
        all(map(_is_figure, figures)) for figures in split
    )
    columns: list[list[Cell]] = [
        [figure.strip() for figure in column] for column in zip(*split, strict=False)
    ]
    return list(zip(names, columns, strict=True)) if fits else None


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, int | float) or (cell is not None and is_quantity(cell))


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
