"""dstat, dool and ``pcp dstat``: the CSV that ``--output`` writes.

Title lines with the author, the host and the command, then two rows of heads, groups above names, and a row
an interval. The first row of dstat and dool is the average since the machine started, that of ``pcp dstat``
has no rates. A file that is there already is appended to, so that it may hold several recordings. What disks
do is in bytes by dstat, in kB by ``pcp dstat``, and in bits by dool from 1.3 on unless told otherwise.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ingest.formats.companions.sampling import (
    KB_PER_MB,
    TIME,
    Cells,
    Recording,
    clock_of,
    csv_cells,
    number,
    numbers_by_column,
    parsed_time,
    warnings_of_starts,
    whole_devices,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_TITLE_TEXT = (
    r'"?(?P<tool>[Dd]stat|dool|pcp-dstat) (?P<version>[0-9]{1,4}\.[0-9]{1,4})[\w.+-]{0,30}'
    r' CSV [Oo]utput"?'
)
_TITLE = re.compile(_TITLE_TEXT)
_TITLE_IN_HEAD = re.compile(rf"^{_TITLE_TEXT}".encode(), re.MULTILINE)
_BYTES = {"pcp-dstat": 1024.0, "dool": 1 / 8}
_DOOL_WROTE_BYTES_BEFORE = (1, 3)
_DOOL_WRITES_BYTES = re.compile(r"--(?:bytes|dstat)\b")

# By group and name. ``total usage`` is what pcp dstat calls the CPUs.
_CPU = ("total cpu usage", "total usage")
_OF_CPUS = {"usr": "cpu_user", "sys": "cpu_system", "idl": "cpu_idle", "wai": "cpu_wait", "stl": "cpu_steal"}
_NAMES = {
    **{(group, name): metric for group in _CPU for name, metric in _OF_CPUS.items()},
    ("system", "int"): "interrupts_per_s",
    ("system", "csw"): "context_switches_per_s",
    ("procs", "run"): "run_queue",
    ("dsk/total", "read"): "read_mb_per_s",
    ("dsk/total", "writ"): "write_mb_per_s",
}
# Kept under their own names. Other groups are left out, because their units differ from tool to tool.
_MORE_GROUPS = ("memory usage", "procs", "load avg", "io/total")
# Time spent on hardware and software interrupts is the system's, as in vmstat.
_MORE_SYSTEM = ("hiq", "siq")
_DISK = "dsk/"
_RATES = {"read": "read_mb_per_s", "writ": "write_mb_per_s"}
_CLOCKS = ("%Y-%m-%d %H:%M:%S", "%d-%m-%Y %H:%M:%S")
_CLOCKS_OF_A_YEAR = ("%Y-%d-%m %H:%M:%S", "%Y-%b-%d %H:%M:%S")
CLOCK_NAMES = ("time", "epoch")
_MAX_NAME_LENGTH = 90

_COMMAND = "Cmdline:"
_TITLES = ("Author:", "Host:", _COMMAND)

Column = tuple[str, str]


def recognise(head: bytes) -> bool:
    return _TITLE_IN_HEAD.search(head) is not None


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where there are no heads."""
    lines, warnings = whole_lines(source)
    recordings = _recordings(lines)
    if not recordings:
        raise FormatError("no two rows of heads of dstat")
    last = recordings[-1]
    recording = Recording("dstat")
    first = last.rows[0][1] if last.rows else []
    started = time_of_row(last.columns, first)
    recording.began_s = clock_of(started)
    for number_, cells in last.rows[1:]:
        recording.add(_cells(last, cells, started), number_)
    warnings += warnings_of_starts("dstat", len(recordings), len(recording.rows))
    return recording.report(warnings=warnings)


