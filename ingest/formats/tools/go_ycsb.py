"""go-ycsb: a line for each operation, every ten seconds, and behind 'Run finished' those of the whole run.

Run finished, takes 1m0.01s
READ   - Takes(s): 60.0, Count: 109238, OPS: 1820.5, Avg(us): 1450, Min(us): 480, Max(us): 31000, ...
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath

from ingest.formats.outputs import missing
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec
from ingest.formats.tools.go_tpc import go_times

_OPERATION = r"(?:BATCH_)?(?:READ|UPDATE|INSERT|SCAN|DELETE)|READ_MODIFY_WRITE|TOTAL|TXN"
_FIELDS = "- Takes(s): {count.seconds}, Count: {count.count}, OPS: {count.ops}, {fields}"
_FINISHED = PrintedLine("Run finished, takes {duration_s}", once_a_run=True)
_ERROR = "_error"
# Counted as a read and an update too.
_COMPOUND = ("read_modify_write", "txn")


def workload_of(run: RunValues) -> str | None:
    """Return ``workloada`` of ``-P workloads/workloada``, ``workloada load`` where it was loaded."""
    files = [PurePosixPath(value.replace("\\", "/")).name for flag, value in run.flags if flag == "-P"]
    named = [name for name in files if name.startswith("workload")] or files
    if len(named) != 1:
        return None
    is_loaded = ("", "load") in run.flags or any(flag == "-load" for flag, _ in run.flags)
    return f"{named[0]} load" if is_loaded else named[0]


def _finish(run: RunValues) -> Iterator[str]:
    words = [value for flag, value in run.flags if not flag]
    run.options = {name: value for name, value in run.options.items() if "." not in name}
    if len(words) > 1:
        run.options["db"] = words[1]
    run.texts |= {"workload": workload} if (workload := workload_of(run)) else {}
    counts = _values(run.counts, "count")
    if not counts:
        return
    run.add("ops_per_s", sum(_counted(_values(run.counts, "ops")).values()))
    run.add("total_events", sum(_counted(counts).values()))
    if run.duration_s:
        run.add("total_time", run.duration_s)
    failed = {name: count for name, count in counts.items() if name.endswith(_ERROR)}
    if seconds := run.duration_s or max(_values(run.counts, "seconds").values()):
        run.add("errors_per_s", sum(failed.values()) / seconds)
        for name, count in failed.items():
            run.leave_out(name)
            run.add(f"{name.removesuffix(_ERROR)}.errors_per_s", count / seconds)
    in_last_interval = _values(run.rows[-1], "count") if run.rows else {}
    lacking = [name or "total" for name in in_last_interval if name not in counts]
    counted = sum(_counted({name: count for name, count in counts.items() if name}).values())
    if lacking or counted < counts.get("", 0.0):
        yield missing(lacking or ["some operations"], run.last_line)
    run.rows[:] = _rates(run)


def _values(counts: Mapping[str, float | None], kind: str) -> dict[str, float]:
    """Return the counts of a kind by operation; the name of the total is empty."""
    return {
        name.removesuffix(kind).removesuffix("."): value or 0.0
        for name, value in counts.items()
        if name.rpartition(".")[2] == kind
    }


def _counted(counts: Mapping[str, float]) -> Mapping[str, float]:
    """Return the total, or else the operations that make it."""
    if "" in counts:
        return {"": counts[""]}
    completed = {name: count for name, count in counts.items() if not name.endswith(_ERROR)}
    return {name: count for name, count in completed.items() if name not in _COMPOUND} or completed


def _rates(run: RunValues) -> Iterator[dict[str, float | None]]:
    """Yield the rate of each interval; what go-ycsb prints are counts since the run began."""
    points = [(0.0, 0.0)]
    for row in run.rows:
        if counted := _counted(_values(row, "count")):
            seconds = _values(row, "seconds")
            points.append((max(seconds[name] for name in counted), sum(counted.values())))
    if all(later > time and more >= count for (time, count), (later, more) in pairwise(points)):
        for (time, count), (later, more) in pairwise(points):
            yield {"time_s": later, "ops_per_s": (more - count) / (later - time)}


FORMAT = ToolSpec(
    tool="go-ycsb",
    recognised_by=rf"^[ \t]{{0,16}}(?:{_OPERATION})(?:_ERROR)?[ \t]+- Takes\(s\): ",
    lines=(
        PrintedLine("...go-ycsb{flags}", begins_run=True),
        PrintedLine('"{property}"', before_figures=True),
        _FINISHED,
        PrintedLine(f"TOTAL {_FIELDS}", behind=_FINISHED, once_a_run=True),
        PrintedLine(f"{{operation}} {_FIELDS}", behind=_FINISHED, once_a_run=True),
        PrintedLine(f"TOTAL {_FIELDS}", interval=True),
        PrintedLine(f"{{operation}} {_FIELDS}", interval=True),
    ),
    names=go_times("us")
    | {"--threads": "threads", "threadcount": "threads", "-p": "property", "workload": "_"},
    required={"ops_per_s": "no line behind 'Run finished'"},
    wanted=("threads",),
    finish=_finish,
)
