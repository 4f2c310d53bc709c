"""Compile the detector ahead of its first use: ``python -m benchdash.regressions.detection``.

Numba keeps what it compiled beside the modules. Otherwise the first analysis waits half a minute for it.
"""

from collections.abc import Sequence

from benchdash.regressions.detection.drift import find_drift
from benchdash.regressions.detection.joint import Key, find_joint_shifts
from benchdash.regressions.detection.shifts import Values, find_shifts
from benchdash.results.readings import Direction

NOISE = [at * 7 % 5 for at in range(120)]
STEP = [100 - (at > 30) * 20 + noise for at, noise in enumerate(NOISE[:60])]
FALL = [100 - at / 4 + noise for at, noise in enumerate(NOISE)]


def compile_for(values: Sequence[float]) -> None:
    table: dict[Key, Values] = {(workload, "tps"): values for workload in ("read", "write")}
    directions: dict[Key, Direction] = dict.fromkeys(table, "higher")
    find_shifts(values)
    find_joint_shifts(table, directions)
    find_drift(table, directions, steps=(), machine={}, controls={})


if __name__ == "__main__":
    compile_for(STEP)
    compile_for(FALL)
