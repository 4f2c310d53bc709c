"""YCSB: what its client prints, or writes to ``exportfile``, as text or as JSON.

    [OVERALL], Throughput(ops/sec), 1652.892561983471
    [READ], 95thPercentileLatency(us), 1120

A report is a list of sections, one for each operation. Before it stand the command line and, with ``-s``, a
status line every few seconds. A file holds one run, or several that were appended one after another.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import PurePosixPath
from sys import intern

from benchdash.results.readings import LOWER, Reading, percentile_metric, reading
from ingest.formats import outputs
from ingest.formats.limits import Limits
from ingest.formats.outputs import (
    MAX_THREADS,
    Figure,
    Read,
    bounded,
    given_twice,
    in_order,
    measured,
    option,
    read_runs,
)
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import names_a_secret

_LINE = re.compile(r"\[([A-Za-z][\w.%-]{0,37})\], ?(\S.{0,120}?), ?(\S{1,60})")
_JSON_FIELD = re.compile(r'"(metric|measurement|value)"\s{0,9}:\s{0,9}(?:"([^"]{0,200})"|([^\s",}\]]{1,60}))')
_STATUS = re.compile(
    r"(?P<clock>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{3}) (?P<seconds>[0-9]{1,9}) sec: "
    r"[0-9]{1,18} operations; (?:(?P<rate>\S{1,40}) current ops/sec; )?"
)
_MAX_LABEL_LENGTH = 200
_STATUS_OF_OPERATION = re.compile(r"\[([A-Za-z][\w.-]{0,37}): (Count=[^\]]{1,300})\]")
_STATUS_AVERAGE = re.compile(
    r"\[([A-Za-z][\w.-]{0,37}) AverageLatency\((us|ms)\)=([0-9]{1,18}(?:[.,][0-9]{1,9})?)\]"
)
_STATUS_COUNT = re.compile(r"Count=([0-9]{1,15})")
_STATUS_FIGURE = re.compile(r"(Max|Min|Avg|[0-9]{1,2}(?:\.[0-9]{1,4})?)=([0-9]{1,18}(?:[.,][0-9]{1,9})?)")

_RECOGNISED = re.compile(
    rb"^[ \t]{0,16}(?:\[OVERALL\], ?(?:RunTime|Throughput)\("
    rb"|\[[A-Z][A-Z-]{1,60}\], ?(?:Total )?(?:Operations|AverageLatency\([um]s\)),"
    rb"|YCSB Client [0-9]"
    rb"|[A-Z][A-Z-]{1,60} latency raw data: op, timestamp\(ms\), latency\(us\)"
    rb'|[\[\s]{0,9}\{\s{0,9}"metric"\s{0,9}:\s{0,9}"[A-Z][\w.%-]{0,80}",\s{0,9}"measurement"\s{0,9}:)',
    re.MULTILINE,
)
_STATUS_IN_HEAD = re.compile(rb"[0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{3} [0-9]{1,9} sec: [0-9]{1,18} operations;")

_COMMAND = re.compile(r"Command line: (.*)")
_CLIENT = re.compile(r"(?>\S*?java\b).{0,20000}?\s(?:site|com\.yahoo)\.ycsb\.Client (.*)")
# What somebody typed, as a document shows it above what it printed.
_CALL = re.compile(r".{0,300}?\bycsb(?:\.sh|\.bat)?\s+(load|run)\s+(\w{1,40}\b.*)")
_FENCES = ("```", "~~~")
_VERSION = re.compile(r"YCSB Client ([0-9][\w.-]{0,40})\s*")
_MAX_COMMAND_LENGTH = 50_000

_RUN_TIME = "RunTime(ms)"
_THROUGHPUT = "Throughput(ops/sec)"
_LATENCY = re.compile(
    r"(?:(Average|Min|Max)Latency|(LatencyVariance)"
    r"|([0-9]{1,3}(?:\.[0-9]{1,4})?)(?:st|nd|rd|th)?PercentileLatency)\((us|ms)\)"
)
_RAW_SUMMARY = re.compile(r"(Average|Min|Max)|p([0-9]{1,2}(?:\.[0-9]{1,4})?)")
_RETURN = re.compile(r"Return=(\S+)")
_COUNTS = ("Operations", "Total Operations")
_HEADLINE_OF_RAW = "Below is a summary of latency in microseconds:"
_BUCKET = re.compile(r">?[0-9]{1,12}")
_STATISTICS = {"Average": "avg", "Min": "min", "Max": "max", "Avg": "avg"}
_THOUSANDTHS_OF_MS = {"us": -3, "ms": 0}

_OPERATIONS = frozenset({"READ", "SCAN", "UPDATE", "INSERT", "DELETE"})
# Measured like operations, but none: what closes a connection, and the client's own memory and threads.
_NOT_OPERATIONS = frozenset({"CLEANUP", "THREAD_COUNT", "SYS_LOAD_AVG", "GCS", "GCS_TIME", "USED_MEM_MB"})
_FAILED = "-FAILED"
_INTENDED = "Intended-"
_TWO_OPERATIONS = "READ-MODIFY-WRITE"
_CHECK_OF_READ = "VERIFY"
_GOOD_RETURNS = frozenset({"OK", "BATCHED_OK", "0"})

_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,20})?(?:E-?[0-9]{1,3})?")
_WHOLE = re.compile(r"[0-9]{1,15}")
_MAX_NUMBER = 1e15
_NOT_OF_THE_WORKLOAD = frozenset({"exportfile", "exporter", "status.interval", "threadcount", "label"})


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None or _STATUS_IN_HEAD.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raise FormatError where no run is complete. Of several runs an incomplete one is left out with a warning.
    """
    lines, warnings = _whole_lines(source)
    sorter = _Sorter(source.limits)
    for number, line in enumerate(lines, start=1):
        sorter.sort(line.strip(), number)
    found = sorter.outputs
    if not found:
        raise FormatError("no final report: the file ends before YCSB began", line=len(source.lines))
    runs, intervals, notes = read_runs(found, _run, lines)
    facts: dict[str, Fact] = {"tool": "YCSB"}
    if version := next((output.version for output in found if output.version), ""):
        facts["tool_version"] = version
    return ParsedReport(runs, intervals, facts, bounded(warnings + notes))


