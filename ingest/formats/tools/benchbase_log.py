"""BenchBase, OLTPBench before it: the rates that it prints at its end, under the settings of the run.

Its ``summary.json`` also has the response times.
"""

from collections.abc import Iterator

from ingest.formats.outputs import contradiction
from ingest.formats.report import FormatError
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec

_RATES = (
    "...Rate limited reqs/s: Results({state}nanoSeconds={{duration_s:ns}}, measuredRequests={{total_events}})"
    " = {{ops_per_s}} requests/sec{rates}"
)
# Rates are computed from what was counted, in whole requests and nanoseconds.
_TOLERANCE = 0.001
# Goodput also counts what ended just outside of the measured time.
_MAX_GOODPUT = 1.05


def complete_rates(run: RunValues) -> None:
    """Add the time to the rates of a run. Raise FormatError where they do not fit together."""
    throughput, goodput, requests = (run.value(name) for name in ("ops_per_s", "tps", "total_events"))
    if goodput > throughput * _MAX_GOODPUT:
        raise contradiction(f"the goodput is {goodput:g}", f"the throughput is {throughput:g}", run.last_line)
    if not run.duration_s:
        return
    computed = requests / run.duration_s
    if requests and abs(computed - throughput) > _TOLERANCE * throughput:
        counted = f"{requests:.0f} requests in {run.duration_s:g} s are {computed:g}"
        raise contradiction(f"the throughput is {throughput:g}", counted, run.last_line)
    run.add("total_time", run.duration_s)


def _finish(run: RunValues) -> Iterator[str]:
    if run.options.pop("state", "") == "ERROR":
        raise FormatError("the run ended with an error", run.last_line)
    workload = run.texts.get("workload", "tpcc" if "nopm" in run.readings else "")
    run.texts["workload"] = workload.partition(" ")[0].lower()
    complete_rates(run)
    yield from ()


FORMAT = ToolSpec(
    tool="BenchBase",
    recognised_by=r"Rate limited reqs/s: Results\(|^.{0,160}\bcom\.oltpbenchmark\.DBWorkload\b",
    lines=(
        PrintedLine("Benchmark: {workload}", heads_runs=True),
        PrintedLine("Type: {option.dbms_type}", heads_runs=True),
        PrintedLine("Isolation: {option.isolation}", heads_runs=True),
        PrintedLine("Scale Factor: {option.scalefactor}", heads_runs=True),
        PrintedLine("Terminals: {threads}", heads_runs=True),
        *(
            PrintedLine(_RATES.format(state=state, rates=rates), once_a_run=True)
            for state in ("state={option.state}, ", "")
            for rates in (" (throughput), {tps} requests/sec (goodput)", " (throughput)", "")
        ),
        # OLTPBench for YugabyteDB prints it below its rates.
        PrintedLine("...TPM-C: {nopm}"),
    ),
    required={"ops_per_s": "no 'Rate limited reqs/s' line, with which a run ends"},
    wanted=("threads",),
    finish=_finish,
    closing=r".*Rate limited reqs/s: .* = .*",
)
