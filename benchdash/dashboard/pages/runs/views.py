"""The list of runs, and one run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.models import Project, Scope
from benchdash.addresses import MatrixQuery, texts_of, to_text
from benchdash.charts.figure import Figure
from benchdash.dashboard.charts import latency
from benchdash.dashboard.pages.runs import figure as timeline
from benchdash.dashboard.pages.runs.details import RunDetails, find_run, run_details
from benchdash.dashboard.pages.runs.figure import TimeLine
from benchdash.dashboard.pages.runs.samples import WithinRun, within_run
from benchdash.dashboard.shell.filters import FilterChip, one_of, unknown_value
from benchdash.dashboard.shell.navigation import beside_url, page_url
from benchdash.dashboard.shell.paging import LongList
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_page, sent_reason
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison.columns import column_of, short_id
from benchdash.results import corrections
from benchdash.results.catalogue import run_choices, run_rows
from benchdash.results.controls import is_control
from benchdash.results.distributions import distribution_of, is_histogram
from benchdash.results.models import IntervalSamples, Run
from benchdash.results.pull_requests import of_pull_requests
from benchdash.results.queries import find_runs
from benchdash.results.sessions import session_name
from ingest.queries import may_see_raw

_RUNS: Final = 50


# Chips of things that a project has few of; the others show only when an address asks for them.
_NAMED: Final = ("product", "version", "workload", "hardware", "configuration")
_ASKED_ONLY: Final = ("branch", "build", "commit", "tag", "upload")
_EXCLUDED: Final = {"yes": True, "no": False}
# The parameters that may mean runs of pull requests, which are not listed without them.
_OF_PULL_REQUESTS: Final = {"branch", "commit", "tag", "upload"}


@project_page
def runs(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    asked = _asked(request.GET)
    names = run_choices(page.project, product=str(asked["product"]) if "product" in asked else None)
    excluded = _EXCLUDED.get(request.GET.get("excluded", ""))
    found = find_runs(page.project, excluded=excluded, **asked).values_list("pk", flat=True)
    left_out = [] if asked.keys() & _OF_PULL_REQUESTS else names["pull_request"]
    others = found.exclude(of_pull_requests()) if left_out else found
    pages = LongList(others, _RUNS, request.GET.get("page")).page_asked_for()
    if left_out and asked and not pages.object_list:
        # Pull requests alone have what is asked for.
        left_out, pages = [], LongList(found, _RUNS, request.GET.get("page")).page_asked_for()
    context = {
        "filters": _filters(names, asked, request.GET.get("excluded", "")),
        # A version found by an old name, or written as a package writes it, is known.
        "unknown": [] if pages.object_list else _unknown(names, asked),
        "pages": pages,
        "rows": run_rows(pages),
        "left_out": left_out,
        "is_filtered": bool(asked) or excluded is not None,
    }
    return page.render(request, "dashboard/runs.html", context)


def _asked(query: QueryDict) -> dict[str, str | int | None]:
    """Return the filters of find_runs that an address asks for."""
    given = ((name, texts_of(query, name)) for name in (*_NAMED, *_ASKED_ONLY))
    asked: dict[str, str | int | None] = {name: texts[-1] for name, texts in given if texts}
    if "commit" in asked:
        asked["commit"] = str(asked["commit"]).lower()
    if "upload" in asked:
        # No upload has the number 0.
        asked["upload"] = next(iter(ids_in([str(asked["upload"])])), 0)
    return asked


def _unknown(names: Mapping[str, Sequence[str]], asked: Mapping[str, str | int | None]) -> list[str]:
    said = ((name, str(asked[name]), names[name]) for name in _NAMED if name in asked)
    return [unknown_value(name, text, known) for name, text, known in said if text not in known]


def _filters(
    names: Mapping[str, Sequence[str]], asked: Mapping[str, str | int | None], excluded: str
) -> list[FilterChip]:
    chips = [_chip(name, names[name], asked) for name in _NAMED]
    chips += [_chip(name, [], asked) for name in _ASKED_ONLY if name in asked]
    states = [("no", "included"), ("yes", "excluded")]
    return [*chips, one_of("excluded", "State", states, excluded)]


def _chip(name: str, values: Sequence[str], asked: Mapping[str, str | int | None]) -> FilterChip:
    chosen = str(asked.get(name, ""))
    options = values if not chosen or chosen in values else [chosen, *values]
    return one_of(name, name.capitalize(), [(value, value) for value in options], chosen)


@dataclass(frozen=True)
class IntervalChart:
    """The samples of one source of a run. Without a figure the table alone says them."""

    name: str
    source: str
    title: str
    figure: Figure | None
    columns: Sequence[str]
    rows: Sequence[Sequence[float | None]]
    total: int
    height: int = 320
    percentiles: Sequence[tuple[str, str]] = ()

    @property
    def table(self) -> str:
        return f"{self.name}-table"


_ROWS_OF_SAMPLES: Final = 500
# A page with more cells takes a second to write; all of them are a link away.
_CELLS_OF_SAMPLES: Final = 4000
_TOOLS: Final = ("sysbench", "pgbench", "ycsb")
_HEIGHT: Final = 320


@project_page
def run(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    details = run_details(find_run(page.project, pk))
    found = details.run
    within = within_run(details, ids_in(request.GET.getlist("with")))
    context = {
        "within": within,
        "details": details,
        "run": found,
        "threads": threads_words(found.threads),
        "session": session_name(found.tags),
        "is_control": is_control(found.version.build),
        "intervals": _interval_charts(details, within),
        "latency_url": _latency_url(page.project, details),
        "environment": _environment(found),
        "settings": dict(sorted(found.content.settings.items())) if found.content else {},
        "command": found.options.get("command"),
        "options": {name: value for name, value in sorted(found.options.items()) if name != "command"},
        "may_correct": page.may(Scope.TRIAGE),
        "may_see_raw": may_see_raw(page.viewer, details.upload),
        "companions": details.upload.companions.order_by("pk"),
        "beside_url": beside_url(page.project, found.pk),
        "upload_url": page_url("upload", page.project, found.upload_id),
        "raw_url": page_url("upload_raw", page.project, found.upload_id),
    }
    return page.render(request, "dashboard/run.html", context)


def _environment(run: Run) -> dict[str, Any]:
    """Return the facts of the machine for this run that its hardware does not say in the same words."""
    facts, known = run.environment.facts if run.environment else {}, run.hardware.facts
    return {name: value for name, value in facts.items() if name not in known or known[name] != value}


def _interval_charts(details: RunDetails, within: WithinRun | None) -> list[IntervalChart]:
    """Return the charts of known sources first; others are drawn where they have a time and a metric.

    What is drawn on the time line of the run is a chart once, with the source that leads it.
    """
    known: dict[str, tuple[str, Callable[[IntervalSamples], TimeLine | Figure | None]]] = {
        **dict.fromkeys(_TOOLS, ("while it ran", timeline.over_time)),
        "iterations": ("its iterations", partial(_iterations, details)),
        "histogram": ("its response times", _by_its_columns),
    }
    run = details.run
    what = f"{run.workload}, run {run.pk} of {run.version.product} {run.version}"
    charts = []
    for source in [*known, *sorted(details.samples.keys() - known.keys())]:
        if samples := details.samples.get(source):
            title, draw = known.get(source, (source, _by_its_columns))
            drawn: TimeLine | Figure | None = None
            if within and source == within.source:
                drawn = within.time_line
            elif within is None or source not in within.drawn:
                drawn = draw(samples)
            rows = max(1, _CELLS_OF_SAMPLES // max(1, len(samples.columns)))
            charts.append(
                IntervalChart(
                    name=source.replace(" ", "-"),
                    source=source,
                    title=f"{what}, {title}",
                    figure=drawn.figure if isinstance(drawn, TimeLine) else drawn,
                    columns=samples.columns,
                    rows=samples.rows[: min(rows, _ROWS_OF_SAMPLES)],
                    total=len(samples.rows),
                    height=drawn.height if isinstance(drawn, TimeLine) else _HEIGHT,
                    percentiles=_percentiles(samples),
                )
            )
    return charts


def _by_its_columns(samples: IntervalSamples) -> TimeLine | Figure | None:
    if distribution := distribution_of(samples.columns, samples.rows):
        return latency.bars(distribution)
    return timeline.of_the_machine(samples) or timeline.over_time(samples)


def _percentiles(samples: IntervalSamples) -> list[tuple[str, str]]:
    """Return the percentiles in words, where the samples are a histogram."""
    distribution = distribution_of(samples.columns, samples.rows)
    named = latency.named_percentiles(distribution) if distribution else []
    return [(name, latency.bounds_words(bounds)) for name, bounds in named]


def _latency_url(project: Project, details: RunDetails) -> str:
    """Return the address that lays other versions over the histogram of this run; empty without one."""
    if not any(is_histogram(samples.columns) for samples in details.samples.values()):
        return ""
    run = details.run
    query = MatrixQuery(
        versions=(short_id(column_of(run)),),
        threads=(to_text(run.threads),),
        over="versions",
        charts="percentiles",
        open=(str(run.workload_id),),
    )
    return query.url(project)


def _iterations(details: RunDetails, samples: IntervalSamples) -> Figure | None:
    score = next((row for row in details.readings if row.series.metric == "score"), None)
    if score is None:
        return None
    series = score.series
    used = series.used
    return timeline.iterations(samples, used=used, direction=series.direction, score=score.value)


@project_action
def exclude(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    return _correct(request, page, pk, corrections.exclude_run, "The run is excluded.")


@project_action
def restore(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    return _correct(request, page, pk, corrections.restore_run, "The run counts again.")


def _correct(
    request: HttpRequest,
    page: ProjectPage,
    pk: int,
    correct: Callable[..., corrections.Effect],
    done: str,
) -> HttpResponse:
    page.require(Scope.TRIAGE)
    found = find_run(page.project, pk)
    try:
        effect = correct(found, by=page.viewer, reason=sent_reason(request))
    except corrections.CorrectionError as error:
        messages.error(request, f"Nothing was changed: {error}.")
    else:
        series = f"{effect.series} series {'is' if effect.series == 1 else 'are'} looked at again."
        messages.success(request, f"{done} {series}")
    return redirect("dashboard:run", page.project.slug, pk)


urlpatterns = [
    path("runs/", runs, name="runs"),
    path("runs/<int:pk>/", run, name="run"),
    path("runs/<int:pk>/exclude/", exclude, name="run_exclude"),
    path("runs/<int:pk>/restore/", restore, name="run_restore"),
]
