"""Reading opinions: change points of series, incidents, and what else changed with them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from statistics import median
from typing import Any, Final, NamedTuple, TypeVar

from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    Aggregate,
    Case,
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Abs, Ln

from benchdash.accounts.models import Project
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import ConfigurationContent, Environment, Run, Series, TouchedSeries
from benchdash.results.points import Point

NEAR_IN_TIME: Final = timedelta(days=3)
"""Incidents of several machines that began so near to each other may have one cause."""
_LIVE_STATES = [ChangePoint.State.SUSPECTED, ChangePoint.State.CONFIRMED]
LIVE = Q(state__in=_LIVE_STATES)
STEP = Q(per_point=None)
"""Changes of level, and no drifts."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting or fact that differs between two runs; None where a side does not have it."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.name}: {self.before or 'not set'} → {self.after or 'not set'}"


Surroundings = tuple[int | None, int | None]
"""The ids of the contents of the configuration and of the environment of a run."""
Switches = Mapping[tuple[Surroundings, Surroundings], Sequence[Difference]]


def beginnings(series_ids: Iterable[int]) -> list[tuple[int, int]]:
    """Return the series and the run of each suspected and confirmed change point; one statement."""
    found = ChangePoint.objects.filter(LIVE, STEP, series__in=series_ids, origin="")
    return list(found.values_list("series_id", "run_id"))


def change_points(series: Mapping[int, Series], which: Q = STEP) -> dict[int, list[ChangePoint]]:
    """Return the suspected and confirmed change points of each series (given by id); one statement."""
    found = ChangePoint.objects.filter(LIVE, which, series__in=list(series)).select_related(
        "incident__largest__series", "incident__folded_into"
    )
    of_series: dict[int, list[ChangePoint]] = defaultdict(list)
    for change_point in found.order_by("run__started_at", "pk"):
        change_point.series = series[change_point.series_id]
        of_series[change_point.series_id].append(change_point)
    return of_series


def largest_changes(series_ids: Iterable[int]) -> dict[int, float]:
    """Return the largest confirmed change of each series that has one; one statement."""
    found = ChangePoint.objects.filter(
        series__in=series_ids, state=ChangePoint.State.CONFIRMED, change__gt=-1
    ).annotate(moved=Abs(Ln(F("change") + 1)))
    ordered = found.order_by("moved", "pk").values_list("series_id", "change")
    return {series: change for series, change in ordered if change is not None}


def places(found: Sequence[ChangePoint], points: Sequence[Point]) -> dict[int, ChangePoint]:
    """Place change points at the index of the group where the new level begins, in order.

    One whose run counts no more is left out.
    """
    index_of = {run: index for index, point in enumerate(points) for run in point.run_ids}
    return by_index(found, index_of.get)


class Mark(NamedTuple):
    """A change point as charts mark it."""

    run_id: int
    state: str
    before: float
    after: float
    change: float | None
    confidence: float | None
    incident_id: int | None
    last_good_id: int | None
    per_point: float | None


def marks(series_id: int) -> list[Mark]:
    """Return the change points and drifts of one series as charts mark them, without making rows."""
    found = ChangePoint.objects.filter(LIVE, series=series_id).order_by("run__started_at", "pk")
    return list(map(Mark._make, found.values_list(*Mark._fields)))


_Found = TypeVar("_Found", ChangePoint, Mark)


def by_index(found: Iterable[_Found], index_of: Callable[[int], int | None]) -> dict[int, _Found]:
    """Place change points by ``index_of``, which tells the index of the group of a run; see ``places``."""
    placed = {index: one for one in found if (index := index_of(one.run_id)) is not None}
    return dict(sorted(placed.items()))


def waiting_series(projects: Iterable[Project]) -> dict[int, int]:
    """Count the series of each project, by its id, that have results which analysis has not looked at yet."""
    waiting = TouchedSeries.objects.filter(series__project__in=[one.pk for one in projects])
    return dict(waiting.values_list("series__project").annotate(Count("pk")))


