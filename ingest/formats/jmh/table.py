"""The rows of the table at the end of JMH's text, and of its CSV, and the benchmarks that they belong to."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.formats.jmh.numbers import (
    NUMBER,
    NUMBER_WITH_BLANKS,
    NumberStyle,
    style_of,
)
from ingest.formats.jmh.results import (
    MODES,
    NOT_APPLICABLE,
    PERCENTILES,
    Result,
    Score,
    interval_around,
    is_plausible,
    metric_name,
    score_percentile,
    score_scale,
    workload_name,
)
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import FormatError, listed

_ERROR_HEAD = r"(?:(?:Score|Mean)\s+)?\(?[Ee]rror\)?(?:\s+\(?99[.,]9%\)?)?"
_HEADER = re.compile(
    r"\s*Benchmark(?P<params>(?:\s+\(\S+\))*)\s+(?P<mode>Mode\s+)?"
    r"(?P<counts>(?:(?:Thr|Threads|Cnt|Count|Samples|Sec)\s+)*)"
    rf"(?:Score|Mean)(?:\s+{_ERROR_HEAD})?\s+Units?\s*"
)
# Java prints question marks where standard output cannot hold the signs ± and ≈. The others are what is
# left of them where one encoding was taken for another.
_ERROR_SIGN = re.compile(r"(?:[±?ñ\ufffd]|Â±|┬▒)?\(99[.,]9%\)|[±ñ卤∓]|Â±|В±|┬▒|¡À|\+ ?/? ?[-−]")
# Remarks that somebody adds: ``62.715 (+5 %)``, ``62.715 us/op (fastest)``, ``62.715 us/op  // fastest``.
_REMARK = re.compile(r"(?:(?<!\s)\s++)?\([^()]*\)\s*+|\s(?://|#\s|<-|←).*")
_ABOUT_SIGN = re.compile("≈|÷|â‰ˆ|Ôëê|~")
# Between two numbers any other sign that is not of ASCII was once ±.
_SIGN = r"(?:[±?]|[^\x00-\x7f]{1,3})"
UNIT = r"(?P<unit>[^\s0-9](?:[^\s/]|/(?! ))*+(?: ?/ ?[^\s0-9]\S*)?)"
_ABOUT = re.compile(rf"[≈?\ufffd] (?P<power>\S+) {UNIT}")
_SCORE = re.compile(rf"(?P<score>{NUMBER})(?: (?P<error>{NUMBER}))? {UNIT}")
_SCORE_WITH_SIGN = re.compile(
    rf"(?P<score>{NUMBER_WITH_BLANKS}) {_SIGN} (?P<error>{NUMBER_WITH_BLANKS}) {UNIT}"
)
# Two numbers that are none: both of JMH's have decimals.
_SCORE_WITH_BLANKS = re.compile(rf"(?P<score>[0-9]{{1,3}}(?: [0-9]{{3}})+[.,][0-9]+)(?P<error>) {UNIT}")
_POWER_OF_TEN = re.compile(r"10\^?(-?[0-9]{1,4})")
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_THREADS = ("Thr", "Threads")

# Rows that JMH prints together or not at all.
_TOGETHER = (
    tuple(map(score_percentile, PERCENTILES)),
    ("gc.alloc.rate", "gc.alloc.rate.norm", "gc.count"),
)

# A benchmark, its parameters and its mode.
Key = tuple[str, tuple[tuple[str, str], ...], str | None]


class Printed(NamedTuple):
    """A number and its unit as printed; ``measured`` is None for NaN and where the digits are lost."""

    unit: str
    measured: Score | None
    is_lost: bool = False


class NumberText(NamedTuple):
    """A number as it stands in a table, with its error, which may be empty, and its unit.

    ``power`` is what stands in the place of both where only a power of ten is printed.
    """

    score: str
    error: str
    unit: str
    power: str | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        return (self.score, self.error) if self.error else (self.score,) if self.power is None else ()

    def printed(self, style: NumberStyle) -> Printed | None:
        """Return the number; None where it is too large to have been measured.

        Raise ValueError where it is printed in another style than this one.
        """
        if self.power is not None:
            power = _power_of_ten(self.power)
            measured = None if power is None else Score(power, self.unit, None, True)
            return Printed(self.unit, measured, is_lost=power is None)
        error = style.value_of(self.error) if self.error else None
        score = style.value_of(self.score)
        if score is None:
            return Printed(self.unit, None)
        if not is_plausible(score) or not is_plausible(error or 0):
            return None
        return Printed(self.unit, Score(score, self.unit, interval_around(score, error)))


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


@dataclass(slots=True, eq=False)
class BenchmarkEntry:
    """The rows that belong to one benchmark with its parameters and mode."""

    line: int
    benchmark: str
    params: Mapping[str, str]
    mode: str | None
    threads: int | None
    key: Key
    printed: Printed | None = None
    secondary: dict[str, Score] = field(default_factory=dict)

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)

    @property
    def score(self) -> Score | None:
        """The score; None where the row is missing or has none of its digits."""
        return None if self.problem else self.printed.measured if self.printed else None

    @property
    def problem(self) -> str:
        """Why there is no score, or nothing."""
        if not self.printed:
            return "no row has its score"
        if self.printed.is_lost:
            return "its score is printed with signs that its file cannot hold; JMH's JSON has its digits"
        if not self.printed.measured:
            return "its score is not a number"
        if self.printed.measured.score == 0 and not self.printed.measured.approximate:
            return "its score is printed as 0, without a digit of it; JMH's JSON has them"
        return ""

    @property
    def result(self) -> Result | None:
        if not (score := self.score):
            return None
        return Result(
            benchmark=self.benchmark,
            params=self.params,
            mode=self.mode,
            threads=self.threads,
            score=score,
            secondary=self.secondary,
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """The metrics whose rows JMH prints with others that are here."""
        present = self.secondary.keys() | ({score_percentile(0)} if self.mode == "sample" else set())
        families = [names for names in _TOGETHER if names[0] in present]
        return tuple(name for names in families for name in names if name not in self.secondary)


class BenchmarkEntries(list[BenchmarkEntry]):
    """The benchmarks of one table, in the order of their first rows."""

    def __init__(self) -> None:
        super().__init__()
        self._latest: dict[Key, BenchmarkEntry] = {}

    def add(self, line: int, row: ScoreRow, printed: Printed) -> None:
        """Take a row with its number. Raise FormatError for a score in a unit that is none of JMH's."""
        key = (row.benchmark, applicable(row.params), row.mode)
        entry = self._latest.get(key)
        if not row.label:
            _check_score(row, printed, line, entry)
        if entry is None or (not row.label and entry.printed):
            entry = BenchmarkEntry(line, row.benchmark, row.params, row.mode, row.threads, key)
            self._latest[key] = entry
            self.append(entry)
        if not row.label:
            entry.printed, entry.threads = printed, row.threads
        elif printed.measured:
            entry.secondary[metric_name(row.label, row.benchmark.rpartition(".")[2])] = printed.measured


