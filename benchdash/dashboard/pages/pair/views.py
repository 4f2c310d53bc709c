"""Two versions, or two runs, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import HttpRequest
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.addresses import MatrixQuery, PairQuery, history_of
from benchdash.dashboard.compare.controls import metrics_options, threads_filter, workloads_filter
from benchdash.dashboard.compare.selection import Available, available_columns, place_checks, workload_ids
from benchdash.dashboard.compare.version_picker import one_version_picker
from benchdash.dashboard.pages.pair import tables as pair_tables
from benchdash.dashboard.pages.pair.selection import SIDES, PairSelection, read_pair
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import unknown_of_chips
from benchdash.dashboard.shell.navigation import Link, beside_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.regressions.comparison import pairs
from benchdash.regressions.comparison.columns import Column, contents_of, names, short_id
from benchdash.regressions.comparison.comparability import row_words
from benchdash.regressions.comparison.default_columns import PlaceNames
from benchdash.regressions.comparison.pair_words import markdown, summary_of
from benchdash.regressions.comparison.pairs import Known, Pair
from benchdash.regressions.comparison.shown_units import table_in_used_units
from benchdash.results import metrics

# More rows than these are a click away, and beyond the second number in the CSV alone.
_ROWS: Final = 40
_ALL_ROWS: Final = 1000
_REST: Final = 60
_MAX_SUGGESTIONS: Final = 5
_LABELS: Final = {"base": "Reference", "against": "Against"}


@dataclass(frozen=True)
class Differing:
    """Something of the latest runs, with what is said where nothing differs in it."""

    title: str
    known: Known
    names: tuple[str, str]

    @property
    def otherwise(self) -> str:
        are_known = (self.known.base_is_known, self.known.other_is_known)
        unknown = [name for name, is_known in zip(self.names, are_known, strict=True) if not is_known]
        if len(unknown) == 2:
            return "Nobody sent them with either side."
        return f"Nobody sent them with {unknown[0]}." if unknown else "The same on both sides."


def pair_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {}
    choice = read_pair(PairQuery.of(request.GET), available, page.project)
    if choice.runs:
        context = _of_runs(request, page.project, choice)
    else:
        context = _of_columns(request, page.project, choice, available)
    return {"choice": choice, **context}


def _of_columns(
    request: HttpRequest, project: Project, choice: PairSelection, available: Available
) -> dict[str, Any]:
    query, chosen = choice.query, [column for column in (choice.base, choice.against) if column]
    called = dict(zip(chosen, names(chosen), strict=True))
    context = {
        "pickers": [
            one_version_picker(
                available,
                one,
                name=side,
                label=_LABELS[side],
                find=request.GET.get(f"find_{side}", ""),
                summary=called[one] if one else "none",
            )
            for side, one in zip(SIDES, (choice.base, choice.against), strict=True)
        ],
        "kept": [*(("v", text) for text in query.versions), *query.kept(["workload", "threads", "metric"])],
        "meanings": _meanings(project, choice),
        "suggestions": _suggestions(project, choice, available),
        "unknown": list(unknown_of_chips(request.GET, place_checks(query, available))),
    }
    if choice.base is None or choice.against is None:
        return context
    measured = contents_of(project, [choice.base, choice.against])
    base, against = choice.base, choice.against
    query = replace(query, workloads=workload_ids(query.workloads, measured.workloads))
    choice = replace(choice, query=query)
    workloads = [name for pk, name in measured.workloads.items() if str(pk) in query.workloads]
    found = pairs.pair_of_columns(project, base, against, workloads=workloads, threads=query.thread_counts)
    if choice.instead and not any(row.base and row.cells[0] for table in found.tables for row in table.rows):
        nearest, *others = choice.instead
        return _of_columns(request, project, replace(choice, base=nearest, instead=others), available)
    known = metrics_options([table.metric for table in found.tables] or measured.metrics)
    ids, shown = (short_id(base), short_id(against)), _shown(request, project, choice, found)
    numbers = replace(choice.fixed, workloads=tuple(workloads), metrics=())
    return {
        **context,
        **shown,
        "api_url": numbers.numbers(project, "difference"),
        "filters": [
            workloads_filter(measured, query.workloads),
            threads_filter(measured.threads, query.threads),
            filters.some_of("metric", "Charts", known, query.metrics, empty="main metrics"),
        ],
        "matrix_url": MatrixQuery(versions=ids, base=ids[0]).url(project),
    }


def _meanings(project: Project, choice: PairSelection) -> list[tuple[str, list[Link]]]:
    """Return each id that means several columns, with an address for each of these."""

    def links(side: str, columns: Sequence[Column]) -> list[Link]:
        addresses = (choice.fixed.url(project, **{side: short_id(column)}) for column in columns)
        return list(map(Link, names(columns), addresses))

    return [(text, links(side, columns)) for side, text, columns in choice.unclear]


def _suggestions(project: Project, choice: PairSelection, available: Available) -> list[Link]:
    """Suggest the newest two versions of the places with the most versions."""
    by_place: dict[PlaceNames, list[Column]] = {}
    for column in available:
        by_place.setdefault(PlaceNames.of(column), []).append(column)
    largest = sorted((found for found in by_place.values() if len(found) > 1), key=len, reverse=True)
    return [
        Link(
            f"The newest two of {PlaceNames.of(found[0])}",
            choice.fixed.url(project, base=short_id(found[-2]), against=short_id(found[-1])),
        )
        for found in largest[:_MAX_SUGGESTIONS]
    ]


def _of_runs(request: HttpRequest, project: Project, choice: PairSelection) -> dict[str, Any]:
    runs = pairs.find_runs(project, choice.runs)
    unknown = [pk for pk in choice.runs if pk not in runs]
    found = [runs[pk] for pk in choice.runs if pk in runs]
    beside = pairs.runs_beside(found[0]) if found else []
    context: dict[str, Any] = {
        "unknown_runs": unknown,
        "beside": [(run, beside_url(project, found[0].pk, run.pk)) for run in beside],
        "first_run": found[0] if found else None,
    }
    if len(choice.runs) == 1 and found and beside:
        # A run is usually held against the one before it.
        found = [beside[0], found[0]]
    if len(found) < 2:
        return context
    choice = replace(choice, runs=[run.pk for run in found])
    shown = _shown(request, project, choice, pairs.pair_of_runs(*found))
    api_url = PairQuery(runs=choice.fixed.runs).numbers(project, "difference")
    return {**context, **shown, "api_url": api_url, "runs": found}


def _shown(
    request: HttpRequest,
    project: Project,
    choice: PairSelection,
    found: Pair,
) -> dict[str, Any]:
    found = replace(found, tables=[table_in_used_units(table) for table in found.tables])
    fixed, called = choice.fixed, pairs.side_names(found)
    by_metric = {table.metric: table for table in found.tables}
    compared = {table.metric: len(table.rows) for table in found.tables}
    telling = metrics.telling(compared) if compared else []
    charts = [metric for metric in metrics.in_order(by_metric) if metric in fixed.metrics] or telling
    is_whole = fixed.rows == "all"
    most, most_of_rest = (_ALL_ROWS, _ALL_ROWS) if is_whole else (_ROWS, _REST)
    shown = {
        "pair": found,
        "names": called,
        "summary": summary_of(found),
        "swap_url": choice.swapped.url(project),
        "markdown": markdown(found, url=request.build_absolute_uri()),
        "differing": [
            Differing("Settings", found.settings, called),
            Differing("Environment", found.environment, called),
            Differing("Hardware", found.hardware, called),
        ],
        "told": [(one, [row_words(row) for row in one.rows]) for one in found.told],
        "is_whole": is_whole,
        "whole_url": fixed.url(project, rows="all"),
    }
    if not found.tables:
        return shown

    def link(series: int) -> str:
        return history_of(series).url(project)

    return shown | {
        "fixed_url": fixed.url(project, metrics=tuple(charts), rows=""),
        "glance": pair_tables.glance([by_metric[metric] for metric in telling], link, most=most),
        "panels": pair_tables.panels([by_metric[one] for one in charts], link, names=called, most=most),
        "rest": pair_tables.rest(
            [table for table in found.tables if table.metric not in charts], link, most=most_of_rest
        ),
    }


urlpatterns = [path("compare/pair/", content_page("dashboard/pair.html", pair_context), name="pair")]
