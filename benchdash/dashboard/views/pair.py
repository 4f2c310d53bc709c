"""Two versions, or two runs, side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from benchdash.accounts.models import Project
from benchdash.dashboard import filters, numbers, pair_tables
from benchdash.dashboard.available import Available, available_columns
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.commands import upload_command
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms.compare import threads_texts
from benchdash.dashboard.forms.pair import SIDES, PairChoice, read_pair
from benchdash.dashboard.forms.version_picker import VersionPicker, one_version_picker
from benchdash.dashboard.measured import Measured, measured_of
from benchdash.dashboard.navigation import Link, page_url
from benchdash.dashboard.places import Place
from benchdash.dashboard.shell import ProjectPage, project_page
from benchdash.regressions.column_names import names
from benchdash.regressions.comparability import row_words
from benchdash.regressions.comparison import Column
from benchdash.regressions.pair_markdown import markdown
from benchdash.regressions.pair_words import summary
from benchdash.regressions.pairs import (
    Known,
    Pair,
    find_runs,
    pair_of_columns,
    pair_of_runs,
    runs_beside,
    side_names,
)
from benchdash.results import metrics

# More rows than these are a click away, and beyond the second number in the CSV alone.
_ROWS: Final = 40
_ALL_ROWS: Final = 1000
_REST: Final = 60
_LONGEST_SEARCH: Final = 200
_SUGGESTIONS: Final = 5
_LABELS: Final = {"base": "Reference", "against": "Against"}


@dataclass(frozen=True)
class Differing:
    """Something of the latest runs, with what is said where nothing differs in it."""

    title: str
    known: Known
    names: tuple[str, str]

    @property
    def otherwise(self) -> str:
        unknown = [
            name
            for name, is_known in zip(
                self.names, (self.known.base_is_known, self.known.other_is_known), strict=True
            )
            if not is_known
        ]
        if len(unknown) == 2:
            return "Nobody sent them with either side."
        return f"Nobody sent them with {unknown[0]}." if unknown else "The same on both sides."


@require_safe
@project_page
def pair(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    return page.render(request, "dashboard/pair.html", pair_context(request, page))


def pair_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = available_columns(page.project, request.GET)
    if not available:
        return {"command": upload_command()}
    choice = read_pair(request.GET, available, page.project)
    if choice.runs:
        context = _of_runs(request, page.project, choice)
    else:
        context = _of_columns(request, page.project, choice, available)
    return {"choice": choice, **context}


# --- versions ---------------------------------------------------------------------------------------------


def _of_columns(
    request: HttpRequest, project: Project, choice: PairChoice, available: Available
) -> dict[str, Any]:
    chosen = [column for column in (choice.base, choice.against) if column]
    called = dict(zip(chosen, names(chosen), strict=True))
    pickers = [_picker(request, choice, available, side, called) for side in SIDES]
    context = {
        "pickers": pickers,
        "kept": [("rows", "all")] if request.GET.get("rows") == "all" else [],
        "meanings": _meanings(request.path, choice),
        "suggestions": _suggestions(request.path, choice, available),
    }
    if choice.base is None or choice.against is None:
        return context
    measured = measured_of(project, [choice.base, choice.against])
    found = pair_of_columns(
        project,
        choice.base,
        choice.against,
        workloads=[name for pk, name in measured.workloads.items() if str(pk) in choice.workloads],
        threads=choice.threads,
    )
    ids = [short_id(column) for column in (choice.base, choice.against)]
    lines = urlencode([("v", one) for one in ids] + [("base", ids[0])])
    query = _query_of_columns(choice, measured)
    return {
        **context,
        **_shown(request, project, choice, found, query),
        "filters": _filters(choice, measured, found),
        "lines_url": f"{page_url('compare', project)}?{lines}",
    }


def _picker(
    request: HttpRequest,
    choice: PairChoice,
    available: Available,
    side: str,
    called: Mapping[Column, str],
) -> VersionPicker:
    """``called`` are the names of what is chosen."""
    chosen: Column | None = getattr(choice, side)
    return one_version_picker(
        available,
        chosen,
        name=side,
        label=_LABELS[side],
        find=request.GET.get(f"find_{side}", "")[:_LONGEST_SEARCH],
        summary=called[chosen] if chosen else "none",
    )


def _filters(choice: PairChoice, measured: Measured, found: Pair) -> list[Filter]:
    known = metrics.in_order([table.metric for table in found.tables] or list(measured.metrics))
    workloads = [(str(pk), name) for pk, name in measured.workloads.items()]
    threads = [(text, "not said" if text == "none" else text) for text in threads_texts(measured.threads)]
    return [
        filters.some_of("workload", "Workloads", workloads, choice.workloads),
        filters.some_of("threads", "Threads", threads, threads_texts(choice.threads)),
        filters.some_of(
            "metric",
            "Charts of",
            [(metric, numbers.metric_name(metric)) for metric in known],
            choice.metrics,
            empty="the most telling",
        ),
    ]


def _meanings(path: str, choice: PairChoice) -> list[tuple[str, list[Link]]]:
    """Each id that means several columns, with an address for each of these."""
    return [
        (
            text,
            [
                Link(name, choice.address(path, **{side: short_id(column)}))
                for name, column in zip(names(columns), columns, strict=True)
            ],
        )
        for side, text, columns in choice.unclear
    ]


def _suggestions(path: str, choice: PairChoice, available: Available) -> list[Link]:
    """The newest two versions of the places with the most."""
    by_place: dict[Place, list[Column]] = {}
    for column in available:
        by_place.setdefault(Place.of(column), []).append(column)
    largest = sorted((found for found in by_place.values() if len(found) > 1), key=len, reverse=True)
    return [
        Link(
            f"The newest two of {Place.of(found[0])}",
            choice.address(path, base=short_id(found[-2]), against=short_id(found[-1])),
        )
        for found in largest[:_SUGGESTIONS]
    ]


def _query_of_columns(choice: PairChoice, measured: Measured) -> list[tuple[str, str]]:
    """The same, asked of the API."""
    workloads = [name for pk, name in measured.workloads.items() if str(pk) in choice.workloads]
    return [
        *((side, _selector(column)) for side in SIDES if (column := getattr(choice, side))),
        *(("workload", name) for name in workloads),
        *(("threads", "null" if count is None else str(count)) for count in choice.threads),
    ]


def _selector(column: Column) -> str:
    place = column.as_json()
    said = ("id", "branch", "hardware", "configuration", "counterpart")
    return json.dumps({name: place[name] for name in said})


# --- runs -------------------------------------------------------------------------------------------------


def _of_runs(request: HttpRequest, project: Project, choice: PairChoice) -> dict[str, Any]:
    runs = find_runs(project, choice.runs)
    unknown = [pk for pk in choice.runs if pk not in runs]
    found = [runs[pk] for pk in choice.runs if pk in runs]
    beside = runs_beside(found[0]) if found else []
    context: dict[str, Any] = {
        "unknown_runs": unknown,
        "beside": [(run, f"{request.path}?run={found[0].pk}&run={run.pk}") for run in beside],
        "first_run": found[0] if found else None,
    }
    if len(choice.runs) == 1 and found and beside:
        # What a run is usually held against is the one before it.
        found = [beside[0], found[0]]
    if len(found) < 2:
        return context
    query = [("run", str(run.pk)) for run in found]
    return {**context, **_shown(request, project, choice, pair_of_runs(*found), query), "runs": found}


# --- what is shown ----------------------------------------------------------------------------------------


def _shown(
    request: HttpRequest, project: Project, choice: PairChoice, found: Pair, query: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    history, called = page_url("history", project), side_names(found)
    by_metric = {table.metric: table for table in found.tables}
    compared = {table.metric: len(table.rows) for table in found.tables}
    telling = metrics.telling(compared) if compared else []
    charts = [metric for metric in metrics.in_order(by_metric) if metric in choice.metrics] or telling
    is_whole = request.GET.get("rows") == "all"
    most, most_of_rest = (_ALL_ROWS, _ALL_ROWS) if is_whole else (_ROWS, _REST)
    shown = {
        "pair": found,
        "names": called,
        "summary": summary(found.tables, *called),
        "api_url": f"{reverse('api:difference')}?{urlencode([('project', project.slug), *query])}",
        "swap_url": choice.swapped(request.path),
        "markdown": markdown(found, url=request.build_absolute_uri()),
        "differing": [
            Differing("Settings", found.settings, called),
            Differing("Environment", found.environment, called),
            Differing("Hardware", found.hardware, called),
        ],
        "told": [(one, [row_words(row) for row in one.rows]) for one in found.told],
        "is_whole": is_whole,
        "whole_url": choice.address(request.path, rows="all"),
    }
    if not found.tables:
        return shown

    def link(series: int) -> str:
        return f"{history}?series={series}"

    runs = [str(side.run.pk) for side in (found.base, found.other) if side.run]
    return shown | {
        "fixed_url": choice.address(request.path, run=runs, metric=charts),
        "glance": pair_tables.glance([by_metric[metric] for metric in telling], link, most=most),
        "panels": pair_tables.panels([by_metric[one] for one in charts], link, names=called, most=most),
        "rest": pair_tables.rest(
            [table for table in found.tables if table.metric not in charts], link, most=most_of_rest
        ),
    }


urlpatterns = [path("compare/pair/", pair, name="pair")]
