"""Words about a verdict: the source of its noise, and the runs that would settle an unknown one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, get_args

from benchdash.dashboard.shell import numbers
from benchdash.regressions.detection.compare import Comparison
from benchdash.regressions.detection.scatter import Basis

NOISE: Final[Mapping[Basis, str]] = {
    "history": "history",
    "table": "repeats in other cells",
    "runs": "repeats",
    "sessions": "sessions",
    "pairs": "shared sessions",
    "control": "sessions beside a control",
    "forks": "forks",
    "tool": "the tool's own error",
    "within session": "one session each: no test",
    "within fork": "one fork each: no test",
    "none": "not known: no test",
}
"""By the basis of a comparison, where its noise is known from."""

_UNITS: Final[Mapping[Basis, str]] = {"sessions": "session", "forks": "fork"}


def change_of(comparison: Comparison | None) -> float | None:
    """Return the relative change that a comparison found; None without a ratio."""
    return None if comparison is None or comparison.ratio is None else comparison.ratio - 1


def noise(comparison: Comparison) -> str:
    """``noise: repeats``."""
    return f"noise: {NOISE[comparison.basis]}"


def settling(comparison: Comparison) -> str:
    """``3 more runs of each would settle it``; empty where that is settled or cannot be said."""
    more = comparison.more_runs
    if comparison.verdict != "unknown" or not more:
        return ""
    unit = _UNITS.get(comparison.basis, "run")
    return f"{numbers.counted(more, f'more {unit}')} of each would settle it"


def short_verdict(comparison: Comparison) -> str:
    """``unknown, 3 more`` where there is little room; ``note`` explains it."""
    settled = comparison.verdict != "unknown" or not comparison.more_runs
    return comparison.verdict if settled else f"unknown, {numbers.count(comparison.more_runs)} more"


def note(comparisons: Iterable[Comparison], *, margin: float) -> str:
    """``Noise: repeats (5 cells), history (3 cells).``, and what ``same`` and ``3 more`` mean where said.

    ``margin`` is the relative difference that does not matter.
    """
    found = list(comparisons)
    counts = Counter(one.basis for one in found)
    if not counts:
        return ""
    shown = [basis for basis in get_args(Basis) if counts[basis]]
    listed = ", ".join(
        NOISE[basis] + (f" ({numbers.counted(counts[basis], 'cell')})" if len(shown) > 1 else "")
        for basis in shown
    )
    same = f"Same: within {round(margin * 100, 6):g}{numbers.NO_BREAK}%."
    more = "More: so many further runs of each version would settle it."
    said = [same] * any(one.verdict == "same" for one in found) + [more] * any(map(settling, found))
    return " ".join([f"Noise: {listed}.", *said])
