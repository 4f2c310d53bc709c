"""The overview of a project: its morning, and below that the matrix of releases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.following import follow, follows
from benchdash.accounts.models import Project, Scope
from benchdash.addresses import NOTHING, OverviewQuery, from_text
from benchdash.dashboard.charts.matrix import Head, Matrix, MatrixLook, matrix
from benchdash.dashboard.compare import matrix_selection as form
from benchdash.dashboard.compare.matrix_sources import MatrixReading, MatrixSource, of_branch, of_versions
from benchdash.dashboard.compare.selection import available_columns
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_page
from benchdash.regressions.analysis.spans import Span, span
from benchdash.regressions.comparison.columns import Column, contents_of
from benchdash.regressions.comparison.default_columns import PlaceNames, recent_use
from benchdash.regressions.comparison.newest_nights import USUAL
from benchdash.regressions.comparison.pair_words import column_summary
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.mornings import morning_of
from benchdash.regressions.morning.rows import MAX_GROUPS, RowPlace, Standing
from benchdash.results.versions import release_line


@dataclass(frozen=True)
class OverviewMatrix:
    """The matrix of a project; None of the shown columns may have the metric.

    ``summary`` says how the last column does against the base, ``headline`` where nothing can be judged.
    ``opens`` are addresses by workload that show or hide its thread counts.
    """

    place: PlaceNames
    metric: str
    filters: Sequence[FilterChip]
    base: Head
    heads: Sequence[Head]
    matrix: Matrix | None
    summary: str
    headline: str
    opens: Mapping[str, str]


def overview_matrix(
    project: Project, query: OverviewQuery, available: Sequence[Column], place: PlaceNames
) -> OverviewMatrix:
    """Read the matrix of a place, in a constant number of statements."""
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
    look = MatrixLook(
        opened={name for name, pk in ids.items() if pk in query.open},
        most=None if query.rows else MAX_ROWS,
    )
    return OverviewMatrix(
        place=place,
        metric=metric,
        filters=[metric_chip, *source_chips],
        base=source.base,
        heads=source.heads,
        matrix=matrix(source.table, write=numbers.ratio, link=source.link, look=look)
        if source.table
        else None,
        summary=column_summary(source.table, -1, source.base.name, source.heads[-1].name)
        if source.table and source.heads
        else "",
        headline=source.headline,
        opens={name: query.url(project, open=form.toggled(query.open, pk)) for name, pk in ids.items()},
    )


def _versions(
    project: Project, query: OverviewQuery, at_place: Sequence[Column], metric: str, ids: Mapping[str, str]
) -> tuple[MatrixSource, list[FilterChip]]:
    lines = {release_line(one.version.product.name, one.version.version) for one in at_place}
    shown, shown_chip = form.read_shown(query, what="versions", lines=len(lines - {""}) > 1)
    newest = shown.of(at_place)
    base, base_chip = form.read_base(query, at_place, newest[0])
    others = [column for column in newest if column != base]
    return of_versions(project, MatrixReading(metric), base, others, ids), [shown_chip, base_chip]


def _groups(
    project: Project, query: OverviewQuery, branch: Column, releases: Sequence[Column], metric: str
) -> tuple[MatrixSource, list[FilterChip]]:
    """Compare with the baseline of the branch, else the newest release there, else the oldest group."""
    shown, shown_chip = form.read_shown(query, what="points", lines=False)
    held = form.branch_base(query, branch, releases)
    source = of_branch(project, MatrixReading(metric), branch, last=shown.last, base=held.base)
    return source, [shown_chip, *([held.chip] if len(held.chip.choices) > 1 else [])]


# --- the page -----------------------------------------------------------------------------------------------

MAX_LISTED: Final = 20
MAX_ROWS: Final = 60
# With so many rows, one that lies outside its usual range by chance is nothing rare.
_MANY_ROWS: Final = 20
_ALL: Final = "all"


@project_page
def overview(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Show the state of a project; one without results begins with the page that takes the first."""
    context = _overview(request, page)
    if "has_results" not in context and page.may(Scope.UPLOAD) and not page.project.is_sample:
        return redirect("dashboard:upload_new", page.project.slug)
    return page.render(request, "dashboard/overview.html", context)


