"""Tools that sample a machine: a declaration of their columns, and the samples and means that follow."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from benchdash.results.readings import Reading, reading
from ingest.formats import outputs
from ingest.formats.report import CompanionReport, Fact, FormatError, Intervals
from ingest.formats.source import Source

TIME = "time_s"
SAMPLE = "sample"

# The means that a run gets of its samples, by the column they stand in.
CPU_METRICS = ("cpu_user", "cpu_system", "cpu_wait", "cpu_idle", "cpu_steal")
METRICS = (
    *CPU_METRICS,
    *("context_switches_per_s", "interrupts_per_s", "run_queue", "read_mb_per_s", "write_mb_per_s"),
)

# How much one of a printed unit is in MB.
MB_OF_UNIT = {"": 1.0, "MB": 1.0, "kB": 1 / 1024, "sectors": 1 / 2048, "B": 1 / 1024**2}
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
_MAX_NAME_LENGTH = 90

Cells = Mapping[str, float | None]


def whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """Return the lines that have an end, and all warnings of the source."""
    lines, warnings = outputs.whole_lines(source)
    return lines, [*source.warnings, *warnings]


def number(text: str) -> float | None:
    """Return the number of ``12.5`` or ``12,5``; None for a text that is none or cannot be measured."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace(",", "."))
    return value if 0 <= value < _MAX_NUMBER else None


def numbers_of(columns: Sequence[str], texts: Sequence[str]) -> dict[str, float] | None:
    """Return the numbers of the cells that are not empty; None where one is none, or cells are missing."""
    cells = dict(zip(columns, texts, strict=False))
    numbers = {name: value for name, text in cells.items() if (value := number(text)) is not None}
    is_whole = len(columns) == len(texts) and all(name in numbers or not text for name, text in cells.items())
    return numbers if is_whole else None


def cells_of(
    values: Mapping[str, float], metrics: Mapping[str, str], kept: str = "(?!)", unit: float = 1
) -> dict[str, float]:
    """Return the samples that the metrics of columns say, and columns with names such as ``kept``.

    A metric may have a unit behind it, of which ``unit`` is printed: ``read_mb_per_s:kB``. Shares of CPU time
    with one metric are added; of other columns with one metric the first counts.
    """
    cells: dict[str, float] = {}
    for name, value in values.items():
        metric, _, scale = metrics.get(name, "").partition(":")
        if metric in CPU_METRICS:
            # Decimals are added without the noise that this gives.
            cells[metric] = round(cells[metric] + value, 6) if metric in cells else value
        elif metric:
            cells.setdefault(metric, value * MB_OF_UNIT[scale] * (unit if scale else 1))
        elif re.match(kept, name):
            cells[name[:_MAX_NAME_LENGTH]] = value
    return cells


def whole_devices(names: Iterable[str]) -> list[str]:
    """Return the disks among these, in the order of their names.

    Partitions, RAID and LVM pass on what a disk does, and would count it again. Where no name is one of a
    disk, all but loop devices and the like.
    """
    distinct = sorted(set(names))
    disks = [name for name in distinct if _DISK.fullmatch(name)]
    return disks or [name for name in distinct if not _MADE_OF_MEMORY_OR_FILES.fullmatch(name)]


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
    seconds = round((later - start).total_seconds(), 3)
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


def seconds_after(start: float, later: float) -> float:
    """Return how long after one time of the day another one comes next."""
    return float(later - start) % _DAY


def banner_facts(lines: Sequence[str]) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """Return facts of the hardware and of the environment from the first line of sysstat's tools."""
    for line in lines[:20]:
        if found := _BANNER.match(line):
            return {"arch": found[2], "cpus": int(found[3])}, {"kernel": found[1]}
    return {}, {}


