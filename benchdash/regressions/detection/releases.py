"""Shifts of a handful of releases: two to ten groups, often with one run each.

Ten points say little about their own noise, but the other series of the place were measured in the same
sessions. All series of one metric are a *family*: its lines are the workloads at their thread counts, its
columns the sessions. Runs of one version that were made in one go are one session (``results.sessions``); a
version measured once is one, too. Everything is on logs and turned so that worse is down.

A step from one level to the next is the mean of the sessions after it less the mean of those before. What a
session adds to everything (another start, another hour of the machine) is in it too. One session on each
side cannot tell that from a change of the server, so its size must come from how sessions of one level
scatter. Four questions are asked, the first three of the mean of the metrics of what was run (weighted by one
over their noise), because throughput and latency of the same runs are one measurement:

- did *everything* move? A t test on the mean over workloads of each session. The thread counts of a workload
  are alike, so a workload counts once; their dependence is in the scatter of the session means.
- did what ran *from so many threads on* move against what ran below? What a session adds to both falls out.
  The variance is that of the difference itself from session to session, drawn towards what the scatter of
  all thread counts lets expect, which counts for four degrees of freedom (Smyth 2004, Linear models and
  empirical Bayes methods).
- did *part of the workloads* move against the others? Each against the median of all, its variance moderated
  in the same way; so many of W workloads are significant together if the binomial tail says so (Berk & Jones
  1979, Goodness-of-fit test statistics that dominate the Kolmogorov statistics). No p below 0.005 is
  believed here, because noise has outliers: many workloads convince, one does not.
- did *one series* move alone? A t test with a moderated variance and four degrees of freedom, for the same
  reason.

Bonferroni corrects for the questions of each kind, for the four kinds, and for the positions where a change
was searched; a place where something else is known to have changed was not searched for.

Where no level has two sessions, nothing tells how much sessions scatter. The first question is then asked of
three things that were run, or more, with an assumed scatter that counts for four degrees of freedom: 3 %, or
that of the single steps, which is a lower bound. Its answer is never more than a suspicion: what the machine
did that hour cannot be told from what the version does.

A change is suspected with p < 0.02 after correction. It is confirmed with p < 0.0003, or 0.005 where
something else is known to have changed, if

- there are two sessions on each side, or three where everything moved or one series alone: nothing stayed
  behind there to compare with, and two bad sessions in a row are not rare;
- without any one session two thirds of the step are left: a bad hour looks like a slow release, to everything
  or to those workloads that ran in it;
- what moved against other workloads stands out (p < 0.01) of the scatter of this very difference;
- a series passes Benjamini-Hochberg at 5 %. Those that do are its members.

The new level of every member lies outside of what its own evidence lets expect: without such a series nothing
is even suspected.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import bdtrc, stdtr, stdtrit

from benchdash.regressions.detection.compare import adjusted_p
from benchdash.regressions.detection.joint import JointShift, Key
from benchdash.regressions.detection.noise import MIN_SD, Bools, Floats, Ints
from benchdash.regressions.detection.shifts import MIN_EFFECT, Family, Shift, State
from benchdash.results.readings import HIGHER, Direction

Sessions = Sequence[Sequence[float]]
"""The values of the sessions at each position; empty where nothing was measured."""

MAX_RELEASE_GROUPS = 10
"""With more groups than this only ``joint.py`` searches for changes."""

_SUSPECTED = 0.02
_CONFIRMED = 3e-4
_CONFIRMED_WHERE_EXPECTED = 0.005
_STANDS_OUT = 0.01
_LEFT_WITHOUT_ONE = 2 / 3
_SESSIONS = 2
_SESSIONS_OF_EVERYTHING = 3
_MEMBER_BELOW = 0.05
_KEPT_BELOW = 0.01
_KINDS = 4
_PRIOR_DF = 4
_MIN_SESSION_SD = 0.005
"""No machine is trusted to be the same from session to session within less than 0.5 %."""
_ASSUMED_SESSION_SD = 0.03
"""The least that sessions are taken to scatter by where nothing tells it; 8 to 20 % on shared machines."""
_BELIEVED = 0.005
_MIN_WORKLOADS = 5
_MIN_TOGETHER = 3
_MIN_THREAD_COUNTS = 4
_MAX_SESSIONS = 10
_NORMAL_MEDIAN = 0.6745  # median of |z| for a standard normal z
_SETTLED = 15


@dataclass(frozen=True, slots=True)
class _Lines:
    """Series, or means of some. ``x`` is (lines, sessions): logs, worse is down, NaN where nothing is.

    ``positions`` are those of the sessions, ``min_sd`` is what a line cannot scatter
    less than.
    """

    keys: tuple[Key, ...]
    x: Floats
    positions: Ints
    signs: Floats
    min_sd: Floats

    def only(self, chosen: Ints) -> "_Lines":
        keys = tuple(self.keys[line] for line in chosen)
        return replace(
            self, keys=keys, x=self.x[chosen], signs=self.signs[chosen], min_sd=self.min_sd[chosen]
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """A possible change: between the level from ``start`` to ``index`` and the one from there to ``end``.

    ``levels`` are the edges of all levels that are taken for granted, these two among them.
    """

    start: int
    index: int
    end: int
    levels: tuple[int, ...]

    @classmethod
    def among(cls, index: int, edges: Sequence[int], length: int) -> "_Place":
        around = [0, *(edge for edge in edges if edge != index), length]
        return cls(
            start=max(index - _SETTLED, *(edge for edge in around if edge < index)),
            index=index,
            end=min(index + _SETTLED, *(edge for edge in around if edge > index)),
            levels=tuple(sorted({*around, index})),
        )

    def sides(self, positions: Ints) -> tuple[Bools, Bools]:
        """Tell which sessions, given by their positions, belong to the levels before and after."""
        before = (positions >= self.start) & (positions < self.index)
        return before, (positions >= self.index) & (positions < self.end)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The steps of lines that were measured on both sides of a place, and what is left of their sessions.

    ``lines`` are their numbers, ``steps`` is (lines,), ``rest`` (lines, sessions) less the levels, ``df``
    what the sessions leave after the levels. ``before`` and ``after`` are the sessions on both sides, and
    ``width`` is 1/before + 1/after: a step's variance in units of that of one session.
    """

    lines: Ints
    steps: Floats
    rest: Floats
    df: int
    before: Bools
    after: Bools
    width: float

    def means(self, of: Sequence[Ints]) -> "_Rows":
        """Average several sets of lines."""
        steps = np.array([self.steps[lines].mean() for lines in of])
        rest = np.array([_mean_present(self.rest[lines]) for lines in of])
        return replace(self, lines=np.arange(len(of)), steps=steps, rest=rest)

    def has_sessions(self, number: int) -> bool:
        """On each side."""
        return bool(self.before.sum() >= number and self.after.sum() >= number)


