"""The life of an incident as analysis sees it: what happened to it between the last look and this one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any, Final

from django.utils import timezone

from benchdash.regressions.analysis.clusters import Cluster
from benchdash.regressions.detection.remainders import Remainder
from benchdash.regressions.events import event
from benchdash.regressions.models import Comment, Incident, IncidentEvent
from benchdash.results.models import ServerVersion

_What = IncidentEvent.What
_Status = Incident.Status
_State = Incident.State

SPREAD_FACTOR: Final = 2
"""An incident has spread when so many times the series are confirmed that people were last told of."""
MIN_SPREAD: Final = 3
"""The least number of series more that are confirmed when an incident has spread on the same machines."""
_TELLS_SIZE: Final = (_What.CONFIRMED, _What.RETURNED, _What.SPREAD)
_SAID_BY_PEOPLE: Final = (
    *("state", "assignee_id", "reason", "bug"),
    *("snoozed_until", "snoozed_until_version"),
)
# Fields that a part that splits off takes along.
_SAID: Final = (*_SAID_BY_PEOPLE, "recovered_by_id", "remaining", "folded_into_id")


@dataclass(slots=True, eq=False)
class Life:
    """An incident, and how it stood before this look; ``joined`` are the incidents that its members left.

    ``remaining`` is what is left of it by this look, if it recovered.
    """

    incident: Incident
    status: str
    confirmed_at: datetime | None
    since: ServerVersion | None
    until: ServerVersion | None
    recovered_by_id: int | None
    remaining: float | None
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
            incident.remaining,
        )

    def keep_remainder(self, left: Remainder | None, *, smallest: float) -> None:
        """Take over what is left of a loss, where that can be told, if it is certain and large enough."""
        if left is not None:
            is_left = left.is_certain(was_told=self.remaining is not None) and left.change <= -smallest
            self.remaining = round(left.change, 4) if is_left else None


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
    life.recovered_by_id, life.remaining = life.incident.recovered_by_id, life.incident.remaining


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
    size: dict[str, Any] = {
        "series": len(cluster.confirmed),
        "machines": sorted({one.series.hardware_id for one in cluster.confirmed}),
    }
    if cluster.kind == Incident.Kind.DRIFT:
        size["lost"] = median(abs(one.speed_change or 0.0) for one in cluster.measured)
    return size


def _spread(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    """Note where an incident grew: to another machine, to twice the series, or a drift to twice the loss."""
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
    if "lost" in now:
        return "lost" in told and now["lost"] >= SPREAD_FACTOR * told["lost"]
    least = max(SPREAD_FACTOR * told["series"], told["series"] + MIN_SPREAD)
    return now["series"] >= least or not set(now["machines"]) <= set(told["machines"])


def _ended(gone: Sequence[Life], taken_over: Mapping[int, Incident]) -> list[IncidentEvent]:
    events = []
    for life in gone:
        incident = life.incident
        if life.status == _Status.WITHDRAWN:
            continue
        if survivor := taken_over.get(incident.pk):
            _hand_over(incident, survivor)
            events.append(event(incident, _What.MERGED, detail={"into": survivor.pk}))
            events.append(event(survivor, _What.MERGED, detail={"from": incident.pk}))
        else:
            events.append(event(incident, _What.WITHDRAWN))
    return events


def _hand_over(incident: Incident, survivor: Incident) -> None:
    """Let what people said of one incident be said of another; what they said of that wins."""
    touched = touched_by_people([incident, survivor])
    Comment.objects.filter(incident=incident).update(incident=survivor)
    if incident.pk in touched and survivor.pk not in touched:
        words = {name: getattr(incident, name) for name in _SAID_BY_PEOPLE}
        Incident.objects.filter(pk=survivor.pk).update(**words)


def _recovered(found: Sequence[tuple[Life, Cluster]]) -> list[IncidentEvent]:
    """Close the losses that a step back ended, and open those again that returned or left something.

    What people decided (expected, won't fix, invalid) stays.
    """
    incident_of = {cluster: life.incident for life, cluster in found}
    ended: list[tuple[Incident, Incident]] = []
    returned: list[tuple[Incident, Cluster]] = []
    relinked: list[Incident] = []
    for life, cluster in found:
        incident = life.incident
        recovery = incident_of[cluster.recovery] if cluster.recovery else None
        remaining = life.remaining if recovery else None
        is_same = (recovery.pk if recovery else None) == life.recovered_by_id
        if is_same and remaining == incident.remaining:
            continue
        was_whole = incident.remaining is None
        incident.recovered_by, incident.remaining = recovery, remaining
        relinked.append(incident)
        if recovery and (life.recovered_by_id is None or was_whole != (remaining is None)):
            ended.append((incident, recovery))
        elif recovery is None and incident.status == _Status.CONFIRMED:
            returned.append((incident, cluster))
    Incident.objects.bulk_update(relinked, ["recovered_by", "remaining"], batch_size=100)
    opened = _set_state([one.pk for one, _ in returned], _State.NEW, where={_State.FIXED})
    Incident.objects.filter(pk__in=[one.pk for one, _ in returned]).update(confirmed_at=timezone.now())
    return [
        *_recoveries(ended),
        *(_return(one, opened, _size(cluster)) for one, cluster in returned),
    ]


def note_recovery(incident: Incident, recovery: Incident) -> IncidentEvent:
    """Close a loss that something ended, and return that as an event."""
    return _recoveries([(incident, recovery)])[0]


def _recoveries(ended: Sequence[tuple[Incident, Incident]]) -> list[IncidentEvent]:
    """Close losses that a step back ended, keep those open of which something is left, and tell of both."""
    whole = [one.pk for one, _ in ended if one.remaining is None]
    closed = _set_state(whole, _State.FIXED, where=Incident.OPEN)
    left = [one.pk for one, _ in ended if one.remaining is not None]
    opened = _set_state(left, _State.NEW, where={_State.FIXED})
    return [
        event(
            incident,
            _What.RECOVERED,
            state=_State.FIXED if incident.pk in closed else _State.NEW if incident.pk in opened else "",
            reason=f"recovered by incident {by.pk} on {by.started_at:%Y-%m-%d}",
            detail={"by": by.pk, "at": by.started_at.isoformat(), "remaining": incident.remaining},
        )
        for incident, by in ended
    ]


def note_end(incident: Incident, *, quiet: bool) -> None:
    """Close a loss that was regained little by little, and store that as an event."""
    if closed := _set_state([incident.pk], _State.FIXED, where=Incident.OPEN):
        is_quiet = quiet or incident.quiet or incident.historical or incident.left_out
        event(
            incident,
            _What.RECOVERED,
            state=_State.FIXED if closed else "",
            detail={"at": timezone.now().isoformat()},
            quiet=is_quiet,
        ).save()


def note_return(incident: Incident) -> IncidentEvent:
    """Open a loss again that returned, and return that as an event."""
    Incident.objects.filter(pk=incident.pk).update(confirmed_at=timezone.now())
    return _return(incident, _set_state([incident.pk], _State.NEW, where={_State.FIXED}), {})


def _return(incident: Incident, opened: set[int], size: dict[str, Any]) -> IncidentEvent:
    return event(incident, _What.RETURNED, state=_State.NEW if incident.pk in opened else "", detail=size)


def _set_state(incident_ids: Iterable[int], state: str, *, where: Iterable[str]) -> set[int]:
    """Give incidents a state where people left them in another; return which got it."""
    ids = list(incident_ids)
    if not ids:
        return set()
    # People may decide at the same moment.
    to_set = Incident.objects.select_for_update(of=("self",), no_key=True).filter(
        pk__in=ids, state__in=list(where)
    )
    found = set(to_set.order_by("pk").values_list("pk", flat=True))
    Incident.objects.filter(pk__in=found).update(state=state)
    return found


def withdraw(incidents: Iterable[Incident]) -> None:
    """Withdraw incidents of which nothing is left; nobody is told."""
    given = list(incidents)
    Incident.objects.filter(pk__in=[one.pk for one in given]).update(status=_Status.WITHDRAWN)
    IncidentEvent.objects.bulk_create(event(one, _What.WITHDRAWN, quiet=True) for one in given)
