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

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchdash.regressions.detection.compare import adjusted_p
from benchdash.regressions.detection.covariate import (
    SERVER_COST,
    logs,
    mean_of_controls,
    relative_to_control,
    without_either,
    without_machine,
)
from benchdash.regressions.detection.levels import (
    LASTING,
    SETTLED,
    TYPICAL_STEP,
    find_boundaries,
)
from benchdash.regressions.detection.noise import MIN_SD, Bools, Floats
from benchdash.regressions.detection.shifts import MIN_EFFECT, Shift, State, Values, as_array
from benchdash.results.readings import HIGHER, Direction

Key = tuple[Hashable, Hashable]
"""What was run (workload and threads, in any form) and the metric."""

MIN_TOLD = 0.1
"""Within its levels no series is trusted to scatter less than this share of its first estimate."""

_MIN_POINTS = 6
_MIN_BEFORE = 3
_MEMBER_BELOW = 0.05
_NOT_A_REST = 0.2
_MUCH_MORE = 2.0
_HARDLY = 0.25


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
class _Table:
    """Series x positions: ``values`` as they were measured, and ``oriented`` as the search sees them.

    That is without what the speed of the machine explains; worse is negative, 1 is the series' own noise,
    gaps are NaN. ``sds`` are of the logs: what 1 in ``oriented`` is worth. ``signs`` are 1 where more is
    better and else -1. ``typical`` is the correlation of neighbours that is usual for such a series.
    """

    keys: list[Key]
    values: Floats
    oriented: Floats
    sds: Floats
    correlations: Floats
    signs: Floats
    typical: Floats


@dataclass(frozen=True, slots=True)
class _Line:
    """A series, or a mean of several, that is searched.

    ``sd`` is what 1 is worth in logs, ``typical`` the correlation of neighbours that is usual for it.
    """

    values: Floats
    sd: float
    typical: float


@dataclass(frozen=True, slots=True)
class _Step:
    """The move of one series at a given position: its levels, and how likely chance does as much."""

    key: Key
    before: float
    after: float
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
    controls: Mapping[Key, Values] | None = None,
    min_effect: float = MIN_EFFECT,
) -> list[JointShift]:
    """Find the positions at which series of one place moved together, in order.

    ``table`` holds equally long series of positive values, aligned on positions, NaN or None where nothing
    was measured. ``known`` are positions confirmed in an earlier look; they keep their place while their
    evidence stands. ``expected`` are positions whose configuration or environment is not that of the one
    before: a change is expected there and not searched for. ``machine`` holds, by what was run, how slow the
    machine was, as a cost that the server has no part in; ``controls`` holds what a server that never changes
    did beside it, by the keys of ``table``. What moves with them is taken out (``covariate.py``).
    Raises ValueError where the lengths differ.
    """
    slow = {what: as_array(cost) for what, cost in (machine or {}).items()}
    beside = {key: as_array(values) for key, values in (controls or {}).items()}
    if len({len(values) for values in (*table.values(), *slow.values(), *beside.values())}) > 1:
        raise ValueError("The series of one table must be equally long.")
    if not table:
        return []
    series = _table(table, slow, beside, directions)
    findings = _findings(series, known, expected)
    clusters = _clusters(findings, known, expected)
    edges = [0, *sorted({index for index, _ in clusters}), max(map(len, table.values()), default=0)]
    shifts = [
        _joint_shift(series, index, cluster, edges=edges, known=index in known, min_effect=min_effect)
        for index, cluster in sorted(clusters, key=lambda pair: pair[0])
    ]
    return [shift for shift in shifts if shift]