def _overview(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    query, project = OverviewQuery.of(request.GET), page.project
    morning = morning_of(project)
    available = available_columns(project, request.GET)
    context: dict[str, Any] = {
        "morning": morning,
        "lists": [
            (title, _listed(found))
            for title, found in (
                ("New", morning.new),
                ("Still open", morning.open),
                ("Still lost", morning.lost),
                ("Recovered", morning.recovered),
            )
            if found
        ],
        "is_following": follows(page.viewer, project),
    }
    if available:
        use = recent_use(project)
        place, chips = form.read_place(query, available, use)
        rows = _rows_at(morning.rows, query, chips)
        shown = rows if query.rows else rows[:MAX_ROWS]
        context |= {
            "has_results": True,
            "rows": shown,
            "max_points": MAX_GROUPS,
            "max_rows": MAX_ROWS,
            "nights_to_chance": round(1 / (1 - USUAL) / len(shown)) if len(shown) >= _MANY_ROWS else 0,
            "has_places": len({row.place for row in shown}) > 1,
            "more_rows": len(rows) - len(shown),
            "all_rows": query.url(project, rows=_ALL),
            "filters": [_narrowing(chip, query) for chip in chips],
        }
        if at_place := _matrix_place(place, query, available, use):
            matrix = overview_matrix(project, query, available, at_place)
            context |= {"shown": matrix, "filters": [*context["filters"], *matrix.filters]}
        # Versions stay behind when another place is chosen.
        context["kept"] = query.kept(chip.name for chip in context["filters"])
    return context


def _listed(incidents: Sequence[Incident]) -> list[tuple[Incident, Span]]:
    return [
        (one, span(one, last_good_at=one.last_good_at))  # type: ignore[attr-defined]  # annotated there
        for one in incidents[:MAX_LISTED]
    ]


def _matrix_place(
    place: PlaceNames, query: OverviewQuery, available: Sequence[Column], use: Counter[PlaceNames]
) -> PlaceNames | None:
    """Return the place of the matrix: the one that is asked for, else one with releases."""
    if query.place or not place.branch:
        return place
    releases = [column for column in available if not column.branch]
    return form.read_place(query, releases, use)[0] if releases else None


def _rows_at(rows: Sequence[Standing], query: OverviewQuery, chips: Sequence[FilterChip]) -> list[Standing]:
    """Return the rows of the places that the address names; what is no choice of a chip narrows nothing."""
    known = {chip.name: {NOTHING, *(choice.value for choice in chip.choices)} for chip in chips}
    named = {name: texts[-1] for name, texts in query.place.items() if name in RowPlace._fields}
    asked = {name: from_text(text) for name, text in named.items() if text in known.get(name, ())}
    return [row for row in rows if all(getattr(row.place, name) == text for name, text in asked.items())]


def _narrowing(chip: FilterChip, query: OverviewQuery) -> FilterChip:
    """Let a part of a place that the address does not name stand for all."""
    known = {NOTHING, *(choice.value for choice in chip.choices)}
    if query.place.get(chip.name, ("",))[-1] in known:
        return replace(chip, empty=_ALL)
    return replace(chip, empty=_ALL, choices=[choice._replace(chosen=False) for choice in chip.choices])


@project_action
def following(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Follow the project, or follow it no more: whether it stands first on the list of projects."""
    if page.viewer.user is None:
        raise NotAllowed("this is for people who have signed in")
    is_wanted = "follow" in request.POST
    follow(page.project, by=page.viewer, is_wanted=is_wanted)
    said = (
        "stands on your front page now." if is_wanted else "does not stand out on your front page any more."
    )
    leads_to = "notifications" if page.is_member else "overview"
    return page.done(request, f"{page.project.name} {said}", leads_to)


urlpatterns = [
    path("", overview, name="overview"),
    path("following/", following, name="following"),
]
