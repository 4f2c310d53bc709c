"""The values of one run as a declaration names them, with their units converted to those of the metrics."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from sys import intern

from benchdash.results.readings import HIGHER, LOWER, UNKNOWN, Direction, Reading, known_metric, reading
from benchdash.results.units import NANOSECONDS
from ingest.formats.limits import DEFAULT_LIMITS, Limits
from ingest.formats.outputs import (
    MAX_THREADS,
    given_twice,
    in_order,
    missing,
    not_a_number,
    option,
    quoted,
)
from ingest.formats.report import Fact, FormatError, Intervals, ParsedRun
from ingest.masking import names_a_secret

TEXTS = frozenset(
    {"workload", "operation", "version", "product", "column", "configuration", "failure", "tool_version"}
)
"""Values of a run that are texts; ``option.`` begins the names of those that stay with it as options."""

OPTION = "option."
FACT = "fact."
COUNT = "count."
"""Numbers for ``finish``, from which it may compute metrics."""

_MAX_NAME = 200
# A digest behind it tells the names apart that begin alike.
_MAX_BEGINNING = 180
_EARLIEST, _LATEST = 2000, 2100
_FIELD = re.compile(r"([A-Za-z0-9][\w.()/%-]{0,39})[:=] ?([^,\s]{1,40})")
_FLAG = re.compile(r"(-[A-Za-z])([0-9]{1,9})|(--?[\w.-]{1,60})=(.*)")

_NUMBER = re.compile(r"([0-9]{1,19}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,2})?)\s?([A-Za-zµμ/%]{0,8})")
_DURATION_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,12})?)(h|ms|m|s|ns|us|µs|μs)")
# Durations of Go have ``m`` for minutes.
_TIMES = {**NANOSECONDS, "m": NANOSECONDS["min"]}
_COUNTS = {"": "1", "k": "1e3", "K": "1e3", "M": "1e6", "G": "1e9"}
_KIB = "0.0009765625"
_MIB = {
    "B": "9.5367431640625e-7",
    "KB": _KIB,
    "KiB": _KIB,
    "MB": "1",
    "MiB": "1",
    "GB": "1024",
    "GiB": "1024",
}
# How much one of a printed unit is, in the unit of the metric; decimal, so that digits stay as printed.
_SCALES: Mapping[str, Mapping[str, str]] = {
    "ms": {unit: f"{nanoseconds}e-6" for unit, nanoseconds in _TIMES.items()},
    "s": {unit: f"{nanoseconds}e-9" for unit, nanoseconds in _TIMES.items()},
    "1/s": _COUNTS,
    "1/min": _COUNTS,
    "MiB/s": _MIB,
    "%": {"%": "1", "": "1"},
    "count": {**_COUNTS, "%": "0.01"},
    "ns/op": {"ns/op": "1", **{unit: str(nanoseconds) for unit, nanoseconds in NANOSECONDS.items()}},
}
_DIRECTIONS: Mapping[str, Direction] = {"higher": HIGHER, "lower": LOWER, "": UNKNOWN}
_IN_ORDER = ("latency_min", "latency_avg", "latency_max")
_PERCENTILES_IN_ORDER = re.compile(r"latency_p([0-9]{1,3}(?:_[0-9]+)?)")


@lru_cache(maxsize=1000)
def operation_name(text: str) -> str:
    """Return ``read_modify_write`` for ``READ-MODIFY-WRITE``, as the names of its metrics begin."""
    return text.lower().replace("-", "_")


def metric_of(unit: str) -> str:
    """Return the metric that a unit names: ``allocs_per_op`` for ``allocs/op``."""
    return re.sub(r"\W+", "_", unit.replace("/", " per ")).strip("_").lower()


def direction_of(unit: str) -> Direction:
    """Return which is better of what is counted for an operation or for a second."""
    return LOWER if unit.endswith("/op") else HIGHER if unit.endswith(("/s", "/sec")) else UNKNOWN


def errors_per_second(run: "RunValues") -> Sequence[str]:
    """Add the rate of errors, by what was counted or else by the share of the requests that failed.

    A count whose name is a number is one of responses with this HTTP status, others are of errors.
    """
    counts = dict(run.counts)
    failed_share = 1.0 - counts.pop("success_share", 1.0) + counts.pop("failed_share", 0.0)
    if failed_share < 0:
        raise FormatError(f"{1 - failed_share:.0%} of the requests succeeded, which cannot be", run.last_line)
    failed = sum(count for name, count in counts.items() if not (name.isdigit() and 200 <= int(name) < 400))
    requests = run.value("total_events")
    if failed and run.duration_s:
        run.add("errors_per_s", failed / run.duration_s)
    elif requests and run.duration_s:
        run.add("errors_per_s", failed_share * requests / run.duration_s)
    elif "qps" in run.readings:
        run.add("errors_per_s", failed_share * run.value("qps"))
    return ()


@dataclass(slots=True)
class RunValues:
    """Readings by metric, other values by name, and the lines between which they stand.

    ``own`` are metrics that only this tool has, with unit and better direction: ``ns/op, lower``. ``names``
    are the places of values that the file names: see ``ToolSpec``. ``rows`` are what was printed of each
    interval, metrics and counts alike; ``tables`` are others; ``unnamed`` are operations, names and texts of
    values without a place, with their lines; ``flags`` are the words of the command line. ``facts`` are of
    all runs of the file; ``settings`` were switched for this one, and ``lost`` is what the sender must say of
    it. ``operation`` is that of the lines below. ``error`` is the first one of its lines, for which the run
    is left out.
    """

    tool: str
    own: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    line: int = 0
    last_line: int = 1
    readings: dict[str, Reading] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    options: dict[str, Fact] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    threads: int | None = None
    duration_s: float | None = None
    started_at: datetime | None = None
    is_closed: bool = False
    flags: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, float | None]] = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    command: str = ""
    lost: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    operation: str = ""
    owes_figures: bool = False
    last_operation: str = ""
    has_headed_rows: bool = False
    rows_beyond: int = 0
    limits: Limits = DEFAULT_LIMITS
    tables: list[Intervals] = field(default_factory=list)
    unnamed: list[tuple[str, str, str, int]] = field(default_factory=list)
    error: FormatError | None = None
    row: "RowValues | None" = None

    def take(self, name: str, text: str, line: int, *, unit: str = "", operation: str = "") -> None:
        """Note a value under the name of a metric, an option, or something else that a run has.

        ``unit`` is that of a number printed without one. Raise FormatError for what is no
        such value, or another one than was noted before.
        """
        match _sort_of(name):
            case "_":
                pass
            case "figure":
                metric, base = _metric_name(name, operation)
                nothing = _nothing_of(base, self.own.get(base, ""))
                printed_in = unit or (nothing.unit if nothing.is_own else "")
                value = self._converted(text, printed_in, nothing.unit, line)
                # People read microseconds where a tool prints them.
                printed = unit if unit == "us" and nothing.unit == "ms" and not nothing.is_own else ""
                self._note(metric, value, line, nothing, printed)
            case "count.":
                count, _ = _metric_name(name.removeprefix(COUNT), operation)
                self.counts.setdefault(count, self._converted(text, unit, "count", line))
            case "text":
                # Names are never masked: those that look like a token are refused with the record.
                if len(text) > _MAX_NAME:
                    self.warn(f"the {name} of {len(text)} characters is shortened", text, line)
                    self.options[f"whole_{name}"] = option(text)
                    text = f"{text[:_MAX_BEGINNING]}… ({sha256(text.encode()).hexdigest()[:8]})"
                self.texts[name] = text
            case "option.":
                self.options[name.removeprefix(OPTION)] = option(text)
            case "fact.":
                self.facts.setdefault(name.removeprefix(FACT), text)
            case "threads":
                self.threads = self._whole(text, line)
            case "duration_s":
                self.duration_s = self._converted(text, unit, "s", line)
            case "started_at":
                self.started_at = self._moment(text, unit, line)

    def take_named(self, name: str, text: str, line: int, *, operation: str = "") -> None:
        """Note a value that the file names, if it is one that the tool is read for."""
        if place := self.names.get(name):
            place, _, unit = place.partition(":")
            self.take(place, text, line, unit=unit, operation=operation)
        else:
            self.unnamed.append((operation_name(operation), name, text, line))

    def take_fields(self, text: str, line: int, *, operation: str = "") -> None:
        """Note numbers behind their names: ``Count: 240, Avg(ms): 63.0``."""
        for name, value in _FIELD.findall(text):
            if name in self.names:
                self.take_named(name, value, line, operation=operation)

    def take_counts(self, text: str, line: int) -> None:
        """Note numbers behind their names, each as a count of that name: ``200:5989  503:11``."""
        for name, value in _FIELD.findall(text):
            self.counts[name] = self.number(value, line)

    def count(self, name: str, text: str, line: int) -> None:
        """Add a number to the count of this name."""
        self.counts[name] = self.counts.get(name, 0.0) + self.number(text, line)

    def take_flags(self, command: str, line: int) -> None:
        """Note the options of a command line: ``-T 8 --time=1m -c200``."""
        for flag, value in _flags_of(command):
            self.flags.append((flag, value))
            if self.names.get(flag) == "property":
                self.take_property(value, line)
            elif flag in self.names:
                self.take_named(flag, value, line)

    def take_property(self, text: str, line: int) -> None:
        """Note ``name=value`` as what the name says, or else as an option that is no secret."""
        name, equals, value = text.replace('"', "").partition("=")
        if name in self.names:
            self.take_named(name, value, line)
        elif equals and not names_a_secret(name):
            self.options[name[:100]] = option(value)

    def empty_row(self) -> "RowValues":
        """Return what takes the values of an interval, the same one each time."""
        self.row = self.row or RowValues(self.tool, self.own, self.names)
        self.row.figures.clear()
        self.row.counts.clear()
        return self.row

    def take_row(self, values: Mapping[str, float], operation: str) -> None:
        """Note a line of an interval; operations without a line of their own are in the alphabet's order."""
        is_next = operation and not self.has_headed_rows and operation <= self.last_operation
        if not self.rows or is_next or not self.rows[-1].keys().isdisjoint(values):
            # If there are more rows than are kept, the last one stands in the place of the others.
            is_beyond = len(self.rows) > self.limits.samples
            self.rows[-1:] = [{}] if is_beyond else [*self.rows[-1:], {}]
            self.rows_beyond += is_beyond
            self.has_headed_rows = not operation
        self.last_operation = operation or self.last_operation
        self.rows[-1] |= values

    def number(self, text: str, line: int) -> float:
        """Return a number without a unit. Raise FormatError for what is none."""
        return self._converted(text, "", "1/s", line)

    def take_pairs(self, text: str, line: int) -> None:
        """Note numbers with their units behind them, each as the metric that its unit names."""
        words = text.split()
        for number, unit in zip(words[::2], words[1::2], strict=False):
            name = self.names.get(unit) or metric_of(unit)
            value = self._converted(number, unit, unit, line)
            self._note_reading(
                Reading(name, value, unit, direction_of(unit), is_own=not known_metric(name)), line
            )

    def fail(self, failure: str, text: str, line: int) -> None:
        """Note that the run failed: of what was measured before it is a warning."""
        if self.readings:
            self.warn(failure, text, line)
        else:
            self.error = self.error or FormatError(f"{failure}: {quoted(text)}", line)

    def warn(self, warning: str, text: str, line: int) -> None:
        self.notes.append(f"line {line}: {warning}: {quoted(text)}")

    def leave_out(self, operation: str) -> None:
        """Forget what was read of an operation."""
        mine = f"{operation}."
        self.readings = {name: one for name, one in self.readings.items() if not name.startswith(mine)}

    def copy(self) -> "RunValues":
        """Return a run of its own with the same texts and options."""
        return replace(
            self,
            line=0,
            readings={},
            lines={},
            counts={},
            texts=dict(self.texts),
            options=dict(self.options),
            flags=[],
            rows=[],
            rows_beyond=0,
            last_operation="",
            tables=[],
            command="",
            unnamed=[],
            notes=[],
        )

    @property
    def has_begun(self) -> bool:
        """Return whether something was measured, or should have been."""
        return bool(self.readings or self.rows or self.error or self.owes_figures)

    def lengths(self) -> Iterator[tuple[dict[str, float | None], float]]:
        """Yield intervals with their lengths: their times are their ends, in seconds from the beginning."""
        times = [0.0, *(row["time_s"] or 0.0 for row in self.rows)]
        for row, (begin, end) in zip(self.rows, pairwise(times), strict=True):
            if end > begin:
                yield row, end - begin

    def check_rows(self) -> Sequence[str]:
        """Drop the intervals and return a warning where there are more than are kept."""
        number = len(self.rows) + self.rows_beyond
        if number <= self.limits.samples:
            return ()
        self.rows.clear()
        return (self.limits.samples_beyond(number),)

    def check_times(self) -> Sequence[str]:
        """Drop the intervals and return a warning where their times go back."""
        times = [row.get("time_s") or 0.0 for row in self.rows]
        if all(begin <= end for begin, end in pairwise(times)):
            return ()
        self.rows.clear()
        return (f"the times of the intervals go back before line {self.last_line}; they are not kept",)

    def intervals(self, key: str) -> Sequence[Intervals]:
        """Return the table of the intervals, where any was printed, and those of ``tables``."""
        columns = tuple(dict.fromkeys(name for row in self.rows for name in row))
        rows = tuple(tuple(row.get(name) for name in columns) for row in self.rows)
        of_run = [Intervals(key, self.tool.lower(), columns, rows)] if rows else []
        return [*of_run, *(replace(table, run=key) for table in self.tables)]

    def lacks(self, name: str) -> bool:
        """Return whether there is no such reading, and no such number of the run (``threads``)."""
        return name not in self.readings and getattr(self, name, None) is None

    def missing(self, wanted: Sequence[str]) -> Sequence[str]:
        """Return a warning of the wanted values that the run lacks."""
        lacking = [name for name in wanted if self.lacks(name)]
        return [missing(lacking, self.last_line)] if lacking else []

    def parsed(self, key: str, required: Mapping[str, str], workload: str) -> ParsedRun:
        """Return the run.

        Raise FormatError where nothing was measured, and with the sentence of a required metric that is
        missing or 0.
        """
        for metric, sentence in required.items():
            if self.lacks(metric):
                raise FormatError(
                    f"{sentence}: {self.tool} was stopped, or the file is cut off after this line",
                    self.last_line,
                )
            if metric in self.readings and not self.readings[metric].value:
                raise FormatError(f"{metric} is 0: nothing was measured", self.line_of(metric))
        if not self.readings:
            raise FormatError(f"no figure of {self.tool} that can be compared", self.last_line)
        self._check_order()
        return ParsedRun(
            tuple(sorted(self.readings.values(), key=_place_in_run)),
            key=key,
            column=self.texts.get("column"),
            configuration=self.texts.get("configuration"),
            workload=self.texts.get("workload") or workload or None,
            product=self.texts.get("product") or None,
            version=self.texts.get("version") or None,
            threads=self.threads,
            started_at=self.started_at,
            duration_s=self.duration_s or None,
            command=self.command,
            options=self.options,
            settings=self.settings,
            lost=self.lost,
        )

    def value(self, metric: str) -> float:
        """Return the value of a reading, 0 where there is none."""
        return self.readings[metric].value if metric in self.readings else 0.0

    def line_of(self, metric: str) -> int:
        """Return the line of a reading, the last one of the run where it was not printed."""
        return self.lines.get(metric, self.last_line)

    def add(self, metric: str, value: float) -> None:
        """Add a reading that was computed from the others."""
        base = metric.rpartition(".")[2]
        self.readings[metric] = _reading(metric, value, _nothing_of(base, self.own.get(base, "")))

    def add_unknown(self, name: str, value: float) -> None:
        """Add a number that the file names by itself; nobody says its unit and which is better."""
        metric = metric_of(name)
        if value < 0:
            self.warn("a negative figure is not read", f"{name}: {value}", self.line)
        elif not metric or metric in self.readings or known_metric(metric):
            self.warn("not read, since its name is that of another figure", f"{name}: {value}", self.line)
        else:
            self.readings[metric] = Reading(metric, value, "", UNKNOWN, is_own=True)

    def _note(self, metric: str, value: float, line: int, like: Reading, printed_unit: str = "") -> None:
        self._note_reading(_reading(metric, value, like, printed_unit), line)

    def _note_reading(self, measured: Reading, line: int) -> None:
        if self.readings.setdefault(measured.metric, measured) != measured:
            raise given_twice(measured.metric, line)
        self.lines[measured.metric] = line

    def _whole(self, text: str, line: int) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:8]) <= MAX_THREADS):
            raise FormatError(f"{quoted(text)} is not a number of threads", line)
        return int(text)

    def _moment(self, text: str, unit: str, line: int) -> datetime:
        """Return a time: in ms since 1970 with this unit, else as ISO 8601."""
        try:
            if unit != "ms":
                return datetime.fromisoformat(text)
            moment = datetime.fromtimestamp(self._converted(text, unit, "s", line), UTC)
        except (ValueError, OverflowError, OSError):
            moment = None
        if moment is None or not _EARLIEST <= moment.year <= _LATEST:
            raise FormatError(f"{quoted(text)} is not a time that {self.tool} prints", line)
        return moment

    def _converted(self, text: str, unit: str, target: str, line: int) -> float:
        scales = _scales_of(target)
        number = _NUMBER.fullmatch(text)
        if number and (scale := scales.get(number[2] or unit)) is not None:
            return float(number[1]) if scale == 1 else float(Decimal(number[1]) * scale)
        parts = _DURATION_PART.findall(text) if target in ("ms", "s") else []
        if parts and "".join(number + of for number, of in parts) == text:
            return float(sum(Decimal(number) * scales[of] for number, of in parts))
        raise not_a_number(text, self.tool, line)

    def _check_order(self) -> None:
        """Raise FormatError where least, average and greatest time are not in this order, or percentiles."""
        for operation in {metric.rpartition(".")[0] for metric in self.readings}:
            dot = f"{operation}." if operation else ""
            times = {
                metric.removeprefix(dot): found.value
                for metric, found in self.readings.items()
                if metric.rpartition(".")[0] == operation
            }
            ranked = sorted(
                (float(found[1].replace("_", ".")), times[metric])
                for metric in times
                if (found := _PERCENTILES_IN_ORDER.fullmatch(metric))
            )
            if not in_order(*(times[one] for one in _IN_ORDER if one in times)) or not in_order(
                *(value for _, value in ranked)
            ):
                of = f" of {operation}" if operation else ""
                line = self.line_of(f"{dot}latency_avg")
                raise FormatError(f"the response times{of} are not in order", line)


