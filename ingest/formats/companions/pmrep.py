"""pmrep of Performance Co-Pilot: ``-o csv`` of metrics by their names, or of a named set such as ``:vmstat``.

One row of heads that begins with ``Time``, one row an interval. Sets may be delimited by blanks instead of
commas; then the time itself is two words. In the first row there are no rates yet. Time of CPUs comes as
milliseconds per second of all of them, or as a share where the set says so.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from ingest.formats.companions.sampling import (
    CPU_METRICS,
    KB_PER_MB,
    TIME,
    Cells,
    Recording,
    clock_of,
    csv_cells,
    numbers_by_column,
    parsed_time,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_HEADS = re.compile(r'Time(?P<delimiter>[ ,;\t])"?[\w.-]')
_NAMES_OF_METRICS = ("kernel.", "disk.", "mem.", "swap.", "network.")
_NAMES_OF_CPUS = {"sys", "idle"}

_NAMES_OF_SHARES = {
    "cpu_user": ("kernel.all.cpu.alluserp", "usr", "user", "nice"),
    "cpu_system": ("kernel.all.cpu.sysp", "sys", "irq", "soft"),
    "cpu_idle": ("kernel.all.cpu.idlep", "idle"),
    "cpu_wait": ("kernel.all.cpu.wait.totalp", "iowait"),
    "cpu_steal": ("kernel.all.cpu.stealp", "steal"),
}
_SHARES = {name: metric for metric, names in _NAMES_OF_SHARES.items() for name in names}
_NAMES_OF_TIMES = {
    "cpu_user": ("user", "nice"),
    "cpu_system": ("sys", "irq.hard", "irq.soft"),
    "cpu_idle": ("idle",),
    "cpu_wait": ("wait.total",),
    "cpu_steal": ("steal",),
}
_MILLISECONDS = {
    f"kernel.all.cpu.{name}": metric for metric, names in _NAMES_OF_TIMES.items() for name in names
}
_RATES = {
    "kernel.all.pswitch": "context_switches_per_s",
    "kernel.all.intr": "interrupts_per_s",
    "kernel.all.running": "run_queue",
    "kernel.all.runnable": "run_queue",
}
# In kB, the unit in which PCP counts them.
_KILOBYTES = {
    "disk.all.read_bytes": "read_mb_per_s",
    "disk.all.write_bytes": "write_mb_per_s",
    "mem.vmstat.pgpgin": "read_mb_per_s",
    "mem.vmstat.pgpgout": "write_mb_per_s",
}
_MS_PER_CPU = 1000
_CLOCKS = ("%Y-%m-%d %H:%M:%S", "%H:%M:%S")
_MAX_NAME_LENGTH = 90


def recognise(head: bytes) -> bool:
    first = head.partition(b"\n")[0].decode(errors="replace").strip()
    heads = _HEADS.match(first)
    names = csv_cells(first, heads["delimiter"])[1:] if heads else []
    return set(names) >= _NAMES_OF_CPUS or any(name.startswith(_NAMES_OF_METRICS) for name in names)


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where there are no heads."""
    lines, warnings = whole_lines(source)
    heads = _HEADS.match(lines[0]) if lines else None
    if heads is None:
        raise FormatError("no row of heads of pmrep")
    delimiter = heads["delimiter"]
    columns = csv_cells(lines[0], delimiter)[1:]
    rows = [
        (number_, *_row(line, delimiter, len(columns)))
        for number_, line in enumerate(lines[1:], 2)
        if line.strip()
    ]
    recording = Recording("pmrep", began_s=clock_of(rows[0][1]) if rows else None)
    for number_, time, texts in rows[1:]:
        recording.add(_cells(columns, texts, rows[0][1], time), number_)
    if not recording.rows:
        warnings.append("pmrep printed no interval: its first row has no rates")
    return recording.report(warnings=warnings)


def _row(line: str, delimiter: str, width: int) -> tuple[datetime | None, list[str]]:
    """Return the time of a row and its cells; no cells where they do not fit the heads."""
    words = csv_cells(line, delimiter)
    parts = len(words) - width
    if parts not in (1, 2):
        return None, []
    return parsed_time(" ".join(words[:parts]), *_CLOCKS), words[parts:]


def _cells(
    columns: Sequence[str], texts: Sequence[str], started: datetime | None, time: datetime | None
) -> Cells | None:
    if not texts:
        return None
    values = numbers_by_column(columns, texts)
    if values is None:
        return None
    cells: dict[str, float] = {}
    if started and time:
        cells[TIME] = (time - started).total_seconds()
    return cells | _named(values) | _shares_of_time(values)


def _named(values: Mapping[str, float]) -> dict[str, float]:
    cells: dict[str, float] = {}
    for name, value in values.items():
        if ours := _SHARES.get(name):
            cells[ours] = round(cells.get(ours, 0) + value, 6)
        elif ours := _RATES.get(name):
            cells.setdefault(ours, value)
        elif ours := _KILOBYTES.get(name):
            cells.setdefault(ours, value / KB_PER_MB)
        elif name not in _MILLISECONDS:
            cells[name[:_MAX_NAME_LENGTH]] = value
    return cells


def _shares_of_time(values: Mapping[str, float]) -> dict[str, float]:
    """Return per cents of all CPUs, whose number follows from their time, busy and idle."""
    if "kernel.all.cpu.idle" not in values or "kernel.all.cpu.user" not in values:
        return {}
    spent: dict[str, float] = dict.fromkeys(CPU_METRICS, 0.0)
    for name, ours in _MILLISECONDS.items():
        spent[ours] += values.get(name, 0)
    cpus = max(1, round(sum(spent.values()) / _MS_PER_CPU))
    known = {ours for name, ours in _MILLISECONDS.items() if name in values}
    return {
        ours: round(time / (cpus * _MS_PER_CPU) * 100, 6) for ours, time in spent.items() if ours in known
    }
