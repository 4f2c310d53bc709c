"""YCSB: what its client prints, or writes to ``exportfile``, as text or as JSON.

    [OVERALL], Throughput(ops/sec), 1652.892561983471
    [READ], 95thPercentileLatency(us), 1120

A report is a list of sections, one for each operation. Before it stand the command line and, with ``-s``, a
status line every few seconds. A file holds one run, or several that were appended one after another.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from benchdash.results.readings import LOWER, Reading
from ingest.formats.cells import decimals
from ingest.formats.outputs import missing
from ingest.formats.report import FormatError, Intervals
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec
from ingest.formats.tools.go_ycsb import workload_of

_JSON_FIELD = re.compile(r'"(metric|measurement|value)"\s{0,9}:\s{0,9}(?:"([^"]{0,200})"|([^\s",}\]]{1,60}))')
_STATUS = re.compile(
    r".{0,200}?([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}):([0-9]{3}) ([0-9]{1,9}) sec: [0-9]{1,18} operations;"
    r"(?: ([0-9.,]{1,40}) current ops/sec)?"
)
_STATUS_OF_OPERATION = re.compile(r"\[([A-Za-z][\w.-]{0,37}):? ([^\]]{1,300})\]")
_STATUS_FIGURE = re.compile(r"([\w.()]{1,30})=([0-9]{1,19})(?:[.,]([0-9]{1,9}))?(?=[, ]|$)")
_CALL = re.compile(r".{0,300}?\bycsb(?:\.sh|\.bat)?\s+(load|run)\s+(\w{1,40}\b.*)")
_CLIENT = re.compile(r"\S*?java\b.{0,20000}?\s(?:site|com\.yahoo)\.ycsb\.Client (.*)")
_BUCKET = re.compile(r">?[0-9]{1,12}")
_BROKEN = "JSON of an object that is not closed, or has a key twice"
_FENCES = ("```", "~~~")
_MAX_COMMAND_LENGTH = 50_000

_CLEANUP = "cleanup"
# Measured like operations, but none: what closes a connection, and the client's own memory and threads.
_NOT_OPERATIONS = {_CLEANUP, "thread_count", "sys_load_avg", "gcs", "gcs_time", "used_mem_mb"}
_OPERATIONS = {"read", "scan", "update", "insert", "delete"}
_FAILED, _INTENDED = "_failed", "intended_"
_GOOD_RETURNS = {"OK", "BATCHED_OK", "0"}
_NO_REPORT = (
    "no final report: YCSB was stopped, the file is cut off after this line, or the report is in the file of "
    "the property 'exportfile'"
)


def _texts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers: those of JSON as of text, status lines and commands in parts."""
    fields: dict[str, str] = {}
    depth, call = 0, ""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if call and call.endswith("\\") and len(call) < _MAX_COMMAND_LENGTH:
            call = f"{call[:-1]} {text}"
        elif typed := _CALL.fullmatch(text):
            call = f"Command line: -{typed[1]} -db {typed[2]}"
        elif started := _CLIENT.match(text) if len(text) < _MAX_COMMAND_LENGTH else None:
            call = f"Command line: {started[1]}"
        elif status := _STATUS.match(text):
            yield from ((number, part) for part in _status(status, text))
        elif not text.strip("[]{}, ") or '"' in text:
            depth += text.count("{") + text.count("[") - text.count("}") - text.count("]")
            for name, quoted_text, bare in _JSON_FIELD.findall(text):
                if name in fields:
                    yield number, _BROKEN
                fields[name] = quoted_text or bare
                if len(fields) == 3:
                    yield number, "[{metric}], {measurement}, {value}".format(**fields)
                    fields = {}
        elif not (text.endswith(" NaN") and not text.startswith("[OVERALL]")):
            # An operation that was never completed has no times.
            yield number, text
        if call and not call.endswith("\\"):
            yield number, call
            call = ""
    if depth > 0 or fields:
        yield len(lines), _BROKEN


def _status(status: re.Match[str], text: str) -> Iterator[str]:
    """Yield the parts of a status line, with decimal points: its time, its rate, and each operation.

    Without a clock that can be, it is none.
    """
    clock, milliseconds, seconds, rate = status.groups()
    try:
        began = datetime.fromisoformat(f"{clock}.{milliseconds}").replace(tzinfo=UTC).timestamp()
    except ValueError:
        began = -1.0
    if began < 0:
        return
    yield f"status {began:.3f} at {seconds} s {(rate or '').replace(',', '.')}".rstrip()
    for name, figures in _STATUS_OF_OPERATION.findall(text, status.end()):
        if name.lower() not in _NOT_OPERATIONS:
            parts = _STATUS_FIGURE.findall(figures)
            numbers = (f"{label}={whole}.{digits or 0}" for label, whole, digits in parts)
            yield f"status of {name}: {', '.join(numbers)}"


