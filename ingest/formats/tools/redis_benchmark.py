"""redis-benchmark and valkey-benchmark: a block for each command, a line for each with -q, or CSV."""

from ingest.formats.tool_spec import PrintedLine, ToolSpec

FORMAT = ToolSpec(
    tool="redis-benchmark",
    recognised_by=r"^ *====== \S.{0,200} ======[ \t]*$"
    r"|\bavg_msec=[^\n=]{1,200}====== \S.{0,200} ======[ \t]*$"
    r"|^ *[A-Z][\w() -]{0,80}: [0-9.]+ requests per second"
    r'|^"test","rps"',
    lines=(
        PrintedLine("====== {workload} ======", begins_run=True),
        # Logs put it behind the progress, which terminals write over.
        PrintedLine("{_}: rps=...====== {workload} ======", begins_run=True),
        PrintedLine("{total_events} requests completed in {duration_s:s} seconds"),
        PrintedLine("{threads} parallel clients"),
        PrintedLine("{option.payload_bytes} bytes payload"),
        PrintedLine("throughput summary: {qps} requests per second"),
        PrintedLine(
            "{latency_avg:ms} {latency_min:ms} {latency_p50:ms} {latency_p95:ms} {latency_p99:ms}"
            " {latency_max:ms}"
        ),
        PrintedLine("{workload}: {qps} requests per second, p50={latency_p50:ms} msec", begins_run=True),
        PrintedLine("{workload}: {qps} requests per second", begins_run=True),
        PrintedLine("{qps} requests per second"),
        PrintedLine(
            '"{workload}","{qps}","{latency_avg:ms}","{latency_min:ms}","{latency_p50:ms}","{latency_p95:ms}"'
            ',"{latency_p99:ms}","{latency_max:ms}"',
            begins_run=True,
        ),
        PrintedLine('"{workload}","{qps}"', begins_run=True),
        PrintedLine('"test","rps"...'),
        # Option -e shows them, before the block of the command whose replies they are.
        PrintedLine(
            "Error from server...",
            begins_run=True,
            warning="replies were errors, one a second is shown, and what failed is measured too",
        ),
    ),
    required={"qps": "no line '... requests per second'"},
)
