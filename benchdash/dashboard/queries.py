"""What a page of the shell reads from several packages at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.regressions.models import Incident
from benchdash.results.models import Run


@dataclass(frozen=True)
class ProjectCard:
    """A project in the list of projects."""

    project: Project
    runs: int
    versions: int
    last_run_at: datetime | None
    open_incidents: int
    newest_incident: Incident | None


def project_cards(viewer: Viewer) -> Sequence[ProjectCard]:
    """The projects that the viewer may see, by name, in a constant number of statements."""
    projects = list(viewer.projects())
    measured = {
        project: (runs, versions, last)
        for project, runs, versions, last in Run.objects.filter(project__in=projects)
        .values_list("project")
        .annotate(Count("pk"), Count("version", distinct=True), Max("started_at"))
    }
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
        runs, versions, last_run_at = measured.get(project.pk, (0, 0, None))
        cards.append(
            ProjectCard(
                project=project,
                runs=runs,
                versions=versions,
                last_run_at=last_run_at,
                open_incidents=still_open.get(project.pk, 0),
                newest_incident=newest.get(project.pk),
            )
        )
    return cards
