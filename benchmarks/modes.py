"""How often the visits of a workload to its second level are told as steps, and how late a true step is told.

    python -m benchmarks.modes [HISTORIES]

A place has 12 series, of which one goes to a lower level and back, again and again. It is looked at night by
night, as it grows. A step is told where it is confirmed; one within five nights of a step told before, in the
same direction, is the same. "Before" is the search without what it knows of two levels.
"""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from benchdash.regressions.detection import modes
from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.noise import Floats

_SEED = 20261127
_HISTORIES = 10
_PLAIN_OF_ONE = 500
_SERIES, _NIGHTS = 12, 180
_FIRST, _LEARNT = 20, 90
_SAME_WITHIN = 5
_STEP, _STEP_AT = -0.10, 150


class Kind(NamedTuple):
    """The noise of a series and the mood of a night, and a second level with the nights of a mean stay."""

    noise: float
    mood: float
    low: float
    stay: int


KINDS = [
    Kind(noise, mood, low, stay)
    for stay, mood in ((4, 0.0), (8, 0.0), (8, 0.015))
    for noise in (0.02, 0.01)
    for low in (-0.05, -0.10)
]
PLAIN = [
    (correlation, steps, outliers)
    for correlation in (0.3, 0.6)
    for steps in (0, 1, 2)
    for outliers in (0.0, 0.05)
]


def history(rng: np.random.Generator, kind: Kind, *, step: float = 0.0) -> Floats:
    """Return series x nights, of which the first series has two levels, and a true step."""
    logs = rng.normal(0, kind.noise, (_SERIES, _NIGHTS)) + rng.normal(0, kind.mood, _NIGHTS)
    logs[0] += np.log1p(kind.low) * (np.cumsum(rng.random(_NIGHTS) < 1 / kind.stay) % 2)
    logs[0, _STEP_AT:] += np.log1p(step)
    return np.asarray(1000 * np.exp(logs))


def plain(rng: np.random.Generator, *, correlation: float, steps: int, outliers: float) -> Floats:
    """Return the logs of a series of one level at a time, in units of its noise."""
    x = rng.normal(0, 1, _NIGHTS)
    for at in range(1, _NIGHTS):
        x[at] = correlation * x[at - 1] + np.sqrt(1 - correlation**2) * x[at]
    for at in rng.integers(10, _NIGHTS - 5, steps):
        x[at:] += rng.choice([-5, 5])
    slow = rng.random(_NIGHTS) < outliers
    x[slow] -= rng.uniform(2, 10, slow.sum())
    return x


def told(values: Floats, first: int = _FIRST) -> list[tuple[int, int]]:
    """Return the nights at which a step was told first, with the night at which it begins."""
    table = {(number, "tps"): row for number, row in enumerate(values)}
    directions = dict.fromkeys(table, "higher")
    found: list[tuple[int, int, bool]] = []
    looks = joint_looks(table, directions, first_new=first)  # type: ignore[arg-type]
    for night, shifts in enumerate(looks, first + 1):
        for shift in shifts:
            known = any(
                shift.worse == worse and abs(shift.index - at) <= _SAME_WITHIN for _, at, worse in found
            )
            if shift.state == "confirmed" and not known:
                found.append((night, shift.index, shift.worse))
    return [(night, at) for night, at, _ in found]


def _of(kind: Kind, histories: int) -> tuple[float, float, list[float]]:
    """Return the false steps per 1000 nights, early and later, and the nights until a true one was told."""
    rng = np.random.default_rng(_SEED)
    nights = [night for _ in range(histories) for night, _ in told(history(rng, kind))]
    early = sum(night <= _LEARNT for night in nights)
    rng = np.random.default_rng(_SEED)
    delays = []
    for _ in range(histories):
        found = [night for night, at in told(history(rng, kind, step=_STEP)) if at >= _STEP_AT - 2]
        delays.append(min(found, default=np.inf) - _STEP_AT)
    later = 1000 * (len(nights) - early) / histories / (_NIGHTS - _LEARNT)
    return 1000 * early / histories / (_LEARNT - _FIRST), later, delays


def rows(histories: int) -> Iterator[str]:
    without = f"false steps per 1000 nights, by night {_LEARNT} / later"
    step = f"step of {_STEP:.0%}, told within ten nights, median"
    yield f"| noise | mood | second level | stay | before: {without} | now | before: {step} | now |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    for kind in KINDS:
        figures = []
        for is_before in (True, False):
            with patch.object(modes, "without_modes", np.copy) if is_before else nullcontext():
                figures.append(_of(kind, histories))
        rates = " | ".join(f"{early:.1f} / {later:.1f}" for early, later, _ in figures)
        delays = " | ".join(f"{np.mean(np.array(of) <= 10):.0%}, {np.median(of):g}" for *_, of in figures)
        yield f"| {kind.noise:.0%} | {kind.mood:.1%} | {kind.low:.0%} | {kind.stay} | {rates} | {delays} |"
    yield ""
    yield "| series of one level at a time | called bimodal, of 1000 |"
    yield "|---|---:|"
    for correlation, steps, outliers in PLAIN:
        rng = np.random.default_rng(_SEED)
        histories_of_one = _PLAIN_OF_ONE * histories
        drawn = (
            plain(rng, correlation=correlation, steps=steps, outliers=outliers)
            for _ in range(histories_of_one)
        )
        called = sum(bool(modes.offsets_of(x / 100)[0].any()) for x in drawn)
        name = f"correlation {correlation:g}, {steps} steps of 5 sd, {outliers:.0%} slow nights"
        yield f"| {name} | {1000 * called / histories_of_one:.2f} |"


def main() -> None:
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else _HISTORIES):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
