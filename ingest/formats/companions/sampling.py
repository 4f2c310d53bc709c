"""What the tools that sample a machine share: rows of numbers under the names of metrics."""

import csv
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean
from typing import TypeVar

from benchdash.results.readings import Reading, reading
from ingest.formats import outputs
from ingest.formats.report import CompanionReport, Fact, Intervals
from ingest.formats.source import Source

TIME = "time_s"
SAMPLE = "sample"

# The means that a run gets of its samples, by the column they stand in.
CPU_METRICS = ("cpu_user", "cpu_system", "cpu_wait", "cpu_idle", "cpu_steal")
METRICS = (
    *CPU_METRICS,
    *("context_switches_per_s", "interrupts_per_s", "run_queue", "read_mb_per_s", "write_mb_per_s"),
)

KB_PER_MB = 1024
_DISK = re.compile(
    r"(?:(?:sd|vd|hd|xvd|dasd)[a-z]{1,3}|nvme[0-9]{1,3}(?:c[0-9]{1,3})?n[0-9]{1,3}|mmcblk[0-9]{1,3}|pmem[0-9]{1,3})"
)
_MADE_OF_MEMORY_OR_FILES = re.compile(r"(?:loop|ram|zram|sr|fd)[0-9]{1,4}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:[.,][0-9]{1,9})?")
_BANNER = re.compile(r"Linux (\S+) \(.*\)\s+\S+\s+_(\S+)_\s+\(([0-9]{1,6}) CPU\)")
_TIME_OF_DAY = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[^0-9]?([AP])M)?", re.IGNORECASE)
_DAY = 24 * 60 * 60
_EPOCH = re.compile(r"[0-9]{9,10}(?:\.[0-9]{1,9})?")
_FRACTION = re.compile(r"(?<=:[0-9]{2})[.,][0-9]{1,9}")
_ZONE_OF_DATE = re.compile(r"(:[0-9]{2} )[A-Z]{2,5} (?=[0-9]{4}$)")
_YEAR_OF_A_CLOCK = 1900
# No CPU can be busier than this, and no other number larger.
_MAX_PER_CENT = 101
_MAX_NUMBER = 1e15
_MAX_NAMED = 10

Cells = Mapping[str, float | None]
Column = TypeVar("Column", bound=Hashable)


def whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """Return the lines that have an end, and all warnings of the source."""
    lines, warnings = outputs.whole_lines(source)
    return lines, [*source.warnings, *warnings]


def warnings_of_starts(tool: str, starts: int, samples: int) -> list[str]:
    """Return warnings where a tool was started more than once, or stopped before its first sample."""
    warnings = []
    if starts > 1:
        warnings.append(f"{tool} was started {starts} times; the samples of the last time were read")
    if not samples:
        warnings.append(f"{tool} printed the averages since the machine started, and no sample after them")
    return warnings


