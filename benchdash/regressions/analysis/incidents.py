"""Change points of one cause are one incident: what people triage."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter
from statistics import median

from django.db.models import Count, Prefetch
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions.analysis.causes import cause_of, switches_of
from benchdash.regressions.analysis.clusters import (
    SAME_CAUSE_WITHIN,
    Cluster,
    Ranks,
    clusters_of,
    drifts_of,
    ranks_of,
)
from benchdash.regressions.analysis.lives import Life, split_off, store_lives, touched_by_people
from benchdash.regressions.analysis.machines import waiting_for_machines
from benchdash.regressions.analysis.remainders import find_remainders
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import IncidentRule, rule_of
from benchdash.regressions.queries import Switches
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.metrics import main_metric
from benchdash.results.models import Run, Series

# Everything but what people say about an incident.
_FOUND = (
    "kind",
    "status",
    "hardware_id",
    "historical",
    "quiet",
    "left_out",
    "since_id",
    "until_id",
    "origin",
    "started_at",
    "until_at",
    "worst",
    "median",
    "metric",
    "largest_id",
    "cause",
    "points",
    "per_point",
    "last_at",
    "looked_at",
    "confirmed_at",
)


def update_incidents(product_id: int, *, branch: str, line: str, quiet: bool = True) -> None:
    """Group the change points of one branch or release line. Repeatable; keeps what people said.

    What happened to the incidents is noted; of a ``quiet`` look nobody is told.
    """
    stream = Series.objects.filter(product=product_id, branch=branch, line=line)
    change_points = list(
        ChangePoint.objects.filter(series__in=stream)
        .exclude(state=ChangePoint.State.WITHDRAWN)
        .select_related("series", "run__version", "last_good__version")
        .defer("run__options", "last_good__options")
        # One more join than this, and PostgreSQL no longer finds a good order of them.
        .prefetch_related(Prefetch("first_bad", Run.objects.select_related("version").defer("options")))
        .order_by("pk")
    )
    known = list(
        Incident.objects.filter(
            product=product_id, branch=branch, line=line, kind__in=Incident.OF_CHANGE_POINTS
        ).select_related("since", "until")
    )
    ranks = ranks_of(change_points, branch=branch)
    steps = [one for one in change_points if not one.is_drift]
    switches = switches_of(steps)
    of_metrics = stream.values_list("metric").annotate(Count("pk")).order_by()
    project = Project.objects.get(products=product_id)
    metrics = rules_of(project.pk)
    looked_at = sum(number for metric, number in of_metrics if metrics.is_looked_at(metric))
    rule = rule_of(project, metrics)
    lives = {incident.pk: Life.of(incident) for incident in known}
    before = {incident.pk: _as_stored(incident) for incident in known}
    clusters = clusters_of(steps, ranks, switches)
    clusters += drifts_of((one for one in change_points if one.is_drift), ranks)
    incidents = _incidents_of(clusters, known, ranks)
    found: list[tuple[Life, Cluster]] = []
    for cluster in clusters:
        incident = incidents.get(cluster) or Incident(product_id=product_id, branch=branch, line=line)
        life = lives.pop(incident.pk) if incident.pk else Life.of(incident)
        others = {one.series_id for one in cluster.members if not metrics.is_looked_at(one.series.metric)}
        _describe(incident, cluster, looked_at=looked_at + len(others), switches=switches, rule=rule)
        found.append((life, cluster))
    _hold_back(found)
    for life in lives.values():
        life.incident.status = Incident.Status.WITHDRAWN
    _write(found, [incident for incident in known if _as_stored(incident) != before[incident.pk]])
    left = find_remainders({cluster: life.incident for life, cluster in found}, ranks)
    for life, cluster in found:
        life.keep_remainder(left.get(cluster), smallest=rule.smallest_change)
    store_lives(found, gone=list(lives.values()), quiet=quiet)


def _hold_back(found: Sequence[tuple[Life, Cluster]]) -> None:
    """Leave incidents suspected that other products of their machine may still show to be the machine's."""
    news = {
        life: hardware_id
        for life, cluster in found
        if life.incident.status == Incident.Status.CONFIRMED != life.status
        and not (life.incident.quiet or life.incident.historical)
        and cluster.kind != Incident.Kind.DRIFT
        and (hardware_id := cluster.only_machine) is not None
    }
    if not news:
        return
    begun = {
        machine: min(life.incident.started_at for life, of in news.items() if of == machine)
        for machine in news.values()
    }
    incident = next(iter(news)).incident
    waiting = waiting_for_machines(incident.project_id, incident.product_id, begun)
    for life, machine in news.items():
        if machine in waiting:
            life.incident.status = Incident.Status.SUSPECTED
            life.incident.confirmed_at = life.confirmed_at


def _as_stored(incident: Incident) -> list[object]:
    return [getattr(incident, name) for name in _FOUND]


