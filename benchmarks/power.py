"""Whether a change of the size that is called findable is found: ``python -m benchmarks.power [tries]``.

Steps of the size that ``detection.power`` says for their noise are put into synthetic series, five groups
before their end, and looked at as analysis does. At least eight of ten must be confirmed, in the series that
moved; and so must those that four runs a night would find, where there are four.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.joint import Key, noise_of_series
from benchdash.regressions.detection.levels import LASTING
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.power import FOUND_WITHIN, smallest_change
from benchdash.regressions.detection.repeats import Scatter, repeat_scatter
from benchdash.results.readings import HIGHER, Direction

_SEED: Final = 20261123
_TESTS_OF_A_SERIES: Final = 4
_MORE: Final = 4
_MOVED: Final[Key] = (0, "tps")


@dataclass(frozen=True, slots=True)
class Kind:
    """Series of one place: sd of nights and of runs in logs, the correlation of nights, and their numbers."""

    between: float
    within: float
    correlation: float
    runs: int
    nights: int
    series: int

    def __str__(self) -> str:
        return (
            f"{self.series} series, {self.nights} nights, {self.runs} runs each; {self.between:.1%} from"
            f" night to night (correlation {self.correlation:g}), {self.within:.1%} from run to run"
        )


KINDS: Final = (
    Kind(0.005, 0.005, 0.0, 1, 20, 1),
    Kind(0.005, 0.005, 0.3, 1, 60, 1),
    Kind(0.02, 0.01, 0.0, 1, 60, 12),
    Kind(0.02, 0.01, 0.3, 2, 60, 12),
    Kind(0.01, 0.03, 0.0, 2, 60, 6),
    Kind(0.01, 0.03, 0.3, 4, 120, 6),
    Kind(0.08, 0.02, 0.3, 1, 30, 3),
    Kind(0.0, 0.02, 0.0, 3, 40, 2),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of ``tries`` steps ``found`` were; ``promised`` is their median size. The others are of four runs."""

    kind: Kind
    tries: int
    promised: float
    found: int
    promised_with_runs: float | None
    found_with_runs: int


def outcomes(tries: int, kinds: tuple[Kind, ...] = KINDS) -> Iterator[Outcome]:
    rng = np.random.default_rng(_SEED)
    for kind in kinds:
        promised, with_runs, found, found_with_runs = [], [], 0, 0
        for _ in range(tries):
            size, with_more = _promised(kind, _nights(kind, rng))
            promised.append(size)
            found += _is_found(kind, size, rng)
            if with_more is not None:
                with_runs.append(with_more)
                found_with_runs += _is_found(replace(kind, runs=_MORE), with_more, rng)
        yield Outcome(
            kind=kind,
            tries=tries,
            promised=float(np.median(promised)),
            found=found,
            promised_with_runs=float(np.median(with_runs)) if with_runs else None,
            found_with_runs=found_with_runs,
        )


def _nights(kind: Kind, rng: np.random.Generator, step: float = 0.0) -> Floats:
    """Draw the values of all runs, (series, nights, runs); ``step`` is that of the first series' end."""
    shape = kind.series, kind.nights + FOUND_WITHIN
    moods = rng.normal(0, 1, shape)
    for night in range(1, shape[1]):
        moods[:, night] = kind.correlation * moods[:, night - 1] + np.sqrt(
            1 - kind.correlation**2
        ) * rng.normal(0, 1, shape[0])
    x = kind.between * moods[:, :, None] + rng.normal(0, kind.within, (*shape, kind.runs))
    x[0, kind.nights :] += step
    return np.asarray(100 * np.exp(x))


def _table(values: Floats) -> tuple[dict[Key, Floats], dict[Key, Direction]]:
    levels = np.median(values, axis=2)
    table: dict[Key, Floats] = {(at, "tps"): levels[at] for at in range(len(levels))}
    return table, dict.fromkeys(table, HIGHER)


def _promised(kind: Kind, values: Floats) -> tuple[float, float | None]:
    """Return what the product says of such a series before anything changed, and of four runs a night."""
    before = values[:, : kind.nights]
    table, directions = _table(before)
    sd, correlation = noise_of_series(table, directions, changes={}, machine={}, controls={})[_MOVED]
    groups = np.repeat(np.arange(kind.nights), kind.runs)
    within, between = repeat_scatter(before[0].ravel(), groups, np.zeros_like(groups))
    scatter = Scatter(sd, correlation, within, between, kind.runs, 1)
    tests = _TESTS_OF_A_SERIES * kind.series

    def smallest(of: Scatter) -> float:
        return smallest_change(of, before=kind.nights, length=kind.nights, tests=tests)

    if within is None or kind.runs >= _MORE:
        return smallest(scatter), None
    return smallest(scatter), smallest(scatter.with_runs(_MORE))


def _is_found(kind: Kind, size: float, rng: np.random.Generator) -> bool:
    table, directions = _table(_nights(kind, rng, float(np.log1p(-size))))
    for look in joint_looks(table, directions, first_new=kind.nights):
        for shift in look:
            near = abs(shift.index - kind.nights) <= LASTING
            if near and shift.worse and shift.state == "confirmed" and _MOVED in shift.members:
                return True
    return False


def main() -> None:
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    lines = [
        "| series | said to be found | found | said of four runs a night | found with them |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {one.kind} | {one.promised:.1%} | {one.found / one.tries:.0%} |"
            + (
                " | |"
                if one.promised_with_runs is None
                else f" {one.promised_with_runs:.1%} | {one.found_with_runs / one.tries:.0%} |"
            )
            for one in outcomes(tries)
        ),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
