"""How often a rest of a loss is told after a step back, of losses that left nothing and of those that did.

    python -m benchmarks.remainders [HISTORIES]

A history is 12 series over 20 nights before a loss and 20 after the step back, whose rest is looked at night
by night from the third one on. Series scatter by 2 %, and all of them share a mood of each night.
"""

import sys
from collections.abc import Iterator

import numpy as np

from benchdash.regressions.detection.noise import Bools, Floats
from benchdash.regressions.detection.remainders import MIN_AFTER, remainder_of

_SEED = 20261127
_HISTORIES = 1000
_SERIES, _BEFORE, _AFTER = 12, 20, 20
_NOISE = 0.02
_EARLY = 6
_MOODS = {
    "no mood": (0.0, 0.0),
    "mood of 1.5 %": (0.015, 0.0),
    "mood of 1.5 %, correlation 0.5": (0.015, 0.5),
}
_LEFT = (0.0, -0.01, -0.02, -0.026, -0.037)


def rows(histories: int) -> Iterator[str]:
    looks = f"told by night {_EARLY} | told by night {_AFTER} | at night {_AFTER} | changes of opinion"
    yield f"| {_SERIES} series | left | {looks} |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, (mood, correlation) in _MOODS.items():
        for left in _LEFT:
            rng = np.random.default_rng(_SEED)
            told = np.array([_looks(rng, left, mood, correlation) for _ in range(histories)])
            early, late = told[:, : _EARLY - MIN_AFTER + 1].any(axis=1), told.any(axis=1)
            figures = f"{early.mean():.1%} | {late.mean():.1%} | {told[:, -1].mean():.1%}"
            changes = (told[:, 1:] != told[:, :-1]).sum(axis=1).mean()
            yield f"| {name} | {left:.1%} | {figures} | {changes:.2f} |"


def _looks(rng: np.random.Generator, left: float, mood: float, correlation: float) -> Bools:
    """Return for each look whether a rest is told, as the life of an incident keeps it."""
    nights = _BEFORE + _AFTER
    logs = rng.normal(0, _NOISE, (_SERIES, nights)) + _moods(rng, nights, mood, correlation)
    logs[:, _BEFORE:] += np.log1p(left)
    told = False
    looks = []
    for end in range(_BEFORE + MIN_AFTER, nights + 1):
        found = remainder_of(logs[:, :end], _BEFORE, np.ones(_SERIES, dtype=bool))
        told = found is not None and found.is_certain(was_told=told)
        looks.append(told)
    return np.array(looks)


def _moods(rng: np.random.Generator, nights: int, sd: float, correlation: float) -> Floats:
    moods = rng.normal(0, sd, nights)
    for at in range(1, nights):
        moods[at] = correlation * moods[at - 1] + np.sqrt(1 - correlation**2) * moods[at]
    return moods


def main() -> None:
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else _HISTORIES):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
