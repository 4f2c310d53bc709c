"""Counts how often the rule finds a change where there is none, in noise that was measured.

An empirical null (Efron 2004, Large-scale simultaneous hypothesis testing: the choice of a null hypothesis):
the changes already known are taken out of a table, what is left of each level is put into a random order,
and the rule looks at it position by position, as it would have come. Whatever it confirms is a false alarm.

Positions are shuffled as a whole: what the series of a place share at one position, a slow night of the
machine for one, stays together. What neighbouring positions share is lost: waves and drifts of the machine
are not in the answer.
"""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.joint import JointShift, Key
from benchdash.regressions.detection.levels import LASTING
from benchdash.regressions.detection.noise import Floats
from benchdash.results.readings import Direction


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """``shifts`` joint shifts were confirmed in ``looks`` at a table of ``points`` values.

    ``members`` are the series in them.
    """

    looks: int
    points: int
    shifts: int
    members: int


def false_alarms(
    table: Mapping[Key, Floats],
    directions: Mapping[Key, Direction],
    *,
    known: Collection[int],
    expected: Collection[int] = (),
    machine: Mapping[Hashable, Floats] | None = None,
    controls: Mapping[Key, Floats] | None = None,
    rng: np.random.Generator,
) -> FalseAlarms:
    """Count what is confirmed in one shuffled copy of a table; the arguments are those of ``joint_looks``.

    ``known`` are the positions of confirmed changes.
    """
    length = max(map(len, table.values()), default=0)
    edges = [0, *sorted(index for index in known if 0 < index < length), length]
    order = np.concatenate([rng.permutation(np.arange(start, end)) for start, end in pairwise(edges)])
    shuffled = {key: _level(values, edges)[order] for key, values in table.items()}
    slow = {what: values[order] for what, values in (machine or {}).items()}
    beside = {key: values[order] for key, values in (controls or {}).items()}
    told: list[JointShift] = []
    looks = 0
    for found in joint_looks(
        shuffled, directions, first_new=0, expected=expected, machine=slow, controls=beside
    ):
        looks += 1
        told += [shift for shift in found if shift.state == "confirmed" and _is_new(shift, told)]
    return FalseAlarms(
        looks=looks,
        points=int(sum(np.isfinite(values).sum() for values in table.values())),
        shifts=len(told),
        members=sum(len(shift.members) for shift in told),
    )


def _level(values: Floats, edges: Collection[int]) -> Floats:
    """Put the median of each level on that of the first."""
    levels = [values[start:end] for start, end in pairwise(edges)]
    positive = [level[np.isfinite(level) & (level > 0)] for level in levels]
    medians = [float(np.median(present)) if len(present) else None for present in positive]
    first = next((median for median in medians if median), 1.0)
    return np.concatenate(
        [level * (first / median if median else 1) for level, median in zip(levels, medians, strict=True)]
    )


def _is_new(shift: JointShift, told: Collection[JointShift]) -> bool:
    return not any(one.worse == shift.worse and abs(one.index - shift.index) <= LASTING for one in told)
