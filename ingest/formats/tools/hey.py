"""hey: a summary of the requests, how long they took, and how many had which status or none."""

from collections.abc import Iterator

from ingest.formats.run_values import RunValues, errors_per_second
from ingest.formats.tool_spec import PrintedLine, ToolSpec

_ERRORS = PrintedLine("Error distribution:")
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
    PrintedLine("[{status}] {requests} responses"),
    _ERRORS,
    # Requests under way at the end of -z are counted by oha among all, and have not failed.
    PrintedLine("[{count.unfinished}] aborted due to deadline", behind=_ERRORS),
    PrintedLine("[{failed}] ...", behind=_ERRORS),
)
# hey counts the statuses of so many responses, and no more.
_MAX_STATUSES = 1_000_000
# Rate and time are printed with four decimals.
_ROUNDING = 1e-4


def finish(run: RunValues) -> Iterator[str]:
    """Add the rate of errors; yield a warning where statuses and errors are not those of all requests."""
    unfinished = run.counts.pop("unfinished", 0.0)
    statuses = {name: count for name, count in run.counts.items() if name.isdigit()}
    if not statuses and "failed" not in run.counts and "success_share" not in run.counts:
        return
    seconds, counted = run.duration_s or 0.0, sum(statuses.values())
    others = unfinished + run.counts.get("failed", 0.0)
    requests = run.value("qps") * seconds
    if counted == _MAX_STATUSES < requests - others:
        run.counts |= {name: count * (requests - others) / counted for name, count in statuses.items()}
    elif (
        counted
        and seconds
        and abs(counted + others - requests) > 0.5 + _ROUNDING * (requests / seconds + seconds)
    ):
        yield (
            f"statuses and errors up to line {run.last_line} are those of {counted + others:.0f} requests, "
            f"and {requests:.0f} were sent: is the file cut off?"
        )
    yield from errors_per_second(run)


FORMAT = ToolSpec(
    tool="hey",
    recognised_by=r"^Summary:\s+Total:\s+[0-9.]+ secs",
    lines=LINES,
    names={"-c": "threads", "-q": "option.rate"},
    required={"qps": "no line 'Requests/sec: ...'"},
    workload="HTTP",
    finish=finish,
    closing=r"\[[0-9]+\]\s+(?:[0-9]+ responses|[^0-9\s].*)",
)