def warnings_of(entries: Iterable[BenchmarkEntry]) -> Iterator[str]:
    """Yield what is missing of these benchmarks; of rows that many of them lack one warning."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        if entry.problem:
            yield f"{entry.workload} was left out: {entry.problem}"
        elif entry.missing:
            lacking.setdefault(entry.missing, []).append(entry.workload)
    for metrics, (first, *others) in lacking.items():
        have = f"{first} has" if not others else f"{first} and {len(others)} more have"
        yield f"{have} no row for {listed([*metrics])}: the file is cut off, or JMH is an old one"


def _check_score(row: ScoreRow, printed: Printed, line: int, above: BenchmarkEntry | None) -> None:
    if printed.measured and not score_scale(printed.unit):
        raise FormatError(
            f"the unit {printed.unit[:40]!r} is neither a time per operation nor operations per time", line
        )
    if above and above.printed and not row.mode:
        raise FormatError(
            f"{above.workload} stands in line {above.line} too, and no column tells them apart", line
        )


def applicable(params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the parameters that a benchmark has, without those of its neighbours."""
    return tuple(
        [(name, " ".join(value.split())) for name, value in params.items() if value != NOT_APPLICABLE]
    )


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """The head of a table: the names of its parameters, where their columns end, what it has.

    ``counts`` are the columns between mode and score: threads, iterations or samples, seconds.
    """

    params: tuple[str, ...]
    ends: list[int]
    has_mode: bool
    counts: tuple[str, ...]

    def row(self, line: str) -> ScoreRow | None:
        """Return the row that a line is; None where it is none."""
        name, *rest = line.split()
        values, mode, numbers = self._parts(rest)
        counts, numbers = self._counts(numbers) if numbers else (None, [])
        params = self._params(line, name, values)
        number = number_text(" ".join(numbers))
        if params is None or counts is None or number is None or (self.has_mode and mode is None):
            return None
        benchmark, _, label = name.partition(":")
        threads = next((counts[name] for name in _THREADS if name in counts), None)
        return ScoreRow(benchmark, label, params, mode, threads, number)

    def _parts(self, rest: list[str]) -> tuple[list[str], str | None, list[str]]:
        """Return the words of the parameters, the mode, and the words of the numbers.

        The mode is searched for from the right, because the value of a parameter may hold spaces.
        """
        if not self.has_mode:
            return rest[: len(self.params)], None, rest[len(self.params) :]
        position = next((place for place in reversed(range(len(rest))) if rest[place] in MODES), None)
        if position is None:
            return [], None, []
        return rest[:position], rest[position], rest[position + 1 :]

    def _counts(self, words: list[str]) -> tuple[dict[str, int] | None, list[str]]:
        """Return the counts before the score, and the words of the score; None where the counts are none.

        A single count is left out for what was not counted.
        """
        if len(self.counts) == 1 and not (is_count(words[0]) and number_text(" ".join(words[1:]))):
            return {}, words
        texts = words[: len(self.counts)]
        if not all(is_count(text) for text in texts):
            return None, []
        counts = dict(zip(self.counts, map(int, texts), strict=False))
        is_odd = any(not 1 <= counts.get(name, 1) <= MAX_THREADS for name in _THREADS)
        return None if is_odd else counts, words[len(self.counts) :]

    def _params(self, line: str, name: str, words: list[str]) -> dict[str, str] | None:
        """Return the values of the parameters; None where the words do not fit into the columns."""
        values = self._aligned_values(line, name)
        if " ".join(values).split() != words:
            values = [" ".join(words)] if len(self.params) == 1 else words
        return dict(zip(self.params, values, strict=True)) if len(values) == len(self.params) else None

    def _aligned_values(self, line: str, name: str) -> list[str]:
        """Return the values as JMH places them, with spaces or empty; none where a person moved them.

        JMH aligns them to the right: each ends where the head of its column ends.
        """
        starts = [line.index(name) + len(name), *self.ends]
        cells = [line[start:end] for start, end in zip(starts, self.ends, strict=False)]
        is_aligned = all(cell[-1:].strip() or not cell.strip() for cell in cells)
        return [" ".join(cell.split()) for cell in cells] if is_aligned else []


