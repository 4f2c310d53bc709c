"""Columns beside a rate that say what the machine did meanwhile: ``User, System, Idle, smtx, icsw, sycl``."""

import re
from collections.abc import Iterable, Mapping, Sequence

_NAMES = {
    "cpu_user": ("user", "usr", "us"),
    "cpu_system": ("system", "sys", "sy"),
    "cpu_idle": ("idle", "id", "idl"),
    "cpu_wait": ("wait", "iowait", "wa", "wt"),
}
_TIMES = {name: metric for metric, names in _NAMES.items() for name in names}
_WHOLE, _ROUNDING = 100, 2
# What mpstat and vmstat count, of Solaris and of Linux. Of a bare number of these nobody can say whether it
# is for each second, CPU, or transaction.
_COUNTERS = frozenset(
    {
        *("minf", "mjf", "xcal", "intr", "ithr", "in", "csw", "cs", "icsw", "migr", "smtx", "srw", "syscl"),
        *("sycl", "syscalls", "interrupts"),
    }
)


def cpu_columns(numbers: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Return the metric of each column of CPU time in per cent; ``numbers`` are the columns by name.

    No column counts unless user and system time, or one of them and idle time, are there, and no row adds up
    to more than 100 %.
    """
    named = {name: metric for name in numbers if (metric := _TIMES.get(_word(name)))}
    metrics = list(named.values())
    is_certain = len({"cpu_user", "cpu_system", "cpu_idle"}.intersection(metrics)) > 1
    if not is_certain or len(set(metrics)) < len(metrics):
        return {}
    sums = [sum(row) for row in zip(*(numbers[name] for name in named), strict=True)]
    are_per_cents = max(sums) <= _WHOLE + _ROUNDING and (max(sums) > _ROUNDING)
    return named if are_per_cents else {}


def counters(names: Iterable[str]) -> set[str]:
    """Return the names of columns that an operating system counted."""
    return {name for name in names if _word(name) in _COUNTERS}


def _word(name: str) -> str:
    """Reduce ``%usr`` and ``CPU user (%)`` to the word that names the CPU time."""
    return re.sub(r"\bcpu\b|[%()_ ]+", "", name.casefold().replace("_", " "))
