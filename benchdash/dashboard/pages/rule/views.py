"""How changes are found: the rule and what it would have raised."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Project, Scope
from benchdash.dashboard.pages.rule.forms import RuleForm, as_sent
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_page
from benchdash.regressions.analysis.beginnings import MAX_FIRST_GROUPS
from benchdash.regressions.analysis.replays import Replay, replay
from benchdash.regressions.models import Incident
from benchdash.regressions.options import (
    EQUIVALENCE_MARGIN,
    FORMER_RULE,
    OF_RULE,
    IncidentRule,
    equivalence_margin,
    historical_after,
    rule_from,
    rule_of,
)
from benchdash.regressions.services import change_rule
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.models import Series
from benchdash.results.wording import metric_name

_MAX_SHOWN: Final = 20
_MAX_METRICS: Final = 200


@dataclass(frozen=True)
class Trial:
    """A rule that was tried, and not saved yet. ``sent`` are its fields, as pairs of names and values."""

    rule: IncidentRule
    margin: float
    replay: Replay
    sent: Iterable[tuple[str, Any]]
    gone: list[Incident]
    come: list[Incident]
    is_todays: bool


@project_page
def rule(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    form = _form(request, page.project) if page.is_admin else None
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
    former = project.options.get(FORMER_RULE)
    context = {
        "form": form,
        "trial": _trial(project, form) if form and form.is_bound and form.is_valid() else None,
        "rule": rule_of(project),
        "silent": sorted(map(metric_name, rule_of(project).silent_metrics)),
        "former_query": None if former is None else _query(former),
        "first_groups": MAX_FIRST_GROUPS,
        "historical_after": historical_after(project).days,
        "margin": equivalence_margin(project),
    }
    return page.render(request, "dashboard/rule.html", context, status=status)


def _form(request: HttpRequest, project: Project) -> RuleForm:
    """Return the form as the address tries it, or with the rule as it is."""
    metrics = _metrics(project)
    if "try" in request.GET:
        return RuleForm(request.GET, metrics=metrics)
    return RuleForm(initial=as_sent(project.options), metrics=metrics)


def _metrics(project: Project) -> list[tuple[str, str]]:
    """List the metrics whose changes are looked for, those that make no incident first."""
    here = Series.objects.filter(project=project).order_by("metric").values_list("metric", flat=True)
    rules = rules_of(project.pk)
    silent = rule_of(project, rules).silent_metrics
    looked_for = [one for one in here.distinct() if rules.is_looked_at(one)]
    names = [*sorted(silent), *(one for one in looked_for if one not in silent)][:_MAX_METRICS]
    return [(name, metric_name(name)) for name in names]


def _trial(project: Project, form: RuleForm) -> Trial:
    options = form.options
    today = rule_of(project)
    tried = rule_from(options, today.metrics)
    found = replay(project, today=today, tried=tried)
    shown = Incident.objects.select_related("product", "hardware", "largest__series").in_bulk(
        [*found.gone[:_MAX_SHOWN], *found.come[:_MAX_SHOWN]]
    )
    without_margin = Project(options={EQUIVALENCE_MARGIN: options.get(EQUIVALENCE_MARGIN)})
    margin = equivalence_margin(without_margin)
    return Trial(
        rule=tried,
        margin=margin,
        replay=found,
        sent=_pairs(options),
        gone=[shown[pk] for pk in found.gone[:_MAX_SHOWN]],
        come=[shown[pk] for pk in found.come[:_MAX_SHOWN]],
        is_todays=options == {name: project.options[name] for name in OF_RULE if name in project.options},
    )


def _pairs(options: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields that say these options, one pair for each value."""
    return [
        (name, one)
        for name, value in as_sent(options).items()
        for one in (value if isinstance(value, list) else [value])
    ]


def _query(options: Mapping[str, Any]) -> str:
    return urlencode([("try", "1"), *_pairs(options)])


urlpatterns = [
    path("how-changes-are-found/", rule, name="rule"),
    path("how-changes-are-found/change/", rule_change, name="rule_change"),
]
