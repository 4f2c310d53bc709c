"""vmstat of Linux: one line an interval, of which the first is the average since the machine started.

The heading is printed again every few lines. ``-t`` adds a time; scripts and ``ts`` put one before the line.
``-w`` adds width, ``-a`` other columns of memory, newer versions a column ``gu``. ``-S`` changes the units of
memory, but not those of ``bi`` and ``bo``, which count blocks of 1 kB.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from ingest.formats.companions.sampling import (
    KB_PER_MB,
    TIME,
    Recording,
    clock_of,
    moment,
    numbers,
    parsed_time,
    seconds_between,
    warnings_of_starts,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

# Before the heading may stand a time, or the name that a script gave to its column.
_HEADING_TEXT = (
    r"(?:[^\n]{0,40}[ \t])??(?P<r>r) +b +swpd +free +(?:buff|inact) +(?:cache|active)"
    r" +si +so +bi +bo +in +cs +us +sy +id +wa\b"
)
_HEADING = re.compile(_HEADING_TEXT)
_HEADING_IN_HEAD = re.compile(rf"^{_HEADING_TEXT}".encode(), re.MULTILINE)
_NAMES = {
    "r": "run_queue",
    "b": "blocked",
    "in": "interrupts_per_s",
    "cs": "context_switches_per_s",
    "us": "cpu_user",
    "sy": "cpu_system",
    "id": "cpu_idle",
    "wa": "cpu_wait",
    "st": "cpu_steal",
    "gu": "cpu_guest",
    "bi": "read_mb_per_s",
    "bo": "write_mb_per_s",
}
_KNOWN = frozenset({*_NAMES, "swpd", "free", "buff", "cache", "inact", "active", "si", "so"})
_BLOCKS = ("bi", "bo")
_TITLE = "procs"
_TIME = "%Y-%m-%d %H:%M:%S"
_WORDS_OF_A_TIME = 2
# No terminal is so low that vmstat repeats its heading after fewer lines.
_MIN_LINES_BETWEEN_HEADINGS = 10


def recognise(head: bytes) -> bool:
    return _HEADING_IN_HEAD.search(head) is not None


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where there is no heading."""
    lines, warnings = whole_lines(source)
    recordings = _recordings(lines, source.time_of)
    if not recordings:
        raise FormatError("no heading of vmstat")
    recording = recordings[-1]
    warnings += warnings_of_starts("vmstat", len(recordings), len(recording.rows))
    return recording.report(warnings=warnings)


def _recordings(lines: Sequence[str], time_of: Callable[[int], str]) -> list[Recording]:
    """Return the samples of each start of vmstat, without its first line.

    ``time_of`` is the time that stood before a line and was taken away from all lines.
    """
    found: list[Recording] = []
    columns: list[str] = []
    started: datetime | None = None
    since_heading = since_start = 0
    for number, line in enumerate(lines, 1):
        if heading := _HEADING.match(line):
            columns = line[heading.start("r") :].split()
            if not found or 0 < since_heading < _MIN_LINES_BETWEEN_HEADINGS:
                found.append(Recording("vmstat"))
                since_start = 0
            since_heading = 0
        elif columns and line.strip() and _TITLE not in line:
            since_heading += 1
            since_start += 1
            cells, time = _row(columns, line.split())
            time = time or moment(time_of(number))
            if since_start == 1:
                started = time
                found[-1].began_s = clock_of(time)
            else:
                if cells and (seconds := seconds_between(started, time)) is not None:
                    cells = {TIME: seconds, **cells}
                found[-1].add(cells, number)
    return found


def _row(columns: Sequence[str], words: Sequence[str]) -> tuple[dict[str, float] | None, datetime | None]:
    """Return the samples of a line, and the time before or behind them.

    The zone of a time behind them is a column of the heading.
    """
    numeric = next((at for at, name in enumerate(columns) if name not in _KNOWN), len(columns))
    behind = _WORDS_OF_A_TIME if numeric < len(columns) and parsed_time(" ".join(words[-2:]), _TIME) else 0
    before = len(words) - behind - numeric
    values = numbers(words[before : before + numeric]) if before >= 0 else None
    if values is None:
        return None, None
    cells = {
        _NAMES.get(name, name): value / KB_PER_MB if name in _BLOCKS else value
        for name, value in zip(columns[:numeric], values, strict=True)
    }
    if not before and not behind:
        return cells, None
    time = parsed_time(" ".join(words[-2:]), _TIME) if behind else moment(" ".join(words[:before]))
    return (cells, time) if time else (None, None)
