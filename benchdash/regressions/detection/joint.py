"""Shifts that several series of one place show together.

The series of one place (product, branch, hardware, configuration) are the lines of one table: a position is
one version or commit, and its runs of all workloads are a column. Each line is put on logs, turned so that
worse is negative, and divided by its own noise. Then three kinds of lines are searched
(``levels.find_boundaries``):

- the mean of all workloads: what hits everything stands out here first, and the machine's own ups and downs,
  which the workloads share, are part of this line's noise;
- the mean of the metrics of each workload: throughput and latencies of the same runs are one measurement, not
  three, so they are averaged and never counted as independent evidence;
- each series alone: a tail latency may move and nothing else.

Half of the permitted false alarms goes to the first kind and a quarter to each of the others (weighted
Bonferroni: Genovese, Roeder & Wasserman 2006, False discovery control with p-value weighting). Shifts of
several lines in the same direction within five positions are one. Its members are the series whose own step
at that position passes Benjamini & Hochberg 1995 at 5 %; without such a member it is suspected, whatever
the means say.
"""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from benchdash.regressions.detection.compare import adjust
from benchdash.regressions.detection.covariate import without_machine
from benchdash.regressions.detection.levels import LASTING, SETTLED, TYPICAL_STEP, find_boundaries, step_p
from benchdash.regressions.detection.noise import (
    LEAST_SD,
    Floats,
    Noise,
    estimate_noise,
    rounding_sd,
    tame_outliers,
)
from benchdash.regressions.detection.shifts import LEAST_EFFECT, Shift, State, Values, as_array, logs
from benchdash.results.readings import HIGHER, Direction

Key = tuple[Hashable, Hashable]
"""What was run (workload and threads, in any form) and the metric."""

_FEWEST_POINTS = 6
_FEWEST_BEFORE = 3
_MEMBER_BELOW = 0.05


@dataclass(frozen=True, slots=True)
class JointShift:
    """At ``index`` the series in ``members`` moved together, all for the worse or all for the better.

    Each member has its own levels and confidence; the state is that of the joint shift.
    """

    index: int
    worse: bool
    confidence: float
    state: State
    members: Mapping[Key, Shift]


@dataclass(frozen=True, slots=True)
class _Series:
    """``values`` as they were measured, and ``oriented`` as the search sees them.

    That is without what the speed of the machine explains; worse is negative, 1 is the series' own noise,
    gaps are NaN.
    """

    key: Key
    values: Floats
    oriented: Floats
    noise: Noise
    sd: float  # of the logs: what 1 in ``oriented`` is worth
    direction: Direction


@dataclass(frozen=True, slots=True)
class _Line:
    """What is searched: a series or a mean of some. ``sd`` is what 1 is worth in logs."""

    values: Floats
    sd: float


@dataclass(frozen=True, slots=True)
class _Step:
    """How one series moved at a given position; ``p`` is two-sided and not corrected.

    ``worse`` is what the search says, ``seen_worse`` what was measured, the machine's speed included.
    """

    key: Key
    before: float
    after: float
    worse: bool
    seen_worse: bool
    p: float

    @property
    def change(self) -> float:
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True)
class _Finding:
    index: int
    worse: bool
    doubt: float
    confirmed: bool


def find_joint_shifts(
    table: Mapping[Key, Values],
    directions: Mapping[Key, Direction],
    *,
    known: Collection[int] = (),
    expected: Collection[int] = (),
    machine: Mapping[Hashable, Values] | None = None,
    least_effect: float = LEAST_EFFECT,
) -> list[JointShift]:
    """The positions at which series of one place moved together, in order.

    ``table`` holds equally long series of positive values, aligned on positions, NaN or None where nothing
    was measured. ``known`` are positions confirmed in an earlier look; they keep their place while their
    evidence stands. ``expected`` are positions whose configuration or environment is not that of the one
    before: a change is expected there and not searched for. ``machine`` holds, by what was run, how slow the
    machine was, as a cost that the server has no part in; what moves with it is taken out (``covariate.py``).
    Raises ValueError where the lengths differ.
    """
    slow = {what: as_array(cost) for what, cost in (machine or {}).items()}
    if len({len(values) for values in (*table.values(), *slow.values())}) > 1:
        raise ValueError("The series of one table must be equally long.")
    series = [
        found
        for key, values in table.items()
        if (found := _series(key, as_array(values), slow.get(key[0]), directions[key]))
    ]
    findings = _findings(series, known, expected)
    clusters = _clusters(findings, known, expected)
    edges = [0, *sorted({index for index, _ in clusters}), max(map(len, table.values()), default=0)]
    shifts = [
        _joint_shift(series, index, cluster, edges=edges, known=index in known, least_effect=least_effect)
        for index, cluster in sorted(clusters, key=lambda pair: pair[0])
    ]
    return [shift for shift in shifts if shift]


def _series(key: Key, values: Floats, slow: Floats | None, direction: Direction) -> _Series | None:
    """None where there are too few points, or no scatter, to say anything."""
    numbers = without_machine(values, slow)
    present = _present(numbers)
    if len(present) < _FEWEST_POINTS or not present.any() or np.ptp(present) == 0:
        return None
    x = logs(present)
    noise = estimate_noise(tame_outliers(x))
    sd = max(noise.sd, LEAST_SD, rounding_sd(present[present > 0]))
    oriented = np.full(len(numbers), np.nan)
    oriented[np.isfinite(numbers)] = (x - np.median(x)) * (1 if direction == HIGHER else -1) / sd
    return _Series(key, values, oriented, Noise(sd=1, correlation=noise.correlation), sd, direction)


