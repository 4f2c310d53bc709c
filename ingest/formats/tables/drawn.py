"""Tables that are drawn with ``|``: by mysql and psql, and in Markdown."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats.cells import is_missing, is_quantity, quantity
from ingest.formats.documents import DocumentBlock, table_cells
from ingest.formats.report import FormatError
from ingest.formats.tables.columns import names_setting
from ingest.formats.tables.grids import heads_grid, metric_of_cells, says_metric
from ingest.formats.tables.heads import heads_of, is_of_another_format, is_of_time, is_transposed, tell_runs
from ingest.formats.tables.metric_words import time_factor
from ingest.formats.tables.table import (
    MAX_COLUMNS,
    Table,
    TableRow,
    counted,
    trimmed,
    with_plain_figures,
)

_DRAWN = "|"
_BORDER = frozenset("+-|: =\t")
_FOOTER = re.compile(r"\(?([0-9]{1,9}) rows?(?:\)| in set\b.*)")
# 7,151 (7,056-7,301), 7,151 ± 42, 7,151 ✅
_REMARK = re.compile(
    r"(?P<figure>[~\u2248]?[0-9][0-9.,]*(?:\s?(?:[kKM]|ms|[uµμ]s|s|%))?)\s*"
    r"(?:[(（][^()（）]*[)）]|(?:±|\+/-)\s*[0-9].*|[^\w\s%.,/:;\-–—~<>+()（）]+)"
)


_CUT = "what ends such a table is not there; if it was cut off, rows are missing"


def fitted(table: Table) -> Table:
    """Return a drawn table with as many cells in each row as names, and without remarks behind its figures.

    Raise FormatError for a row that does not fit.
    """
    rows = [_padded(row, len(table.names)) for row in table.rows] if table.is_published else table.rows
    names, fitting = trimmed(table.names, rows)
    table = replace(table, names=names, rows=fitting)
    if not table.is_published or not (remark := _first_remark(table)):
        return table
    left_out = f"what stands behind figures, as in {remark[:60]!r}, was left out"
    return replace(_without_remarks(table), warnings=(*table.warnings, left_out))


def _padded(row: TableRow, width: int) -> TableRow:
    """Return a row with the empty cells that a reader of Markdown sees behind its last one."""
    lacking = width - len(row.cells)
    return replace(row, cells=(*row.cells, *[""] * lacking)) if lacking > 0 and len(row.cells) > 1 else row


def _first_remark(table: Table) -> str:
    """Return the first cell with a remark behind its figure, in a column of figures."""
    cells = (str(cell) for index in _columns_of_figures(table) for cell in table.cells_of(index))
    return next((cell for cell in cells if _REMARK.fullmatch(cell) and not is_quantity(cell)), "")


def _without_remarks(table: Table) -> Table:
    """Return the table with bare figures: ``7,151`` for ``7,151 (7,056-7,301)`` and for ``7,151 ± 42``."""
    columns = _columns_of_figures(table)
    rows = (
        replace(
            row,
            cells=tuple(
                found["figure"] if index in columns and (found := _REMARK.fullmatch(str(cell))) else cell
                for index, cell in enumerate(row.cells)
            ),
        )
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _columns_of_figures(table: Table) -> set[int]:
    columns = {index: [str(cell) for cell in table.cells_of(index)] for index in range(1, len(table.names))}
    return {
        index
        for index, cells in columns.items()
        if cells and all(is_quantity(cell) or _REMARK.fullmatch(cell) for cell in cells)
    }


def drawn_table(block: DocumentBlock, lines: Sequence[str]) -> Table:
    """Return the table of a block of a document, of which ``lines`` are all, as it is drawn.

    It is published where it is Markdown, and not where a client drew it.
    """
    numbered = enumerate(block.lines, start=block.line)
    drawn = [(number, line) for number, line in numbered if _DRAWN in line and not is_border(line)]
    has_sides = drawn[0][1].lstrip().startswith(_DRAWN) if drawn else True
    cells = [(number, table_cells(line, has_sides=has_sides)) for number, line in drawn]
    cells = [(number, tuple(cell.strip(" *\t") for cell in row)) for number, row in cells]
    names = tuple(name.rstrip(" :：") for name in cells[0][1]) if cells else ()
    rows = tuple(TableRow(number, row) for number, row in cells[1:] if any(row))
    above = lines[block.line - 2] if block.line > 1 else ""
    is_published = has_sides and not any(map(_is_corner, (above, *block.lines)))
    ends = is_published or _ends(block, lines, has_sides=has_sides, rows=len(rows))
    table = Table(block.line, names, rows, is_published=is_published, warnings=() if ends else (_CUT,))
    return with_plain_figures(table)


def is_border(line: str) -> bool:
    return "-" in line and _BORDER.issuperset(line)


def tells_results(table: Table, titles: Sequence[str]) -> bool:
    """Return whether a drawn table holds results: it names metrics, or a title does."""
    names = table.names
    if not 1 < len(names) <= MAX_COLUMNS:
        return False
    may_name_rows = not any(map(is_of_time, names[:1]))
    if is_transposed(names, [row.cells[0] for row in table.rows if row.cells]):
        return True
    if tell_runs(names, may_name_rows=may_name_rows):
        return not table.rows or _has_numbers(table)
    if times_statistics(names, table.rows):
        return True
    head, *columns = names
    while columns and not columns[-1]:
        columns.pop()
    return bool(columns) and heads_grid(
        head, columns, looks_sure=says_metric(head, titles) or metric_of_cells(head, table.rows) is not None
    )


def times_statistics(names: Sequence[str], rows: Sequence[TableRow]) -> bool:
    """Return whether statistics such as ``p95`` stand over times with units, and something before them."""
    if is_of_another_format(names):
        return False
    ranked = [index for index, head in enumerate(heads_of(names)) if index and head.statistic]
    cells = [row.cells[index] for index in ranked for row in rows if index < len(row.cells)]
    figures = [quantity(str(cell)) for cell in cells if not is_missing(str(cell))]
    return bool(figures) and all(one is not None and time_factor(one.unit) for one in figures)


def holds_numbers(table: Table) -> bool:
    """Return whether the table is one of names and numbers, whatever they are."""
    names = table.names
    if not 1 < len(names) <= MAX_COLUMNS or is_of_another_format(names) or is_of_time(names[0]):
        return False
    numbers = [cell for row in table.rows for cell in row.cells[1:] if not is_missing(str(cell))]
    are_settings = all(map(names_setting, names[1:]))
    return len(numbers) > 1 and not are_settings and all(is_quantity(str(cell)) for cell in numbers)


def _has_numbers(table: Table) -> bool:
    """Return whether a number stands under a name of a metric or a value."""
    heads = heads_of(table.names)
    measured = [index for index, head in enumerate(heads) if head.named or head.is_declared]
    measured = measured or [index for index, head in enumerate(heads) if head.meaning == "value"]
    cells = (row.cells[index] for row in table.rows for index in measured if index < len(row.cells))
    return any(is_quantity(str(cell)) for cell in cells)


def is_footer(text: str) -> bool:
    """Return whether a client says how many rows it wrote."""
    return _FOOTER.fullmatch(text.strip()) is not None


def check_footer(text: str, line: int, rows: int) -> None:
    """Raise FormatError where a client says that it wrote more or fewer rows."""
    footer = _FOOTER.fullmatch(text.strip())
    if footer and int(footer[1]) != rows:
        raise FormatError(f"{footer[0]!r} stands under {counted(rows, 'row')}", line)


def _ends(block: DocumentBlock, lines: Sequence[str], *, has_sides: bool, rows: int) -> bool:
    """Return whether what a client draws or writes under a table is there.

    That is a line where one stands above the table, or the number of rows where it has no sides.
    """
    if has_sides:
        return _is_corner(block.lines[-1]) if rows else False
    behind = lines[block.line - 1 + len(block.lines) :][:3]
    return any(_FOOTER.fullmatch(line.strip()) for line in behind)


def _is_corner(line: str) -> bool:
    return line.strip().startswith("+-") and is_border(line)