def _whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """Return the lines that have an end, and a warning where the last one has none.

    The JSON exporters write no line end behind their last bracket; only a list that is closed is complete.
    """
    last = source.lines[-1].strip()
    if source.ends_with_newline or last.strip("} ") == "]":
        return source.lines, []
    if last == "}":
        return source.lines, outputs.missing_line_end(source)
    return outputs.whole_lines(source)


def _figure(text: str, line: int) -> Figure:
    """Return a figure. Raise FormatError where it is no decimal number that could have been measured."""
    if text.startswith("-") and _NUMBER.fullmatch(text[1:]):
        raise FormatError(
            f"{text} is negative: the clock of the machine was set back during the run; measure again", line
        )
    value = measured(text, line, "is not a number that YCSB measures", pattern=_NUMBER, most=_MAX_NUMBER)
    digits, _, exponent = text.partition("E")
    return Figure(value, 0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])), line, text)


@dataclass(slots=True)
class _Section:
    """The lines of one section, ``[READ]``: figures by name, and the buckets or times under it."""

    line: int
    end: int
    figures: dict[str, tuple[str, int]] = field(default_factory=dict)
    buckets: list[tuple[str, str, int]] = field(default_factory=list)

    def add(self, section: str, name: str, value: str, line: int) -> None:
        self.end = line
        if _BUCKET.fullmatch(name):
            self.buckets.append((name, value, line))
            return
        if name in self.figures:
            raise given_twice(f"'[{section}], {name[:80]}'", line)
        self.figures[name] = (value, line)

    def figure(self, name: str) -> Figure:
        return _figure(*self.figures[name])

    @property
    def count(self) -> Figure | None:
        name = next((name for name in _COUNTS if name in self.figures), None)
        return self.figure(name) if name else None


@dataclass(frozen=True, slots=True)
class _Status:
    seconds: float
    clock: str
    figures: dict[str, float | None]