def number(text: str) -> float | None:
    """Return the number of ``12.5`` or ``12,5``; None for a text that is none or cannot be measured."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace(",", "."))
    return value if 0 <= value < _MAX_NUMBER else None


def numbers(texts: Iterable[str]) -> list[float] | None:
    """Return the numbers; None where one of the texts is none."""
    found = [number(text) for text in texts]
    return None if None in found else [value for value in found if value is not None]


def whole_devices(names: Iterable[str]) -> list[str]:
    """Return the disks among these, in the order of their names.

    Partitions, RAID and LVM pass on what a disk does, and would count it again. Where no name is one of a
    disk, all but loop devices and the like.
    """
    distinct = sorted(set(names))
    disks = [name for name in distinct if _DISK.fullmatch(name)]
    return disks or [name for name in distinct if not _MADE_OF_MEMORY_OR_FILES.fullmatch(name)]


def numbers_by_column(columns: Sequence[Column], texts: Sequence[str]) -> dict[Column, float] | None:
    """Return the numbers of the cells that are not empty; None where one of them is none."""
    found = {column: number(text) for column, text in zip(columns, texts, strict=True) if text}
    numbers_ = {column: value for column, value in found.items() if value is not None}
    return numbers_ if len(numbers_) == len(found) else None


def total(*parts: float) -> float:
    """Return the sum, without the noise that adding decimals gives."""
    return round(sum(parts), 6)


def is_possible(cells: Cells) -> bool:
    """Return whether no CPU was busy for more than all of the time."""
    return all((cells.get(name) or 0) <= _MAX_PER_CENT for name in CPU_METRICS)


def time_of_day(text: str) -> int | None:
    """Return seconds since midnight of the first time in a text, such as ``07:54:56 PM``."""
    found = _TIME_OF_DAY.search(text)
    if found is None:
        return None
    hour, minute, second = (int(part) for part in found.group(1, 2, 3))
    if half := found[4]:
        hour = hour % 12 + (12 if half in "pP" else 0)
    return hour * 3600 + minute * 60 + second


def parsed_time(text: str, *patterns: str) -> datetime | None:
    """Return the time that a text gives in one of these patterns; its zone is not known."""
    for pattern in patterns:
        try:
            return datetime.strptime(text, pattern)  # noqa: DTZ007 - only differences are taken
        except ValueError:
            continue
    return None


def moment(text: str) -> datetime | None:
    """Return the time of a stamp before a line: ISO 8601, seconds since 1970, of syslog, ``date`` or a clock.

    Of a clock the day is not known, and of syslog the year: the first one, and a leap year, stand for them.
    """
    text = _ZONE_OF_DATE.sub(r"\1", text.strip().strip("[]():,|-").strip())
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(float(text), UTC)
    try:
        return datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        text = _FRACTION.sub("", text)
    return parsed_time(text, "%H:%M:%S", "%a %b %d %H:%M:%S %Y", "%Y/%m/%d %H:%M:%S") or parsed_time(
        f"2024 {text}", "%Y %b %d %H:%M:%S"
    )


def seconds_between(start: datetime | None, later: datetime | None) -> float | None:
    """Return how many seconds lie between two times; None where one is not known, or only one has a zone.

    Of two times of a clock the later one may be of the next day.
    """
    if start is None or later is None or (start.tzinfo is None) != (later.tzinfo is None):
        return None
    seconds = (later - start).total_seconds()
    return seconds % _DAY if start.year == later.year == _YEAR_OF_A_CLOCK else seconds


def csv_cells(line: str, delimiter: str = ",") -> list[str]:
    """Return the cells of a line; none where its quotes do not fit together."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def clock_of(moment: datetime | None) -> float | None:
    """Return the time of day of a moment, in seconds since midnight: in UTC where it has an offset."""
    if moment is None:
        return None
    if moment.tzinfo:
        return moment.timestamp() % _DAY
    return float(moment.hour * 3600 + moment.minute * 60 + moment.second)


def seconds_after(start: int, later: int) -> int:
    """Return how long after one time of the day another one comes next."""
    return (later - start) % _DAY


def banner_facts(lines: Sequence[str]) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """Return facts of the hardware and of the environment from the first line of sysstat's tools."""
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
        """Return the report. ``means`` were printed by the tool; others are computed from the samples."""
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
        shown = ", ".join(map(str, self.left_out[:_MAX_NAMED]))
        more = len(self.left_out) - _MAX_NAMED
        others = f" and {more} more" if more > 0 else ""
        return [f"no sample of {self.source}, and left out: line {shown}{others}"]


def _table(source: str, rows: Sequence[Cells]) -> Intervals:
    """Return a row for each sample, led by its time or, where no time is known, by its number."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    times: Iterable[float | None] = map(float, range(1, len(rows) + 1))
    first = SAMPLE
    if TIME in columns:
        columns.remove(TIME)
        first, times = TIME, (row.get(TIME) for row in rows)
    table = ((time, *map(row.get, columns)) for time, row in zip(times, rows, strict=True))
    return Intervals("", source, (first, *columns), tuple(table))


def _means(rows: Sequence[Cells], printed: Mapping[str, float]) -> tuple[Reading, ...]:
    found = []
    for metric in METRICS:
        values = [value for row in rows if (value := row.get(metric)) is not None]
        if metric in printed:
            found.append(reading(metric, printed[metric]))
        elif values:
            found.append(reading(metric, round(fmean(values), 9)))
    return tuple(found)
