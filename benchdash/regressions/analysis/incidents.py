"""Change points of one cause are one incident: what people triage."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from statistics import median

from django.db.models import Count
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions.analysis.causes import Sides, cause_of, switches_of
from benchdash.regressions.analysis.group_orders import groups_in_order
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import Rule, rule_of
from benchdash.regressions.queries import Difference
from benchdash.regressions.watched_metrics import counted, is_watched
from benchdash.results.controls import is_control
from benchdash.results.metrics import main_metric
from benchdash.results.models import Run, Series
from benchdash.results.points import moment

# The first group of a new level is known to within a group or two; machines skip commits.
_SAME_CAUSE_WITHIN = 2
# Everything but what people say about an incident.
_FOUND = (
    "kind",
    "status",
    "historical",
    "quiet",
    "left_out",
    "since_id",
    "until_id",
    "origin",
    "started_at",
    "worst",
    "median",
    "metric",
    "largest_id",
    "cause",
    "looked_at",
    "confirmed_at",
)


@dataclass(frozen=True, slots=True)
class _Ranks:
    """The groups of a stream in one order, whichever machine measured them and with which settings.

    ``starts`` are when the groups were first measured (epoch seconds), with their ranks, in that order.
    """

    branch: str
    of_group: Mapping[Hashable, int]
    starts: Sequence[tuple[float, int]]

    def of_run(self, run: Run) -> int | None:
        return self.of_group.get(_group(run.version_id, run.version.commit, run.started_at, self.branch))

    def of_incident(self, incident: Incident) -> int | None:
        """Return where its new level begins, or the group measured next where that one is gone."""
        if version := incident.until:
            group = _group(version.pk, version.commit, incident.started_at, self.branch)
            if group in self.of_group:
                return self.of_group[group]
        started_at = incident.started_at.timestamp()
        return next((rank for start, rank in self.starts if start >= started_at), None)


@dataclass(slots=True)
class _Cluster:
    """Change points next to each other that move the same way, all for the worse or all for the better.

    Those of a control are the machine's, and of the kind ``environment`` both ways.
    Those where a line or branch begins (``is_beginning``) are never one with those within it.
    """

    kind: Incident.Kind
    is_beginning: bool
    first: int
    last: int
    members: list[ChangePoint]

    def distance(self, rank: int) -> int:
        return max(self.first - rank, rank - self.last, 0)

    @property
    def confirmed(self) -> list[ChangePoint]:
        return [one for one in self.members if one.state == ChangePoint.State.CONFIRMED]

    @property
    def measured(self) -> list[ChangePoint]:
        """The members that tell of the incident: confirmed ones, and not derived, where there are any."""
        told_by = self.confirmed or self.members
        # A peak that moves from 64 to 32 threads is no loss by half, where the loss itself was measured.
        return [one for one in told_by if not one.series.is_derived] or told_by


def update_incidents(product_id: int, *, branch: str, line: str) -> None:
    """Group the change points of one branch or release line. Repeatable; keeps what people said."""
    stream = Series.objects.filter(product=product_id, branch=branch, line=line)
    change_points = list(
        ChangePoint.objects.filter(series__in=stream)
        .exclude(state=ChangePoint.State.WITHDRAWN)
        .select_related("series", "run__version", "last_good__version")
        .defer("run__options", "last_good__options")
        .order_by("pk")
    )
    known = list(
        Incident.objects.filter(
            product=product_id, branch=branch, line=line, kind__in=Incident.OF_CHANGE_POINTS
        ).select_related("until")
    )
    ranks = _ranks(change_points, branch=branch)
    switches = switches_of(change_points)
    of_metrics = stream.values_list("metric").annotate(Count("pk")).order_by()
    looked_at = sum(number for metric, number in of_metrics if is_watched(metric) or counted(metric))
    rule = rule_of(Project.objects.get(products=product_id)) if change_points else Rule()
    left = {incident.pk: incident for incident in known}
    before = {incident.pk: _as_stored(incident) for incident in known}
    found: list[tuple[Incident, _Cluster]] = []
    for cluster in _clusters(change_points, ranks):
        incident = _incident_of(cluster, left, ranks) or Incident(
            product_id=product_id, branch=branch, line=line
        )
        left.pop(incident.pk, None)
        _describe(incident, cluster, looked_at=looked_at, switches=switches, rule=rule)
        found.append((incident, cluster))
    for incident in left.values():
        incident.status = Incident.Status.WITHDRAWN
    _write(found, [incident for incident in known if _as_stored(incident) != before[incident.pk]])


def _as_stored(incident: Incident) -> list[object]:
    return [getattr(incident, name) for name in _FOUND]


def _write(found: Sequence[tuple[Incident, _Cluster]], changed: Sequence[Incident]) -> None:
    Incident.objects.bulk_update(changed, _FOUND, batch_size=30)
    Incident.objects.bulk_create([incident for incident, _ in found if incident.pk is None])
    moved = []
    for incident, cluster in found:
        for change_point in cluster.members:
            if change_point.incident_id != incident.pk:
                change_point.incident = incident
                moved.append(change_point)
    ChangePoint.objects.bulk_update(moved, ["incident"], batch_size=100)


def _group(version_id: int, commit: str | None, started_at: datetime, branch: str) -> Hashable:
    """Name the group of a run: its position, except that the content of the configuration does not matter."""
    return (commit or started_at.astimezone(UTC).date()) if branch else version_id


def _ranks(change_points: Sequence[ChangePoint], *, branch: str) -> _Ranks:
    of_group: dict[Hashable, int] = {}
    starts: dict[int, float] = {}
    for placed in groups_in_order({change_point.series for change_point in change_points}):
        group = _group(placed.version_id, placed.commit, moment(placed.started_at), branch)
        rank = of_group.setdefault(group, len(of_group))
        starts[rank] = min(placed.started_at, starts.get(rank, placed.started_at))
    return _Ranks(branch, of_group, sorted((start, rank) for rank, start in starts.items()))


def _clusters(change_points: Iterable[ChangePoint], ranks: _Ranks) -> list[_Cluster]:
    ranked = [
        (rank, change_point)
        for change_point in change_points
        if (rank := ranks.of_run(change_point.run)) is not None
    ]
    clusters: list[_Cluster] = []
    ways: dict[tuple[Incident.Kind, bool, bool], list[tuple[int, ChangePoint]]] = defaultdict(list)
    for rank, change_point in ranked:
        way = _kind(change_point), change_point.is_regression, bool(change_point.origin)
        ways[way].append((rank, change_point))
    for (kind, _, is_beginning), of_kind in sorted(ways.items()):
        newest = None
        for rank, change_point in sorted(of_kind, key=lambda pair: pair[0]):
            if newest is None or rank - newest.last > _SAME_CAUSE_WITHIN:
                newest = _Cluster(kind, is_beginning, rank, rank, [])
                clusters.append(newest)
            newest.last = rank
            newest.members.append(change_point)
    return clusters


def _kind(change_point: ChangePoint) -> Incident.Kind:
    if is_control(change_point.series.build):
        return Incident.Kind.ENVIRONMENT
    return Incident.Kind.REGRESSION if change_point.is_regression else Incident.Kind.IMPROVEMENT


def _incident_of(cluster: _Cluster, known: Mapping[int, Incident], ranks: _Ranks) -> Incident | None:
    """Find the incident that most of the change points belong to, or else one of its kind at its place.

    The second keeps what people said, and mails nobody twice, where the change points themselves are new
    ones: the runs that held them were removed, or another series shows the change now.
    """
    votes = Counter(pk for one in cluster.members if (pk := one.incident_id) is not None and pk in known)
    if votes:
        return known[votes.most_common(1)[0][0]]
    near = [
        (cluster.distance(rank), incident.status == Incident.Status.WITHDRAWN, -incident.pk, incident)
        for incident in known.values()
        if incident.kind == cluster.kind
        and bool(incident.origin) == cluster.is_beginning
        and (rank := ranks.of_incident(incident)) is not None
        and cluster.distance(rank) <= _SAME_CAUSE_WITHIN
    ]
    return min(near)[-1] if near else None


def _describe(
    incident: Incident,
    cluster: _Cluster,
    *,
    looked_at: int,
    switches: Mapping[Sides, Sequence[Difference]],
    rule: Rule,
) -> None:
    confirmed = cluster.confirmed
    told_by = confirmed or cluster.members
    together = _begun_together(cluster.measured)
    anchor = max(together, key=attrgetter("size"))
    incident.project_id = anchor.series.project_id
    incident.kind = cluster.kind
    incident.since = anchor.last_good.version if anchor.last_good else None
    incident.until = anchor.run.version
    incident.started_at = anchor.run.started_at
    incident.origin = anchor.origin
    incident.cause = cause_of(together, switches)
    _sum_up(incident, cluster.measured)
    incident.looked_at = looked_at
    incident.historical = all(change_point.historical for change_point in told_by)
    apply_rule(incident, told_by, rule)
    if confirmed and incident.status != Incident.Status.CONFIRMED:
        incident.confirmed_at = timezone.now()
    incident.status = Incident.Status.CONFIRMED if confirmed else Incident.Status.SUSPECTED


def apply_rule(incident: Incident, told_by: Sequence[ChangePoint], rule: Rule) -> None:
    """Say whether the rule leaves an incident out, and whether it is quiet; ``told_by`` tells of it."""
    passing = [one for one in told_by if rule.tells_of(one)]
    of_rule = incident.kind in (Incident.Kind.REGRESSION, Incident.Kind.IMPROVEMENT)
    incident.left_out = of_rule and not passing
    # Nobody is mailed about old or left-out changes, so they do not decide whether the incident is mailed.
    told_by = passing or told_by
    young = [change_point for change_point in told_by if not change_point.historical]
    incident.quiet = all(change_point.quiet for change_point in young or told_by)


def _sum_up(incident: Incident, measured: Sequence[ChangePoint]) -> None:
    """Set the headline and the largest change of an incident."""
    # A rise from zero has no per cent.
    of_speed = [(one, speed) for one in measured if (speed := one.speed_change) is not None]
    with_speed = [one for one, _ in of_speed]
    incident.metric = main_metric(Counter(one.series.metric for one in with_speed or measured))
    own = [speed for one, speed in of_speed if one.series.metric == incident.metric]
    incident.median = median(own) if own else None
    incident.largest = max(measured, key=attrgetter("size"))
    incident.worst = incident.largest.speed_change


def _begun_together(change_points: Sequence[ChangePoint]) -> Sequence[ChangePoint]:
    """Return those at the version and day that most of them share."""

    def place(one: ChangePoint) -> Hashable:
        return one.run.version_id, one.run.started_at.date()

    shared = Counter(place(one) for one in change_points).most_common(1)[0][0]
    return [one for one in change_points if place(one) == shared]