@dataclass(frozen=True, slots=True)
class _Sign:
    """The answer to one question: ``p`` corrected for the questions of its kind, ``moved`` what was run.

    ``is_assumed``: the scatter of sessions is not known.
    """

    p: float
    worse: bool
    moved: frozenset[Hashable]
    may_confirm: bool
    is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class _Single:
    """Each line of a family at one place, by itself.

    ``t`` is negative for worse and has ``df`` degrees of freedom; ``low`` and ``high`` are what was to be
    expected in the unit of the metric, and ``noise`` is the sd of a session.
    """

    lines: _Lines
    rows: _Rows
    t: Floats
    df: float
    low: Floats
    high: Floats
    noise: Floats

    def p(self, *, worse: bool) -> Floats:
        return np.asarray(stdtr(self.df, self.t if worse else -self.t))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A change that a place shows; ``tested`` is its p corrected for kinds, not for places.

    ``clear``: the members pass Benjamini-Hochberg; else the only one is the strongest.
    """

    index: int
    tested: float
    worse: bool
    may_confirm: bool
    members: Mapping[Key, Shift]
    clear: bool


def find_release_shifts(
    table: Mapping[Key, Sessions],
    directions: Mapping[Key, Direction],
    *,
    known: Collection[int] = (),
    expected: Collection[int] = (),
    search: bool = True,
) -> list[JointShift]:
    """Find the positions at which series of a short history moved, in order; see the top of the module.

    ``known`` are positions confirmed in an earlier look: they stay while their own evidence has p < 0.01.
    ``expected`` are positions whose configuration or environment is not that of the one before. Without
    ``search`` only the known ones are looked at. What was run is best given as (workload, threads).
    """
    length = max((len(sessions) for sessions in table.values()), default=0)
    lines = _lines(table, directions, length)
    if not lines.keys:
        return []
    families, means = _families(lines), _means_of_metrics(lines)
    edges = sorted({index for index in known if 0 < index < length})
    found = []
    for index in list(edges):
        verdict = _judge(means, families, _Place.among(index, edges, length))
        if verdict and verdict.tested < _KEPT_BELOW:
            found.append(_shift(verdict, verdict.tested, confirmed=True))
        else:
            edges.remove(index)
    while search and len(edges) < length - 1:
        candidates = [
            (verdict.tested * (len(expected) if index in expected else length - 1), verdict)
            for index in range(1, length)
            if index not in edges and (verdict := _judge(means, families, _Place.among(index, edges, length)))
        ]
        if not candidates:
            break
        p, verdict = min(candidates, key=lambda pair: pair[0])
        if p >= _SUSPECTED:
            break
        bar = _CONFIRMED_WHERE_EXPECTED if verdict.index in expected else _CONFIRMED
        edges = sorted([*edges, verdict.index])
        found.append(_shift(verdict, p, confirmed=p < bar and verdict.may_confirm and verdict.clear))
    return sorted(found, key=lambda shift: shift.index)


def find_shift_at(
    index: int,
    table: Mapping[Key, Sessions],
    directions: Mapping[Key, Direction],
    *,
    levels: Collection[int] = (),
) -> JointShift | None:
    """Judge the one position where a change may be, such as the first release of a line; None for nothing.

    ``levels`` are the positions where other changes were confirmed. Nobody searched for the place, so it is
    judged as one where something else is known to have changed.
    """
    length = max((len(sessions) for sessions in table.values()), default=0)
    lines = _lines(table, directions, length)
    if not lines.keys or not 0 < index < length:
        return None
    place = _Place.among(index, sorted({*levels} - {index}), length)
    verdict = _judge(_means_of_metrics(lines), _families(lines), place)
    if verdict is None:
        return None
    confirmed = verdict.tested < _CONFIRMED_WHERE_EXPECTED and verdict.may_confirm and verdict.clear
    return _shift(verdict, verdict.tested, confirmed=confirmed)


def _shift(verdict: _Verdict, p: float, *, confirmed: bool) -> JointShift:
    state: State = "confirmed" if confirmed else "suspected"
    members = {key: replace(shift, state=state) for key, shift in verdict.members.items()}
    return JointShift(verdict.index, verdict.worse, 1 - min(p, 1.0), state, members)


# --- lines ------------------------------------------------------------------------------------------------


def _lines(table: Mapping[Key, Sessions], directions: Mapping[Key, Direction], length: int) -> _Lines:
    """Lay all series that were ever measured over common sessions."""
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    values = {
        key: [_thinned([value for value in group if np.isfinite(value) and value > 0]) for group in sessions]
        for key, sessions in table.items()
    }
    keys = tuple(key for key, groups in values.items() if any(groups))
    most = [
        max((len(values[key][at]) for key in keys if at < len(values[key])), default=0)
        for at in range(length)
    ]
    first = np.concatenate([[0], np.cumsum(most)]).astype(int)
    x = np.full((len(keys), int(first[-1])), np.nan)
    for line, key in enumerate(keys):
        for at, group in enumerate(values[key]):
            x[line, first[at] : first[at] + len(group)] = np.log(group)
    signs = np.array([1.0 if directions[key] == HIGHER else -1.0 for key in keys])
    least = [max(MIN_SD, kernel.rounding_sd(np.exp(line[np.isfinite(line)]))) for line in x]
    return _Lines(keys, x * signs[:, None], np.repeat(np.arange(length), most), signs, np.array(least))


def _thinned(values: list[float]) -> list[float]:
    """Average neighbours of more than ten sessions: they would not know more of a session's scatter."""
    if len(values) <= _MAX_SESSIONS:
        return values
    return [float(np.exp(np.log(part).mean())) for part in np.array_split(values, _MAX_SESSIONS)]


