"""Code that the formats of tool outputs share: lines, numbers, and reading several runs of one file."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar

from ingest.budget import check_budget
from ingest.formats.cells import decimals
from ingest.formats.places import told_apart
from ingest.formats.report import Fact, FormatError, Intervals, ParsedRun, listed
from ingest.formats.source import Source
from ingest.masking import mask_text


class ToolOutput(Protocol):
    """The output of a tool for one run. ``line`` is the number of its first line."""

    @property
    def line(self) -> int: ...


Output = TypeVar("Output", bound=ToolOutput)
Read = tuple[ParsedRun, Iterable[Intervals], Sequence[str]]

MAX_THREADS = 1_000_000
MAX_WARNINGS = 20
MAX_QUOTED = 160

_PLAIN_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_NEGATIVE_NUMBER = re.compile(r"-[0-9]{1,18}(?:\.[0-9]{1,18})?")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,15}")


def whole_lines(source: Source, *, closing: re.Pattern[str] | None = None) -> tuple[Sequence[str], list[str]]:
    """Return the lines that have an end, and a warning where the last one has none: it may be cut short.

    A last line that is such as ``closing`` is whole without an end, and returned too; one with which a list
    of JSON is closed needs no warning.
    """
    lines = source.lines
    if source.ends_with_newline or lines[-1].strip("} ") == "]":
        return lines, []
    if closing and closing.fullmatch(lines[-1].strip()):
        return lines, missing_line_end(source)
    last = f"line {len(lines)}, the last one, has no line end and was not read: the file may be cut off"
    return lines[:-1], [last]


def missing_line_end(source: Source) -> list[str]:
    """Return a warning where the last line has no end, though it was read."""
    if source.ends_with_newline:
        return []
    return [f"line {len(source.lines)}, the last one, has no line end: the file may be cut off"]


def in_order(*numbers: float) -> bool:
    """Return whether no number is larger than the next one, as least, average and greatest are."""
    return all(lower <= higher for lower, higher in pairwise(numbers))


def read_runs(
    outputs: Sequence[Output], read: Callable[[Output, str], Read], lines: Sequence[str], *, blame: int = -1
) -> tuple[tuple[ParsedRun, ...], tuple[Intervals, ...], list[str]]:
    """Read outputs as runs with their tables and warnings; of several runs the keys are ``1``, ``2``, ...

    Runs of one workload under different headings of a document (``lines``) are told apart by these. An output
    that cannot be read is left out with a warning. Where none can be, the error of the output ``blame`` is
    raised.
    """
    alone = len(outputs) == 1
    runs: list[ParsedRun] = []
    intervals: list[Intervals] = []
    warnings: list[str] = []
    errors: list[FormatError] = []
    first_lines: list[int] = []
    for position, output in enumerate(outputs, start=1):
        check_budget(output.line)
        try:
            run, tables, notes = read(output, "" if alone else str(position))
        except FormatError as error:
            errors.append(error)
            notes = [f"left out: {error.message} (line {error.line})"]
        else:
            runs.append(run)
            first_lines.append(output.line)
            intervals += tables
        warnings += notes if alone else [f"run {position}: {note}" for note in notes]
    if not runs:
        raise errors[blame]
    notes_on_places: Sequence[str] = ()
    if lines:
        runs, notes_on_places = told_apart(runs, first_lines, lines)
    return tuple(runs), tuple(intervals), [*notes_on_places, *warnings]


def distinct(runs: Sequence[ParsedRun]) -> tuple[ParsedRun, ...]:
    """Return the runs with unique keys, an empty one where it is alone; of one key they are repetitions."""
    if len(runs) == 1:
        return (replace(runs[0], key=""),)
    times = Counter(run.key for run in runs)
    seen: Counter[str] = Counter()
    repetitions = []
    for run in runs:
        seen[run.key] += 1
        number = seen[run.key]
        repetition = replace(run, key=f"{run.key}/{number}", repetition=number)
        repetitions.append(repetition if times[run.key] > 1 else run)
    return tuple(repetitions)


def bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the first warnings, and how many more there are."""
    beyond = len(warnings) - MAX_WARNINGS
    return tuple(warnings) if beyond <= 0 else (*warnings[:MAX_WARNINGS], f"{beyond} more such warnings")


def quoted(text: str) -> str:
    """Quote text of the file for a message: short, and without secrets."""
    return repr(mask_text(text[: MAX_QUOTED + 40])[:MAX_QUOTED])


def given_twice(what: str, line: int) -> FormatError:
    """Return the error for a line that a report has already."""
    return FormatError(f"{what} is there twice: did two processes write into one file?", line)


def not_a_number(text: str, tool: str, line: int) -> FormatError:
    """Return the error for a text that stands where the tool prints a number."""
    if _NEGATIVE_NUMBER.fullmatch(text):
        return FormatError(
            f"{text} is negative, which no rate and no time can be: was the clock of the machine set back?",
            line,
        )
    return FormatError(f"{quoted(text)} is not a number that {tool} prints", line)


def contradiction(figure: str, other: str, line: int) -> FormatError:
    """Return the error for two figures of a file that cannot both be right."""
    return FormatError(f"{figure}, but {other}: one of the two is wrong", line)


def missing(names: Sequence[str], line: int) -> str:
    """Return the warning of what a whole output has and this one lacks."""
    return f"missing up to line {line}: {listed(names)}"


def option(text: str) -> Fact:
    """Return what a tool was told: yes or no, a whole number, or a text without secrets."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else mask_text(text[:500])


def measured(
    text: str, line: int, problem: str, *, pattern: re.Pattern[str] = _PLAIN_NUMBER, most: float = 1e13
) -> float:
    """Return a printed number. Raise FormatError with the problem where it was not measured."""
    if not pattern.fullmatch(text):
        raise FormatError(f"{quoted(text)} {problem}", line)
    if (value := float(text)) > most:
        raise FormatError(f"{text} is too large to have been measured", line)
    return value


class PrintedNumber(NamedTuple):
    """A number with its text. ``rounding`` is half of the last digit that is printed."""

    value: float
    rounding: float
    line: int
    text: str

    @classmethod
    def of(cls, value: float, text: str, line: int) -> "PrintedNumber":
        return cls(value, 0.5 * 10.0 ** -decimals(text), line, text)
