"""What BenchBase prints while it runs: the line of its rates, and the settings that it lists before.

    [INFO ] ... DBWorkload runWorkload - Rate limited reqs/s: Results(state=EXIT, nanoSeconds=60000119000,
    measuredRequests=24612) = 410.19 requests/sec (throughput), 408.5 requests/sec (goodput)

all on one line. Its ``summary.json`` also has the response times.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchdash.results.readings import reading
from ingest.formats.benchbase.rates import rate_readings
from ingest.formats.outputs import MAX_THREADS, Read, bounded, measured, option, read_runs, whole_lines
from ingest.formats.report import Fact, FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

_RECOGNISED = re.compile(
    rb"Rate limited reqs/s: Results\(|^.{0,160}\bcom\.oltpbenchmark\.DBWorkload\b", re.MULTILINE
)
_RATES = re.compile(
    r".{0,300}Rate limited reqs/s: Results\((?:state=(\w{1,20}), )?nanoSeconds=([0-9]{1,18}), "
    r"measuredRequests=([0-9]{1,15})\) = (\S{1,40}) requests/sec(?: \(throughput\))?"
    r"(?:, (\S{1,40}) requests/sec \(goodput\))?"
)
_SETTING = re.compile(r".{0,300}?\b(Benchmark|Type|Scale ?Factor|Terminals|Isolation): {2,40}(\S.{0,200})")
# OLTPBench for YugabyteDB prints it below its rates.
_NEW_ORDERS = re.compile(r".{0,300}\bTPM-C: (\S{1,20})")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,18})?(?:E[0-9])?")


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read each run of the file; of several the keys are ``1``, ``2``, ...

    Raise FormatError where none has its rates.
    """
    lines, warnings = whole_lines(source, closing=_RATES)
    outputs = _outputs(lines)
    if not outputs:
        raise FormatError(
            "no 'Rate limited reqs/s' line: BenchBase only loaded data, was stopped, or the file is cut off",
            max(len(lines), 1),
        )
    runs, _, notes = read_runs(outputs, _run, lines)
    return ParsedReport(runs, facts={"tool": "BenchBase"}, warnings=bounded(warnings + notes))


@dataclass(slots=True)
class _Output:
    """The line of the rates of a run, and the settings before it."""

    line: int
    rates: re.Match[str]
    settings: dict[str, str] = field(default_factory=dict)
    new_orders: tuple[str, int] | None = None


def _outputs(lines: Sequence[str]) -> list[_Output]:
    outputs: list[_Output] = []
    settings: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if rates := _RATES.fullmatch(line.rstrip()):
            outputs.append(_Output(number, rates, dict(settings)))
        elif outputs and (new_orders := _NEW_ORDERS.fullmatch(line.rstrip())):
            outputs[-1].new_orders = new_orders[1], number
        elif setting := _SETTING.fullmatch(line.rstrip()):
            if setting[1] == "Benchmark":
                settings = {}
            settings[setting[1].replace(" ", "").lower()] = setting[2].strip()
    return outputs


def _run(output: _Output, key: str) -> Read:
    state, nanoseconds, requests, throughput, goodput = output.rates.groups()
    if state == "ERROR":
        raise FormatError("the run ended with an error", output.line)
    problem = "is not a rate that BenchBase prints"
    rates = [measured(text, output.line, problem, pattern=_NUMBER) for text in (throughput, goodput) if text]
    seconds = int(nanoseconds) / 1e9
    readings = [
        *rate_readings(
            rates[0],
            rates[1] if len(rates) > 1 else None,
            requests=int(requests),
            seconds=seconds,
            line=output.line,
        )
    ]
    if output.new_orders:
        readings.append(reading("nopm", measured(*output.new_orders, problem, pattern=_NUMBER)))
    settings = output.settings
    terminals = settings.get("terminals", "")
    threads = int(terminals) if terminals.isascii() and terminals.isdigit() and len(terminals) < 8 else None
    if threads is not None and not 1 <= threads <= MAX_THREADS:
        threads = None
    options: dict[str, Fact] = {
        name: option(settings[name]) for name in ("scalefactor", "isolation") if name in settings
    }
    if "type" in settings:
        options["dbms_type"] = mask_text(settings["type"][:100])
    of_new_orders = "tpcc" if output.new_orders else ""
    workload = settings.get("benchmark", "").partition(" ")[0].lower() or of_new_orders
    run = ParsedRun(
        readings=tuple(readings),
        key=key,
        workload=workload[:200] or None,
        threads=threads,
        duration_s=seconds,
        options=options,
    )
    notes = [] if threads else ["how many terminals there were is missing: its sender says it"]
    return run, (), notes
