"""How changes are found: the rule in words, and how often it would have cried wolf here."""

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_safe

from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions.analysis.null_runs import MIN_GROUPS, next_null_run
from benchdash.regressions.models import NullRun
from benchdash.regressions.options import equivalence_margin, historical_after

_SHOWN_RUNS = 8


@project_page
def rule(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    null_runs = list(NullRun.objects.filter(project=page.project)[:_SHOWN_RUNS])
    last = null_runs[0] if null_runs else None
    context = {
        "last": last,
        "null_runs": null_runs,
        "next_at": next_null_run(last, now=timezone.now()),
        "min_groups": MIN_GROUPS,
        "historical_after": historical_after(page.project).days,
        "margin": equivalence_margin(page.project),
    }
    return page.render(request, "dashboard/rule.html", context)


@require_safe
def statistics_text(_request: HttpRequest) -> FileResponse:
    """Return the chapter of the documentation that has the formulas and sources."""
    chapter = settings.BASE_DIR / "docs" / "statistics.md"
    if not chapter.is_file():
        raise Http404("this installation came without docs/statistics.md")
    return FileResponse(chapter.open("rb"), content_type="text/plain; charset=utf-8")


urlpatterns = [path("how-changes-are-found/", rule, name="rule")]
public_urlpatterns = [path("docs/statistics.md", statistics_text, name="statistics_text")]
