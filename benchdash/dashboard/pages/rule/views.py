"""How changes are found, and the rule of a project: which of them make an incident."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Project, Scope
from benchdash.dashboard.pages.rule.forms import RuleForm, as_sent
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_page
from benchdash.regressions.analysis.beginnings import MAX_FIRST_GROUPS
from benchdash.regressions.options import equivalence_margin, historical_after, rule_of
from benchdash.regressions.services import change_rule
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.models import Series
from benchdash.results.wording import metric_name

_MAX_METRICS: Final = 200


@project_page
def rule(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    project = page.project
    form = RuleForm(initial=as_sent(project.options), metrics=_metrics(project)) if page.is_admin else None
    return _answer(request, page, form=form)


@project_action
def rule_change(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require(Scope.ADMIN)
    form = RuleForm(request.POST, metrics=_metrics(page.project))
    if not form.is_valid():
        return _answer(request, page, form=form, status=422)
    change_rule(page.project, form.options, by=page.viewer)
    return page.done(request, "The rule is saved. Nobody is mailed about the past.", "rule")


def _answer(
    request: HttpRequest, page: ProjectPage, *, form: RuleForm | None, status: int = 200
) -> HttpResponse:
    project = page.project
    context = {
        "form": form,
        "rule": rule_of(project),
        "silent": sorted(map(metric_name, rule_of(project).silent_metrics)),
        "first_groups": MAX_FIRST_GROUPS,
        "historical_after": historical_after(project).days,
        "margin": equivalence_margin(project),
    }
    return page.render(request, "dashboard/rule.html", context, status=status)


def _metrics(project: Project) -> list[tuple[str, str]]:
    """List the metrics whose changes are looked for, those that make no incident first."""
    here = Series.objects.filter(project=project).order_by("metric").values_list("metric", flat=True)
    rules = rules_of(project.pk)
    silent = rule_of(project, rules).silent_metrics
    looked_for = [one for one in here.distinct() if rules.is_looked_at(one)]
    names = [*sorted(silent), *(one for one in looked_for if one not in silent)][:_MAX_METRICS]
    return [(name, metric_name(name)) for name in names]


urlpatterns = [
    path("how-changes-are-found/", rule, name="rule"),
    path("how-changes-are-found/change/", rule_change, name="rule_change"),
]
