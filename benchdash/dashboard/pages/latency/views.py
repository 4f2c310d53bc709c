"""The distribution of response times of versions over each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import path, reverse

from benchdash.accounts.models import Project
from benchdash.dashboard.charts import latency as charts
from benchdash.dashboard.charts.compare import VersionLine
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare.selection import (
    VersionSelection,
    read_choice,
    read_columns,
    threads_texts,
    workload_ids,
)
from benchdash.dashboard.compare.tables import choosing, columns_of_api, lines_of, threads_of_api
from benchdash.dashboard.compare.versions import Available
from benchdash.dashboard.pages.latency.selection import ALL_OPERATIONS, chosen_row, read_view, row_filters
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison.columns import names
from benchdash.regressions.comparison.latency import (
    SHARES,
    LatencyCell,
    LatencyRowKey,
    LatencyTable,
    compare_columns,
    latency_doubts,
    sampled_columns,
    sampled_rows,
)
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.models import Workload

# An interval of a ratio whose ends are this far apart says only that there are too few runs.
_SAYS_SOMETHING: Final = 10


@dataclass(frozen=True)
class PercentileFigures:
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
class LatencyTableRow:
    line: VersionLine
    cell: LatencyCell
    percentiles: Sequence[PercentileFigures]
    largest: PercentileFigures


def latency_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = Available(sampled_columns(page.project))
    if not available:
        return {"command": upload_command()}
    columns = read_columns(request.GET, available, page.project)
    choice = replace(read_choice(request.GET, columns), view=read_view(request.GET))
    return {
        "kept": [("metric", metric) for metric in choice.metrics],
        **choosing(request, choice, available),
        **(_distributions(request.path, page.project, choice) if choice.columns.base else {}),
    }


def _distributions(path: str, project: Project, choice: VersionSelection) -> dict[str, Any]:
    chosen, base = choice.columns.chosen, choice.columns.base
    called = names(chosen)
    lines = lines_of(choice.columns)
    rows = sampled_rows(project, chosen)
    ids = _workload_ids(project, rows)
    named = {pk: name for name, pk in ids.items()}
    choice = replace(choice, workloads=workload_ids(choice.workloads, named))
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


def _is_tested(row: LatencyTableRow) -> bool:
    return any(one.comparison is not None and one.comparison.p is not None for one in row.percentiles)


def _workload_ids(project: Project, rows: Mapping[LatencyRowKey, int]) -> dict[str, int]:
    found = Workload.objects.filter(project=project, name__in={row.workload for row in rows})
    return dict(found.values_list("name", "pk"))


def _title(row: LatencyRowKey) -> str:
    """``workloada, read, 8 threads``."""
    threads = "" if row.threads is None else threads_words(row.threads)
    return ", ".join(filter(None, [row.workload, row.operation, threads]))


def _table_rows(table: LatencyTable, lines: Sequence[VersionLine]) -> list[LatencyTableRow]:
    """Return the rows of the lines that have a histogram, in their order."""
    if not table.rows:
        return []
    (row,) = table.rows
    others = iter(row.cells)
    cells = [(line, row.base if line.is_base else next(others)) for line in lines]
    return [LatencyTableRow(line, cell, _figures(cell), _largest(cell)) for line, cell in cells if cell]


def _figures(cell: LatencyCell) -> list[PercentileFigures]:
    return [
        PercentileFigures(charts.bounds_words(one.bounds), one.bounds.middle, one.comparison)
        if one.bounds
        else PercentileFigures("")
        for one in cell.percentiles
    ]


def _largest(cell: LatencyCell) -> PercentileFigures:
    largest = cell.distribution.largest
    return PercentileFigures(charts.bounds_words(largest), largest.middle)


def _fixed_url(path: str, choice: VersionSelection, row: LatencyRowKey, ids: Mapping[str, int]) -> str:
    """The address with all that it left open."""
    said = {"workload": str(ids[row.workload]), "threads": threads_texts([row.threads])}
    return choice.address(path, **said, operation=row.operation or ALL_OPERATIONS)


def _csv_url(project: Project, choice: VersionSelection, row: LatencyRowKey) -> str:
    """The same of the API."""
    parameters = [("workload", row.workload), *threads_of_api([row.threads]), *columns_of_api(choice)]
    query = urlencode([("project", project.slug), *parameters, ("format", "csv")])
    return f"{reverse('api:latency')}?{query}"


urlpatterns = [
    path("compare/latency/", content_page("dashboard/latency.html", latency_context), name="latency")
]
