"""tpcc-mysql: the output of ``tpcc_start``, from its banner to the new orders a minute.

      10, trx: 12920, 95%: 9.483, 99%: 18.738, max_rt: 213.169, 12919|98.778, 1292|101.096, ...
    <TpmC>
                     53257.352 TpmC

An older one prints ``10, 7535(0):3.739|4.571, ...`` for each interval: transactions, those over the limit,
and two times that its clients spent on the CPU. They are no response times, and are not read.
"""

from collections.abc import Iterator

from ingest.formats.outputs import contradiction
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec
from ingest.formats.tools.go_tpc import TRANSACTIONS

# The rate is computed with single precision.
_TOLERANCE = 1e-5


def _finish(run: RunValues) -> Iterator[str]:
    run.rows[:] = [_row(row, length) for row, length in run.lengths()]
    if failed := [name for name in TRANSACTIONS if f"{name}_share" in run.counts]:
        yield f"the tool's own check failed for {', '.join(failed)}"
    numbers = range(len(TRANSACTIONS))
    rate, seconds = run.value("nopm"), run.duration_s
    if not (rate and seconds) or any(f"succeeded{number}" not in run.counts for number in numbers):
        return
    completed = [run.counts[f"succeeded{number}"] + run.counts[f"late{number}"] for number in numbers]
    computed = completed[0] * 60 / seconds
    if abs(computed - rate) > _TOLERANCE * rate + 0.001:
        figures = f"{rate:.3f} TpmC", f"the counts above make {computed:.3f}"
        raise contradiction(*figures, run.line_of("nopm"))
    run.add("tpm", sum(completed) * 60 / seconds)
    for metric, count in (("errors_per_s", "failed"), ("retries_per_s", "retried")):
        run.add(metric, sum(run.counts[f"{count}{number}"] for number in numbers) / seconds)
    for transaction, transactions in zip(TRANSACTIONS, completed, strict=True):
        if not transactions:
            run.leave_out(transaction)


def _row(row: dict[str, float | None], length: float) -> dict[str, float | None]:
    """Return transactions of all kinds a second, and response times of new orders."""
    counts = [row[transaction] or 0.0 for transaction in TRANSACTIONS]
    rates = {"tps": sum(counts) / length, "new_order.tps": counts[0] / length}
    times = {name: value for name, value in row.items() if ".latency_" in name}
    return {"time_s": row["time_s"]} | rates | times


def _counts(number: int, transaction: str) -> Iterator[PrintedLine]:
    counts = (
        f"[{number}] sc:{{count.succeeded{number}}} lt:{{count.late{number}}} rt:{{count.retried{number}}}"
        f" fl:{{count.failed{number}}}"
    )
    yield PrintedLine(f"{counts} avg_rt: {{{transaction}.latency_avg:ms}} ({{_}})")
    yield PrintedLine(counts)


def _checked(transaction: str) -> str:
    return transaction.title().replace("_", "-")


_OLD = ", ".join(f"{{count.{transaction}}}({{_}}):{{_}}" for transaction in TRANSACTIONS)

FORMAT = ToolSpec(
    tool="tpcc-mysql",
    recognised_by=r"^\*{3} (?:###easy### TPC-C Load Generator|TPCC-mysql Data Loader) *\*{3}"
    r"|^MEASURING START\.|^<TpmC>|^ {2,40}[0-9.]{1,20} TpmC\r?$",
    lines=(
        PrintedLine("...tpcc_start{flags}", begins_run=True),
        PrintedLine("*** ###easy### TPC-C Load Generator ***...", begins_run=True),
        PrintedLine("*** TPCC-mysql Data Loader ***...", begins_run=True),
        PrintedLine("[warehouse]: {option.warehouses}"),
        PrintedLine("[connection]: {threads}"),
        PrintedLine("[rampup]: {option.rampup} (sec.)"),
        PrintedLine("[measure]: {option.duration} (sec.)"),
        PrintedLine(
            "{count.time_s}, trx: {count.new_order}, 95%: {new_order.latency_p95:ms}"
            ", 99%: {new_order.latency_p99:ms}, max_rt: {new_order.latency_max:ms}"
            ", {count.payment}|{_}, {count.order_status}|{_}, {count.delivery}|{_}, {count.stock_level}|{_}",
            interval=True,
        ),
        PrintedLine(f"{{count.time_s}}, {_OLD}", interval=True),
        *(line for number, name in enumerate(TRANSACTIONS) for line in _counts(number, name)),
        PrintedLine("in {duration_s:s} sec."),
        *(PrintedLine(f"{_checked(name)}: {{count.{name}_share}}% ...[NG] *") for name in TRANSACTIONS),
        PrintedLine("{nopm} TpmC...", ends_run=True),
        PrintedLine("{nopm} Tpmc...", ends_run=True),
    ),
    names={"-w": "option.warehouses", "-c": "threads"},
    own={"retries_per_s": "1/s, lower"},
    required={"nopm": "no line '... TpmC', as tpcc_start prints it at its end"},
    wanted=("tpm", "threads"),
    finish=_finish,
    workload="TPC-C",
    closing=r"\S{1,30} Tpm[Cc]",
)
