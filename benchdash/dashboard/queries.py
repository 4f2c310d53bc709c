"""What a page of the shell reads from several packages at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection
from django.db.models import Count

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.regressions.models import Incident

MOST_RUNS: Final = 10_000

# To count a million runs takes longer than all the rest of the page.
_MEASURED = """
    SELECT wanted.id,
        (SELECT count(*) FROM (
            SELECT FROM results_run WHERE project_id = wanted.id LIMIT %(most)s
        ) some_runs),
        (SELECT count(*) FROM results_serverversion WHERE project_id = wanted.id),
        (SELECT started_at FROM results_run WHERE project_id = wanted.id ORDER BY started_at DESC LIMIT 1)
    FROM unnest(%(projects)s::bigint[]) AS wanted (id)
"""


@dataclass(frozen=True)
class ProjectCard:
    """A project in the list of projects. More runs than ``MOST_RUNS`` are not counted."""

    project: Project
    runs: int
    versions: int
    last_run_at: datetime | None
    open_incidents: int
    newest_incident: Incident | None

    @property
    def has_more_runs(self) -> bool:
        return self.runs > MOST_RUNS

    @property
    def counted_runs(self) -> int:
        return min(self.runs, MOST_RUNS)


def project_cards(viewer: Viewer) -> Sequence[ProjectCard]:
    """The projects that the viewer may see, by name, in a constant number of statements."""
    projects = list(viewer.projects())
    measured = _measured(projects)
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


def _measured(projects: Sequence[Project]) -> dict[int, tuple[int, int, datetime | None]]:
    """By the id of a project: its runs, of many one more than ``MOST_RUNS``, its versions, the last start."""
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED, {"projects": [project.pk for project in projects], "most": MOST_RUNS + 1})
        return {project: (runs, versions, last) for project, runs, versions, last in cursor.fetchall()}
