"""The comments that JMH prints before each benchmark: mode, threads, parameters, options, the JVM."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ingest.formats.jmh.results import mode_of
from ingest.formats.outputs import MAX_THREADS

_OLD_VERSION = re.compile(r"# JMH ([0-9]\S*) \(.*")
_PHASE = re.compile(r"([0-9]{1,9}) iterations, (\S.*?) each(?:, ([0-9]{1,9}) calls per op)?")
_PARAMETER = re.compile(r"(?:^\(|, )([\w$]+) = ")
_THREADS = re.compile(r"([0-9]{1,9}) thread")


def header_of(comments: Sequence[str]) -> dict[str, Any]:
    """Return the settings that JMH prints before a benchmark runs, named as in its JSON."""
    fields = dict(map(_key_and_value, comments))
    threads = _THREADS.match(fields.get("Threads", ""))
    jdk_version, vm_name, vm_version = _virtual_machine(fields.get("VM version", ""))
    arguments = fields.get("VM options", "<none>")
    settings = {
        "mode": mode_of(fields.get("Benchmark mode", "").partition(",")[0]),
        "threads": int(threads[1]) if threads and 0 < int(threads[1]) <= MAX_THREADS else None,
        "jmhVersion": fields.get("JMH version"),
        "jdkVersion": jdk_version,
        "vmName": vm_name,
        "vmVersion": vm_version,
        "jvm": fields.get("VM invoker"),
        "jvmArgs": [arguments] if arguments != "<none>" else None,
        "blackholeMode": fields.get("Blackhole mode", "").partition(" (")[0],
    }
    for phase in ("warmup", "measurement"):
        printed = fields.get(phase.capitalize(), "")
        if match := _PHASE.fullmatch(printed):
            settings |= {
                f"{phase}Iterations": int(match[1]),
                f"{phase}Time": match[2],
                f"{phase}BatchSize": int(match[3] or 1),
            }
        elif printed == "<none>":
            settings[f"{phase}Iterations"] = 0
    return {name: value for name, value in settings.items() if value not in (None, "")}


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


def _virtual_machine(text: str) -> tuple[str, str, str]:
    """Split ``JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6`` into JDK version, name and version.

    Old JMH prints ``JDK 1.8.0_66, VM 25.66-b17``.
    """
    jdk, _, machine = text.removeprefix("JDK ").partition(", ")
    name, _, version = machine.rpartition(", ")
    return jdk, name, version if name else version.removeprefix("VM ")


def parameters_of(comments: Sequence[str], names: Collection[str]) -> Mapping[str, str]:
    """Return the parameters of ``# Parameters: (batchSize = 10, protocol = text)``.

    A value may look like one more parameter, so those that the head of the table names are the ones. It does
    not name those of a benchmark that failed.
    """
    text = dict(map(_key_and_value, comments)).get("Parameters", "")
    found = list(_PARAMETER.finditer(text))
    named = [start for start in found if start[1] in names]
    starts = named if named and named[0] is found[0] else found
    ends = [start.start() for start in starts[1:]] + [len(text) - text.endswith(")")]
    return {start[1]: text[start.end() : end] for start, end in zip(starts, ends, strict=False)}
