"""lscpu of util-linux, in English: ``Key: value`` lines, or with ``-J`` the same as JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.formats.companions.facts import pairs, whole_number
from ingest.formats.json_source import load
from ingest.formats.report import CompanionReport, Fact, FormatError
from ingest.formats.source import Source

_TEXT_IN_HEAD = re.compile(rb"\A\s*Architecture:[^\n]*\n(?:[^\n:]{1,40}:[^\n]*\n){0,9}?[ \t]*CPU\(s\):[ \t]")
_JSON_IN_HEAD = re.compile(rb'\A\s*\{\s*"lscpu"\s*:\s*\[')
_TEXTS = {
    "Architecture": "arch",
    "Model name": "cpu_model",
    "Vendor ID": "cpu_vendor",
    "Hypervisor vendor": "hypervisor",
    "L2 cache": "l2_cache",
    "L3 cache": "l3_cache",
}
_COUNTS = {
    "CPU(s)": "cpus",
    "Socket(s)": "sockets",
    "Thread(s) per core": "threads_per_core",
    "NUMA node(s)": "numa_nodes",
}
_OF_THE_MOMENT = {"On-line CPU(s) list": "cpus_online", "Off-line CPU(s) list": "cpus_offline"}
_VULNERABILITY = "Vulnerability "
_NOT_AFFECTED = "Not affected"


def recognise(head: bytes) -> bool:
    return _TEXT_IN_HEAD.match(head) is not None or _JSON_IN_HEAD.match(head) is not None


def parse(source: Source) -> CompanionReport:
    """Raise FormatError where the number of CPUs is missing."""
    is_json = _JSON_IN_HEAD.match(source.head) is not None
    fields, warnings = (_fields(source), list(source.warnings)) if is_json else pairs(source)
    hardware: dict[str, Fact] = {ours: fields[name] for name, ours in _TEXTS.items() if fields.get(name)}
    for name, ours in _COUNTS.items():
        if (count := whole_number(fields.get(name, ""))) is not None:
            hardware[ours] = count
    if "cpus" not in hardware:
        raise FormatError("no number of CPUs")
    if "sockets" not in hardware:
        warnings.append("no 'Socket(s):', and what comes after it; is the file complete?")
    cores, sockets = whole_number(fields.get("Core(s) per socket", "")), hardware.get("sockets")
    if cores and isinstance(sockets, int):
        hardware["cores"] = cores * sockets
    environment: dict[str, Fact] = {
        ours: fields[name] for name, ours in _OF_THE_MOMENT.items() if name in fields
    }
    environment |= {
        f"mitigation.{name.removeprefix(_VULNERABILITY)}": value
        for name, value in fields.items()
        if name.startswith(_VULNERABILITY) and value != _NOT_AFFECTED
    }
    return CompanionReport(hardware=hardware, environment=environment, warnings=tuple(warnings))


def _fields(source: Source) -> dict[str, str]:
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
