"""A table of scores: its rows, the benchmarks that they belong to, and what of it is not read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ingest.formats.jmh.columns import Columns, Key, ScoreRow, columns_of_line, split_line
from ingest.formats.jmh.numbers import NOT_A_NUMBER, NumberStyle, style_of
from ingest.formats.jmh.results import (
    MODES,
    NO_SCORE_UNIT,
    PERCENTILES,
    Result,
    Score,
    metric_name,
    scale_of,
    score_percentile,
    score_scale,
)
from ingest.formats.outputs import quoted
from ingest.formats.report import FormatError, listed

_MAX_NAMED_LINES = 3
# Rows that JMH prints together or not at all.
_TOGETHER = (
    tuple(map(score_percentile, PERCENTILES)),
    ("gc.alloc.rate", "gc.alloc.rate.norm", "gc.count"),
)


@dataclass(slots=True, eq=False)
class BenchmarkRows:
    """The rows of one benchmark with its parameters and mode.

    ``row`` is that of the score once it ``is_scored``, and the first one until then.
    """

    line: int
    row: ScoreRow
    is_scored: bool = False
    measured: Score | None = None
    secondary: dict[str, Score] = field(default_factory=dict)

    @property
    def workload(self) -> str:
        return self.row.workload

    @property
    def problem(self) -> str:
        """Why there is no score, or nothing."""
        if not self.is_scored:
            return "no row has its score"
        if not self.measured:
            if self.row.number.score in NOT_A_NUMBER:
                return "its score is not a number"
            return "its score is printed with signs that its file cannot hold; JMH's JSON has its digits"
        if self.measured.score == 0 and not self.measured.approximate:
            return "its score is printed as 0, without a digit of it; JMH's JSON has them"
        return ""

    @property
    def score(self) -> Score | None:
        return None if self.problem else self.measured

    @property
    def result(self) -> Result | None:
        if not (score := self.score):
            return None
        benchmark, _, params, mode, threads, _ = self.row
        return Result(benchmark, score, params, mode, threads, self.secondary)

    @property
    def missing(self) -> tuple[str, ...]:
        """The metrics whose rows JMH prints with others that are here."""
        present = self.secondary.keys() | ({score_percentile(0)} if self.row.mode == "sample" else set())
        families = [names for names in _TOGETHER if names[0] in present]
        return tuple(name for names in families for name in names if name not in self.secondary)


def warnings_of(benchmarks: Iterable[BenchmarkRows]) -> Iterator[str]:
    """Yield what is missing of these benchmarks; of rows that many of them lack one warning."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for benchmark in benchmarks:
        if benchmark.problem:
            yield f"{benchmark.workload} was left out: {benchmark.problem}"
        elif benchmark.missing:
            lacking.setdefault(benchmark.missing, []).append(benchmark.workload)
    for metrics, (first, *others) in lacking.items():
        have = f"{first} has" if not others else f"{first} and {len(others)} more have"
        yield f"{have} no row for {listed([*metrics])}: the file is cut off, or JMH is an old one"


@dataclass(eq=False)
class ScoreTable:
    """``separator`` is the sign between the cells of a line; empty where blanks align them.

    ``others`` are lines within the table that are no rows of it.
    """

    line: int
    columns: Columns
    separator: str = ""
    rows: list[tuple[int, ScoreRow]] = field(default_factory=list)
    others: list[tuple[int, str]] = field(default_factory=list)

    def row_of(self, line: str) -> ScoreRow | None:
        """Return the row that a line is; None where it is none."""
        if not self.separator:
            return self.columns.row_of_line(line)
        cells = split_line(line, self.separator)
        return self.columns.row(cells) if len(cells) > self.columns.score else None

    def knows(self, unit: str) -> bool:
        """Return whether a unit is a whole one, not half of one."""
        return scale_of(unit) is not None or any(row.number.unit == unit for _, row in self.rows)

    @cached_property
    def style(self) -> NumberStyle:
        """How the numbers are printed, once all rows are here."""
        return style_of(text for _, row in self.rows for text in row.number.numbers)

    def benchmarks(self) -> list[BenchmarkRows]:
        """Return the benchmarks of the table, in the order of their first rows.

        Raise FormatError for a number that cannot be read, a score in a unit that is none of JMH's, and for
        scores that nothing tells apart.
        """
        latest: dict[Key, BenchmarkRows] = {}
        benchmarks = []
        for line, row in self.rows:
            try:
                measured = row.number.measured(self.style)
            except ValueError as error:
                raise FormatError(str(error), line) from None
            key, is_score = row.key, not row.label
            benchmark = latest.get(key)
            if is_score and measured and not score_scale(measured.unit):
                raise FormatError(
                    f"the unit {measured.unit[:40]!r} is {NO_SCORE_UNIT}",
                    line,
                )
            if benchmark is None or (is_score and benchmark.is_scored):
                if benchmark and not row.mode:
                    raise FormatError(
                        f"{row.workload} stands in line {benchmark.line} too, and no column tells them apart",
                        line,
                    )
                benchmark = latest[key] = BenchmarkRows(line, row)
                benchmarks.append(benchmark)
            if is_score:
                benchmark.row, benchmark.is_scored, benchmark.measured = row, True, measured
            elif measured:
                benchmark.secondary[metric_name(row.label, row.benchmark)] = measured
        return benchmarks

    def warnings(self, *, is_of_jmh: bool) -> Iterator[str]:
        """Yield what is not read, and numbers that could be meant in another way.

        ``is_of_jmh``: the table stands in an output of JMH, which prints three decimals.
        """
        name = f"the table in line {self.line}"
        for number, text in self.others[:_MAX_NAMED_LINES]:
            yield f"line {number} is no row of {name} and was not read: {quoted(text.strip())}"
        if (more := len(self.others) - _MAX_NAMED_LINES) > 0:
            yield f"{more} more lines of {name} are no rows and were not read"
        if self.columns.unread:
            names = listed([quoted(unread) for unread in self.columns.unread])
            yield f"{name} has columns that are none of JMH's and were not read: {names}"
        decimal, doubtful = self.style
        if doubtful and not (is_of_jmh and decimal == ","):
            mark = "," if "," in doubtful else "."
            meaning = "its decimals" if mark == decimal else "thousands"
            sign = "comma" if mark == "," else "point"
            yield f"the {sign} of {quoted(doubtful)} in {name} is taken for that of {meaning}"


def table_at(line: str, number: int) -> ScoreTable | None:
    """Return the table whose head a line is; None where it is none."""
    columns, separator = columns_of_line(line)
    return ScoreTable(number, columns, separator) if columns else None


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