def _families(lines: _Lines) -> list[_Lines]:
    return [lines.only(chosen) for chosen in _sets([key[1] for key in lines.keys])]


def _means_of_metrics(lines: _Lines) -> _Lines:
    """Make one line of what was run: the mean of its metrics, weighted by one over their families' noise."""
    weights = np.zeros(len(lines.keys))
    for chosen in _sets([key[1] for key in lines.keys]):
        weights[chosen] = 1 / max(
            _typical_difference(lines.x[chosen]), float(np.median(lines.min_sd[chosen]))
        )
    centred = lines.x - np.array([np.mean(_present(line)) for line in lines.x])[:, None]
    sets = _sets([key[0] for key in lines.keys])
    return _Lines(
        keys=tuple((lines.keys[chosen[0]][0], "") for chosen in sets),
        x=np.array([_weighted_mean(centred[chosen], weights[chosen]) for chosen in sets]),
        positions=lines.positions,
        signs=np.ones(len(sets)),
        min_sd=np.array([lines.min_sd[chosen].min() for chosen in sets]),
    )


def _typical_difference(x: Floats) -> float:
    """Return the median difference from session to session, of what was measured in both."""
    differences = np.abs(np.diff(x, axis=1))
    return float(np.median(_present(differences)))


# --- one place --------------------------------------------------------------------------------------------


