"""CPU time and memory of processes, as the kernel counts them."""

import os
import time
from pathlib import Path

_MS_PER_TICK = 1000 / os.sysconf("SC_CLK_TCK")
# clock_getcpuclockid(3), which Python does not offer for other processes.
_CLOCK_OF_PROCESS = 2


def cpu_ms(pid: int) -> float:
    """Of all its threads, also of those that ended, to the nanosecond; 0 of a process that is gone.

    /proc/PID/stat says it in ticks of 10 ms, more than many a request takes.
    """
    try:
        return time.clock_gettime_ns((~pid << 3) | _CLOCK_OF_PROCESS) / 1e6
    except OSError:
        return 0.0


def cpu_ms_of_trees(*roots: int) -> float:
    """With all that descends from these, and (in ticks) with the children that ended."""
    stats = _stats()
    return sum(
        cpu_ms(pid) + _MS_PER_TICK * sum(stats[pid][1])
        for root in roots
        for pid in _tree(root, stats)
        if pid in stats
    )


def tree(root: int) -> list[int]:
    """The process and all that descends from it."""
    return _tree(root, _stats())


def pss_mb(pid: int) -> float:
    """Proportional set size: what it shares counts in part. 0 of a process that is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


_Stats = dict[int, tuple[int, tuple[int, int]]]


def _stats() -> _Stats:
    """Of every process its parent, and the ticks that children took who ended: user's and system's."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                # The name stands in brackets and may hold anything.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(entry.name)] = int(fields[1]), (int(fields[13]), int(fields[14]))
    return found


def _tree(root: int, stats: _Stats) -> list[int]:
    found = [root]
    for pid in found:
        found.extend(child for child, (parent, _) in stats.items() if parent == pid)
    return found
