"""The overview of a project: newest incidents and uploads, and the matrix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.matrix import Head, Matrix, MatrixLook, matrix
from benchdash.dashboard.compare import matrix_selection as form
from benchdash.dashboard.compare.matrix_sources import MatrixReading, MatrixSource, of_branch, of_versions
from benchdash.dashboard.compare.versions import PlaceNames, available_columns, recent_use
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions import queries
from benchdash.regressions.analysis.spans import Span, span
from benchdash.regressions.comparison.columns import Column, contents_of
from benchdash.regressions.models import Incident
from benchdash.results.versions import release_line
from ingest.models import Upload
from ingest.queries import uploads_for, with_run_counts


@dataclass(frozen=True)
class OverviewMatrix:
    """The matrix of a project; None of the shown columns may have the metric.

    ``headline`` says where nothing in it can be judged.
    ``opens`` are addresses by workload that show or hide its thread counts.
    """

    place: PlaceNames
    metric: str
    filters: Sequence[FilterChip]
    base: Head
    heads: Sequence[Head]
    matrix: Matrix | None
    headline: str
    opens: Mapping[str, str]


def overview_matrix(
    project: Project, query: QueryDict, path: str, available: Sequence[Column]
) -> OverviewMatrix:
    """Read the matrix of an address, in a constant number of statements. ``available`` is not empty."""
    place, chips = form.read_place(query, available, recent_use(project))
    at_place = [column for column in available if PlaceNames.of(column) == place]
    measured = contents_of(project, at_place)
    metric, metric_chip = form.read_metric(query, measured.metrics)
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    if place.branch:
        of_releases = place._replace(branch="")
        releases = [column for column in available if PlaceNames.of(column) == of_releases]
        source, source_chips = _groups(project, query, at_place[0], releases, metric)
    else:
        source, source_chips = _versions(project, query, at_place, metric, ids)
    opened = {name for name, pk in ids.items() if pk in query.getlist("open")}
    return OverviewMatrix(
        place=place,
        metric=metric,
        filters=[*chips, metric_chip, *source_chips],
        base=source.base,
        heads=source.heads,
        matrix=matrix(source.table, write=numbers.ratio, link=source.link, look=MatrixLook(opened=opened))
        if source.table
        else None,
        headline=source.headline,
        opens={name: form.toggled(query, path, pk) for name, pk in ids.items()},
    )


def _versions(
    project: Project, query: QueryDict, at_place: Sequence[Column], metric: str, ids: Mapping[str, str]
) -> tuple[MatrixSource, list[FilterChip]]:
    lines = {release_line(one.version.product.name, one.version.version) for one in at_place}
    shown, shown_chip = form.read_shown(query, what="versions", lines=len(lines - {""}) > 1)
    newest = shown.of(at_place)
    base, base_chip = form.read_base(query, at_place, newest[0])
    others = [column for column in newest if column != base]
    return of_versions(project, MatrixReading(metric), base, others, ids), [shown_chip, base_chip]


def _groups(
    project: Project, query: QueryDict, branch: Column, releases: Sequence[Column], metric: str
) -> tuple[MatrixSource, list[FilterChip]]:
    """Compare with the baseline of the branch, else the newest release there, else the oldest group."""
    shown, shown_chip = form.read_shown(query, what="groups", lines=False)
    held = form.branch_base(query, branch, releases)
    source = of_branch(project, MatrixReading(metric), branch, last=shown.last, base=held.base)
    return source, [shown_chip, *([held.chip] if len(held.chip.choices) > 1 else [])]


_MAX_NEWS: Final = 5


@project_page
def overview(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    available = available_columns(page.project, request.GET)
    uploads = uploads_for(page.viewer, page.project).filter(came_alone=True)
    context: dict[str, Any] = {
        "incidents": _newest_incidents(page.project),
        "uploads": list(with_run_counts(uploads.exclude(state=Upload.State.DELETED))[:_MAX_NEWS]),
        "command": upload_command(),
    }
    if available:
        shown = overview_matrix(page.project, request.GET, request.path, available)
        # Versions stay behind when another place is chosen.
        kept = [
            (name, text) for name in ("open", "workload", "threads") for text in request.GET.getlist(name)
        ]
        context |= {"shown": shown, "filters": shown.filters, "kept": kept}
    return page.render(request, "dashboard/overview.html", context)


def _newest_incidents(project: Project) -> list[tuple[Incident, Span]]:
    listed = Incident.objects.filter(project=project).exclude(status=Incident.Status.WITHDRAWN)
    newest = listed.order_by("-started_at", "-pk").values("pk")[:_MAX_NEWS]
    return [
        (one, span(one, last_good_at=one.last_good_at))  # type: ignore[attr-defined]  # annotated there
        for one in queries.incidents(project).filter(pk__in=newest)
    ]


urlpatterns = [path("", overview, name="overview")]
