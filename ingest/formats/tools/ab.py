"""ab (ApacheBench): rate and mean time by name, then times of connections and percentiles.

It counts an answer of another length as failed, which a page that changes has: these are no errors here.
"""

from ingest.formats.run_values import errors_per_second
from ingest.formats.tool_spec import PrintedLine, ToolSpec

FORMAT = ToolSpec(
    tool="ab",
    recognised_by=r"^This is ApacheBench, Version |^Concurrency Level: +[0-9]+\s+Time taken for tests:",
    lines=(
        PrintedLine("This is ApacheBench, Version ...", begins_run=True),
        PrintedLine("Document Path: {option.path}", once_a_run=True),
        PrintedLine("Concurrency Level: {threads}", once_a_run=True),
        PrintedLine("Time taken for tests: {duration_s}"),
        PrintedLine("Complete requests: {total_events}"),
        PrintedLine(
            "(Connect: {count.connect}, Receive: {count.receive}, Length: {_}, Exceptions: {count.exception})"
        ),
        PrintedLine("Non-2xx responses: {count.bad}"),
        PrintedLine("Requests per second: {qps} [#/sec] (mean)"),
        PrintedLine("Time per request: {latency_avg:ms} [ms] (mean)"),
        PrintedLine("Total: {latency_min:ms} {_} {latency_stddev:ms} {_} {latency_max:ms}"),
        PrintedLine("{percentile}% {latency:ms}"),
    ),
    required={"qps": "no line 'Requests per second: ...'"},
    finish=errors_per_second,
    workload="HTTP",
    closing=r"100% +[0-9]+ \(longest request\)",
)
