"""iostat of sysstat: a report an interval, of which the first is the average since the machine started.

A report has the CPUs, the devices, or both, and with ``-t`` a time. Of devices the columns differ by version
and option. The decimal comma depends on the locale. Whether ``-y`` left the first report out cannot be seen,
so that the first one is never read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ingest.formats.companions.sampling import SamplingTool, ToolSample, moment, numbers_of, whole_devices

_CPU_HEADING = re.compile(r"avg-cpu:[ \t]+%user[ \t]")
_DEVICE_HEADING = re.compile(r"(?:Device:?)[ \t]+(?:tps|rrqm/s|r/s)[ \t]")
_TIME = re.compile(
    r"(?:Time:[ \t]*)?(?:[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}[ T])?"
    r"(?P<clock>[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[^0-9]?[AaPp][Mm])?)(?:[-+][0-9]{2}:?[0-9]{2}|Z)?"
)
# Rates of all disks together.
_RATES = {
    **dict.fromkeys(("rkB/s", "kB_read/s"), "read_mb_per_s:kB"),
    **dict.fromkeys(("rMB/s", "MB_read/s"), "read_mb_per_s:MB"),
    **dict.fromkeys(("rsec/s", "Blk_read/s"), "read_mb_per_s:sectors"),
    **dict.fromkeys(("wkB/s", "kB_wrtn/s"), "write_mb_per_s:kB"),
    **dict.fromkeys(("wMB/s", "MB_wrtn/s"), "write_mb_per_s:MB"),
    **dict.fromkeys(("wsec/s", "Blk_wrtn/s"), "write_mb_per_s:sectors"),
}
_METRICS = {
    **dict.fromkeys(("%user", "%nice"), "cpu_user"),
    "%system": "cpu_system",
    "%iowait": "cpu_wait",
    "%idle": "cpu_idle",
    "%steal": "cpu_steal",
    **_RATES,
}
# Kept of every device, under its name.
_OF_A_DEVICE = (
    *("tps", "r/s", "w/s", "await", "r_await", "w_await", "f_await", "svctm", "avgqu-sz", "aqu-sz", "%util"),
)
_MAX_DEVICES = 8
_MAX_NAME_LENGTH = 60


@dataclass
class _Report:
    """The output of iostat for one interval, beginning at a line. ``columns`` are those of its devices."""

    line: int
    time: datetime | None = None
    cpu: dict[str, float] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    devices: dict[str, dict[str, float]] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)

    def take(self, columns: Sequence[str], words: Sequence[str], line: int) -> None:
        """Take the figures of the CPUs, or of a device whose name stands before them."""
        is_device = columns is self.columns
        values = numbers_of(columns[1:], words[is_device:])
        if values is None:
            self.left_out.append(line)
        elif is_device:
            self.devices[words[0]] = values
        else:
            self.cpu = values

    def values(self, devices: Sequence[str]) -> dict[str, float]:
        """Return the figures of the CPUs and of these devices; one that is not listed did nothing."""
        printed = [(name, self.devices[name]) for name in devices if name in self.devices]
        totals = {
            name: round(sum(device[name] for _, device in printed), 6)
            for name in self.columns
            if name in _RATES
        }
        return {**self.cpu, **totals} | {
            f"{name[:_MAX_NAME_LENGTH]} {column}": device[column]
            for name, device in printed
            if name in devices[:_MAX_DEVICES]
            for column in _OF_A_DEVICE
            if column in device
        }

    def lacks(self, before: "_Report", *, is_ended: bool) -> bool:
        """Return whether a part is missing that the report before has; not all devices need be listed."""
        return (
            bool(before.cpu and not self.cpu)
            or len(self.columns) < len(before.columns)
            or (not is_ended and len(self.devices) < len(before.devices))
        )


def _heads(_: str, line: str) -> Sequence[str]:
    return line.split() if _CPU_HEADING.match(line) or _DEVICE_HEADING.match(line) else ()


def _recorded(lines: Sequence[str], warnings: list[str]) -> Sequence[ToolSample]:
    reports = list(_reports(lines))
    left_out = [line for report in reports for line in report.left_out]
    # An empty line ends the devices.
    if len(reports) > 1 and reports[-1].lacks(reports[-2], is_ended=not lines[-1].strip()):
        left_out.append(reports.pop().line)
    devices = whole_devices(name for report in reports[1:] for name in report.devices)
    if len(devices) > _MAX_DEVICES:
        warnings.append(f"of {len(devices)} devices the single figures of {_MAX_DEVICES} are kept")
    samples = [ToolSample(report.line, report.values(devices), report.time) for report in reports]
    return [*samples, *(ToolSample(line, None) for line in left_out)]


def _reports(lines: Iterable[str]) -> Iterator[_Report]:
    report: _Report | None = None
    cpu_columns: list[str] = []
    time: datetime | None = None
    for number, line in enumerate(map(str.strip, lines), 1):
        of_cpus = _CPU_HEADING.match(line) is not None
        if printed := _TIME.fullmatch(line):
            time = moment(printed["clock"])
        elif of_cpus or _DEVICE_HEADING.match(line):
            if report is None or of_cpus or report.columns:
                if report is not None:
                    yield report
                report = _Report(number, time)
            cpu_columns = line.split() if of_cpus else []
            report.columns = [] if of_cpus else line.split()
        elif line and report is not None and (columns := cpu_columns or report.columns):
            report.take(columns, line.split(), number)
    if report is not None:
        yield report


FORMAT = SamplingTool(name="iostat", heads=_heads, recorded=_recorded, metrics=_METRICS, kept=".+ ")
