"""An empty project: a token, the commands that send the first file with it, and the wait for that file."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRedirect, HttpResponseStopPolling

from benchdash.accounts.models import Scope
from benchdash.dashboard.compare.next_steps import next_step
from benchdash.dashboard.shell.commands import folder_command, upload_ways
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from ingest.models import Upload
from ingest.queries import runs_told_by, uploads_for

TOKEN_NAME: Final = "first upload"  # noqa: S105 - its name, not the token
# A page that nobody looks at any more asks for nothing.
MAX_WAIT_S: Final = 15 * 60
_CLOCKS_DIFFER_S: Final = 60
_SECONDS: Final = re.compile("[0-9]{1,10}")


@dataclass(frozen=True)
class Wait:
    """The words of a page that waits for the first upload: of the newest, which has no runs yet, or of none.

    ``since`` is when it began to wait, in seconds since 1970.
    """

    upload: Upload | None
    since: int

    @property
    def seen(self) -> str:
        """The state that the page knows already: nothing is sent as long as it stays so."""
        return f"{self.upload.pk}-{self.upload.state}" if self.upload else "nothing"

    @property
    def is_over(self) -> bool:
        return time.time() - self.since > MAX_WAIT_S


def first_steps(page: ProjectPage, *, secret: str = "") -> dict[str, Any]:
    """Return the context of a project without results; ``secret`` is that of a token that was just made."""
    return {
        "is_first": True,
        "secret": secret,
        "ways": upload_ways(secret or "TOKEN"),
        "folder_command": folder_command(page.project.slug, page.viewer),
        "wait": Wait(_uploads(page).first(), int(time.time())),
    }


@project_page
def first_upload(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Lead to the chart of the first upload; until there is one, answer with what is new, or with 204."""
    page.require(Scope.UPLOAD)
    text = request.GET.get("since", "")
    since = int(text) if _SECONDS.fullmatch(text) else int(time.time())
    if address := _first_chart(page, since):
        is_htmx = "HX-Request" in request.headers
        return HttpResponseClientRedirect(address) if is_htmx else redirect(address)
    wait = Wait(_uploads(page).first(), since)
    if not wait.is_over and request.GET.get("seen") == wait.seen:
        return HttpResponse(status=204)
    answer = render(request, "dashboard/_first_wait.html", {**page.shared, "wait": wait})
    if wait.is_over:
        answer.status_code = HttpResponseStopPolling.status_code
    return answer


def _uploads(page: ProjectPage) -> QuerySet[Upload]:
    return uploads_for(page.viewer, page.project).filter(came_alone=True)


def _first_chart(page: ProjectPage, since: int) -> str:
    """Return the address of the chart that says most of the first upload since then; empty without one."""
    from_then_on = datetime.fromtimestamp(since - _CLOCKS_DIFFER_S, UTC)
    imported = _uploads(page).filter(state__in=Upload.WITH_RUNS, finished_at__gte=from_then_on)
    for upload in imported.order_by("finished_at", "pk")[:1]:
        step = next_step(page.project, runs_told_by(upload))
        return step.link.url if step else page_url("upload", page.project, upload.pk)
    return ""
