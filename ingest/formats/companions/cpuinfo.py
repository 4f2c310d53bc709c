"""``/proc/cpuinfo``: a paragraph for each CPU that is online."""

import re
from collections.abc import Iterator, Sequence

from ingest.formats.companions.facts import FactFile, Fields, pairs_in, whole_lines, whole_number
from ingest.formats.source import Source

_IN_HEAD = re.compile(
    rb"\A\s*processor[ \t]*:[ \t]*[0-9]{1,6}\r?\n(?:vendor_id|model name|BogoMIPS|cpu|hart|cpu family)[ \t]*:"
)


def _fields(source: Source) -> tuple[Fields, list[str]]:
    """Return the fields of the first CPU, and how many there are.

    Their number stays open where they do not make up their sockets: the file may be cut.
    """
    lines, warnings = whole_lines(source)
    processors = list(_processors(lines))
    if not processors:
        return {}, warnings
    if lines[-1].strip():
        warnings.append(f"no empty line after line {len(lines)}: the file may be cut off within a processor")
    elif warning := _what_is_missing(processors):
        warnings.append(warning)
    else:
        return processors[0] | _counts(processors), warnings
    return processors[0], warnings


def _processors(lines: Sequence[str]) -> Iterator[Fields]:
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            if "processor" in (fields := pairs_in(paragraph)):
                yield fields
            paragraph = []


def _what_is_missing(processors: Sequence[Fields]) -> str:
    last_keys, first_keys = processors[-1].keys(), processors[0].keys()
    if not first_keys <= last_keys:
        return f"the last of {len(processors)} processors is not complete: the file may be cut off"
    siblings = whole_number(processors[0].get("siblings", ""))
    if not siblings:
        return ""
    sockets = {one.get("physical id") for one in processors}
    if len(processors) == siblings * len(sockets):
        return ""
    return (
        f"{len(processors)} processors are listed, not {siblings} in each of {len(sockets)} sockets: "
        "the file is cut off, or CPUs are offline"
    )


def _counts(processors: Sequence[Fields]) -> Fields:
    counts = {"cpus": len(processors)}
    if all("physical id" in one and "core id" in one for one in processors):
        cores = {(one["physical id"], one["core id"]) for one in processors}
        counts |= {"sockets": len({socket for socket, _ in cores}), "cores": len(cores)}
        if len(processors) % len(cores) == 0:
            counts["threads_per_core"] = len(processors) // len(cores)
    return {name: str(count) for name, count in counts.items()}


FORMAT = FactFile(
    recognised_by=_IN_HEAD.match,
    fields=_fields,
    hardware={
        "model name": "cpu_model",
        "vendor_id": "cpu_vendor",
        **{name: f"{name}:count" for name in ("cpus", "sockets", "cores", "threads_per_core")},
    },
    environment={"microcode": "microcode"},
)
