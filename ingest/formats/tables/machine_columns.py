"""Columns beside a rate that say what the machine did meanwhile: ``User, System, Idle, smtx, icsw, sycl``."""

import re
from collections.abc import Mapping, Sequence

_NAMES = {
    "cpu_user": ("user", "usr", "us"),
    "cpu_system": ("system", "sys", "sy"),
    "cpu_idle": ("idle", "id", "idl"),
    "cpu_wait": ("wait", "iowait", "wa", "wt"),
}
_TIMES = {name: metric for metric, names in _NAMES.items() for name in names}
_WHOLE, _ROUNDING = 100, 2
_OF_VMSTAT = frozenset({"us", "sy"})


def cpu_columns(numbers: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Return the metric of each column of CPU time in per cent; ``numbers`` are the columns by name.

    User and system time alone may be seconds; they are per cents beside idle time, with a sign that says so,
    and as vmstat calls them. No column counts where no row can be one of per cents: where they add up to more
    than 100 %, or to shares of 1.
    """
    named = {name: metric for name in numbers if (metric := _TIMES.get(_word(name)))}
    metrics = list(named.values())
    if len(metrics) < 2 or len(set(metrics)) < len(metrics):
        return {}
    are_per_cents = "cpu_idle" in metrics or all("%" in name for name in named)
    if not are_per_cents and not {_word(name) for name in named} >= _OF_VMSTAT:
        return {}
    sums = [sum(row) for row in zip(*(numbers[name] for name in named), strict=True)]
    return named if sums and _ROUNDING < max(sums) <= _WHOLE + _ROUNDING else {}


def names_cpu_time(name: str) -> bool:
    return _word(name) in _TIMES


def _word(name: str) -> str:
    """Reduce ``%usr`` and ``CPU user (%)`` to the word that names the CPU time."""
    return re.sub(r"\bcpu\b|[%()_ ]+", "", name.casefold().replace("_", " "))