def _finish(run: RunValues) -> Iterator[str]:
    began = _take_rows(run)
    if began is not None:
        run.started_at = began
    counts = {
        name.removesuffix(".operations"): int(count) for name, count in run.counts.items() if ".op" in name
    }
    closed = counts.get(_CLEANUP)
    operations = {
        name: count for name, count in counts.items() if name.removeprefix(_INTENDED) not in _NOT_OPERATIONS
    }
    for name in [*_NOT_OPERATIONS, *(name for name, count in counts.items() if not count)]:
        run.leave_out(name)
        run.leave_out(f"{_INTENDED}{name}")
    for name in operations:
        if variance := run.counts.get(f"{name}.variance"):
            run.take(f"{name}.latency_stddev", repr(math.sqrt(variance)), run.line, unit="us")
    returns, buckets, strange = _entries(run, operations)
    yield from _totals(run, operations)
    _take_errors(run, returns)
    for name, unit, count in (("gc.count", "counts", "gcs"), ("gc.time", "ms", "gc_ms")):
        if count in run.counts:
            run.readings[name] = Reading(name, run.counts[count], unit, LOWER)
    run.texts |= {"workload": workload} if (workload := workload_of(run)) else {}
    run.tables += [_table(name, entries) for name, entries in buckets.items()]
    if lacking := _lacking(run, operations, returns, buckets):
        yield missing(lacking, run.last_line)
    if run.duration_s and _CLEANUP not in counts:
        yield "the section '[CLEANUP]' is missing: is the file cut off?"
    yield from _notes_on_buckets(run, operations, buckets)
    if closed and run.threads is None:
        run.threads = closed
        yield f"no line says the threads; {closed} connections were closed, by HBase two of each thread"
    elif closed is not None and run.threads and closed < run.threads:
        yield f"only {closed} of {run.threads} threads closed their connection"
    if strange:
        yield f"{len(strange)} lines were not understood, the first in line {strange[0]}"


def _take_rows(run: RunValues) -> datetime | None:
    """Return the client's own clock, without an offset, at second 0; keep the figures of the intervals."""
    rows: list[dict[str, float | None]] = []
    began = None
    for row in run.rows:
        clock, seconds = row.pop("clock", 0.0) or 0.0, row.get("time_s") or 0.0
        if began is None and clock:
            began = datetime.fromtimestamp(clock, UTC).replace(tzinfo=None) - timedelta(seconds=seconds)
        row.setdefault("ops_per_s", None)
        figures = {
            name.replace(f"{_FAILED}.count", ".failed"): value
            for name, value in row.items()
            if not name.endswith(".count") or name.endswith(f"{_FAILED}.count")
        }
        # With measurementtype=timeseries each line is printed twice, to both outputs.
        if figures not in rows[-1:]:
            rows.append({"time_s": seconds, "ops_per_s": row.get("ops_per_s")} | figures)
    run.rows[:] = rows
    return began


