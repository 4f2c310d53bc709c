"""How much runs scatter at an unchanged level, estimated from histories: the noise of comparisons.

The nights of a branch at the place of a version say it best. Without any, the releases of a line do, whose
scatter holds what changed from one to the next besides.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

import numpy as np

from benchdash.regressions.comparison.cells import SeriesRow, What
from benchdash.regressions.detection.level_scatter import LevelHistories
from benchdash.regressions.detection.noise import Bools, Floats, Ints
from benchdash.regressions.queries import beginnings
from benchdash.results.points import Point, read_points

# Only the newest runs of a series count, because noise changes with time.
_MAX_RUNS: Final = 36
_MAX_WORTH: Final = 19.0
# Values that were the same each time are known to scatter little: no comparison believes less than 0.1 %.
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
    ``runs`` is how many independent ones a group has in the median.
    """

    values: Sequence[float] | Floats
    names: Sequence[Hashable]
    runs: float
    starts: Collection[int]

    @classmethod
    def of(
        cls,
        points: Sequence[Point],
        starts: Collection[int],
        names: Sequence[Hashable] = (),
    ) -> "Levels":
        """Take the levels of points; without ``names`` no group can be left out later."""
        runs = median([point.independent for point in points]) if points else 1
        return cls([point.value for point in points], names, runs, starts)

    def floor(self) -> NoiseFloor | None:
        """Return the floor that all groups tell; None where they are too few."""
        return Histories.of([self]).floors(np.zeros(1, np.int64))[0]


@dataclass(frozen=True, slots=True)
class Histories:
    """Levels of many series; ``runs`` as of each."""

    levels: LevelHistories
    runs: Floats

    @classmethod
    def of(cls, levels: Sequence[Levels]) -> "Histories":
        return cls(
            LevelHistories.of(
                [one.values for one in levels], [one.starts for one in levels], [one.names for one in levels]
            ),
            np.array([one.runs for one in levels], dtype=float),
        )

    def coded(self, names: Sequence[Hashable]) -> Ints:
        """For ``floors``: what a name is there, or that no group has it."""
        return self.levels.coded(names)

    def floors(self, which: Ints, without: Ints | None = None) -> Floors:
        """Return the floors of histories (indexes), each without two names (codes; shape (asked, 2))."""
        sd, worth = self.levels.scatter(which, without)
        # A group of n independent runs, or sessions, scatters less by the root of n.
        return Floors(np.maximum(sd, _UNSEEN) * np.sqrt(self.runs[which]), worth)


@dataclass(frozen=True)
class NoiseFloors:
    """The histories at some places: indexes of ``histories``."""

    histories: Histories
    of_branches: Mapping[What, Sequence[int]]
    of_releases: Mapping[What, Sequence[int]]

    def floors(self, at: Sequence[What], which: Ints, versions: Ints) -> Floors:
        """Return the floors of ``at`` (indexes), each without two versions (ids; shape (asked, 2))."""
        distinct, places = np.unique(versions, return_inverse=True)
        without = self.histories.coded(distinct.tolist())[places.reshape(versions.shape)]
        return self._pooled(self.of_branches, at, which, without).where_known_else(
            self._pooled(self.of_releases, at, which, without)
        )

    def _pooled(
        self, of: Mapping[What, Sequence[int]], at: Sequence[What], which: Ints, without: Ints
    ) -> Floors:
        """Pool the floors of all histories of one thing, by what each is worth."""
        found = [of.get(place, ()) for place in at]
        numbers = np.fromiter(map(len, found), np.int64, len(found))
        histories = np.fromiter((index for one in found for index in one), np.int64, int(numbers.sum()))
        n, starts = numbers[which], (np.cumsum(numbers) - numbers)[which]
        asked = np.repeat(np.arange(len(which)), n)
        each = histories[np.repeat(starts - (np.cumsum(n) - n), n) + np.arange(len(asked))]
        floors = self.histories.floors(each, without[asked])
        worth = np.bincount(asked, floors.worth, len(which))
        squares = np.bincount(asked, np.where(floors.worth > 0, floors.worth * floors.sd**2, 0), len(which))
        sd = np.sqrt(squares / np.where(worth > 0, worth, np.nan))
        return Floors(sd, np.minimum(worth, _MAX_WORTH))


def of_two_places(left: Floors, right: Floors, *, runs: tuple[Floats, Floats]) -> Floors:
    """Make one floor for both sides of comparisons with ``runs`` runs each; both must be known.

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


def noise_floors(series: Collection[SeriesRow]) -> NoiseFloors:
    """Read the histories of these series, in a constant number of statements.

    Of each the runs count that came in last.
    """
    branches: dict[What, list[int]] = defaultdict(list)
    releases: dict[What, list[int]] = defaultdict(list)
    for index, one in enumerate(series):
        (branches if one.branch else releases)[one.what].append(index)
    return NoiseFloors(Histories.of(_levels(series)), branches, releases)


def _levels(series: Collection[SeriesRow]) -> list[Levels]:
    """Read the points of each series, their versions as names, in levels that begin at change points."""
    ids = [one.id for one in series]
    points = read_points({one.id: one for one in series}, newest=_MAX_RUNS, intervals=False)
    independent = points.independent
    version_ids = points.version_ids
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
            names=version_ids[begin:end].tolist(),
            runs=float(np.median(independent[begin:end])) if begin < end else 1,
            starts=starts[at],
        )
        for at, (begin, end) in enumerate(pairwise(ends.tolist()))
    ]
