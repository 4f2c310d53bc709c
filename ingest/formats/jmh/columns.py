"""The columns of a table of scores, which its head names, and the rows that have them.

Between the columns stand blanks, as JMH prints them, or signs: in Markdown, in CSV, and in what a browser or
a spreadsheet copies.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingest.formats.cells import is_missing
from ingest.formats.documents import table_cells
from ingest.formats.jmh.numbers import NumberText, number_text
from ingest.formats.jmh.results import MODES, NOT_APPLICABLE, mode_of, score_scale, workload_name
from ingest.formats.outputs import MAX_THREADS

# The head that JMH prints, whose columns blanks align.
_ALIGNED_HEAD = re.compile(
    r"\s*(?P<benchmark>Benchmark)(?P<params>(?:\s+\(\S+\))*)(?:\s+(?P<mode>Mode))?"
    r"(?P<counts>(?:\s+(?:Thr|Threads|Cnt|Count|Samples|Sec))*)"
    r"\s+(?P<score>Score|Mean)(?:\s+(?P<error>(?:(?:Score|Mean)\s+)?\(?[Ee]rror\)?(?:\s+\(?99[.,]9%\)?)?))?"
    r"\s+(?P<units>Units?)\s*"
)
# The first line of JMH's own CSV.
CSV_HEAD = re.compile(
    r'\s*"?Benchmark"?(?P<separator>[,;\t])"?Mode"?(?P=separator)"?Threads"?(?P=separator)"?Samples"?'
    r'(?P=separator)"?(?:Score|Mean)"?(?P=separator)"?(?:Score|Mean) Error \(99[.,]9%\)"?'
    r'(?P=separator)"?Unit"?(?:(?P=separator).*)?'
)
_SEPARATORS = "\t|;,"

_ROLES = {
    **dict.fromkeys(("mode",), "mode"),
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
_PARAMETER = re.compile(r"\((?P<name>[^()]+)\)|Param: (?P<csv>.+)", re.IGNORECASE)
_BENCHMARK_HEADS = frozenset({"benchmark", "benchmarks", "benchmark name"})
_NAME_HEADS = frozenset({"", "name", "test", "method", *_BENCHMARK_HEADS})
# Columns of BenchmarkDotNet, which JMH has not.
_FOREIGN_HEAD = re.compile(r"std ?dev\b.*|gen ?[0-2]\b.*", re.IGNORECASE)
_LABEL = re.compile(r"(?P<benchmark>[^\s:]+):(?P<label>\S.*)")
_DIGITS = re.compile(r"[0-9]+(?:[.,][0-9]+)?")

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

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table by their places, counted from 0, or -1 for a column that is not there.

    ``unit`` is what the head of the scores says, ``params`` are the places of the parameters, ``unread`` the
    heads of columns that JMH does not print. ``ends`` is where the heads of the parameters end in a table
    whose columns blanks align.
    """

    width: int
    benchmark: int
    score: int
    unit: str
    mode: int
    threads: int
    error: int
    units: int
    params: Mapping[str, int]
    unread: tuple[str, ...]
    ends: tuple[int, ...] = ()

    def row(self, cells: Sequence[str]) -> ScoreRow | None:
        """Return the row that the cells are; None where they are none."""
        if any(cell.strip() for cell in cells[self.width :]):
            return None
        if len(cells) < self.width:
            cells = [*cells, *[""] * (self.width - len(cells))]
        number = self._number(cells)
        return self._row(cells, number) if number else None

    def row_of_line(self, line: str) -> ScoreRow | None:
        """Return the row that a line is, whose cells blanks align; None where it is none.

        The mode is searched for from the right, because the value of a parameter may hold blanks.
        """
        name, *words = line.split()
        has_mode = self.mode >= 0
        place, numbers = len(self.params), words[len(self.params) :]
        if has_mode:
            place = next((at for at in reversed(range(len(words))) if words[at] in MODES), -1)
            numbers = words[place + 1 :]
        values = self._values(line, name, words[:place]) if place >= 0 else None
        if values is None or not numbers:
            return None
        counts = self.score - len(values) - has_mode - 1
        number = number_text(" ".join(numbers[counts:]))
        if counts == 1 and not (number and is_count(numbers[0])):
            # A single count is left out for what was not counted.
            number, numbers = number_text(" ".join(numbers)), ["", *numbers]
        elif not all(map(is_count, numbers[:counts])):
            return None
        cells = [name, *values, *words[place : place + has_mode], *numbers[:counts]]
        return self._row(cells, number) if number else None

    def _row(self, cells: Sequence[str], number: NumberText) -> ScoreRow | None:
        name = " ".join(cells[self.benchmark].split())
        mode = mode_of(cells[self.mode]) if self.mode >= 0 else None
        threads = cells[self.threads].strip() if self.threads >= 0 else ""
        is_odd = threads and not (is_count(threads) and 1 <= int(threads) <= MAX_THREADS)
        if not name or is_odd or (self.mode >= 0 and mode is None):
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
        score = cells[self.score].strip()
        error = cells[self.error].strip() if self.error >= 0 else ""
        unit = (cells[self.units].strip() if self.units >= 0 else "") or self.unit
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


def columns_of_line(line: str) -> tuple[Columns | None, str]:
    """Return the columns that a line names, if it is a head, and the sign between them: none for blanks.

    The head of JMH's own CSV is another format.
    """
    if "core" not in line and "ean" not in line:
        return None, ""
    if head := _ALIGNED_HEAD.fullmatch(line):
        params = list(re.finditer(r"\S+", head["params"]))
        names = ["Benchmark", *(param.group() for param in params), head["mode"], *head["counts"].split()]
        names += [head["score"], head["error"], head["units"]]
        ends = tuple(head.start("params") + param.end() for param in params)
        return columns_of([name for name in names if name], ends), ""
    if not CSV_HEAD.fullmatch(line):
        for sign in _SEPARATORS:
            if sign in line and (columns := columns_of(split_line(line, sign))):
                return columns, sign
    return None, ""


def columns_of(head: Sequence[str], ends: tuple[int, ...] = ()) -> Columns | None:
    """Return the columns that the cells of a head name; None where it is not the head of JMH's.

    It has a score, and a mode or a usual head above the names of the benchmarks, and tells the unit. Columns
    before those of JMH are parameters, in parentheses or not, except for the names of the benchmarks.
    """
    names = [" ".join(cell.split()) for cell in head]
    roles = [_role(name) for name in names]
    places = {role: place for place, role in reversed([*enumerate(roles)]) if role}
    if not places.get("score") or any(map(_FOREIGN_HEAD.fullmatch, names)):
        return None
    score = places["score"]
    match = _SCORE_HEAD.fullmatch(names[score])
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
    return Columns(
        width=len(names),
        benchmark=benchmark,
        score=score,
        unit=unit,
        mode=places.get("mode", -1),
        threads=places.get("threads", -1),
        error=places.get("error", -1),
        units=places.get("units", -1),
        params=params,
        unread=tuple(unread),
        ends=ends,
    )


def _role(name: str) -> str:
    """Return what a column of JMH holds, by its head; nothing for a name, a parameter or anything else."""
    if _SCORE_HEAD.fullmatch(name):
        return "score"
    return "error" if _ERROR_HEAD.fullmatch(name) else _ROLES.get(name.casefold(), "")


def split_line(line: str, separator: str) -> list[str]:
    """Return the cells of one line, of which some may stand in quotes."""
    if separator == "|":
        return [*table_cells(line)]
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def is_count(text: str) -> bool:
    return len(text) <= 9 and text.isascii() and text.isdecimal()
