"""The life of an incident as analysis sees it: what happened to it between the last look and this one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.utils import timezone

from benchdash.regressions.analysis.clusters import Cluster
from benchdash.regressions.events import event
from benchdash.regressions.models import Comment, Incident, IncidentEvent
from benchdash.results.models import ServerVersion

_What = IncidentEvent.What
_Status = Incident.Status
_State = Incident.State

SPREAD_FACTOR: Final = 2
"""An incident has spread when so many times the series are confirmed that people were last told of."""
MIN_SPREAD: Final = 3
"""So many more series are confirmed at least when an incident has spread on the same machines."""
_TELLS_SIZE: Final = (_What.CONFIRMED, _What.RETURNED, _What.SPREAD)
# What a part that splits off takes along.
_SAID: Final = (
    "state",
    "assignee_id",
    "reason",
    "bug",
    "snoozed_until",
    "snoozed_until_version",
    "recovered_by_id",
    "folded_into_id",
)


@dataclass(slots=True, eq=False)
class Life:
    """An incident, and how it stood before this look; ``joined`` are the incidents that its members left."""

    incident: Incident
    status: str
    confirmed_at: datetime | None
    since: ServerVersion | None
    until: ServerVersion | None
    recovered_by_id: int | None
    joined: set[int | None] = field(default_factory=set)
    split_from: Incident | None = None

    @classmethod
    def of(cls, incident: Incident) -> "Life":
        is_new = incident.pk is None
        return cls(
            incident,
            "" if is_new else incident.status,
            incident.confirmed_at,
            incident.since,
            incident.until,
            incident.recovered_by_id,
        )


def touched_by_people(incidents: Iterable[Incident]) -> set[int]:
    """Return the ids of the incidents about which people said something; one statement."""
    given = list(incidents)
    said = {
        one.pk
        for one in given
        if (one.state != _State.NEW and one.recovered_by_id is None)
        or one.assignee_id
        or one.reason
        or one.bug
        or one.is_snoozed
    }
    commented = Comment.objects.filter(incident__in=given) if given else Comment.objects.none()
    return said | set(commented.values_list("incident", flat=True))


def split_off(life: Life, cluster: Cluster, known: Mapping[int, Incident]) -> None:
    """Let a new incident begin with what people said of the one that its change points belonged to."""
    sources = [known[pk] for one in cluster.all_members if (pk := one.incident_id) in known and pk]
    if not sources:
        return
    life.split_from = max(sources, key=sources.count)
    for name in _SAID:
        setattr(life.incident, name, getattr(life.split_from, name))
    life.recovered_by_id = life.incident.recovered_by_id


def store_lives(found: Sequence[tuple[Life, Cluster]], *, gone: Sequence[Life], quiet: bool) -> None:
    """Note what happened, and set what follows from it: losses that recovered are fixed until they return.

    ``gone`` are the incidents without change points. Of a ``quiet`` look, and of incidents that are old,
    quiet or left out by the rule, nobody is told.
    """
    happened = [
        *_begun(found),
        *_narrowed(found),
        *_confirmed(found),
        *_spread(found),
        *_ended(gone, {pk: life.incident for life, _ in found for pk in life.joined if pk}),
        *_recovered(found),
    ]
    for one in happened:
        one.quiet = quiet or one.incident.quiet or one.incident.historical or one.incident.left_out
    IncidentEvent.objects.bulk_create(happened)


def _begun(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    events = []
    for life, _ in found:
        incident = life.incident
        if life.split_from:
            events.append(event(incident, _What.SPLIT, detail={"from": life.split_from.pk}))
            events.append(event(life.split_from, _What.SPLIT, detail={"into": incident.pk}))
        elif life.status in {"", _Status.WITHDRAWN}:
            events.append(event(incident, _What.DETECTED))
    return events


def _narrowed(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    """Note where versions that were measured late lie within the range that was known."""
    return [
        event(life.incident, _What.NARROWED, detail=_range(life.since, life.until))
        for life, _ in found
        if life.status in {_Status.SUSPECTED, _Status.CONFIRMED} and _is_narrower(life)
    ]


def _is_narrower(life: Life) -> bool:
    now, before = (life.incident.since, life.incident.until), (life.since, life.until)
    bounds = [_order(one, life.incident) for one in (*before, *now)]
    if now == before or None in bounds:
        return False
    old_since, old_until, since, until = bounds
    return old_since <= since < until <= old_until  # type: ignore[operator]


def _order(version: ServerVersion | None, incident: Incident) -> tuple[Any, ...] | None:
    if version is None:
        return None
    if not incident.branch:
        return (version.sort_key,)
    return (version.committed_at, version.commit or "") if version.committed_at else None


def _range(since: ServerVersion | None, until: ServerVersion | None) -> dict[str, Any]:
    return {"since": str(since or ""), "until": str(until or "")}


def _confirmed(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    return [
        event(life.incident, _What.CONFIRMED, detail=_size(cluster))
        for life, cluster in found
        if life.incident.status == _Status.CONFIRMED and life.status != _Status.CONFIRMED
    ]


def _size(cluster: Cluster) -> dict[str, Any]:
    return {
        "series": len(cluster.confirmed),
        "machines": sorted({one.series.hardware_id for one in cluster.confirmed}),
    }


def _spread(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    """Note where an incident grew: to another machine, or to twice the series that people know of."""
    lasting = {
        life.incident.pk: (life, cluster)
        for life, cluster in found
        if life.status == life.incident.status == _Status.CONFIRMED
        and (life.recovered_by_id is None) == (cluster.recovery is None)
    }
    if not lasting:
        return []
    told = (
        IncidentEvent.objects.filter(incident__in=lasting, what__in=_TELLS_SIZE)
        .order_by("incident_id", "-at", "-pk")
        .distinct("incident_id")
    )
    return [
        event(life.incident, _What.SPREAD, detail=_size(cluster))
        for one in told
        for life, cluster in [lasting[one.incident_id]]
        if _has_grown(one.detail, _size(cluster))
    ]


def _has_grown(told: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    if "series" not in told:
        return False
    least = max(SPREAD_FACTOR * told["series"], told["series"] + MIN_SPREAD)
    return now["series"] >= least or not set(now["machines"]) <= set(told["machines"])


def _ended(gone: Sequence[Life], taken_over: Mapping[int, Incident]) -> list[IncidentEvent]:
    events = []
    for life in gone:
        incident = life.incident
        if life.status == _Status.WITHDRAWN:
            continue
        survivor = taken_over.get(incident.pk)
        if survivor is None:
            events.append(event(incident, _What.WITHDRAWN))
            continue
        # What was said of the one is said of the other.
        Comment.objects.filter(incident=incident).update(incident=survivor)
        events.append(event(incident, _What.MERGED, detail={"into": survivor.pk}))
        events.append(event(survivor, _What.MERGED, detail={"from": incident.pk}))
    return events


def _recovered(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    """Close the losses that a step back ended, and open those again that returned.

    What people decided (expected, won't fix, invalid) stays.
    """
    incident_of = {cluster: life.incident for life, cluster in found}
    ended: list[tuple[Incident, Incident]] = []
    returned: list[tuple[Incident, Cluster]] = []
    relinked: list[Incident] = []
    for life, cluster in found:
        incident = life.incident
        recovery = incident_of[cluster.recovery] if cluster.recovery else None
        if (recovery.pk if recovery else None) == life.recovered_by_id:
            continue
        incident.recovered_by = recovery
        relinked.append(incident)
        if recovery and life.recovered_by_id is None:
            ended.append((incident, recovery))
        elif recovery is None and incident.status == _Status.CONFIRMED:
            returned.append((incident, cluster))
    Incident.objects.bulk_update(relinked, ["recovered_by"], batch_size=100)
    closed = _set_state([one.pk for one, _ in ended], _State.FIXED, where=Incident.OPEN)
    opened = _set_state([one.pk for one, _ in returned], _State.NEW, where={_State.FIXED})
    Incident.objects.filter(pk__in=[one.pk for one, _ in returned]).update(confirmed_at=timezone.now())
    return [
        *(_recovery(one, by, closed) for one, by in ended),
        *(_return(one, opened, _size(cluster)) for one, cluster in returned),
    ]


def note_recovery(incident: Incident, recovery: Incident) -> IncidentEvent:
    """Close a loss that something ended, and return that as an event."""
    return _recovery(incident, recovery, _set_state([incident.pk], _State.FIXED, where=Incident.OPEN))


def note_return(incident: Incident) -> IncidentEvent:
    """Open a loss again that returned, and return that as an event."""
    Incident.objects.filter(pk=incident.pk).update(confirmed_at=timezone.now())
    return _return(incident, _set_state([incident.pk], _State.NEW, where={_State.FIXED}), {})


def _recovery(incident: Incident, by: Incident, closed: set[int]) -> IncidentEvent:
    return event(
        incident,
        _What.RECOVERED,
        state=_State.FIXED if incident.pk in closed else "",
        reason=f"recovered by incident {by.pk} on {by.started_at:%Y-%m-%d}",
        detail={"by": by.pk, "at": by.started_at.isoformat()},
    )


def _return(incident: Incident, opened: set[int], size: dict[str, Any]) -> IncidentEvent:
    return event(incident, _What.RETURNED, state=_State.NEW if incident.pk in opened else "", detail=size)


def _set_state(incident_ids: Iterable[int], state: str, *, where: Iterable[str]) -> set[int]:
    """Give incidents a state where people left them in another; return which got it."""
    ids = list(incident_ids)
    if not ids:
        return set()
    # People may decide at the same moment.
    to_set = Incident.objects.select_for_update(of=("self",)).filter(pk__in=ids, state__in=list(where))
    found = set(to_set.order_by("pk").values_list("pk", flat=True))
    Incident.objects.filter(pk__in=found).update(state=state)
    return found


def withdraw(incidents: Iterable[Incident]) -> None:
    """Withdraw incidents of which nothing is left; nobody is told."""
    given = list(incidents)
    Incident.objects.filter(pk__in=[one.pk for one in given]).update(status=_Status.WITHDRAWN)
    IncidentEvent.objects.bulk_create(event(one, _What.WITHDRAWN, quiet=True) for one in given)
