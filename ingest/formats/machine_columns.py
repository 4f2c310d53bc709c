"""Columns beside a rate that say what the machine did meanwhile: ``User, System, Idle, smtx, icsw, sycl``."""

import re
from collections.abc import Iterable, Mapping, Sequence

_TIMES = {
    "user": "cpu_user",
    "usr": "cpu_user",
    "us": "cpu_user",
    "system": "cpu_system",
    "sys": "cpu_system",
    "sy": "cpu_system",
    "idle": "cpu_idle",
    "id": "cpu_idle",
    "idl": "cpu_idle",
    "wait": "cpu_wait",
    "iowait": "cpu_wait",
    "wa": "cpu_wait",
    "wt": "cpu_wait",
}
_WHOLE, _ROUNDING = 100, 2
# What mpstat and vmstat count, of Solaris and of Linux. Of a bare number of these nobody can say whether it
# is for each second, CPU, or transaction.
_COUNTERS = frozenset(
    {
        "minf",
        "mjf",
        "xcal",
        "intr",
        "ithr",
        "in",
        "csw",
        "cs",
        "icsw",
        "migr",
        "smtx",
        "srw",
        "syscl",
        "sycl",
        "syscalls",
        "interrupts",
    }
)


def cpu_columns(numbers: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """The metric of each column that holds per cents of CPU time; ``numbers`` are the columns by their names.

    None do unless user and system time, or one of them and idle time, are there, and no row of them makes
    more than a whole.
    """
    named = {name: metric for name in numbers if (metric := _TIMES.get(_word(name)))}
    metrics = list(named.values())
    is_told = len({"cpu_user", "cpu_system", "cpu_idle"}.intersection(metrics)) > 1
    if not is_told or len(set(metrics)) < len(metrics):
        return {}
    sums = [sum(row) for row in zip(*(numbers[name] for name in named), strict=True)]
    are_per_cents = max(sums) <= _WHOLE + _ROUNDING and (max(sums) > _ROUNDING)
    return named if are_per_cents else {}


def counters(names: Iterable[str]) -> set[str]:
    """The names of columns that an operating system counted."""
    return {name for name in names if _word(name) in _COUNTERS}


def _word(name: str) -> str:
    """``User``, ``%usr``, ``CPU user (%)`` without what only says that it is CPU time in per cent."""
    return re.sub(r"\bcpu\b|[%()_ ]+", "", name.casefold().replace("_", " "))
