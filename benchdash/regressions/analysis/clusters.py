"""Change points of one cause: those that may have begun between the same versions and point the same way."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Final, NamedTuple

from benchdash.regressions.analysis.causes import cause_of
from benchdash.regressions.analysis.group_orders import groups_in_order
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import Switches
from benchdash.results.controls import is_control
from benchdash.results.models import Run, ServerVersion
from benchdash.results.place import Place
from benchdash.results.points import group_name, moment

SAME_CAUSE_WITHIN: Final = 2
"""Without a known range a level begins within a group or two of its first one; machines skip commits."""
MIN_REGAINED: Final = 0.6
"""A loss has recovered where so much of it was regained, or all but the noise."""
_SAME_LEVEL: Final = 0.25
"""A loss is the same again where its level is so near, as a share of the loss, to the one lost to before."""
_NOISES: Final = 2


@dataclass(frozen=True, slots=True)
class Ranks:
    """The groups of a stream in one order, whichever machine measured them and with which settings.

    ``starts`` are when the groups were first measured (epoch seconds), with their ranks, in that order.
    """

    branch: str
    of_group: Mapping[Hashable, int]
    starts: Sequence[tuple[float, int]]

    def of_run(self, run: Run) -> int | None:
        return self.of_group.get(self._group(run.version, run.started_at))

    def of_named(self, version_id: int, build: str, commit: str | None, started_at: datetime) -> int | None:
        """Return the group of a run of a version that is not at hand as a row."""
        return self.of_group.get(group_name(version_id, build, commit, started_at, self.branch))

    def range_of(self, change_point: ChangePoint, first: int) -> "Range":
        """Return between which groups a change may have begun that is seen at the rank ``first``."""
        last_good = None if change_point.origin else change_point.last_good
        before = self.of_run(last_good) if last_good else None
        last = self.of_run(change_point.first_bad) if change_point.first_bad else None
        earliest = first if before is None else min(before + 1, first)
        return Range(earliest, first, first if last is None else max(first, last), last is not None)

    def of_incident(self, incident: Incident) -> int | None:
        """Return where its new level begins, or the group measured next where that one is gone."""
        if version := incident.until:
            group = self._group(version, incident.until_at or incident.started_at)
            if group in self.of_group:
                return self.of_group[group]
        started_at = incident.started_at.timestamp()
        return next((rank for start, rank in self.starts if start >= started_at), None)

    def _group(self, version: ServerVersion, started_at: datetime) -> Hashable:
        """Name a group by its position, except that the content of the configuration does not matter."""
        return group_name(version.pk, version.build, version.commit, started_at, self.branch)


def ranks_of(change_points: Sequence[ChangePoint], *, branch: str) -> Ranks:
    of_group: dict[Hashable, int] = {}
    starts: dict[int, float] = {}
    for build, placed in groups_in_order({change_point.series for change_point in change_points}):
        group = group_name(placed.version_id, build, placed.commit, moment(placed.started_at), branch)
        rank = of_group.setdefault(group, len(of_group))
        starts[rank] = min(placed.started_at, starts.get(rank, placed.started_at))
    return Ranks(branch, of_group, sorted((start, rank) for rank, start in starts.items()))


class Range(NamedTuple):
    """The ranks of the groups where a change may have begun, and of the one where it is drawn (``seen``).

    ``is_known`` where its likelihood told the range (``onsets``).
    """

    earliest: int
    seen: int
    latest: int
    is_known: bool

    @property
    def width(self) -> int:
        return self.latest - self.earliest


@dataclass(slots=True, eq=False)
class Cluster:
    """Change points next to each other that move the same way, all for the worse or all for the better.

    Those of a control are its machine's (``hardware_id``), and of the kind ``environment`` both ways.
    Those where a line or branch begins (``is_beginning``) are never one with those within it.

    ``earliest`` is the first group where all of them may have begun, and ``latest`` the last one; ``ranges``
    are those of the members by their ids, and ``places`` tell where detection put it at each place.
    ``recovery`` is the step back that ended a loss. A loss that returned has the change points of its earlier
    times, which ended, in ``past``.
    """

    kind: Incident.Kind
    hardware_id: int | None
    is_beginning: bool
    first: int
    last: int
    earliest: int
    latest: int
    members: list[ChangePoint]
    ranges: dict[int, Range]
    places: dict[Place, int] = field(default_factory=dict)
    recovery: "Cluster | None" = None
    past: list[ChangePoint] = field(default_factory=list)

    @property
    def workloads(self) -> set[Hashable]:
        return {(one.series.workload_id, one.series.threads) for one in self.members}

    def distance(self, rank: int) -> int:
        return max(self.first - rank, rank - max(self.last, self.latest), 0)

    @property
    def all_members(self) -> list[ChangePoint]:
        return [*self.past, *self.members]

    @property
    def confirmed(self) -> list[ChangePoint]:
        return [one for one in self.members if one.state == ChangePoint.State.CONFIRMED]

    @property
    def measured(self) -> list[ChangePoint]:
        """The members that tell of the incident: confirmed ones, and not derived, where there are any."""
        told_by = self.confirmed or self.members
        # A peak that moves from 64 to 32 threads is no loss by half, where the loss itself was measured.
        return [one for one in told_by if not one.series.is_derived] or told_by

    @property
    def for_the_worse(self) -> bool:
        return self.members[0].is_regression

    @property
    def only_machine(self) -> int | None:
        """The machine of a product's change points; None for those of several machines, or of a control."""
        machines = {one.series.hardware_id for one in self.members}
        return machines.pop() if len(machines) == 1 and self.hardware_id is None else None

    @property
    def narrowest(self) -> list[ChangePoint]:
        """The members that tell best where it began: fewest groups lie between their two levels."""
        measured = self.measured
        least = min(self.ranges[one.pk].width for one in measured)
        return [one for one in measured if self.ranges[one.pk].width == least]

    def first_measured_at(self, anchor: ChangePoint) -> datetime:
        """Return when the new level was first measured, from the group on where ``anchor`` saw it.

        That is before the run of the anchor itself where its version was measured late.
        """
        since = self.ranges[anchor.pk].seen
        return min(one.run.started_at for one in self.measured if self.ranges[one.pk].seen >= since)

    def take(self, other: "Cluster") -> None:
        """Make the change points of another cluster, which may have begun where these did, its own."""
        self.first = min(self.first, other.first)
        # A series that skipped commits sees late what another one saw at its place.
        if other.last <= self.last + SAME_CAUSE_WITHIN:
            self.last = max(self.last, other.last)
        self.earliest, self.latest = max(self.earliest, other.earliest), min(self.latest, other.latest)
        self.members += other.members
        self.ranges |= other.ranges
        self.places |= other.places

    def return_as(self, other: "Cluster") -> None:
        """Go on as another loss, to the level that this one had before it recovered."""
        self.past += self.members
        self.members, self.ranges, self.places = other.members, other.ranges, other.places
        self.recovery = None
        self.first, self.last = other.first, other.last
        self.earliest, self.latest = other.earliest, other.latest


