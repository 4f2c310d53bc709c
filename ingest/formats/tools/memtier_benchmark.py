"""memtier_benchmark: a table of rates and response times for each kind of command."""

from collections.abc import Sequence

from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, PrintedTable, ToolSpec

_PERCENTILES = (
    "50",
    "90",
    "95",
    "99",
    "99.9",
    "99.99",
    "99.900",
    "99.990",
    "50.00",
    "90.00",
    "95.00",
    "99.00",
)


def _without_idle_commands(run: RunValues) -> Sequence[str]:
    """Leave out the kinds of commands that were not sent."""
    idle = [name for name, one in run.readings.items() if name.endswith(".ops_per_s") and not one.value]
    for name in idle:
        run.leave_out(name.removesuffix(".ops_per_s"))
    return ()


FORMAT = ToolSpec(
    tool="memtier_benchmark",
    recognised_by=r"^[ \t]*Type +Ops/sec +(?:Hits/sec|Avg\. Latency|Latency)",
    lines=(
        PrintedLine("{option.client_threads} Threads", begins_run=True),
        PrintedLine("{option.connections_per_thread} Connections per thread"),
        PrintedLine("{option.requests_per_client} Requests per client"),
        PrintedLine("{duration_s:s} Seconds"),
    ),
    table=PrintedTable(
        first="Type",
        total="Totals",
        columns={
            "Ops/sec": "ops_per_s",
            "Hits/sec": "hits_per_s",
            "Misses/sec": "misses_per_s",
            "Latency": "latency_avg:ms",
            "Avg. Latency": "latency_avg:ms",
            "KB/sec": "transferred_mib_per_s:KB",
        }
        | {f"p{one} Latency": f"latency_p{float(one):g}:ms".replace(".", "_") for one in _PERCENTILES},
    ),
    own={"hits_per_s": "1/s, higher", "misses_per_s": "1/s, lower"},
    required={"ops_per_s": "no line 'Totals' under 'Type  Ops/sec'"},
    finish=_without_idle_commands,
    workload="memtier_benchmark",
)
