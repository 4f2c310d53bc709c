"""The row of response times that an address asks for, and its filters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from benchdash.dashboard.compare.controls import reference_filter, threads_options
from benchdash.dashboard.compare.selection import Presentation, VersionSelection, threads_texts
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.regressions.comparison.latency import LatencyRowKey

ALL_OPERATIONS: Final = "all"


@dataclass(frozen=True)
class LatencyPresentation(Presentation):
    """``operation`` is what the address says: whose response times, ``all`` for those of every operation."""

    operation: str = ""

    @property
    def kept(self) -> list[tuple[str, str]]:
        return [("operation", self.operation)] if self.operation else []


def read_view(query: QueryDict) -> LatencyPresentation:
    return LatencyPresentation(operation=query.get("operation", ""))


def chosen_row(
    choice: VersionSelection, rows: Mapping[LatencyRowKey, int], ids: Mapping[str, int]
) -> LatencyRowKey | None:
    """The row that an address asks for: of its workload, and as far as there is one, of its threads.

    ``rows`` are how many columns each has, ``ids`` those of the workloads by their names. What the address
    leaves open is what most columns have.
    """
    asked = [row for row in rows if not choice.workloads or str(ids.get(row.workload)) in choice.workloads]
    if not asked:
        return None
    operation = choice.view.operation if isinstance(choice.view, LatencyPresentation) else ""
    return max(
        asked,
        key=lambda row: (
            row.threads in choice.threads,
            (row.operation or ALL_OPERATIONS) == operation,
            rows[row],
        ),
    )


def row_filters(
    choice: VersionSelection,
    row: LatencyRowKey,
    rows: Mapping[LatencyRowKey, int],
    ids: Mapping[str, int],
    called: list[str],
) -> list[FilterChip]:
    """``called`` are the names of the chosen columns."""
    workloads = [(str(ids[name]), name) for name in dict.fromkeys(one.workload for one in rows)]
    same = [one for one in rows if one.workload == row.workload]
    threads = threads_options(dict.fromkeys(one.threads for one in same))
    operations = list(dict.fromkeys(one.operation for one in same if one.threads == row.threads))
    found = [
        reference_filter(choice.columns, called),
        filters.one_of("workload", "Workload", workloads, str(ids[row.workload]), empty=""),
        filters.one_of("threads", "Threads", threads, threads_texts([row.threads])[0], empty=""),
    ]
    if operations != [""]:
        named = [(one or ALL_OPERATIONS, one or "all operations") for one in operations]
        found.append(
            filters.one_of("operation", "Operation", named, row.operation or ALL_OPERATIONS, empty="")
        )
    return found