@dataclass
class _Written:
    """What one start of dstat wrote: rows with their line numbers, columns of group and name."""

    bytes_of_a_unit: float
    columns: list[Column] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def _recordings(lines: Sequence[str]) -> list[_Written]:
    """Return a recording for each start, which writes its command again, but not always the title."""
    found: list[_Written] = []
    groups: list[str] = []
    title = None
    for number_, line in enumerate(lines, 1):
        cells = csv_cells(line)
        if new := _TITLE.match(line):
            title = new
        elif title and cells[:1] == [_COMMAND]:
            found.append(_Written(_bytes_of_a_unit(title, line)))
        elif found and found[-1].columns:
            if cells and cells[0] not in _TITLES:
                found[-1].rows.append((number_, cells))
        elif found and _are_names(cells, groups):
            found[-1].columns = _columns(groups, cells)
        groups = cells
    return [one for one in found if one.rows]


def _bytes_of_a_unit(title: re.Match[str], command: str) -> float:
    version = tuple(map(int, title["version"].split(".")))
    if title["tool"] == "dool" and (version < _DOOL_WROTE_BYTES_BEFORE or _DOOL_WRITES_BYTES.search(command)):
        return 1.0
    return _BYTES.get(title["tool"], 1.0)


def _are_names(names: Sequence[str], groups: Sequence[str]) -> bool:
    """Return whether this row names the columns below the groups of the row before."""
    is_below_groups = len(groups) > 1 and groups[0] not in _TITLES and len(names) >= len(groups) - 1
    return is_below_groups and all(map(str.strip, names))


def _columns(groups: Sequence[str], names: Sequence[str]) -> list[Column]:
    """Return group and name of each column: ``dsk/vda:read`` below ``dsk/vda`` is its ``read``."""
    columns, group = [], ""
    for at, name in enumerate(names):
        group = groups[at] if at < len(groups) and groups[at] else group
        columns.append((group, name.removeprefix(f"{group}:")))
    return columns


def _cells(written: _Written, texts: Sequence[str], started: datetime | None) -> Cells | None:
    """Return the samples of a row; None where it does not fit its heads."""
    if len(texts) != len(written.columns):
        return None
    measured = [
        "" if column[1] in CLOCK_NAMES else text for column, text in zip(written.columns, texts, strict=True)
    ]
    values = numbers_by_column(written.columns, measured)
    if values is None:
        return None
    cells: dict[str, float] = {}
    if (time := time_of_row(written.columns, texts)) and started:
        cells[TIME] = round((time - started).total_seconds(), 3)
    return cells | named_samples(values, written.bytes_of_a_unit)


def named_samples(values: Mapping[Column, float], bytes_of_a_unit: float) -> dict[str, float]:
    """Return the samples of a row by their metrics, or by the group and name that dstat gives them."""
    megabytes = bytes_of_a_unit / KB_PER_MB**2
    cells: dict[str, float] = {}
    for (group, name), value in values.items():
        ours = _NAMES.get((group, name))
        if ours:
            share = value * megabytes if ours in _RATES.values() else value
            cells[ours] = cells.get(ours, 0) + share
        elif group in _CPU and name in _MORE_SYSTEM:
            cells["cpu_system"] = cells.get("cpu_system", 0) + value
        elif group in _MORE_GROUPS:
            cells[f"{group} {name}"[:_MAX_NAME_LENGTH]] = value
    return cells | _of_single_disks(values, megabytes) if "read_mb_per_s" not in cells else cells


def _of_single_disks(values: Mapping[Column, float], megabytes: float) -> dict[str, float]:
    """Add up the rates of single disks where no column has their sum."""
    disks = whole_devices(group.removeprefix(_DISK) for group, _ in values if group.startswith(_DISK))
    if not disks:
        return {}
    return {
        ours: sum(values.get((f"{_DISK}{disk}", name), 0) for disk in disks) * megabytes
        for name, ours in _RATES.items()
    }


def time_of_row(columns: Sequence[Column], texts: Sequence[str]) -> datetime | None:
    """Return the time of a row, in UTC where it is an ``epoch``; None where no column says it."""
    for (_, name), text in zip(columns, texts, strict=False):
        if name == "epoch" and (epoch := number(text)) is not None:
            return datetime.fromtimestamp(epoch, UTC)
        # A leap year stands before a time without a year, so that its days are known to all.
        if name == "time" and (
            time := parsed_time(text, *_CLOCKS) or parsed_time(f"2024-{text}", *_CLOCKS_OF_A_YEAR)
        ):
            return time
    return None