def _judge(means: _Lines, families: Sequence[_Lines], place: _Place) -> _Verdict | None:
    """Judge a change at a place; None where the lines say nothing of one."""
    singles = [single for family in families if (single := _single(family, _steps(family, place), place))]
    signs = [*_together(means, _steps(means, place)), *_alone(singles)]
    sign = min(signs, key=lambda one: one.p, default=None)
    if sign is None or sign.p * _KINDS >= _SUSPECTED:
        return None
    if sign.is_assumed:
        singles = [_of_one_session(family, _steps(family, place), place) for family in families]
    members: dict[Key, Shift] = {}
    for single in singles:
        members.update(_members(single, sign, place))
    if not members:
        return None
    sure = {key: shift.confidence or 0.0 for key, shift in members.items()}
    clear = {key: members[key] for key in members if sign.is_assumed or 1 - sure[key] < _MEMBER_BELOW}
    strongest = max(members, key=lambda key: sure[key])
    return _Verdict(
        index=place.index,
        tested=sign.p * _KINDS,
        worse=sign.worse,
        may_confirm=sign.may_confirm,
        members=clear or {strongest: members[strongest]},
        clear=bool(clear),
    )


def _steps(lines: _Lines, place: _Place) -> _Rows:
    before, after = place.sides(lines.positions)
    present = np.isfinite(lines.x)
    n_before, n_after = present[:, before].sum(axis=1), present[:, after].sum(axis=1)
    measured = np.flatnonzero((n_before > 0) & (n_after > 0))
    rest = lines.x[measured]
    steps = _row_means(rest[:, after]) - _row_means(rest[:, before])
    df = 0
    for first, last in pairwise(place.levels):
        within = (lines.positions >= first) & (lines.positions < last)
        seen = present[np.ix_(measured, within)].any(axis=0)
        df += max(0, int(seen.sum()) - 1)
        rest[:, within] -= _row_means(rest[:, within])[:, None]
    width = float(np.mean(1 / n_before[measured] + 1 / n_after[measured])) if len(measured) else 0.0
    seen = present[measured].any(axis=0)
    return _Rows(measured, steps, rest, df, before & seen, after & seen, width)


def _together(means: _Lines, rows: _Rows) -> Iterator[_Sign]:
    """Ask what several lines show together."""
    if not len(rows.lines):
        return
    ran = [means.keys[line][0] for line in rows.lines]
    of_workload = _sets([what[0] if isinstance(what, tuple) else what for what in ran])
    if rows.df:
        yield _everything(rows.means(of_workload), ran)
    elif len(ran) >= _MIN_TOGETHER:
        yield _everything_of_one_session(rows, of_workload, ran)
    threads = np.array([_threads(what) for what in ran])
    yield from _from_threads_on(threads, rows, ran)
    if len(of_workload) >= _MIN_WORKLOADS:
        yield from _part_of_workloads(rows.means(of_workload), of_workload, ran)


