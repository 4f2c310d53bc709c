"""Reading opinions: change points of series, incidents, and what else changed with them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Run

LIVE = Q(state__in=[ChangePoint.State.SUSPECTED, ChangePoint.State.CONFIRMED])


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting or fact that differs between two runs; None where a side does not have it."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.name}: {self.before or 'not set'} → {self.after or 'not set'}"


def change_points(series_ids: Iterable[int]) -> dict[int, list[ChangePoint]]:
    """The suspected and confirmed change points of each series; one statement."""
    found = ChangePoint.objects.filter(LIVE, series__in=list(series_ids)).select_related(
        "series", "run", "incident"
    )
    of_series: dict[int, list[ChangePoint]] = defaultdict(list)
    for change_point in found.order_by("run__started_at", "pk"):
        of_series[change_point.series_id].append(change_point)
    return of_series


def incidents(project: Project) -> QuerySet[Incident]:
    """The incidents of a project, newest first, with what a list of them shows. Withdrawn ones included."""
    return (
        Incident.objects.filter(project=project)
        .select_related("product", "since", "until", "assignee")
        .annotate(
            series_count=Count("change_points", filter=Q(change_points__state__in=["suspected", "confirmed"]))
        )
        .order_by("-detected_at", "-pk")
    )


def open_incidents(project: Project) -> QuerySet[Incident]:
    """Those that somebody should look at: not withdrawn, not settled, and young enough to care."""
    return incidents(project).filter(
        status__in=[Incident.Status.SUSPECTED, Incident.Status.CONFIRMED], state__in=Incident.OPEN
    )


def what_changed(incident: Incident) -> list[Difference]:
    """Settings and facts of the machine that changed between the last good run and the first slower one."""
    anchor = (
        incident.change_points.filter(LIVE, last_good__isnull=False)
        .select_related("run__content", "run__environment", "last_good__content", "last_good__environment")
        .order_by("-state", "pk")
        .first()
    )
    return differences(anchor.last_good, anchor.run) if anchor and anchor.last_good else []


def differences(before: Run, after: Run) -> list[Difference]:
    """What differs between two runs in the contents of their configurations and in their environments."""
    return _differences(_settings(before), _settings(after)) + _differences(_facts(before), _facts(after))


def _settings(run: Run) -> dict[str, object]:
    return run.content.settings if run.content else {}


def _facts(run: Run) -> dict[str, object]:
    return run.environment.facts if run.environment else {}


def _differences(before: dict[str, object], after: dict[str, object]) -> list[Difference]:
    # A side of which nothing is known differs in nothing.
    if not before or not after:
        return []
    return [
        Difference(name, _text(before.get(name)), _text(after.get(name)))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
