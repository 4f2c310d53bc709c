"""dstat on a console: groups of columns parted by bars, under two lines of heads that come again and again.

    ----total-usage---- -dsk/total- -net/total- ---paging-- ---system--
    usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw
      2   1  97   0   0|  37k  105k|   0     0 |   0     0 | 545  1163

The first row is the average since the machine started. Bytes are counted in 1024, events in 1000.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from ingest.formats.companions.dstat import CLOCK_NAMES, Column, named_samples, time_of_row
from ingest.formats.companions.sampling import (
    TIME,
    Cells,
    Recording,
    clock_of,
    moment,
    number,
    seconds_between,
    warnings_of_starts,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_GROUP = re.compile(r"-+([a-z][\w/.:]*(?:-[\w/.:]+)*)-+>?")
_KNOWN_GROUPS = frozenset(
    {
        *("total-usage", "total-cpu-usage", "dsk/total", "net/total", "paging", "system", "memory-usage"),
        *("procs", "load-avg", "io/total", "swap", "interrupts", "epoch"),
    }
)
_CELL = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([BkMGT]?)")
_POWERS = {"": 0, "B": 0, "k": 1, "M": 2, "G": 3, "T": 4}
_OF_BYTES = ("dsk/", "net/", "memory", "swap", "paging")
_MISSED = re.compile(r"(?<!\s)\s++missed [0-9]{1,9} ticks\s*+$")
_STARTS = "You did not select any stats"
# A console is not so low that the heads come again after fewer rows.
_MIN_ROWS_BETWEEN_HEADS = 8
# dool prints bits from 1.3 on, unless it is told not to.
_DOOL, _BYTES_OF_DOOL = re.compile(r"\bdool\b"), re.compile(r"(?>.*?\bdool\b).*--(?:bytes|dstat)\b")


def recognise(head: bytes) -> bool:
    return any(True for _ in _heads(head.decode("utf-8", "replace").splitlines()))


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where there are no heads."""
    lines, warnings = whole_lines(source)
    heads = dict(_heads(lines))
    if not heads:
        raise FormatError("no two rows of heads of dstat")
    recordings = _recordings(lines, heads, source)
    recording = recordings[-1]
    warnings += warnings_of_starts("dstat", len(recordings), len(recording.rows))
    if _bytes_of_a_unit(lines) is None:
        warnings.append("what disks did is taken for bytes, as dstat prints them; dool prints bits")
    return recording.report(warnings=warnings)


def _heads(lines: Sequence[str]) -> Iterator[tuple[int, list[Column]]]:
    """Yield the number of each second line of heads, and its columns: group and name."""
    for line_number, (above, below) in enumerate(pairwise(lines), start=2):
        groups = [match[1] for word in above.split() if (match := _GROUP.fullmatch(word))]
        if not groups or len(groups) != len(above.split()) or _KNOWN_GROUPS.isdisjoint(groups):
            continue
        parts = _parts(below)
        if len(parts) == len(groups) and all(part.split() for part in parts):
            yield (
                line_number,
                [
                    (group.replace("-", " "), name)
                    for group, part in zip(groups, parts, strict=True)
                    for name in part.split()
                ],
            )


def _parts(line: str) -> list[str]:
    """Return what the bars of a line part, without the marks of what was trimmed and missed."""
    return _MISSED.sub("", line).rstrip().removesuffix(">").rstrip().removesuffix("|").split("|")


def _recordings(lines: Sequence[str], heads: dict[int, list[Column]], source: Source) -> list[Recording]:
    """Return the samples of each start of dstat, without its first row."""
    bytes_of_a_unit = _bytes_of_a_unit(lines) or 1.0
    found: list[Recording] = []
    columns: list[Column] = []
    started: datetime | None = None
    has_started = True
    since_heads = since_start = 0
    for line_number, line in enumerate(lines, start=1):
        if line.startswith(_STARTS):
            has_started = True
        elif line_number in heads:
            if has_started or heads[line_number] != columns or 0 < since_heads < _MIN_ROWS_BETWEEN_HEADS:
                found.append(Recording("dstat"))
                since_start, has_started = 0, False
            columns, since_heads = heads[line_number], 0
        elif columns and line.strip() and line_number + 1 not in heads:
            since_heads += 1
            since_start += 1
            cells, time = _row(columns, line, bytes_of_a_unit)
            time = time or moment(source.time_of(line_number))
            if since_start == 1:
                started = time
                found[-1].began_s = clock_of(time)
                continue
            if cells is not None and (seconds := seconds_between(started, time)) is not None:
                cells = {TIME: seconds, **cells}
            found[-1].add(cells, line_number)
    return found


def _row(
    columns: Sequence[Column], line: str, bytes_of_a_unit: float
) -> tuple[Cells | None, datetime | None]:
    """Return the samples of a row, None where it does not fit its heads, and its time."""
    parts = _parts(line)
    texts: list[str] = []
    at = 0
    for part in parts:
        words = part.split()
        if at < len(columns) and columns[at][1] not in CLOCK_NAMES and columns[at][1] != "times":
            texts += words
            at += len(words)
        else:
            texts.append(" ".join(words))
            at += 1
    if len(texts) != len(columns):
        return None, None
    values: dict[Column, float] = {}
    for column, text in zip(columns, texts, strict=True):
        if column[1] in (*CLOCK_NAMES, "times") or text == "-":
            continue
        value = _value(column[0], text)
        if value is None:
            return None, None
        values[column] = value
    return named_samples(values, bytes_of_a_unit), time_of_row(columns, texts) or _clock(columns, texts)


def _value(group: str, text: str) -> float | None:
    cell = _CELL.fullmatch(text)
    if not cell:
        return None
    base = 1024 if group.startswith(_OF_BYTES) else 1000
    figure = number(cell[1])
    return None if figure is None else figure * base ** _POWERS[cell[2]]


def _clock(columns: Sequence[Column], texts: Sequence[str]) -> datetime | None:
    """Return the time of a row that has a clock alone."""
    return next(
        (moment(text) for (_, name), text in zip(columns, texts, strict=True) if name in ("time", "times")),
        None,
    )


def _bytes_of_a_unit(lines: Sequence[str]) -> float | None:
    """Return what the command in the file says of the units of disks; None where there is none."""
    around = [line for line in lines if "|" not in line]
    if any(map(_DOOL.search, around)):
        return 1.0 if any(map(_BYTES_OF_DOOL.match, around)) else 1 / 8
    return 1.0 if any("dstat" in line for line in around) else None
