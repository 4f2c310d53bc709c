"""go-ycsb: a line for each operation, every ten seconds, and behind 'Run finished' those of the whole run.

Run finished, takes 1m0.01s
READ   - Takes(s): 60.0, Count: 109238, OPS: 1820.5, Avg(us): 1450, Min(us): 480, Max(us): 31000, ...
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats.go_measurements import go_fields, go_times
from ingest.formats.outputs import MAX_THREADS, Read, bounded, in_order, option, read_runs, whole_lines
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import names_a_secret

_TOOL = "go-ycsb"
_OPERATION = r"(?:BATCH_)?(?:READ|UPDATE|INSERT|SCAN|DELETE)|READ_MODIFY_WRITE|TOTAL|TXN"
_RECOGNISED = re.compile(
    rf"^[ \t]{{0,16}}(?:{_OPERATION})(?:_ERROR)?[ \t]+- Takes\(s\): ".encode(), re.MULTILINE
)
_LINE = re.compile(rf"({_OPERATION})(_ERROR)?\s+- (Takes\(s\): .+)")
_FINISHED = re.compile(r"Run finished, takes (\S{1,40})")
_DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,12})?)(ms|s|µs|us))?")
_SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6}
_PROPERTY = re.compile(r'"([\w.-]{1,60})"="([^"]{0,200})"')
_COMMAND = re.compile(r"\bgo-ycsb\s+(load|run)\s+(\w{1,40})\b(.{0,4000})")
_FILE = re.compile(r"\s-P[ =]?(\S{1,300})")
_THREADS = re.compile(r"\s(?:--threads|-p ?threadcount)[ =]?([0-9]{1,7})(?!\S)")
_TOTAL = "TOTAL"
_IN_ORDER = ("latency_min", "latency_avg", "latency_max")
# Counted as a read and an update too.
_COMPOUND = frozenset({"READ_MODIFY_WRITE", "TXN"})

# The fields of each line by its operation, and whether it is one of operations that failed.
_Block = dict[tuple[str, bool], dict[str, float]]


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read each run of the file; of several the keys are ``1``, ``2``, ...

    Raise FormatError where none ended. Of several runs one that did not is left out with a warning.
    """
    lines, warnings = whole_lines(source)
    outputs = _outputs(lines)
    if not outputs:
        raise FormatError("no line of measurements is whole: is the file cut off?", max(len(lines), 1))
    runs, intervals, notes = read_runs(outputs, _run, lines)
    return ParsedReport(runs, intervals, {"tool": _TOOL}, bounded(warnings + notes))


@dataclass(slots=True)
class _Output:
    """What one run printed: its lines of measurements every ten seconds, and those at its end."""

    line: int = 0
    last_line: int = 0
    command: re.Match[str] | None = None
    properties: dict[str, str] = field(default_factory=dict)
    intervals: list[_Block] = field(default_factory=list)
    finished: tuple[str, int] | None = None
    final: _Block = field(default_factory=dict)


def _outputs(lines: Sequence[str]) -> list[_Output]:
    outputs, at_hand = [], _Output()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        measured = _LINE.fullmatch(text)
        command, named = _COMMAND.search(text), _PROPERTY.fullmatch(text)
        is_again = measured is not None and (measured[1], bool(measured[2])) in at_hand.final
        if (command or named or is_again or _FINISHED.fullmatch(text)) and at_hand.final:
            outputs.append(at_hand)
            at_hand = _Output()
        if measured:
            _take(at_hand, measured, number)
        elif command:
            at_hand.command, at_hand.properties = command, {}
        elif named:
            at_hand.properties[named[1]] = named[2]
        elif finished := _FINISHED.fullmatch(text):
            at_hand.finished = finished[1], number
        else:
            continue
        if measured or at_hand.finished:
            at_hand.line = at_hand.line or number
        at_hand.last_line = number
    return [*outputs, at_hand] if at_hand.line else outputs


def _take(output: _Output, measured: re.Match[str], line: int) -> None:
    key = measured[1], bool(measured[2])
    fields = go_fields(measured[3], line, _TOOL)
    if output.finished:
        output.final[key] = fields
        return
    if not output.intervals or key in output.intervals[-1]:
        output.intervals.append({})
    output.intervals[-1][key] = fields


def _run(output: _Output, key: str) -> Read:
    """Raise FormatError where the run did not end, or nothing was measured."""
    final, notes = output.final, []
    if not final and len(output.intervals) == 1 and not (output.finished or output.properties):
        final, output.intervals = output.intervals[0], []
        notes.append(
            f"no 'Run finished' before line {output.line}: whether this is the whole run is not said"
        )
    if not final:
        raise FormatError(
            "no line behind 'Run finished': go-ycsb was stopped, or the file is cut off after this line",
            output.last_line,
        )
    if not any(fields["Count"] for (_, failed), fields in final.items() if not failed):
        raise FormatError("not one operation was completed", output.last_line)
    seconds = _seconds(*output.finished) if output.finished else None
    command = output.command[3] if output.command else ""
    threads = output.properties.get("threadcount") or next(iter(_THREADS.findall(command)), "")
    if not threads:
        notes.append("how many threads there were is missing: it is among the properties that go-ycsb prints")
    if missing := _missing(final, output.intervals):
        notes.append(f"no line of {missing} up to line {output.last_line}: is the file cut off?")
    run = ParsedRun(
        readings=tuple(_readings(final, seconds, output.last_line)),
        key=key,
        workload=_workload(output),
        threads=_thread_count(threads, output.line),
        duration_s=seconds,
        options=_options(output),
    )
    return run, _table(output, key), notes


