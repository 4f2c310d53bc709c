"""Tools that sample a machine: a declaration of their columns, and the samples and means that follow."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from benchdash.results.readings import Reading, reading
from ingest.formats.companions.facts import whole_lines
from ingest.formats.report import CompanionReport, Fact, FormatError, Intervals, listed
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
_DAY = 24 * 60 * 60
_EPOCH = re.compile(r"[0-9]{9,10}(?:\.[0-9]{1,9})?")
_FRACTION = re.compile(r"(?<=:[0-9]{2})[.,][0-9]{1,9}")
_ZONE_OF_DATE = re.compile(r"(:[0-9]{2} )[A-Z]{2,5} (?=[0-9]{4}$)")
_STAMPS = ("%H:%M:%S", "%I:%M:%S %p", "%I:%M:%S%p", "%a %b %d %H:%M:%S %Y", "%Y/%m/%d %H:%M:%S")
_YEAR_OF_A_CLOCK = 1900
# No CPU can be busier than this, and no other number larger.
_MAX_PER_CENT = 101
_MAX_NUMBER = 1e15
_MAX_NAME_LENGTH = 90

Cells = Mapping[str, float]


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
    text = _ZONE_OF_DATE.sub(r"\1", " ".join(text.split()).strip("[]():,|-").strip())
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(float(text), UTC)
    try:
        return datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        text = _FRACTION.sub("", text)
    return parsed_time(text, *_STAMPS) or parsed_time(f"2024 {text}", "%Y %b %d %H:%M:%S")


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


def banner_facts(lines: Sequence[str]) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """Return facts of the hardware and of the environment from the first line of sysstat's tools."""
    for line in lines[:20]:
        if found := _BANNER.match(line):
            return {"arch": found[2], "cpus": int(found[3])}, {"kernel": found[1]}
    return {}, {}


Row = tuple[Mapping[str, float] | None, datetime | None]


class ToolSample(NamedTuple):
    """The figures of an interval by their columns: None where the line is no sample, and its time.

    ``is_mean`` of the averages over all that the tool printed at its end.
    """

    line: int
    values: Mapping[str, float] | None
    time: datetime | None = None
    is_mean: bool = False


@dataclass(frozen=True, eq=False)
class SamplingTool:
    """A tool that prints figures an interval, of which the first tell of the time before it was started.

    ``heads`` returns the names of the columns where a line has them, below the line before it. If the lines
    under them are an interval each, ``row`` reads figures and time of one; else ``recorded`` reads all lines,
    and may add warnings. ``metrics`` and ``kept`` are those of ``cells_of``, and ``unit`` finds the unit in
    all lines. ``complete`` adds values that follow from others. ``skipped`` are lines that are no rows.
    Another recording begins with a line ``begins``, and with heads that come again after fewer rows than
    ``rows_between_heads``, for no terminal is so low.
    """

    name: str
    heads: Callable[[str, str], Sequence[str]]
    metrics: Mapping[str, str]
    row: Callable[[Sequence[str], str], Row] = lambda *_: (None, None)
    recorded: Callable[[Sequence[str], list[str]], Sequence[ToolSample]] | None = None
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
        """Read the last recording of the file. Raise FormatError where no line names the columns.

        A sample of which a CPU was busy for more than all of the time is none.
        """
        lines, warnings = whole_lines(source)
        recorded = (self.recorded or self._recorded)(lines, warnings)
        if not recorded:
            raise FormatError(f"no line names the columns of {self.name}")
        unit, rows, left_out = self.unit(lines), list[Cells](), list[int]()
        means: dict[str, float] = {}
        first, *others = (
            one._replace(time=one.time or moment(source.time_of(one.line) if one.line else ""))
            for one in recorded
        )
        for sample in others:
            values = sample.values and self.complete(sample.values)
            cells = None if values is None else cells_of(values, self.metrics, self.kept, unit or 1)
            if cells is None or any(cells.get(name, 0) > _MAX_PER_CENT for name in CPU_METRICS):
                left_out.append(sample.line)
            elif sample.is_mean:
                means |= cells
            else:
                seconds = seconds_between(first.time, sample.time)
                rows.append(cells if seconds is None else {TIME: seconds, **cells})
        if not any(one.values for one in others):
            warnings.append(
                f"{self.name} printed the averages of the time before it was started, "
                "and no sample after them"
            )
        if unit is None:
            warnings.append("what disks did is taken for bytes, as dstat prints them; dool prints bits")
        if left_out:
            shown = listed(list(map(str, sorted(left_out))))
            warnings.append(f"no sample of {self.name}, and left out: line {shown}")
        hardware, environment = banner_facts(lines)
        return CompanionReport(
            samples=(_table(self.name, rows),) if rows else (),
            began_s=clock_of(first.time),
            means=_means(rows, means),
            hardware=hardware,
            environment=environment,
            warnings=tuple(warnings),
        )

    def _recorded(self, lines: Sequence[str], warnings: list[str]) -> Sequence[ToolSample]:
        """Return the samples of the last recording that has any lines."""
        recordings: list[list[ToolSample]] = []
        columns: Sequence[str] = ()
        above, since_heads = "", 0
        for number_, line in enumerate(lines, start=1):
            if re.match(self.begins, line):
                columns = ()
            elif heads := self.heads(above, line):
                if heads != columns or 0 < since_heads < self.rows_between_heads:
                    recordings.append([])
                columns, since_heads = heads, 0
            elif columns and line.strip() and not re.search(self.skipped, line):
                since_heads += 1
                recordings[-1].append(ToolSample(number_, *self.row(columns, line)))
            above = line
        whole = list(filter(None, recordings))
        if len(whole) > 1:
            warnings.append(
                f"{self.name} was started {len(whole)} times; the samples of the last time were read"
            )
        # Heads alone are those of a tool that was stopped at once.
        return whole[-1] if whole else [ToolSample(0, None) for _ in recordings[-1:]]


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
        if values := [row[metric] for row in rows if metric in row]:
            means.setdefault(metric, round(fmean(values), 9))
    return tuple(reading(metric, means[metric]) for metric in METRICS if metric in means)
