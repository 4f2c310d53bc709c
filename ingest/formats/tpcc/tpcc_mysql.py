"""tpcc-mysql: the output of ``tpcc_start``, from its banner to the new orders a minute.

      10, trx: 12920, 95%: 9.483, 99%: 18.738, max_rt: 213.169, 12919|98.778, 1292|101.096, ...
    <TpmC>
                     53257.352 TpmC

An older one prints ``10, 7535(0):3.739|4.571, ...`` for each interval: transactions, those over the limit,
and two times that its clients spent on the CPU. They are no response times, and are not read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats.outputs import MAX_THREADS, Read, bounded, measured, read_runs, whole_lines
from ingest.formats.report import Fact, FormatError, Intervals, NearMiss, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tpcc.transactions import NEW_ORDER, TRANSACTIONS, WORKLOAD

_RECOGNISED = re.compile(
    rb"^\*{3} (?:###easy### TPC-C Load Generator|TPCC-mysql Data Loader) *\*{3}"
    rb"|^MEASURING START\.|^<TpmC>|^ {2,40}[0-9.]{1,20} TpmC\r?$",
    re.MULTILINE,
)
_BANNER = re.compile(r"\*{3} ###easy### TPC-C Load Generator *\*{3}")
_LOADER = re.compile(r"\*{3} TPCC-mysql Data Loader *\*{3}")
_PARAMETER = re.compile(r"\[(warehouse|connection|rampup|measure)\]: ([0-9]{1,9})(?: \(sec\.\))?")
_STARTS = "MEASURING START."
_RAW, _RAW_AGAIN, _RATE_FOLLOWS = "<Raw Results>", "<Raw Results2(sum ver.)>", "<TpmC>"
_COUNTS = re.compile(
    r"\[([0-4])\] sc:([0-9]{1,12}) +lt:([0-9]{1,12}) +rt:([0-9]{1,12}) +fl:([0-9]{1,12})"
    r"(?: avg_rt: ([0-9.]{1,20}) \([0-9]{1,9}\))?"
)
_SECONDS = re.compile(r"in ([0-9]{1,9}) sec\.")
_CHECK = re.compile(r"([A-Z][A-Za-z-]{1,20}): [0-9.]{1,8}% .*\[NG\] \*")
_RATE = re.compile(r"(\S{1,30}) Tpm[Cc]")
_COMMAND = re.compile(r"\btpcc_start\s.+")
_INTERVAL = re.compile(
    r"([0-9]{1,9}), trx: ([0-9]{1,12}), 95%?: ([0-9.]{1,20}), 99%?: ([0-9.]{1,20}), max_rt: ([0-9.]{1,20})"
    r", ([0-9]{1,12})\|[0-9.]{1,20}, ([0-9]{1,12})\|[0-9.]{1,20}, ([0-9]{1,12})\|[0-9.]{1,20}"
    r", ([0-9]{1,12})\|[0-9.]{1,20}"
)
_OF_OLD = r"([0-9]{1,12})\([0-9]{1,12}\):[0-9.]{1,20}(?:\|[0-9.]{1,20})?"
_OLD_INTERVAL = re.compile(rf"([0-9]{{1,9}}), {', '.join([_OF_OLD] * 5)}")
_PICKED = re.compile(r"[0-9] TpmC\b|\bTpmC: *[0-9]")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
# The rate is computed with single precision.
_TOLERANCE = 1e-5


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def near_miss(lines: Sequence[str]) -> NearMiss | None:
    """Say of rates that were picked out of outputs that the whole output is read."""
    found = [number for number, line in enumerate(lines, start=1) if _PICKED.search(line)]
    if not found:
        return None
    return NearMiss(
        "its rates stand alone; send the whole output of tpcc_start, or a table 'workload,threads,nopm'",
        found[0],
        len(found),
    )


def parse(source: Source) -> ParsedReport:
    """Read each run of the file; of several the keys are ``1``, ``2``, ...

    Raise FormatError where none has its rate. Of several runs one without is left out with a warning.
    """
    lines, warnings = whole_lines(source, closing=_RATE)
    outputs = _outputs(lines)
    if not outputs:
        raise FormatError(
            "data was loaded, and no test was run: send the output of tpcc_start", max(len(lines), 1)
        )
    runs, intervals, notes = read_runs(outputs, _run, lines)
    return ParsedReport(runs, intervals, {"tool": "tpcc-mysql"}, bounded(warnings + notes))


@dataclass(slots=True)
class _Counts:
    """What became of one kind of transaction. ``average`` is its response time in ms, where it is printed."""

    succeeded: int
    late: int
    retried: int
    failed: int
    average: str = ""

    @property
    def completed(self) -> int:
        return self.succeeded + self.late


@dataclass(slots=True)
class _Output:
    """What one run printed: its counts by the transaction's number, and the rate with its line.

    ``asked`` are the parameters of the command, where it stands above the run.
    """

    line: int = 0
    last_line: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    has_started: bool = False
    counts: dict[int, _Counts] = field(default_factory=dict)
    seconds: int = 0
    rate: tuple[str, int] | None = None
    failed_checks: list[str] = field(default_factory=list)
    old: list[tuple[float, ...]] = field(default_factory=list)
    new: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def begins(self) -> bool:
        """Return whether it is that of a run, and not what stands around one."""
        return bool(self.parameters or self.has_started or self.counts or self.rate)


def _outputs(lines: Sequence[str]) -> list[_Output]:
    outputs: list[_Output] = []
    at_hand = _Output()
    section = ""
    is_loader = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if _BANNER.fullmatch(text) or (text == _STARTS and at_hand.has_started) or at_hand.rate:
            if at_hand.begins:
                outputs.append(at_hand)
                at_hand = _Output()
            section, is_loader = "", False
        if _LOADER.fullmatch(text):
            is_loader = True
        if is_loader or not text:
            continue
        if text in (_RAW, _RAW_AGAIN, _RATE_FOLLOWS):
            section = text
        _take(at_hand, text, number, section)
    return [*outputs, at_hand] if at_hand.begins else outputs


def _take(output: _Output, text: str, line: int, section: str) -> None:
    """Note what a line says of the run. The second counts are those of each client, summed up: the same."""
    if parameter := _PARAMETER.fullmatch(text):
        output.parameters[parameter[1]] = int(parameter[2])
    elif text == _STARTS:
        output.has_started = True
    elif section == _RAW and (counts := _COUNTS.fullmatch(text)):
        kind, succeeded, late, retried, failed = map(int, counts.groups()[:5])
        output.counts[kind] = _Counts(succeeded, late, retried, failed, counts[6] or "")
    elif section == _RAW and (seconds := _SECONDS.fullmatch(text)):
        output.seconds = int(seconds[1])
    elif check := _CHECK.fullmatch(text):
        output.failed_checks.append(check[1])
    elif section == _RATE_FOLLOWS and (rate := _RATE.fullmatch(text)):
        output.rate = rate[1], line
    elif new := _INTERVAL.fullmatch(text):
        output.new.append(tuple(map(float, new.groups())))
    elif old := _OLD_INTERVAL.fullmatch(text):
        output.old.append(tuple(map(float, old.groups())))
    elif command := _COMMAND.search(text):
        for name, letter in (("warehouse", "w"), ("connection", "c")):
            if value := re.search(rf"\s-{letter} ?([0-9]{{1,9}})(?!\S)", command[0]):
                output.asked[name] = int(value[1])
        return
    else:
        return
    output.line = output.line or line
    output.last_line = line


def _run(output: _Output, key: str) -> Read:
    """Raise FormatError where the rate is missing, or does not follow from what was counted."""
    if output.rate is None:
        raise FormatError(
            "no 'TpmC' line: tpcc-mysql was stopped, or the file is cut off after this line", output.last_line
        )
    text, line = output.rate
    rate = measured(text, line, "is not a rate that tpcc-mysql prints", pattern=_NUMBER)
    if not rate:
        raise FormatError("0 TpmC: not one order was placed", line)
    parameters = output.asked | output.parameters
    connections = parameters.get("connection")
    if connections is not None and not 1 <= connections <= MAX_THREADS:
        raise FormatError(f"{connections} is not a number of connections", output.line)
    notes = list(_notes(output))
    options: dict[str, Fact] = {}
    for parameter, name in (("warehouse", "warehouses"), ("rampup", "rampup"), ("measure", "duration")):
        if parameter in parameters:
            options[name] = parameters[parameter]
    run = ParsedRun(
        readings=(reading("nopm", rate), *_counted(output, rate, line)),
        key=key,
        workload=WORKLOAD,
        threads=connections,
        duration_s=float(output.seconds) if output.seconds else None,
        options=options,
    )
    return run, _table(output, key), notes


def _counted(output: _Output, rate: float, line: int) -> Iterator[Reading]:
    """Yield what follows from the counts, all five of which are needed for it."""
    if len(output.counts) < len(TRANSACTIONS) or not output.seconds:
        return
    counts = [output.counts[number] for number in range(len(TRANSACTIONS))]
    computed = counts[0].completed * 60 / output.seconds
    if abs(computed - rate) > _TOLERANCE * rate + 0.001:
        raise FormatError(f"{rate:.3f} TpmC, but the counts above make {computed:.3f}", line)
    yield reading("tpm", sum(count.completed for count in counts) * 60 / output.seconds)
    yield reading("errors_per_s", sum(count.failed for count in counts) / output.seconds)
    retries = sum(count.retried for count in counts) / output.seconds
    yield Reading("retries_per_s", retries, "1/s", LOWER, is_own=True)
    for transaction, count in zip(TRANSACTIONS, counts, strict=True):
        if count.average and count.completed:
            average = measured(count.average, line, "is not a time that tpcc-mysql prints", pattern=_NUMBER)
            yield Reading(f"{transaction}.latency_avg", average, "ms", LOWER)


def _notes(output: _Output) -> Iterator[str]:
    if len(output.counts) < len(TRANSACTIONS) or not output.seconds:
        yield f"'{_RAW}' is missing or not complete: only the new orders a minute are read"
    if "connection" not in output.asked | output.parameters:
        yield "how many connections there were is missing: it stands before the measuring starts"
    if output.failed_checks:
        yield f"the tool's own check failed for {', '.join(dict.fromkeys(output.failed_checks))}"
    times = [row[0] for row in output.new or output.old]
    if any(later <= earlier for earlier, later in pairwise(times)):
        yield "the times of the intervals go back; they are not kept"
    elif output.new and output.old:
        yield "intervals of two kinds; they are not kept"


def _table(output: _Output, key: str) -> Iterator[Intervals]:
    """Yield the intervals: transactions of all kinds a second, and response times of new orders in ms."""
    rows = output.new or output.old
    times = [0.0, *(row[0] for row in rows)]
    lengths = [later - earlier for earlier, later in pairwise(times)]
    if not rows or (output.new and output.old) or min(lengths) <= 0:
        return
    # Of an interval: seconds, new orders, and the others or, before them, three times.
    others = slice(5, None) if output.new else slice(2, None)
    table = [
        (row[0], (row[1] + sum(row[others])) / length, row[1] / length, *(row[2:5] if output.new else ()))
        for row, length in zip(rows, lengths, strict=True)
    ]
    columns = ("latency_p95", "latency_p99", "latency_max") if output.new else ()
    names = ("time_s", "tps", f"{NEW_ORDER}.tps", *(f"{NEW_ORDER}.{name}" for name in columns))
    yield Intervals(key, "tpcc-mysql", names, tuple(table))