def _totals(run: RunValues, operations: Mapping[str, int]) -> Iterator[str]:
    """Note what was done in all. A read-modify-write is counted as a read and an update already."""
    both = operations.get("read_modify_write", 0)
    counted = {
        name: count
        for name, count in operations.items()
        if name != "verify" and not name.startswith(_INTENDED)
    }
    in_sections = max(sum(counted.values()) - 2 * both, 0)
    without_failed = sum(count for name, count in counted.items() if not name.endswith(_FAILED)) - 2 * both
    has_report = not {"ops_per_s", "total_time"}.isdisjoint(run.readings)
    if not has_report and not run.rows and any(".latency_" in metric for metric in run.readings):
        yield f"no '[OVERALL]' before line {run.last_line}: there is no rate, and errors are not read"
        run.add("total_events", float(in_sections))
        return
    if not has_report:
        raise FormatError(_NO_REPORT, run.last_line)
    for metric, line in (("total_time", "RunTime(ms)"), ("ops_per_s", "Throughput(ops/sec)")):
        if metric not in run.readings:
            lacks = f"the report is not complete: no '[OVERALL], {line}' up to this line"
            raise FormatError(lacks, run.last_line)
        if not run.value(metric):
            failed = [f"{count} {name}" for name, count in counted.items() if name.endswith(_FAILED)]
            problem = f"{metric} is 0: {', '.join(failed) or 'nothing was measured'}"
            raise FormatError(problem, run.line_of(metric))
    rate, seconds = run.value("ops_per_s"), run.value("total_time")
    run.duration_s = seconds
    rounding = 0.5 * 10.0 ** -decimals(repr(rate))
    error = rounding * seconds + 1e-12 * rate * seconds
    done = round(rate * seconds)
    is_exact = error < 0.5 and abs(rate * seconds - done) <= max(error, 1e-6)
    if is_exact and rounding >= 1e-9 * rate:
        # Somebody cut the digits off.
        run.add("ops_per_s", done / seconds)
    if total := done if is_exact else in_sections:
        run.add("total_events", float(total))
    if is_exact and max(in_sections, without_failed) < done:
        yield (
            f"the sections up to line {run.last_line} tell of {max(in_sections, without_failed)} operations, "
            f"but {done} were run: is the file cut off?"
        )


_Entries = list[tuple[str, float, int]]


def _entries(
    run: RunValues, operations: Mapping[str, int]
) -> tuple[dict[str, dict[str, float]], dict[str, _Entries], list[int]]:
    """Return how often operations returned each code, their buckets, and lines that were not understood."""
    returns: dict[str, dict[str, float]] = {}
    buckets: dict[str, _Entries] = {}
    strange: list[int] = []
    for operation, name, text, line in run.unnamed:
        if name.startswith("Return="):
            returns.setdefault(operation, {})[name.removeprefix("Return=")] = run.number(text, line)
        elif operation not in operations:
            continue
        elif _BUCKET.fullmatch(name):
            buckets.setdefault(operation, []).append((name, run.number(text, line), line))
        else:
            strange.append(line)
    return returns, buckets, strange


def _take_errors(run: RunValues, returns: Mapping[str, Mapping[str, float]]) -> None:
    """Note what returned anything but OK: all, and of each kind."""
    if not (returns and run.duration_s):
        return
    errors = {
        name: sum(count for code, count in codes.items() if code not in _GOOD_RETURNS)
        for name, codes in returns.items()
    }
    run.add("errors_per_s", sum(errors.values()) / run.duration_s)
    for name, count in errors.items():
        run.add(f"{name}.errors_per_s", count / run.duration_s)


def _is_over_time(entries: _Entries) -> bool:
    """Return whether the rows are times and averages, which have a point, and not buckets."""
    return any(not count.is_integer() for _, count, _ in entries)


def _table(operation: str, entries: _Entries) -> Intervals:
    if _is_over_time(entries):
        times = tuple(
            (float(label.lstrip(">")) / 1000, float(Decimal(repr(average)).scaleb(-3)))
            for label, average, _ in entries
        )
        return Intervals("", f"{operation} over time", ("time_s", "latency_avg"), times)
    # Each bucket is 1 ms wide, and the last (``>1000``) has no end.
    rows = tuple(
        (float(label.lstrip(">")), None if label.startswith(">") else float(label) + 1, count)
        for label, count, _ in entries
        if count
    )
    return Intervals("", f"{operation} histogram", ("from_ms", "to_ms", "count"), rows)


def _lacking(
    run: RunValues,
    operations: Mapping[str, int],
    returns: Mapping[str, object],
    buckets: Mapping[str, object],
) -> list[str]:
    """Return what a section lacks of the others: all operations are measured the same way."""
    metrics = {
        name: {m.rpartition(".")[2] for m in run.readings if m.startswith(f"{name}.latency_")}
        for name in operations
    }
    wanted = sorted(set().union(*metrics.values()) if metrics else ())
    has_intended = any(name.startswith(_INTENDED) for name in operations)
    lacking = []
    for name in (name for name, count in operations.items() if count):
        lacking += [f"{name}.{metric}" for metric in wanted or ["latency"] if metric not in metrics[name]]
        if name in _OPERATIONS:
            lacking += [f"{name}.errors_per_s"] if name not in returns else []
            lacking += [f"the table of {name}"] if buckets and name not in buckets else []
            is_both = has_intended or run.options.get("measurement.interval") == "both"
            lacking += [f"{_INTENDED}{name}"] if is_both and f"{_INTENDED}{name}" not in operations else []
    return lacking