@dataclass(slots=True)
class _Output:
    """What one client printed, sorted but not yet understood.

    Of more status lines than the limits let through the last one stands in the place of the others, which
    are counted.
    """

    line: int
    last_line: int
    limits: Limits
    command: str = ""
    version: str = ""
    sections: dict[str, _Section] = field(default_factory=dict)
    statuses: list[_Status] = field(default_factory=list)
    statuses_beyond: int = 0
    error: FormatError | None = None
    open_objects: int = 0
    list_opened: bool = False
    list_closed: bool = False

    @property
    def has_begun(self) -> bool:
        return bool(self.version or self.sections or self.statuses)


class _Sorter:
    """Sorts the lines of a file into what each client printed."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.outputs: list[_Output] = []
        self.json: dict[str, str] = {}
        self.call = ""

    def sort(self, text: str, line: int) -> None:
        if text.startswith("["):
            if match := _LINE.fullmatch(text):
                self._measured(match[1], match[2], match[3], line)
                return
            if text[1:].strip() in {"", "{"}:
                self._at(line).list_opened = True
        if '"' in text and (fields := _JSON_FIELD.findall(text)):
            self._json(fields, line)
        elif text and not text.strip("[]{}, "):
            self._at(line).open_objects += text.count("{") - text.count("}")
        if text.endswith("]") and self.outputs and text.strip(" }") == "]":
            self.outputs[-1].list_closed = True
        elif " sec: " in text:
            self._status(text, line)
        elif text.startswith(_FENCES):
            # A command in another block is an example of what may be typed.
            self.call = ""
        elif self.call.endswith("\\") and len(self.call) <= _MAX_COMMAND_LENGTH:
            self.call = f"{self.call.removesuffix(chr(92))} {text}"
        elif match := _CALL.fullmatch(text):
            if self.outputs and self.outputs[-1].has_begun:
                self._at(line, begins=True)
            self.call = f"-{match[1]} -db {match[2]}"
        elif len(text) <= _MAX_COMMAND_LENGTH and (match := _COMMAND.fullmatch(text) or _CLIENT.match(text)):
            self._at(line, begins=True).command = match[1]
        elif match := _VERSION.fullmatch(text):
            self._at(line, begins=True).version = match[1]
        if self.outputs:
            self.outputs[-1].last_line = line

    def _at(self, line: int, *, begins: bool = False) -> _Output:
        """Return the output at hand, or a new one where this line begins one."""
        if not self.outputs or (begins and self.outputs[-1].has_begun):
            self.outputs.append(_Output(line=line, last_line=line, limits=self.limits))
            self.json = {}
        return self.outputs[-1]

    def _measured(self, section: str, name: str, value: str, line: int) -> None:
        output = self._at(line)
        # A report begins with one line of [OVERALL] or, where people left these out, of another section.
        first = "OVERALL" if "OVERALL" in output.sections else section
        if section == first and section in output.sections and name in output.sections[section].figures:
            output = self._at(line, begins=True)
        output.command = output.command or self.call
        self.call = ""
        output.last_line = line
        try:
            output.sections.setdefault(section, _Section(line, line)).add(section, name, value, line)
        except FormatError as error:
            output.error = output.error or error

    def _json(self, fields: Sequence[tuple[str, str, str]], line: int) -> None:
        output = self._at(line)
        for name, text, bare in fields:
            if name in self.json:
                twice = FormatError(f"the key {name!r} is given twice in one object", line)
                output.error = output.error or twice
            self.json[name] = text or bare
            if name == "value" and len(self.json) == 3:
                self._measured(self.json["metric"], self.json["measurement"], self.json["value"], line)
                self.json = {}

    def _status(self, text: str, line: int) -> None:
        match = _STATUS.search(text, 0, _MAX_LABEL_LENGTH + 200)
        if match is None:
            return
        figures: dict[str, float | None] = {"ops_per_s": _status_number(match["rate"] or "")}
        for name, values in _STATUS_OF_OPERATION.findall(text, match.end()):
            if name not in _NOT_OPERATIONS:
                if name.endswith(_FAILED) and (count := _STATUS_COUNT.match(values)):
                    figures[intern(f"{_prefix(name.removesuffix(_FAILED))}.failed")] = float(count[1])
                for label, value in _STATUS_FIGURE.findall(values):
                    metric = intern(f"{_prefix(name)}.{_status_metric(label)}")
                    figures[metric] = _status_number(value, "us")
        for name, unit, value in _STATUS_AVERAGE.findall(text, match.end()):
            if name not in _NOT_OPERATIONS:
                figures[intern(f"{_prefix(name)}.latency_avg")] = _status_number(value, unit)
        status = _Status(float(match["seconds"]), match["clock"], figures)
        # With measurementtype=timeseries each line is printed twice, to both outputs.
        output = self._at(line)
        if status in output.statuses[-1:]:
            return
        if len(output.statuses) < self.limits.samples:
            output.statuses.append(status)
        else:
            output.statuses[-1:] = [status]
            output.statuses_beyond += 1


def _status_metric(label: str) -> str:
    return f"latency_{_STATISTICS[label]}" if label in _STATISTICS else percentile_metric(float(label))


def _status_number(text: str, unit: str = "ms") -> float | None:
    """Return a number of a status line, which may have a decimal comma; None for ∞."""
    text = text.replace(",", ".")
    return _milliseconds(text, unit) if _NUMBER.fullmatch(text) and float(text) <= _MAX_NUMBER else None


def _milliseconds(text: str, unit: str) -> float:
    """Return a time in ms with every digit of the file: 0.286 us are 0.000286 ms."""
    return float(Decimal(text).scaleb(_THOUSANDTHS_OF_MS[unit]))


def _prefix(section: str) -> str:
    """Return ``read_modify_write`` for ``READ-MODIFY-WRITE``."""
    return section.lower().replace("-", "_")


def _run(output: _Output, key: str) -> Read:
    """Return the run of one client, its tables, and warnings.

    Raise FormatError where the report is missing, not complete or impossible.
    """
    if output.error:
        raise output.error
    _refuse_names_alike(output)
    operations = {
        name: section
        for name, section in output.sections.items()
        if name.removeprefix(_INTENDED) not in _NOT_OPERATIONS and section.count is not None
    }
    # The end of a report is never cut off with its beginning there: people left it out.
    has_times = any(_latency_metric(name) for section in operations.values() for name in section.figures)
    is_excerpt = has_times and "OVERALL" not in output.sections and not output.statuses
    overall = None if is_excerpt else _overall(output)
    readings = (
        *_totals(overall, operations),
        *_errors(overall, output),
        *(one for name, section in operations.items() for one in _latencies(name, section)),
        *_garbage(output),
    )
    arguments = _Arguments(output.command.split())
    run = ParsedRun(
        readings=readings,
        key=key,
        workload=arguments.workload,
        threads=_threads(output, arguments),
        started_at=_started_at(output),
        duration_s=overall.seconds if overall else None,
        options=arguments.options,
    )
    tables = list(_tables(output, operations, key))
    return run, tables, [*_notes(output, overall, operations, arguments)]


def _refuse_names_alike(output: _Output) -> None:
    lines: dict[str, int] = {}
    for name, section in output.sections.items():
        if _prefix(name) in lines:
            raise FormatError(
                f"the section '[{name}]' is called as the one in line {lines[_prefix(name)]}", section.line
            )
        lines[_prefix(name)] = section.line


@dataclass(frozen=True, slots=True)
class _Overall:
    """Time and rate of a whole run. ``count`` is the number of its operations, where the two determine it."""

    seconds: float
    throughput: Figure

    @property
    def count(self) -> int | None:
        operations = self.throughput.value * self.seconds
        error = self.throughput.rounding * self.seconds + 1e-12 * operations
        whole = round(operations)
        return whole if error < 0.5 and abs(operations - whole) <= max(error, 1e-6) else None

    @property
    def rate(self) -> float:
        """As printed, unless somebody cut its digits off."""
        has_all_digits = self.throughput.rounding < 1e-9 * self.throughput.value
        return self.throughput.value if has_all_digits or self.count is None else self.count / self.seconds


def _overall(output: _Output) -> _Overall:
    section = output.sections.get("OVERALL")
    if section is None:
        raise FormatError(
            "no final report: YCSB was stopped, the file is cut off after this line, or the report is in the "
            "file of the property 'exportfile'",
            output.last_line,
        )
    for name in (_RUN_TIME, _THROUGHPUT):
        if name not in section.figures:
            raise FormatError(
                f"the report is not complete: no '[OVERALL], {name}' up to this line", output.last_line
            )
    run_time = section.figure(_RUN_TIME)
    if not run_time.value:
        raise FormatError("the run took no time: nothing was measured", run_time.line)
    throughput = section.figure(_THROUGHPUT)
    if not throughput.value:
        failed = [
            f"{failures.count.text} {name.removesuffix(_FAILED)}"
            for name, failures in output.sections.items()
            if name.endswith(_FAILED) and failures.count and failures.count.value
        ]
        why = f": {', '.join(failed)} failed" if failed else ""
        raise FormatError(f"not one operation was completed{why}", throughput.line)
    return _Overall(run_time.value / 1000, throughput)


def _totals(overall: _Overall | None, operations: dict[str, _Section]) -> Iterator[Reading]:
    if overall:
        yield reading("ops_per_s", overall.rate)
        yield reading("total_time", overall.seconds)
    counted = _counted(operations)
    if count := counted if overall is None or overall.count is None else overall.count:
        yield reading("total_events", float(count))


def _counted(operations: dict[str, _Section]) -> int:
    """Count the operations; a read-modify-write is counted as a read and an update already."""
    counted = sum(
        -_count(section) if name == _TWO_OPERATIONS else _count(section)
        for name, section in operations.items()
        if name != _CHECK_OF_READ and not name.startswith(_INTENDED)
    )
    return max(counted, 0)


def _count(section: _Section) -> int:
    return int(section.count.value) if section.count else 0


def _errors(overall: _Overall | None, output: _Output) -> Iterator[Reading]:
    """Yield operations per second that returned anything but OK: all, and of each kind."""
    if overall is None:
        return
    by_name = {
        name: sum(count for code, count in returns.items() if code not in _GOOD_RETURNS)
        for name, section in output.sections.items()
        if (returns := _returns(section))
    }
    if by_name:
        yield reading("errors_per_s", sum(by_name.values()) / overall.seconds)
    for name, errors in by_name.items():
        yield Reading(f"{_prefix(name)}.errors_per_s", errors / overall.seconds, "1/s", LOWER)


def _returns(section: _Section) -> dict[str, float]:
    """Return how often each code was returned."""
    return {
        match[1]: _figure(value, line).value
        for name, (value, line) in section.figures.items()
        if (match := _RETURN.fullmatch(name))
    }


def _latencies(operation: str, section: _Section) -> Iterator[Reading]:
    """Yield the response times of one operation in ms; where it was never completed they are NaN."""
    if not _count(section):
        return
    found: dict[str, tuple[Figure, str]] = {}
    for name, (value, line) in section.figures.items():
        if metric := _latency_metric(name):
            found[metric[0]] = (_figure(value, line), metric[1])
    statistics = [found[f"latency_{name}"][0] for name in ("min", "avg", "max") if f"latency_{name}" in found]
    if not in_order(*(figure.value for figure in statistics)):
        raise FormatError(
            f"the least, average and highest latency of {operation} are not in this order", statistics[0].line
        )
    for metric_name, (figure, unit) in found.items():
        is_variance = metric_name == "latency_stddev"
        yield Reading(
            f"{_prefix(operation)}.{metric_name}",
            _milliseconds(repr(math.sqrt(figure.value)) if is_variance else figure.text, unit),
            "ms",
            LOWER,
            printed_unit="" if unit == "ms" else unit,
        )


def _latency_metric(name: str) -> tuple[str, str] | None:
    """Return ``latency_p95`` and the unit of ``95thPercentileLatency(us)``; None for no latency."""
    if match := _LATENCY.fullmatch(name):
        statistic, variance, rank, unit = match.groups()
        if variance:
            return "latency_stddev", unit
    elif match := _RAW_SUMMARY.fullmatch(name):
        (statistic, rank), unit = match.groups(), "us"
    else:
        return None
    if statistic:
        return f"latency_{_STATISTICS[statistic]}", unit
    return (percentile_metric(float(rank)), unit) if float(rank) <= 100 else None


def _garbage(output: _Output) -> Iterator[Reading]:
    """Yield how often and how long the client's Java collected garbage."""
    for section, name, metric, unit in (
        ("TOTAL_GCs", "Count", "gc.count", "counts"),
        ("TOTAL_GC_TIME", "Time(ms)", "gc.time", "ms"),
    ):
        if section in output.sections and name in output.sections[section].figures:
            yield Reading(metric, output.sections[section].figure(name).value, unit, LOWER)


