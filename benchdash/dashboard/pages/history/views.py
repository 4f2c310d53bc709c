"""One or several series against versions or time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, starmap
from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Project, Scope
from benchdash.addresses import HistoryQuery, PairQuery, whole_number
from benchdash.charts.figure import Figure, Position
from benchdash.dashboard.pages.history import curation
from benchdash.dashboard.pages.history import figure as drawing
from benchdash.dashboard.pages.history.flags import Flag, flags_of
from benchdash.dashboard.pages.history.histories import (
    HistoryLine,
    HistoryLook,
    HistoryRow,
    LevelChange,
    beside_controls,
    changes_of,
    in_used_units,
    point_name,
    read_lines,
    rows_of,
    versions_axis,
)
from benchdash.dashboard.pages.history.selection import SeriesChoice, choose_series, panels
from benchdash.dashboard.pages.history.workloads import (
    PanelChange,
    in_order,
    most_changed_first,
    opened_panel,
    panel_changes,
    sparklines,
)
from benchdash.dashboard.shell import series_words
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.navigation import page_url, points_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page, project_page
from benchdash.dashboard.shell.switches import Switch, switch
from benchdash.regressions.analysis.control_runs import controls_of
from benchdash.regressions.comparison.columns import id_at
from benchdash.regressions.options import margins_of
from benchdash.results.annotations import annotations_of
from benchdash.results.models import Annotation, Run, Series

LINES_IN_ONE_CHART: Final = 6
SMALL_CHARTS: Final = 18
# Maximum number of series that an address names one by one.
_MAX_NAMED: Final = 60
_ROWS: Final = 20
_MAX_LISTED: Final = 60
_MAX_TOLD: Final = 8
# Lines whose levels are this far apart would flatten each other.
_FAR_APART: Final = 5


@dataclass(frozen=True)
class NamedLine:
    """A row of the table of lines. ``pair_url`` leads to the newest two groups side by side."""

    name: str
    line: HistoryLine
    change: LevelChange | None
    colour: str = ""
    pair_url: str = ""

    @property
    def held_against(self) -> str:
        """Name what ``change`` holds the newest value against."""
        return "of its level" if self.line.series.branch else "against the one before"


@dataclass(frozen=True)
class Chart:
    """A large chart with the table that says the same.

    ``alone_url`` is its own address, ``open_url`` the same where it is not alone.
    """

    name: str
    title: str
    figure: Figure
    lines: Sequence[NamedLine]
    rows: Page[HistoryRow]
    is_relative: bool
    csv_url: str
    alone_url: str
    open_url: str = ""
    flags: Sequence[Flag] = ()

    @cached_property
    def listed(self) -> Sequence[Flag]:
        """The flags of the list beneath, newest first."""
        return self.flags[: -_MAX_LISTED - 1 : -1]

    @property
    def unlisted(self) -> int:
        return len(self.flags) - len(self.listed)

    @property
    def changes(self) -> int:
        return sum(bool(flag.changes) for flag in self.flags)

    @cached_property
    def flag_at(self) -> dict[Position, Flag]:
        return {flag.place: flag for flag in self.flags}

    @property
    def words(self) -> str:
        """Its title and its newest flags, for who does not see it."""
        return ". ".join([self.title, *(f"{flag.text} {flag.words}" for flag in self.listed[:_MAX_TOLD])])

    @property
    def series(self) -> Series:
        """For what all of its series share."""
        return self.lines[0].line.series

    @cached_property
    def named(self) -> dict[int, NamedLine]:
        """Its lines by the ids of their series."""
        return {named.line.series.pk: named for named in self.lines}

    @property
    def table(self) -> str:
        return f"{self.name}-groups"

    @property
    def is_of_branch(self) -> bool:
        return bool(self.series.branch)

    @property
    def without_order(self) -> int:
        """The number of its versions that nobody knows to come before or after the others."""
        lines = [named.line for named in self.lines]
        return len({point.version.pk for line in lines for point in line.points[: line.first_in_order]})


@dataclass(frozen=True)
class ControlSwitch:
    """Some of the lines have a control. ``is_shown``: they are drawn relative to it.

    ``groups`` of ``lines`` have one, ``groups_without`` have none and are gaps; ``lines_without`` are drawn
    as they were measured.
    """

    is_shown: bool
    groups: int = 0
    groups_without: int = 0
    lines: int = 0
    lines_without: int = 0

    @property
    def all_groups(self) -> int:
        return self.groups + self.groups_without

    @property
    def all_lines(self) -> int:
        return self.lines + self.lines_without


@dataclass(frozen=True)
class SmallChart:
    """``note`` says which values lie beyond its axis; empty where all are within."""

    name: str
    title: str
    figure: Figure
    url: str
    note: str = ""


@dataclass(frozen=True)
class WorkloadLine:
    """A row of the list of workloads; ``spark`` are the points of its sparkline."""

    key: int
    name: str
    url: str
    lines: Sequence[HistoryLine]
    change: PanelChange
    spark: str
    is_open: bool

    @property
    def direction(self) -> str:
        return self.lines[0].series.direction

    @property
    def metric(self) -> str:
        return self.lines[0].series.metric

    @property
    def since(self) -> str:
        """The version, commit or day at which a confirmed change began."""
        at = self.change.at
        return point_name(at, self.lines[0].series.branch) if at else ""


def history_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    query = HistoryQuery.of(request.GET)
    choice = choose_series(page.project, query)
    shown = _small_charts if query.charts else _one_of_many
    shown = _charts if _fits_large_charts(choice.series) else shown
    found = shown(request, page, choice, query) if choice.series else _nothing(page.project, choice, query)
    fixed = replace(_of_series(choice.series, query), charts=query.charts, open=found.get("open", query.open))
    return {
        "filters": choice.filters,
        "unknown": choice.unknown,
        "kept": [*choice.kept, *query.without("place").kept(("workload", "threads", "metric"))],
        "choice": choice,
        "selection": choice.selection,
        "fixed_url": fixed.url(page.project) if 0 < len(choice.series) <= _MAX_NAMED else "",
        **found,
    }


def _fits_large_charts(series: Sequence[Series]) -> bool:
    """Tell whether large charts hold them: six lines in each, or all release lines of one thing."""
    by_metric = [list(found) for _, found in groupby(series, key=lambda one: one.metric)]
    return len(by_metric) <= LINES_IN_ONE_CHART and all(
        len(found) <= LINES_IN_ONE_CHART or len(panels(found)) == 1 for found in by_metric
    )


def _charts(
    request: HttpRequest, page: ProjectPage, choice: SeriesChoice, query: HistoryQuery
) -> dict[str, Any]:
    lines, beside = _read(choice.series, page, query)
    parts = _apart(lines, query)
    return _large_charts(request, page, parts, beside, query, several=len(parts) > 1)


def _large_charts(
    request: HttpRequest,
    page: ProjectPage,
    parts: Sequence[Sequence[HistoryLine]],
    beside: ControlSwitch | None,
    query: HistoryQuery,
    *,
    several: bool,
) -> dict[str, Any]:
    """Draw a chart of each part; one of ``several`` has its newest groups, and an address of its own."""
    looks = [_look(part, query) for part in parts]
    charts = []
    runs = page_url("runs", page.project)
    may_curate = page.may(Scope.TRIAGE)
    for number, (part, look, own) in enumerate(zip(parts, looks, _flags(parts, looks), strict=True), 1):
        series = [line.series for line in part]
        names, changes, colours = series_words.names(series), changes_of(part), drawing.line_colours(series)
        alone = _of_series(series, query)
        alone_url = alone.url(page.project)
        rows = Paginator(rows_of(part, look), _ROWS)
        figure = drawing.history_figure(part, names, look, f"{runs}{{}}/".format, own, with_times=may_curate)
        charts.append(
            Chart(
                name=f"history-{number}",
                title=series_words.title(series),
                figure=figure,
                lines=[
                    NamedLine(name, line, changes[line], colour, _pair_url(page.project, line))
                    for name, line, colour in zip(names, part, colours, strict=True)
                ],
                rows=rows.get_page(1 if several else request.GET.get("page")),
                is_relative=look.relative,
                csv_url=f"{page_url('history_csv', page.project)}?{alone}",
                alone_url=alone_url,
                open_url=alone_url if several else "",
                flags=own,
            )
        )
    groups = (row.point for chart in charts for row in chart.rows if row.is_excluded)
    excluded = Run.objects.filter(pk__in=[point.run_id for point in groups])
    return {
        "charts": charts,
        "compare_urls": _compare_urls(page, charts),
        "may_curate": may_curate,
        "reasons": dict(excluded.values_list("pk", "excluded_reason")) if page.is_member else {},
        "switches": _switches(page.project, looks, query, beside),
        "beside": beside,
    }


def _flags(parts: Sequence[Sequence[HistoryLine]], looks: Sequence[HistoryLook]) -> list[list[Flag]]:
    """Return the flags of each chart, with the annotations that concern it; one statement."""
    written = list(annotations_of([line.series for part in parts for line in part]))

    def concerns(annotation: Annotation, part: Iterable[HistoryLine]) -> bool:
        hardware, product = annotation.hardware_id, annotation.product_id
        return any(
            hardware in (None, line.series.hardware_id) and product in (None, line.series.product_id)
            for line in part
        )

    return [
        flags_of(part, look, [one for one in written if concerns(one, part)])
        for part, look in zip(parts, looks, strict=True)
    ]


def _read(
    series: Sequence[Series], page: ProjectPage, query: HistoryQuery
) -> tuple[list[HistoryLine], ControlSwitch | None]:
    """Read lines as the address wants them, and what a control of theirs does to them; None without one."""
    controls = controls_of(series)
    beside = {one for found in controls.values() for one in found}
    lines = read_lines(series, margins_of(page.project), beside)
    if not controls:
        return in_used_units(lines), None
    if not query.control:
        return in_used_units(lines), ControlSwitch(is_shown=False)
    lines = in_used_units(beside_controls(lines, controls))
    return lines, ControlSwitch(
        is_shown=True,
        groups=sum(len(line.points) for line in lines if line.is_beside_control),
        groups_without=sum(len(line.without_control) for line in lines),
        lines=sum(line.is_beside_control for line in lines),
        lines_without=sum(not line.is_beside_control for line in lines),
    )


def _pair_url(project: Project, line: HistoryLine) -> str:
    return points_url(project, line.series, *line.points[-2:]) if len(line.points) > 1 else ""


def _look(lines: Sequence[HistoryLine], query: HistoryQuery) -> HistoryLook:
    relative = query.relative == "1"
    if not query.relative:
        levels = [line.level for line in lines]
        are_far_apart = min(levels) > 0 and max(levels) / min(levels) > _FAR_APART
        relative = _have_a_history(lines) and are_far_apart
    return HistoryLook(
        axis=versions_axis(lines) if query.x == "versions" else None,
        log=query.scale == "log" if query.scale else drawing.suits_log(lines),
        bases=_bases(lines) if relative else None,
    )


def _bases(lines: Sequence[HistoryLine]) -> dict[Series, float]:
    """Return the values that are 100 %: the first level of each line, or of its oldest release line."""
    of_series = {line.series: line for line in lines}
    bases: dict[Series, float] = {}
    for panel in panels(list(of_series)):
        levels = (of_series[series].first_level for series in panel)
        bases |= dict.fromkeys(panel, next(filter(None, levels), 0.0))
    return bases


def _have_a_history(lines: Iterable[HistoryLine]) -> bool:
    return any(len(line.points) > 1 for line in lines)


def _apart(lines: Sequence[HistoryLine], query: HistoryQuery) -> list[list[HistoryLine]]:
    """Return the lines of each chart: of one metric, and against versions of one product and branch."""

    def key(line: HistoryLine) -> tuple[Any, ...]:
        series = line.series
        versions = (series.product_id, series.branch) if query.x == "versions" else ()
        return series.metric, series.unit, *versions

    return list(_grouped(lines, key).values())


def _grouped(
    lines: Iterable[HistoryLine], key: Callable[[HistoryLine], tuple[Any, ...]]
) -> dict[tuple[Any, ...], list[HistoryLine]]:
    groups: dict[tuple[Any, ...], list[HistoryLine]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return groups


def _compare_urls(page: ProjectPage, charts: Sequence[Chart]) -> dict[int, str]:
    """Return by change point the comparison of its two sides, where they are two versions."""
    urls = {}
    for row in (row for chart in charts for row in chart.rows if row.shift):
        series, before = row.line.series, row.line.points[max((row.index or 0) - 1, 0)]
        if row.shift and before.version != row.point.version:
            base, against = (id_at(point.version.pk, series) for point in (before, row.point))
            sides = PairQuery(
                base=str(base),
                against=str(against),
                workloads=(str(series.workload_id),),
                metrics=(series.metric,),
            )
            urls[row.shift.pk] = sides.url(page.project)
    return urls


def _small_charts(
    request: HttpRequest, page: ProjectPage, choice: SeriesChoice, query: HistoryQuery
) -> dict[str, Any]:
    """Draw a page of small charts on common axes, relative unless the address says otherwise."""
    found = panels(choice.series)
    # The same names on every page, whichever panels are on it.
    named = list(zip(found, series_words.panel_names(found), strict=True))
    pages = Paginator(named, SMALL_CHARTS).get_page(request.GET.get("page"))
    shown, names = [panel for panel, _ in pages], [name for _, name in pages]
    lines, beside = _read([one for panel in shown for one in panel], page, query)
    of_series = {line.series: line for line in lines}
    panel_lines = [[of_series[series] for series in panel] for panel in shown]
    relative = query.relative == "1" if query.relative else _have_a_history(of_series.values())
    looks = _small_looks(panel_lines, query, _bases(list(of_series.values())) if relative else None)
    shared = drawing.shared_axes(panel_lines, looks[0])
    charts = []
    for number, (panel, own, look) in enumerate(zip(shown, panel_lines, looks, strict=True), 1):
        figure = drawing.small_figure(own, series_words.names(panel), look, shared)
        url = _of_series(panel, query).url(page.project)
        note = drawing.clipped_words(own, look, shared)
        charts.append(SmallChart(f"small-{number}", names[number - 1], figure, url, note))
    return {
        "small_charts": charts,
        "title": series_words.title(choice.series),
        "pages": pages,
        "shares_values": shared.y is not None,
        "small_lines": _named_lines(shown, names, of_series),
        "is_relative": relative,
        "large_url": query.url(page.project, charts=""),
        "switches": _switches(page.project, looks, query, beside),
        "beside": beside,
    }


def _one_of_many(
    request: HttpRequest, page: ProjectPage, choice: SeriesChoice, query: HistoryQuery
) -> dict[str, Any]:
    """Draw the workload that is opened, or the one that says most, and a row for each of the others."""
    found = panels(choice.series)
    named = dict(zip(map(_key, found), series_words.panel_names(found), strict=True))
    at = opened_panel(found, whole_number(query.open))
    opened = None if at is None else found[at]
    # If there are very many, only those of one page are looked at closely.
    pages = Paginator(most_changed_first(found) if len(found) > SMALL_CHARTS else found, SMALL_CHARTS)
    shown = pages.get_page(request.GET.get("page"))
    of_page = list(shown)
    read = of_page if opened is None or opened in of_page else [*of_page, opened]
    lines, beside = _read([one for panel in read for one in panel], page, query)
    of_series = {line.series: line for line in lines}
    panel_lines = [[of_series[series] for series in panel] for panel in of_page]
    changes = panel_changes(panel_lines)
    order = in_order(panel_lines, changes)
    drawn = [of_series[series] for series in (of_page[order[0]] if opened is None else opened)]
    sparks = sparklines(panel_lines, _small_looks(panel_lines, query, None))
    return {
        **_large_charts(request, page, [drawn], beside, query, several=True),
        "title": series_words.title(choice.series),
        "open": str(drawn[0].series.pk),
        "workloads": [
            WorkloadLine(
                key=_key(of_page[at]),
                name=named[_key(of_page[at])],
                url=query.url(page.project, open=str(_key(of_page[at]))),
                lines=panel_lines[at],
                change=changes[at],
                spark=sparks[at],
                is_open=drawn[0].series in of_page[at],
            )
            for at in order
        ],
        "has_changed": any(one.is_sure for one in changes),
        "is_asked_for": opened is not None,
        "pages": shown,
        "small_url": query.url(page.project, charts="small", open=""),
    }


def _key(panel: Sequence[Series]) -> int:
    return panel[0].pk


def _small_looks(
    panel_lines: Sequence[Sequence[HistoryLine]], query: HistoryQuery, bases: Mapping[Series, float] | None
) -> list[HistoryLook]:
    """Return the look of each panel; those of one product and branch share their versions."""

    def key(line: HistoryLine) -> tuple[Any, ...]:
        return line.series.product_id, line.series.branch

    axes = {}
    if query.x == "versions":
        together = _grouped(chain.from_iterable(panel_lines), key)
        axes = {one: versions_axis(lines) for one, lines in together.items()}
    return [HistoryLook(axes.get(key(lines[0])), query.scale == "log", bases) for lines in panel_lines]


def _named_lines(
    shown: Sequence[Sequence[Series]], names: Sequence[str], of_series: Mapping[Series, HistoryLine]
) -> list[NamedLine]:
    named, changes = [], changes_of(list(of_series.values()))
    for panel, name in zip(shown, names, strict=True):
        for series, own in zip(panel, series_words.names(panel), strict=True):
            words = f"{name}, {own}" if len(panel) > 1 else name
            line = of_series[series]
            named.append(NamedLine(words, line, changes[line]))
    return named


def _nothing(project: Project, choice: SeriesChoice, query: HistoryQuery) -> dict[str, Any]:
    without = [(one, query.without(one.name).url(project)) for one in choice.relaxations]
    return {"without": without, "by_id": bool(query.series)}


@project_page
def history_csv(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Write every group of the chosen series, oldest first; relative to their controls if so wanted."""
    query = HistoryQuery.of(request.GET)
    lines, _ = _read(choose_series(page.project, query).series, page, query)
    parts = _apart(lines, query)
    looks = [_look(part, query) for part in parts]
    charts = zip(parts, looks, _flags(parts, looks), strict=True)
    return csv_file(f"history-{page.project.slug}", _COLUMNS, chain.from_iterable(starmap(_csv_rows, charts)))


