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

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np

from benchdash.regressions.detection.compare import adjusted_p
from benchdash.regressions.detection.covariate import (
    SERVER_COST,
    logs,
    mean_of_controls,
    relative_to_control,
    without_machine,
)
from benchdash.regressions.detection.levels import (
    LASTING,
    SETTLED,
    TYPICAL_STEP,
    find_boundaries,
)
from benchdash.regressions.detection.noise import MIN_SD, Bools, Floats, Ints
from benchdash.regressions.detection.onsets import Onset, find_onsets
from benchdash.regressions.detection.shifts import MIN_EFFECT, Shift, State, Values, as_array
from benchdash.results.readings import HIGHER, Direction

Key = tuple[Hashable, Hashable]
"""The workload with its threads, in any form, and the metric."""

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
class OrientedTable:
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
class SearchedLine:
    """A series, or a mean of several, that is searched.

    ``sd`` is what 1 is worth in logs, ``typical`` the correlation of neighbours that is usual for it.
    """

    values: Floats
    sd: float
    typical: float


@dataclass(frozen=True, slots=True)
class _Steps:
    """The moves of all series at a given position: levels, and how likely chance does as much (corrected).

    ``members`` are the rows whose step goes the right way and stands out. Where none does, it is the one
    that does most, and ``are_clear`` is False.
    """

    before: Floats
    after: Floats
    p: Floats
    members: Ints
    are_clear: bool


@dataclass(frozen=True, slots=True)
class _Finding:
    index: int
    worse: bool
    doubt: float
    confirmed: bool


@dataclass(frozen=True, slots=True)
class _Cluster:
    """Findings of one direction near each other; ``leads`` are the strongest one and those known before."""

    worse: bool
    leads: list[int]
    findings: list[_Finding]


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
    series = oriented_table(table, slow, beside, directions)
    findings = _findings(series, known, expected)
    clusters = _clusters(findings, known, expected)
    leads = {lead for cluster in clusters for lead in cluster.leads}
    edges = [0, *sorted(leads), max(map(len, table.values()), default=0)]
    shifts = [
        shift
        for cluster in clusters
        for shift in _joint_shifts(series, cluster, edges=edges, known=known, min_effect=min_effect)
    ]
    return sorted(shifts, key=lambda shift: shift.index)


