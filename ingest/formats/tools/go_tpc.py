"""go-tpc: a line for each kind of transaction, every ten seconds and in the summary, and the rates behind it.

[Summary] NEW_ORDER - Takes(s): 599.9, Count: 22643, TPM: 2264.6, Sum(ms): 2583881.8, Avg(ms): 114.2, ...
tpmC: 2264.6, tpmTotal: 5036.6, efficiency: 4402.4%
"""

from collections.abc import Iterator
from itertools import pairwise

from ingest.formats.outputs import contradiction
from ingest.formats.report import FormatError, listed
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec

TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")
_IN_INTERVALS = ("latency_avg", "latency_p95", "latency_p99", "latency_max")
_ERRORS = "_err"
# The two rates of new orders are computed one after another.
_TOLERANCE = 0.01
# No response time is counted as a longer one.
_LONGEST_MS = 16_000
_MIN_INTERVAL_S = 0.5


def go_times(unit: str) -> dict[str, str]:
    """Return the places of the response times that go-tpc and go-ycsb print."""
    percentiles = ("50", "90", "95", "99", "99.9", "99.99")
    return {f"{name}({unit})": f"latency_{name.lower()}:{unit}" for name in ("Min", "Avg", "Max")} | {
        f"{rank}th({unit})": f"latency_p{rank.replace('.', '_')}:{unit}" for rank in percentiles
    }


def _finish(run: RunValues) -> Iterator[str]:
    if ("", "run") not in run.flags and run.flags:
        # The command prepared or checked the data.
        run.threads = None
    if run.options.get("olap_workers"):
        # It runs the queries of TPC-H beside TPC-C.
        run.texts["workload"] = "CH-benCHmark"
    _take_last_interval(run)
    run.rows[:] = [_row(position, row) for position, row in enumerate(run.rows, start=1)]
    seconds = max((value for name, value in run.counts.items() if name.endswith(".seconds")), default=0.0)
    failed = [name.removesuffix(".count") for name in run.counts if name.endswith(f"{_ERRORS}.count")]
    for operation in failed:
        run.leave_out(operation)
    if seconds:
        run.duration_s = seconds
        run.add("errors_per_s", sum(run.counts[f"{operation}.count"] for operation in failed) / seconds)
    new_orders = run.counts.get("new_order.tpm")
    if new_orders is not None:
        rate = run.readings.get("nopm")
        if rate is None:
            run.add("nopm", new_orders)
        elif abs(rate.value - new_orders) > _TOLERANCE * max(rate.value, new_orders) + 0.1:
            figures = f"tpmC is {rate.value:g}", f"the summary has {new_orders:g} new orders a minute"
            raise contradiction(*figures, run.line_of("nopm"))
    longest = [name for name in TRANSACTIONS if run.value(f"{name}.latency_max") >= _LONGEST_MS]
    if longest:
        names = listed(longest)
        yield f"times above 16 s are printed as 16 s up to line {run.last_line}: {names} may be longer"


def _take_last_interval(run: RunValues) -> None:
    """Take the last interval for the run: in the first versions each tells of all since the beginning.

    Raise FormatError where such intervals do not follow one another.
    """
    rows = [row for row in run.rows if "new_order.until" in row]
    if not rows:
        return
    ends = [(row["new_order.until"] or 0.0, row["new_order.count"] or 0.0) for row in rows]
    if len(rows) < len(run.rows) or any(
        later - end < _MIN_INTERVAL_S or more < count for (end, count), (later, more) in pairwise(ends)
    ):
        raise FormatError("what go-tpc printed does not follow from one interval to the next", run.last_line)
    for name, value in rows[-1].items():
        operation, _, figure = name.rpartition(".")
        if figure.startswith("latency_"):
            run.add(name, value or 0.0)
        else:
            run.counts[f"{operation}.{figure.replace('until', 'seconds')}"] = value or 0.0
    run.rows.clear()


def _row(position: int, row: dict[str, float | None]) -> dict[str, float | None]:
    """Return transactions a minute and response times of new orders; an interval has no time."""
    rates = (row[name] for name in row if name.endswith(".tpm") and not name.endswith(f"{_ERRORS}.tpm"))
    computed = {"interval": float(position), "tpm": sum(filter(None, rates))}
    of_new_orders = {f"new_order.{name}": row.get(f"new_order.{name}") for name in _IN_INTERVALS}
    return computed | {"nopm": row.get("new_order.tpm", 0.0)} | of_new_orders


_LINE = "{operation} - Takes(s): {count.seconds}, Count: {count.count}, TPM: {count.tpm}, {fields}"

FORMAT = ToolSpec(
    tool="go-tpc",
    recognised_by=r"^[ \t]{0,16}(?:"
    r"\[(?:Current|Summary)\] +[A-Z][A-Z_0-9]{0,40}(?: - Takes\(s\): |: [0-9.]+s\r?$)"
    r"|NEW_ORDER +- Takes\(s\): |tpmC: [0-9.]{1,20}(?:,|\r?$))",
    lines=(
        *(
            PrintedLine(f"...{name} tpcc{{flags}}", begins_run=True)
            for name in ("go-tpc", "tiup bench", "tiup-bench")
        ),
        PrintedLine("Finished: {threads} OLTP workers, {option.olap_workers} OLAP workers"),
        PrintedLine(f"[Current] {_LINE}", interval=True),
        PrintedLine(f"[Summary] {_LINE}"),
        PrintedLine(_LINE.replace("count.seconds", "count.until"), interval=True),
        PrintedLine("tpmC: {nopm}, tpmTotal: {tpm}, efficiency: {_}", ends_run=True),
        PrintedLine("tpmC: {nopm}, efficiency: {_}", ends_run=True),
        PrintedLine("tpmC: {nopm}", ends_run=True),
    ),
    names=go_times("ms") | {"-T": "threads", "--threads": "threads", "--warehouses": "option.warehouses"},
    required={"nopm": "no line 'tpmC: ...', which transactions of TPC-C have"},
    wanted=("tpm", "threads", *(f"{name}.latency_avg" for name in TRANSACTIONS)),
    finish=_finish,
    workload="TPC-C",
    closing=r"tpmC: .*, efficiency: \S+%",
)