class _Arguments:
    """The words of a command line."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def _values(self, option: str) -> list[str]:
        return [value for word, value in pairwise(self.words) if word == option]

    @property
    def threads(self) -> int | None:
        properties = dict(self._properties())
        said = [*self._values("-threads"), *self._values("--threads")]
        for text in (*reversed(said), properties.get("threadcount", "")):
            if _WHOLE.fullmatch(text) and 1 <= int(text) <= MAX_THREADS:
                return int(text)
        return None

    @property
    def workload(self) -> str | None:
        """``workloada`` of ``-P workloads/workloada -t``, and ``workloada load`` with ``-load``."""
        files = [PurePosixPath(value.replace("\\", "/")).name for value in self._values("-P")]
        named = [name for name in files if name.startswith("workload")] or files
        if len(named) != 1:
            return None
        return f"{named[0]} load" if "-load" in self.words else named[0]

    @property
    def options(self) -> dict[str, Fact]:
        """What the client was told, without what is secret and without where the report goes."""
        options: dict[str, Fact] = {
            name: option(value)
            for name, value in self._properties()
            if name not in _NOT_OF_THE_WORKLOAD and not names_a_secret(name)
        }
        for name in ("-db", "-target"):
            for value in self._values(name):
                options[name[1:]] = option(value)
        return options

    def _properties(self) -> Iterator[tuple[str, str]]:
        for pair in self._values("-p"):
            name, separator, value = pair.partition("=")
            if name and separator:
                yield name[:100], value


def _threads(output: _Output, arguments: _Arguments) -> int | None:
    """Return the threads of the command line, or else the closed connections: each thread has one."""
    closed = _connections_closed(output)
    return arguments.threads or (closed if closed and closed <= MAX_THREADS else None)


def _connections_closed(output: _Output) -> int | None:
    section = output.sections.get("CLEANUP")
    return _count(section) if section and section.count else None


def _started_at(output: _Output) -> datetime | None:
    """Return the client's own clock, without an offset, at second 0."""
    if not output.statuses:
        return None
    first = output.statuses[0]
    try:
        clock = datetime.strptime(f"{first.clock}000", "%Y-%m-%d %H:%M:%S:%f")  # noqa: DTZ007 - it says none
        return clock - timedelta(seconds=first.seconds)
    except (ValueError, OverflowError):
        return None