@dataclass(slots=True)
class RowValues(RunValues):
    """The values of an interval: of its metrics the numbers alone."""

    figures: dict[str, float] = field(default_factory=dict)

    def _note(self, metric: str, value: float, *_: object) -> None:
        self.figures[metric] = value


@lru_cache(maxsize=1000)
def _sort_of(name: str) -> str:
    """Return which sort of value has a place of this name."""
    if name in TEXTS:
        return "text"
    if name in ("_", "threads", "duration_s", "started_at"):
        return name
    return next((sort for sort in (OPTION, FACT, COUNT) if name.startswith(sort)), "figure")


@lru_cache(maxsize=1000)
def _scales_of(target: str) -> Mapping[str, Decimal]:
    """Return how much one of each printed unit is in the unit of a metric."""
    return {unit: Decimal(scale) for unit, scale in {target: "1", **_SCALES.get(target, {"": "1"})}.items()}


@lru_cache(maxsize=1000)
def _metric_name(name: str, operation: str) -> tuple[str, str]:
    """Return the metric of a place and an operation, and what is measured, without the operation."""
    prefix, _, base = name.rpartition(".")
    operation = operation_name(operation) or prefix
    return intern(f"{operation}.{base}" if operation else base), base


@lru_cache(maxsize=1000)
def _nothing_of(name: str, own: str) -> Reading:
    """Return a reading of 0: of a metric with this unit and direction of a tool's own, or a common one.

    Raises KeyError for any other name.
    """
    if not own:
        return reading(name, 0.0)
    unit, _, direction = own.partition(", ")
    return Reading(name, 0.0, unit, _DIRECTIONS[direction], is_own=True)


def _reading(metric: str, value: float, like: Reading, printed_unit: str = "") -> Reading:
    return Reading(metric, value, like.unit, like.direction, None, None, printed_unit, like.is_own)


def _place_in_run(measured: Reading) -> tuple[bool, bool]:
    """Put rates before times and errors, and both before those of single operations."""
    return "." in measured.metric, measured.direction != HIGHER


def _flags_of(command: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a command line with their values; words by themselves have an empty name."""
    flag = ""
    for word in command.split():
        if found := _FLAG.fullmatch(word):
            yield found[1] or found[3], found[2] or found[4]
            flag = ""
        elif word.startswith("-"):
            if flag:
                yield flag, ""
            flag = word
        else:
            yield flag, word
            flag = ""
    if flag:
        yield flag, ""
