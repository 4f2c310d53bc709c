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
from benchdash.dashboard.compare.controls import reference_filter, threads_options
from benchdash.dashboard.compare.selection import (
    Presentation,
    VersionSelection,
    read_choice,
    read_columns,
    threads_texts,
    workload_ids,
)
from benchdash.dashboard.compare.tables import choosing, columns_of_api, lines_of, threads_of_api
from benchdash.dashboard.compare.versions import Available
from benchdash.dashboard.shell import filters, numbers
from benchdash.dashboard.shell.commands import upload_command
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.project_page import ProjectPage, content_page
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison import latency
from benchdash.regressions.comparison.columns import names
from benchdash.regressions.comparison.latency import LatencyCell, LatencyRowKey, LatencyTable
from benchdash.regressions.comparison.verdict_words import change_of
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.distributions import Bounds
from benchdash.results.models import Workload

ALL_OPERATIONS: Final = "all"


@dataclass(frozen=True)
class LatencyPresentation(Presentation):
    """``operation`` is what the address says: whose response times, ``all`` for those of every operation."""

    operation: str = ""

    @property
    def kept(self) -> list[tuple[str, str]]:
        return [("operation", self.operation)] if self.operation else []


def chosen_row(
    choice: VersionSelection, rows: Mapping[LatencyRowKey, int], ids: Mapping[str, int]
) -> LatencyRowKey | None:
    """Return the row that an address asks for: of its workload, and as far as there is one, of its threads.

    ``rows`` are how many columns each has, ``ids`` those of the workloads by their names. What the address
    leaves open is what most columns have.
    """
    asked = [row for row in rows if not choice.workloads or str(ids.get(row.workload)) in choice.workloads]
    if not asked:
        return None
    operation = choice.view.operation if isinstance(choice.view, LatencyPresentation) else ""

    def fit(row: LatencyRowKey) -> tuple[bool, bool, int]:
        return row.threads in choice.threads, (row.operation or ALL_OPERATIONS) == operation, rows[row]

    return max(asked, key=fit)


def row_filters(
    choice: VersionSelection,
    row: LatencyRowKey,
    rows: Mapping[LatencyRowKey, int],
    ids: Mapping[str, int],
    called: list[str],
) -> list[FilterChip]:
    """Return the chips of a row; ``called`` are the names of the chosen columns."""
    workloads = [(str(ids[name]), name) for name in dict.fromkeys(one.workload for one in rows)]
    same = [one for one in rows if one.workload == row.workload]
    threads = threads_options(dict.fromkeys(one.threads for one in same))
    operations = list(dict.fromkeys(one.operation for one in same if one.threads == row.threads))
    found = [
        reference_filter(choice.columns, called),
        replace(
            filters.one_of("workload", "Workload", workloads, str(ids[row.workload]), empty=""),
            also=list(ids),
        ),
        filters.one_of("threads", "Threads", threads, threads_texts([row.threads])[0], empty=""),
    ]
    if operations != [""]:
        named = [(one or ALL_OPERATIONS, one or "all operations") for one in operations]
        found.append(
            filters.one_of("operation", "Operation", named, row.operation or ALL_OPERATIONS, empty="")
        )
    return found


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
        return change_of(self.comparison)

    @property
    def change_bounds(self) -> str:
        """``−10.0 % to −6.0 %``; in words where it would say nothing."""
        one = self.comparison
        if one is None or one.low is None or one.high is None:
            return ""
        if one.high > _SAYS_SOMETHING * one.low:
            return "too few runs"
        return " to ".join(numbers.change(end - 1) for end in (one.low, one.high))


@dataclass(frozen=True)
class LatencyTableRow:
    line: VersionLine
    cell: LatencyCell
    percentiles: Sequence[PercentileFigures]
    largest: PercentileFigures


def latency_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    available = Available(latency.sampled_columns(page.project))
    if not available:
        return {"command": upload_command()}
    columns = read_columns(request.GET, available, page.project)
    view = LatencyPresentation(operation=request.GET.get("operation", ""))
    choice = replace(read_choice(request.GET, columns), view=view)
    return {
        "kept": [("metric", metric) for metric in choice.metrics],
        **choosing(request, choice, available),
        **(_distributions(request.path, page.project, choice) if choice.columns.base else {}),
    }


def _distributions(path: str, project: Project, choice: VersionSelection) -> dict[str, Any]:
    chosen, base = choice.columns.chosen, choice.columns.base
    called = names(chosen)
    lines = lines_of(choice.columns)
    rows = latency.sampled_rows(project, chosen)
    workloads = Workload.objects.filter(project=project, name__in={one.workload for one in rows})
    ids = dict(workloads.values_list("name", "pk"))
    named = {pk: name for name, pk in ids.items()}
    choice = replace(choice, workloads=workload_ids(choice.workloads, named))
    row = chosen_row(choice, rows, ids)
    context: dict[str, Any] = {"lines": lines, "chips": controls.chips(path, choice, lines)}
    if base is None or row is None:
        return {**context, "whole_url": choice.address(path, workload="", threads="", operation="")}
    table = latency.compare_columns(project, base=base, columns=choice.columns.others, row=row)
    shown = _table_rows(table, lines)
    shown_lines = [one.line for one in shown]
    distributions = [one.cell.distribution for one in shown]
    parameters = [("workload", row.workload), *threads_of_api([row.threads]), *columns_of_api(choice)]
    query = [("project", project.slug), *parameters, ("format", "csv")]
    return {
        **context,
        "doubts": latency.latency_doubts(table),
        "filters": row_filters(choice, row, rows, ids, called),
        "fixed_url": choice.address(
            path,
            workload=str(ids[row.workload]),
            threads=threads_texts([row.threads]),
            operation=row.operation or ALL_OPERATIONS,
        ),
        "row": row,
        "is_other": bool(choice.threads) and row.threads not in choice.threads,
        "title": _title(row),
        "curves_title": f"{_title(row)}, response time against percentile",
        "histogram_title": f"{_title(row)}, share of the operations by response time",
        "table_rows": shown,
        "missing": [line.name for line in lines if line not in shown_lines],
        "percentiles": [charts.percentile_name(share) for share in latency.SHARES],
        "histogram": charts.overlaid(shown_lines, distributions) if shown else None,
        "curves": charts.percentile_curves(shown_lines, distributions) if shown else None,
        "csv_url": f"{reverse('api:latency')}?{urlencode(query)}",
        "is_tested": any(
            one.comparison is not None and one.comparison.p is not None
            for row in shown
            for one in row.percentiles
        ),
        "has_sessions": any(one.cell.sessions for one in shown),
        "are_runs_left_out": any(one.cell.runs < one.cell.measured for one in shown),
    }


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
    shown = []
    for line, cell in cells:
        if cell:
            percentiles = [_figures(one.bounds, one.comparison) for one in cell.percentiles]
            shown.append(LatencyTableRow(line, cell, percentiles, _figures(cell.distribution.largest)))
    return shown


def _figures(bounds: Bounds | None, comparison: Comparison | None = None) -> PercentileFigures:
    if bounds is None:
        return PercentileFigures("")
    return PercentileFigures(charts.bounds_words(bounds), bounds.middle, comparison)


urlpatterns = [
    path("compare/latency/", content_page("dashboard/latency.html", latency_context), name="latency")
]
