"""dstat, dool and ``pcp dstat``: the CSV that ``--output`` writes, and what a console shows.

Title lines with the author, the host and the command, then two rows of heads, groups above names, and a row
an interval. The first row of dstat and dool is the average since the machine started, that of ``pcp dstat``
has no rates. A file that is there already is appended to, so that it may hold several recordings. What disks
do is in bytes by dstat, in kB by ``pcp dstat``, and in bits by dool from 1.3 on unless told otherwise.

On a console bars part the groups, heads come again and again, bytes are counted in 1024 and events in 1000:

    ----total-usage---- -dsk/total- ---system--
    usr sys idl wai stl| read  writ| int   csw
      2   1  97   0   0|  37k  105k| 545  1163
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ingest.formats.companions.sampling import (
    Row,
    SamplingTool,
    csv_cells,
    moment,
    number,
    numbers_of,
    parsed_time,
    whole_devices,
)

_TITLE = re.compile(
    r'"?(?P<tool>[Dd]stat|dool|pcp-dstat) (?P<version>[0-9]{1,4}\.[0-9]{1,4})[\w.+-]{0,30} CSV'
)
_TOOL = re.compile(r"\b(?:[Dd]stat|dool)\b")
_DOOL = re.compile(r"\bdool\b")
_DOOL_WRITES_BYTES = re.compile(r"(?>.*?\bdool\b).*--(?:bytes|dstat)\b")
_DOOL_WROTE_BYTES_BEFORE = (1, 3)

# By group and name. ``total usage`` is what pcp dstat calls the CPUs. Time spent on hardware and software
# interrupts is the system's, as in vmstat.
_METRICS = {
    "total usage usr": "cpu_user",
    **dict.fromkeys(("total usage sys", "total usage hiq", "total usage siq"), "cpu_system"),
    "total usage idl": "cpu_idle",
    "total usage wai": "cpu_wait",
    "total usage stl": "cpu_steal",
    "system int": "interrupts_per_s",
    "system csw": "context_switches_per_s",
    "procs run": "run_queue",
    "dsk/total read": "read_mb_per_s:B",
    "dsk/total writ": "write_mb_per_s:B",
}
# Groups of columns under their own names. Others are left out: their units differ from tool to tool.
_KEPT = "(?:memory usage|procs|load avg|io/total) "

_NAMES = frozenset({*(name.rpartition(" ")[2] for name in _METRICS), "recv", "used", "1m", "time", "epoch"})
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
_DISK = re.compile(r"dsk/(\S{1,60}) (?:read|writ)")
_CLOCK = re.compile(r".*\b(?:times?|epoch)")
_CLOCKS = ("%Y-%m-%d %H:%M:%S", "%d-%m-%Y %H:%M:%S")
_CLOCKS_OF_A_YEAR = ("%Y-%d-%m %H:%M:%S", "%Y-%b-%d %H:%M:%S")


def _column(group: str, name: str) -> str:
    """Return the name of a column: ``dsk/vda:read`` below ``dsk/vda`` is its ``read``."""
    return f"{group.replace('total cpu usage', 'total usage')} {name.removeprefix(f'{group}:')}"


def _is_clock(name: str) -> bool:
    """Return whether a column has times."""
    return _CLOCK.fullmatch(name) is not None


def _row_of(columns: Sequence[str], texts: Sequence[str]) -> Row:
    """Read the cells of a row; that of a clock is its time."""
    times = (_time(text) for name, text in zip(columns, texts, strict=False) if _is_clock(name))
    measured = ["" if _is_clock(name) else text for name, text in zip(columns, texts, strict=False)]
    values = numbers_of(columns, measured) if len(texts) == len(columns) else None
    return values, next(filter(None, times), None)


def _time(text: str) -> datetime | None:
    if (epoch := number(text)) is not None:
        return datetime.fromtimestamp(epoch, UTC)
    # A leap year stands before a time without a year, so that its days are known to all.
    time = parsed_time(text, *_CLOCKS) or parsed_time(f"2024-{text}", *_CLOCKS_OF_A_YEAR)
    return time or moment(text)


def _with_all_disks(values: Mapping[str, float]) -> Mapping[str, float]:
    """Add up the rates of single disks where no column has their sum."""
    disks = whole_devices(
        disk[1] for name in values if (disk := _DISK.fullmatch(name)) and disk[1] != "total"
    )
    if not disks or "dsk/total read" in values:
        return values
    return {
        **values,
        **{
            f"dsk/total {rate}": sum(values.get(f"dsk/{disk} {rate}", 0) for disk in disks)
            for rate in ("read", "writ")
        },
    }


def _bytes_of_a_unit(lines: Sequence[str]) -> float | None:
    """Return in how many bytes disks are counted, by titles and commands; None where there are none."""
    naming = [line for line in lines if "|" not in line and _TOOL.search(line)]
    titles = [title for line in naming if (title := _TITLE.match(line))]
    if not titles:
        is_dool = any(map(_DOOL.search, naming))
        bits = is_dool and not any(map(_DOOL_WRITES_BYTES.match, naming))
        return (1 / 8 if bits else 1) if naming else None
    tool, version = titles[-1]["tool"], tuple(map(int, titles[-1]["version"].split(".")))
    if tool == "dool" and version >= _DOOL_WROTE_BYTES_BEFORE and not _DOOL_WRITES_BYTES.match(naming[-1]):
        return 1 / 8
    return 1024 if tool == "pcp-dstat" else 1


def _heads(above: str, line: str) -> Sequence[str]:
    """Return group and name of each column, from a row of groups and one of names below it."""
    return _heads_on_a_console(above, line) if above.lstrip().startswith("-") else _heads_of_csv(above, line)


def _heads_of_csv(above: str, line: str) -> Sequence[str]:
    names, groups = csv_cells(line), csv_cells(above)
    if len(groups) < 2 or len(names) < len(groups) - 1 or not all(map(str.strip, names)):
        return ()
    if _NAMES.isdisjoint(name.rpartition(":")[2] for name in names):
        return ()
    columns, group = [], ""
    for at, name in enumerate(names):
        group = groups[at] if at < len(groups) and groups[at] else group
        columns.append(_column(group, name))
    return columns


def _groups(line: str) -> Sequence[str]:
    """Return the groups that a line names, nothing where it is no line of groups."""
    groups = [match[1] for word in line.split() if (match := _GROUP.fullmatch(word))]
    is_line_of_groups = len(groups) == len(line.split()) and not _KNOWN_GROUPS.isdisjoint(groups)
    return groups if is_line_of_groups else ()


def _heads_on_a_console(above: str, line: str) -> Sequence[str]:
    groups = _groups(above)
    parts = _parts(line) if groups else ()
    if len(parts) != len(groups) or not all(part.split() for part in parts):
        return ()
    return [
        _column(group.replace("-", " "), name)
        for group, part in zip(groups, parts, strict=True)
        for name in part.split()
    ]


def _parts(line: str) -> list[str]:
    """Return what the bars of a line part, without the marks of what was trimmed and missed."""
    return _MISSED.sub("", line).rstrip().removesuffix(">").rstrip().removesuffix("|").split("|")


def _row(columns: Sequence[str], line: str) -> Row:
    if "|" not in line:
        return _row_of(columns, csv_cells(line))
    texts: list[str] = []
    for part in _parts(line):
        is_time = len(texts) < len(columns) and _is_clock(columns[len(texts)])
        texts += [" ".join(part.split())] if is_time else part.split()
    return _row_of(
        columns, [_plain(*cell) for cell in zip(columns, texts, strict=False)] + texts[len(columns) :]
    )


def _plain(name: str, text: str) -> str:
    """Return the text of a number without its unit, nothing for a dash; any other text as it is."""
    cell = None if _is_clock(name) else _CELL.fullmatch(text)
    if cell is None:
        return "" if text == "-" else text
    base = 1024 if name.startswith(_OF_BYTES) else 1000
    return f"{float(cell[1]) * base ** _POWERS[cell[2]]:f}"


FORMAT = SamplingTool(
    name="dstat",
    heads=_heads,
    row=_row,
    metrics=_METRICS,
    kept=_KEPT,
    unit=_bytes_of_a_unit,
    complete=_with_all_disks,
    skipped=r'^"?(?:Author:|Host:|[\w-]{1,10} [\w.+-]{1,40} CSV )|^\s*-{2,}[a-z]|^\s*-[a-z/]+-',
    begins='"?Cmdline:|You did not select any stats',
    rows_between_heads=8,
)
