"""How much sessions scatter at an unchanged level, estimated from histories: the noise of comparisons.

The nights of a branch at the place of a version say it best. Without any, the releases of a line do, or else
those of all lines, whose scatter holds what changed from one to the next besides. A history tells of as many
sessions as it has groups that started further apart than a session lasts; only two runs that were measured
while it was, or next to it, may be judged by all of its groups. Where its level moved between the two runs,
or one of them is older, and it moves more than once, it scatters as much as it moves.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

import numpy as np
from django.conf import settings

from benchdash.regressions.comparison.cells import Cell, RowKey, SeriesRow, What
from benchdash.regressions.comparison.shared_sessions import Pairs
from benchdash.regressions.detection.level_scatter import MIN_WORTH, LevelHistories
from benchdash.regressions.detection.noise import Bools, Floats, Ints
from benchdash.regressions.queries import beginnings
from benchdash.results.points import Point, read_points
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.sessions import counting, number_apart

_DAY_S: Final = 24 * 60 * 60
# Only the newest runs of a series count, because noise changes with time.
_MAX_RUNS: Final = 36
_MAX_WORTH: Final = 19.0
# Values that were the same each time are known to scatter little: no comparison believes less than 0.1 %.
# Changes of level in a history from which on they count as its scatter.
_COMES_AND_GOES: Final = 2
_UNSEEN: Final = 1e-9


class NoiseFloor(NamedTuple):
    """Standard deviation of the logs of single runs, or sessions, and the degrees of freedom it is worth."""

    sd: float
    worth: float


@dataclass(frozen=True, slots=True)
class Floors:
    """Many noise floors, one element each; NaN and 0 where nothing is known."""

    sd: Floats
    worth: Floats

    @classmethod
    def of(cls, floors: Iterable[NoiseFloor | None]) -> "Floors":
        sd, worth = np.array([one or (np.nan, 0.0) for one in floors], dtype=float).reshape(-1, 2).T
        return cls(sd, worth)

    def __getitem__(self, at: int) -> NoiseFloor | None:
        return NoiseFloor(float(self.sd[at]), float(self.worth[at])) if self.worth[at] else None

    def where(self, holds: Bools, others: "Floors") -> "Floors":
        """Take these where that ``holds``, else the others."""
        return Floors(np.where(holds, self.sd, others.sd), np.where(holds, self.worth, others.worth))

    def where_known_else(self, others: "Floors") -> "Floors":
        return self.where(self.worth > 0, others)


@dataclass(frozen=True)
class Levels:
    """The values of the groups of a history in order, and at which indexes a new level begins.

    ``names`` tell the groups from each other where some are left out: ids of versions, or positions.
    ``runs`` is how many sessions a group has in the median. ``times`` are the first starts of the groups in
    epoch seconds.
    """

    values: Sequence[float] | Floats
    names: Sequence[Hashable]
    runs: float
    starts: Collection[int]
    times: Sequence[float]

    @classmethod
    def of(
        cls,
        points: Sequence[Point],
        starts: Collection[int],
        names: Sequence[Hashable] = (),
        *,
        of_branch: bool,
    ) -> "Levels":
        """Take the levels of points that count; without ``names`` no group can be left out later."""
        runs = median([point.independent for point in points]) if points else 1
        times = [point.time.timestamp() for point in points]
        levels = cls([point.value for point in points], names, runs, starts, times)
        return levels.counting([point.received_at for point in points], of_branch=of_branch)

    def counting(self, received_at: Sequence[float] | Floats, *, of_branch: bool) -> "Levels":
        """Leave out the groups that do not count, by when they were received (``results.sessions``)."""
        counts = counting(received_at, of_branch=of_branch)
        if counts.all():
            return self
        kept = np.flatnonzero(counts).tolist()
        starts = np.searchsorted(kept, sorted(self.starts)).tolist()
        return replace(
            self,
            values=[self.values[at] for at in kept],
            names=[self.names[at] for at in kept] if len(self.names) else (),
            starts={start for start in starts if start < len(kept)},
            times=[self.times[at] for at in kept],
        )

    def joined(self, other: "Levels") -> "Levels":
        """Take the groups of both for one level."""
        return Levels(
            values=[*self.values, *other.values],
            names=[*self.names, *other.names],
            runs=max(self.runs, other.runs),
            starts=(),
            times=[*self.times, *other.times],
        )


@dataclass(frozen=True, slots=True)
class Histories:
    """Levels of many series; ``runs`` as of each.

    ``times`` are when their groups started; ``worth`` is what their sessions tell at most.
    """

    levels: LevelHistories
    runs: Floats
    times: Floats
    worth: Floats

    @classmethod
    def of(cls, levels: Sequence[Levels]) -> "Histories":
        known = LevelHistories.of(
            [one.values for one in levels], [one.starts for one in levels], [one.names for one in levels]
        )
        times = np.full(known.logs.shape, np.nan)
        for at, one in enumerate(levels):
            times[at, : len(one.times)] = one.times
        return cls(
            known,
            runs=np.array([one.runs for one in levels], dtype=float),
            times=times,
            worth=np.array(
                [number_apart(one.times, settings.SESSION_GAP_S) - 1 for one in levels], dtype=float
            ),
        )

    def coded(self, names: Sequence[Hashable]) -> Ints:
        """For ``floors``: what a name is there, or that no group has it."""
        return self.levels.coded(names)

    def floors(self, which: Ints, spans: Floats | None = None, without: Ints | None = None) -> Floors:
        """Return the floors of histories (indexes), each without two names (codes; shape (asked, 2)).

        ``spans``, shape (asked, 2): when what they are to judge was measured; None: while they were.
        """
        whole = None if spans is None else self._moved_between(which, spans)
        sd, worth = self.levels.scatter(which, without, whole)
        if spans is not None:
            kept, times = self.levels.kept(which, without), self.times[which]
            first = np.where(kept, times, np.inf).min(axis=1, initial=np.inf) - settings.SESSION_GAP_S
            last = np.where(kept, times, -np.inf).max(axis=1, initial=-np.inf) + settings.SESSION_GAP_S
            is_beside = (spans[:, 0] >= first) & (spans[:, 1] <= last)
            worth = np.where(is_beside, worth, np.minimum(worth, self.worth[which]))
            worth = np.where(worth >= MIN_WORTH, worth, 0)
        # A group of n independent runs, or sessions, scatters less by the root of n.
        return Floors(np.maximum(sd, _UNSEEN) * np.sqrt(self.runs[which]), worth)

    def _moved_between(self, which: Ints, spans: Floats) -> Bools:
        """Tell of which histories the level moved between the ends of spans, or may have, and more than once.

        A level that comes and goes is as likely the machine's as the server's.
        """
        levels, times = self.levels.levels[which], self.times[which]
        at = [np.where(times <= end[:, None], levels, -1).max(axis=1, initial=-1) for end in spans.T]
        moved: Bools = (at[0] != at[1]) | (at[0] < 0)
        moved &= levels.max(axis=1, initial=0) >= _COMES_AND_GOES
        return moved


@dataclass(frozen=True)
class NoiseFloors:
    """The histories at some places: indexes of ``histories``.

    ``what_of`` says by the id of a series what it measures.
    """

    what_of: Mapping[int, What]
    histories: Histories
    of_branches: Mapping[What, Sequence[int]]
    of_releases: Mapping[What, Sequence[int]]
    of_lines: Mapping[What, Sequence[int]]

    @classmethod
    def of(
        cls,
        what_of: Mapping[int, What],
        of_branches: Mapping[What, Sequence["Levels"]],
        of_releases: Mapping[What, Sequence["Levels"]],
    ) -> "NoiseFloors":
        """Lay levels side by side, and join those of several lines of releases to one more history."""
        levels: list[Levels] = []

        def laid(histories: Mapping[What, Sequence[Levels]]) -> Mapping[What, Sequence[int]]:
            at: dict[What, Sequence[int]] = {}
            for what, found in histories.items():
                at[what] = range(len(levels), len(levels) + len(found))
                levels.extend(found)
            return at

        branches, releases = laid(of_branches), laid(of_releases)
        several = {what: found for what, found in of_releases.items() if len(found) > 1}
        lines = laid({what: [reduce(Levels.joined, found)] for what, found in several.items()})
        return cls(what_of, Histories.of(levels), branches, releases, lines)

    def floors(self, at: Sequence[What], which: Ints, without: Ints, spans: Floats) -> Floors:
        """Return the floors of ``at`` (indexes), each without two groups (codes; shape (asked, 2)).

        ``spans``, of the same shape, say when what is judged was measured.
        """
        branches, releases, lines = (
            self._pooled(of, at, which, spans, without)
            for of in (self.of_branches, self.of_releases, self.of_lines)
        )
        return branches.where_known_else(releases).where_known_else(lines)

    def between(
        self, columns: Sequence[Mapping[RowKey, Cell]], groups: Sequence[Hashable]
    ) -> Callable[[Pairs], Floors]:
        """Return what tells the noise of pairs of these columns; of cells of two places both must know it.

        A comparison is judged without the ``groups`` of its columns, as histories name them; one
        that they do not know leaves out nothing.
        """
        codes = self.histories.coded(groups)

        def noise(pairs: Pairs) -> Floors:
            index_of = {key: at for at, key in enumerate(pairs.keys)}
            at: dict[What, int] = {}
            what = np.full((len(columns), len(index_of)), -1)
            for column, of_column in enumerate(columns):
                for key, cell in of_column.items():
                    what[column, index_of[key]] = at.setdefault(self.what_of[cell.series_id], len(at))
            before, after = what[pairs.before, pairs.rows], what[pairs.after, pairs.rows]
            left_out = np.stack((codes[pairs.before], codes[pairs.after]), axis=1)
            spans = spans_of(columns, pairs)
            left = self.floors([*at], before, left_out, spans)
            is_one: Bools = before == after
            if is_one.all():
                return left
            right = self.floors([*at], after, left_out, spans)
            runs = [
                (columns[one][row].independent, columns[other][row].independent)
                for row, one, other in pairs.each()
            ]
            first, second = np.array(runs, dtype=float).T
            return left.where(is_one, of_two_places(left, right, runs=(first, second)))

        return noise

    def _pooled(
        self, of: Mapping[What, Sequence[int]], at: Sequence[What], which: Ints, spans: Floats, without: Ints
    ) -> Floors:
        """Pool the floors of all histories of one thing, by what each is worth."""
        found = [of.get(place, ()) for place in at]
        numbers = np.fromiter(map(len, found), np.int64, len(found))
        histories = np.fromiter((index for one in found for index in one), np.int64, int(numbers.sum()))
        n, starts = numbers[which], (np.cumsum(numbers) - numbers)[which]
        asked = np.repeat(np.arange(len(which)), n)
        each = histories[np.repeat(starts - (np.cumsum(n) - n), n) + np.arange(len(asked))]
        floors = self.histories.floors(each, spans[asked], without[asked])
        worth = np.bincount(asked, floors.worth, len(which))
        squares = np.bincount(asked, np.where(floors.worth > 0, floors.worth * floors.sd**2, 0), len(which))
        sd = np.sqrt(squares / np.where(worth > 0, worth, np.nan))
        return Floors(sd, np.minimum(worth, _MAX_WORTH))


def spans_of(cells: Sequence[Mapping[RowKey, Cell]], pairs: Pairs) -> Floats:
    """Return when both cells of each pair were measured, first and last; shape (pairs, 2)."""
    index_of = {key: at for at, key in enumerate(pairs.keys)}
    times = np.full((2, len(cells), len(index_of)), np.nan)
    for column, of_column in enumerate(cells):
        for key, cell in of_column.items():
            times[:, column, index_of[key]] = cell.span
    before, after = times[:, pairs.before, pairs.rows], times[:, pairs.after, pairs.rows]
    return np.stack((np.fmin(before[0], after[0]), np.fmax(before[1], after[1])), axis=1)


def of_two_places(left: Floors, right: Floors, *, runs: tuple[Floats, Floats]) -> Floors:
    """Make one floor for both sides of comparisons with ``runs`` sessions each; both must be known.

    The one variance that gives the difference of means the error that the two would give it, with the degrees
    of freedom of Satterthwaite 1946, An approximate distribution of estimates of variance components.
    """
    known = (left.worth > 0) & (right.worth > 0)
    first, second = left.sd**2 / runs[0], right.sd**2 / runs[1]
    variance = (first + second) / (1 / runs[0] + 1 / runs[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = (first + second) ** 2 / (first**2 / left.worth + second**2 / right.worth)
    return Floors(
        np.where(known, np.sqrt(variance), np.nan), np.where(known, np.minimum(worth, _MAX_WORTH), 0)
    )


def night_in_history(version: int, started_at: float) -> Hashable:
    """Name a night without a commit as histories by days do; ``version`` is an id."""
    return version, int(started_at // _DAY_S)


def noise_floors(series: Collection[SeriesRow], *, by_days: bool = False) -> NoiseFloors:
    """Read the histories of these series, in a constant number of statements.

    Of each the runs count that came in last. Pull requests tell nothing of the noise. Groups are named by
    their versions (ids); ``by_days``: nights without a commit by ``night_in_history``, for many have one.
    """
    telling = [one for one in series if not is_of_pull_request(one.branch)]
    branches: dict[What, list[Levels]] = defaultdict(list)
    releases: dict[What, list[Levels]] = defaultdict(list)
    for one, levels in zip(telling, _levels(telling, by_days=by_days), strict=True):
        (branches if one.branch else releases)[one.what].append(levels)
    return NoiseFloors.of({one.id: one.what for one in series}, branches, releases)


def _levels(series: Collection[SeriesRow], *, by_days: bool) -> list[Levels]:
    """Read the points of each series, their versions as names, in levels that begin at change points."""
    ids = [one.id for one in series]
    points = read_points({one.id: one for one in series}, newest=_MAX_RUNS, intervals=False)
    independent = points.independent
    version_ids = points.version_ids.tolist()
    times, received_at = points.runs.started_at[points.first], points.received_at
    names: Sequence[Hashable] = version_ids
    if by_days:
        has_commit = {version.pk for version in points.runs.versions if version.commit}
        names = [
            version if version in has_commit else night_in_history(version, time)
            for version, time in zip(version_ids, times.tolist(), strict=True)
        ]
    ends = np.searchsorted(points.series, np.arange(len(ids) + 1))
    starts: dict[int, set[int]] = defaultdict(set)
    index_of = {pk: at for at, pk in enumerate(ids)}
    for pk, run in beginnings(ids):
        at = index_of[pk]
        if (point := points.index_of(run, at)) is not None:
            starts[at].add(point - int(ends[at]))
    return [
        Levels(
            values=points.levels[begin:end],
            names=names[begin:end],
            runs=median(independent[begin:end].tolist()) if begin < end else 1,
            starts=starts[at],
            times=times[begin:end].tolist(),
        ).counting(received_at[begin:end], of_branch=bool(one.branch))
        for at, (one, (begin, end)) in enumerate(zip(series, pairwise(ends.tolist()), strict=True))
    ]
