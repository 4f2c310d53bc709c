"""hey: a summary of the requests, and how long they took."""

from ingest.formats.tool_spec import PrintedLine, ToolSpec

LINES = (
    *(
        PrintedLine(f"{prompt}{tool}{{flags}}", begins_run=True)
        for prompt in ("", "$ ", "# ")
        for tool in ("hey", "oha")
    ),
    PrintedLine("Total: {duration_s}", once_a_run=True),
    PrintedLine("Slowest: {latency_max}"),
    PrintedLine("Fastest: {latency_min}"),
    PrintedLine("Average: {latency_avg}"),
    PrintedLine("Requests/sec: {qps}"),
    PrintedLine("{percentile}% in {latency}"),
    PrintedLine("{percentile}%% in {latency}"),
)

FORMAT = ToolSpec(
    tool="hey",
    recognised_by=r"^Summary:\s+Total:\s+[0-9.]+ secs",
    lines=LINES,
    names={"-c": "threads", "-q": "option.rate"},
    required={"qps": "no line 'Requests/sec: ...'"},
    workload="HTTP",
    closing=r"(?:Status code|Error) distribution:",
)
