"""What machines say of themselves in ``Key: value`` lines.

That is systeminfo of Windows, hostnamectl and ``/etc/os-release`` of Linux, sw_vers and system_profiler of
macOS.
Only what is listed here is read: such texts also name hosts, people, networks and serial numbers.
"""

import re

from ingest.formats.companions.facts import pairs, pairs_in, whole_number
from ingest.formats.report import CompanionReport, Fact, FormatError
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
}
_ENVIRONMENT = {"OS Version": "os_version", "BuildVersion": "os_build", "BIOS Version": "bios"}
_OS = ("OS Name", "Operating System", "PRETTY_NAME")
_CORES = ("Total Number of Cores",)
_MEMORY = ("Total Physical Memory", "Memory")
_SOCKETS = re.compile(r"([0-9]{1,3}) Processor\(s\) Installed\.?")
_PROCESSOR = re.compile(r"[ \t]*\[0*1\]:[ \t]*(\S.{0,199})")
_AMOUNT = re.compile(r"([0-9]{1,3}(?:[.,\s\u00a0\u202f][0-9]{3})*|[0-9]{1,9})[ \t]*([MGT])B")
_KIB = {"M": 1024, "G": 1024**2, "T": 1024**3}
_SEPARATOR = re.compile(r"[^0-9]")


def recognise(head: bytes) -> bool:
    lines = head.decode(errors="replace").splitlines()[:_LINES_TO_KNOW]
    fields = pairs_in(lines)
    is_lscpu = "Architecture" in fields and "CPU(s)" in fields
    return not is_lscpu and any(first in fields and second in fields for first, second in _KNOWN_BY)


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where nothing of it is known."""
    fields, warnings = pairs(source)
    hardware: dict[str, Fact] = {}
    for name, ours in _HARDWARE.items():
        if name in fields:
            hardware.setdefault(ours, fields[name])
    if found := _SOCKETS.fullmatch(fields.get("Processor(s)", "")):
        hardware["sockets"] = int(found[1])
        if model := next(filter(None, map(_PROCESSOR.fullmatch, source.lines)), None):
            hardware.setdefault("cpu_model", model[1].strip())
    for name in _CORES:
        if (cores := whole_number(fields.get(name, "").split("(")[0])) is not None:
            hardware["cores"] = cores
    for name in _MEMORY:
        if amount := _AMOUNT.fullmatch(fields.get(name, "")):
            hardware["ram_kib"] = int(_SEPARATOR.sub("", amount[1])) * _KIB[amount[2]]
    environment: dict[str, Fact] = {
        ours: fields[name] for name, ours in _ENVIRONMENT.items() if name in fields
    }
    if os := next((fields[name] for name in _OS if name in fields), None):
        environment["os"] = os
    elif "ProductName" in fields:
        environment["os"] = f"{fields['ProductName']} {fields.get('ProductVersion', '')}".strip()
    if kernel := fields.get("Kernel"):
        environment["kernel"] = kernel.removeprefix("Linux ")
    if not hardware and not environment:
        raise FormatError("nothing that is known of machines")
    return CompanionReport(hardware=hardware, environment=environment, warnings=tuple(warnings))
