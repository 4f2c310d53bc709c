"""The overview of a project: newest incidents and uploads, and the matrix."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.dashboard.compare.versions import available_columns
from benchdash.dashboard.pages.overview.figure import overview_matrix
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions import queries
from benchdash.regressions.analysis.spans import Span, span
from benchdash.regressions.models import Incident
from ingest.models import Upload
from ingest.queries import uploads_for, with_run_counts

_MAX_NEWS: Final = 5


@project_page
def overview(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    available = available_columns(page.project, request.GET)
    context: dict[str, Any] = {
        "incidents": _newest_incidents(page.project),
        "uploads": _newest_uploads(page),
        "command": upload_command(),
    }
    if available:
        shown = overview_matrix(page.project, request.GET, request.path, available)
        context |= {"shown": shown, "filters": shown.filters, "kept": _kept(request)}
    return page.render(request, "dashboard/overview.html", context)


def _newest_incidents(project: Project) -> list[tuple[Incident, Span]]:
    listed = Incident.objects.filter(project=project).exclude(status=Incident.Status.WITHDRAWN)
    newest = listed.order_by("-started_at", "-pk").values("pk")[:_MAX_NEWS]
    return [
        (one, span(one, last_good_at=one.last_good_at))  # type: ignore[attr-defined]  # annotated there
        for one in queries.incidents(project).filter(pk__in=newest)
    ]


def _newest_uploads(page: ProjectPage) -> list[Upload]:
    uploads = uploads_for(page.viewer, page.project).filter(came_alone=True)
    uploads = uploads.exclude(state=Upload.State.DELETED)
    return list(with_run_counts(uploads)[:_MAX_NEWS])


def _kept(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the parameters that no filter sends. Versions stay behind when another place is chosen."""
    return [(name, text) for name in ("open", "workload", "threads") for text in request.GET.getlist(name)]


urlpatterns = [path("", overview, name="overview")]
