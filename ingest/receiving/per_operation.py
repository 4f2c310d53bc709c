"""The cost of one operation to the machine: the means of a run, divided by its throughput."""

from collections.abc import Mapping, Sequence
from typing import Final

from benchdash.results.metrics import operations_per_s
from benchdash.results.readings import Reading, reading
from benchdash.results.records import Fact

_KB_PER_MB: Final = 1024


def per_operation(
    readings: Sequence[Reading],
    *,
    cpus: int | None,
    seconds: float | None = None,
    facts: Mapping[str, Fact] | None = None,
) -> list[Reading]:
    """Return the metrics per operation that follow from these readings and are not among them.

    ``cpu_per_op`` = (``cpu_user`` + ``cpu_system``) / 100 x ``cpus`` x 1,000,000 / throughput, in µs;
    ``cs_per_op`` = ``context_switches_per_s`` / throughput;
    ``read_kb_per_op`` and ``write_kb_per_op`` = ``read_mb_per_s`` and ``write_mb_per_s`` x 1024 / throughput.
    ``server_cpu_per_op`` and ``client_cpu_per_op`` = CPU seconds of the run, the facts ``server_cpu_s`` and
    ``client_cpu_s`` or ``contention.server_cpu_s``, x 1,000,000 / (``seconds`` x throughput), in µs.
    Throughput is ``qps``, else ``tps``, else ``events_per_s`` or ``ops_per_s``. Without it there is none of
    them, and without ``cpus`` no ``cpu_per_op``.
    """
    values = {one.metric: one.value for one in readings}
    throughput = operations_per_s(values)
    if throughput <= 0:
        return []
    rates = _rates(values, cpus) | _cpu_rates(facts or {}, seconds)
    found = {metric: rate / throughput for metric, rate in rates.items()}
    return [reading(metric, value) for metric, value in found.items() if metric not in values]


def cpus_in(facts: Mapping[str, Fact]) -> int | None:
    """Return the CPUs of a machine by its facts: ``cpus``, else its cores with their threads."""
    cpus = _count(facts, "cpus")
    cores = _count(facts, "cores")
    return cpus or (cores * (_count(facts, "threads_per_core") or 1) if cores else None)


def _rates(values: Mapping[str, float], cpus: int | None) -> dict[str, float]:
    """Return what the machine did per second, in the units of the metrics per operation."""
    rates = {}
    if cpus and "cpu_user" in values and "cpu_system" in values:
        rates["cpu_per_op"] = (values["cpu_user"] + values["cpu_system"]) / 100 * cpus * 1_000_000
    if "context_switches_per_s" in values:
        rates["cs_per_op"] = values["context_switches_per_s"]
    if "read_mb_per_s" in values:
        rates["read_kb_per_op"] = values["read_mb_per_s"] * _KB_PER_MB
    if "write_mb_per_s" in values:
        rates["write_kb_per_op"] = values["write_mb_per_s"] * _KB_PER_MB
    return rates


def _cpu_rates(facts: Mapping[str, Fact], seconds: float | None) -> dict[str, float]:
    """Return the CPU time per second, in µs, of both sides of a run that took so many seconds."""
    rates: dict[str, float] = {}
    if not seconds:
        return rates
    for side in ("server", "client"):
        used = facts.get(f"{side}_cpu_s", facts.get(f"contention.{side}_cpu_s"))
        if isinstance(used, int | float) and not isinstance(used, bool) and used > 0:
            rates[f"{side}_cpu_per_op"] = used / seconds * 1_000_000
    return rates


def _count(facts: Mapping[str, Fact], name: str) -> int | None:
    value = facts.get(name)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count else None  # type: ignore[return-value] # an int, by the line above
