"""Columns beside a rate that say what the machine did meanwhile: ``User, System, Idle, smtx, icsw, sycl``."""

import re
from collections.abc import Collection, Sequence

from ingest.formats.tables.other_languages import in_english

_NAMES = {
    "cpu_user": ("user", "usr", "us"),
    "cpu_system": ("system", "sys", "sy"),
    "cpu_idle": ("idle", "id", "idl"),
    "cpu_wait": ("wait", "iowait", "wa", "wt"),
}
_TIMES = {name: metric for metric, names in _NAMES.items() for name in names}
_WHOLE, _ROUNDING = 100, 2
_OF_VMSTAT = frozenset({"us", "sy"})


def cpu_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the metric of each column of CPU time in per cent.

    User and system time alone may be seconds; they are per cents beside idle time, with a sign that says so,
    and as vmstat calls them.
    """
    named = {name: metric for name in names if (metric := _TIMES.get(_word(name)))}
    metrics = list(named.values())
    if len(metrics) < 2 or len(set(metrics)) < len(metrics):
        return {}
    are_per_cents = "cpu_idle" in metrics or all("%" in in_english(name) for name in named)
    return named if are_per_cents or {_word(name) for name in named} >= _OF_VMSTAT else {}


def may_be_per_cents(shares: Sequence[float], metrics: Collection[str]) -> bool:
    """Return whether figures of one line may be per cents: at most 100, and with idle time no shares of 1."""
    least = _ROUNDING if "cpu_idle" in metrics else -1
    return not shares or least < sum(shares) <= _WHOLE + _ROUNDING


def names_cpu_time(name: str) -> bool:
    return _word(name) in _TIMES


def _word(name: str) -> str:
    """Reduce ``%usr`` and ``CPU user (%)`` to the word that names the CPU time."""
    return re.sub(r"\bcpu\b|[%()_ ]+", "", in_english(name).casefold().replace("_", " "))
