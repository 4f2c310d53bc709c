"""The distribution of response times of versions over each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from benchdash.accounts.models import Project
from benchdash.dashboard import numbers
from benchdash.dashboard.available import Available
from benchdash.dashboard.charts import compare as compare_charts
from benchdash.dashboard.charts import latency as charts
from benchdash.dashboard.charts.compare import Line
from benchdash.dashboard.commands import upload_command
from benchdash.dashboard.compared import columns_of_api, picker_of, threads_of_api
from benchdash.dashboard.forms import compare_controls as controls
from benchdash.dashboard.forms.compare import Choice, read_choice, read_columns, threads_texts
from benchdash.dashboard.forms.latency import ALL_OPERATIONS, chosen_row, read_view, row_filters
from benchdash.dashboard.series_words import threads_words
from benchdash.dashboard.shell import ProjectPage, project_page
from benchdash.regressions.column_names import are_versions_in_order, names
from benchdash.regressions.detection import Comparison
from benchdash.regressions.latency import (
    SHARES,
    Cell,
    LatencyTable,
    RowKey,
    compare_columns,
    latency_doubts,
    sampled_columns,
    sampled_rows,
)
from benchdash.results.models import Workload

# An interval of a ratio whose ends are this far apart says only that there are too few runs.
_SAYS_SOMETHING: Final = 10


@dataclass(frozen=True)
class Figures:
    """One percentile of one version as its table writes it."""

    words: str
    value: float | None = None
    comparison: Comparison | None = None

    @property
    def change(self) -> float | None:
        ratio = self.comparison.ratio if self.comparison else None
        return None if ratio is None else ratio - 1

    @property
    def change_bounds(self) -> str:
        """``−10.0 % to −6.0 %``; in words where it would say nothing."""
        if self.comparison is None or self.comparison.low is None or self.comparison.high is None:
            return ""
        if self.comparison.high > _SAYS_SOMETHING * self.comparison.low:
            return "too few runs"
        return " to ".join(numbers.change(end - 1) for end in (self.comparison.low, self.comparison.high))


@dataclass(frozen=True)
class TableRow:
    line: Line
    cell: Cell
    percentiles: Sequence[Figures]
    largest: Figures


@require_safe
@project_page
def latency(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    return page.render(request, "dashboard/latency.html", latency_context(request, page))


def latency_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = Available.of(sampled_columns(page.project))
    if not available:
        return {"command": upload_command()}
    columns = read_columns(request.GET, available, page.project)
    choice = replace(read_choice(request.GET, columns), view=read_view(request.GET))
    picker = picker_of(request, choice, available)
    return {
        "choice": choice,
        "version_picker": picker,
        "meanings": controls.meanings(request.path, choice),
        "suggestions": controls.suggestions(picker),
        **(_distributions(request.path, page.project, choice) if choice.columns.base else {}),
    }


def _distributions(path: str, project: Project, choice: Choice) -> dict[str, Any]:
    chosen, base = choice.columns.chosen, choice.columns.base
    called = names(chosen)
    at = chosen.index(base) if base else 0
    lines = compare_charts.lines(called, base=at, in_order=are_versions_in_order(chosen))
    rows = sampled_rows(project, chosen)
    ids = _workload_ids(project, rows)
    row = chosen_row(choice, rows, ids)
    context: dict[str, Any] = {"lines": lines, "chips": controls.chips(path, choice, lines)}
    if base is None or row is None:
        return {**context, "whole_url": choice.address(path, workload="", threads="", operation="")}
    table = compare_columns(project, base=base, columns=choice.columns.others, row=row)
    shown = _table_rows(table, lines)
    shown_lines = [one.line for one in shown]
    distributions = [one.cell.distribution for one in shown]
    return {
        **context,
        "doubts": latency_doubts(table),
        "filters": row_filters(choice, row, rows, ids, called),
        "fixed_url": _fixed_url(path, choice, row, ids),
        "row": row,
        "is_other": bool(choice.threads) and row.threads not in choice.threads,
        "title": _title(row),
        "curves_title": f"{_title(row)}, response time against percentile",
        "histogram_title": f"{_title(row)}, share of the operations by response time",
        "table_rows": shown,
        "missing": [line.name for line in lines if line not in shown_lines],
        "percentiles": [charts.percentile_name(share) for share in SHARES],
        "histogram": charts.overlaid(shown_lines, distributions) if shown else None,
        "curves": charts.percentile_curves(shown_lines, distributions) if shown else None,
        "csv_url": _csv_url(project, choice, row),
        "is_tested": any(map(_is_tested, shown)),
        "has_sessions": any(one.cell.sessions for one in shown),
        "are_runs_left_out": any(one.cell.runs < one.cell.measured for one in shown),
    }


def _is_tested(row: TableRow) -> bool:
    return any(one.comparison is not None and one.comparison.p is not None for one in row.percentiles)


def _workload_ids(project: Project, rows: Mapping[RowKey, int]) -> dict[str, int]:
    found = Workload.objects.filter(project=project, name__in={row.workload for row in rows})
    return dict(found.values_list("name", "pk"))


def _title(row: RowKey) -> str:
    """``workloada, read, 8 threads``."""
    threads = "" if row.threads is None else threads_words(row.threads)
    return ", ".join(filter(None, [row.workload, row.operation, threads]))


def _table_rows(table: LatencyTable, lines: Sequence[Line]) -> list[TableRow]:
    """Those of the lines that have a histogram, in the order of the lines."""
    if not table.rows:
        return []
    (row,) = table.rows
    others = iter(row.cells)
    cells = [(line, row.base if line.is_base else next(others)) for line in lines]
    return [TableRow(line, cell, _figures(cell), _largest(cell)) for line, cell in cells if cell]


def _figures(cell: Cell) -> list[Figures]:
    return [
        Figures(charts.bounds_words(one.bounds), one.bounds.middle, one.comparison)
        if one.bounds
        else Figures("")
        for one in cell.percentiles
    ]


def _largest(cell: Cell) -> Figures:
    largest = cell.distribution.largest
    return Figures(charts.bounds_words(largest), largest.middle)


def _fixed_url(path: str, choice: Choice, row: RowKey, ids: Mapping[str, int]) -> str:
    """The address with all that it left open."""
    said = {"workload": str(ids[row.workload]), "threads": threads_texts([row.threads])}
    return choice.address(path, **said, operation=row.operation or ALL_OPERATIONS)


def _csv_url(project: Project, choice: Choice, row: RowKey) -> str:
    """The same of the API."""
    parameters = [("workload", row.workload), *threads_of_api([row.threads]), *columns_of_api(choice)]
    query = urlencode([("project", project.slug), *parameters, ("format", "csv")])
    return f"{reverse('api:latency')}?{query}"


urlpatterns = [path("compare/latency/", latency, name="latency")]
