"""The comments that JMH prints before each benchmark: mode, threads, parameters, options, the JVM."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.formats.jmh.results import jvm_arguments, mode_of, phase_options
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import Fact

_OLD_VERSION = re.compile(r"# JMH ([0-9]\S*) \(.*")
_PHASE = re.compile(r"([0-9]{1,9}) iterations, (\S.*?) each(?:, ([0-9]{1,9}) calls per op)?")
_PARAMETER = re.compile(r"(?:^\(|, )([\w$]+) = ")
_THREADS = re.compile(r"([0-9]{1,9}) thread")


@dataclass(frozen=True, slots=True)
class JmhHeader:
    """The settings that JMH prints before a benchmark runs."""

    mode: str | None = None
    threads: int | None = None
    options: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)


def header_of(comments: Sequence[str]) -> JmhHeader:
    fields = dict(map(_key_and_value, comments))
    threads = _THREADS.match(fields.get("Threads", ""))
    return JmhHeader(
        mode=mode_of(fields.get("Benchmark mode", "").partition(",")[0]),
        threads=int(threads[1]) if threads and 0 < int(threads[1]) <= MAX_THREADS else None,
        options=_options(fields),
        environment=_environment(fields),
    )


def are_contradictory(comments: Sequence[str]) -> bool:
    """Return whether one thing is set in two ways, in two executions of JMH."""
    settings = set(map(_key_and_value, comments))
    return len(settings) > len(dict(settings))


def _key_and_value(line: str) -> tuple[str, str]:
    """Return key and value of ``# VM version: JDK 17``."""
    if old := _OLD_VERSION.fullmatch(line):
        return "JMH version", old[1]
    key, _, value = line.removeprefix("# ").partition(": ")
    return key, value.strip()


def _options(fields: Mapping[str, str]) -> dict[str, Fact]:
    options: dict[str, Fact] = {}
    for phase in ("warmup", "measurement"):
        printed = fields.get(phase.capitalize())
        match = _PHASE.fullmatch(printed or "")
        if match:
            options |= phase_options(
                phase, iterations=int(match[1]), time=match[2], batch_size=int(match[3] or 1)
            )
        elif printed == "<none>":
            options |= phase_options(phase, iterations=0, time=None, batch_size=None)
    return options


def _environment(fields: Mapping[str, str]) -> dict[str, Fact]:
    jdk_version, vm_name, vm_version = _virtual_machine(fields.get("VM version", ""))
    arguments = fields.get("VM options", "")
    facts = {
        "tool_version": fields.get("JMH version"),
        "jdk_version": jdk_version,
        "vm_name": vm_name,
        "vm_version": vm_version,
        "jvm": fields.get("VM invoker"),
        "jvm_args": "" if arguments == "<none>" else jvm_arguments(arguments),
        "blackhole_mode": fields.get("Blackhole mode", "").partition(" (")[0],
    }
    return {name: value for name, value in facts.items() if value}


def _virtual_machine(text: str) -> tuple[str, str, str]:
    """Split ``JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6`` into JDK version, name and version.

    Old JMH prints ``JDK 1.8.0_66, VM 25.66-b17``.
    """
    jdk, _, machine = text.removeprefix("JDK ").partition(", ")
    name, _, version = machine.rpartition(", ")
    return jdk, name, version if name else version.removeprefix("VM ")


def parameters_of(text: str, names: frozenset[str]) -> Mapping[str, str]:
    """Return the parameters of ``(batchSize = 10, protocol = text)``.

    A value may look like one more parameter, so those that the head of the table names are the ones. It does
    not name those of a benchmark that failed.
    """
    found = list(_PARAMETER.finditer(text))
    named = [start for start in found if start[1] in names]
    starts = named if named and named[0] is found[0] else found
    ends = [start.start() for start in starts[1:]] + [len(text) - text.endswith(")")]
    return {start[1]: text[start.end() : end] for start, end in zip(starts, ends, strict=False)}
