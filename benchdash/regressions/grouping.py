"""Change points of one cause are one incident: what people triage."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from django.utils import timezone

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.places import UNWATCHED_METRICS
from benchdash.results.models import Series
from benchdash.results.queries import histories, positions

# The first group of a new level is known to within a group or two; machines skip commits.
_SAME_CAUSE_WITHIN = 2


@dataclass(frozen=True, slots=True)
class _Placed:
    """A change point with its rank among the groups of its stream."""

    change_point: ChangePoint
    rank: int


def update_incidents(product_id: int, *, branch: str, line: str) -> None:
    """Group the change points of one branch or release line. Repeatable; keeps what people said."""
    stream = Series.objects.filter(product=product_id, branch=branch, line=line)
    change_points = list(
        ChangePoint.objects.filter(series__in=stream)
        .exclude(state=ChangePoint.State.WITHDRAWN)
        .select_related("series", "run__version", "last_good__version", "incident")
    )
    known = {
        incident.pk: incident
        for incident in Incident.objects.filter(product=product_id, branch=branch, line=line).exclude(
            status=Incident.Status.WITHDRAWN
        )
    }
    series_looked_at = stream.exclude(metric__in=UNWATCHED_METRICS).count()
    still_there: set[int] = set()
    for cluster in _clusters(_ranked(change_points, branch=branch)):
        incident = _incident_of(cluster, known, taken=still_there)
        _describe(
            incident, cluster, product_id=product_id, branch=branch, line=line, looked_at=series_looked_at
        )
        incident.save()
        still_there.add(incident.pk)
        ChangePoint.objects.filter(pk__in=[change_point.pk for change_point in cluster]).update(
            incident=incident
        )
    for incident in known.values():
        if incident.pk not in still_there:
            incident.status = Incident.Status.WITHDRAWN
            incident.save(update_fields=["status"])


def _ranked(change_points: Sequence[ChangePoint], *, branch: str) -> list[_Placed]:
    """Change points with their ranks among all groups of their stream, whichever machine measured them."""
    points = histories({change_point.series_id for change_point in change_points})
    order = positions(points.values(), branch=branch)
    rank_of_run = {
        (series_id, run): order[point.position]
        for series_id, of_series in points.items()
        for point in of_series
        for run in point.run_ids
    }
    return [
        _Placed(change_point, rank_of_run[place])
        for change_point in change_points
        if (place := (change_point.series_id, change_point.run_id)) in rank_of_run
    ]


def _clusters(placed: Iterable[_Placed]) -> list[list[ChangePoint]]:
    """Neighbours in position that move the same way, for the worse or for the better."""
    clusters: list[list[ChangePoint]] = []
    for worse in (True, False):
        of_direction = sorted(
            (one for one in placed if one.change_point.is_regression == worse), key=lambda one: one.rank
        )
        last: int | None = None
        for one in of_direction:
            if last is None or one.rank - last > _SAME_CAUSE_WITHIN:
                clusters.append([])
            clusters[-1].append(one.change_point)
            last = one.rank
    return clusters


def _incident_of(cluster: Sequence[ChangePoint], known: dict[int, Incident], *, taken: set[int]) -> Incident:
    """The incident that most of them belong to already, or a new one."""
    votes = Counter(
        change_point.incident_id
        for change_point in cluster
        if change_point.incident_id in known and change_point.incident_id not in taken
    )
    return known[votes.most_common(1)[0][0]] if votes else Incident()


def _most_common_run(change_points: Sequence[ChangePoint]) -> ChangePoint:
    """The one whose version and day most of them share; of several, the largest change."""
    places = Counter((one.run.version_id, one.run.started_at.date()) for one in change_points)
    most = places.most_common(1)[0][0]
    sharing = [one for one in change_points if (one.run.version_id, one.run.started_at.date()) == most]
    return max(sharing, key=lambda one: abs(one.change))


def _describe(
    incident: Incident,
    cluster: Sequence[ChangePoint],
    *,
    product_id: int,
    branch: str,
    line: str,
    looked_at: int,
) -> None:
    confirmed = [
        change_point for change_point in cluster if change_point.state == ChangePoint.State.CONFIRMED
    ]
    told_by = confirmed or list(cluster)
    anchor = _most_common_run(told_by)
    changes = [change_point.change for change_point in told_by]
    incident.project_id = anchor.series.project_id
    incident.product_id = product_id
    incident.branch, incident.line = branch, line
    incident.kind = Incident.Kind.REGRESSION if anchor.is_regression else Incident.Kind.IMPROVEMENT
    incident.since = anchor.last_good.version if anchor.last_good else None
    incident.until = anchor.run.version
    incident.started_at = anchor.run.started_at
    incident.worst = max(changes, key=abs)
    incident.median = median(changes)
    incident.looked_at = looked_at
    incident.historical = all(change_point.historical for change_point in told_by)
    incident.quiet = all(change_point.quiet for change_point in told_by)
    if confirmed and incident.status != Incident.Status.CONFIRMED:
        incident.confirmed_at = timezone.now()
    incident.status = Incident.Status.CONFIRMED if confirmed else Incident.Status.SUSPECTED
