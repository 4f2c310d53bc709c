"""The table that ends JMH's text output, and numbers as JMH prints them in text."""

import re
from dataclasses import dataclass

from ingest.formats.jmh_results import MODES, Measured, is_plausible

_HEADER = re.compile(
    r"\s*Benchmark(?P<params>(?:\s+\(\S+\))*)\s+(?P<mode>Mode\s+)?(?P<count>(?:Cnt|Samples)\s+)?"
    r"(?:Score|Mean)(?:\s+(?:Score\s+|Mean\s+)?[Ee]rror)?\s+Units\s*"
)
# Where standard output could not hold the signs ± and ≈, Java prints question marks.
_ERROR_SIGN = re.compile(r"[±?]?\(99[.,]9%\)|±|\+/?-")
_DIGITS = r"\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
_SCORE = (
    rf"(?P<score>[≈?] \S+|{_DIGITS}|NaN|Infinity)"
    rf"(?: (?:[±?] )?(?P<error>{_DIGITS}|NaN|Infinity))? (?P<unit>\S+)"
)
_SCORE_ONLY = re.compile(_SCORE)
_COUNT_AND_SCORE = re.compile(rf"(?:\d+ )?{_SCORE}")
_POWER_OF_TEN = re.compile(r"10\^?(-?\d{1,4})")
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number and its unit as printed; ``measured`` is None for NaN and where its digits are lost."""

    unit: str
    measured: Measured | None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: of a benchmark, or with a label (``gc.count``, ``p0.50``) of one of its secondary results."""

    benchmark: str
    label: str
    params: dict[str, str]
    mode: str | None
    printed: Printed


@dataclass(frozen=True, slots=True)
class Columns:
    """What the head of a table says: the names of its parameters, where their columns end, what it has."""

    params: tuple[str, ...]
    ends: tuple[int, ...]
    has_mode: bool
    has_count: bool

    def row(self, line: str) -> TableRow | None:
        """The row that a line is; None where it is none."""
        name, *rest = line.split()
        values, mode, numbers = self._parts(rest)
        params = self._params(line, name, values)
        printed = printed_number(" ".join(numbers), may_have_count=self.has_count)
        if params is None or printed is None or (self.has_mode and mode is None):
            return None
        benchmark, _, label = name.partition(":")
        return TableRow(benchmark, label, params, mode, printed)

    def _parts(self, rest: list[str]) -> tuple[list[str], str | None, list[str]]:
        """The words of the parameters, the mode, and the words of the numbers.

        The mode is searched for from the right, because the value of a parameter may hold spaces.
        """
        if not self.has_mode:
            return rest[: len(self.params)], None, rest[len(self.params) :]
        found = next((place for place in reversed(range(len(rest))) if rest[place] in MODES), None)
        if found is None:
            return [], None, []
        return rest[:found], rest[found], rest[found + 1 :]

    def _params(self, line: str, name: str, words: list[str]) -> dict[str, str] | None:
        """The values of the parameters; None where the words do not fit into the columns."""
        values = self._aligned_values(line, name)
        if " ".join(values).split() != words:
            values = [" ".join(words)] if len(self.params) == 1 else words
        return dict(zip(self.params, values, strict=True)) if len(values) == len(self.params) else None

    def _aligned_values(self, line: str, name: str) -> list[str]:
        """The values as JMH places them, which may hold spaces or nothing; none where a person moved them.

        JMH aligns them to the right: each ends where the head of its column ends.
        """
        starts = (line.index(name) + len(name), *self.ends)
        cells = [line[start:end] for start, end in zip(starts, self.ends, strict=False)]
        is_aligned = all(cell[-1:].strip() or not cell.strip() for cell in cells)
        return [" ".join(cell.split()) for cell in cells] if is_aligned else []


def columns_of(line: str) -> Columns | None:
    """The columns that the head of a table names; None where the line is no such head."""
    head = _HEADER.fullmatch(line)
    if not head:
        return None
    params = list(re.finditer(r"\S+", head["params"]))
    return Columns(
        params=tuple(param.group()[1:-1] for param in params),
        ends=tuple(head.start("params") + param.end() for param in params),
        has_mode=head["mode"] is not None,
        has_count=head["count"] is not None,
    )


def printed_number(text: str, *, may_have_count: bool = False) -> Printed | None:
    """``62.715 ± 2.402 us/op``, ``≈ 10⁻⁶ s/op``, ``NaN ---``; None for anything else.

    With ``may_have_count`` the number of samples may stand before it, and is not used.
    """
    words = " ".join(_ERROR_SIGN.sub(" ± ", text).replace("≈", " ≈ ").split())
    found = (_COUNT_AND_SCORE if may_have_count else _SCORE_ONLY).fullmatch(words)
    if not found:
        return None
    approximate = found["score"].startswith(("≈", "?"))
    score = _power_of_ten(found["score"][2:]) if approximate else _number(found["score"])
    error = _number(found["error"] or "NaN")
    if not all(is_plausible(number) for number in (score, error) if number is not None):
        return None
    return Printed(
        unit=found["unit"],
        measured=None if score is None else Measured(score, found["unit"], error, approximate),
    )


def _number(text: str) -> float | None:
    return None if text in ("NaN", "Infinity") else float(text.replace(",", "."))


def _power_of_ten(text: str) -> float | None:
    if text == "0":
        return 0.0
    found = _POWER_OF_TEN.fullmatch(text.translate(_SUPERSCRIPTS))
    return float(f"1e{found[1]}") if found else None
