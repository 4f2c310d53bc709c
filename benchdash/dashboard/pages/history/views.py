"""One or several series against versions or time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Final, Literal

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import path
from django.views.decorators.http import require_safe

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.compare.controls import Switch, switch
from benchdash.dashboard.pages.history.figure import (
    HistoryAddresses,
    HistoryLook,
    history_figure,
    line_colours,
    shared_axes,
    small_figure,
    suits_log,
)
from benchdash.dashboard.pages.history.histories import (
    Changes,
    HistoryLine,
    HistoryRow,
    changes_of,
    read_lines,
    rows_of,
    versions_axis,
)
from benchdash.dashboard.pages.history.selection import SeriesChoice, choose_series, panels
from benchdash.dashboard.shell import series_words
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.csv_files import csv_file
from benchdash.dashboard.shell.navigation import address_with, page_url
from benchdash.dashboard.shell.pair_links import points_url
from benchdash.dashboard.shell.project_page import ProjectPage, content_page, project_page
from benchdash.regressions.comparison.columns import id_at
from benchdash.regressions.options import equivalence_margin
from benchdash.results.models import Run, Series

LINES_IN_ONE_CHART: Final = 6
SMALL_CHARTS: Final = 24
# So many series an address names one by one.
_MAX_NAMED: Final = 60
_ROWS: Final = 100
_ROWS_OF_SEVERAL: Final = 20
# Lines whose levels are this far apart would flatten each other.
_FAR_APART: Final = 5

Against = Literal["versions", "time"]


@dataclass(frozen=True)
class Wishes:
    """How the address wants histories drawn; what it does not say is None and decided by what is drawn."""

    against: Against = "versions"
    log: bool | None = None
    relative: bool | None = None

    @classmethod
    def of(cls, query: QueryDict) -> "Wishes":
        return cls(
            against="time" if query.get("x") == "time" else "versions",
            log={"log": True, "linear": False}.get(query.get("scale", "")),
            relative={"1": True, "0": False}.get(query.get("relative", "")),
        )

    @property
    def parameters(self) -> dict[str, str]:
        said = {
            "x": "time" if self.against == "time" else None,
            "scale": {True: "log", False: "linear", None: None}[self.log],
            "relative": {True: "1", False: "0", None: None}[self.relative],
        }
        return {name: value for name, value in said.items() if value}


@dataclass(frozen=True)
class NamedLine:
    """A row of the table of lines. ``pair_url`` leads to the newest two groups side by side."""

    name: str
    line: HistoryLine
    changes: Changes
    colour: str = ""
    pair_url: str = ""


@dataclass(frozen=True)
class Chart:
    """A large chart with the table that says the same. ``open_url`` leads to it alone, where it is not."""

    name: str
    title: str
    figure: Figure
    lines: Sequence[NamedLine]
    rows: Page[HistoryRow]
    is_relative: bool
    csv_url: str
    open_url: str = ""

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


@dataclass(frozen=True)
class SmallChart:
    name: str
    title: str
    figure: Figure
    url: str


def history_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    wishes = Wishes.of(request.GET)
    choice = choose_series(page.project, request.GET)
    shown = _charts if _fits_large_charts(choice.series) else _small_charts
    return {
        "filters": choice.filters,
        "kept": [*choice.kept, *wishes.parameters.items()],
        "choice": choice,
        "selection": choice.selection,
        "fixed_url": _fixed_url(request.path, choice, wishes),
        **(shown(request, page, choice, wishes) if choice.series else _nothing(request, choice)),
    }


def _fixed_url(path: str, choice: SeriesChoice, wishes: Wishes) -> str:
    """The address with the series by their ids; empty for more than an address names."""
    if not 0 < len(choice.series) <= _MAX_NAMED:
        return ""
    query = QueryDict(mutable=True)
    query.setlist("series", [str(series.pk) for series in choice.series])
    query.update(wishes.parameters)
    return f"{path}?{query.urlencode()}"


def _fits_large_charts(series: Sequence[Series]) -> bool:
    """Six lines at most in each, or however many release lines of one thing."""
    by_metric = [list(found) for _, found in groupby(series, key=lambda one: one.metric)]
    return len(by_metric) <= LINES_IN_ONE_CHART and all(
        len(found) <= LINES_IN_ONE_CHART or len(panels(found)) == 1 for found in by_metric
    )


# --- large charts -----------------------------------------------------------------------------------------


def _charts(request: HttpRequest, page: ProjectPage, choice: SeriesChoice, wishes: Wishes) -> dict[str, Any]:
    lines = read_lines(choice.series, margin=equivalence_margin(page.project))
    parts = _apart(lines, wishes)
    looks = [_look(part, wishes) for part in parts]
    several = len(parts) > 1
    charts = []
    for number, (part, look) in enumerate(zip(parts, looks, strict=True), 1):
        rows = Paginator(rows_of(part, look.axis, look.bases), _ROWS_OF_SEVERAL if several else _ROWS)
        charts.append(
            _chart(
                page,
                f"history-{number}",
                part,
                look,
                rows=rows.get_page(1 if several else request.GET.get("page")),
                open_url=_series_url("history", page, part, wishes) if several else "",
            )
        )
    return {
        "charts": charts,
        "compare_urls": _compare_urls(page, charts),
        "reasons": _reasons(page, charts),
        "switches": _switches(request, looks),
    }


def _pair_url(project: Project, line: HistoryLine) -> str:
    if len(line.points) < 2:
        return ""
    before, newest = line.points[-2:]
    return points_url(project, line.series, before, newest)


def _look(lines: Sequence[HistoryLine], wishes: Wishes) -> HistoryLook:
    relative = _are_far_apart(lines) if wishes.relative is None else wishes.relative
    return HistoryLook(
        axis=versions_axis(lines) if wishes.against == "versions" else None,
        log=suits_log(lines) if wishes.log is None else wishes.log,
        bases=_bases(lines) if relative else None,
    )


def _bases(lines: Sequence[HistoryLine]) -> dict[Series, float]:
    """Return the values that are 100 %: the first group of each line, or of its oldest release line."""
    of_series = {line.series: line for line in lines}
    bases: dict[Series, float] = {}
    for panel in panels(list(of_series)):
        values = (point.value for series in panel for point in of_series[series].points)
        bases |= dict.fromkeys(panel, next((value for value in values if value > 0), 0.0))
    return bases


def _are_far_apart(lines: Sequence[HistoryLine]) -> bool:
    levels = [line.level for line in lines]
    return _have_a_history(lines) and min(levels) > 0 and max(levels) / min(levels) > _FAR_APART


def _have_a_history(lines: Iterable[HistoryLine]) -> bool:
    return any(len(line.points) > 1 for line in lines)


def _apart(lines: Sequence[HistoryLine], wishes: Wishes) -> list[list[HistoryLine]]:
    """The lines of each chart: one metric; against versions also one product and one branch, or releases."""

    def key(line: HistoryLine) -> tuple[Any, ...]:
        series = line.series
        versions = (series.product_id, series.branch) if wishes.against == "versions" else ()
        return series.metric, series.unit, *versions

    parts: dict[tuple[Any, ...], list[HistoryLine]] = {}
    for line in lines:
        parts.setdefault(key(line), []).append(line)
    return list(parts.values())


def _chart(
    page: ProjectPage,
    name: str,
    lines: Sequence[HistoryLine],
    look: HistoryLook,
    *,
    rows: Page[HistoryRow],
    open_url: str,
) -> Chart:
    series = [line.series for line in lines]
    names, changes = series_words.names(series), changes_of(lines)
    return Chart(
        name=name,
        title=series_words.title(series),
        figure=history_figure(lines, names, look, _addresses(page)),
        lines=[
            NamedLine(name, line, changes[line], colour, _pair_url(page.project, line))
            for name, line, colour in zip(names, lines, line_colours(series), strict=True)
        ],
        rows=rows,
        is_relative=look.relative,
        csv_url=_series_url("history_csv", page, lines),
        open_url=open_url,
    )


def _compare_urls(page: ProjectPage, charts: Sequence[Chart]) -> dict[int, str]:
    """By change point: the comparison of its two sides, where they are two versions."""
    rows = (row for chart in charts for row in chart.rows)
    return {shift.pk: _compare_url(page, row) for row in rows if (shift := row.shift)}


def _compare_url(page: ProjectPage, row: HistoryRow) -> str:
    series, before = row.line.series, row.line.points[max((row.index or 0) - 1, 0)]
    if before.version == row.point.version:
        return ""
    base, changed = (id_at(point.version.pk, series) for point in (before, row.point))
    query = QueryDict(mutable=True)
    query.setlist("v", [base, changed])
    query.update({"base": base, "metric": series.metric, "workload": str(series.workload_id)})
    return f"{page_url('compare', page.project)}?{query.urlencode()}"


def _reasons(page: ProjectPage, charts: Sequence[Chart]) -> dict[int, str]:
    """Why runs were excluded, by run; for members."""
    if not page.is_member:
        return {}
    excluded = [row.point.run_id for chart in charts for row in chart.rows if row.index is None]
    return dict(Run.objects.filter(pk__in=excluded).values_list("pk", "excluded_reason"))


# --- small charts -----------------------------------------------------------------------------------------


def _small_charts(
    request: HttpRequest, page: ProjectPage, choice: SeriesChoice, wishes: Wishes
) -> dict[str, Any]:
    """Many panels: a page of small charts on common axes, relative unless it is wished otherwise."""
    found = panels(choice.series)
    # The same names on every page, whichever panels are on it.
    named = list(zip(found, series_words.panel_names(found), strict=True))
    pages = Paginator(named, SMALL_CHARTS).get_page(request.GET.get("page"))
    shown, names = [panel for panel, _ in pages], [name for _, name in pages]
    lines = read_lines([one for panel in shown for one in panel], margin=equivalence_margin(page.project))
    of_series = {line.series: line for line in lines}
    panel_lines = [[of_series[series] for series in panel] for panel in shown]
    relative = _have_a_history(of_series.values()) if wishes.relative is None else wishes.relative
    looks = _small_looks(panel_lines, wishes, _bases(list(of_series.values())) if relative else None)
    shared = shared_axes(panel_lines, looks[0])
    charts = [
        SmallChart(
            name=f"small-{number}",
            title=name,
            figure=small_figure(lines, series_words.names(panel), look, shared),
            url=_series_url("history", page, lines, wishes),
        )
        for number, (panel, lines, look, name) in enumerate(
            zip(shown, panel_lines, looks, names, strict=True), 1
        )
    ]
    return {
        "small_charts": charts,
        "title": series_words.title(choice.series),
        "pages": pages,
        "shares_values": shared.y is not None,
        "small_lines": _named_lines(shown, names, of_series),
        "is_relative": relative,
        "switches": _switches(request, looks),
    }


def _small_looks(
    panel_lines: Sequence[Sequence[HistoryLine]], wishes: Wishes, bases: Mapping[Series, float] | None
) -> list[HistoryLook]:
    """Panels of one product and branch share their versions."""

    def key(lines: Sequence[HistoryLine]) -> tuple[Any, ...]:
        return lines[0].series.product_id, lines[0].series.branch

    axes = {}
    if wishes.against == "versions":
        together: dict[tuple[Any, ...], list[HistoryLine]] = {}
        for lines in panel_lines:
            together.setdefault(key(lines), []).extend(lines)
        axes = {one: versions_axis(lines) for one, lines in together.items()}
    return [
        HistoryLook(axis=axes.get(key(lines)), log=bool(wishes.log), bases=bases) for lines in panel_lines
    ]


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


# --- nothing to show --------------------------------------------------------------------------------------


def _nothing(request: HttpRequest, choice: SeriesChoice) -> dict[str, Any]:
    without = [(one, address_with("", request.GET, page="", **{one.name: ""})) for one in choice.relaxations]
    return {"without": without, "by_id": "series" in request.GET, "command": upload_command()}


# --- all rows as a file -----------------------------------------------------------------------------------


@require_safe
@project_page
def history_csv(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Every group of the chosen series, oldest first."""
    lines = read_lines(choose_series(page.project, request.GET).series)
    rows = (row for line in lines for row in reversed(rows_of([line], versions_axis([line]))))
    return csv_file(f"history-{page.project.slug}", _COLUMNS, map(_csv_row, rows))


