"""The limits of the suite as numbers, and whether a row of figures keeps to them.

Milliseconds are those of a quiet machine, on which a bare view takes BARE_CPU_MS of CPU time and answers
within BARE_MS. Where it takes longer in a run, each limit is longer by the same factor.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BARE_CPU_MS = 1.0
BARE_MS = 1.3
MAX_WEB_MB, MAX_WORKER_MB = 200, 300
MAX_BYTES_PER_MEASUREMENT = 200


@dataclass(frozen=True, slots=True)
class Goal:
    """The most that a request may take; None is no limit.

    ``cpu`` and ``p95`` are in ms of a request, ``per_reading`` in ms of CPU time for each reading of an
    upload, and ``seen_s`` in seconds until an upload was analysed.
    """

    cpu: float | None = None
    p95: float | None = None
    per_reading: float | None = None
    seen_s: float | None = None


ANSWER = Goal(p95=600)
HISTORY = Goal(cpu=12, p95=600)
BATCH = Goal(per_reading=0.1, seen_s=10)
FILE = Goal(cpu=20, seen_s=10)

_CPU = ("cpu", "per_reading")
_WORDS = {"cpu": "CPU", "p95": "p95", "per_reading": "a reading", "seen_s": "seconds"}


@dataclass(frozen=True, slots=True)
class Machine:
    """How much longer than on a quiet machine the bare view took: CPU time, and time."""

    cpu: float
    time: float

    @classmethod
    def of(cls, bare: Mapping[str, Any]) -> "Machine":
        return cls(cpu=max(1.0, bare["cpu"] / BARE_CPU_MS), time=max(1.0, bare["p50"] / BARE_MS))


def verdict(goal: Goal, row: Mapping[str, float], machine: Machine) -> str:
    """Return ``met``, or by what factor each figure over its limit exceeds it."""
    missed = [f"{what} {share:.2f} x" for what, share in _shares(goal, row, machine) if share > 1]
    return f"missed: {', '.join(missed)}" if missed else "met"


def _shares(goal: Goal, row: Mapping[str, float], machine: Machine) -> Iterator[tuple[str, float]]:
    """Yield each figure divided by its limit."""
    for figure, words in _WORDS.items():
        limit = getattr(goal, figure)
        if limit is not None:
            yield words, row[figure] / (limit * (machine.cpu if figure in _CPU else machine.time))