def _incidents_of(
    clusters: Sequence[Cluster], known: Sequence[Incident], ranks: Ranks
) -> dict[Cluster, Incident]:
    """Find the known incident of each cluster: where its change points belong, or else one at its place.

    Where a cluster has the change points of several incidents, one that was confirmed stays, of these the one
    that people touched, else the one with most of them. An incident whose change points parted stays with
    most of them.

    An incident at its place keeps what people said, and mails nobody twice, where the change points
    themselves are new ones: the runs that held them were removed, or another series shows the change now.
    """
    by_pk = {incident.pk: incident for incident in known}
    votes = {
        cluster: Counter(one.incident_id for one in cluster.all_members if one.incident_id in by_pk)
        for cluster in clusters
    }
    shared = {pk for of_cluster in votes.values() if len(of_cluster) > 1 for pk in of_cluster}
    touched = touched_by_people(by_pk[pk] for pk in shared if pk is not None)
    claims = [
        (by_pk[pk].confirmed_at is None, pk not in touched, -number, pk, at)
        for at, cluster in enumerate(clusters)
        for pk, number in votes[cluster].items()
        if pk is not None
    ]
    found: dict[Cluster, Incident] = {}
    left = dict(by_pk)
    for *_, pk, at in sorted(claims):
        if pk in left and clusters[at] not in found:
            found[clusters[at]] = left.pop(pk)
    for cluster in clusters:
        if cluster not in found and (near := _incident_near(cluster, left, ranks)):
            found[cluster] = left.pop(near.pk)
    return found


def _incident_near(cluster: Cluster, known: Mapping[int, Incident], ranks: Ranks) -> Incident | None:
    near = [
        (cluster.distance(rank), incident.status == Incident.Status.WITHDRAWN, -incident.pk, incident)
        for incident in known.values()
        if incident.kind == cluster.kind
        and incident.hardware_id in {cluster.hardware_id, None}
        and bool(incident.origin) == cluster.is_beginning
        and (rank := ranks.of_incident(incident)) is not None
        and cluster.distance(rank) <= SAME_CAUSE_WITHIN
    ]
    return min(near)[-1] if near else None


def _write(found: Sequence[tuple[Life, Cluster]], changed: Sequence[Incident]) -> None:
    Incident.objects.bulk_update(changed, _FOUND, batch_size=30)
    new = [(life, cluster) for life, cluster in found if life.incident.pk is None]
    known = {life.incident.pk: life.incident for life, _ in found if life.incident.pk}
    for life, cluster in new:
        split_off(life, cluster, known)
    Incident.objects.bulk_create([life.incident for life, _ in new])
    moved = []
    for life, cluster in found:
        for change_point in cluster.all_members:
            if change_point.incident_id != life.incident.pk:
                life.joined.add(change_point.incident_id)
                change_point.incident = life.incident
                moved.append(change_point)
    ChangePoint.objects.bulk_update(moved, ["incident"], batch_size=100)


def _describe(
    incident: Incident,
    cluster: Cluster,
    *,
    looked_at: int,
    switches: Switches,
    rule: IncidentRule,
) -> None:
    confirmed = cluster.confirmed
    told_by = confirmed or cluster.members
    together = _begun_together(cluster.narrowest)
    anchor = max(together, key=attrgetter("size"))
    incident.project_id = anchor.series.project_id
    incident.kind = cluster.kind
    incident.hardware_id = cluster.hardware_id
    incident.since = anchor.last_good.version if anchor.last_good else None
    incident.until = (anchor.first_bad or anchor.run).version
    incident.until_at = anchor.first_bad.started_at if anchor.first_bad else None
    incident.started_at = cluster.first_measured_at(anchor)
    incident.origin = anchor.origin
    incident.cause = cause_of(together, switches)
    _sum_up(incident, cluster.measured)
    if cluster.kind == Incident.Kind.DRIFT:
        _describe_drift(incident, anchor)
    incident.looked_at = looked_at
    incident.historical = all(change_point.historical for change_point in told_by)
    apply_rule(incident, told_by, rule)
    if confirmed and incident.status != Incident.Status.CONFIRMED:
        incident.confirmed_at = timezone.now()
    incident.status = Incident.Status.CONFIRMED if confirmed else Incident.Status.SUSPECTED


def _describe_drift(incident: Incident, anchor: ChangePoint) -> None:
    """Say from when to when a drift goes; no version is to blame."""
    if anchor.last_good:
        incident.started_at = anchor.last_good.started_at
    incident.last_at = anchor.run.started_at
    incident.cause = ""
    incident.points = anchor.groups_after
    incident.per_point = (1 + (incident.median or 0.0)) ** (1 / anchor.groups_after) - 1


def apply_rule(incident: Incident, told_by: Sequence[ChangePoint], rule: IncidentRule) -> None:
    """Say whether the rule leaves an incident out, and whether it is quiet; ``told_by`` tells of it."""
    passing = [one for one in told_by if rule.tells_of(one)]
    of_rule = incident.kind not in (Incident.Kind.ENVIRONMENT, Incident.Kind.SILENCE)
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