_COLUMNS: Final = (
    *("product", "version", "build", "commit", "branch", "line", "hardware", "configuration"),
    *("counterpart", "workload", "threads", "metric", "unit", "direction"),
    *("time", "value", "low", "high", "n", "run", "excluded"),
    *("change", "change_point", "before", "after", "incident", "settings_changed"),
)


def _csv_row(row: HistoryRow) -> Sequence[Any]:
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
    )


# --- switches ---------------------------------------------------------------------------------------------


def _switches(request: HttpRequest, looks: Sequence[HistoryLook]) -> list[Switch]:
    look = looks[0]
    address = partial(address_with, request.path, request.GET, page="")
    axis = "time" if look.axis is None else "versions"
    scale = "log" if any(one.log for one in looks) else "linear"
    values = "1" if look.relative else "0"
    return [
        switch("Horizontal axis", "x", [("versions", "Versions"), ("time", "Time")], axis, address),
        switch("Vertical axis", "scale", [("linear", "Linear"), ("log", "Log")], scale, address),
        switch("Values", "relative", [("0", "Absolute"), ("1", "Relative")], values, address),
    ]


# --- addresses --------------------------------------------------------------------------------------------


def _addresses(page: ProjectPage) -> HistoryAddresses:
    runs, incidents = page_url("runs", page.project), page_url("incidents", page.project)
    return HistoryAddresses(run=lambda pk: f"{runs}{pk}/", incident=lambda pk: f"{incidents}{pk}/")


def _series_url(
    name: str, page: ProjectPage, lines: Sequence[HistoryLine], wishes: Wishes | None = None
) -> str:
    query = QueryDict(mutable=True)
    query.setlist("series", [str(line.series.pk) for line in lines])
    query.update(wishes.parameters if wishes else {})
    return f"{page_url(name, page.project)}?{query.urlencode()}"


urlpatterns = [
    path("history/", content_page("dashboard/history.html", history_context), name="history"),
    path("history/csv/", history_csv, name="history_csv"),
]