def _tables(output: _Output, operations: dict[str, _Section], key: str) -> Iterator[Intervals]:
    if output.statuses and not output.statuses_beyond:
        names = dict.fromkeys(name for status in output.statuses for name in status.figures)
        rows = tuple(
            (status.seconds, *(status.figures.get(name) for name in names)) for status in output.statuses
        )
        yield Intervals(key, "ycsb", ("time_s", *names), rows)
    for name, section in operations.items():
        if not section.buckets:
            continue
        if _is_time_series(section):
            unit = next((found[1] for figure in section.figures if (found := _latency_metric(figure))), "us")
            times = tuple(
                (_figure(label, line).value / 1000, _milliseconds(_figure(value, line).text, unit))
                for label, value, line in section.buckets
            )
            yield Intervals(key, f"{_prefix(name)} over time", ("time_s", "latency_avg"), times)
        else:
            # Each bucket is 1 ms wide, and the last (``>1000``) has no end.
            buckets = tuple(
                (
                    float(label.removeprefix(">")),
                    None if label.startswith(">") else float(label) + 1,
                    _figure(value, line).value,
                )
                for label, value, line in section.buckets
                if value != "0"
            )
            yield Intervals(key, f"{_prefix(name)} histogram", ("from_ms", "to_ms", "count"), buckets)


