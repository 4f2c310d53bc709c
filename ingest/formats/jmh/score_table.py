"""A table of scores: the columns that its head names, its rows, and the benchmarks that they belong to."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from ingest.formats.cells import is_missing
from ingest.formats.documents import table_cells
from ingest.formats.jmh.numbers import NOT_A_NUMBER, NumberStyle, NumberText, number_text, style_of
from ingest.formats.jmh.results import (
    MODES,
    NO_SCORE_UNIT,
    NOT_APPLICABLE,
    PERCENTILES,
    Result,
    Score,
    metric_name,
    mode_of,
    scale_of,
    score_percentile,
    score_scale,
)
from ingest.formats.outputs import MAX_THREADS, quoted
from ingest.formats.report import FormatError, listed

# The head that JMH prints, whose columns blanks align.
_ALIGNED_HEAD = re.compile(
    r"\s*(?P<benchmark>Benchmark)(?P<params>(?:\s+\(\S+\))*)(?:\s+(?P<mode>Mode))?"
    r"(?P<counts>(?:\s+(?:Thr|Threads|Cnt|Count|Samples|Sec))*)"
    r"\s+(?P<score>Score|Mean)(?:\s+(?P<error>(?:(?:Score|Mean)\s+)?\(?[Ee]rror\)?(?:\s+\(?99[.,]9%\)?)?))?"
    r"\s+(?P<units>Units?)\s*"
)
_ROLES = {
    "mode": "mode",
    **dict.fromkeys(("thr", "thread", "threads"), "threads"),
    **dict.fromkeys(("cnt", "count", "samples", "sample", "iterations", "forks", "sec"), "count"),
    **dict.fromkeys(("unit", "units", "单位"), "units"),
}
_SCORE_HEAD = re.compile(
    r"(?:mean )?(?:score|mean|average)(?: ?[(\[](?P<unit>[^()\[\]]+)[)\]])?(?: ?± ?error)?", re.IGNORECASE
)
_ERROR_HEAD = re.compile(
    r"(?:(?:score|mean|margin)\s+(?:of\s+)?)?\(?err(?:or)?\b.*|±.*|\+ ?/? ?-", re.IGNORECASE
)
_SCORE = re.compile("core|ean")
_PARAMETER = re.compile(r"\((?P<name>[^()]+)\)|Param: (?P<csv>.+)", re.IGNORECASE)
_BENCHMARK_HEADS = frozenset({"benchmark", "benchmarks", "benchmark name"})
_NAME_HEADS = frozenset({"", "name", "test", "method", *_BENCHMARK_HEADS})
# Columns of BenchmarkDotNet, which JMH has not.
_FOREIGN_HEAD = re.compile(r"std ?dev\b.*|gen ?[0-2]\b.*", re.IGNORECASE)
_LABEL = re.compile(r"(?P<benchmark>[^\s:]+):(?P<label>\S.*)")
_DIGITS = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
# Rows that JMH prints together or not at all.
_TOGETHER = (
    tuple(map(score_percentile, PERCENTILES)),
    ("gc.alloc.rate", "gc.alloc.rate.norm", "gc.count"),
)

# A benchmark, its parameters and its mode.
Key = tuple[str, tuple[tuple[str, str], ...], str | None]


def key_of(benchmark: str, params: Mapping[str, str], mode: str | None) -> Key:
    """Return what tells a benchmark from others, without the parameters that only those have."""
    own = [(name, " ".join(value.split())) for name, value in params.items() if value != NOT_APPLICABLE]
    return benchmark, tuple(own), mode


class ScoreRow(NamedTuple):
    """A row: of a benchmark, or with a label (``gc.count``, ``p0.50``) of one of its secondary results.

    The other rows of its table decide how its number is to be read.
    """

    benchmark: str
    label: str
    params: Mapping[str, str]
    mode: str | None
    threads: int | None
    number: NumberText

    @property
    def key(self) -> Key:
        return key_of(self.benchmark, self.params, self.mode)


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """The columns of a table: their places, counted from 0, by what they hold, and those of parameters.

    ``unit`` is what the head of the scores says, ``unread`` the heads of columns that JMH does not print.
    ``ends`` is where the heads of the parameters end in a table whose columns blanks align; ``has_bars``:
    bars part the cells of a line.
    """

    width: int
    places: Mapping[str, int]
    params: Mapping[str, int]
    unit: str
    unread: tuple[str, ...]
    ends: tuple[int, ...] = ()
    has_bars: bool = False

    def row(self, cells: Sequence[str]) -> ScoreRow | None:
        """Return the row that the cells are; None where they are none."""
        if any(cell.strip() for cell in cells[self.width :]):
            return None
        if len(cells) < self.width:
            cells = [*cells, *[""] * (self.width - len(cells))]
        return self._row(cells, self._number(cells))

    def row_of_line(self, line: str) -> ScoreRow | None:
        """Return the row that a line is; None where it is none.

        The mode is searched for from the right, because the value of a parameter may hold blanks.
        """
        if self.has_bars:
            return self.row([*table_cells(line)])
        name, *words = line.split()
        has_mode = "mode" in self.places
        place, numbers = len(self.params), words[len(self.params) :]
        if has_mode:
            place = next((at for at in reversed(range(len(words))) if words[at] in MODES), -1)
            numbers = words[place + 1 :]
        values = self._values(line, name, words[:place]) if place >= 0 else None
        if values is None or not numbers:
            return None
        counts = self.places["score"] - len(values) - has_mode - 1
        number = number_text(" ".join(numbers[counts:]))
        if counts == 1 and not (number and _is_count(numbers[0])):
            # A single count is left out for what was not counted.
            number, numbers = number_text(" ".join(numbers)), ["", *numbers]
        elif not all(map(_is_count, numbers[:counts])):
            return None
        return self._row([name, *values, *words[place : place + has_mode], *numbers[:counts]], number)

    def _cell(self, cells: Sequence[str], role: str) -> str:
        return cells[self.places[role]].strip() if role in self.places else ""

    def _row(self, cells: Sequence[str], number: NumberText | None) -> ScoreRow | None:
        name = " ".join(self._cell(cells, "benchmark").split())
        mode, threads = mode_of(self._cell(cells, "mode")), self._cell(cells, "threads")
        is_odd = threads and not (_is_count(threads) and 1 <= int(threads) <= MAX_THREADS)
        if not (number and name) or is_odd or ("mode" in self.places and mode is None):
            return None
        labelled = _LABEL.fullmatch(name) if ":" in name else None
        return ScoreRow(
            benchmark=labelled["benchmark"] if labelled else name,
            label=labelled["label"] if labelled else "",
            params={param: " ".join(cells[place].split()) for param, place in self.params.items()},
            mode=mode,
            threads=int(threads) if threads else None,
            number=number,
        )

    def _number(self, cells: Sequence[str]) -> NumberText | None:
        """Return the number of a row. Its error and its unit may stand in the cell of the score too."""
        score, error = self._cell(cells, "score"), self._cell(cells, "error")
        unit = self._cell(cells, "units") or self.unit
        if is_missing(score):
            return NumberText("NaN", "", unit or "---")
        if is_missing(error):
            error = ""
        if unit and _DIGITS.fullmatch(score) and (not error or _DIGITS.fullmatch(error)):
            return NumberText(score, error, unit.replace(" ", ""))
        if error:
            score = f"{score} {'± ' if error[0].isdigit() else ''}{error}"
        return number_text(f"{score} {unit}") or number_text(score)

    def _values(self, line: str, name: str, words: list[str]) -> list[str] | None:
        """Return the values of the parameters; None where the words do not fit into the columns.

        JMH aligns them to the right: each ends where the head of its column ends, and may hold blanks or
        nothing.
        """
        if not self.params:
            return None if words else []
        starts = [line.index(name) + len(name), *self.ends]
        cells = [line[start:end] for start, end in zip(starts, self.ends, strict=False)]
        is_aligned = all(cell[-1:].strip() or not cell.strip() for cell in cells)
        if is_aligned and " ".join(cells).split() == words:
            return cells
        values = [" ".join(words)] if len(self.params) == 1 else words
        return values if len(values) == len(self.params) else None


def columns_of_line(line: str) -> ScoreColumns | None:
    """Return the columns that a line names, if it is a head whose columns blanks align or bars part."""
    if not (head := _ALIGNED_HEAD.fullmatch(line)):
        columns = columns_of([*table_cells(line)]) if "|" in line and _SCORE.search(line) else None
        return columns and replace(columns, has_bars=True)
    params = list(re.finditer(r"\S+", head["params"]))
    names = ["Benchmark", *(param.group() for param in params), head["mode"], *head["counts"].split()]
    names += [head["score"], head["error"], head["units"]]
    ends = tuple(head.start("params") + param.end() for param in params)
    return columns_of([name for name in names if name], ends)


def columns_of(head: Sequence[str], ends: tuple[int, ...] = ()) -> ScoreColumns | None:
    """Return the columns that the cells of a head name; None where it is not the head of JMH's.

    It has a score, and a mode or a usual head above the names of the benchmarks, and tells the unit. Columns
    before those of JMH are parameters, in parentheses or not, except for the names of the benchmarks.
    """
    names = [" ".join(cell.split()) for cell in head]
    roles = [_role(name) for name in names]
    places = {role: place for place, role in reversed([*enumerate(roles)]) if role}
    if not places.get("score") or any(map(_FOREIGN_HEAD.fullmatch, names)):
        return None
    match = _SCORE_HEAD.fullmatch(names[places["score"]])
    unit = ((match and match["unit"]) or "").replace(" ", "")
    first = min(place for role, place in places.items() if role != "threads" and place > 0)
    folded = [name.casefold() for name in names]
    benchmark = next((place for place in range(first) if folded[place] in _BENCHMARK_HEADS), 0)
    is_named = folded[benchmark] in _NAME_HEADS or "mode" in places
    if not (is_named and (score_scale(unit) or "units" in places)):
        return None
    params: dict[str, int] = {}
    unread = []
    for place, name in enumerate(names):
        if not name or place == benchmark or roles[place]:
            continue
        if parameter := _PARAMETER.fullmatch(name):
            params[(parameter["name"] or parameter["csv"]).strip()] = place
        elif place < first:
            params[name] = place
        else:
            unread.append(name)
    return ScoreColumns(len(names), {**places, "benchmark": benchmark}, params, unit, tuple(unread), ends)


def _role(name: str) -> str:
    """Return what a column of JMH holds, by its head; nothing for a name, a parameter or anything else."""
    if _SCORE_HEAD.fullmatch(name):
        return "score"
    return "error" if _ERROR_HEAD.fullmatch(name) else _ROLES.get(name.casefold(), "")


def _is_count(text: str) -> bool:
    return len(text) <= 9 and text.isascii() and text.isdecimal()


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


NO_SCORE = "no row has its score"


def _problem(number: NumberText, measured: Score | None) -> str:
    """Return why the number of a row is no score, or nothing."""
    if not measured and number.score in NOT_A_NUMBER:
        return "its score is not a number"
    if not measured:
        return "its score is printed with signs that its file cannot hold; JMH's JSON has its digits"
    if measured.score == 0 and not measured.approximate:
        return "its score is printed as 0, without a digit of it; JMH's JSON has them"
    return ""


def _missing(result: Result) -> tuple[str, ...]:
    """Return the metrics whose rows JMH prints with others that are here."""
    present = result.secondary.keys() | ({score_percentile(0)} if result.mode == "sample" else set())
    families = [names for names in _TOGETHER if names[0] in present]
    return tuple(name for names in families for name in names if name not in result.secondary)


def warnings_of(results: Iterable[Result]) -> Iterator[str]:
    """Yield what is missing of the results of a table; of rows that many of them lack one warning."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        if result.problem:
            yield result.left_out
        elif missing := _missing(result):
            lacking.setdefault(missing, []).append(result.workload)
    for metrics, (first, *others) in lacking.items():
        have = f"{first} has" if not others else f"{first} and {len(others)} more have"
        yield f"{have} no row for {listed([*metrics])}: the file is cut off, or JMH is an old one"


