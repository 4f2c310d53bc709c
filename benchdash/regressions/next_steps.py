"""Views of some runs: curves, versions side by side, and the version before them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.db.models import Count, Max, Min, QuerySet

from benchdash.regressions.comparison.cells import ColumnKey
from benchdash.regressions.comparison.columns import Column, columns_at, neighbour
from benchdash.regressions.sweeps.conditions import parameters_of, without_parameter
from benchdash.results.models import Run
from benchdash.results.version_places import MeasuredPlace


@dataclass(frozen=True)
class Outlook:
    """Some runs and the views of them.

    ``columns`` are their versions at their places, in order, and ``curves`` how many workloads of these have
    two thread counts or more, whoever sent them. ``workloads`` are names by id, in order of names;
    ``threads`` the fewest and the most, None where nobody said any. ``neighbour`` is the nearest earlier
    version with one of these workloads at the same place, else the nearest later one; it is looked for where
    there is one column. ``run`` is the run where there is only one. ``varies`` is whether the only column was
    measured under several settings, or with several values of a parameter.
    """

    runs: int
    columns: tuple[Column, ...]
    curves: int
    workloads: dict[int, str]
    threads: tuple[int, int] | None
    neighbour: Column | None
    run: int | None
    varies: bool

    @property
    def newest(self) -> Column:
        return self.columns[-1]

    @property
    def are_of_one_place(self) -> bool:
        return len({(column.place, column.branch) for column in self.columns}) == 1


def outlook_of(runs: QuerySet[Run]) -> Outlook | None:
    """Tell what can be seen of runs of one project; None where none of them counts. Few statements."""
    counting = runs.filter(excluded_at=None).order_by()
    counts = (Count("pk"), Min("threads"), Max("threads"), Count("content", distinct=True))
    rows = [_Row(*row) for row in counting.values_list(*_OF_ROW).annotate(*counts).order_by(*_OF_ROW[:2])]
    if not rows:
        return None
    columns = columns_at(list({row.column: None for row in rows}))
    number = sum(row.runs for row in rows)
    threads = [count for row in rows for count in (row.min_threads, row.max_threads) if count is not None]
    return Outlook(
        runs=number,
        columns=tuple(columns),
        curves=_number_of_curves(counting, rows),
        workloads={row.workload: row.workload_name for row in rows},
        threads=(min(threads), max(threads)) if threads else None,
        neighbour=neighbour(columns[0], workloads=counting.values("workload")) if len(columns) == 1 else None,
        run=counting.values_list("pk", flat=True).get() if number == 1 else None,
        varies=len(columns) == 1 and _varies(rows),
    )


_OF_ROW: Final = (
    *("workload__name", "workload", "version", "branch", "hardware", "hardware__name"),
    *("configuration", "configuration__name", "counterpart"),
)


class _Row(NamedTuple):
    """The runs of one workload and column; ``contents`` is how many contents of configurations they had."""

    workload_name: str
    workload: int
    version: int
    branch: str
    hardware: int
    hardware_name: str
    configuration: int
    configuration_name: str
    counterpart: str
    runs: int
    min_threads: int | None
    max_threads: int | None
    contents: int

    @property
    def column(self) -> MeasuredPlace:
        return self[2:9]

    @property
    def key(self) -> ColumnKey:
        return self.version, self.branch, self.hardware, self.configuration, self.counterpart


def _number_of_curves(runs: QuerySet[Run], rows: Iterable[_Row]) -> int:
    measured = {(row.workload, *row.key) for row in rows}
    names = ("workload", "version", "branch", "hardware", "configuration", "counterpart")
    found = (
        Run.objects.filter(
            excluded_at=None, version__in=runs.values("version"), workload__in=runs.values("workload")
        )
        .order_by()
        .values_list(*names)
        .annotate(Count("threads", distinct=True))
        .filter(threads__count__gt=1)
    )
    return sum(row[:-1] in measured for row in found)


def _varies(rows: Iterable[_Row]) -> bool:
    """Tell whether one version has several settings, or workloads that differ in one parameter alone."""
    if any(row.contents > 1 for row in rows):
        return True
    workloads = {row.workload_name for row in rows}
    parameters = {name for workload in workloads for name in parameters_of(workload)}
    return len(workloads) > 1 and any(
        len({without_parameter(workload, name) for workload in workloads}) == 1 for name in parameters
    )