def _notes_on_buckets(
    run: RunValues, operations: Mapping[str, int], buckets: Mapping[str, _Entries]
) -> Iterator[str]:
    for name, entries in buckets.items():
        end = entries[-1][2]
        if not _is_over_time(entries):
            if sum(count for _, count, _ in entries) != operations[name]:
                yield f"the histogram of {name} does not add up to its operations; it ends in line {end}"
            continue
        times = [float(label.lstrip(">")) for label, _, _ in entries]
        step = times[1] - times[0] if len(times) > 1 else 1000.0
        if run.duration_s and times[-1] + step < 1000 * run.duration_s:
            yield f"the times of {name} break off in line {end}"


def _times() -> Iterator[tuple[str, str]]:
    for name, metric in (("Average", "avg"), ("Min", "min"), ("Max", "max")):
        yield from ((f"{name}Latency({unit})", f"latency_{metric}:{unit}") for unit in ("us", "ms"))
        yield name, f"latency_{metric}:us"
    yield "Avg", "latency_avg:us"
    for percentile in ("90", "99", "99.9", "99.99"):
        yield percentile, f"latency_p{percentile.replace('.', '_')}:us"


_STATUS_LINE = PrintedLine("status {count.clock} at {count.time_s} s {ops_per_s}", interval=True)
_STATUS_WITHOUT_RATE = PrintedLine("status {count.clock} at {count.time_s} s", interval=True)
_NOT_OF_THE_WORKLOAD = ("exportfile", "exporter", "status.interval", "label")

FORMAT = ToolSpec(
    tool="YCSB",
    recognised_by=r"^[ \t]{0,16}(?:\[OVERALL\], ?(?:RunTime|Throughput)\("
    r"|\[[A-Z][A-Z-]{1,60}\], ?(?:Total )?(?:Operations|AverageLatency\([um]s\)),"
    r"|YCSB Client [0-9]"
    r"|[A-Z][A-Z-]{1,60} latency raw data: op, timestamp\(ms\), latency\(us\)"
    r'|[\[\s]{0,9}\{\s{0,9}"metric"\s{0,9}:\s{0,9}"[A-Z][\w.%-]{0,80}",\s{0,9}"measurement"\s{0,9}:)'
    r"|[0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{3} [0-9]{1,9} sec: [0-9]{1,18} operations;",
    texts=_texts,
    lines=(
        PrintedLine("Command line:{flags}", begins_run=True),
        *(PrintedLine(f"{fence}...", begins_run=True) for fence in _FENCES),
        PrintedLine(_BROKEN, failure="the file is cut off, or two processes wrote into it"),
        PrintedLine(
            "YCSB Client {fact.tool_version}", before_figures=True, once_a_run=True, owes_figures=True
        ),
        _STATUS_LINE,
        _STATUS_WITHOUT_RATE,
        PrintedLine("status of {operation}: {fields}", interval=True),
        PrintedLine("[OVERALL], RunTime(ms), {total_time:ms}", once_a_run=True),
        PrintedLine("[OVERALL], Throughput(ops/sec), {ops_per_s}", once_a_run=True),
        PrintedLine("[TOTAL_GCs], Count, {count.gcs}"),
        PrintedLine("[TOTAL_GC_TIME], Time(ms), {count.gc_ms}"),
        PrintedLine("[{operation}], Operations, {count.operations}", once_a_run=True),
        PrintedLine("[{operation}], Total Operations, {count.operations}", once_a_run=True),
        PrintedLine("[{operation}], LatencyVariance(us), {count.variance}"),
        PrintedLine("[{operation}], {percentile}...PercentileLatency(us), {latency:us}"),
        PrintedLine("[{operation}], {percentile}...PercentileLatency(ms), {latency:ms}"),
        PrintedLine("[{operation}], p{percentile}, {latency:us}"),
        PrintedLine("[{operation}], {name}, {value}"),
    ),
    names=dict(_times())
    | dict.fromkeys(_NOT_OF_THE_WORKLOAD, "_")
    | dict.fromkeys(("-threads", "--threads", "threadcount"), "threads")
    | {"-p": "property", "-db": "option.db", "-target": "option.target", "Count": "count.count"}
    | {"Below is a summary of latency in microseconds:": "_"},
    required={},
    finish=_finish,
)
