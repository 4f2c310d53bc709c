"""The picker, lines, tables and addresses that the pages of several versions share."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from benchdash.accounts.models import Project
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import VersionLine
from benchdash.dashboard.compare import controls
from benchdash.dashboard.compare.panels import PanelAddresses
from benchdash.dashboard.compare.selection import ChosenColumns, VersionSelection, place_checks
from benchdash.dashboard.compare.version_picker import version_picker
from benchdash.dashboard.compare.versions import Available
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.dashboard.shell.unknown_values import unknown_of_chips
from benchdash.regressions.comparison.columns import (
    Column,
    SelectorError,
    are_versions_in_order,
    names,
    short_id,
)
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.shown_units import table_in_used_units
from benchdash.regressions.comparison.version_table import (
    ComparisonTable,
    compare_all_metrics,
    compare_columns,
)
from benchdash.results.readings import DERIVED

_SELECTOR: Final = ("id", "branch", "hardware", "configuration", "counterpart")


def choosing(request: HttpRequest, choice: VersionSelection, available: Available) -> dict[str, Any]:
    """Return the choice for the template, and what helps to make another."""
    picker = version_picker(
        available,
        choice.columns.chosen,
        find=request.GET.get("find", ""),
        address=lambda columns: choice.address(request.path, v=list(map(short_id, columns)), base=""),
    )
    return {
        "choice": choice,
        "version_picker": picker,
        "meanings": controls.meanings(request.path, choice),
        "suggestions": controls.suggestions(picker),
        "unknown": list(unknown_of_chips(request.GET, place_checks(request.GET, available))),
    }


def tables_of(
    page: ProjectPage, choice: VersionSelection, base: Column, workloads: Sequence[str], shown: Sequence[str]
) -> list[ComparisonTable]:
    """Compare the chosen columns by each of these metrics that they have; no workloads mean all.

    They have ratios alone for who may see no more.
    """
    project = page.project
    others, threads = choice.columns.others, choice.threads
    printed = [metric for metric in shown if metric not in DERIVED]
    tables = compare_all_metrics(
        project, base=base, columns=others, metrics=printed, workloads=workloads, threads=threads
    )
    found = {table.metric: table for table in tables}
    for metric in DERIVED.keys() & {*shown}:
        with suppress(SelectorError):
            found[metric] = compare_columns(
                project, metric=metric, base=base, columns=others, workloads=workloads, threads=threads
            )
    measured = [found[metric] for metric in shown if metric in found]
    if page.is_relative:
        return [table for table in map(table_for_others, measured) if table.rows]
    return list(map(table_in_used_units, measured))


def lines_of(columns: ChosenColumns) -> list[VersionLine]:
    """Return the lines of the chosen columns, by their names, in their order."""
    chosen, base = columns.chosen, columns.base
    at = chosen.index(base) if base else 0
    return charts.lines(names(chosen), base=at, in_order=are_versions_in_order(chosen))


def addresses_of(
    path: str, project: Project, choice: VersionSelection, workloads: Mapping[str, str]
) -> PanelAddresses:
    """Return the links of the panels of a comparison; ``workloads`` are ids by name."""
    history, api = page_url("history", project), reverse("api:compare")
    query = queries_of_api(project, choice)
    return PanelAddresses(
        series=lambda pk: f"{history}?series={pk}" if history else "",
        csv=lambda metric, workload: f"{api}?{query(metric, workload)}",
        alone=lambda metric, workload: choice.address(path, metric=metric, workload=workloads[workload]),
    )


def queries_of_api(project: Project, choice: VersionSelection) -> Callable[[str, str], str]:
    """Return the query that asks the API for the same comparison of a metric and a workload."""
    before = urlencode([("project", project.slug)])
    after = urlencode([*threads_of_api(choice.threads), *columns_of_api(choice), ("format", "csv")])

    def query(metric: str, workload: str) -> str:
        return f"{before}&{urlencode([('metric', metric), ('workload', workload)])}&{after}"

    return query


def threads_of_api(counts: Sequence[int | None]) -> list[tuple[str, str]]:
    return [("threads", "null" if count is None else str(count)) for count in counts]


def columns_of_api(choice: VersionSelection) -> list[tuple[str, str]]:
    base = choice.columns.base
    against = choice.columns.others or choice.columns.chosen
    return [
        *(("base", selector(column)) for column in [base] if column),
        *(("against", selector(column)) for column in against),
    ]


def selector(column: Column) -> str:
    """Write a column as the API takes it."""
    place = column.as_json()
    return json.dumps({name: place[name] for name in _SELECTOR})
