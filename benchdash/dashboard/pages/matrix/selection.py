"""The look of the matrix as its address says it, and the switches that change it."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from benchdash.accounts.models import Project
from benchdash.addresses import MatrixQuery
from benchdash.dashboard.charts.matrix import MatrixLook
from benchdash.dashboard.compare.controls import AXES
from benchdash.dashboard.compare.selection import workload_ids
from benchdash.dashboard.shell.switches import Switch, switch
from benchdash.regressions.comparison.columns import ColumnContents

_ORDERS: Final = (
    ("name", "name"),
    ("last", "change into the last column"),
    ("worst", "most lost in any column"),
)
_ROWS: Final = (
    ("grouped", "in groups of workloads"),
    ("flat", "without groups"),
    ("groups", "the groups alone"),
)
_COLOURS: Final = (("certain", "what is beyond the noise"), ("size", "every difference by its size"))
ALL: Final = "all"
"""In place of a workload that is opened: the curves of all on the same axes."""
EACH: Final = "each"
"""In its place: every workload, one by one."""


def with_ids(query: MatrixQuery, measured: ColumnContents) -> MatrixQuery:
    """Return the query with the ids of workloads in place of their names."""
    workloads, opened = (workload_ids(one, measured.workloads) for one in (query.workloads, query.open))
    return replace(query, workloads=workloads, open=opened)


def opened_rows(query: MatrixQuery) -> tuple[str, ...]:
    """Return the ids of the workloads that are opened one by one."""
    return tuple(pk for pk in query.open if pk not in (ALL, EACH))


def opens(query: MatrixQuery, workload: str) -> bool:
    """Tell whether the workload with this id is open."""
    return workload in query.open or EACH in query.open


def look_of(query: MatrixQuery, *, opened: Collection[str]) -> MatrixLook:
    """Return the look; ``opened`` are names of workloads."""
    return MatrixLook(
        values=query.values,
        order=query.sort,
        opened=opened,
        only_changed=bool(query.changed),
        by_size=query.colours == "size",
        groups=query.rows != "flat",
        only_groups=query.rows == "groups",
    )


def switches(project: Project, query: MatrixQuery, *, nights: bool, both: bool) -> list[Switch]:
    """Return the switches; ``both`` tells whether there are releases and branches to choose from."""
    base = "the baseline" if nights else "the reference"
    values = (("relative", "change" if nights else "ratio"), ("absolute", "absolute"), ("both", "both"))
    against = (("base", base), ("previous", "the column before"))
    over = (("versions", "versions"), ("nights", "nights"))
    shown = "nights" if nights else "versions"
    return [
        *([switch("Columns", "over", over, query, project, chosen=shown)] if both else []),
        switch("Values", "values", values, query, project),
        switch("Against", "relative_to", against, query, project),
        switch("Workloads", "changed", (("", "all"), ("1", "only what changed")), query, project),
        switch("Rows", "rows", _ROWS, query, project),
        switch("Sorted by", "sort", _ORDERS, query, project),
        switch("Colours", "colours", _COLOURS, query, project),
        switch("Opened rows", "charts", (("", "curves"), ("percentiles", "percentiles")), query, project),
        switch("Curves", "drawn", (("", "absolute"), ("relative", "relative")), query, project),
        switch("Axes", "axis", AXES, query, project),
    ]
