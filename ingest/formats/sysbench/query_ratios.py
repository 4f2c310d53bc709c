"""The workloads of sysbench that their reads, writes and other statements per transaction point to."""

from collections.abc import Iterable
from typing import Final

from ingest.formats.report import ParsedRun

# (reads, writes, other) per transaction, with the options that sysbench sets by itself.
_PER_TRANSACTION: Final = {
    "oltp_read_only": (14, 0, 2),
    "oltp_read_write": (14, 4, 2),
    "oltp_write_only": (0, 4, 2),
    "oltp_point_select": (1, 0, 0),
    "select_random_points": (1, 0, 0),
    "select_random_ranges": (1, 0, 0),
    "oltp_update_index": (0, 1, 0),
    "oltp_update_non_index": (0, 1, 0),
    "oltp_insert": (0, 1, 0),
}
USUAL_WORKLOADS: Final = frozenset(_PER_TRANSACTION)
_METRICS: Final = ("reads_per_s", "writes_per_s", "other_per_s")
# Transactions that were rolled back count among the statements only; a delete that finds no row is "other".
_TOLERANCE: Final = 0.01


def likely_workloads(runs: Iterable[ParsedRun]) -> tuple[str, ...]:
    """Return the workloads of which all runs have the ratio, the most usual first; mostly none."""
    choices = {_likely_workloads(run) for run in runs}
    return choices.pop() if len(choices) == 1 else ()


def _likely_workloads(run: ParsedRun) -> tuple[str, ...]:
    values = {reading.metric: reading.value for reading in run.readings}
    transactions = values.get("tps")
    if not transactions or not values.keys() >= {*_METRICS}:
        return ()
    measured = [values[name] / transactions for name in _METRICS]
    return tuple(
        workload
        for workload, expected in _PER_TRANSACTION.items()
        if all(
            abs(one - other) <= _TOLERANCE * max(1, other)
            for one, other in zip(measured, expected, strict=True)
        )
    )
