"""What it buys to measure base and test in turns, on the nights of a noisy machine: verdicts of a gate.

Two servers of the same version and settings ran every
workload twice each night, in turns, beside a neighbour that takes a core in a quarter of the runs. One is the
base; the other is the test, its figures made slower by a known loss. A gate fails where a row is worse. The
nights of both are drawn either together, or apart as if each had been measured in sessions of its own.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchdash.regressions.comparison.rows import compared_rows
from benchdash.regressions.detection.noise import Floats
from benchmarks.unchanged import RATE, Place, columns, number_in

_LOSSES: Final = (0.0, 0.1, 0.2, 0.3)
_SESSIONS: Final = (2, 3, 5, 8)
_SEED: Final = 20261124


def sides(folder: Path) -> tuple[Place, Place]:
    """Return the control as the base and the tested server, on the nights when both had the same settings.

    What the two servers differ by in the median of all nights is taken out.
    """
    truth = json.loads((folder / "truth.json").read_text())
    switches = {one["night"]: one["state"] for one in truth["switches"]}
    state, nights = "base", []
    for night in range(truth["nights"]):
        state = switches.get(night, state)
        nights += [night] if state == "base" else []
    base, test = (_values(folder, truth["workloads"], nights, role) for role in ("control", "test"))
    test *= np.median(base / test, axis=(1, 2), keepdims=True)
    return Place("base", base, ["base"] * len(nights)), Place("test", test, ["base"] * len(nights))


def _values(folder: Path, workloads: Sequence[str], nights: Sequence[int], role: str) -> Floats:
    return np.array(
        [
            [
                [number_in(folder / f"{night:03}" / f"{name}.{role}.{run}.txt", RATE) for run in (1, 2)]
                for night in nights
            ]
            for name in workloads
        ]
    )


def failing(base: Place, test: Place, *, loss: float, sessions: int, together: bool, draws: int) -> float:
    """Return the share of gates that fail."""
    rng = np.random.default_rng(_SEED)
    slower = Place(test.name, test.values * (1 - loss), test.states)
    failed = 0
    for _ in range(draws):
        nights = rng.choice(len(base.states), 2 * sessions, replace=False).tolist()
        others = nights[:sessions] if together else nights[sessions:]
        rows = compared_rows(columns(base, nights[:sessions]), [columns(slower, others, later=not together)])
        failed += any(one.verdict == "worse" for row in rows for one in row.comparisons if one)
    return failed / draws


def report(shared: Path, draws: int) -> Iterator[str]:
    base, test = sides(shared / "control")
    yield f"\nGates that fail, of {draws}, with sessions drawn from {len(base.states)} measured nights:\n"
    yield "| sessions of each | measured | " + " | ".join(f"loss {loss:.0%}" for loss in _LOSSES) + " |"
    yield "|---:|---|" + "---:|" * len(_LOSSES)
    for sessions in _SESSIONS:
        for together in (False, True):
            shares = [
                failing(base, test, loss=loss, sessions=sessions, together=together, draws=draws)
                for loss in _LOSSES
            ]
            how = "in turns, in the same sessions" if together else "each in sessions of its own"
            yield f"| {sessions} | {how} | {' | '.join(f'{share:.0%}' for share in shares)} |"
