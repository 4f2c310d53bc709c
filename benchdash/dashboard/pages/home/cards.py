"""The cards of the list of projects."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.regressions.models import Incident
from benchdash.results.catalogue import Size, sizes_of

MAX_RUNS: Final = 10_000


@dataclass(frozen=True)
class ProjectCard:
    """A project in the list of projects. More runs than ``MAX_RUNS`` are not counted."""

    project: Project
    runs: int
    versions: int
    last_run_at: datetime | None
    open_incidents: int
    newest_incident: Incident | None

    @property
    def has_more_runs(self) -> bool:
        return self.runs > MAX_RUNS

    @property
    def counted_runs(self) -> int:
        return min(self.runs, MAX_RUNS)


def project_cards(viewer: Viewer) -> Sequence[ProjectCard]:
    """The projects that the viewer may see, by name, in a constant number of statements."""
    projects = list(viewer.projects())
    measured = sizes_of(projects, most=MAX_RUNS)
    listed = Incident.objects.filter(project__in=projects).exclude(status=Incident.Status.WITHDRAWN)
    newest = {
        incident.project_id: incident
        for incident in listed.order_by("project_id", "-started_at", "-id")
        .distinct("project_id")
        .select_related("product", "until")
    }
    still_open = dict(
        listed.filter(state__in=Incident.OPEN, historical=False)
        .values_list("project")
        .annotate(count=Count("pk"))
        .order_by()
    )
    cards = []
    for project in projects:
        size = measured.get(project.pk, Size())
        cards.append(
            ProjectCard(
                project=project,
                runs=size.runs,
                versions=size.versions,
                last_run_at=size.last_run_at,
                open_incidents=still_open.get(project.pk, 0),
                newest_incident=newest.get(project.pk),
            )
        )
    return cards