def _findings(series: list[_Series], known: Collection[int], expected: Collection[int]) -> list[_Finding]:
    """What the lines show, each kind with its share of the permitted false alarms."""
    alone = [_Line(one.oriented, one.sd) for one in series]
    by_workload = sorted(series, key=lambda one: str(one.key[0]))
    workloads = [
        _mean([_Line(one.oriented, one.sd) for one in group])
        for _, group in groupby(by_workload, key=lambda one: one.key[0])
    ]
    everything = [_mean(workloads)] if workloads else []
    return [
        finding
        for lines, share in ((everything, 1 / 2), (workloads, 1 / 4), (alone, 1 / 4))
        for line in lines
        for finding in _findings_of(line, known, expected, tests=len(lines) / share)
    ]


def _findings_of(
    line: _Line, known: Collection[int], expected: Collection[int], *, tests: float
) -> list[_Finding]:
    measured = np.flatnonzero(np.isfinite(line.values))
    x = line.values[measured]
    boundaries = find_boundaries(
        x,
        known=[int(np.searchsorted(measured, index)) for index in known],
        expected=[int(np.searchsorted(measured, index)) for index in expected],
        least_sd=0.1,
        least_step=0,
        tests=tests,
        typical_step=TYPICAL_STEP / line.sd,
    )
    return [
        _Finding(
            index=int(measured[boundary.index]),
            worse=bool(x[boundary.index : boundary.end].mean() < x[boundary.start : boundary.index].mean()),
            doubt=boundary.doubt,
            confirmed=boundary.confirmed,
        )
        for boundary in boundaries
    ]


def _clusters(
    findings: list[_Finding], known: Collection[int], expected: Collection[int]
) -> list[tuple[int, list[_Finding]]]:
    """Findings of one direction within five positions, under the index of the strongest.

    Known positions lead, then expected ones: the strongest of the others may lie a point or two beside.
    """
    clusters: list[tuple[int, list[_Finding]]] = []
    for finding in sorted(
        findings,
        key=lambda one: (
            one.index not in known,
            not one.confirmed,
            one.index not in expected,
            one.doubt,
        ),
    ):
        for index, cluster in clusters:
            if cluster[0].worse == finding.worse and abs(index - finding.index) <= LASTING:
                cluster.append(finding)
                break
        else:
            clusters.append((finding.index, [finding]))
    return clusters


def _mean(lines: list[_Line]) -> _Line:
    """The mean of the lines at each position, over those that have a value there."""
    stack = np.array([line.values for line in lines])
    present = np.isfinite(stack)
    count = present.sum(axis=0)
    total = np.where(present, stack, 0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return _Line(mean, float(np.median([line.sd for line in lines])))


def _joint_shift(
    series: list[_Series],
    index: int,
    cluster: list[_Finding],
    *,
    edges: list[int],
    known: bool,
    least_effect: float,
) -> JointShift | None:
    """None where no series moved by the least effect; only suspected where no member stands alone."""
    worse = cluster[0].worse
    start = max((edge for edge in edges if edge <= index - LASTING), default=0)
    end = min((edge for edge in edges if edge >= index + LASTING), default=edges[-1])
    if known:
        end = min(end, index + SETTLED)
    steps = [step for one in series if (step := _step(one, start, index, end))]
    adjusted = adjust([step.p for step in steps])
    moved = [
        (p, step)
        for p, step in zip(adjusted, steps, strict=True)
        if p is not None and step.worse == step.seen_worse == worse and abs(step.change) >= least_effect
    ]
    clear = [(p, step) for p, step in moved if p < _MEMBER_BELOW]
    strongest = sorted(moved, key=lambda pair: pair[0])[:1]
    if not moved:
        return None
    confirmed = any(finding.confirmed for finding in cluster) and (known or bool(clear))
    state: State = "confirmed" if confirmed else "suspected"
    return JointShift(
        index=index,
        worse=worse,
        confidence=1 - min(finding.doubt for finding in cluster),
        state=state,
        members={
            step.key: Shift(index, step.before, step.after, step.change, confidence=1 - p, state=state)
            for p, step in clear or strongest
        },
    )


def _step(one: _Series, start: int, index: int, end: int) -> _Step | None:
    """The series' own step from [start, index) to [index, end), None where it has too few points."""
    before, after = _present(one.values[start:index]), _present(one.values[index:end])
    if len(before) < _FEWEST_BEFORE or not len(after) or (old := _median(before)) <= 0:
        return None
    x = _present(one.oriented[start:end])
    new = _median(after)
    return _Step(
        key=one.key,
        before=old,
        after=new,
        worse=bool(x[len(before) :].mean() < x[: len(before)].mean()),
        seen_worse=(new < old) == (one.direction == HIGHER),
        p=step_p(x, len(before), one.noise),
    )


def _median(values: Floats) -> float:
    """As that of NumPy, which takes four times as long for a level of some hundred."""
    in_order = np.sort(values)
    n = len(in_order)
    return float((in_order[(n - 1) // 2] + in_order[n // 2]) / 2)


def _present(values: Floats) -> Floats:
    return values[np.isfinite(values)]
