"""The words of machines about themselves in ``Key: value`` lines.

That is systeminfo of Windows, hostnamectl and ``/etc/os-release`` of Linux, sw_vers and system_profiler of
macOS.
Only what is listed here is read: such texts also name hosts, people, networks and serial numbers.
"""

import re

from ingest.formats.companions.facts import FactFile, Fields, fields_in_lines, pairs_in
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

_SOCKETS = re.compile(r"([0-9]{1,3}) Processor\(s\) Installed\.?")
_PROCESSOR = re.compile(r"[ \t]*\[0*1\]:[ \t]*(\S.{0,199})")


def _recognised(head: bytes) -> bool:
    fields = pairs_in(head.decode(errors="replace").splitlines()[:_LINES_TO_KNOW])
    is_lscpu = "Architecture" in fields and "CPU(s)" in fields
    return not is_lscpu and any(first in fields and second in fields for first, second in _KNOWN_BY)


def _fields(source: Source) -> tuple[Fields, list[str]]:
    fields, warnings = fields_in_lines(source)
    if "Kernel" in fields:
        fields["Kernel"] = fields["Kernel"].removeprefix("Linux ")
    if "ProductName" in fields:
        fields.setdefault(
            "PRETTY_NAME", f"{fields['ProductName']} {fields.get('ProductVersion', '')}".strip()
        )
    if sockets := _SOCKETS.fullmatch(fields.get("Processor(s)", "")):
        fields["sockets"] = sockets[1]
        if model := next(filter(None, map(_PROCESSOR.fullmatch, source.lines)), None):
            fields["processor"] = model[1].strip()
    return fields, warnings


FORMAT = FactFile(
    recognised_by=_recognised,
    fields=_fields,
    hardware={
        "System Model": "model",
        "Hardware Model": "model",
        "Model Identifier": "model",
        "Chip": "cpu_model",
        "Processor Name": "cpu_model",
        "processor": "cpu_model",
        "System Type": "arch",
        "Architecture": "arch",
        "Virtualization": "hypervisor",
        "sockets": "sockets:count",
        "Total Number of Cores": "cores:count",
        "Total Physical Memory": "ram_kib:amount",
        "Memory": "ram_kib:amount",
    },
    environment={
        "OS Name": "os",
        "Operating System": "os",
        "PRETTY_NAME": "os",
        "OS Version": "os_version",
        "BuildVersion": "os_build",
        "BIOS Version": "bios",
        "Kernel": "kernel",
    },
)
