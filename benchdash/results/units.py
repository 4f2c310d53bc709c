"""Units of one kind in other sizes: ``us/op`` and ``ns/op``, ``GB`` and ``MB``, ``ops/ms`` and ``ops/s``."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

NANOSECONDS: Final = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"), 1000),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1000**2),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000**3),
    **dict.fromkeys(("min", "minute", "minutes"), 60 * 1000**3),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600 * 1000**3),
    "day": 86400 * 1000**3,
}
"""The words for units of time, with the nanoseconds that each is."""

_SIZES: Final = {
    **dict.fromkeys(("b", "byte", "bytes"), 1.0),
    **{f"{prefix}b": 1000.0**power for power, prefix in enumerate("kmgtp", 1)},
    **{f"{prefix}ib": 1024.0**power for power, prefix in enumerate("kmgtp", 1)},
}
_KINDS: Final[tuple[Mapping[str, float], ...]] = (NANOSECONDS, _SIZES)


@lru_cache(maxsize=1024)
def conversion(unit: str, other: str) -> float | None:
    """Return what numbers in ``unit`` are multiplied by to be in ``other``; None for units of two kinds.

    Case does not matter: ``mb`` is ``MB``. Prefixes of bytes are decimal: kB is 1000 B, and KiB is 1024 B.
    """
    if _spelt(unit) == _spelt(other):
        return 1.0
    parts, others = _spelt(unit).split("/"), _spelt(other).split("/")
    if len(parts) != len(others) or len(parts) > 2:
        return None
    factors = [_factor(one, another) for one, another in zip(parts, others, strict=True)]
    if None in factors:
        return None
    above, below = (*factors, 1.0)[:2]
    return above / below if above and below else None


def _spelt(unit: str) -> str:
    return unit.strip().replace(" ", "").casefold()


def _factor(unit: str, other: str) -> float | None:
    if unit == other:
        return 1.0
    kind = next((kind for kind in _KINDS if unit in kind and other in kind), None)
    return kind[unit] / kind[other] if kind else None
