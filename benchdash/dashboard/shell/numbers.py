"""How numbers, units and times are written on pages, in charts and in tables."""

import math
from datetime import datetime, timedelta
from typing import Final

from benchdash.results.readings import HIGHER, UNKNOWN
from benchdash.results.wording import (
    NO_BREAK,
    NOTHING,
    axis_title,
    change,
    count,
    counted,
    direction_words,
    metric_name,
    number,
    p_value,
    plus_minus,
    quantity,
    ratio,
    share,
    short_metric_name,
    unit_words,
)

# Re-exported from results.wording, which the API and mails use too.
__all__ = ["NOTHING", "NO_BREAK", "change", "count", "counted", "metric_name", "number", "p_value"]
__all__ += ["plus_minus", "quantity", "ratio", "share", "short_metric_name", "unit_words"]
__all__ += ["LEVELS", "ago", "axis_title", "direction_words", "exact_time", "level", "ratio_level", "sign"]

# The shares at which a change gets the next of the four levels of colour.
LEVELS: Final = (0.02, 0.05, 0.10, 0.20)


def level(change: float | None, direction: str, verdict: str = "") -> str:
    """Return the look of a change: ``worse-1`` to ``worse-4``, ``better-1`` ..., or a look without a colour.

    Those are ``likely-worse``, ``likely-better``, ``same``, ``mixed`` and ``unknown``. ``verdict`` is that of
    a comparison where there is one, or ``mixed`` of several that contradict each other: only a difference
    beyond the noise has a colour, at least the first.
    """
    if change is None or not math.isfinite(change) or verdict == "unknown":
        return "unknown"
    if verdict == "mixed" or verdict.startswith("likely_"):
        return verdict.replace("_", "-")
    size = sum(abs(change) >= limit - 1e-9 for limit in LEVELS)
    if verdict:
        return "same" if verdict == "same" else f"{verdict}-{max(size, 1)}"
    if size == 0:
        return "same"
    if direction == UNKNOWN:
        return "unknown"
    return f"{'better' if (change > 0) == (direction == HIGHER) else 'worse'}-{size}"


def sign(level: str, change: float | None) -> str:
    """Return the arrow of a change beyond the noise: up where the figure rose, whichever side is better.

    Hollow where the change is only likely, empty for what is no difference. The side has a colour, and the
    worse one a bar at its edge.
    """
    if level == "mixed":
        return "⇅"
    rose = (change or 0) > 0
    if level.startswith("likely"):
        return "△" if rose else "▽"
    return ("▲" if rose else "▼") if level.startswith(("worse", "better")) else ""


def ratio_level(ratio: float | None, direction: str, verdict: str = "") -> str:
    """Return the colour of a ratio: 0.92 has that of −8 %."""
    return level(None if ratio is None else ratio - 1, direction, verdict)


def ago(time: datetime, now: datetime) -> str:
    """``3 hours ago``; from a year on, the date."""
    passed = now - time
    if passed < timedelta(0):
        return f"in {_span(-passed)}" if -passed >= timedelta(minutes=1) else "now"
    if passed < timedelta(minutes=1):
        return "just now"
    if passed >= timedelta(days=365):
        return f"{time.day} {time:%b %Y}"
    return f"{_span(passed)} ago"


def exact_time(time: datetime) -> str:
    """``20 Nov 2026, 16:58:03 UTC``, in the zone of ``time``."""
    return f"{time.day} {time:%b %Y, %H:%M:%S} {zone_words(time)}"


def zone_words(time: datetime) -> str:
    """``UTC``, ``CET``; of a zone without letters, ``UTC-03``."""
    name = f"{time:%Z}"
    return name if name[:1].isalpha() else f"UTC{name}"


def _span(passed: timedelta) -> str:
    minutes = int(passed.total_seconds() // 60)
    for size, name in ((60 * 24 * 30, "month"), (60 * 24, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            return counted(minutes // size, name)
    return "moments"
