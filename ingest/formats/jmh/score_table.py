"""A table of scores as it is read: its head, its rows line by line, and what of them is no row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.formats.jmh.cell_columns import CellColumns, cell_columns_of, separator_of, split_line
from ingest.formats.jmh.numbers import NumberStyle, style_of
from ingest.formats.jmh.results import MODES, scale_of, score_scale
from ingest.formats.jmh.table import BenchmarkEntries, ScoreColumns, ScoreRow, columns_of
from ingest.formats.outputs import quoted
from ingest.formats.report import FormatError, listed

_MAX_NAMED_LINES = 3
_USUAL_COLUMNS = ScoreColumns(params=(), ends=[], has_mode=True, counts=("Cnt",))


@dataclass(slots=True)
class ScoreTable:
    """``separator`` is the sign between the cells of a line; empty where blanks align them.

    ``others`` are lines within the table that are no rows of it. ``is_headless``: no line names its columns.
    """

    line: int
    columns: ScoreColumns | CellColumns
    separator: str = ""
    rows: list[tuple[int, ScoreRow]] = field(default_factory=list)
    others: list[tuple[int, str]] = field(default_factory=list)
    is_headless: bool = False

    def row_of(self, line: str) -> ScoreRow | None:
        """Return the row that a line is; None where it is none."""
        if isinstance(self.columns, CellColumns):
            cells = split_line(line, self.separator)
            return self.columns.row(cells) if len(cells) > self.columns.score else None
        return self.columns.row(line)

    def may_begin_a_row(self, text: str) -> bool:
        """Return whether a text may be the beginning of a row: of one more benchmark of a class, say."""
        name = text.split(maxsplit=1)[0]
        return any(_begins_alike(name, row.benchmark) for _, row in self.rows)

    def knows(self, unit: str) -> bool:
        """Return whether a unit is a whole one, not half of one."""
        return scale_of(unit) is not None or any(row.number.unit == unit for _, row in self.rows)

    @property
    def style(self) -> NumberStyle:
        return style_of(text for _, row in self.rows for text in row.number.numbers)

    def entries(self) -> BenchmarkEntries:
        """Return the benchmarks of the table.

        Raise FormatError for numbers of several styles, and for a score in a unit that is none of JMH's.
        """
        style, entries = self.style, BenchmarkEntries()
        for number, row in self.rows:
            try:
                printed = row.number.printed(style)
            except ValueError as error:
                mark = "comma" if style.decimal == "," else "point"
                raise FormatError(
                    f"{str(error)!r}: other numbers of the table have a {mark} before their decimals; "
                    "write all of them in one way",
                    number,
                ) from None
            if printed is None:
                self.others.append((number, row.number.score))
            else:
                entries.add(number, row, printed)
        return entries

    def warnings(self, *, is_of_jmh: bool) -> Iterator[str]:
        """Yield what is not read, and numbers that could be meant in another way.

        ``is_of_jmh``: the table stands in an output of JMH, which prints three decimals.
        """
        name = f"the table in line {self.line}"
        for number, text in self.others[:_MAX_NAMED_LINES]:
            yield f"line {number} is no row of {name} and was not read: {quoted(text.strip())}"
        if (more := len(self.others) - _MAX_NAMED_LINES) > 0:
            yield f"{more} more lines of {name} are no rows and were not read"
        if isinstance(self.columns, CellColumns) and self.columns.unread:
            names = listed([quoted(unread) for unread in self.columns.unread])
            yield f"{name} has columns that are none of JMH's and were not read: {names}"
        if self.is_headless:
            yield (
                f"the rows from line {self.line} on have no head: they are read as benchmark, mode, samples, "
                "score, error and unit"
            )
        style = self.style
        if style.doubtful and not (is_of_jmh and style.decimal == ","):
            mark = "," if "," in style.doubtful else "."
            meaning = "its decimals" if mark == style.decimal else "thousands"
            sign = "comma" if mark == "," else "point"
            yield f"the {sign} of {quoted(style.doubtful)} in {name} is taken for that of {meaning}"


def table_at(line: str, number: int) -> ScoreTable | None:
    """Return the table whose head a line is; None where it is none."""
    if columns := columns_of(line):
        return ScoreTable(number, columns)
    separator = separator_of(line)
    cells = cell_columns_of(split_line(line, separator)) if separator else None
    return ScoreTable(number, cells, separator) if cells else None


def headless_table(line: str, number: int, above: ScoreTable | None = None) -> ScoreTable | None:
    """Return the table that begins with this row, whose head was left out; None where it is no such row.

    It has the columns of the table ``above``, or those that JMH prints without parameters.
    """
    if above and isinstance(above.columns, CellColumns):
        sign = above.separator or "|"
        cells = split_line(line, sign) if sign in line else []
        row = above.columns.row(cells) if len(cells) == above.columns.width else None
        if row and score_scale(row.number.unit):
            return ScoreTable(number, above.columns, sign, rows=[(number, row)])
    if not any(mode in line for mode in MODES):
        return None
    for columns in (above.columns if above else None, _USUAL_COLUMNS):
        if not isinstance(columns, ScoreColumns) or not columns.has_mode:
            continue
        row = columns.row(line)
        if row and (scale_of(row.number.unit) or row.label):
            return ScoreTable(number, columns, rows=[(number, row)], is_headless=columns is _USUAL_COLUMNS)
    return None


def looks_like_a_row(line: str, *, of_no_table: bool = False) -> bool:
    """Return whether a line that cannot be read was meant to be a row.

    Within a table a unit or a mode shows that; elsewhere it takes both.
    """
    words = line.split()
    if not any(word[0].isdigit() for word in words[1:]):
        return False
    has_mode = any(word in MODES for word in words[1:])
    if of_no_table:
        return has_mode and any(scale_of(word) for word in words[2:])
    return has_mode or (len(words) > 2 and scale_of(words[-1]) is not None)


def _begins_alike(name: str, benchmark: str) -> bool:
    group = benchmark.rpartition(".")[0]
    return benchmark.startswith(name) or (bool(group) and name.startswith(f"{group}."))


def table_of_cells(line: int, head: Sequence[str]) -> ScoreTable | None:
    """Return the table of a document whose head these cells are; None where it is none of JMH's."""
    columns = cell_columns_of(head)
    return ScoreTable(line, columns) if columns else None
