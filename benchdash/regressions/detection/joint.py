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
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from benchdash.regressions.detection.compare import adjusted_p
from benchdash.regressions.detection.covariate import without_machine
from benchdash.regressions.detection.levels import (
    LASTING,
    SETTLED,
    TYPICAL_STEP,
    Boundary,
    Ints,
    find_boundaries,
)
from benchdash.regressions.detection.noise import LEAST_SD, Floats
from benchdash.regressions.detection.shifts import LEAST_EFFECT, Shift, State, Values, as_array
from benchdash.results.readings import HIGHER, Direction

Key = tuple[Hashable, Hashable]
"""What was run (workload and threads, in any form) and the metric."""

_FEWEST_POINTS = 6
# By what was asked; some hundred bytes each.
_MOST_ANSWERS = 20_000
_answers: dict[bytes, Sequence[Boundary]] = {}
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
class _Table:
    """Series x positions: ``values`` as they were measured, and ``oriented`` as the search sees them.

    That is without what the speed of the machine explains (``numbers``); worse is negative, 1 is the series'
    own noise, gaps are NaN. ``sds`` are of the logs: what 1 in ``oriented`` is worth. ``signs`` are 1 where
    more is better and else -1. ``rows`` are those of the last look's table with the same numbers, -1 for
    series that have new ones.
    """

    keys: list[Key]
    values: Floats
    numbers: Floats
    oriented: Floats
    sds: Floats
    correlations: Floats
    signs: Floats
    rows: Ints

    @property
    def length(self) -> int:
        return int(self.values.shape[1])


@dataclass(frozen=True, slots=True)
class _Line:
    """What is searched: a series or a mean of some. ``sd`` is what 1 is worth in logs."""

    values: Floats
    sd: float

    def lengthened(self, length: int) -> "_Line":
        """With gaps at the end."""
        more = length - len(self.values)
        return _Line(np.pad(self.values, (0, more), constant_values=np.nan), self.sd) if more else self


_Window = tuple[int, int, int | None]
"""Start, index and end of a step; None: the end of the table, wherever that is."""


@dataclass(slots=True)
class Memory:
    """What the last look at one table computed: the next one computes only what changed.

    Nothing is taken from it but what came of the same numbers, which is compared, so that it may be of any
    table. ``windows`` are 4 x series: what ``kernel.steps`` said. ``asked`` is what all findings depend on
    besides their line.
    """

    table: _Table | None = None
    row_of: Mapping[Key, int] = field(default_factory=dict)
    windows: dict[_Window, Floats] = field(default_factory=dict)
    asked: object = None
    alone: Sequence[Sequence["_Finding"]] = ()
    workloads: Mapping[Hashable, "_Workload"] = field(default_factory=dict)

    def take(self, now: "Memory") -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(now, one.name))

    @property
    def nbytes(self) -> int:
        table = self.table
        of_table = (table.values, table.numbers, table.oriented) if table else ()
        return sum(array.nbytes for array in (*of_table, *self.windows.values()))


@dataclass(frozen=True, slots=True)
class _Workload:
    """The mean of the metrics of one workload, of so many of them, and what its line showed."""

    metrics: int
    line: "_Line"
    findings: Sequence["_Finding"]


@dataclass(frozen=True, slots=True)
class _Step:
    """How one series moved at a given position: its levels, and how likely chance alone does so much."""

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
    least_effect: float = LEAST_EFFECT,
    memory: Memory | None = None,
) -> list[JointShift]:
    """The positions at which series of one place moved together, in order.

    ``table`` holds equally long series of positive values, aligned on positions, NaN or None where nothing
    was measured. ``known`` are positions confirmed in an earlier look; they keep their place while their
    evidence stands. ``expected`` are positions whose configuration or environment is not that of the one
    before: a change is expected there and not searched for. ``machine`` holds, by what was run, how slow the
    machine was, as a cost that the server has no part in; what moves with it is taken out (``covariate.py``).
    ``memory`` is what an earlier look at this table left and what this one leaves; it makes no difference.
    Raises ValueError where the lengths differ.
    """
    slow = {what: as_array(cost) for what, cost in (machine or {}).items()}
    if len({len(values) for values in (*table.values(), *slow.values())}) > 1:
        raise ValueError("The series of one table must be equally long.")
    if not table:
        return []
    last = memory or Memory()
    known, expected = frozenset(known), frozenset(expected)
    series = _table(table, slow, directions, last)
    findings, now = _findings(series, known, expected, last)
    clusters = _clusters(findings, known, expected)
    edges = [0, *sorted({index for index, _ in clusters}), max(map(len, table.values()), default=0)]
    steps = _Steps(series, last.windows, now.windows)
    shifts = [
        _joint_shift(steps, index, cluster, edges=edges, known=index in known, least_effect=least_effect)
        for index, cluster in sorted(clusters, key=lambda pair: pair[0])
    ]
    if memory:
        memory.take(now)
    return [shift for shift in shifts if shift]