def _everything(workloads: _Rows, ran: Sequence[Hashable]) -> _Sign:
    step = float(workloads.steps.mean())
    rest = _mean_present(workloads.rest)
    variance = max(_scatter(rest, workloads.df), _MIN_SESSION_SD**2)
    p = _two_sided(step / np.sqrt(variance * workloads.width), workloads.df)
    holds = workloads.has_sessions(_SESSIONS_OF_EVERYTHING) and _holds_without_any_session(
        step, rest, workloads
    )
    return _Sign(p, step < 0, frozenset(ran), may_confirm=holds)


def _assumed_error(rows: _Rows) -> float:
    """Return the standard error of a step of everything where one session on each side is all there is."""
    return max(_ASSUMED_SESSION_SD * float(np.sqrt(rows.width)), float(np.std(rows.steps, ddof=1)))


def _everything_of_one_session(rows: _Rows, of_workload: Sequence[Ints], ran: Sequence[Hashable]) -> _Sign:
    step = float(rows.means(of_workload).steps.mean())
    p = _two_sided(step / _assumed_error(rows), _PRIOR_DF)
    return _Sign(p, step < 0, frozenset(ran), may_confirm=False, is_assumed=True)


def _from_threads_on(threads: Floats, rows: _Rows, ran: Sequence[Hashable]) -> Iterator[_Sign]:
    """Ask every split of the thread counts, two or more on each side."""
    counts = np.unique(threads[np.isfinite(threads)])
    if len(counts) < _MIN_THREAD_COUNTS:
        return
    curve = rows.means([np.flatnonzero(threads == count) for count in counts])
    splits = range(2, len(counts) - 1)
    for split in splits:
        low, high = curve.steps[:split], curve.steps[split:]
        step = float(high.mean() - low.mean())
        rest = _mean_present(curve.rest[split:]) - _mean_present(curve.rest[:split])
        share = 1 / split + 1 / (len(counts) - split)
        if curve.df:
            typical = _scatter(curve.rest - _mean_present(curve.rest), curve.df * (len(counts) - 1)) * share
            df: float = _PRIOR_DF + curve.df
            variance = (_PRIOR_DF * typical + curve.df * _scatter(rest, curve.df)) / df
        else:
            # One session each: how thread counts of one side differ in their steps is all that is known.
            df = len(counts) - 2
            variance = (low.var() * split + high.var() * len(high)) / df / curve.width * share
        t = step / np.sqrt(max(variance, MIN_SD**2 * share) * curve.width)
        moved = threads >= counts[split] if abs(high.mean()) >= abs(low.mean()) else threads < counts[split]
        yield _Sign(
            _two_sided(t, df) * len(splits),
            bool(rows.steps[moved].mean() < 0),
            frozenset(what for what, one in zip(ran, moved, strict=True) if one),
            may_confirm=_holds_without_any_session(step, rest, curve),
        )