def incidents(project: Project) -> QuerySet[Incident]:
    """Return the incidents of a project with what a list shows, latest begun first; withdrawn ones too."""
    return described(Incident.objects.filter(project=project))


def described(found: QuerySet[Incident]) -> QuerySet[Incident]:
    """Add what a list of incidents shows, the latest begun first.

    ``series_count`` and ``workloads`` (sorted names) are those of their live change points;
    ``last_good_at`` is the start of the latest run before them, for ``spans.span``.
    """
    live = Q(change_points__state__in=_LIVE_STATES)
    return (
        found.select_related(
            *("product", "hardware", "since", "until", "assignee", "largest__series__workload"),
            *(f"silence__{name}" for name in ("product", "hardware", "configuration", "workload")),
        )
        .annotate(
            series_count=_or_explained(
                Count("change_points__series", filter=live, distinct=True),
                Count("series", distinct=True),
            ),
            workloads=_or_explained(
                ArrayAgg(
                    "change_points__series__workload__name",
                    filter=live,
                    distinct=True,
                    default=_NO_NAMES,
                ),
                ArrayAgg("series__workload__name", distinct=True, default=_NO_NAMES),
            ),
            last_good_at=_or_explained(
                Max(
                    "change_points__last_good__started_at",
                    filter=live & Q(change_points__last_good__started_at__lt=F("started_at")),
                ),
                Max("last_good__started_at", filter=Q(last_good__started_at__lt=OuterRef("started_at"))),
            ),
        )
        .order_by("-started_at", "-pk")
    )


_NO_NAMES = Value([], output_field=ArrayField(TextField()))


def _explained_by(machine: Any, hardware: Any, started_at: Any) -> Q:
    """Select the change points on a machine whose incidents it explains, by its own incident.

    One that several machines show is folded into one of theirs, and explained by each.
    """
    at_that_time = Q(
        incident__folded_into__isnull=False,
        incident__started_at__gte=started_at - NEAR_IN_TIME,
        incident__started_at__lte=started_at + NEAR_IN_TIME,
    )
    return Q(Q(incident__folded_into=machine) | at_that_time, series__hardware=hardware)


def _or_explained(own: Aggregate, of_change_points: Aggregate) -> Case:
    """Aggregate over the change points of an incident; of a machine's over those that it explains."""
    explained = (
        ChangePoint.objects.filter(
            LIVE, _explained_by(OuterRef("pk"), OuterRef("hardware"), OuterRef("started_at"))
        )
        .order_by()
        .annotate(_all=Value(1))
        .values("_all")
        .annotate(found=of_change_points)
        .values("found")
    )
    is_of_machine = Q(kind=Incident.Kind.ENVIRONMENT, product=None)
    return Case(When(is_of_machine, then=Subquery(explained)), default=own)


def open_filter() -> Q:
    """Select the incidents that somebody should look at: worse, not withdrawn, settled, old or put off.

    What a machine explains is not counted beside it, nor what the rule of the project leaves out, nor a
    machine that became faster.
    """
    return ~Q(kind=Incident.Kind.ENVIRONMENT, median__gt=0) & Q(
        kind__in=Incident.FOR_THE_WORSE,
        status__in=[Incident.Status.SUSPECTED, Incident.Status.CONFIRMED],
        state__in=Incident.OPEN,
        historical=False,
        folded_into=None,
        left_out=False,
        snoozed_until=None,
        snoozed_until_version="",
    )


def seen_on(hardware: Iterable[int]) -> Q:
    """Select the incidents of these machines, or with series that were measured on them."""
    changed = ChangePoint.objects.filter(LIVE, series__hardware__in=hardware, incident=OuterRef("pk"))
    return Q(hardware__in=hardware) | Q(Exists(changed))