def _csv_rows(
    lines: Sequence[HistoryLine], look: HistoryLook, flags: Sequence[Flag]
) -> Iterable[Sequence[Any]]:
    """Return the rows of a chart, line by line."""
    numbers = {flag.place: flag.number for flag in flags}
    for line in lines:
        yield from (_csv_row(row, numbers.get(row.place)) for row in reversed(rows_of([line], look)))


_COLUMNS: Final = (
    *("product", "version", "build", "commit", "branch", "line", "hardware", "configuration"),
    *("counterpart", "workload", "threads", "metric", "unit", "direction"),
    *("time", "value", "low", "high", "n", "run", "excluded"),
    *(
        "change",
        "change_point",
        "before",
        "after",
        "incident",
        "settings_changed",
        "relative_to_control",
        "flag",
    ),
)


def _csv_row(row: HistoryRow, flag: int | None) -> Sequence[Any]:
    series, point, shift = row.line.series, row.point, row.shift
    version = point.version
    return (
        *(series.product.name, version.version, version.build, point.commit, series.branch, series.line),
        *(series.hardware.name, series.configuration.name, series.counterpart, series.workload.name),
        *(series.threads, series.metric, series.unit, series.direction),
        *(point.time.isoformat(), point.value, point.low, point.high, point.n, point.run_id),
        int(row.index is None),
        row.change,
        *((shift.state, shift.before, shift.after, shift.incident_id) if shift else (None,) * 4),
        "; ".join(map(str, row.switches)) or ("unknown" if row.is_switch else None),
        int(row.line.is_beside_control),
        flag,
    )