def _table(
    table: Mapping[Key, Values],
    slow: Mapping[Hashable, Floats],
    directions: Mapping[Key, Direction],
    last: Memory,
) -> _Table:
    """Without the series that have too few points, or no scatter, to say anything."""
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    keys = list(table)
    values = _matrix([table[key] for key in keys])
    signs = np.array([1.0 if directions[key] == HIGHER else -1.0 for key in keys])
    numbers = values
    if slow:
        numbers = np.array(
            [without_machine(of, slow.get(key[0])) for key, of in zip(keys, values, strict=True)]
        )
    rows = _same_rows(last, keys, values, numbers, signs)
    new, same = np.flatnonzero(rows < 0), np.flatnonzero(rows >= 0)
    oriented = np.full(numbers.shape, np.nan)
    sds, correlations = np.empty(len(keys)), np.empty(len(keys))
    oriented[new], sds[new], correlations[new] = kernel.orient(
        numbers[new], signs[new], _FEWEST_POINTS, LEAST_SD
    )
    if last.table and len(same):
        of_last = rows[same]
        oriented[same, : last.table.length] = last.table.oriented[of_last]
        sds[same], correlations[same] = last.table.sds[of_last], last.table.correlations[of_last]
    told = np.isfinite(sds)
    values_told = values[told]
    return _Table(
        keys=[key for key, is_told in zip(keys, told.tolist(), strict=True) if is_told],
        values=values_told,
        numbers=values_told if numbers is values else numbers[told],
        oriented=oriented[told],
        sds=sds[told],
        correlations=correlations[told],
        signs=signs[told],
        rows=rows[told],
    )


def _matrix(rows: Sequence[Values]) -> Floats:
    """As ``as_array``, of many at once."""
    values = np.array([row if isinstance(row, np.ndarray) else as_array(row) for row in rows], dtype=float)
    values[~np.isfinite(values) | (values < 0)] = np.nan
    return values


def _same_rows(last: Memory, keys: Sequence[Key], values: Floats, numbers: Floats, signs: Floats) -> Ints:
    """Where the last table has each series with the same numbers at the same positions; -1: nowhere.

    Positions may have been added behind, where the series was not measured.
    """
    table = last.table
    if table is None or table.length > values.shape[1]:
        return np.full(len(keys), -1)
    rows = np.array([last.row_of.get(key, -1) for key in keys], dtype=np.int64)
    at = np.flatnonzero(rows >= 0)
    of_last = rows[at]
    same = (signs[at] == table.signs[of_last]) & _equal(values[at], table.values[of_last])
    if numbers is not values or table.numbers is not table.values:
        same &= _equal(numbers[at], table.numbers[of_last])
    rows[at[~same]] = -1
    return rows


def _equal(now: Floats, before: Floats) -> NDArray[np.bool_]:
    """Which rows are as they were, gaps at the end added."""
    length = before.shape[1]
    # As bits: one gap is like another.
    same = (now[:, :length].view(np.int64) == before.view(np.int64)).all(axis=1)
    return np.asarray(same & np.isnan(now[:, length:]).all(axis=1))


