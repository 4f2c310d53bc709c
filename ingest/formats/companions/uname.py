"""``uname -a``: one line. The name of the host is dropped."""

import re

from ingest.formats.companions.facts import FactFile, Fields, whole_lines
from ingest.formats.source import Source

_LINE = re.compile(
    r"(?P<system>Linux|Darwin|FreeBSD|NetBSD|OpenBSD|DragonFly|SunOS|AIX) \S{1,255}"
    r" (?P<release>[0-9][\w.+~:-]{0,99})(?P<rest> \S.{0,500})"
)
_MACHINES = r"x86_64|amd64|i[3-6]86|aarch64|arm64|armv\w+|ppc64(?:le)?|s390x|riscv64"
_BUILD = re.compile(rf" (#[0-9].*?)(?= (?:{_MACHINES})\b|$)")
_MACHINE = re.compile(rf" ({_MACHINES})(?= |$)")


def _recognised(head: bytes) -> bool:
    lines = [line.strip() for line in head.decode(errors="replace").splitlines() if line.strip()]
    return len(lines) == 1 and _LINE.fullmatch(lines[0]) is not None


def _fields(source: Source) -> tuple[Fields, list[str]]:
    """Return the parts of the line. A last line without an end is read: it is often echoed so."""
    lines, warnings = whole_lines(source)
    line = next((line.strip() for line in lines or source.lines if line.strip()), "")
    if not (found := _LINE.fullmatch(line)):
        return {}, warnings
    fields = {"release": found["release"]}
    for name, part in (("build", _BUILD.search(found["rest"])), ("machine", _MACHINE.search(found["rest"]))):
        if part:
            fields[name] = part[1]
    if found["system"] != "Linux":
        fields["os"] = f"{found['system']} {found['release']}"
    return fields, warnings


FORMAT = FactFile(
    recognised_by=_recognised,
    fields=_fields,
    hardware={"machine": "arch"},
    environment={"release": "kernel", "build": "kernel_build", "os": "os"},
)