def _part_of_workloads(
    workloads: _Rows, of_workload: Sequence[Ints], ran: Sequence[Hashable]
) -> Iterator[_Sign]:
    """Ask those that moved down against the median of all, and those that moved up."""
    t, df = _against_the_others(workloads)
    count = len(t)
    together = range(_MIN_TOGETHER, max(_MIN_TOGETHER, count // 2) + 1)
    for worse in (True, False):
        p = stdtr(df, t if worse else -t)
        order = np.argsort(p)
        tails = [float(bdtrc(k - 1, count, max(p[order[k - 1]], _BELIEVED))) for k in together]
        most = together[int(np.argmin(tails))]
        moved, others = order[:most], order[most:]
        if (workloads.steps[moved].mean() < 0) != worse:
            continue
        step = float(workloads.steps[moved].mean() - workloads.steps[others].mean())
        rest = _mean_present(workloads.rest[moved]) - _mean_present(workloads.rest[others])
        yield _Sign(
            min(tails) * len(together) * 2,
            worse,
            frozenset(ran[line] for workload in moved for line in of_workload[workload]),
            may_confirm=_holds_without_any_session(step, rest, workloads)
            and _stands_out(step, rest, workloads),
        )


def _against_the_others(workloads: _Rows) -> tuple[Floats, float]:
    """Return t of each workload's step against the median of all, with its degrees of freedom."""
    against = workloads.steps - np.median(workloads.steps)
    if workloads.df:
        rest = workloads.rest - np.array([np.median(_present(column)) for column in workloads.rest.T])
        own = np.array([_scatter(line, workloads.df) for line in rest]) / (1 - 1 / len(against))
        typical = float(np.median(own)) / _median_of_mean_square(workloads.df)
        variance = (_PRIOR_DF * typical + workloads.df * own) / (_PRIOR_DF + workloads.df)
    else:
        typical = float(np.median(np.abs(against))) / _NORMAL_MEDIAN
        variance = np.full(len(against), typical**2 / workloads.width)
    sd = np.sqrt(np.maximum(variance, MIN_SD**2) * workloads.width)
    return against / sd, _PRIOR_DF + workloads.df


def _alone(singles: Sequence[_Single]) -> Iterator[_Sign]:
    """Ask the series that moved most, of those whose noise from session to session is known."""
    known = [single for single in singles if single.rows.df]
    tests = sum(len(single.t) for single in known)
    for single in known:
        line = int(np.argmax(np.abs(single.t)))
        rows = single.rows
        step = float(rows.steps[line])
        yield _Sign(
            _two_sided(float(single.t[line]), min(single.df, _PRIOR_DF)) * tests,
            step < 0,
            frozenset([single.lines.keys[rows.lines[line]][0]]),
            may_confirm=rows.has_sessions(_SESSIONS_OF_EVERYTHING)
            and _holds_without_any_session(step, rows.rest[line], rows),
        )


def _holds_without_any_session(step: float, rest: Floats, rows: _Rows) -> bool:
    """Tell whether two thirds of a step are left whichever session is left out."""
    if not rows.has_sessions(_SESSIONS):
        return False
    # Leaving one of n out moves their mean by its distance from it over n - 1.
    after = rest[rows.after] / (rows.after.sum() - 1)
    before = rest[rows.before] / (rows.before.sum() - 1)
    left = np.concatenate([step - after, step + before]) * np.sign(step)
    return bool(left.min() >= _LEFT_WITHOUT_ONE * abs(step))


def _stands_out(step: float, rest: Floats, rows: _Rows) -> bool:
    """Tell whether the step of a difference is more than what it does from session to session."""
    variance = max(_scatter(rest, rows.df), MIN_SD**2)
    return _two_sided(step / np.sqrt(variance * rows.width), rows.df) < _STANDS_OUT


def _single(lines: _Lines, rows: _Rows, place: _Place) -> _Single | None:
    """Hold each line against what its level and the family's noise let expect; None where nothing does."""
    count = len(rows.lines)
    common = 0.0
    if rows.df and count:
        own = np.array([_scatter(line, rows.df) for line in rows.rest])
        prior = min(_PRIOR_DF, rows.df * (count - 1))
        variance = (prior * float(own.mean()) + rows.df * own) / (prior + rows.df)
        df: float = prior + rows.df
        least = np.maximum(lines.min_sd[rows.lines], _MIN_SESSION_SD)
    elif count >= _MIN_WORKLOADS:
        # One session each: all that can be said is how a series moved beside the others.
        common = float(np.median(rows.steps))
        typical = float(np.median(np.abs(rows.steps - common))) / _NORMAL_MEDIAN
        variance = np.full(count, typical**2 / rows.width)
        df = _PRIOR_DF
        least = lines.min_sd[rows.lines]
    else:
        return None
    sd = np.sqrt(np.maximum(variance, least**2))
    error = sd * np.sqrt(rows.width)
    before, _ = place.sides(lines.positions)
    level = _row_means(lines.x[rows.lines][:, before]) + common
    half = stdtrit(df, 0.975) * error
    ends = np.exp(lines.signs[rows.lines] * np.array([level - half, level + half]))
    return _Single(lines, rows, (rows.steps - common) / error, df, ends.min(axis=0), ends.max(axis=0), sd)


def _of_one_session(lines: _Lines, rows: _Rows, place: _Place) -> _Single:
    """Hold each line against the level before and the assumed scatter of sessions."""
    before, _ = place.sides(lines.positions)
    error = _assumed_error(rows) if len(rows.lines) > 1 else _ASSUMED_SESSION_SD * np.sqrt(2)
    level = _row_means(lines.x[rows.lines][:, before])
    half = stdtrit(_PRIOR_DF, 0.975) * error
    ends = np.exp(lines.signs[rows.lines] * np.array([level - half, level + half]))
    unknown = np.full(len(rows.lines), np.nan)
    return _Single(lines, rows, rows.steps / error, _PRIOR_DF, ends.min(axis=0), ends.max(axis=0), unknown)


def _members(single: _Single, sign: _Sign, place: _Place) -> Iterator[tuple[Key, Shift]]:
    """Yield the series of what moved that went the same way, to outside of their expected range.

    Confidence is 1 - adjusted p. Noise, range and confidence are not known where the scatter is assumed.
    """
    lines = single.lines
    before, after = place.sides(lines.positions)
    adjusted = adjusted_p(single.p(worse=sign.worse)).tolist()
    for at, (line, p) in enumerate(zip(single.rows.lines, adjusted, strict=True)):
        key = lines.keys[line]
        x = lines.x[line] * lines.signs[line]
        old, new = (float(np.exp(np.median(_present(x[side])))) for side in (before, after))
        change = new / old - 1
        is_worse = (change < 0) == (lines.signs[line] > 0)
        same_way = is_worse == (single.rows.steps[at] < 0) == sign.worse
        if np.isnan(p) or key[0] not in sign.moved or not same_way or abs(change) < MIN_EFFECT:
            continue
        low, high = float(single.low[at]), float(single.high[at])
        if low <= new <= high:
            continue
        count = len(single.rows.lines)
        if sign.is_assumed:
            yield (
                key,
                Shift(place.index, old, new, change, None, "suspected", Family(None, None, None, count)),
            )
        else:
            family = Family(float(single.noise[at]), low, high, count)
            yield key, Shift(place.index, old, new, change, 1 - p, "suspected", family)


# --- numbers ----------------------------------------------------------------------------------------------


def _sets(labels: Sequence[Hashable]) -> list[Ints]:
    """Return the numbers of those with the same label."""
    of_label: dict[Hashable, list[int]] = {}
    for number, label in enumerate(labels):
        of_label.setdefault(label, []).append(number)
    return [np.array(numbers) for numbers in of_label.values()]


def _threads(what: Hashable) -> float:
    if isinstance(what, tuple) and len(what) == 2 and isinstance(what[1], int):
        return float(what[1])
    return np.nan


def _present(values: Floats) -> Floats:
    present = values[np.isfinite(values)]
    return present if len(present) else np.zeros(1)


def _row_means(rows: Floats) -> Floats:
    """Average each row over what is present, 0 where nothing is."""
    return _mean_present(rows.T)


def _mean_present(rows: Floats) -> Floats:
    """Average each column over what is present, 0 where nothing is."""
    present = np.isfinite(rows)
    total = np.where(present, rows, 0).sum(axis=0)
    return np.asarray(total / np.maximum(present.sum(axis=0), 1))


def _weighted_mean(rows: Floats, weights: Floats) -> Floats:
    """Average each column over what is present, NaN where nothing is."""
    present = np.isfinite(rows)
    weight = (present * weights[:, None]).sum(axis=0)
    total = (np.where(present, rows, 0) * weights[:, None]).sum(axis=0)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1), np.nan)


def _scatter(rest: Floats, df: int) -> float:
    """Return the variance of one session from what the levels leave."""
    return float(np.nansum(rest**2)) / df


def _two_sided(t: float, df: float) -> float:
    return float(2 * stdtr(df, -abs(t)))


def _median_of_mean_square(df: int) -> float:
    """Return the median of chi squared over its degrees of freedom (Wilson & Hilferty 1931)."""
    return float((1 - 2 / (9 * df)) ** 3)
