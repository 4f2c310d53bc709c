"""How many switches of a server are found beside a control, on a machine whose neighbour is noisy.

The measured nights are looked at night by night, as the product would, in three ways: the tested server
alone, its plain ratio to the control, and relative to the control as the product does it. Beside them stand
nights that are drawn from the measured ones, six in a row, with other switches implanted, and some with none.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.joint import Key
from benchdash.results.readings import Direction
from benchmarks.labelled import Match, Outcome
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench

Floats = NDArray[np.float64]

METRICS: Mapping[str, Direction] = {
    "tps": "higher",
    "qps": "higher",
    "latency_avg": "lower",
    "latency_p95": "lower",
}
DRAWN = 20
_NIGHTS_TOGETHER = 6
_FIRST_SWITCH = (8, 15)
_LEVEL_NIGHTS = (6, 13)
_LOSS = (0.10, 0.40)


@dataclass(frozen=True, slots=True)
class Nights:
    """The median of each night by workload and metric, of the tested server and of the control."""

    tested: Mapping[Key, Floats]
    control: Mapping[Key, Floats]
    switches: list[int]

    @property
    def directions(self) -> dict[Key, Direction]:
        return {key: METRICS[str(key[1])] for key in self.tested}


def measured(folder: Path) -> Nights:
    truth = json.loads((folder / "truth.json").read_text())
    sides: dict[str, dict[Key, Floats]] = {"test": {}, "control": {}}
    for role, levels in sides.items():
        for workload in truth["workloads"]:
            runs: dict[str, list[list[float]]] = {metric: [] for metric in METRICS}
            for night in range(truth["nights"]):
                paths = sorted((folder / f"{night:03d}").glob(f"{workload}.{role}.*.txt"))
                read = [sysbench.parse(Source(path.read_bytes())).runs[0].readings for path in paths]
                for metric in METRICS:
                    found = [one.value for readings in read for one in readings if one.metric == metric]
                    runs[metric].append(found)
            for metric, values in runs.items():
                levels[workload, metric] = np.array([np.median(one) for one in values])
    return Nights(sides["test"], sides["control"], [one["night"] for one in truth["switches"]])


def drawn(nights: Nights, *, seed: int, switched: bool) -> Nights:
    """Nights drawn from measured ones without their switches, some in a row so that their mood stays."""
    rng = np.random.default_rng([77, seed])
    number = len(next(iter(nights.tested.values())))
    starts = rng.integers(0, number, size=-(-number // _NIGHTS_TOGETHER))
    order = np.concatenate([(start + np.arange(_NIGHTS_TOGETHER)) % number for start in starts])[:number]
    workloads = sorted({str(workload) for workload, _ in nights.tested})
    switches, speeds = (
        _switches(rng, number, workloads) if switched else ([], dict.fromkeys(workloads, np.ones(number)))
    )
    tested = {}
    for key, values in nights.tested.items():
        flat = _without_switches(values, nights.control[key], nights.switches)
        speed = speeds[str(key[0])]
        tested[key] = flat[order] * (speed if METRICS[str(key[1])] == "higher" else 1 / speed)
    return Nights(tested, {key: values[order] for key, values in nights.control.items()}, switches)


def _switches(
    rng: np.random.Generator, number: int, workloads: list[str]
) -> tuple[list[int], dict[str, Floats]]:
    """A switch that loses 10 to 40 %, somewhat more or less by workload, and the way back, and again."""
    switches: list[int] = []
    speeds = {workload: np.ones(number) for workload in workloads}
    at = int(rng.integers(*_FIRST_SWITCH))
    while at <= number - _LEVEL_NIGHTS[0]:
        loss = 0.0 if len(switches) % 2 else np.log(1 - rng.uniform(*_LOSS))
        for speed in speeds.values():
            speed[at:] = np.exp(loss * rng.uniform(0.7, 1.3))
        switches.append(at)
        at += int(rng.integers(*_LEVEL_NIGHTS))
    return switches, speeds


def _without_switches(values: Floats, control: Floats, switches: list[int]) -> Floats:
    """Put the level of each stretch, beside the control, on that of all."""
    flat = values.copy()
    ratio = values / control
    edges = [0, *switches, len(values)]
    for start, end in pairwise(edges):
        flat[start:end] *= np.median(ratio) / np.median(ratio[start:end])
    return flat


Way = Callable[[Nights], tuple[Mapping[Key, Floats], Mapping[Key, Floats]]]
"""Gives the table to be looked at, and its controls."""

WAYS: Mapping[str, Way] = {
    "the tested server alone": lambda nights: (nights.tested, {}),
    "its plain ratio to the control": lambda nights: (
        {key: values / nights.control[key] for key, values in nights.tested.items()},
        {},
    ),
    "relative to the control, as benchdash does it": lambda nights: (nights.tested, nights.control),
}


def outcome(nights: Nights, way: Way, *, match: Match) -> Outcome:
    table, controls = way(nights)
    *_, found = joint_looks(table, nights.directions, first_new=0, controls=controls)
    told = [shift.index for shift in found if shift.state == "confirmed"]
    pairs = match(nights.switches, told)
    missed = len(nights.switches) - len(pairs)
    return Outcome(len(pairs), len(told) - len(pairs), missed, len(next(iter(table.values()))))


COLUMNS = (
    "looked at",
    "measured nights, found of 6 / false",
    "drawn nights, found / false",
    "without a switch, false per 1000 nights",
)


def rows(folder: Path, *, match: Match) -> Iterator[str]:
    """The lines of a table: found and false of the measured nights, of drawn ones, and of such without."""
    yield f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * (len(COLUMNS) - 1)}\n"
    nights = measured(folder)
    for name, way in WAYS.items():
        real = outcome(nights, way, match=match)
        with_switches, without = (
            _sum(
                outcome(drawn(nights, seed=seed + first, switched=switched), way, match=match)
                for seed in range(DRAWN)
            )
            for switched, first in ((True, 0), (False, 100))
        )
        cells = (
            f"{real.found} / {real.false}",
            f"{with_switches.found} of {with_switches.found + with_switches.missed} / {with_switches.false}",
            f"{without.false_per_1000:.1f}",
        )
        yield f"| {name} | {' | '.join(cells)} |\n"


def _sum(outcomes: Iterator[Outcome]) -> Outcome:
    return sum(outcomes, start=Outcome(0, 0, 0, 0))
