"""vegeta report: a line each for requests, their times, and how many succeeded."""

from collections.abc import Sequence

from ingest.formats.report import FormatError
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec


def failed_requests(run: RunValues) -> Sequence[str]:
    """Add the rate of errors from the requests of each status, else from the share that succeeded."""
    statuses = {int(name): count for name, count in run.counts.items() if name.isdigit()}
    if run.duration_s and statuses:
        failures = sum(count for status, count in statuses.items() if not 200 <= status < 400)
        run.add("errors_per_s", failures / run.duration_s)
        return ()
    failed = 1.0 - run.counts.get("success_share", run.counts.get("succeeded", 100.0) / 100)
    if failed < 0:
        raise FormatError(f"{1 - failed:.0%} of the requests succeeded, which cannot be", run.last_line)
    if run.duration_s and "total_events" in run.readings:
        run.add("errors_per_s", failed * run.readings["total_events"].value / run.duration_s)
    elif "qps" in run.readings:
        run.add("errors_per_s", failed * run.readings["qps"].value)
    return ()


FORMAT = ToolSpec(
    tool="vegeta",
    recognised_by=r"^Requests +\[total, rate(?:, throughput)?\] ",
    lines=(
        PrintedLine(
            "Requests [total, rate, throughput] {total_events}, {option.rate}, {qps}", begins_run=True
        ),
        PrintedLine("Requests [total, rate] {total_events}, {qps}", begins_run=True),
        PrintedLine("Duration [total, attack, wait] {duration_s}, {_}, {_}"),
        PrintedLine(
            "Latencies [min, mean, 50, 90, 95, 99, max] {latency_min}, {latency_avg}, {latency_p50}"
            ", {latency_p90}, {latency_p95}, {latency_p99}, {latency_max}"
        ),
        PrintedLine(
            "Latencies [mean, 50, 95, 99, max] {latency_avg}, {latency_p50}, {latency_p95}, {latency_p99}"
            ", {latency_max}"
        ),
        PrintedLine("Success [ratio] {count.succeeded}%"),
        PrintedLine("Status Codes [code:count] {counts}"),
    ),
    required={
        "qps": "no line 'Requests [total, rate, throughput]'",
        "latency_avg": "no line 'Latencies [...]'",
    },
    finish=failed_requests,
    workload="HTTP",
    closing=r"Status Codes\s+\[",
)
