"""What the pages that compare versions share: the picker, the tables, and their address in the API."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest

from benchdash.accounts.models import Project
from benchdash.dashboard.available import Available
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.forms import compare_controls as controls
from benchdash.dashboard.forms.compare import Choice
from benchdash.dashboard.forms.version_picker import VersionPicker, version_picker
from benchdash.dashboard.measured import Measured
from benchdash.regressions.comparison import (
    Column,
    ComparisonTable,
    SelectorError,
    compare_all_metrics,
    compare_columns,
)
from benchdash.results.readings import DERIVED

_LONGEST_SEARCH: Final = 200


def picker_of(request: HttpRequest, choice: Choice, available: Available) -> VersionPicker:
    chosen = choice.columns.chosen
    return version_picker(
        available,
        chosen,
        find=request.GET.get("find", "")[:_LONGEST_SEARCH],
        summary=f"{len(chosen)} of {available.total}",
        address=lambda columns: choice.address(request.path, v=list(map(short_id, columns)), base=""),
    )


def choosing(request: HttpRequest, choice: Choice, available: Available) -> dict[str, Any]:
    """For the template: the choice, and what helps to make another."""
    picker = picker_of(request, choice, available)
    return {
        "choice": choice,
        "version_picker": picker,
        "meanings": controls.meanings(request.path, choice),
        "suggestions": controls.suggestions(picker),
    }


def chosen_workloads(choice: Choice, measured: Measured) -> list[str]:
    """Their names, none where the address chooses all."""
    return [name for pk, name in measured.workloads.items() if str(pk) in choice.workloads]


def tables_of(
    project: Project, choice: Choice, base: Column, workloads: Sequence[str], shown: Sequence[str]
) -> list[ComparisonTable]:
    """One for each of these metrics that the chosen columns have, in this order; no workloads are all."""
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
    return [found[metric] for metric in shown if metric in found]


def queries_of_api(project: Project, choice: Choice) -> Callable[[str, str], str]:
    """The same comparison of a metric and a workload, asked of the API."""
    before = urlencode([("project", project.slug)])
    after = urlencode([*threads_of_api(choice.threads), *columns_of_api(choice), ("format", "csv")])

    def query(metric: str, workload: str) -> str:
        return f"{before}&{urlencode([('metric', metric), ('workload', workload)])}&{after}"

    return query


def threads_of_api(counts: Sequence[int | None]) -> list[tuple[str, str]]:
    return [("threads", "null" if count is None else str(count)) for count in counts]


def columns_of_api(choice: Choice) -> list[tuple[str, str]]:
    base = choice.columns.base
    against = choice.columns.others or choice.columns.chosen
    return [
        *(("base", _selector(column)) for column in [base] if column),
        *(("against", _selector(column)) for column in against),
    ]


def _selector(column: Column) -> str:
    return json.dumps(
        {
            "id": column.version.pk,
            "branch": column.branch,
            "hardware": column.hardware,
            "configuration": column.configuration,
            "counterpart": column.counterpart,
        }
    )
