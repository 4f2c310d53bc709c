"""The words of machines about themselves in ``Key: value`` lines.

That is systeminfo of Windows, hostnamectl and ``/etc/os-release`` of Linux, sw_vers and system_profiler of
macOS.
Only what is listed here is read: such texts also name hosts, people, networks and serial numbers.
"""

import re

from ingest.formats.companions.facts import facts_of, pairs_in
from ingest.formats.companions.sampling import whole_lines
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

# Two keys by which each of them is known.
_KNOWN_BY = (
    ("OS Name", "OS Version"),
    ("Operating System", "Kernel"),
    ("PRETTY_NAME", "VERSION_ID"),
    ("NAME", "PRETTY_NAME"),
    ("ProductName", "ProductVersion"),
    ("Model Identifier", "Memory"),
)
_LINES_TO_KNOW = 60

_HARDWARE = {
    "System Model": "model",
    "Hardware Model": "model",
    "Model Identifier": "model",
    "Chip": "cpu_model",
    "Processor Name": "cpu_model",
    "System Type": "arch",
    "Architecture": "arch",
    "Virtualization": "hypervisor",
    "Total Number of Cores": "cores:count",
    "Total Physical Memory": "ram_kib:amount",
    "Memory": "ram_kib:amount",
}
_ENVIRONMENT = {
    "OS Name": "os",
    "Operating System": "os",
    "PRETTY_NAME": "os",
    "OS Version": "os_version",
    "BuildVersion": "os_build",
    "BIOS Version": "bios",
    "Kernel": "kernel",
}
_SOCKETS = re.compile(r"([0-9]{1,3}) Processor\(s\) Installed\.?")
_PROCESSOR = re.compile(r"[ \t]*\[0*1\]:[ \t]*(\S.{0,199})")


def recognise(head: bytes) -> bool:
    lines = head.decode(errors="replace").splitlines()[:_LINES_TO_KNOW]
    fields = pairs_in(lines)
    is_lscpu = "Architecture" in fields and "CPU(s)" in fields
    return not is_lscpu and any(first in fields and second in fields for first, second in _KNOWN_BY)


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where nothing of it is known."""
    lines, warnings = whole_lines(source)
    fields = pairs_in(lines)
    if "Kernel" in fields:
        fields["Kernel"] = fields["Kernel"].removeprefix("Linux ")
    hardware = facts_of(fields, _HARDWARE)
    environment = facts_of(fields, _ENVIRONMENT)
    if "ProductName" in fields:
        environment.setdefault("os", f"{fields['ProductName']} {fields.get('ProductVersion', '')}".strip())
    if sockets := _SOCKETS.fullmatch(fields.get("Processor(s)", "")):
        hardware["sockets"] = int(sockets[1])
        if model := next(filter(None, map(_PROCESSOR.fullmatch, source.lines)), None):
            hardware.setdefault("cpu_model", model[1].strip())
    if not hardware and not environment:
        raise FormatError("nothing that is known of machines")
    return CompanionReport(hardware=hardware, environment=environment, warnings=tuple(warnings))
