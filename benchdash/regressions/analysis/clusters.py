"""Change points of one cause: those that begin between the same measured versions and point the same way."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from benchdash.regressions.analysis.causes import Switches, cause_of
from benchdash.regressions.analysis.group_orders import groups_in_order
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.controls import is_control
from benchdash.results.models import Run
from benchdash.results.points import moment

SAME_CAUSE_WITHIN: Final = 2
"""The first group of a new level is known to within a group or two; machines skip commits."""
MIN_REGAINED: Final = 0.75
"""A loss has recovered where so much of it was regained, or all but the noise."""
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
        return self.of_group.get(_group(run.version_id, run.version.commit, run.started_at, self.branch))

    def earliest_of(self, change_point: ChangePoint, first: int) -> int:
        """Return the first group where a change may have begun that is seen at the rank ``first``."""
        last_good = None if change_point.origin else change_point.last_good
        rank = self.of_run(last_good) if last_good else None
        return first if rank is None else min(rank + 1, first)

    def of_incident(self, incident: Incident) -> int | None:
        """Return where its new level begins, or the group measured next where that one is gone."""
        if version := incident.until:
            group = _group(version.pk, version.commit, incident.started_at, self.branch)
            if group in self.of_group:
                return self.of_group[group]
        started_at = incident.started_at.timestamp()
        return next((rank for start, rank in self.starts if start >= started_at), None)


def ranks_of(change_points: Sequence[ChangePoint], *, branch: str) -> Ranks:
    of_group: dict[Hashable, int] = {}
    starts: dict[int, float] = {}
    for placed in groups_in_order({change_point.series for change_point in change_points}):
        group = _group(placed.version_id, placed.commit, moment(placed.started_at), branch)
        rank = of_group.setdefault(group, len(of_group))
        starts[rank] = min(placed.started_at, starts.get(rank, placed.started_at))
    return Ranks(branch, of_group, sorted((start, rank) for rank, start in starts.items()))


def _group(version_id: int, commit: str | None, started_at: datetime, branch: str) -> Hashable:
    """Name the group of a run: its position, except that the content of the configuration does not matter."""
    return (commit or started_at.astimezone(UTC).date()) if branch else version_id


@dataclass(slots=True, eq=False)
class Cluster:
    """Change points next to each other that move the same way, all for the worse or all for the better.

    Those of a control are its machine's (``hardware_id``), and of the kind ``environment`` both ways.
    Those where a line or branch begins (``is_beginning``) are never one with those within it.

    ``earliest`` is the first group where all of them may have begun; ``ranges`` tell by the ids of members
    where each may have begun at the earliest, and where it was seen. ``recovery`` is the step back that ended
    a loss. A loss that returned has the change points of its earlier times, which ended, in ``past``.
    """

    kind: Incident.Kind
    hardware_id: int | None
    is_beginning: bool
    first: int
    last: int
    earliest: int
    members: list[ChangePoint]
    ranges: dict[int, tuple[int, int]]
    recovery: "Cluster | None" = None
    past: list[ChangePoint] = field(default_factory=list)

    def distance(self, rank: int) -> int:
        return max(self.first - rank, rank - self.last, 0)

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
        widths = {pk: seen - earliest for pk, (earliest, seen) in self.ranges.items()}
        least = min(widths[one.pk] for one in measured)
        return [one for one in measured if widths[one.pk] == least]

    def first_measured_at(self, anchor: ChangePoint) -> datetime:
        """Return when the new level was first measured, from the group on where ``anchor`` saw it.

        That is before the run of the anchor itself where its version was measured late.
        """
        since = self.ranges[anchor.pk][1]
        return min(one.run.started_at for one in self.measured if self.ranges[one.pk][1] >= since)

    def take(self, other: "Cluster") -> None:
        """Make the change points of another cluster, which may have begun where these did, its own."""
        self.last = max(self.last, other.first)
        self.earliest = max(self.earliest, other.earliest)
        self.members += other.members
        self.ranges |= other.ranges

    def return_as(self, other: "Cluster") -> None:
        """Go on as another loss, to the level that this one had before it recovered."""
        self.past += self.members
        self.members, self.ranges, self.recovery = other.members, other.ranges, None
        self.first, self.last, self.earliest = other.first, other.last, other.earliest


def clusters_of(change_points: Iterable[ChangePoint], ranks: Ranks, switches: Switches) -> list[Cluster]:
    """Group change points by cause; losses know their recovery, and those that returned are one with it."""
    ways: dict[Hashable, list[tuple[int, ChangePoint]]] = defaultdict(list)
    for one in change_points:
        if (rank := ranks.of_run(one.run)) is not None:
            ways[_way(one)].append((rank, one))
    clusters = [cluster for of_way in ways.values() for cluster in _of_one_way(of_way, ranks)]
    clusters.sort(key=lambda one: (one.first, one.kind, one.hardware_id or 0, one.is_beginning))
    return _with_recoveries(clusters, switches)


def _way(one: ChangePoint) -> Hashable:
    return _kind(one), _machine(one), one.is_regression, bool(one.origin)


def _kind(one: ChangePoint) -> Incident.Kind:
    if is_control(one.series.build):
        return Incident.Kind.ENVIRONMENT
    return Incident.Kind.REGRESSION if one.is_regression else Incident.Kind.IMPROVEMENT


def _machine(one: ChangePoint) -> int | None:
    return one.series.hardware_id if is_control(one.series.build) else None


def _of_one_way(ranked: Iterable[tuple[int, ChangePoint]], ranks: Ranks) -> list[Cluster]:
    """Group those next to each other, and those of series that are measured seldom with what they overlap."""
    near: list[Cluster] = []
    for rank, one in sorted(ranked, key=lambda pair: (pair[0], pair[1].pk)):
        earliest = ranks.earliest_of(one, rank)
        ranges = {one.pk: (earliest, rank)}
        alone = Cluster(_kind(one), _machine(one), bool(one.origin), rank, rank, earliest, [one], ranges)
        if near and rank - near[-1].last <= SAME_CAUSE_WITHIN:
            near[-1].take(alone)
        else:
            near.append(alone)
    clusters: list[Cluster] = []
    for one_cause in near:
        # A series that skipped commits sees late what another one saw at its place.
        if clusters and one_cause.earliest <= clusters[-1].last:
            last = clusters[-1].last
            clusters[-1].take(one_cause)
            clusters[-1].last = last
        else:
            clusters.append(one_cause)
    return clusters


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
    return off <= max((1 - MIN_REGAINED) * abs(lost.before - lost.after), noise)


def _most_agree(loss: Cluster, other: Cluster, agrees: Callable[[ChangePoint, ChangePoint], bool]) -> bool:
    later = {one.series_id: one for one in other.measured}
    pairs = [(one, later[one.series_id]) for one in loss.measured if one.series_id in later]
    agreeing = sum(agrees(*pair) for pair in pairs)
    return 2 * len(pairs) >= len(loss.measured) and 2 * agreeing > len(pairs)