def _switches(
    project: Project, looks: Sequence[HistoryLook], query: HistoryQuery, beside: ControlSwitch | None
) -> list[Switch]:
    look = looks[0]
    axis = "time" if look.axis is None else "versions"
    scale = "log" if any(one.log for one in looks) else "linear"
    values = "1" if look.relative else "0"
    scales, shown = [("linear", "linear"), ("log", "log")], [("0", "absolute"), ("1", "relative")]
    made = [
        switch("Values", "relative", shown, query, project, chosen=values, is_set=bool(query.relative)),
        switch("Along", "x", [("versions", "versions"), ("time", "time")], query, project, chosen=axis),
        switch("Axes", "scale", scales, query, project, chosen=scale, is_set=bool(query.scale)),
    ]
    if beside:
        sides = [("", "as measured"), ("1", "relative to the control")]
        shown_beside = "1" if beside.is_shown else ""
        made.append(switch("Speed of the machine", "control", sides, query, project, chosen=shown_beside))
    return made


def _of_series(series: Iterable[Series], query: HistoryQuery) -> HistoryQuery:
    """Return the query of a chart of these series alone, drawn in the same way."""
    return HistoryQuery(
        series=tuple(str(one.pk) for one in series),
        x=query.x,
        scale=query.scale,
        relative=query.relative,
        control=query.control,
    )


urlpatterns = [
    path("history/", content_page("dashboard/history.html", history_context), name="history"),
    path("history/csv/", history_csv, name="history_csv"),
    *curation.urlpatterns,
]