def _missing(final: _Block, intervals: Sequence[_Block]) -> str:
    """Return the operations that the end lacks, as far as the lines before and the total tell."""
    if lacking := [key for block in intervals[-1:] for key in block if key not in final]:
        return ", ".join(f"{name}_ERROR" if failed else name for name, failed in lacking)
    completed = {name: fields["Count"] for (name, failed), fields in final.items() if not failed}
    total = completed.pop(_TOTAL, None)
    counted = sum(count for name, count in completed.items() if name not in _COMPOUND)
    return "some operations" if total is not None and counted < total else ""


def _seconds(text: str, line: int) -> float:
    """Return the seconds of a duration as Go prints it: ``16m23.37s``, ``344.69ms``."""
    found = _DURATION.fullmatch(text)
    if not found or not any(found.groups()):
        raise FormatError(f"{text!r} is not a time that go-ycsb prints", line)
    hours, minutes, rest, unit = found.groups()
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes or 0) + float(rest or 0) * _SECONDS[unit or "s"]


def _thread_count(text: str, line: int) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:8]) <= MAX_THREADS):
        raise FormatError(f"{text!r} is not a number of threads", line)
    return int(text)


def _workload(output: _Output) -> str | None:
    """Return ``workloada`` of ``-P workloads/workloada``, ``workloada load`` where it was loaded."""
    if output.command is None:
        return None
    files = [PurePosixPath(name).name for name in _FILE.findall(output.command[3])]
    if len(files) != 1:
        return None
    return f"{files[0]} load" if output.command[1] == "load" else files[0]


def _options(output: _Output) -> dict[str, Fact]:
    """Return the properties, without secrets and where the server was."""
    options = {
        name: option(value)
        for name, value in output.properties.items()
        if "." not in name and name not in ("threadcount", "workload") and not names_a_secret(name)
    }
    return options | ({"db": output.command[2]} if output.command else {})


def _readings(final: _Block, seconds: float | None, line: int) -> Iterator[Reading]:
    """Yield the rate of all operations, which is 'TOTAL' or the sum of the others, and times of each."""
    completed = {name: fields for (name, failed), fields in final.items() if not failed}
    failed = {name: fields for (name, failed), fields in final.items() if failed}
    total = completed.pop(_TOTAL, None)
    counted = [total] if total else [fields for name, fields in completed.items() if name not in _COMPOUND]
    counted = counted or list(completed.values())
    yield reading("ops_per_s", sum(fields.get("OPS", 0.0) for fields in counted))
    yield reading("total_events", sum(fields["Count"] for fields in counted))
    if seconds:
        yield reading("total_time", seconds)
    duration = seconds or max(fields["Takes(s)"] for fields in final.values())
    if duration:
        errors = {name: fields["Count"] / duration for name, fields in failed.items() if name != _TOTAL}
        yield reading("errors_per_s", sum(errors.values()))
        for name, rate in errors.items():
            yield Reading(f"{name.lower()}.errors_per_s", rate, "1/s", LOWER)
    for name, fields in (({"": total} if total else {}) | completed).items():
        times = go_times(fields)
        if not in_order(*(times[metric] for metric in _IN_ORDER if metric in times)):
            raise FormatError(
                f"the least, average and greatest time of {name or _TOTAL} are not in this order", line
            )
        prefix = f"{name.lower()}." if name else ""
        for metric, value in times.items():
            yield Reading(f"{prefix}{metric}", value / 1000, "ms", LOWER, printed_unit="us")


def _table(output: _Output, key: str) -> Iterator[Intervals]:
    """Yield the rate of each interval; what go-ycsb prints are counts since the run began."""
    points = [(0.0, 0.0)]
    for block in output.intervals:
        counts = {name: fields for (name, failed), fields in block.items() if not failed}
        of_all = counts.get(_TOTAL)
        counted = [of_all] if of_all else [counts[name] for name in counts if name not in _COMPOUND]
        if counted:
            points.append((max(one["Takes(s)"] for one in counted), sum(one["Count"] for one in counted)))
    if len(points) > 1 and all(
        late[0] > early[0] and late[1] >= early[1] for early, late in pairwise(points)
    ):
        rows = ((late[0], (late[1] - early[1]) / (late[0] - early[0])) for early, late in pairwise(points))
        yield Intervals(key, _TOOL, ("time_s", "ops_per_s"), tuple(rows))