def clusters_of(change_points: Iterable[ChangePoint], ranks: Ranks, switches: Switches) -> list[Cluster]:
    """Group change points by cause; losses know their recovery, and those that returned are one with it."""
    ways: dict[Hashable, list[tuple[int, ChangePoint]]] = defaultdict(list)
    for one in change_points:
        if (rank := ranks.of_run(one.run)) is not None:
            ways[_way(one)].append((rank, one))
    clusters = [cluster for of_way in ways.values() for cluster in _of_one_way(of_way, ranks)]
    clusters.sort(key=lambda one: (one.first, one.kind, one.hardware_id or 0, one.is_beginning))
    return _with_recoveries(clusters, switches)


def drifts_of(change_points: Iterable[ChangePoint], ranks: Ranks) -> list[Cluster]:
    """Group the drifts of series: those of one incident, and new ones by their place."""
    found: dict[Hashable, list[tuple[int, int, ChangePoint]]] = defaultdict(list)
    for one in change_points:
        first, last = ranks.of_run(one.last_good) if one.last_good else None, ranks.of_run(one.run)
        if first is not None and last is not None:
            found[one.incident_id or Place.of(one.series)].append((first, last, one))
    return [
        Cluster(
            kind=Incident.Kind.DRIFT,
            hardware_id=None,
            is_beginning=False,
            first=min(first for first, _, _ in rows),
            last=max(last for _, last, _ in rows),
            earliest=min(first for first, _, _ in rows),
            latest=max(last for _, last, _ in rows),
            members=[one for _, _, one in rows],
            ranges={one.pk: Range(first, last, last, is_known=False) for first, last, one in rows},
        )
        for rows in found.values()
    ]


def _way(one: ChangePoint) -> Hashable:
    return _kind(one), _machine(one), one.is_regression, bool(one.origin)


def _kind(one: ChangePoint) -> Incident.Kind:
    if is_control(one.series.build):
        return Incident.Kind.ENVIRONMENT
    return Incident.Kind.REGRESSION if one.is_regression else Incident.Kind.IMPROVEMENT


def _machine(one: ChangePoint) -> int | None:
    return one.series.hardware_id if is_control(one.series.build) else None