@dataclass
class Samples:
    """The samples of one tool, as they are read. ``left_out`` are the numbers of lines that are none.

    ``began_s`` is that of CompanionReport.
    """

    source: str
    rows: list[Cells] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)
    began_s: float | None = None

    def add(self, cells: Cells | None, line: int) -> None:
        """Keep a sample; none of which a CPU was busy for more than all of the time."""
        if cells is None or any((cells.get(name) or 0) > _MAX_PER_CENT for name in CPU_METRICS):
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
        shown = ", ".join(map(str, sorted(self.left_out)[:_MAX_NAMED]))
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
    means = dict(printed)
    for metric in METRICS:
        if values := [value for row in rows if (value := row.get(metric)) is not None]:
            means.setdefault(metric, round(fmean(values), 9))
    return tuple(reading(metric, means[metric]) for metric in METRICS if metric in means)


class SampleRow(NamedTuple):
    """The numbers of a line by their columns, None where it is no sample, and the time that stands in it."""

    values: Mapping[str, float] | None
    time: datetime | None = None


@dataclass(frozen=True, eq=False)
class SamplingTool:
    """A tool that prints a line an interval, of which the first tells of the time before it was started.

    ``heads`` returns the names of the columns where a line has them, below the line before it; ``row`` reads
    a line under them. ``metrics`` and ``kept`` are those of ``cells_of``, and ``unit`` finds the unit in all
    lines. ``complete`` adds values that follow from others. ``skipped`` are lines that are no rows. Another
    recording begins with a line ``begins``, and with heads that come again after fewer rows than
    ``rows_between_heads``, for no terminal is so low.
    """

    name: str
    heads: Callable[[str, str], Sequence[str]]
    row: Callable[[Sequence[str], str], SampleRow]
    metrics: Mapping[str, str]
    kept: str = ""
    unit: Callable[[Sequence[str]], float | None] = lambda _: 1
    complete: Callable[[Mapping[str, float]], Mapping[str, float]] = lambda values: values
    skipped: str = "(?!)"
    begins: str = "(?!)"
    rows_between_heads: int = 0

    def recognise(self, head: bytes) -> bool:
        lines = head.decode(errors="replace").splitlines()
        return any(self.heads(above, line) for above, line in pairwise(["", *lines]))

    def parse(self, source: Source) -> CompanionReport:
        """Read the last recording of the file. Raise FormatError where no line names the columns."""
        lines, warnings = whole_lines(source)
        recordings = self._recordings(lines)
        if not recordings:
            raise FormatError(f"no line names the columns of {self.name}")
        columns, rows = recordings[-1]
        unit = self.unit(lines)
        samples = Samples(self.name)
        start: datetime | None = None
        for position, (line_number, line) in enumerate(rows):
            values, time = self.row(columns, line)
            time = time or moment(source.time_of(line_number))
            if position == 0:
                start, samples.began_s = time, clock_of(time)
                continue
            cells: dict[str, float] = {}
            if (seconds := seconds_between(start, time)) is not None:
                cells[TIME] = seconds
            if values is not None:
                cells |= cells_of(self.complete(values), self.metrics, self.kept, unit or 1)
            samples.add(None if values is None else cells, line_number)
        if len(recordings) > 1:
            warnings.append(
                f"{self.name} was started {len(recordings)} times; the samples of the last time were read"
            )
        if not samples.rows:
            warnings.append(no_sample(self.name))
        if unit is None:
            warnings.append("what disks did is taken for bytes, as dstat prints them; dool prints bits")
        return samples.report(warnings=warnings)

    def _recordings(self, lines: Sequence[str]) -> list[tuple[Sequence[str], list[tuple[int, str]]]]:
        """Return columns and numbered rows of each recording that has any."""
        recordings: list[tuple[Sequence[str], list[tuple[int, str]]]] = []
        columns: Sequence[str] = ()
        above, since_heads = "", 0
        for number_, line in enumerate(lines, start=1):
            if re.match(self.begins, line):
                columns = ()
            elif heads := self.heads(above, line):
                if heads != columns or 0 < since_heads < self.rows_between_heads:
                    recordings.append((heads, []))
                columns, since_heads = heads, 0
            elif columns and line.strip() and not re.search(self.skipped, line):
                since_heads += 1
                recordings[-1][1].append((number_, line))
            above = line
        return [recording for recording in recordings if recording[1]] or recordings[-1:]


def no_sample(tool: str) -> str:
    """Return the warning where a tool was stopped before its first sample."""
    return f"{tool} printed the averages of the time before it was started, and no sample after them"