def evidence(incident: Incident) -> list[ChangePoint]:
    """Return the live change points of an incident, the largest change of speed first; one statement.

    Those of derived series stand last: the loss that moved a peak was measured too. Of a loss that returned
    they are the last ones of each series, and of the incident of a machine those on it that it explains.
    """
    own = Q(incident=incident)
    if incident.kind == Incident.Kind.ENVIRONMENT and incident.product_id is None:
        own = _explained_by(incident.pk, incident.hardware_id, incident.started_at)
    found = ChangePoint.objects.filter(LIVE, own).select_related(
        "series__workload",
        "series__hardware",
        "series__configuration",
        "series__product",
        "run__version",
        "run__content",
        "run__environment",
        "last_good__version",
        "last_good__content",
        "last_good__environment",
    )
    newest = {one.series_id: one for one in found.order_by("run__started_at", "pk")}
    return sorted(newest.values(), key=lambda one: (one.series.is_derived, -one.size, one.pk))


@dataclass(frozen=True, slots=True)
class FamilyEvidence:
    """``moved`` of ``size`` workloads (each at its thread counts) moved together.

    ``noise`` is theirs in the median, of one session at one level.
    """

    moved: int
    size: int
    noise: float


def family_evidence(change_points: Iterable[ChangePoint]) -> FamilyEvidence | None:
    """Sum up those that were judged by the noise of their family; None where all have a history."""
    judged = [one for one in change_points if one.family_size is not None and one.noise is not None]
    if not judged:
        return None
    return FamilyEvidence(
        moved=len({(one.series.workload_id, one.series.threads) for one in judged}),
        size=max(one.family_size or 0 for one in judged),
        noise=median(one.noise or 0.0 for one in judged),
    )


def is_of_one_session(change_points: Iterable[ChangePoint]) -> bool:
    """Tell whether one session on each side is all there is, so that it cannot be told from the machine."""
    return any(one.family_size is not None and one.noise is None for one in change_points)


def of_assumed_starts(incidents: Iterable[Incident]) -> set[int]:
    """Return the ids of the incidents that rest on assumed starts; one statement."""
    assumed = Q(run__started_at_is_assumed=True) | Q(last_good__started_at_is_assumed=True)
    found = ChangePoint.objects.filter(LIVE, assumed, incident__in=[one.pk for one in incidents])
    return {pk for pk in found.values_list("incident", flat=True) if pk}


def what_changed(change_points: Iterable[ChangePoint]) -> list[Difference]:
    """Find the settings and facts that changed between last good runs and the first of the new level.

    Each once; ``change_points`` come from ``evidence``.
    """
    pairs = {
        tuple((run.content_id, run.environment_id) for run in (one.last_good, one.run)): (
            one.last_good,
            one.run,
        )
        for one in change_points
        if one.last_good
    }
    found = (difference for pair in pairs.values() for difference in differences(*pair))
    return list(dict.fromkeys(found))


def read_differences(pairs: Iterable[tuple[Surroundings, Surroundings]]) -> Switches:
    """Read what differs between the surroundings of each pair, in at most two statements."""
    asked = set(pairs)
    sides = set(chain.from_iterable(asked))
    contents = ConfigurationContent.objects.in_bulk({content for content, _ in sides} - {None})
    environments = Environment.objects.in_bulk({environment for _, environment in sides} - {None})

    def as_run(content: int | None, environment: int | None) -> Run:
        return Run(content=contents.get(content or 0), environment=environments.get(environment or 0))

    return {(before, after): differences(as_run(*before), as_run(*after)) for before, after in asked}


def differences(before: Run, after: Run) -> list[Difference]:
    """Find what differs between two runs in the contents of their configurations and environments."""
    contents = (run.content.settings if run.content else {} for run in (before, after))
    facts = (run.environment.facts if run.environment else {} for run in (before, after))
    return differing(*contents) + differing(*facts)


def differing(before: Mapping[str, object], after: Mapping[str, object]) -> list[Difference]:
    """Find what differs between two sets of settings or facts; nothing where a side is not known."""
    if not before or not after:
        return []
    return [
        Difference(name, _text(before.get(name)), _text(after.get(name)))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
