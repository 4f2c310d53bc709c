"""What the tools that sample a machine have in common: rows of numbers, named by the metrics they are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean

from benchdash.results.readings import Reading, reading
from ingest.formats.report import CompanionReport, Fact, Intervals
from ingest.formats.source import Source

TIME = "time_s"
SAMPLE = "sample"

# The means that a run gets of its samples, by the column they stand in.
CPU_METRICS = ("cpu_user", "cpu_system", "cpu_wait", "cpu_idle", "cpu_steal")
METRICS = (
    *CPU_METRICS,
    "context_switches_per_s",
    "interrupts_per_s",
    "run_queue",
    "read_mb_per_s",
    "write_mb_per_s",
)

KB_PER_MB = 1024
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:[.,][0-9]{1,9})?")
_BANNER = re.compile(r"Linux (\S+) \(.*\)\s+\S+\s+_(\S+)_\s+\(([0-9]{1,6}) CPU\)")
_TIME_OF_DAY = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[^0-9]?([AP])M)?", re.IGNORECASE)
_DAY = 24 * 60 * 60
# More of a CPU, or of anything else, than there can be.
_MOST_PER_CENT = 101
_LARGEST = 1e15
_MOST_NAMED = 10

Cells = Mapping[str, float | None]


def whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """The lines that have an end, and a warning where the last one has none: its number may be cut short."""
    lines, warnings = source.lines, list(source.warnings)
    if source.ends_with_newline:
        return lines, warnings
    last = f"line {len(lines)}, the last one, has no line end and was not read: the file may be cut off"
    return lines[:-1], [*warnings, last]


def number(text: str) -> float | None:
    """``12.5`` and ``12,5``; None for what is no number or none that can be measured."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace(",", "."))
    return value if 0 <= value < _LARGEST else None


def numbers(texts: Iterable[str]) -> list[float] | None:
    """None where one of them is no number."""
    found = [number(text) for text in texts]
    return None if None in found else [value for value in found if value is not None]


def total(*parts: float) -> float:
    """The sum, without the noise that adding decimals gives."""
    return round(sum(parts), 6)


def is_possible(cells: Cells) -> bool:
    """Whether no CPU was busy for more than all of the time."""
    return all((cells.get(name) or 0) <= _MOST_PER_CENT for name in CPU_METRICS)


def time_of_day(text: str) -> int | None:
    """Seconds since midnight of the first time in a text, such as ``07:54:56 PM``."""
    found = _TIME_OF_DAY.search(text)
    if found is None:
        return None
    hour, minute, second = (int(part) for part in found.group(1, 2, 3))
    if half := found[4]:
        hour = hour % 12 + (12 if half in "pP" else 0)
    return hour * 3600 + minute * 60 + second


def clock_of(moment: datetime | None) -> float | None:
    """The time of day of a moment, in seconds since midnight."""
    return None if moment is None else float(moment.hour * 3600 + moment.minute * 60 + moment.second)


def seconds_after(start: int, later: int) -> int:
    """How long after one time of the day another one comes next."""
    return (later - start) % _DAY


def banner_facts(lines: Sequence[str]) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """What the first line of sysstat's tools says: facts of the hardware, and of the environment."""
    for line in lines[:20]:
        if found := _BANNER.match(line):
            return {"arch": found[2], "cpus": int(found[3])}, {"kernel": found[1]}
    return {}, {}


@dataclass
class Recording:
    """The samples of one tool, as they are read. ``left_out`` are the numbers of lines that are none.

    ``began_s`` is that of CompanionReport.
    """

    source: str
    rows: list[Cells] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)
    began_s: float | None = None

    def add(self, cells: Cells | None, line: int) -> None:
        if cells is None or not is_possible(cells):
            self.left_out.append(line)
        else:
            self.rows.append(cells)

    def report(
        self,
        *,
        means: Mapping[str, float] | None = None,
        hardware: Mapping[str, Fact] | None = None,
        environment: Mapping[str, Fact] | None = None,
        warnings: Sequence[str] = (),
    ) -> CompanionReport:
        """``means`` are those that the tool itself printed; all others are computed from the samples."""
        samples = (_table(self.source, self.rows),) if self.rows else ()
        return CompanionReport(
            samples=samples,
            began_s=self.began_s,
            means=_means(self.rows, means or {}),
            hardware=hardware or {},
            environment=environment or {},
            warnings=(*warnings, *self._warnings()),
        )

    def _warnings(self) -> list[str]:
        if not self.left_out:
            return []
        shown = ", ".join(map(str, self.left_out[:_MOST_NAMED]))
        more = len(self.left_out) - _MOST_NAMED
        others = f" and {more} more" if more > 0 else ""
        return [f"no sample of {self.source}, and left out: line {shown}{others}"]


def _table(source: str, rows: Sequence[Cells]) -> Intervals:
    """One row a sample, led by its time or, where no time is known, by its number."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if TIME in columns:
        columns.remove(TIME)
        return Intervals(
            "", source, (TIME, *columns), tuple((row.get(TIME), *map(row.get, columns)) for row in rows)
        )
    return Intervals(
        "",
        source,
        (SAMPLE, *columns),
        tuple((float(at), *map(row.get, columns)) for at, row in enumerate(rows, 1)),
    )


def _means(rows: Sequence[Cells], printed: Mapping[str, float]) -> tuple[Reading, ...]:
    found = []
    for metric in METRICS:
        values = [value for row in rows if (value := row.get(metric)) is not None]
        if metric in printed:
            found.append(reading(metric, printed[metric]))
        elif values:
            found.append(reading(metric, round(fmean(values), 9)))
    return tuple(found)