def noise_of_series(
    table: Mapping[Key, Floats],
    directions: Mapping[Key, Direction],
    *,
    changes: Mapping[Key, Collection[int]],
    machine: Mapping[Hashable, Floats],
    controls: Mapping[Key, Floats],
) -> dict[Key, tuple[float, float]]:
    """Return the standard deviation of the logs of each searched series at one level, and the correlation.

    ``changes`` are the positions at which it changed; the other arguments are those of ``find_joint_shifts``.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    if not table:
        return {}
    series = _table(table, machine, controls, directions)
    found: dict[Key, tuple[float, float]] = {}
    for at, key in enumerate(series.keys):
        measured = np.flatnonzero(np.isfinite(series.oriented[at]))
        x = kernel.tame_outliers(series.oriented[at][measured], MIN_TOLD)
        inner = np.searchsorted(measured, sorted(changes.get(key, ())))
        edges = np.unique(np.array([0, *inner, len(x)], dtype=np.int64))
        sd, correlation = kernel.noise_within(x, edges, float(series.typical[at]))
        found[key] = max(sd, MIN_TOLD) * float(series.sds[at]), correlation
    return found


def _table(
    table: Mapping[Key, Values],
    slow: Mapping[Hashable, Floats],
    controls: Mapping[Key, Floats],
    directions: Mapping[Key, Direction],
) -> _Table:
    """Orient the series, without those that have too few points, or no scatter, to say anything."""
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    keys = list(table)
    values = _matrix([table[key] for key in keys])
    signs = np.array([1.0 if directions[key] == HIGHER else -1.0 for key in keys])
    numbers, typical = values, np.full(len(keys), kernel.TYPICAL_CORRELATION)
    if controls:
        numbers = _relative(keys, numbers, controls, signs)
        is_relative = (numbers != values).any(axis=1, where=np.isfinite(values))
        typical[is_relative] = kernel.CORRELATION_BESIDE_CONTROL
    if slow:
        numbers = np.array(
            [
                without_either(of, relative, slow[key[0]])
                if controls and key[0] in slow
                else without_machine(relative, slow.get(key[0]))
                for key, of, relative in zip(keys, values, numbers, strict=True)
            ]
        )
    oriented, sds, correlations = kernel.orient(numbers, signs, typical, _MIN_POINTS, MIN_SD)
    told = np.isfinite(sds)
    return _Table(
        keys=[key for key, is_told in zip(keys, told.tolist(), strict=True) if is_told],
        values=values[told],
        oriented=oriented[told],
        sds=sds[told],
        correlations=correlations[told],
        signs=signs[told],
        typical=typical[told],
    )


def _relative(keys: Sequence[Key], values: Floats, controls: Mapping[Key, Floats], signs: Floats) -> Floats:
    """Return the series as they would be at the machine's usual speed, as the controls measured it."""
    of_key = dict(zip(keys, signs.tolist(), strict=True))
    machine = mean_of_controls([logs(of) * of_key[key] for key, of in controls.items() if key in of_key])
    return np.array(
        [
            relative_to_control(of, controls.get(key), machine * sign)
            for key, of, sign in zip(keys, values, signs.tolist(), strict=True)
        ]
    )


def _matrix(rows: Sequence[Values]) -> Floats:
    """Make one array of many series, as ``as_array`` does of one."""
    values = np.array([row if isinstance(row, np.ndarray) else as_array(row) for row in rows], dtype=float)
    values[~np.isfinite(values) | (values < 0)] = np.nan
    return values


def _findings(series: _Table, known: Collection[int], expected: Collection[int]) -> list[_Finding]:
    """Search the lines, each kind with its share of the permitted false alarms."""
    columns = zip(series.oriented, series.sds.tolist(), series.typical.tolist(), strict=True)
    alone = [_Line(*column) for column in columns]
    members: dict[Hashable, list[_Line]] = defaultdict(list)
    for key, line in sorted(zip(series.keys, alone, strict=True), key=lambda one: str(one[0][0])):
        members[key[0]].append(line)
    workloads = [_mean(lines) for lines in members.values()]
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
        known=np.searchsorted(measured, sorted(known)).tolist(),
        expected=np.searchsorted(measured, sorted(expected)).tolist(),
        min_sd=MIN_TOLD,
        min_step=0,
        tests=tests,
        typical_step=TYPICAL_STEP / line.sd,
        typical_correlation=line.typical,
    )
    return [
        _Finding(
            index=int(measured[one.index]),
            worse=bool(x[one.index : one.end].mean() < x[one.start : one.index].mean()),
            doubt=one.doubt,
            confirmed=one.confirmed,
        )
        for one in boundaries
    ]


