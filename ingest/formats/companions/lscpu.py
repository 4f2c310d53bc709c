"""lscpu of util-linux, in English: ``Key: value`` lines, or with ``-J`` the same as JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.formats.companions.facts import FactFile, Fields, fields_in_lines, whole_number
from ingest.formats.json_source import load
from ingest.formats.report import FormatError
from ingest.formats.source import Source

_TEXT_IN_HEAD = re.compile(rb"\A\s*Architecture:[^\n]*\n(?:[^\n:]{1,40}:[^\n]*\n){0,9}?[ \t]*CPU\(s\):[ \t]")
_JSON_IN_HEAD = re.compile(rb'\A\s*\{\s*"lscpu"\s*:\s*\[')
_NOT_AFFECTED = "Not affected"


def _fields(source: Source) -> tuple[Fields, list[str]]:
    if _JSON_IN_HEAD.match(source.head):
        fields, warnings = _fields_of_json(source), list(source.warnings)
    else:
        fields, warnings = fields_in_lines(source)
    if "Socket(s)" not in fields:
        warnings.append("no 'Socket(s):', and what comes after it; is the file complete?")
    cores, sockets = (whole_number(fields.get(name, "")) for name in ("Core(s) per socket", "Socket(s)"))
    if cores and sockets:
        fields["cores"] = str(cores * sockets)
    return {name: value for name, value in fields.items() if value != _NOT_AFFECTED}, warnings


def _fields_of_json(source: Source) -> Fields:
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


FORMAT = FactFile(
    recognised_by=lambda head: _TEXT_IN_HEAD.match(head) or _JSON_IN_HEAD.match(head),
    fields=_fields,
    hardware={
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
        "cores": "cores:count",
    },
    environment={
        "On-line CPU(s) list": "cpus_online",
        "Off-line CPU(s) list": "cpus_offline",
        "Vulnerability *": "mitigation.*",
    },
)
