"""Settings varied: the values of one side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import path, reverse

from benchdash.accounts.models import Project
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import ValueScale, VersionLine
from benchdash.dashboard.compare.api_parameters import threads_of_api
from benchdash.dashboard.compare.controls import AXES, VersionChip, metric_filter, threads_filter
from benchdash.dashboard.compare.panels import PanelAddresses
from benchdash.dashboard.compare.selection import is_log
from benchdash.dashboard.pages.sweep.doubts import single_sessions, sweep_doubts
from benchdash.dashboard.pages.sweep.figure import SweepLook, sweep_panels
from benchdash.dashboard.pages.sweep.selection import SweepSelection, read_choice
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.dashboard.shell.switches import Switch, checks, switch
from benchdash.regressions.comparison.relative import rows_for_others
from benchdash.regressions.comparison.shown_units import rows_in_used_units
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.sweeps.conditions import Choice, Kind, Sweep, SweepPoint, written
from benchdash.regressions.sweeps.subjects import Subject, find_subject
from benchdash.regressions.sweeps.subjects import subjects as subjects_of
from benchdash.regressions.sweeps.table import (
    Found,
    find_sweep,
    metrics_of,
    sweep_table,
)
from benchdash.regressions.sweeps.values import are_numbers
from benchdash.results import metrics
from benchdash.results.catalogue import workload_names

# Maximum number of charts on a page, whatever is chosen.
_MAX_CHARTS: Final = 12
# Maximum number of versions to choose from: those in which most was varied.
_MAX_VERSIONS: Final = 100
_DIFFERS: Final = " *"
_KIND_WORDS: Final[Mapping[Kind, str]] = {
    "setting": "",
    "parameter": "parameter of the workload",
    "option": "option of the tool",
    "name": "name",
    "fact": "fact of the machine",
}


@dataclass(frozen=True)
class _Asked:
    """The selection of an address and what it found."""

    project: Project
    choice: SweepSelection
    subjects: Sequence[Subject]
    subject: Subject
    found: Found

    def name_of(self, subject: Subject) -> str:
        """``MariaDB 10.6.23 debug, branch main, with Connector/C``; the last where there are several."""
        version = subject.version
        parts = [" ".join(filter(None, [version.product.name, str(version)]))]
        if subject.branch:
            parts.append(f"branch {subject.branch}")
        if subject.counterpart and len({one.counterpart for one in self.subjects}) > 1:
            parts.append(f"with {subject.counterpart}")
        return ", ".join(parts)


def sweep_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    choice = read_choice(request.GET)
    available = subjects_of(page.project, setting=choice.setting, most=_MAX_VERSIONS)
    if not available:
        return {}
    if (
        choice.subjects
        and not choice.is_of_other_page
        and not {one.id for one in available} & {*choice.subjects}
    ):
        available = [*filter(None, [find_subject(page.project, choice.subjects[0])]), *available]
    # The pages of several versions know workloads by their ids.
    known = workload_names(page.project, choice.workloads)
    choice = replace(choice, workloads=[known.get(text, text) for text in choice.workloads])
    subject, found = _swept(page.project, choice, available)
    measured = metrics_of(page.project, subject)
    asked_metrics = (metric for metric in choice.metrics if metric in measured)
    metric = next(asked_metrics, metrics.main_metric(measured) if measured else "")
    table = None
    if found.sweep:
        table = sweep_table(page.project, subject, found.sweep, metric=metric, threads=choice.threads)
        if not table and choice.threads and choice.is_of_other_page:
            choice = replace(choice, threads=[])
            table = sweep_table(page.project, subject, found.sweep, metric=metric)
    if table:
        shown = rows_for_others(table.rows) if page.is_relative else rows_in_used_units(table.rows)
        table = replace(table, rows=tuple(shown)) if shown else None
    if table and choice.is_of_other_page:
        swept = {row.workload for row in table.rows}
        choice = replace(choice, workloads=[name for name in choice.workloads if name in swept])
    asked = _Asked(page.project, choice, available, subject, found)
    switches = _switches(request.path, choice, found)
    context = {
        "choice": choice,
        "found": found,
        "kept": choice.kept,
        "filters": [*_filters(asked, measured, metric, table), *checks(switches)],
        "switches": switches,
        "title": found.chosen.factor.name if found.chosen else "",
        "whole_url": choice.address(request.path, workload="", threads="", **{"with": ""}),
    }
    if found.sweep and table:
        context |= _shown(request, page, asked, found.sweep, table)
    return context


def _swept(project: Project, choice: SweepSelection, available: Sequence[Subject]) -> tuple[Subject, Found]:
    """Return the version to show and its sweep.

    Versions that come along from another page may have nothing that varies: the one in which most does is
    shown, or where there is none, the one of the project in which most does.
    """
    chosen = [one for one in available if one.id in choice.subjects]
    if not choice.is_of_other_page:
        chosen.sort(key=lambda one: choice.subjects.index(one.id))
    candidates = list(dict.fromkeys([*chosen[:1], available[0]]))
    for subject in candidates:
        found = find_sweep(
            project,
            subject,
            setting=choice.setting,
            base=choice.base,
            hardware=choice.hardware,
            only=choice.only,
        )
        if found.sweep or not choice.is_of_other_page:
            break
    return subject, found


def _shown(
    request: HttpRequest, page: ProjectPage, asked: _Asked, sweep: Sweep, table: ComparisonTable[SweepPoint]
) -> dict[str, Any]:
    choice = asked.choice
    lines = charts.lines(
        # A star marks what differs in more than the setting.
        [point.name + (_DIFFERS if point.differences else "") for point in sweep.points],
        base=sweep.points.index(sweep.base),
        in_order=are_numbers([point.value for point in sweep.points]),
    )
    rows = [row for row in table.rows if not choice.workloads or row.workload in choice.workloads]
    history, api = page_url("history", asked.project), reverse("api:sweep")
    hidden = choice.hides_values
    has_history = not (hidden or page.is_relative)
    addresses = PanelAddresses(
        series=lambda pk: f"{history}?series={pk}" if has_history else "",
        csv=lambda _, workload: f"{api}?{_query_of_api(asked, table, workload)}",
        alone=lambda _, workload: choice.address(request.path, workload=workload),
    )
    base = next(line.name for line in lines if line.is_base)
    machines = asked.found.swept_on
    look = SweepLook(
        values=[point.value for point in sweep.points],
        lines=lines,
        scale=ValueScale(base if choice.is_relative else "", is_log(choice.scale), hidden),
        x=choice.x or _usual_x(sweep),
        setting=sweep.factor.name,
        place=", ".join([asked.name_of(asked.subject), *(machines if len(machines) == 1 else [])]),
    )
    fixed = {"base": sweep.base.name, "metric": table.metric}
    if asked.found.chosen:
        fixed["setting"] = asked.found.chosen.factor.key
    workloads = sorted({row.workload for row in rows})
    pages = Paginator(workloads, _MAX_CHARTS).get_page(request.GET.get("page"))
    numbered = {workload: str(number) for number, workload in enumerate(pages.object_list)}
    return {
        "sweep": sweep,
        "fixed_url": choice.address(request.path, v=asked.subject.id, **fixed),
        "lines": lines,
        "x": look.x,
        "chips": _chips(request.path, choice, lines, sweep),
        "headline": single_sessions(sweep, rows).headline,
        "doubts": sweep_doubts(sweep, rows, for_others=page.is_relative),
        "differs": any(point.differences for point in sweep.others),
        "panels": sweep_panels(table, look, keys=numbered, addresses=addresses),
        "pages": pages,
    }


def _chips(
    path: str, choice: SweepSelection, lines: Sequence[VersionLine], sweep: Sweep
) -> list[VersionChip]:
    """Return the values with the addresses that make them the reference."""
    named = zip(lines, sweep.points, strict=True)
    return [VersionChip(line, choice.address(path, base=point.name)) for line, point in named]


def _usual_x(sweep: Sweep) -> str:
    """Numbers make an axis, names make lines."""
    values = [point.value for point in sweep.points]
    return "value" if len(values) > 2 and are_numbers(values) else "threads"


def _filters(
    asked: _Asked, measured: Mapping[str, int], metric: str, table: ComparisonTable[SweepPoint] | None
) -> list[FilterChip]:
    choice, found = asked.choice, asked.found
    chosen, swept = found.chosen, found.sweep
    settings = [(one.factor.key, _choice_words(one)) for one in found.choices]
    versions = [(one.id, asked.name_of(one)) for one in asked.subjects]
    points = [(one.name, one.name) for one in (swept.points if swept else ())]
    base = swept.base.name if swept else ""
    conditions = [
        (f"{one.factor.key}={name}", f"{one.factor.name} = {name}")
        for one in found.choices
        if one != chosen
        for name in map(written, one.values)
    ]
    rows = table.rows if table else ()
    counts = sorted({row.threads for row in rows}, key=lambda count: (count is None, count or 0))
    workloads = sorted({row.workload for row in rows})
    setting = filters.one_of(
        "setting", "Setting", settings, chosen.factor.key if chosen else "", empty="none"
    )
    machines = [(name, name) for name in found.machines]
    return [
        # A setting is found by its name alone too, and what is not found has a page of its own.
        replace(setting, is_checked=False),
        replace(filters.one_of("v", "Version", versions, asked.subject.id, empty=""), is_checked=False),
        filters.some_of("workload", "Workloads", [(name, name) for name in workloads], choice.workloads),
        metric_filter(measured, metric),
        threads_filter(counts, choice.threads),
        replace(
            filters.one_of("base", "Reference", points, base, empty=""),
            is_checked=not choice.is_of_other_page,
        ),
        filters.one_of("hardware", "Hardware", machines, choice.hardware),
        filters.some_of("with", "Only with", conditions, choice.only),
    ]


def _choice_words(choice: Choice) -> str:
    """``innodb_buffer_pool_size (7 values)``."""
    kind = _KIND_WORDS[choice.factor.kind]
    values = f"{len(choice.values)} values" + ("" if choice.alike > 1 else ", never alone")
    return f"{choice.factor.name} ({', '.join(filter(None, [kind, values]))})"


def _switches(path: str, choice: SweepSelection, found: Found) -> list[Switch]:
    if not found.sweep:
        return []
    usual, address = _usual_x(found.sweep), partial(choice.address, path)
    x = choice.x or usual
    values = (("", "absolute"), ("relative", "relative"), ("hidden", "relative alone"))
    along = (("value", "values"), ("threads", "threads"))
    return [
        switch("Along", "x", along, x, address, is_set=x != usual),
        switch("Figures", "values", values, choice.values, address),
        switch("Axes", "axis", AXES, choice.scale, address),
    ]


def _query_of_api(asked: _Asked, table: ComparisonTable[SweepPoint], workload: str) -> str:
    """Return the query that asks the API for the same numbers of one workload."""
    choice = asked.choice
    parameters = [
        ("project", asked.project.slug),
        ("subject", asked.subject.id),
        ("setting", asked.found.chosen.factor.key if asked.found.chosen else ""),
        ("base", table.base.name),
        ("metric", table.metric),
        ("hardware", choice.hardware),
        ("workload", workload),
        *threads_of_api(choice.threads),
        *(("with", one) for one in choice.only),
        ("values", choice.values if choice.hides_values else ""),
        ("format", "csv"),
    ]
    return urlencode([(name, value) for name, value in parameters if value])


urlpatterns = [
    path(
        "compare/settings/", content_page("dashboard/sweep.html", sweep_context, relative=True), name="sweep"
    )
]
