"""How often a drift is told, and steps beside it: ``python -m benchmarks.drifts [DRAWS]``.

Histories of a place are looked at night by night, as the product does with what it stores. Each series has
2 % noise of its own and shares 1.5 % with the others of its night; both are correlated from night to night.
"""

import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from benchdash.regressions.detection.drift import Drift
from benchdash.regressions.detection.growing_tables import newest_look
from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.noise import Floats
from benchdash.results.readings import Direction

_SEED: Final = 20261127
_NOISE: Final = 0.02
_MOOD: Final = 0.015
_CORRELATION: Final = 0.3
_FLAT: Final = 40
_FIRST_LOOK: Final = 30


def place(
    rng: np.random.Generator, series: int, nights: int, a_night: float = 0.0, step: float = 0.0
) -> Floats:
    """Return series x nights: level for 40 nights, and then a drift or a step of a third of the series."""
    length = _FLAT + nights
    logs = _correlated(rng, series, length, _NOISE) + _correlated(rng, 1, length, _MOOD)
    logs += a_night * np.clip(np.arange(length) - _FLAT + 1, 0, None)
    logs[: max(series // 3, 1), _FLAT:] += np.log1p(step)
    return 1000 * np.exp(logs)


def _correlated(rng: np.random.Generator, series: int, length: int, sd: float) -> Floats:
    logs = rng.normal(size=(series, length))
    for at in range(1, length):
        logs[:, at] = _CORRELATION * logs[:, at - 1] + np.sqrt(1 - _CORRELATION**2) * logs[:, at]
    return sd * logs


def follow(values: Floats) -> tuple[Sequence[Drift], set[int], list[int]]:
    """Look night by night; return the drifts, the steps ever confirmed, and those that are at last."""
    keys: list[Key] = [(at, "tps") for at in range(len(values))]
    directions: dict[Key, Direction] = dict.fromkeys(keys, "higher")
    drifts: list[Drift] = []
    known: list[int] = []
    ever: set[int] = set()
    for end in range(_FIRST_LOOK, values.shape[1] + 1):
        table = {key: row[:end] for key, row in zip(keys, values, strict=True)}
        first_new = 0 if end == _FIRST_LOOK else end
        shifts, drift = newest_look(table, directions, first_new=first_new, known=known, drifts=drifts)
        known = [one.index for one in shifts if one.state == "confirmed"]
        ever.update(known)
        if drift:
            goes_on = bool(drifts) and drift.first <= drifts[-1].last
            drifts = [*(drifts[:-1] if goes_on else drifts), drift]
    return drifts, ever, known


def row(name: str, draws: int, series: int, nights: int, a_night: float = 0.0, step: float = 0.0) -> str:
    found = several = ever = at_last = 0
    losses = []
    for draw in range(draws):
        rng = np.random.default_rng((_SEED, draw, series, nights))
        drifts, told, known = follow(place(rng, series, nights, a_night, step))
        found, several = found + bool(drifts), several + (len(drifts) > 1)
        ever, at_last = ever + bool(told), at_last + bool(known)
        if drifts:
            losses.append(1 - float(np.exp(np.median(list(drifts[-1].changes.values())))))
    loss = f"{np.median(losses):.1%}" if losses else ""
    shares = " | ".join(f"{one / draws:.0%}" for one in (found, several, ever, at_last))
    return f"| {name} | {series} | {shares} | {loss} |\n"


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    sys.stdout.write("| | series | drift | two drifts | a step on the way | a step at last | loss told |\n")
    sys.stdout.write("|---|---:|---:|---:|---:|---:|---:|\n")
    for series in (6, 24):
        for nights in (30, 40, 60):
            for a_night in (-0.0015, -0.0025, -0.004):
                name = f"{a_night:.2%} a night for {nights} nights, {-nights * a_night:.1%}"
                sys.stdout.write(row(name, draws, series, nights, a_night))
                sys.stdout.flush()
        sys.stdout.write(row("nothing changes for 60 nights", 2 * draws, series, 60))
        for step in (-0.05, -0.10):
            sys.stdout.write(row(f"a step of {step:.0%} of a third", draws, series, 40, step=step))


if __name__ == "__main__":
    main()