def columns_of(line: str) -> ScoreColumns | None:
    """Return the columns that the head of a table names; None where the line is no such head."""
    head = _HEADER.fullmatch(line) if "Benchmark" in line else None
    if not head:
        return None
    params = list(re.finditer(r"\S+", head["params"]))
    return ScoreColumns(
        params=tuple(param.group()[1:-1] for param in params),
        ends=[head.start("params") + param.end() for param in params],
        has_mode=head["mode"] is not None,
        counts=tuple(head["counts"].split()),
    )


def number_text(text: str) -> NumberText | None:
    """Return the parts of ``62.715 ± 2.402 us/op``, ``≈ 10⁻⁶ s/op`` or ``NaN ---``; None for other texts."""
    words = with_usual_signs(text)
    match = (
        _SCORE_WITH_BLANKS.fullmatch(words) or _SCORE.fullmatch(words) or _SCORE_WITH_SIGN.fullmatch(words)
    )
    if match:
        return NumberText(match["score"], match["error"] or "", match["unit"].replace(" ", ""))
    about = _ABOUT.fullmatch(words)
    return NumberText("", "", about["unit"].replace(" ", ""), about["power"]) if about else None


def with_usual_signs(text: str) -> str:
    """Return the text of a number with ± and ≈ for what was printed instead of them, and single blanks.

    A remark in parentheses and the signs of bold text, which somebody added, are left out.
    """
    if text.replace(".", "", 1).isdecimal():
        return text
    text = _REMARK.sub(" ", _ERROR_SIGN.sub(" ± ", " ".join(text.split())))
    return " ".join(_ABOUT_SIGN.sub(" ≈ ", text).replace("’", "'").replace("**", "").split())


def printed_number(text: str) -> Printed | None:
    """Return a number that stands alone; None for other texts, and for one that is too large."""
    found = number_text(text)
    if not found:
        return None
    try:
        return found.printed(style_of(found.numbers))
    except ValueError:
        return None


def is_count(text: str) -> bool:
    return len(text) <= 9 and text.isascii() and text.isdecimal()


def _power_of_ten(text: str) -> float | None:
    if text == "0":
        return 0.0
    match = _POWER_OF_TEN.fullmatch(text.translate(_SUPERSCRIPTS))
    return float(f"1e{match[1]}") if match else None