def _findings(
    series: _Table, known: frozenset[int], expected: frozenset[int], last: Memory
) -> tuple[list[_Finding], Memory]:
    """What the lines show, each kind with its share of the permitted false alarms; and what to remember."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for row in sorted(range(len(series.keys)), key=lambda row: str(series.keys[row][0])):
        members[series.keys[row][0]].append(row)
    look = _Look(_ascending(known), _ascending(expected), series, last)
    # On these depends what a line shows, besides itself.
    asked = known, expected, len(series.keys), len(members)
    is_asked_again = asked == last.asked
    alone = [look.alone(row, is_asked_again) for row in range(len(series.keys))]
    workloads = {
        what: look.workload(what, rows, is_asked_again, tests=4 * len(members))
        for what, rows in members.items()
    }
    everything = look.findings(_mean([one.line for one in workloads.values()]), tests=2) if workloads else []
    found = [*everything, *chain.from_iterable(one.findings for one in workloads.values())]
    found += chain.from_iterable(alone)
    row_of = {key: row for row, key in enumerate(series.keys)}
    return found, Memory(series, row_of, {}, asked, alone, workloads)


@dataclass(frozen=True, slots=True)
class _Look:
    """The search of the lines of one table; what did not change is as the last look found it."""

    known: Ints
    expected: Ints
    series: _Table
    last: Memory

    def alone(self, row: int, is_asked_again: bool) -> Sequence[_Finding]:
        of_last = self.series.rows[row]
        if is_asked_again and of_last >= 0:
            return self.last.alone[of_last]
        return self.findings(self._line(row), tests=4 * len(self.series.keys))

    def workload(self, what: Hashable, rows: list[int], is_asked_again: bool, *, tests: int) -> _Workload:
        known = self.last.workloads.get(what)
        if known is None or known.metrics != len(rows) or (self.series.rows[rows] < 0).any():
            line = _mean([self._line(row) for row in rows])
            return _Workload(len(rows), line, self.findings(line, tests=tests))
        line = known.line.lengthened(self.series.length)
        findings = known.findings if is_asked_again else self.findings(line, tests=tests)
        return _Workload(len(rows), line, findings)

    def findings(self, line: _Line, *, tests: int) -> Sequence[_Finding]:
        measured = np.flatnonzero(np.isfinite(line.values))
        x = line.values[measured]
        boundaries = _boundaries(
            x,
            known=np.searchsorted(measured, self.known),
            expected=np.searchsorted(measured, self.expected),
            tests=tests,
            typical_step=TYPICAL_STEP / line.sd,
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

    def _line(self, row: int) -> _Line:
        return _Line(self.series.oriented[row], float(self.series.sds[row]))


def _ascending(positions: Collection[int]) -> Ints:
    return np.array(sorted(positions), dtype=np.int64)


def _boundaries(
    x: Floats, *, known: Ints, expected: Ints, tests: float, typical_step: float
) -> Sequence[Boundary]:
    """As ``levels.find_boundaries`` finds them, once: most lines of a place are as the last look saw them."""
    asked = blake2b(np.array([len(x), len(known), tests, typical_step]).tobytes(), digest_size=16)
    for part in (x, known, expected):
        asked.update(part.tobytes())
    answer = _answers.pop(asked.digest(), None)
    if answer is None:
        answer = find_boundaries(
            x,
            known=known.tolist(),
            expected=expected.tolist(),
            least_sd=0.1,
            least_step=0,
            tests=tests,
            typical_step=typical_step,
        )
    # The one asked for last stands last, and the first goes first.
    _answers[asked.digest()] = answer
    while len(_answers) > _MOST_ANSWERS:
        _answers.pop(next(iter(_answers)), None)
    return answer


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
    steps: "_Steps",
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
    members, are_clear = steps.moved(start, index, end, worse=worse, least_effect=least_effect)
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


class _Steps:
    """How each series moved at the places where something was found, the same ones as in the last look
    being remembered.
    """

    def __init__(self, series: _Table, last: Mapping[_Window, Floats], now: dict[_Window, Floats]) -> None:
        self._series, self._last, self._now = series, last, now
        self._new = np.flatnonzero(series.rows < 0)
        self._of_new = series.values[self._new], series.oriented[self._new], series.correlations[self._new]

    def moved(
        self, start: int, index: int, end: int, *, worse: bool, least_effect: float
    ) -> tuple[list[_Step], bool]:
        """The series whose own step from [start, index) to [index, end) is in this direction and large enough
        and stands out, and True; where none stands out, the one that does most, and False.

        Their p is corrected for all series that have enough points (Benjamini & Hochberg 1995).
        """
        before, after, step, p = self._steps(start, index, end)
        told = np.flatnonzero(np.isfinite(p))
        corrected = adjusted_p(p)
        # What the search says, and what was measured, the machine's speed included.
        searched, seen = step[told] < 0, (after[told] < before[told]) == (self._series.signs[told] > 0)
        large = np.abs(after[told] / before[told] - 1) >= least_effect
        moved = told[(searched == worse) & (seen == worse) & large]
        clear = moved[corrected[moved] < _MEMBER_BELOW]
        members = clear if len(clear) else moved[np.argsort(corrected[moved], kind="stable")[:1]]
        return [
            _Step(self._series.keys[at], float(before[at]), float(after[at]), float(corrected[at]))
            for at in members.tolist()
        ], bool(len(clear))

    def _steps(self, start: int, index: int, end: int) -> Floats:
        """4 x series, see ``kernel.steps``."""
        window = start, index, end if end < self._series.length else None
        if window not in self._now:
            self._now[window] = self._computed(window)
        return self._now[window]

    def _computed(self, window: _Window) -> Floats:
        from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

        start, index, end = window[0], window[1], window[2] or self._series.length
        series, known = self._series, self._last.get(window)
        if known is None:
            of_all = series.values, series.oriented, series.correlations
            return np.array(kernel.steps(*of_all, start, index, end, _FEWEST_BEFORE))
        steps = known[:, series.rows]
        steps[:, self._new] = kernel.steps(*self._of_new, start, index, end, _FEWEST_BEFORE)
        return steps
