"""Tables whose cells are separated by commas, semicolons or tabs, or by ``|`` as clients draw them."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.formats.cells import is_cell, is_number, separated_cells
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.tables.grids import (
    Grid,
    GridRow,
    Read,
    counted,
    heads_grid,
    read_grid,
    refuse_relative,
    says_metric,
    second_table,
    title_fact,
)
from ingest.formats.tables.metric_words import mentions
from ingest.formats.tables.records import MAX_COLUMNS, Record, read_records, understand

_DRAWN = "|"
_SEPARATORS = (",", "\t", ";", _DRAWN)
_BORDER = frozenset("+-|: =\t")
_FOOTER = re.compile(r"\(?([0-9]{1,9}) rows?(?:\)| in set\b.*)")
_NAME = re.compile(r"[^\W\d]")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table in the lines of a file: the index of its first line, its separator, its columns' names."""

    lines: Sequence[str]
    index: int
    separator: str
    names: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.index + 1

    def read(self) -> ParsedReport:
        """Read the table. Raise FormatError where it cannot be understood."""
        titles, rows = self._titles_and_rows()
        width = self._width(rows)
        names = self.names[:width]
        rows = [(line, cells[:width]) for line, cells in rows]
        report = self._report(titles, names, rows)
        if self._lacks_end():
            missing = "what ends such a table is not there; if it was cut off, rows are missing"
            return replace(report, warnings=(*report.warnings, missing))
        return report

    def _report(
        self,
        titles: tuple[tuple[int, str], ...],
        names: tuple[str, ...],
        rows: Sequence[tuple[int, tuple[str, ...]]],
    ) -> ParsedReport:
        columns = understand(names)
        if columns.tell_runs:
            refuse_relative(titles)
            records = [Record(line, dict(zip(names, cells, strict=True))) for line, cells in rows]
            report = read_records(columns, records, self.line)
            return replace(report, facts=title_fact(titles))
        head, *over_columns = names
        grid_rows = tuple(GridRow(line, cells[0], cells[1:]) for line, cells in rows)
        return read_grid(Grid(self.line, head, tuple(over_columns), grid_rows, titles))

    def _titles_and_rows(self) -> tuple[tuple[tuple[int, str], ...], list[tuple[int, tuple[str, ...]]]]:
        """Return the lines around the table that are text, and its rows, all with their numbers."""
        titles = [
            (number, text)
            for number, text in enumerate(self.lines[: self.index], start=1)
            if text.strip() and not _is_border(text)
        ]
        rows: list[tuple[int, tuple[str, ...]]] = []
        ended = False
        for line, cells in self._cells_by_line():
            if len(cells) == 1 and self._is_text(line, cells[0]):
                ended = True
                if not _is_footer(cells[0], line, len(rows)):
                    titles.append((line, cells[0]))
            elif ended or cells == self.names:
                raise second_table(line)
            elif len(cells) < len(self.names) or any(cells[len(self.names) :]):
                raise FormatError(
                    f"{counted(len(cells), 'cell')}, where the first line has {len(self.names)}", line
                )
            else:
                rows.append((line, cells[: len(self.names)]))
        return tuple(titles), rows

    def _is_text(self, line: int, cell: str) -> bool:
        """Return whether a line without separators is no row that was cut off, but text."""
        if self.separator == _DRAWN:
            return _DRAWN not in self.lines[line - 1]
        return any(mentions(cell))

    def _width(self, rows: Sequence[tuple[int, tuple[str, ...]]]) -> int:
        """Return the number of columns without empty ones at the end, as spreadsheets add."""
        width = len(self.names)
        while width > 1 and not self.names[width - 1] and not any(cells[width - 1] for _, cells in rows):
            width -= 1
        return width

    def _lacks_end(self) -> bool:
        """Return whether what a client draws or writes under a table is missing.

        That is a line where one stands above the table, or the number of rows where it has no sides.
        """
        if self.separator != _DRAWN:
            return False
        below = self.lines[self.index + 1 :]
        if self.index and _is_corner(self.lines[self.index - 1]):
            return not any(map(_is_corner, below[1:]))
        has_sides = _has_sides(self.lines[self.index])
        return not has_sides and not any(_FOOTER.fullmatch(line.strip()) for line in below)

    def _cells_by_line(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the cells of each line below the names; blank lines and lines of empty cells are left out."""
        below = self.lines[self.index + 1 :]
        if self.separator == _DRAWN:
            has_sides = _has_sides(self.lines[self.index])
            for number, text in enumerate(below, start=self.line + 1):
                if text.strip() and not _is_border(text):
                    yield number, _drawn_cells(text, has_sides=has_sides)
            return
        yield from separated_cells(below, self.separator, self.line + 1, "the quotes do not fit together:")


def find_separated_table(lines: Sequence[str], most: int) -> Read | None:
    """Find the table whose names stand on one of the first ``most`` lines."""
    for index, line in enumerate(lines[:most]):
        for separator in _SEPARATORS:
            names = _cells(line, separator)
            if 1 < len(names) <= MAX_COLUMNS and (
                understand(names).tell_runs or _heads_grid(names, lines, index, separator)
            ):
                return _Table(lines, index, separator, names).read
    return None


def rows_without_names(lines: Sequence[str]) -> tuple[GridRow, ...]:
    """Return the rows of a file in which every line is a name and numbers."""
    first = next((line for line in lines if line.strip()), "")
    separator = "\t" if "\t" in first else ","
    if not _is_row(_cells(first, separator)):
        return ()
    rows = [(number, _cells(line, separator)) for number, line in enumerate(lines, start=1) if line.strip()]
    widths = {len(cells) if _is_row(cells) else 0 for _, cells in rows}
    if len(rows) < 2 or len(widths) > 1 or 0 in widths:
        return ()
    return tuple(GridRow(number, cells[0], cells[1:]) for number, cells in rows)


def _is_row(cells: Sequence[str]) -> bool:
    return len(cells) > 2 and _NAME.match(cells[0]) is not None and all(map(is_number, cells[1:]))


def _heads_grid(names: Sequence[str], lines: Sequence[str], index: int, separator: str) -> bool:
    head, *columns = names
    below = (line for line in lines[index + 1 :] if line.strip())
    first_row = next((line for line in below if separator != _DRAWN or not _is_border(line)), "")
    cells = _cells(first_row, separator)
    fits = len(cells) == len(names) and all(map(is_cell, cells[1:]))
    return heads_grid(head, columns, looks_sure=fits and says_metric(head, lines[:index]))


def _cells(line: str, separator: str) -> tuple[str, ...]:
    """Return the cells of one line; none where its quotes do not fit together."""
    if separator not in line:
        return ()
    if separator == _DRAWN:
        return () if _is_border(line) else _drawn_cells(line, has_sides=_has_sides(line))
    try:
        return tuple(cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True)))
    except csv.Error:
        return ()


def _drawn_cells(line: str, *, has_sides: bool) -> tuple[str, ...]:
    """Return the cells between ``|``, which mysql draws at both sides of a table too, and psql does not."""
    inner = line.strip().removeprefix(_DRAWN).removesuffix(_DRAWN) if has_sides else line
    return tuple(cell.strip() for cell in inner.split(_DRAWN))


def _has_sides(line: str) -> bool:
    return line.lstrip().startswith(_DRAWN)


def _is_footer(text: str, line: int, rows: int) -> bool:
    """Return whether a client says how many rows it wrote; raise FormatError where they are not so many."""
    footer = _FOOTER.fullmatch(text.strip())
    if footer and int(footer[1]) != rows:
        raise FormatError(f"{footer[0]!r} stands under {counted(rows, 'row')}", line)
    return footer is not None


def _is_corner(line: str) -> bool:
    return line.strip().startswith("+-") and _is_border(line)


def _is_border(line: str) -> bool:
    return "-" in line and _BORDER.issuperset(line)