def _clusters(
    findings: list[_Finding], known: Collection[int], expected: Collection[int]
) -> list[tuple[int, list[_Finding]]]:
    """Put findings of one direction within five positions under the index of the strongest.

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
    """Average the lines at each position, over those that have a value there."""
    stack = np.array([line.values for line in lines])
    present = np.isfinite(stack)
    count = present.sum(axis=0)
    total = np.where(present, stack, 0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    typical = float(np.mean([line.typical for line in lines]))
    return _Line(mean, float(np.median([line.sd for line in lines])), typical)


def _joint_shift(
    series: _Table,
    index: int,
    cluster: list[_Finding],
    *,
    edges: list[int],
    known: bool,
    min_effect: float,
) -> JointShift | None:
    """Make a joint shift of findings; None where no series moved, suspected where no member stands alone."""
    worse = cluster[0].worse
    start = max((edge for edge in edges if edge <= index - LASTING), default=0)
    end = min((edge for edge in edges if edge >= index + LASTING), default=edges[-1])
    if known:
        end = min(end, index + SETTLED)
    members, are_clear = _moved(series, start, index, end, worse=worse, min_effect=min_effect)
    if not members:
        return None
    confirmed = any(finding.confirmed for finding in cluster) and (known or are_clear)
    state: State = "confirmed" if confirmed else "suspected"
    return JointShift(
        index=index,
        worse=worse,
        confidence=1 - min(finding.doubt for finding in cluster),
        state=state,
        members={
            step.key: Shift(index, step.before, step.after, step.change, confidence=1 - step.p, state=state)
            for step in members
        },
    )


def _is_of_machine(series: _Table, steps: Floats) -> Bools:
    """Tell for each series whether a step of it is one of the machine, by what the server spent on it.

    Where even the steadiest metric of a workload scatters much more than the CPU time that the server spends
    on an operation, something takes processors away from it now and then. A step of the speed alone is more
    of that. Where both scatter alike, it may be a wait within the server.
    """
    size = np.abs(steps) * series.sds
    found = np.zeros(len(size), dtype=bool)
    workloads = defaultdict(list)
    for at, (what, _) in enumerate(series.keys):
        workloads[what].append(at)
    for members in workloads.values():
        speeds = [at for at in members if series.keys[at][1] != SERVER_COST]
        for cost in set(members).difference(speeds):
            if speeds and series.sds[speeds].min() > _MUCH_MORE * series.sds[cost]:
                found[speeds] = size[cost] < _HARDLY * size[speeds]
    return found


def _moved(
    series: _Table, start: int, index: int, end: int, *, worse: bool, min_effect: float
) -> tuple[list[_Step], bool]:
    """Find the series whose own step from [start, index) to [index, end) goes this way and stands out.

    And True; where none stands out, the one that does most, and False.

    Their p is corrected for all series that have enough points (Benjamini & Hochberg 1995). A step smaller
    than what lies between two values that a series can have is none.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    before, after, step, p = kernel.steps(
        series.values, series.oriented, series.correlations, start, index, end, _MIN_BEFORE
    )
    told = np.flatnonzero(np.isfinite(p))
    corrected = adjusted_p(p)
    # What the search says, and what was measured, the machine's speed included.
    searched, seen = step[told] < 0, (after[told] < before[told]) == (series.signs[told] > 0)
    change = np.abs(after[told] / before[told] - 1)
    # A small error in the slope leaves a rest of a large step of the machine; and medians that hardly move
    # say that the shape of the scatter changed, and not the level.
    shown, tested = np.abs(np.log(after[told] / before[told])), np.abs(step[told]) * series.sds[told]
    is_own = (tested >= _NOT_A_REST * np.log1p(change)) & (shown >= _NOT_A_REST * tested)
    least = np.array([kernel.resolution(series.values[at, start:end]) for at in told.tolist()])
    is_seen = (change >= min_effect) & (shown >= least)
    moved = told[(searched == worse) & (seen == worse) & is_seen & is_own]
    clear = moved[corrected[moved] < _MEMBER_BELOW]
    clear = clear[~_is_of_machine(series, step)[clear]]
    members = clear if len(clear) else moved[np.argsort(corrected[moved], kind="stable")[:1]]
    return [
        _Step(series.keys[at], float(before[at]), float(after[at]), float(corrected[at]))
        for at in members.tolist()
    ], bool(len(clear))
