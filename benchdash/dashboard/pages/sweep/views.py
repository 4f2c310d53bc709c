"""Settings varied: the values of one side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import path

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId, SweepQuery, history_of
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import ValueScale, VersionLine
from benchdash.dashboard.compare.controls import AXES, metric_filter, threads_filter
from benchdash.dashboard.compare.panels import PanelAddresses
from benchdash.dashboard.compare.selection import is_log
from benchdash.dashboard.pages.sweep.doubts import single_sessions, sweep_doubts
from benchdash.dashboard.pages.sweep.figure import SweepLook, sweep_panels
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
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
class ValueChip:
    """A value of the setting, with the address that makes it the reference."""

    line: VersionLine
    base_url: str


@dataclass(frozen=True)
class _Asked:
    """The selection of an address and what it found."""

    project: Project
    query: SweepQuery
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
    query = SweepQuery.of(request.GET)
    available = subjects_of(page.project, setting=query.setting, most=_MAX_VERSIONS)
    if not available:
        return {}
    if (
        _subjects(query)
        and not _is_of_other_page(query)
        and not {one.id for one in available} & {*_subjects(query)}
    ):
        available = [*filter(None, [find_subject(page.project, _subjects(query)[0])]), *available]
    # The pages of several versions know workloads by their ids.
    known = workload_names(page.project, query.workloads)
    query = replace(query, workloads=tuple(known.get(text, text) for text in query.workloads))
    subject, found = _swept(page.project, query, available)
    measured = metrics_of(page.project, subject)
    asked_metrics = (metric for metric in query.metrics if metric in measured)
    metric = next(asked_metrics, metrics.main_metric(measured) if measured else "")
    table = None
    if found.sweep:
        table = sweep_table(page.project, subject, found.sweep, metric=metric, threads=query.thread_counts)
        if not table and query.threads and _is_of_other_page(query):
            query = replace(query, threads=())
            table = sweep_table(page.project, subject, found.sweep, metric=metric)
    if table:
        shown = rows_for_others(table.rows) if page.is_relative else rows_in_used_units(table.rows)
        table = replace(table, rows=tuple(shown)) if shown else None
    if table and _is_of_other_page(query):
        swept = {row.workload for row in table.rows}
        query = replace(query, workloads=tuple(name for name in query.workloads if name in swept))
    asked = _Asked(page.project, query, available, subject, found)
    switches = _switches(page.project, query, found)
    chips = _filters(asked, measured, metric, table)
    context = {
        "choice": query,
        "found": found,
        "kept": query.kept(chip.name for chip in chips),
        "filters": [*chips, *checks(switches)],
        "switches": switches,
        "title": found.chosen.factor.name if found.chosen else "",
        "whole_url": query.url(page.project, workloads=(), threads=(), only=()),
    }
    if found.sweep and table:
        context |= _shown(request, page, asked, found.sweep, table)
    return context


def _swept(project: Project, query: SweepQuery, available: Sequence[Subject]) -> tuple[Subject, Found]:
    """Return the version to show and its sweep.

    Versions that come along from another page may have nothing that varies: the one in which most does is
    shown, or where there is none, the one of the project in which most does.
    """
    chosen = [one for one in available if one.id in _subjects(query)]
    if not _is_of_other_page(query):
        chosen.sort(key=lambda one: _subjects(query).index(one.id))
    candidates = list(dict.fromkeys([*chosen[:1], available[0]]))
    for subject in candidates:
        found = find_sweep(
            project,
            subject,
            setting=query.setting,
            base=query.base,
            hardware=_machine(query),
            only=query.only,
        )
        if found.sweep or not _is_of_other_page(query):
            break
    return subject, found


def _is_of_other_page(query: SweepQuery) -> bool:
    """Tell whether the address was selected on a page of several versions, which knows no setting."""
    return not query.setting and any("." in text for text in (*query.versions, query.base))


def _subjects(query: SweepQuery) -> list[str]:
    """Return the ids of subjects that columns mean, the reference of other pages first, then the newest."""
    texts = [text for text in query.versions if text == query.base] + [*reversed(query.versions)]
    ids = map(ColumnId.of, texts)
    return [str(one._replace(hardware=None, configuration=None)) for one in ids if one]


def _machine(query: SweepQuery) -> str:
    return query.hardware[-1] if query.hardware else ""


def _shown(
    request: HttpRequest, page: ProjectPage, asked: _Asked, sweep: Sweep, table: ComparisonTable[SweepPoint]
) -> dict[str, Any]:
    query = asked.query
    lines = charts.lines(
        # A star marks what differs in more than the setting.
        [point.name + (_DIFFERS if point.differences else "") for point in sweep.points],
        base=sweep.points.index(sweep.base),
        in_order=are_numbers([point.value for point in sweep.points]),
    )
    rows = [row for row in table.rows if not query.workloads or row.workload in query.workloads]
    project = asked.project
    fixed = replace(query, versions=(asked.subject.id,), base=sweep.base.name, metrics=(table.metric,))
    if asked.found.chosen:
        fixed = replace(fixed, setting=asked.found.chosen.factor.key)
    hidden = query.values == "hidden"
    has_history = not (hidden or page.is_relative)
    addresses = PanelAddresses(
        series=lambda pk: history_of(pk).url(project) if has_history else "",
        csv=lambda _, workload: replace(fixed, workloads=(workload,)).numbers(project, "sweep", format="csv"),
        alone=lambda _, workload: query.url(project, workloads=(workload,)),
    )
    base = next(line.name for line in lines if line.is_base)
    machines = asked.found.swept_on
    look = SweepLook(
        values=[point.value for point in sweep.points],
        lines=lines,
        scale=ValueScale(base if query.values else "", is_log(query.axis), hidden),
        x=query.x or _usual_x(sweep),
        setting=sweep.factor.name,
        place=", ".join([asked.name_of(asked.subject), *(machines if len(machines) == 1 else [])]),
    )
    workloads = sorted({row.workload for row in rows})
    pages = Paginator(workloads, _MAX_CHARTS).get_page(request.GET.get("page"))
    numbered = {workload: str(number) for number, workload in enumerate(pages.object_list)}
    return {
        "sweep": sweep,
        "fixed_url": fixed.url(project),
        "lines": lines,
        "x": look.x,
        "chips": _chips(project, query, lines, sweep),
        "headline": single_sessions(sweep, rows).headline,
        "doubts": sweep_doubts(sweep, rows, for_others=page.is_relative),
        "differs": any(point.differences for point in sweep.others),
        "panels": sweep_panels(table, look, keys=numbered, addresses=addresses),
        "pages": pages,
    }


def _chips(
    project: Project, query: SweepQuery, lines: Sequence[VersionLine], sweep: Sweep
) -> list[ValueChip]:
    """Return the values with the addresses that make them the reference."""
    named = zip(lines, sweep.points, strict=True)
    return [ValueChip(line, query.url(project, base=point.name)) for line, point in named]


def _usual_x(sweep: Sweep) -> str:
    """Numbers make an axis, names make lines."""
    values = [point.value for point in sweep.points]
    return "value" if len(values) > 2 and are_numbers(values) else "threads"


def _filters(
    asked: _Asked, measured: Mapping[str, int], metric: str, table: ComparisonTable[SweepPoint] | None
) -> list[FilterChip]:
    query, found = asked.query, asked.found
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
        filters.some_of("workload", "Workloads", [(name, name) for name in workloads], query.workloads),
        metric_filter(measured, metric),
        threads_filter(counts, query.threads),
        replace(
            filters.one_of("base", "Reference", points, base, empty=""),
            is_checked=not _is_of_other_page(query),
        ),
        filters.one_of("hardware", "Hardware", machines, _machine(query)),
        filters.some_of("with", "Only with", conditions, query.only),
    ]


def _choice_words(choice: Choice) -> str:
    """``innodb_buffer_pool_size (7 values)``."""
    kind = _KIND_WORDS[choice.factor.kind]
    values = f"{len(choice.values)} values" + ("" if choice.alike > 1 else ", never alone")
    return f"{choice.factor.name} ({', '.join(filter(None, [kind, values]))})"


def _switches(project: Project, query: SweepQuery, found: Found) -> list[Switch]:
    if not found.sweep:
        return []
    usual = _usual_x(found.sweep)
    x = query.x or usual
    values = (("", "absolute"), ("relative", "relative"), ("hidden", "relative alone"))
    along = (("value", "values"), ("threads", "threads"))
    return [
        switch("Along", "x", along, query, project, chosen=x, is_set=x != usual),
        switch("Figures", "values", values, query, project),
        switch("Axes", "axis", AXES, query, project),
    ]


urlpatterns = [
    path(
        "compare/settings/", content_page("dashboard/sweep.html", sweep_context, relative=True), name="sweep"
    )
]
