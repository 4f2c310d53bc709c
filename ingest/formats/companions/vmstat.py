"""vmstat of Linux: one line an interval, of which the first is the average since the machine started.

The heading is printed again every few lines. ``-t`` adds a time; scripts and ``ts`` put one before the line.
``-w`` adds width, ``-a`` other columns of memory, newer versions a column ``gu``. ``-S`` changes the units of
memory, but not those of ``bi`` and ``bo``, which count blocks of 1 kB.
"""

import re
from collections.abc import Sequence

from ingest.formats.companions.sampling import Row, SamplingTool, moment, numbers_of, parsed_time

# Before the heading may stand a time, or the name that a script gave to its column.
_HEADING = re.compile(
    r"(?:[^\n]{0,40}[ \t])??(?P<r>r) +b +swpd +free +(?:buff|inact) +(?:cache|active)"
    r" +si +so +bi +bo +in +cs +us +sy +id +wa\b"
)
_METRICS = {
    "r": "run_queue",
    "b": "blocked",
    "bi": "read_mb_per_s:kB",
    "bo": "write_mb_per_s:kB",
    "in": "interrupts_per_s",
    "cs": "context_switches_per_s",
    "us": "cpu_user",
    "sy": "cpu_system",
    "id": "cpu_idle",
    "wa": "cpu_wait",
    "st": "cpu_steal",
    "gu": "cpu_guest",
}
_NUMERIC = frozenset({*_METRICS, "swpd", "free", "buff", "cache", "inact", "active", "si", "so"})
_TIME = "%Y-%m-%d %H:%M:%S"


def _heads(_: str, line: str) -> Sequence[str]:
    heading = _HEADING.match(line)
    return line[heading.start("r") :].split() if heading else ()


def _row(columns: Sequence[str], line: str) -> Row:
    """Read the numbers of a line, and the time before or behind them, whose zone is a column."""
    names = [name for name in columns if name in _NUMERIC]
    words = line.split()
    behind = parsed_time(" ".join(words[-2:]), _TIME) if len(names) < len(columns) else None
    if behind:
        words = words[:-2]
    before = len(words) - len(names)
    values = numbers_of(names, words[before:]) if before >= 0 else None
    time = behind or (moment(" ".join(words[:before])) if before > 0 else None)
    return values if time or not before else None, time


FORMAT = SamplingTool(
    name="vmstat", heads=_heads, row=_row, metrics=_METRICS, skipped="procs", rows_between_heads=10
)
