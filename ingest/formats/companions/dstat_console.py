"""dstat on a console: groups of columns parted by bars, under two lines of heads that come again and again.

    ----total-usage---- -dsk/total- -net/total- ---paging-- ---system--
    usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw
      2   1  97   0   0|  37k  105k|   0     0 |   0     0 | 545  1163

The first row is the average since the machine started. Bytes are counted in 1024, events in 1000.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats.companions import dstat
from ingest.formats.companions.dstat import column, is_clock, row
from ingest.formats.companions.sampling import SampleRow

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


def _groups(line: str) -> Sequence[str]:
    """Return the groups that a line names, nothing where it is no line of groups."""
    groups = [match[1] for word in line.split() if (match := _GROUP.fullmatch(word))]
    is_line_of_groups = len(groups) == len(line.split()) and not _KNOWN_GROUPS.isdisjoint(groups)
    return groups if is_line_of_groups else ()


def _heads(above: str, line: str) -> Sequence[str]:
    groups = _groups(above) if above.lstrip().startswith("-") else ()
    parts = _parts(line) if groups else ()
    if len(parts) != len(groups) or not all(part.split() for part in parts):
        return ()
    return [
        column(group.replace("-", " "), name)
        for group, part in zip(groups, parts, strict=True)
        for name in part.split()
    ]


def _parts(line: str) -> list[str]:
    """Return what the bars of a line part, without the marks of what was trimmed and missed."""
    return _MISSED.sub("", line).rstrip().removesuffix(">").rstrip().removesuffix("|").split("|")


def _row(columns: Sequence[str], line: str) -> SampleRow:
    texts: list[str] = []
    for part in _parts(line):
        is_time = len(texts) < len(columns) and is_clock(columns[len(texts)])
        texts += [" ".join(part.split())] if is_time else part.split()
    return row(columns, [_plain(*cell) for cell in zip(columns, texts, strict=False)] + texts[len(columns) :])


def _plain(name: str, text: str) -> str:
    """Return the text of a number without its unit, nothing for a dash; any other text as it is."""
    cell = None if is_clock(name) else _CELL.fullmatch(text)
    if cell is None:
        return "" if text == "-" else text
    base = 1024 if name.startswith(_OF_BYTES) else 1000
    return f"{float(cell[1]) * base ** _POWERS[cell[2]]:f}"


FORMAT = replace(
    dstat.FORMAT,
    heads=_heads,
    row=_row,
    skipped=r"^\s*-{2,}[a-z]|^\s*-[a-z/]+-",
    begins="You did not select any stats",
    rows_between_heads=8,
)
