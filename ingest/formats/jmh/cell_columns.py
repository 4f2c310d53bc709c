"""JMH's table in cells: in Markdown, as a browser or a spreadsheet copies it, or with commas."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.formats.documents import table_cells
from ingest.formats.jmh.numbers import NUMBER_WITH_BLANKS
from ingest.formats.jmh.results import MODES, scale_of, score_scale
from ingest.formats.jmh.table import UNIT, NumberText, ScoreRow, is_count, number_text, with_usual_signs
from ingest.formats.outputs import MAX_THREADS

# The first line of JMH's own CSV.
CSV_HEAD = re.compile(
    r'\s*"?Benchmark"?(?P<separator>[,;\t])"?Mode"?(?P=separator)"?Threads"?(?P=separator)"?Samples"?'
    r'(?P=separator)"?(?:Score|Mean)"?(?P=separator)"?(?:Score|Mean) Error \(99[.,]9%\)"?'
    r'(?P=separator)"?Unit"?(?:(?P=separator).*)?'
)

_BENCHMARK_HEADS = frozenset({"benchmark", "benchmarks", "benchmark name"})
_NAME_HEADS = frozenset({"", "name", "test", "method", *_BENCHMARK_HEADS})
# Columns of BenchmarkDotNet, which JMH has not, and those that number repetitions.
_FOREIGN_HEADS = re.compile(r"std ?dev\b.*|gen ?[0-2]\b.*", re.IGNORECASE)
_NUMBER_HEADS = frozenset({"#", "run", "trial", "fork", "iteration", "no", "no."})
_HEADS = {
    "mode": frozenset({"mode"}),
    "threads": frozenset({"thr", "thread", "threads"}),
    "counts": frozenset({"cnt", "count", "samples", "sample", "iterations", "forks", "sec"}),
    "units": frozenset({"unit", "units", "单位"}),
}
_SCORE_HEAD = re.compile(
    r"(?:mean )?(?:score|mean|average)(?: ?[(\[](?P<unit>[^()\[\]]+)[)\]])?(?: ?± ?error)?", re.IGNORECASE
)
_ERROR_HEAD = re.compile(
    r"(?:(?:score|mean|margin)\s+(?:of\s+)?)?\(?err(?:or)?\b.*|±.*|\+ ?/? ?-", re.IGNORECASE
)
_PARAMETER = re.compile(r"\((?P<name>[^()]+)\)|Param: (?P<csv>.+)", re.IGNORECASE)
_HAS_UNIT = re.compile(r"\S \([^()]*\)")
_MODE_WORDS = {
    **{mode: mode for mode in MODES},
    "throughput": "thrpt",
    "average": "avgt",
    "sampling": "sample",
    "singleshot": "ss",
    "singleshotinvocation": "ss",
}
_SEPARATORS = "\t|;,"
_LABEL = re.compile(r"(?P<benchmark>[^\s:]+):(?P<label>\S.*)")
_NUMBER_CELL = re.compile(
    rf"(?:(?P<score>{NUMBER_WITH_BLANKS})(?: ± (?P<error>{NUMBER_WITH_BLANKS}))?)?(?: ?{UNIT})?"
)
_MISSING = ("", "-", "–", "—", "n/a", "na")


@dataclass(frozen=True, slots=True)
class CellColumns:
    """The columns of the cells of a row: places counted from 0, None for a column that is not there.

    ``unit`` is what the head of the scores says, ``places`` are those of the parameters. ``unread`` are heads
    of columns that JMH does not print.
    """

    width: int
    benchmark: int
    score: int
    unit: str
    mode: int | None
    threads: int | None
    error: int | None
    units: int | None
    places: Mapping[str, int]
    unread: tuple[str, ...] = ()

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(self.places)

    @property
    def has_mode(self) -> bool:
        return self.mode is not None

    def row(self, cells: Sequence[str]) -> ScoreRow | None:
        """Return the row that the cells are; None where they are none."""
        if any(cell.strip() for cell in cells[self.width :]):
            return None
        cells = [*cells, *[""] * (self.width - len(cells))]
        name = " ".join(cells[self.benchmark].split())
        mode = None if self.mode is None else _mode_of(cells[self.mode])
        threads = "" if self.threads is None else cells[self.threads].strip()
        number = self._number(cells)
        is_odd = threads and not (is_count(threads) and 1 <= int(threads) <= MAX_THREADS)
        if not name or number is None or is_odd or (self.has_mode and mode is None):
            return None
        labelled = _LABEL.fullmatch(name)
        return ScoreRow(
            benchmark=labelled["benchmark"] if labelled else name,
            label=labelled["label"] if labelled else "",
            params={name: " ".join(cells[place].split()) for name, place in self.places.items()},
            mode=mode,
            threads=int(threads) if threads else None,
            number=number,
        )

    def _number(self, cells: Sequence[str]) -> NumberText | None:
        """Return the number of a row. Its error and its unit may stand in the cell of the score too."""
        score = with_usual_signs(cells[self.score])
        error = "" if self.error is None else with_usual_signs(cells[self.error])
        unit = (cells[self.units].strip() if self.units is not None else "") or self.unit
        if score.casefold() in _MISSING:
            return NumberText("NaN", "", unit or "---")
        if score.startswith("≈"):
            return number_text(score) or number_text(f"{score} {unit}")
        match = _NUMBER_CELL.fullmatch(score)
        beside = _NUMBER_CELL.fullmatch(
            "" if error.casefold() in _MISSING else error.removeprefix("±").strip()
        )
        if not match or not match["score"] or not beside or beside["error"]:
            return None
        unit = match["unit"] or beside["unit"] or unit
        error = match["error"] or beside["score"] or ""
        return NumberText(match["score"], error, unit.replace(" ", "")) if unit else None


def cell_columns_of(head: Sequence[str]) -> CellColumns | None:
    """Return the columns that the head of a table names; None where it is not the head of JMH's.

    It has a score, and a mode, a number of samples or a unit of JMH beside it. Columns before those are
    parameters, in parentheses or not, except for the names of the benchmarks. These may have any head where
    that of the scores has their unit.
    """
    names = [" ".join(cell.split()) for cell in head]
    places = {role: place for place, role in reversed([*enumerate(map(_role, names))]) if role}
    score = places.get("score")
    if not names or not score or any(map(_FOREIGN_HEADS.fullmatch, names)):
        return None
    unit = _unit_of(names[score])
    folded = [name.casefold() for name in names]
    first = min(place for role, place in places.items() if role != "threads" and place > 0)
    benchmark = next((place for place in range(first) if folded[place] in _BENCHMARK_HEADS), 0)
    is_named = folded[benchmark] in _NAME_HEADS or "mode" in places
    is_told_by_unit = scale_of(unit) is not None and not (
        folded[0] in _NUMBER_HEADS or any(map(_HAS_UNIT.search, names[:first]))
    )
    if not (is_told_by_unit or (is_named and (score_scale(unit) or "units" in places))):
        return None
    params = {
        _parameter(name): place
        for place, name in enumerate(names)
        if place != benchmark and _is_parameter(name, place, first)
    }
    known = {benchmark, *params.values(), *(place for place, name in enumerate(names) if _role(name))}
    unread = [name for place, name in enumerate(names) if place not in known and name]
    return CellColumns(
        width=len(names),
        benchmark=benchmark,
        score=score,
        unit=unit,
        mode=places.get("mode"),
        threads=places.get("threads"),
        error=places.get("error"),
        units=places.get("units"),
        places=params,
        unread=tuple(unread),
    )


def separator_of(line: str) -> str:
    """Return the sign between the cells of a line that is the head of such a table; else nothing.

    JMH's own CSV is a format of its own.
    """
    if ("core" not in line and "ean" not in line) or CSV_HEAD.fullmatch(line):
        return ""
    return next(
        (sign for sign in _SEPARATORS if sign in line and cell_columns_of(split_line(line, sign))), ""
    )


def split_line(line: str, separator: str) -> list[str]:
    """Return the cells of one line, of which some may stand in quotes."""
    if separator == "|":
        return [*table_cells(line)]
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def _role(name: str) -> str:
    """Return what a column of JMH holds, by its head; nothing for a name, a parameter or anything else."""
    folded = name.casefold()
    if _SCORE_HEAD.fullmatch(name):
        return "score"
    if _ERROR_HEAD.fullmatch(name):
        return "error"
    for role, heads in _HEADS.items():
        if folded in heads:
            return role
    return ""


def _unit_of(head: str) -> str:
    match = _SCORE_HEAD.fullmatch(head)
    return (match["unit"] or "").replace(" ", "") if match else ""


def _is_parameter(name: str, place: int, first: int) -> bool:
    return bool(_PARAMETER.fullmatch(name) or (place < first and name and not _role(name)))


def _parameter(name: str) -> str:
    match = _PARAMETER.fullmatch(name)
    return (match["name"] or match["csv"]).strip() if match else name


def _mode_of(cell: str) -> str | None:
    return _MODE_WORDS.get(re.sub(r"[\s_-]|time$", "", cell.casefold())) or _MODE_WORDS.get(cell.strip())