def _of_one_way(ranked: Iterable[tuple[int, ChangePoint]], ranks: Ranks) -> list[Cluster]:
    """Group those that may have begun at the same group; those whose range is known best come first."""
    clusters: list[Cluster] = []
    placed = [(ranks.range_of(one, rank), one) for rank, one in ranked]
    placed.sort(key=lambda pair: (not pair[0].is_known, pair[0].is_known and pair[0].width, pair[0].seen))
    for range_, one in placed:
        # Figures derived of a scaling curve are looked at apart, and may be put a group beside.
        is_placed = range_.is_known and not one.series.is_derived
        alone = Cluster(
            kind=_kind(one),
            hardware_id=_machine(one),
            is_beginning=bool(one.origin),
            first=range_.seen,
            last=range_.seen,
            earliest=range_.earliest,
            latest=range_.latest,
            members=[one],
            ranges={one.pk: range_},
            places={Place.of(one.series): range_.seen} if is_placed else {},
        )
        if cause := _cause_of(alone, range_, clusters):
            cause.take(alone)
        else:
            clusters.append(alone)
    return clusters


def _cause_of(one: Cluster, range_: Range, clusters: Iterable[Cluster]) -> Cluster | None:
    """Find the cluster that a change point is one with: of several the most alike, and then the nearest.

    Detection has told apart at one place what began at different groups, whatever the ranges are. A series
    whose range is not known is next to others, or skipped the commits where they were seen.
    """
    possible = []
    for cluster in clusters:
        seen = {cluster.places[place] for place in one.places.keys() & cluster.places.keys()}
        if one.first in seen:
            return cluster
        distance = cluster.distance(one.first)
        if range_.is_known:
            fits = not seen and max(one.earliest, cluster.earliest) <= min(one.latest, cluster.latest)
        else:
            fits = distance <= SAME_CAUSE_WITHIN or one.earliest <= cluster.last <= one.first
        if fits:
            possible.append((len(one.workloads & cluster.workloads), -distance, cluster))
    return max(possible, key=itemgetter(0, 1))[-1] if possible else None


def _with_recoveries(clusters: Sequence[Cluster], switches: Switches) -> list[Cluster]:
    """Link losses with the steps back that ended them, and make losses that returned one.

    A loss that comes again after it recovered, of the same series and to the same level, is what people know
    already, and is reported again as that: the old cluster goes on with the new change points, between the
    new versions. A loss to another level, or for which something else was switched, is another cause.
    """
    found: list[Cluster] = []
    losses: list[Cluster] = []
    for cluster in clusters:
        if not cluster.confirmed:
            found.append(cluster)
            continue
        if cluster.for_the_worse:
            cause = cause_of(cluster.members, switches)
            known = [one for one in losses if one.recovery and cause_of(one.members, switches) == cause]
            before = next((one for one in known if _is_the_same_loss(cluster, one)), None)
            if before:
                before.return_as(cluster)
                continue
            losses.append(cluster)
        else:
            for loss in losses:
                if loss.recovery is None and _recovers(cluster, loss):
                    loss.recovery = cluster
        found.append(cluster)
    return found


def _recovers(step_back: Cluster, loss: Cluster) -> bool:
    """Tell whether most series of a loss are back near the level before it."""
    return step_back.first > loss.first and _most_agree(loss, step_back, _is_regained)


def _is_regained(lost: ChangePoint, back: ChangePoint) -> bool:
    missing = abs(lost.before - back.after)
    is_beyond = (back.after - lost.before) * (lost.before - lost.after) > 0
    noise = _NOISES * (lost.noise or 0.0) * abs(lost.before)
    return is_beyond or missing <= max((1 - MIN_REGAINED) * abs(lost.before - lost.after), noise)


def _is_the_same_loss(again: Cluster, loss: Cluster) -> bool:
    """Tell whether most series of a loss that recovered are back at the level that they had lost to."""
    recovery = loss.recovery
    return recovery is not None and again.first > recovery.first and _most_agree(loss, again, _is_lost_again)


def _is_lost_again(lost: ChangePoint, again: ChangePoint) -> bool:
    off = abs(again.after - lost.after)
    noise = _NOISES * (lost.noise or 0.0) * abs(lost.after)
    return off <= max(_SAME_LEVEL * abs(lost.before - lost.after), noise)


def _most_agree(loss: Cluster, other: Cluster, agrees: Callable[[ChangePoint, ChangePoint], bool]) -> bool:
    later = {one.series_id: one for one in other.measured}
    pairs = [(one, later[one.series_id]) for one in loss.measured if one.series_id in later]
    agreeing = sum(agrees(*pair) for pair in pairs)
    return 2 * len(pairs) >= len(loss.measured) and 2 * agreeing > len(pairs)
