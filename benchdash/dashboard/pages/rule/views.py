"""How changes are found: the rule in words, and how often it would have cried wolf here."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone

from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions.analysis.beginnings import MAX_FIRST_GROUPS
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
        "first_groups": MAX_FIRST_GROUPS,
        "historical_after": historical_after(page.project).days,
        "margin": equivalence_margin(page.project),
    }
    return page.render(request, "dashboard/rule.html", context)


urlpatterns = [path("how-changes-are-found/", rule, name="rule")]
