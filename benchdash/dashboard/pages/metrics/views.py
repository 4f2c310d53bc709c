"""The metrics of a project: what they are, and what is not known of its own ones."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.access import NotVisible
from benchdash.accounts.models import Scope
from benchdash.dashboard.pages.metrics.forms import MetricForm
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.project_page import ProjectPage, project_form, project_page, sent_reason
from benchdash.regressions.project_metrics import ListedMetric, metrics_of
from benchdash.regressions.services import say_of_metric
from benchdash.results.metric_corrections import MetricError
from benchdash.results.models import ProjectMetric, Series

_COLUMNS = (
    *("name", "unit", "direction", "watched", "smallest_change", "smallest_change_absolute"),
    *("aggregation", "kind", "is_own", "series"),
)


@project_page
def metrics(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    found = metrics_of(page.project)
    context = {
        "unsaid": [one for one in found if one.lacks_direction],
        "sections": [
            ("The project's own", [one for one in found if one.is_own and not one.lacks_direction]),
            ("Known to benchdash", [one for one in found if not one.is_own and not one.lacks_direction]),
        ],
        "has_metrics": bool(found),
        "may_change": page.may(Scope.TRIAGE),
    }
    return page.render(request, "dashboard/metrics.html", context)


@project_page
def metrics_csv(_request: HttpRequest, page: ProjectPage) -> HttpResponse:
    rows = [[getattr(one, name) for name in _COLUMNS] for one in metrics_of(page.project)]
    return csv_file(f"{page.project.slug}-metrics", _COLUMNS, rows)


@project_form
def metric(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Say what a metric is: the whole of it, or only which direction is better and its unit."""
    page.require(Scope.TRIAGE)
    chosen = _chosen(page, request.GET.get("name", ""))
    if request.method == "POST" and request.POST.get("do") == "direction":
        said = {name: request.POST.get(name, "").replace("\0", "") for name in ("direction", "unit")}
        wishes = {name: text.strip() for name, text in said.items()}
        if wishes["direction"] in Series.Direction.values and len(wishes["unit"]) <= _MAX_UNIT:
            say_of_metric(page.project, chosen.name, wishes, by=page.viewer)
            return page.done(request, _said(chosen), "metrics")
    form = MetricForm(request.POST if request.method == "POST" else None, metric=chosen)
    if form.is_bound and form.is_valid():
        try:
            say_of_metric(page.project, chosen.name, form.wishes, by=page.viewer, reason=sent_reason(request))
            return page.done(request, _said(chosen), "metrics")
        except MetricError as error:
            form.add_error(error.field if error.field in form.fields else None, error.message)
    status = 422 if form.is_bound else 200
    return page.render(request, "dashboard/metric.html", {"metric": chosen, "form": form}, status=status)


_MAX_UNIT = ProjectMetric._meta.get_field("unit").max_length or 0


def _chosen(page: ProjectPage, name: str) -> ListedMetric:
    found = metrics_of(page.project, name.replace("\0", ""))
    if not found:
        raise NotVisible("the project has no metric of this name")
    return found[0]


def _said(metric: ListedMetric) -> str:
    return f"{metric.name} is saved. Its series are looked at again, and nobody is mailed what that finds."


urlpatterns = [
    path("metrics/", metrics, name="metrics"),
    path("metrics/list.csv", metrics_csv, name="metrics_csv"),
    path("metrics/change/", metric, name="metric_change"),
]
