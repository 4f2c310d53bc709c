"""iostat of sysstat: a report an interval, of which the first is the average since the machine started.

A report has the CPUs, the devices, or both, and with ``-t`` a time. Of devices the columns differ by version
and option. The decimal comma depends on the locale. Whether ``-y`` left the first report out cannot be seen,
so that the first one is never read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.formats.companions.sampling import (
    MB_OF_UNIT,
    TIME,
    Samples,
    banner_facts,
    cells_of,
    no_sample,
    numbers_of,
    seconds_after,
    time_of_day,
    whole_devices,
    whole_lines,
)
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_CPU_HEADING = re.compile(r"avg-cpu:[ \t]+%user[ \t]")
_DEVICE_HEADING = re.compile(r"(?:Device:?)[ \t]+(?:tps|rrqm/s|r/s)[ \t]")
_HEADING_IN_HEAD = re.compile(
    rf"^(?:{_CPU_HEADING.pattern}|{_DEVICE_HEADING.pattern})".encode(), re.MULTILINE
)
_TIME = re.compile(
    r"(?:Time:[ \t]*)?(?:[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}[ T])?"
    r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[^0-9]?[AaPp][Mm])?(?:[-+][0-9]{2}:?[0-9]{2}|Z)?"
)

_CPU_METRICS = {
    **dict.fromkeys(("%user", "%nice"), "cpu_user"),
    "%system": "cpu_system",
    "%iowait": "cpu_wait",
    "%idle": "cpu_idle",
    "%steal": "cpu_steal",
}
_RATES = {
    "read_mb_per_s": {
        **dict.fromkeys(("rkB/s", "kB_read/s"), "kB"),
        **dict.fromkeys(("rMB/s", "MB_read/s"), "MB"),
        **dict.fromkeys(("rsec/s", "Blk_read/s"), "sectors"),
    },
    "write_mb_per_s": {
        **dict.fromkeys(("wkB/s", "kB_wrtn/s"), "kB"),
        **dict.fromkeys(("wMB/s", "MB_wrtn/s"), "MB"),
        **dict.fromkeys(("wsec/s", "Blk_wrtn/s"), "sectors"),
    },
}
# Kept of every device, under its name.
_OF_A_DEVICE = (
    *("tps", "r/s", "w/s", "await", "r_await", "w_await", "f_await", "svctm", "avgqu-sz", "aqu-sz", "%util"),
)
_MAX_DEVICES = 8
_MAX_NAME_LENGTH = 60


def recognise(head: bytes) -> bool:
    return _HEADING_IN_HEAD.search(head) is not None


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where there is no report."""
    lines, warnings = whole_lines(source)
    reports = list(_reports(lines))
    if not reports:
        raise FormatError("no report of iostat")
    if len(reports) == 1:
        warnings.append(no_sample("iostat"))
    after_the_first = _whole_reports(lines, reports, warnings)[1:]
    devices = whole_devices(name for report in after_the_first for name in report.devices)
    if len(devices) > _MAX_DEVICES:
        warnings.append(f"of {len(devices)} devices the single figures of {_MAX_DEVICES} are kept")
    samples = Samples("iostat", began_s=reports[0].clock)
    for report in after_the_first:
        samples.add(report.cells(reports[0].clock, devices), report.line)
    samples.left_out += [line for report in reports for line in report.left_out]
    hardware, environment = banner_facts(lines)
    return samples.report(hardware=hardware, environment=environment, warnings=warnings)


@dataclass
class _Report:
    """The output of iostat for one interval, beginning at a line. ``columns`` are those of its devices."""

    line: int
    clock: int | None = None
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

    def cells(self, start: int | None, devices: Sequence[str]) -> dict[str, float]:
        """Return the samples of the CPUs and of these devices; one that is not listed did nothing."""
        cells = cells_of(self.cpu, _CPU_METRICS)
        if self.clock is not None and start is not None:
            cells[TIME] = seconds_after(start, self.clock)
        listed = [self.devices[name] for name in devices if name in self.devices]
        for metric, units in _RATES.items():
            if column := next((name for name in units if name in self.columns), None):
                rate = round(sum(device[column] for device in listed), 6)
                cells[metric] = rate * MB_OF_UNIT[units[column]]
        for name in devices[:_MAX_DEVICES]:
            printed = self.devices.get(name, {})
            cells |= {
                f"{name[:_MAX_NAME_LENGTH]} {column}": printed[column]
                for column in _OF_A_DEVICE
                if column in printed
            }
        return cells


def _reports(lines: Iterable[str]) -> Iterator[_Report]:
    report: _Report | None = None
    cpu_columns: list[str] = []
    clock: int | None = None
    for number, line in enumerate(map(str.strip, lines), 1):
        of_cpus = _CPU_HEADING.match(line) is not None
        if _TIME.fullmatch(line):
            clock = time_of_day(line)
        elif of_cpus or _DEVICE_HEADING.match(line):
            if report is None or of_cpus or report.columns:
                if report is not None:
                    yield report
                report = _Report(number, clock)
            cpu_columns = line.split() if of_cpus else []
            report.columns = [] if of_cpus else line.split()
        elif line and report is not None and (columns := cpu_columns or report.columns):
            report.take(columns, line.split(), number)
    if report is not None:
        yield report


def _whole_reports(lines: Sequence[str], reports: Sequence[_Report], warnings: list[str]) -> list[_Report]:
    """Return the reports without a last one that lacks a part: the file may be cut in it."""
    if len(reports) < 2:
        return list(reports)
    last, before = reports[-1], reports[-2]
    lacks_a_table = (before.cpu and not last.cpu) or (before.columns and not last.columns)
    # An empty line ends the devices, of which not all need be listed.
    lacks_devices = lines[-1].strip() and len(last.devices) < len(before.devices)
    if lacks_a_table or lacks_devices or len(last.columns) < len(before.columns):
        warnings.append(f"the last report, of line {last.line}, is not complete and was not read")
        return list(reports[:-1])
    return list(reports)
