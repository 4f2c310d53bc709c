"""mysqlslap and mariadb-slap: blocks of seconds for a batch of queries, or the same as lines of CSV.

A batch is all queries of all clients, connecting included. It is run as often as was asked for; the tool
prints the average, least and greatest of its times, cut to milliseconds.
"""

from collections.abc import Iterator

from ingest.formats.report import FormatError
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec

_AVERAGE = "Average number of seconds to run all queries"
_QUERIES = "Average number of queries per client"
_FIGURES = (
    "{batch_seconds_avg:s},{batch_seconds_min:s},{batch_seconds_max:s},{threads},{count.queries_per_client}"
)
# A line of CSV has no names over it: its load types and its three decimals tell it from any other.
_CSV = r"[^,\n]{0,100},(?:mixed|update|write|key|read|query)(?:,[0-9]+\.[0-9]{3}){3},[0-9]+,[0-9]+"
_HARMLESS = ("[Warning]", "[Note]", "Warning", "Deprecated program name")
_FAILED = "mysqlslap failed, and its times are no measurement"
# Also printed for queries of one's own, so they name no workload.
_NO_LOAD_TYPE = ("mixed", "query")
_PRINTED_TO_S = 0.001
_MAX_ROUNDING = 0.01
# Ten attempts to connect, a tenth of a second apart.
_GIVEN_UP_AFTER_S = (1.0, 1.05)


def _finish(run: RunValues) -> Iterator[str]:
    if "queries_per_client" not in run.counts:
        raise FormatError(f"the block is not complete: no '{_QUERIES}' up to this line", run.last_line)
    average, least, greatest = (run.value(f"batch_seconds_{name}") for name in ("avg", "min", "max"))
    if not least <= average <= greatest:
        raise FormatError("the least, average and greatest time are not in this order", run.line)
    engine, queries = run.texts.get("column"), int(run.counts["queries_per_client"] * (run.threads or 0))
    run.duration_s = average
    if run.texts.get("workload") in _NO_LOAD_TYPE:
        del run.texts["workload"]
    if queries and average:
        run.options["queries"] = queries
        run.add("qps", queries / average)
        if (rounding := _PRINTED_TO_S / average) > _MAX_ROUNDING:
            yield (
                f"line {run.line}: {average:.3f} s is printed to 1 ms, so the queries per second are exact "
                f"to {100 * rounding:.2g} % only; run more queries"
            )
    elif average:
        yield f"line {run.line}: the number of queries is missing, so there are no queries per second"
    if engine:
        run.texts["configuration"] = engine
        run.options["engine"] = engine
    soonest, latest = _GIVEN_UP_AFTER_S
    if soonest <= least and greatest <= latest:
        yield (
            f"line {run.line}: every batch took {least:.3f} to {greatest:.3f} s, which is how long mysqlslap "
            "tries to connect before it gives up; was there no error in what it printed?"
        )


def _key(run: RunValues) -> str:
    parts = [run.texts.get("column"), run.texts.get("workload"), f"{run.threads} clients"]
    return "/".join(filter(None, parts))


FORMAT = ToolSpec(
    tool="mysqlslap",
    recognised_by=rf"^[ \t]*{_AVERAGE}: ?[0-9.]+ seconds[ \t]*\r?$|^{_CSV}$"
    r"|^(?:[^\s:]*/)?(?:mysqlslap|mariadb-slap)(?:\.exe)?: "
    r"(?:\[ERROR\]|Error when |Cannot |Could not |unknown |mysql_)",
    lines=(
        PrintedLine("Benchmark", begins_run=True),
        PrintedLine("Running for engine {column}"),
        PrintedLine(f"{_AVERAGE}: {{batch_seconds_avg:s}} seconds", once_a_run=True),
        PrintedLine("Minimum number of seconds to run all queries: {batch_seconds_min:s} seconds"),
        PrintedLine("Maximum number of seconds to run all queries: {batch_seconds_max:s} seconds"),
        PrintedLine("Number of clients running queries: {threads}"),
        PrintedLine(f"{_QUERIES}: {{count.queries_per_client}}"),
        PrintedLine(f"{{column}},{{workload}},{_FIGURES}", begins_run=True),
        PrintedLine(f",{{workload}},{_FIGURES}", begins_run=True),
        *(PrintedLine(f"...slap: {word}...") for word in _HARMLESS),
        *(PrintedLine(f"...{name}: ...", heads_runs=True, failure=_FAILED) for name in ("slap", "slap.exe")),
    ),
    required={
        "batch_seconds_avg": f"no line '{_AVERAGE}: ...'",
        "batch_seconds_min": "no line 'Minimum number of seconds ...'",
        "batch_seconds_max": "no line 'Maximum number of seconds ...'",
        "threads": "no line 'Number of clients running queries: ...'",
    },
    finish=_finish,
    key=_key,
)
