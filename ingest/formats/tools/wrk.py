"""wrk and wrk2: a block for each test, ended by requests and bytes a second."""

from ingest.formats.run_values import errors_per_second
from ingest.formats.tool_spec import PrintedLine, ToolSpec

FORMAT = ToolSpec(
    tool="wrk",
    recognised_by=r"^Running [0-9]\S{0,10} test @ \S|^  Thread Stats +Avg +Stdev +Max",
    lines=(
        PrintedLine("...wrk{flags}", begins_run=True),
        PrintedLine("...wrk2{flags}", begins_run=True),
        PrintedLine(
            "Running {_} test @ {option.url}", before_figures=True, once_a_run=True, owes_figures=True
        ),
        PrintedLine("{option.client_threads} threads and {threads} connections"),
        PrintedLine("Latency {latency_avg} {latency_stddev} {latency_max} {_}"),
        PrintedLine("{percentile}% {latency}"),
        PrintedLine("{total_events} requests in {duration_s}, {_} read"),
        PrintedLine(
            "Socket errors: connect {count.connect}, read {count.read}, write {count.write}"
            ", timeout {count.late}"
        ),
        PrintedLine("Non-2xx or 3xx responses: {count.bad}"),
        PrintedLine("Requests/sec: {qps}"),
        PrintedLine("Transfer/sec: {transferred_mib_per_s}"),
    ),
    names={
        **dict.fromkeys(("-R", "--rate"), "option.rate"),
        **dict.fromkeys(("-s", "--script"), "option.script"),
    },
    required={"qps": "no line 'Requests/sec: ...'"},
    finish=errors_per_second,
    workload="HTTP",
    closing=r"Transfer/sec:",
)
