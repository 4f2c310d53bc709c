"""``/proc/cpuinfo``: a paragraph for each CPU that is online."""

import re
from collections.abc import Iterator, Sequence

from ingest.formats.companions.facts import facts_of, pairs_in, whole_number
from ingest.formats.companions.sampling import whole_lines
from ingest.formats.report import CompanionReport, Fact, FormatError
from ingest.formats.source import Source

_IN_HEAD = re.compile(
    rb"\A\s*processor[ \t]*:[ \t]*[0-9]{1,6}\r?\n(?:vendor_id|model name|BogoMIPS|cpu|hart|cpu family)[ \t]*:"
)


def recognise(head: bytes) -> bool:
    return _IN_HEAD.match(head) is not None


def parse(source: Source) -> CompanionReport:
    """Leave the number of CPUs open where they do not make up their sockets: the file may be cut.

    Raise FormatError where there is no CPU.
    """
    lines, warnings = whole_lines(source)
    processors = list(_processors(lines))
    if not processors:
        raise FormatError("no processor")
    hardware = facts_of(processors[0], {"model name": "cpu_model", "vendor_id": "cpu_vendor"})
    if lines[-1].strip():
        warnings.append(f"no empty line after line {len(lines)}: the file may be cut off within a processor")
    elif warning := _what_is_missing(processors):
        warnings.append(warning)
    else:
        hardware |= _counts(processors)
    environment = facts_of(processors[0], {"microcode": "microcode"})
    return CompanionReport(hardware=hardware, environment=environment, warnings=tuple(warnings))


def _processors(lines: Sequence[str]) -> Iterator[dict[str, str]]:
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            if "processor" in (fields := pairs_in(paragraph)):
                yield fields
            paragraph = []


def _what_is_missing(processors: Sequence[dict[str, str]]) -> str:
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


def _counts(processors: Sequence[dict[str, str]]) -> dict[str, Fact]:
    counts: dict[str, Fact] = {"cpus": len(processors)}
    if all("physical id" in one and "core id" in one for one in processors):
        cores = {(one["physical id"], one["core id"]) for one in processors}
        counts["sockets"] = len({socket for socket, _ in cores})
        counts["cores"] = len(cores)
        if len(processors) % len(cores) == 0:
            counts["threads_per_core"] = len(processors) // len(cores)
    return counts
