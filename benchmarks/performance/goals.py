"""What the suite is held to, as numbers, and whether a row of figures reaches it.

Milliseconds are those of a quiet machine, on which a bare view takes BARE_CPU_MS of CPU time and answers
within BARE_MS: where it takes longer in a run, each goal is longer by the same factor.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BARE_CPU_MS = 1.0
BARE_MS = 1.3
MOST_GROWTH = 1.5
WEB_MB, WORKER_MB = 150, 250
BYTES_PER_MEASUREMENT = 200


@dataclass(frozen=True, slots=True)
class Goal:
    """At most so much; None: no matter. ``to_limit`` is times what the bare thing beside it takes.

    For uploads, ``per_reading``, ``with_analysis`` and ``analysis`` are ms of CPU time for each reading, and
    ``seen_s`` is until an upload was looked at.
    """

    name: str
    cpu: float | None = None
    p95: float | None = None
    kilobytes: float | None = None
    packed_kilobytes: float | None = None
    to_limit: float | None = None
    per_reading: float | None = None
    with_analysis: float | None = None
    analysis: float | None = None
    seen_s: float | None = None


NONE = Goal("")
P1 = Goal("P1, P9", per_reading=0.05, with_analysis=0.15, analysis=0.2, seen_s=5)
P2 = Goal("P2, P9", per_reading=0.1, with_analysis=0.25, analysis=0.2, seen_s=5)
P3 = Goal("P3, P9", cpu=4, p95=10, analysis=0.2, seen_s=5)
P4 = Goal("P4", cpu=4, p95=6, to_limit=2)
P5 = Goal("P5", cpu=15, kilobytes=100, packed_kilobytes=35)
P7 = Goal("P7", cpu=12, p95=50)
P8 = Goal("P8", cpu=80, p95=150)
P11 = Goal("P11", to_limit=2)

_CPU = ("cpu", "per_reading", "with_analysis", "analysis")
_WORDS = {
    "cpu": "CPU",
    "p95": "p95",
    "kilobytes": "kB",
    "packed_kilobytes": "kB packed",
    "to_limit": "to the limit",
    "per_reading": "the request",
    "with_analysis": "with analysis",
    "analysis": "analysis",
    "seen_s": "seconds",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """How much longer than on a quiet machine the bare view took: CPU time, and time."""

    cpu: float
    time: float

    @classmethod
    def of(cls, bare: Mapping[str, Any]) -> "Machine":
        return cls(cpu=max(1.0, bare["cpu"] / BARE_CPU_MS), time=max(1.0, bare["p50"] / BARE_MS))


def verdict(goal: Goal, row: Mapping[str, float], machine: Machine, *, growth: float) -> str:
    """``met``, or by what factor which of its figures is over the goal; empty where nothing is asked."""
    shares = dict(_shares(goal, row, machine))
    shares["growth"] = growth / MOST_GROWTH
    missed = [f"{what} {share:.2f} x" for what, share in shares.items() if share > 1]
    return f"missed: {', '.join(missed)}" if missed else "met"


def _shares(goal: Goal, row: Mapping[str, float], machine: Machine) -> Iterator[tuple[str, float]]:
    """Each figure divided by its goal."""
    for figure, words in _WORDS.items():
        most = getattr(goal, figure)
        if most is not None:
            longer = machine.cpu if figure in _CPU else machine.time if figure in ("p95", "seen_s") else 1
            yield words, row[figure] / (most * longer)
