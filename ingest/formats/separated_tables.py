"""Tables whose cells are separated by commas or tabs: where one begins, and what its rows hold."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.formats.cells import is_cell
from ingest.formats.grids import (
    Grid,
    Row,
    counted,
    heads_grid,
    read_grid,
    refuse_relative,
    says_metric,
    title_fact,
)
from ingest.formats.metric_words import mentions
from ingest.formats.records import Record, read_records, understand
from ingest.formats.report import FormatError, ParsedReport

_SEPARATORS = (",", "\t")


@dataclass(frozen=True, slots=True)
class SeparatedTable:
    """A table in the lines of a file: the index of its first line, its separator, its columns' names."""

    lines: Sequence[str]
    index: int
    separator: str
    names: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.index + 1

    def read(self) -> ParsedReport:
        """What the table tells; raises FormatError where it cannot be understood."""
        columns = understand(self.names)
        titles, rows = self._titles_and_rows()
        if columns.tell_runs:
            refuse_relative(titles)
            records = [Record(line, dict(zip(self.names, cells, strict=True))) for line, cells in rows]
            report = read_records(columns, records, self.line)
            return replace(report, facts=title_fact(titles))
        head, *names = self.names
        grid_rows = tuple(Row(line, cells[0], cells[1:]) for line, cells in rows)
        return read_grid(Grid(self.line, head, tuple(names), grid_rows, titles))

    def _titles_and_rows(self) -> tuple[tuple[tuple[int, str], ...], list[tuple[int, tuple[str, ...]]]]:
        """The lines above and below the table that are text, and its rows, all with their line numbers."""
        titles = [
            (number, text) for number, text in enumerate(self.lines[: self.index], start=1) if text.strip()
        ]
        rows: list[tuple[int, tuple[str, ...]]] = []
        ended = False
        for line, cells in self._cells_by_line():
            if len(cells) == 1 and any(mentions(cells[0])):
                titles.append((line, cells[0]))
                ended = True
            elif ended or cells == self.names:
                raise FormatError("a second table begins; send each table as a file of its own", line)
            elif len(cells) != len(self.names):
                raise FormatError(
                    f"{counted(len(cells), 'cell')}, where the first line has {len(self.names)}", line
                )
            else:
                rows.append((line, cells))
        return tuple(titles), rows

    def _cells_by_line(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The cells of each line below the names; blank lines and lines of empty cells are left out."""
        below = self.lines[self.index + 1 :]
        reader = csv.reader((f"{line}\n" for line in below), delimiter=self.separator, strict=True)
        line = self.line + 1
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield line, tuple(cell.strip() for cell in cells)
                line = self.line + reader.line_num + 1
        except csv.Error as error:
            raise FormatError(f"the quotes do not fit together: {error}", line) from None


def find_separated_table(lines: Sequence[str], most: int) -> SeparatedTable | None:
    """The table whose names stand on one of the first ``most`` lines, or None."""
    for index, line in enumerate(lines[:most]):
        for separator in _SEPARATORS:
            names = _cells(line, separator)
            if len(names) > 1 and (
                understand(names).tell_runs or _heads_grid(names, lines, index, separator)
            ):
                return SeparatedTable(lines, index, separator, names)
    return None


def _heads_grid(names: Sequence[str], lines: Sequence[str], index: int, separator: str) -> bool:
    head, *columns = names
    first_row = next((line for line in lines[index + 1 :] if line.strip()), "")
    cells = _cells(first_row, separator)
    fits = len(cells) == len(names) and all(map(is_cell, cells[1:]))
    return heads_grid(head, columns, looks_sure=fits and says_metric(head, lines[:index]))


def _cells(line: str, separator: str) -> tuple[str, ...]:
    """The cells of one line; none where its quotes do not fit together."""
    if separator not in line:
        return ()
    try:
        return tuple(cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True)))
    except csv.Error:
        return ()
