"""vegeta report: a line each for requests, their times, and how many succeeded."""

from ingest.formats.run_values import errors_per_second
from ingest.formats.tool_spec import PrintedLine, ToolSpec

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
        PrintedLine("Success [ratio] {count.success_share:%}%"),
        PrintedLine("Status Codes [code:count] {counts}"),
    ),
    required={
        "qps": "no line 'Requests [total, rate, throughput]'",
        "latency_avg": "no line 'Latencies [...]'",
    },
    finish=errors_per_second,
    workload="HTTP",
    closing=r"Status Codes\s+\[",
)
