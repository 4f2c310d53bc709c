"""lscpu of util-linux, in English: ``Key: value`` lines, or with ``-J`` the same as JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.formats.companions.facts import facts_of, pairs_in, whole_number
from ingest.formats.companions.sampling import whole_lines
from ingest.formats.json_source import load
from ingest.formats.report import CompanionReport, FormatError
from ingest.formats.source import Source

_TEXT_IN_HEAD = re.compile(rb"\A\s*Architecture:[^\n]*\n(?:[^\n:]{1,40}:[^\n]*\n){0,9}?[ \t]*CPU\(s\):[ \t]")
_JSON_IN_HEAD = re.compile(rb'\A\s*\{\s*"lscpu"\s*:\s*\[')
_HARDWARE = {
    "Architecture": "arch",
    "Model name": "cpu_model",
    "Vendor ID": "cpu_vendor",
    "Hypervisor vendor": "hypervisor",
    "L2 cache": "l2_cache",
    "L3 cache": "l3_cache",
    "CPU(s)": "cpus:count",
    "Socket(s)": "sockets:count",
    "Thread(s) per core": "threads_per_core:count",
    "NUMA node(s)": "numa_nodes:count",
}
_ENVIRONMENT = {"On-line CPU(s) list": "cpus_online", "Off-line CPU(s) list": "cpus_offline"}
_VULNERABILITY = "Vulnerability "
_NOT_AFFECTED = "Not affected"


def recognise(head: bytes) -> bool:
    return _TEXT_IN_HEAD.match(head) is not None or _JSON_IN_HEAD.match(head) is not None


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where the number of CPUs is missing."""
    if _JSON_IN_HEAD.match(source.head):
        fields, warnings = _fields_of_json(source), list(source.warnings)
    else:
        lines, warnings = whole_lines(source)
        fields = pairs_in(lines)
    hardware = facts_of(fields, _HARDWARE)
    if "cpus" not in hardware:
        raise FormatError("no number of CPUs")
    if "sockets" not in hardware:
        warnings.append("no 'Socket(s):', and what comes after it; is the file complete?")
    cores, sockets = whole_number(fields.get("Core(s) per socket", "")), hardware.get("sockets")
    if cores and isinstance(sockets, int):
        hardware["cores"] = cores * sockets
    environment = facts_of(fields, _ENVIRONMENT)
    environment |= {
        f"mitigation.{name.removeprefix(_VULNERABILITY)}": value
        for name, value in fields.items()
        if name.startswith(_VULNERABILITY) and value != _NOT_AFFECTED
    }
    return CompanionReport(hardware=hardware, environment=environment, warnings=tuple(warnings))


def _fields_of_json(source: Source) -> dict[str, str]:
    document: Any = load(source)
    try:
        return dict(_flat(document["lscpu"]))
    except (TypeError, KeyError, AttributeError, RecursionError):
        raise FormatError("not the JSON of lscpu") from None


def _flat(entries: Any) -> Iterator[tuple[str, str]]:
    """Yield all fields; newer versions put some below others."""
    for entry in entries:
        if isinstance(entry, Mapping):
            if entry.get("data") is not None:
                yield str(entry["field"]).removesuffix(":"), str(entry["data"])
            yield from _flat(entry.get("children") or [])