def oriented_table(
    table: Mapping[Key, Values],
    slow: Mapping[Hashable, Floats],
    controls: Mapping[Key, Floats],
    directions: Mapping[Key, Direction],
) -> OrientedTable:
    """Orient the series, without those that have too few points, or no scatter, to say anything."""
    from benchdash.regressions.detection import kernel, modes  # noqa: PLC0415 - a page that compares needs no compiler

    keys = list(table)
    values = modes.without_modes(_matrix([table[key] for key in keys]))
    signs = np.array([1.0 if directions[key] == HIGHER else -1.0 for key in keys])
    numbers, typical = values, np.full(len(keys), kernel.TYPICAL_CORRELATION)
    if controls:
        numbers = _relative(keys, numbers, controls, signs)
        is_relative = (numbers != values).any(axis=1, where=np.isfinite(values))
        typical[is_relative] = kernel.CORRELATION_BESIDE_CONTROL
    if slow:
        numbers = np.array(
            [without_machine(of, slow.get(key[0])) for key, of in zip(keys, numbers, strict=True)]
        )
    oriented, sds, correlations = kernel.orient(numbers, signs, typical, _MIN_POINTS, MIN_SD)
    told = np.isfinite(sds)
    return OrientedTable(
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


def searched_lines(series: OrientedTable) -> list[tuple[list[SearchedLine], float]]:
    """Return the lines of each kind, and by how many tests the p of one of them is to be corrected."""
    columns = zip(series.oriented, series.sds.tolist(), series.typical.tolist(), strict=True)
    alone = [SearchedLine(*column) for column in columns]
    members: dict[Hashable, list[SearchedLine]] = defaultdict(list)
    for key, line in sorted(zip(series.keys, alone, strict=True), key=lambda one: str(one[0][0])):
        members[key[0]].append(line)
    workloads = [_mean(lines) for lines in members.values()]
    everything = [_mean(workloads)] if workloads else []
    shares = (everything, 1 / 2), (workloads, 1 / 4), (alone, 1 / 4)
    return [(lines, len(lines) / share) for lines, share in shares]


def _findings(series: OrientedTable, known: Collection[int], expected: Collection[int]) -> list[_Finding]:
    """Search the lines, each kind with its share of the permitted false alarms."""
    return [
        finding
        for lines, tests in searched_lines(series)
        for line in lines
        for finding in _findings_of(line, known, expected, tests=tests)
    ]


def _findings_of(
    line: SearchedLine, known: Collection[int], expected: Collection[int], *, tests: float
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


def _clusters(findings: list[_Finding], known: Collection[int], expected: Collection[int]) -> list[_Cluster]:
    """Put findings of one direction within five positions together, those at known positions first.

    Then the confirmed ones lead, of these the expected ones: the strongest of the others may lie a point or
    two beside.
    """
    clusters: list[_Cluster] = []
    for finding in sorted(
        findings,
        key=lambda one: (
            one.index not in known,
            not one.confirmed,
            one.index not in expected,
            one.doubt,
        ),
    ):
        is_known = finding.index in known
        for cluster in clusters:
            leads = cluster.leads[:1] if is_known else cluster.leads
            is_near = min(abs(lead - finding.index) for lead in leads) <= LASTING
            if is_near and cluster.worse == finding.worse:
                cluster.findings.append(finding)
                if is_known and finding.index not in cluster.leads:
                    cluster.leads.append(finding.index)
                break
        else:
            clusters.append(_Cluster(finding.worse, [finding.index], [finding]))
    return clusters


def _mean(lines: list[SearchedLine]) -> SearchedLine:
    """Average the lines at each position, over those that have a value there."""
    if len(lines) == 1:
        return lines[0]
    stack = np.array([line.values for line in lines])
    present = np.isfinite(stack)
    count = present.sum(axis=0)
    total = np.where(present, stack, 0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    typical = float(np.mean([line.typical for line in lines]))
    return SearchedLine(mean, float(np.median([line.sd for line in lines])), typical)


def _joint_shifts(
    series: OrientedTable,
    cluster: _Cluster,
    *,
    edges: list[int],
    known: Collection[int],
    min_effect: float,
) -> list[JointShift]:
    """Make joint shifts of findings, one for each position where their members began.

    Nothing where no series moved, suspected where no member stands alone.
    """
    lead, *_ = cluster.leads
    start = max((edge for edge in edges if edge <= min(cluster.leads) - LASTING), default=0)
    end = min((edge for edge in edges if edge >= max(cluster.leads) + LASTING), default=edges[-1])

    @cache
    def steps(index: int) -> _Steps:
        last = min(end, index + SETTLED) if index in known else end
        return _moved(series, start, index, last, worse=cluster.worse, min_effect=min_effect)

    # Levels that are long known need no other look at what they are made of.
    settled = lead in known and edges[-1] >= lead + SETTLED + LASTING
    searched = {*cluster.leads, *(() if settled else (finding.index for finding in cluster.findings))}
    moved = reduce(
        np.union1d, [steps(at).members for at in searched if steps(at).are_clear], np.array([], int)
    )
    onsets = find_onsets(
        series.oriented,
        series.sds,
        _shares(series.keys, moved),
        moved,
        np.setdiff1d(np.flatnonzero(~(steps(lead).p < _MEMBER_BELOW)), moved),
        window=(start, end),
        leads=cluster.leads,
        may_part=not settled,
    )
    evidence = defaultdict(list)
    for finding in cluster.findings:
        nearest = min((one.index for one in onsets), key=lambda at: abs(at - finding.index), default=lead)
        evidence[nearest].append(finding)
    shifts = []
    for onset in onsets:
        members = np.intersect1d(steps(onset.index).members, onset.rows)
        if steps(onset.index).are_clear and len(members):
            # A cause that others hide in the means of all series is confirmed with them once it has lasted.
            lasted = edges[-1] >= onset.last + LASTING
            own = evidence[onset.index] + (cluster.findings if lasted else [])
            shifts.append(_joint_shift(series, onset, own, steps(onset.index), members, cluster))
    if not shifts and len(steps(lead).members):
        alone = Onset(lead, lead, lead, steps(lead).members)
        own = cluster.findings if steps(lead).are_clear or lead in known else []
        shifts.append(_joint_shift(series, alone, own, steps(lead), alone.rows, cluster))
    return shifts


def _joint_shift(
    series: OrientedTable,
    onset: Onset,
    findings: list[_Finding],
    steps: _Steps,
    rows: Ints,
    cluster: _Cluster,
) -> JointShift:
    """Make a joint shift of rows; it is confirmed where one of these findings of its cluster is."""
    state: State = "confirmed" if any(finding.confirmed for finding in findings) else "suspected"
    levels = zip(steps.before[rows].tolist(), steps.after[rows].tolist(), strict=True)
    began = (onset.first, onset.last) if steps.are_clear else None
    return JointShift(
        index=onset.index,
        worse=cluster.worse,
        confidence=1 - min(finding.doubt for finding in findings or cluster.findings),
        state=state,
        members={
            series.keys[at]: Shift(
                onset.index, before, after, after / before - 1, 1 - float(steps.p[at]), state, began=began
            )
            for at, (before, after) in zip(rows.tolist(), levels, strict=True)
        },
    )


def _shares(keys: Sequence[Key], moved: Ints) -> Floats:
    """Weigh the series of one workload as one measurement, those that moved and the others."""
    is_moved = np.isin(np.arange(len(keys)), moved).tolist()
    whose = [(key[0], there) for key, there in zip(keys, is_moved, strict=True)]
    number = Counter(whose)
    return np.array([1 / number[one] for one in whose])


def _is_of_machine(series: OrientedTable, steps: Floats) -> Bools:
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
    series: OrientedTable, start: int, index: int, end: int, *, worse: bool, min_effect: float
) -> _Steps:
    """Find the series whose own step from [start, index) to [index, end) goes this way and stands out.

    Their p is corrected for all series that have enough points (Benjamini & Hochberg 1995). A step smaller
    than what lies between two values that a series can have is none.
    """
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    before, after, step, p = kernel.steps(
        series.values, series.oriented, series.correlations, start, index, end, _MIN_BEFORE
    )
    told = np.flatnonzero(np.isfinite(p))
    corrected = adjusted_p(p)
    # The findings of the search, and the figures, the machine's speed included.
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
    return _Steps(before, after, corrected, members, are_clear=bool(len(clear)))
