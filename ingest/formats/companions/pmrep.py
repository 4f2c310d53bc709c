"""pmrep of Performance Co-Pilot: ``-o csv`` of metrics by their names, or of a named set such as ``:vmstat``.

One row of heads that begins with ``Time``, one row an interval. Sets may be delimited by blanks instead of
commas; then the time itself is two words. In the first row there are no rates yet. Time of CPUs comes as
milliseconds per second of all of them, or as a share where the set says so.
"""

import re
from collections.abc import Mapping, Sequence

from ingest.formats.companions.sampling import (
    CPU_METRICS,
    Row,
    SamplingTool,
    csv_cells,
    numbers_of,
    parsed_time,
)

_HEADS = re.compile(r'Time(?P<delimiter>[ ,;\t])"?[\w.-]')
_NAMES_OF_METRICS = ("kernel.", "disk.", "mem.", "swap.", "network.")
_NAMES_OF_CPUS = {"sys", "idle"}
_METRICS = {
    **{metric: metric for metric in CPU_METRICS},
    **dict.fromkeys(("kernel.all.cpu.alluserp", "usr", "user", "nice"), "cpu_user"),
    **dict.fromkeys(("kernel.all.cpu.sysp", "sys", "irq", "soft"), "cpu_system"),
    **dict.fromkeys(("kernel.all.cpu.idlep", "idle"), "cpu_idle"),
    **dict.fromkeys(("kernel.all.cpu.wait.totalp", "iowait"), "cpu_wait"),
    **dict.fromkeys(("kernel.all.cpu.stealp", "steal"), "cpu_steal"),
    "kernel.all.pswitch": "context_switches_per_s",
    "kernel.all.intr": "interrupts_per_s",
    "kernel.all.running": "run_queue",
    "kernel.all.runnable": "run_queue",
    "disk.all.read_bytes": "read_mb_per_s:kB",
    "disk.all.write_bytes": "write_mb_per_s:kB",
    "mem.vmstat.pgpgin": "read_mb_per_s:kB",
    "mem.vmstat.pgpgout": "write_mb_per_s:kB",
}
_MILLISECONDS = {
    **dict.fromkeys(("kernel.all.cpu.user", "kernel.all.cpu.nice"), "cpu_user"),
    "kernel.all.cpu.sys": "cpu_system",
    **dict.fromkeys(("kernel.all.cpu.irq.hard", "kernel.all.cpu.irq.soft"), "cpu_system"),
    "kernel.all.cpu.idle": "cpu_idle",
    "kernel.all.cpu.wait.total": "cpu_wait",
    "kernel.all.cpu.steal": "cpu_steal",
}
_MS_PER_CPU = 1000
_CLOCKS = ("%Y-%m-%d %H:%M:%S", "%H:%M:%S")


def _heads(_: str, line: str) -> Sequence[str]:
    heads = _HEADS.match(line)
    names = csv_cells(line.strip(), heads["delimiter"])[1:] if heads else []
    is_pmrep = set(names) >= _NAMES_OF_CPUS or any(name.startswith(_NAMES_OF_METRICS) for name in names)
    return names if is_pmrep else ()


def _row(columns: Sequence[str], line: str) -> Row:
    words = csv_cells(line, next((mark for mark in ",;\t" if mark in line), " "))
    words_of_time = len(words) - len(columns)
    if words_of_time not in (1, 2):
        return None, None
    time = parsed_time(" ".join(words[:words_of_time]), *_CLOCKS)
    return numbers_of(columns, words[words_of_time:]), time


def _with_shares(values: Mapping[str, float]) -> Mapping[str, float]:
    """Put per cents of all CPUs for their time; their number follows from it, busy and idle."""
    others = {name: value for name, value in values.items() if name not in _MILLISECONDS}
    spent: dict[str, float] = {}
    for name, metric in _MILLISECONDS.items():
        if name in values:
            spent[metric] = spent.get(metric, 0) + values[name]
    if "cpu_idle" not in spent or "cpu_user" not in spent:
        return others
    cpus = max(1, round(sum(spent.values()) / _MS_PER_CPU))
    return others | {metric: round(time / (cpus * _MS_PER_CPU) * 100, 6) for metric, time in spent.items()}


FORMAT = SamplingTool(name="pmrep", heads=_heads, row=_row, metrics=_METRICS, complete=_with_shares)