@dataclass(eq=False)
class ScoreTable:
    """The rows below a head."""

    line: int
    columns: ScoreColumns
    rows: list[tuple[int, ScoreRow]] = field(default_factory=list)

    @cached_property
    def style(self) -> NumberStyle:
        """How the numbers are printed, once all rows are here."""
        return style_of(text for _, row in self.rows for text in row.number.numbers)

    def results(self) -> list[Result]:
        """Return the benchmarks of the table, in the order of their first rows.

        Raise FormatError for a number that cannot be read, a score in a unit that is none of JMH's, and for
        scores that nothing tells apart.
        """
        latest: dict[Key, Result] = {}
        results = []
        for line, row in self.rows:
            try:
                measured = row.number.measured(self.style)
            except ValueError as error:
                raise FormatError(str(error), line) from None
            key, is_score = row.key, not row.label
            result = latest.get(key)
            if is_score and measured and not score_scale(measured.unit):
                raise FormatError(f"the unit {measured.unit[:40]!r} is {NO_SCORE_UNIT}", line)
            if result is None or (is_score and result.problem != NO_SCORE):
                if result and not row.mode:
                    other = f"{result.workload} stands in line {result.line} too"
                    raise FormatError(f"{other}, and no column tells them apart", line)
                result = Result(row.benchmark, row.params, row.mode, problem=NO_SCORE, line=line)
                latest[key] = result
                results.append(result)
            if is_score:
                result.params, result.threads = row.params, row.threads
                result.problem = _problem(row.number, measured)
                result.score = None if result.problem else measured
            elif measured:
                result.secondary[metric_name(row.label, row.benchmark)] = measured
        return results

    def warnings(self, *, is_of_jmh: bool) -> Iterator[str]:
        """Yield what is not read, and numbers that could be meant in another way.

        ``is_of_jmh``: the table stands in an output of JMH, which prints three decimals.
        """
        name = f"the table in line {self.line}"
        if self.columns.unread:
            names = listed([quoted(unread) for unread in self.columns.unread])
            yield f"{name} has columns that are none of JMH's and were not read: {names}"
        decimal, doubtful = self.style
        if doubtful and not (is_of_jmh and decimal == ","):
            mark = "comma" if "," in doubtful else "point"
            meaning = "its decimals" if decimal in doubtful else "thousands"
            yield f"the {mark} of {quoted(doubtful)} in {name} is taken for that of {meaning}"