def _is_time_series(section: _Section) -> bool:
    """Return whether the rows are times and averages, which have a point, and not buckets."""
    return any("." in value for _, value, _ in section.buckets)


def _notes(
    output: _Output, overall: _Overall | None, operations: dict[str, _Section], arguments: _Arguments
) -> Iterator[str]:
    """Yield the warnings that a reader of the run needs before trusting its figures."""
    if beyond := output.statuses_beyond:
        yield output.limits.samples_beyond(len(output.statuses) + beyond)
    if output.open_objects > 0:
        yield f"the JSON breaks off within an object after line {output.last_line}"
    if output.list_opened and not output.list_closed:
        yield f"the JSON breaks off after line {output.last_line}: its list is not closed"
    yield from _notes_on_sections(operations)
    if overall:
        yield from _notes_on_missing_sections(output, overall, operations, arguments)
        yield from _notes_on_tables(overall, operations)
    else:
        yield f"no '[OVERALL]' before line {output.last_line}: there is no rate, and errors are not read"
    closed = _connections_closed(output)
    if closed and arguments.threads is None:
        yield f"no line says the threads; {closed} connections were closed, by HBase two of each thread"
    if arguments.threads and closed is not None and closed < arguments.threads:
        yield f"only {closed} of {arguments.threads} threads closed their connection"
    strange = [
        line
        for section in operations.values()
        for name, (_, line) in section.figures.items()
        if name not in (*_COUNTS, _HEADLINE_OF_RAW)
        and not _RETURN.fullmatch(name)
        and not _latency_metric(name)
    ]
    if strange:
        yield f"{len(strange)} lines were not understood, the first in line {strange[0]}"


