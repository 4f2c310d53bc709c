"""go-tpc: a line for each kind of transaction, every ten seconds and in the summary, and the rates behind it.

[Summary] NEW_ORDER - Takes(s): 599.9, Count: 22643, TPM: 2264.6, Sum(ms): 2583881.8, Avg(ms): 114.2, ...
tpmC: 2264.6, tpmTotal: 5036.6, efficiency: 4402.4%
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats.go_measurements import go_fields, go_number, go_times
from ingest.formats.outputs import MAX_THREADS, Read, bounded, in_order, read_runs, whole_lines
from ingest.formats.report import Fact, FormatError, Intervals, NearMiss, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tpcc.transactions import NEW_ORDER, TRANSACTIONS, WORKLOAD

_RECOGNISED = re.compile(
    rb"^\[(?:Current|Summary)\] +[A-Z][A-Z_0-9]{0,40}(?: - Takes\(s\): |: [0-9.]+s\r?$)"
    rb"|^tpmC: [0-9.]{1,20}(?:,|\r?$)",
    re.MULTILINE,
)
_LINE = re.compile(r"\[(Current|Summary)\] +([A-Z][A-Z_]{0,40}?)(_ERR)? +- +(Takes\(s\): .+)")
_QUERY = re.compile(r"\[(?:Current|Summary)\] +Q[0-9]{1,2}: .+")
_RATES = re.compile(r"tpmC: (\S{1,20}?)(?:, tpmTotal: (\S{1,20}?))?(?:, efficiency: \S{1,20}%)?")
_OTHER_STYLE = re.compile(r"\|\s*\[(?:Current|Summary)\]\s*\||\"Prefix\": ?\"\[(?:Current|Summary)\]")
_CLOSING = re.compile(r"tpmC: .*, efficiency: \S+%")
_COMMAND = re.compile(r"\b(?:go-tpc|tiup(?:-|\s+)bench)\b.{0,400}?\btpcc\b.{0,400}")
_THREADS = re.compile(r"(?:^|\s)(?:-T|--threads)[ =]?([0-9]{1,7})\b")
_WAREHOUSES = re.compile(r"(?:^|\s)--warehouses[ =]([0-9]{1,9})\b")
# Of CH-benCHmark, which runs the queries of TPC-H beside TPC-C.
_WORKERS = re.compile(r"Finished: ([0-9]{1,7}) OLTP workers, ([0-9]{1,7}) OLAP workers")
_OLAP = "olap_workers"
_WITH_QUERIES = "CH-benCHmark"
_TOOL = "go-tpc"
# The two rates of new orders are computed one after another.
_TOLERANCE = 0.01
# No response time is counted as a longer one.
_LONGEST_MS = 16_000


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def near_miss(lines: Sequence[str]) -> NearMiss | None:
    """Say of the other styles of output that the plain one is read."""
    found = [number for number, line in enumerate(lines, start=1) if _OTHER_STYLE.search(line)]
    if not found:
        return None
    return NearMiss("its output is a table or JSON; run it without '--output'", found[0], len(found) + 1)


def parse(source: Source) -> ParsedReport:
    """Read each run of the file; of several the keys are ``1``, ``2``, ...

    Raise FormatError where none has its rate. Of several runs one without is left out with a warning.
    """
    lines, warnings = whole_lines(source, closing=_CLOSING)
    outputs = _outputs(lines)
    runs, intervals, notes = read_runs(outputs, _run, lines)
    return ParsedReport(runs, intervals, {"tool": "go-tpc"}, bounded(warnings + notes))


@dataclass(slots=True)
class _Output:
    """What one run printed. ``summary`` and each interval have the fields of a line by its transaction."""

    line: int = 0
    last_line: int = 1
    options: dict[str, int] = field(default_factory=dict)
    threads: int | None = None
    intervals: list[dict[str, dict[str, float]]] = field(default_factory=list)
    last_name: str = ""
    summary: dict[str, tuple[dict[str, float], int]] = field(default_factory=dict)
    errors: dict[str, dict[str, float]] = field(default_factory=dict)
    rates: tuple[str, str, int] | None = None
    queries: int = 0

    @property
    def begins(self) -> bool:
        return bool(self.intervals or self.summary or self.rates or self.queries)


def _outputs(lines: Sequence[str]) -> list[_Output]:
    outputs, at_hand = [], _Output()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if line_of := _LINE.fullmatch(text):
            part, transaction, failed, fields = line_of.groups()
            # What is measured after a summary is of another run.
            if at_hand.rates or (part == "Current" and at_hand.summary):
                outputs.append(at_hand)
                at_hand = _Output(options=at_hand.options)
            _take(at_hand, part, transaction.lower(), bool(failed), fields, number)
        elif _QUERY.fullmatch(text):
            at_hand.queries = at_hand.queries or number
        elif (rates := _RATES.fullmatch(text)) and not at_hand.rates:
            at_hand.rates = rates[1], rates[2] or "", number
        elif workers := _WORKERS.fullmatch(text):
            at_hand.threads, at_hand.options[_OLAP] = int(workers[1]), int(workers[2])
        elif command := _COMMAND.search(text):
            if at_hand.begins:
                outputs.append(at_hand)
                at_hand = _Output()
            _take_command(at_hand, text[command.start() :])
        else:
            continue
        at_hand.line = at_hand.line or number
        at_hand.last_line = number
    return [*outputs, at_hand] if at_hand.begins or not outputs else outputs


def _take_command(output: _Output, command: str) -> None:
    """Note what a command asks for; of one that prepares or checks data, only the data."""
    if not re.search(r"\brun\b", command):
        output.threads = None
    elif threads := _THREADS.search(command):
        output.threads = int(threads[1])
    if warehouses := _WAREHOUSES.search(command):
        output.options["warehouses"] = int(warehouses[1])


def _take(output: _Output, part: str, transaction: str, failed: bool, fields: str, line: int) -> None:
    values = go_fields(fields, line, _TOOL)
    if part == "Current":
        # The lines of an interval are in the order of the alphabet.
        name = f"{transaction}_err" if failed else transaction
        if not output.intervals or output.last_name >= name:
            output.intervals.append({})
        output.last_name = name
        if not failed:
            output.intervals[-1][transaction] = values
    elif failed:
        output.errors[transaction] = values
    elif transaction in output.summary:
        raise FormatError(f"a second summary of {transaction}: did two processes write into one file?", line)
    else:
        output.summary[transaction] = values, line


def _run(output: _Output, key: str) -> Read:
    """Raise FormatError where the rates are missing, or do not fit to the summary."""
    if output.queries and not output.rates:
        raise FormatError("the queries of TPC-H have no rate; of go-tpc, only tpcc is read", output.queries)
    if output.rates is None and NEW_ORDER not in output.summary:
        raise FormatError(
            "no 'tpmC: ...' line: go-tpc was stopped, or the file is cut off after this line",
            output.last_line,
        )
    new_orders, total, line = output.rates or ("", "", output.last_line)
    rate = go_number(new_orders, line, _TOOL) if new_orders else output.summary[NEW_ORDER][0].get("TPM", 0.0)
    if not rate:
        raise FormatError("0 tpmC: not one order was placed", line)
    if output.threads is not None and not 1 <= output.threads <= MAX_THREADS:
        raise FormatError(f"{output.threads} is not a number of threads", line)
    readings = [reading("nopm", rate)]
    if total:
        readings.append(reading("tpm", go_number(total, line, _TOOL)))
    readings += _of_summary(output, rate, line)
    options: dict[str, Fact] = dict(output.options)
    run = ParsedRun(
        readings=tuple(readings),
        key=key,
        workload=_WITH_QUERIES if options.get(_OLAP) else WORKLOAD,
        threads=output.threads,
        duration_s=max((fields.get("Takes(s)", 0.0) for fields, _ in output.summary.values()), default=None),
        options=options,
    )
    return run, _table(output, key), list(_notes(output, total))


def _of_summary(output: _Output, rate: float, line: int) -> Iterator[Reading]:
    if NEW_ORDER in output.summary:
        found = output.summary[NEW_ORDER][0].get("TPM", rate)
        if abs(found - rate) > _TOLERANCE * max(found, rate) + 0.1:
            raise FormatError(f"tpmC is {rate:g}, but the summary has {found:g} new orders a minute", line)
    seconds = max((fields.get("Takes(s)", 0.0) for fields, _ in output.summary.values()), default=0.0)
    if seconds and output.summary:
        errors = sum(fields.get("Count", 0.0) for fields in output.errors.values())
        yield reading("errors_per_s", errors / seconds)
    for transaction, (fields, at) in output.summary.items():
        times = go_times(fields)
        # A histogram of two digits may print a percentile that is above the greatest time, but no average.
        if not in_order(times.get("latency_avg", 0.0), times.get("latency_max", _LONGEST_MS)):
            raise FormatError(f"the average time of {transaction} is above its greatest", at)
        for metric, value in times.items():
            yield Reading(f"{transaction}.{metric}", value, "ms", LOWER)


def _notes(output: _Output, total: str) -> Iterator[str]:
    if not output.summary:
        yield "no '[Summary]' lines: only the rates are read"
    elif missing := [name for name in TRANSACTIONS if name not in output.summary]:
        yield f"the summary has no line for {', '.join(missing)}"
    if output.rates is None:
        yield f"no 'tpmC' line after line {output.last_line}: the new orders are those of the summary"
    elif not total:
        yield "no tpmTotal: an older go-tpc, and the rate of all transactions is not read"
    if output.threads is None:
        yield "how many threads there were, go-tpc does not print: its sender says it"
    capped = [
        name for name, (fields, _) in output.summary.items() if fields.get("Max(ms)", 0.0) >= _LONGEST_MS
    ]
    if capped:
        yield f"times above 16 s are counted as 16 s: those of {', '.join(capped)} may be longer"


def _table(output: _Output, key: str) -> Iterator[Intervals]:
    """Yield the intervals, which have no times: transactions a minute, and response times of new orders."""
    names = ("latency_avg", "latency_p95", "latency_p99", "latency_max")
    rows = []
    for position, interval in enumerate(output.intervals, start=1):
        orders = interval.get(NEW_ORDER, {})
        times = go_times(orders)
        total = sum(fields.get("TPM", 0.0) for fields in interval.values())
        rows.append((float(position), total, orders.get("TPM", 0.0), *(times.get(name) for name in names)))
    if rows:
        columns = ("interval", "tpm", "nopm", *(f"{NEW_ORDER}.{name}" for name in names))
        yield Intervals(key, "go-tpc", columns, tuple(rows))
