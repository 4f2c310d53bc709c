"""How much runs scatter at an unchanged level, told by histories: what comparisons are held against.

The nights of a branch at the place of a version say it best. Without any, the releases of a line do, whose
scatter holds what changed from one to the next besides.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan, sqrt
from statistics import median
from typing import Final

from django.db.models import Q

from benchdash.regressions.detection import level_scatter
from benchdash.regressions.queries import change_points, places
from benchdash.results.models import Series
from benchdash.results.point_rows import PointRow, point_rows
from benchdash.results.queries import Point

# So many runs of a series, those that came in last, tell its noise: it changes with time.
_NEWEST_RUNS: Final = 36
_MOST_WORTH: Final = 19.0

Key = tuple[str, int | None]
"""The name of a workload and a thread count."""

PlaceKey = tuple[int, str, int, int, str]
"""Ids and names of product, build, hardware, configuration, counterpart."""


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Standard deviation of the logs of single runs, or sessions, and the degrees of freedom it is worth."""

    sd: float
    worth: float


@dataclass(frozen=True)
class Levels:
    """The values of the groups of a history in order, and at which indexes a new level begins.

    ``names`` tell the groups from each other where some are left out: ids of versions, or positions.
    ``runs`` is how many independent ones a group has in the median.
    """

    values: Sequence[float]
    names: Sequence[Hashable]
    runs: float
    starts: Collection[int]

    @classmethod
    def of(
        cls,
        points: Sequence[Point] | Sequence[PointRow],
        starts: Collection[int],
        names: Sequence[Hashable] = (),
    ) -> "Levels":
        """Without ``names`` none of the groups can be left out."""
        runs = median([point.independent for point in points]) if points else 1
        return cls([point.value for point in points], names, runs, starts)

    @cached_property
    def all_names(self) -> frozenset[Hashable]:
        return frozenset(self.names)

    def floor(self, without: Collection[Hashable] = ()) -> NoiseFloor | None:
        """From the groups that do not take part in the comparison; None where they are too few."""
        values = self.values
        if without:
            values = [
                nan if name in without else value for name, value in zip(self.names, values, strict=True)
            ]
        scatter = level_scatter(values, self.starts)
        if scatter is None or not scatter[0]:
            return None
        sd, worth = scatter
        # A group of n independent runs, or sessions, scatters less by the root of n.
        return NoiseFloor(sd * sqrt(self.runs), worth)


@dataclass(frozen=True)
class NoiseFloors:
    """The histories at some places, by place, metric, and workload with thread count."""

    of_branches: Mapping[tuple[PlaceKey, str, Key], Sequence[Levels]]
    of_releases: Mapping[tuple[PlaceKey, str, Key], Sequence[Levels]]
    # Most rows are asked of for many columns, whose versions have no part in the history.
    _known: dict[tuple[int, frozenset[Hashable]], NoiseFloor | None] = field(default_factory=dict)

    def at(self, place: PlaceKey, metric: str, key: Key, *, versions: frozenset[int]) -> NoiseFloor | None:
        """The floor of one row at one place, from all versions but these (ids)."""
        which = place, metric, key
        for histories_of in (self.of_branches, self.of_releases):
            if floor := self._floor(histories_of.get(which, ()), versions):
                return floor
        return None

    def _floor(self, found: Sequence[Levels], versions: frozenset[int]) -> NoiseFloor | None:
        floors = [self._floor_of(levels, levels.all_names & versions) for levels in found]
        return pooled([one for one in floors if one])

    def _floor_of(self, levels: Levels, without: frozenset[Hashable]) -> NoiseFloor | None:
        asked = id(levels), without
        if asked not in self._known:
            self._known[asked] = levels.floor(without)
        return self._known[asked]


def pooled(floors: Sequence[NoiseFloor]) -> NoiseFloor | None:
    """The common floor of several histories of one thing; None of none."""
    if not floors:
        return None
    worth = sum(one.worth for one in floors)
    variance = sum(one.worth * one.sd**2 for one in floors) / worth
    return NoiseFloor(sqrt(variance), min(worth, _MOST_WORTH))


def of_two_places(left: NoiseFloor, right: NoiseFloor, *, runs: tuple[int, int]) -> NoiseFloor:
    """What stands for both sides of a comparison with so many runs each.

    The one variance that gives the difference of means the error that the two would give it, with the degrees
    of freedom of Satterthwaite 1946, An approximate distribution of estimates of variance components.
    """
    first, second = left.sd**2 / runs[0], right.sd**2 / runs[1]
    variance = (first + second) / (1 / runs[0] + 1 / runs[1])
    worth = (first + second) ** 2 / (first**2 / left.worth + second**2 / right.worth)
    return NoiseFloor(sqrt(variance), min(worth, _MOST_WORTH))


def noise_floors(
    project_id: int, at: Collection[PlaceKey], *, metrics: Collection[str], workloads: Collection[str]
) -> NoiseFloors:
    """The histories at these places of the metrics and workloads (names), in a constant number of statements.

    Of each series the runs count that came in last.
    """
    series = _series(project_id, at, metrics=metrics, workloads=workloads)
    points = point_rows(series, newest=_NEWEST_RUNS) if series else {}
    changed = change_points(series) if series else {}
    branches: dict[tuple[PlaceKey, str, Key], list[Levels]] = defaultdict(list)
    releases: dict[tuple[PlaceKey, str, Key], list[Levels]] = defaultdict(list)
    for pk, one in series.items():
        versions = [point.version_id for point in points[pk]]
        levels = Levels.of(points[pk], places(changed.get(pk, ()), points[pk]).keys(), versions)
        group = branches if one.branch else releases
        group[place_key(one), one.metric, (one.workload.name, one.threads)].append(levels)
    return NoiseFloors(branches, releases)


def place_key(series: Series) -> PlaceKey:
    return (
        series.product_id,
        series.build,
        series.hardware_id,
        series.configuration_id,
        series.counterpart,
    )


def _series(
    project_id: int, at: Collection[PlaceKey], *, metrics: Collection[str], workloads: Collection[str]
) -> dict[int, Series]:
    names = ("product", "build", "hardware", "configuration", "counterpart")
    anywhere = Q()
    for place in at:
        anywhere |= Q(**dict(zip(names, place, strict=True)))
    found = Series.objects.filter(
        anywhere, project=project_id, metric__in=metrics, workload__name__in=workloads
    )
    return {one.pk: one for one in found.select_related("workload")}