def _notes_on_sections(operations: dict[str, _Section]) -> Iterator[str]:
    """Yield where a section lacks a figure of the others: all operations are measured the same way."""
    measured = {name: section for name, section in operations.items() if _count(section)}
    wanted = dict.fromkeys(
        name for section in measured.values() for name in section.figures if _latency_metric(name)
    )
    for operation, section in measured.items():
        lacking = [f"'{name}'" for name in wanted if name not in section.figures]
        if operation in _OPERATIONS and not _returns(section):
            lacking.append("'Return='")
        if lacking or not wanted:
            lacks = ", ".join(lacking) or "latency"
            yield f"'[{operation}]' is not complete after line {section.end}: no {lacks}"


def _notes_on_missing_sections(
    output: _Output, overall: _Overall, operations: dict[str, _Section], arguments: _Arguments
) -> Iterator[str]:
    of_database = {name: section for name, section in operations.items() if not name.endswith(_FAILED)}
    counted = max(_counted(operations), _counted(of_database))
    if overall.count is not None and counted < overall.count:
        yield (
            f"the sections up to line {output.last_line} tell of {counted} operations, but "
            f"{overall.count} were run: is the file cut off?"
        )
    if "CLEANUP" not in output.sections:
        yield "the section '[CLEANUP]' is missing: is the file cut off?"
    both = arguments.options.get("measurement.interval") == "both"
    intended = {name.removeprefix(_INTENDED) for name in operations if name.startswith(_INTENDED)}
    if intended or both:
        for name in operations:
            if name in _OPERATIONS and name not in intended:
                yield f"the section '[{_INTENDED}{name}]' is missing: is the file cut off?"


def _notes_on_tables(overall: _Overall, operations: dict[str, _Section]) -> Iterator[str]:
    have_tables = any(section.buckets for section in operations.values())
    for name, section in operations.items():
        if not section.buckets:
            if have_tables and name in _OPERATIONS and _count(section):
                yield f"the table of '[{name}]' is missing after line {section.end}"
        elif _is_time_series(section):
            times = [float(label.removeprefix(">")) for label, _, _ in section.buckets]
            step = times[1] - times[0] if len(times) > 1 else 1000.0
            if times[-1] + step < 1000 * overall.seconds:
                yield f"the times of '[{name}]' break off in line {section.end}"
        elif sum(_figure(value, line).value for _, value, line in section.buckets) != _count(section):
            yield (
                f"the histogram of '[{name}]' does not add up to its operations; "
                f"it ends in line {section.end}"
            )
