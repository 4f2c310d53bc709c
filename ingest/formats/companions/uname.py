"""``uname -a``: one line. The name of the host is dropped."""

import re

from ingest.formats.companions.sampling import whole_lines
from ingest.formats.report import CompanionReport, Fact, FormatError
from ingest.formats.source import Source

_LINE = re.compile(
    r"(?P<system>Linux|Darwin|FreeBSD|NetBSD|OpenBSD|DragonFly|SunOS|AIX) \S{1,255}"
    r" (?P<release>[0-9][\w.+~:-]{0,99}) (?P<rest>\S.{0,500})"
)
_MACHINES = r"x86_64|amd64|i[3-6]86|aarch64|arm64|armv\w+|ppc64(?:le)?|s390x|riscv64"
_BUILD = re.compile(rf"#[0-9].*?(?= (?:{_MACHINES})\b|$)")
_MACHINE = re.compile(rf" ({_MACHINES})(?= |$)")


def recognise(head: bytes) -> bool:
    lines = [line.strip() for line in head.decode(errors="replace").splitlines() if line.strip()]
    return len(lines) == 1 and _LINE.fullmatch(lines[0]) is not None


def parse(source: Source) -> CompanionReport:
    """Raise FormatError for any other line. A last line without an end is read: it is often echoed so."""
    lines, warnings = whole_lines(source)
    line = next((line.strip() for line in lines or source.lines if line.strip()), "")
    found = _LINE.fullmatch(line)
    if found is None:
        raise FormatError("not a line of uname -a", line=1)
    environment: dict[str, Fact] = {"kernel": found["release"]}
    if build := _BUILD.search(found["rest"]):
        environment["kernel_build"] = build[0]
    machine = _MACHINE.search(f" {found['rest']}")
    hardware: dict[str, Fact] = {"arch": machine[1]} if machine else {}
    if found["system"] != "Linux":
        environment["os"] = f"{found['system']} {found['release']}"
    return CompanionReport(hardware=hardware, environment=environment, warnings=tuple(warnings))
