"""Steps of a machine: what most of its workloads show at the same time, whichever product they measure.

Such a step is one incident of kind ``environment``. The incidents of the products that it explains are folded
into it, and nobody is mailed a regression for them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from statistics import median
from typing import Any, Final

from django.conf import settings
from django.db.models import Max, Q
from django.utils import timezone

from benchdash.database.locks import hold
from benchdash.regressions.analysis.causes import cause_of, switches_of
from benchdash.regressions.analysis.failing_places import due_touches
from benchdash.regressions.analysis.lives import note_recovery, note_return
from benchdash.regressions.events import event
from benchdash.regressions.headlines import is_for_the_worse
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent
from benchdash.regressions.queries import NEAR_IN_TIME
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.controls import is_control
from benchdash.results.metrics import main_metric
from benchdash.results.models import Run, Series
from benchdash.results.pull_requests import of_pull_requests

_What = IncidentEvent.What
_Status = Incident.Status

MAX_STEPS: Final = 60
"""The number of the newest steps of a machine of which it is asked whether the machine made them."""
MAX_CHANGE_POINTS: Final = 2000
MAX_GAP: Final = timedelta(days=14)
"""A change between runs further apart tells too little of when it happened."""
MAX_RATIO: Final = 4.0
"""A machine slows products alike; one that moved by so many times more than another did so by itself."""
MAX_WAIT: Final = timedelta(hours=24)
"""A regression waits so long at most for the other products of its machine to be measured."""
_RECENTLY: Final = timedelta(days=3)
_MIN_MARGIN: Final = timedelta(hours=1)
_LOCK: Final = "incidents of machine"

_FOUND: Final = (
    *("status", "historical", "quiet", "started_at", "worst", "median", "metric", "largest", "cause"),
    *("looked_at", "confirmed_at"),
)

# Product, build, branch, configuration, counterpart, workload and threads.
_Unit = tuple[Any, ...]


@dataclass(slots=True, eq=False)
class _Step:
    """The change points of one incident on one machine: it changed between ``after`` and ``until``."""

    incident: Incident
    change_points: list[ChangePoint]
    after: datetime
    until: datetime

    @property
    def margin(self) -> timedelta:
        """Two steps are at the same time within a night: half of it for each."""
        return max((self.until - self.after) / 2, _MIN_MARGIN)

    @property
    def is_of_control(self) -> bool:
        return is_control(self.change_points[0].series.build)

    @property
    def is_confirmed(self) -> bool:
        return any(one.state == ChangePoint.State.CONFIRMED for one in self.change_points)

    @property
    def for_the_worse(self) -> bool:
        return self.change_points[0].is_regression

    @property
    def product_id(self) -> int:
        return self.change_points[0].series.product_id

    @property
    def units(self) -> set[_Unit]:
        return {_unit_of(one) for one in self.change_points}

    def is_beside(self, other: "_Step") -> bool:
        return (
            self.for_the_worse == other.for_the_worse
            and self.after - self.margin <= other.until
            and other.after - other.margin <= self.until
        )


@dataclass(slots=True, eq=False)
class _Group:
    """Steps of one machine at the same time; ``products`` are those of which most workloads moved."""

    steps: list[_Step]
    products: Mapping[int, Sequence[_Step]]
    measured: Collection[_Unit]

    @property
    def since(self) -> datetime:
        return min(one.after - one.margin for one in self.steps)

    @property
    def until(self) -> datetime:
        return max(one.until + one.margin for one in self.steps)

    @property
    def control(self) -> _Step | None:
        return next((one for one in self.steps if one.is_of_control), None)

    @property
    def explained(self) -> list[_Step]:
        return [one for steps in self.products.values() for one in steps]


def explain_by_machines(project_id: int, hardware_ids: Collection[int], *, quiet: bool) -> None:
    """Find what machines did, and fold the incidents that this explains; unfold what it no longer does.

    A step is the machine's when more than half of all workloads that were measured on it around then moved
    the same way, by like amounts, and they are of at least two products of which each moved in more than
    half of its own; or when its control moved too. A product that runs against another one is not counted
    as another. Repeatable; a constant number of statements for each machine.
    """
    for hardware_id in sorted(hardware_ids):
        # If two products are looked at at once, the later one sees what the earlier one found.
        hold(_LOCK, hardware_id)
        _explain(project_id, hardware_id, quiet=quiet)


def _explain(project_id: int, hardware_id: int, *, quiet: bool) -> None:
    steps, read_since = _steps(hardware_id)
    known = list(
        Incident.objects.filter(
            project=project_id, hardware=hardware_id, kind=Incident.Kind.ENVIRONMENT
        ).order_by("pk")
    )
    if (
        not known
        and len({one.product_id for one in steps}) < 2
        and not any(one.is_of_control for one in steps)
    ):
        return
    groups = _groups(project_id, hardware_id, steps)
    of_machine = [one for one in known if one.product_id is None]
    events: list[IncidentEvent] = []
    explained: dict[int, Incident] = {}
    watched = _watched(project_id, hardware_id) if groups else {}
    for group in groups:
        control = group.control
        if control:
            incident = control.incident
        else:
            incident = _incident_of(group, of_machine, project_id, hardware_id)
            events += _describe(incident, group, watched)
            of_machine = [one for one in of_machine if one.pk != incident.pk]
        explained |= {one.incident.pk: incident for one in group.explained}
    gone = [one for one in of_machine if _is_gone(one, read_since)]
    for incident in gone:
        incident.status = _Status.WITHDRAWN
        incident.save(update_fields=["status"])
        events.append(event(incident, _What.WITHDRAWN))
    events += _fold(explained, steps, gone, project_id, hardware_id)
    events += _recovered(hardware_id)
    for one in events:
        one.quiet = quiet or one.incident.quiet or one.incident.historical
    IncidentEvent.objects.bulk_create(events)


def _is_gone(incident: Incident, read_since: datetime | None) -> bool:
    """Tell whether an incident of no group has lost its evidence; one that is over keeps its word."""
    if incident.status == _Status.WITHDRAWN or incident.recovered_by_id:
        return False
    return read_since is None or incident.started_at >= read_since


def _steps(hardware_id: int) -> tuple[list[_Step], datetime | None]:
    """Read the newest steps of a machine that tell when they happened.

    With them comes the time since when these are all; None where nothing was left out.
    """
    newest = (
        ChangePoint.objects.filter(
            series__hardware=hardware_id,
            series__is_derived=False,
            origin="",
            incident__isnull=False,
            last_good__isnull=False,
            change__isnull=False,
            per_point=None,
        )
        .exclude(state=ChangePoint.State.WITHDRAWN)
        .select_related("series__product", "run", "last_good", "incident")
        .defer("run__options", "last_good__options")
        .order_by("-run__started_at", "-pk")
    )
    found = list(newest[:MAX_CHANGE_POINTS])
    of_incident: dict[int, list[ChangePoint]] = defaultdict(list)
    incidents: dict[int, Incident] = {}
    for one in found:
        incident = incidents.setdefault(one.incident_id or 0, one.incident)  # type: ignore[arg-type]
        # Only the last time of a loss that returned counts.
        if one.run.started_at >= incident.started_at - MAX_GAP:
            of_incident[incident.pk].append(one)
    steps = [
        _Step(
            incidents[pk],
            members,
            after=_middle(one.last_good.started_at for one in members if one.last_good),
            until=_middle(one.run.started_at for one in members),
        )
        for pk, members in of_incident.items()
    ]
    dated = [one for one in steps if timedelta(0) < one.until - one.after <= MAX_GAP]
    steps = sorted(dated, key=attrgetter("until"), reverse=True)[:MAX_STEPS]
    is_cut = len(found) == MAX_CHANGE_POINTS or len(dated) > MAX_STEPS
    return steps, steps[-1].until if is_cut and steps else None


def _may_be_of_machine(steps: Sequence[_Step]) -> bool:
    return len({one.product_id for one in steps}) > 1 or any(one.is_of_control for one in steps)


def _groups(project_id: int, hardware_id: int, steps: Sequence[_Step]) -> list[_Group]:
    """Return the groups of steps that the machine made."""
    candidates: list[list[_Step]] = []
    left = list(steps)
    while left:
        beside = max(([one for one in left if one.is_beside(some)] for some in left), key=len)
        left = [one for one in left if one not in beside]
        if _may_be_of_machine(beside):
            candidates.append(beside)
    measured = _measured_around(project_id, hardware_id, candidates)
    found = (_group_of(some, units) for some, units in zip(candidates, measured, strict=True))
    return [group for group in found if group]


def _group_of(steps: Sequence[_Step], measured: Collection[_Unit]) -> _Group | None:
    moved: dict[int, list[_Step]] = defaultdict(list)
    for one in steps:
        if not one.is_of_control:
            moved[one.product_id].append(one)
    all_units = {unit for unit in measured if not is_control(unit[1])}
    of_product = {pk: {unit for unit in all_units if unit[0] == pk} for pk in moved}
    units_of = {pk: {unit for one in some for unit in one.units} for pk, some in moved.items()}
    mostly = {
        pk: some for pk, some in moved.items() if 2 * len(units_of[pk] & of_product[pk]) > len(of_product[pk])
    }
    control = next((one for one in steps if one.is_of_control), None)
    mostly = _of_like_size(mostly, control)
    share = sum(len(units_of[pk] & all_units) for pk in mostly)
    if not mostly or 2 * share <= len(all_units):
        return None
    if control is None and len(_unrelated(mostly)) < 2:
        return None
    chosen = [one for one in steps if one.is_of_control or one.product_id in mostly]
    return _Group(chosen, mostly, all_units)


def _of_like_size(products: Mapping[int, list[_Step]], control: _Step | None) -> dict[int, list[_Step]]:
    """Leave out the products that moved by much more than another, or than the control."""
    sizes = {pk: _size(some) for pk, some in products.items()}
    least = min([*sizes.values(), *([_size([control])] if control else [])], default=0.0)
    return {pk: some for pk, some in products.items() if sizes[pk] <= MAX_RATIO * least}


def _size(steps: Iterable[_Step]) -> float:
    return median(one.size for step in steps for one in step.change_points)


def _unrelated(products: Mapping[int, Sequence[_Step]]) -> list[int]:
    """Return the products but those that others of them were run against."""
    against = {
        one.series.counterpart.casefold() for of in products.values() for s in of for one in s.change_points
    }
    return [
        pk
        for pk, steps in products.items()
        if not any(steps[0].change_points[0].series.product.name.casefold() in name for name in against)
    ]


def _measured_around(
    project_id: int, hardware_id: int, candidates: Sequence[Sequence[_Step]]
) -> list[set[_Unit]]:
    """Return what was measured on a machine before and after each of some groups of steps; one statement."""
    spans = [
        (
            min(one.after - one.margin for one in steps),
            min(one.until for one in steps),
            max(one.until + one.margin for one in steps),
        )
        for steps in candidates
    ]
    if not spans:
        return []
    within = Q()
    for since, _, until in spans:
        within |= Q(started_at__gte=since, started_at__lte=until)
    runs = Run.objects.filter(within, ~of_pull_requests(), project=project_id, hardware=hardware_id)
    rows = runs.filter(excluded_at=None).values_list(
        "started_at",
        *("version__product", "version__build", "branch"),
        *("configuration", "counterpart", "workload", "threads"),
    )
    found: list[set[_Unit]] = [set() for _ in spans]
    for started_at, *unit in rows:
        for units, (since, _, until) in zip(found, spans, strict=True):
            if since <= started_at <= until:
                units.add(tuple(unit))
    return found


def _unit_of(one: ChangePoint) -> _Unit:
    series = one.series
    return (
        *(series.product_id, series.build, series.branch),
        *(series.configuration_id, series.counterpart, series.workload_id, series.threads),
    )


def _incident_of(group: _Group, known: Sequence[Incident], project_id: int, hardware_id: int) -> Incident:
    """Return the known incident of a group: what its steps are folded into, or one of its time."""
    folded = Counter(one.incident.folded_into_id for one in group.explained)
    near = [
        one
        for one in known
        if folded[one.pk]
        or (
            group.since <= one.started_at <= group.until
            and is_for_the_worse(one) == group.steps[0].for_the_worse
        )
    ]
    near.sort(key=lambda one: (-folded[one.pk], one.status == _Status.WITHDRAWN, one.pk))
    return next(iter(near), Incident(project_id=project_id, hardware_id=hardware_id))


def _watched(project_id: int, hardware_id: int) -> dict[_Unit, set[int]]:
    """Return the ids of the watched series of a machine by what they measure; two statements."""
    rules = rules_of(project_id)
    series = Series.objects.filter(project=project_id, hardware=hardware_id, is_derived=False)
    found: dict[_Unit, set[int]] = defaultdict(set)
    for pk, metric, *unit in series.values_list(
        *("pk", "metric", "product", "build", "branch"),
        *("configuration", "counterpart", "workload", "threads"),
    ):
        if rules.is_looked_at(metric):
            found[tuple(unit)].add(pk)
    return found


def _describe(
    incident: Incident, group: _Group, watched: Mapping[_Unit, Collection[int]]
) -> list[IncidentEvent]:
    """Make the incident of a machine agree with the steps that it explains; return what happened to it.

    ``watched`` are the ids of the watched series of the machine by what they measure.
    """
    before = incident.status if incident.pk else ""
    steps = group.explained
    largest = [max(one.change_points, key=attrgetter("size")) for one in steps]
    confirmed = [pk for pk, some in group.products.items() if any(one.is_confirmed for one in some)]
    incident.kind = Incident.Kind.ENVIRONMENT
    incident.status = _Status.CONFIRMED if len(confirmed) > 1 else _Status.SUSPECTED
    incident.started_at = min(one.until for one in steps)
    incident.historical = all(one.incident.historical for one in steps)
    incident.quiet = all(one.incident.quiet for one in steps)
    incident.largest = max(largest, key=attrgetter("size"))
    incident.worst = incident.largest.speed_change
    speeds: dict[str, list[float]] = defaultdict(list)
    for step in steps:
        for one in step.change_points:
            if (speed := one.speed_change) is not None:
                speeds[one.series.metric].append(speed)
    incident.metric = main_metric({metric: len(some) for metric, some in speeds.items()})
    incident.median = median(speeds[incident.metric])
    incident.cause = cause_of(largest, switches_of(largest))
    looked_at = {pk for unit in group.measured for pk in watched.get(unit, ())}
    changed = {one.series_id for step in steps for one in step.change_points}
    incident.looked_at = len(looked_at | changed)
    events = []
    if before in {"", _Status.WITHDRAWN}:
        events.append(event(incident, _What.DETECTED))
    if incident.status == _Status.CONFIRMED and before != _Status.CONFIRMED:
        events.append(event(incident, _What.CONFIRMED))
        incident.confirmed_at = timezone.now()
    if incident.pk:
        # Words of people about it stay meanwhile.
        incident.save(update_fields=_FOUND)
    else:
        incident.save()
    return events


def _fold(
    explained: Mapping[int, Incident],
    steps: Sequence[_Step],
    gone: Sequence[Incident],
    project_id: int,
    hardware_id: int,
) -> list[IncidentEvent]:
    """Fold incidents into that of the machine which explains them, and unfold those that none explains.

    An incident that other machines show too is explained where each of them stepped at that time.
    """
    elsewhere = _machines_elsewhere(explained, hardware_id)
    stepped = _steps_of_machines(project_id, {machine for some in elsewhere.values() for machine in some})
    # One that another worker is changing is folded by that worker.
    concerned = (
        Incident.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
        .filter(Q(pk__in=[one.incident.pk for one in steps]) | Q(folded_into__in=gone))
        .exclude(kind=Incident.Kind.ENVIRONMENT)
    )
    events, changed = [], []
    for incident in concerned.order_by("pk"):
        machine = explained.get(incident.pk)
        others = [
            one
            for one in stepped
            if one.hardware_id in elsewhere[incident.pk]
            and abs(one.started_at - incident.started_at) <= NEAR_IN_TIME
            and is_for_the_worse(one) == is_for_the_worse(incident)
        ]
        if elsewhere[incident.pk] - {one.hardware_id for one in others}:
            machine = None
        if machine and incident.folded_into_id in {one.pk for one in others}:
            continue
        if incident.folded_into_id == (machine.pk if machine else None):
            continue
        detail = {"into": machine.pk} if machine else {"from": incident.folded_into_id}
        incident.folded_into = machine
        changed.append(incident)
        events.append(event(incident, _What.FOLDED if machine else _What.UNFOLDED, detail=detail))
    Incident.objects.bulk_update(changed, ["folded_into"], batch_size=100)
    return events


def _recovered(hardware_id: int) -> list[IncidentEvent]:
    """Close the losses of a machine whose every product recovered; open them again when one returns."""
    machines = {
        one.pk: one
        for one in Incident.objects.filter(
            hardware=hardware_id, kind=Incident.Kind.ENVIRONMENT, product=None
        ).exclude(status=_Status.WITHDRAWN)
        if is_for_the_worse(one)
    }
    recoveries: dict[int, list[int | None]] = defaultdict(list)
    folded = Incident.objects.filter(folded_into__in=machines).exclude(status=_Status.WITHDRAWN)
    for pk, recovered_by in folded.order_by("pk").values_list("folded_into", "recovered_by__folded_into"):
        recoveries[pk or 0].append(recovered_by)
    ends = Incident.objects.in_bulk({pk for some in recoveries.values() for pk in some if pk})
    events = []
    for pk, machine in machines.items():
        ended_by = recoveries[pk]
        recovery = ends[ended_by[0] or 0] if ended_by and all(ended_by) else None
        if machine.recovered_by_id == (recovery.pk if recovery else None):
            continue
        machine.recovered_by = recovery
        machine.save(update_fields=["recovered_by"])
        events += [note_recovery(machine, recovery) if recovery else note_return(machine)]
    return events


def _machines_elsewhere(incidents: Collection[int], hardware_id: int) -> dict[int, set[int]]:
    """Return by the id of an incident the other machines that show it."""
    found: dict[int, set[int]] = defaultdict(set)
    rows = (
        ChangePoint.objects.filter(incident__in=incidents, series__is_derived=False)
        .exclude(state=ChangePoint.State.WITHDRAWN)
        .exclude(series__hardware=hardware_id)
        .values_list("incident", "series__hardware")
        .distinct()
    )
    for incident, machine in rows:
        found[incident or 0].add(machine)
    return found


def _steps_of_machines(project_id: int, hardware_ids: Collection[int]) -> list[Incident]:
    if not hardware_ids:
        return []
    return list(
        Incident.objects.filter(
            project=project_id, kind=Incident.Kind.ENVIRONMENT, hardware__in=hardware_ids
        ).exclude(status=_Status.WITHDRAWN)
    )


def waiting_for_machines(project_id: int, product_id: int | None, begun: Mapping[int, datetime]) -> set[int]:
    """Return the machines on which other products are to be measured or analysed since something began.

    ``begun`` says by the id of the machine when the change of a product began there that could be told of
    now. Another product that was measured there in the days before, and not since, or whose results are not
    analysed yet, may show the same change tonight: then it was the machine. A control may, too, unless it ran
    in the session of the change. Nobody waits longer than MAX_WAIT for that. Two statements.
    """
    now = timezone.now()
    young = {pk: at for pk, at in begun.items() if at > now - MAX_WAIT}
    if not young:
        return set()
    rows = (
        Run.objects.filter(
            ~of_pull_requests(),
            project=project_id,
            hardware__in=young,
            started_at__gt=now - MAX_WAIT - _RECENTLY,
            excluded_at=None,
        )
        .values_list("hardware", "version__product", "version__build")
        .annotate(last=Max("started_at"))
        .order_by()
    )
    last_of: dict[tuple[int, int], datetime] = {}
    others = due_touches().filter(series__hardware__in=young).exclude(series__product=product_id)
    waiting = set(others.values_list("series__hardware", flat=True).distinct())
    for hardware, product, build, last in rows:
        if not is_control(build):
            last_of[hardware, product] = max(last, last_of.get((hardware, product), last))
        elif last < young[hardware] - timedelta(seconds=settings.SESSION_GAP_S):
            waiting.add(hardware)
    return waiting | {hardware for (hardware, _), last in last_of.items() if last < young[hardware]}


def _middle(times: Iterable[datetime]) -> datetime:
    in_order = sorted(times)
    return in_order[len(in_order) // 2]
