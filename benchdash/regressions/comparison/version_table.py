"""Versions against each other: a table of workloads and thread counts by versions, relative to a base."""

from collections.abc import Mapping, Sequence

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import SeriesRow, cells_of_columns, cells_of_runs, series_at
from benchdash.regressions.comparison.columns import (
    Column,
    Selector,
    SelectorError,
    chosen_columns,
    column_of,
    included_runs,
)
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.regressions.comparison.table import ComparisonTable, SideCells, SidesReading
from benchdash.results.models import Run
from benchdash.results.readings import DERIVED
from benchdash.results.workload_groups import Grouping, grouping_of


def compare(
    project: Project,
    *,
    metric: str,
    base: Selector,
    against: Sequence[Selector] = (),
    filters: Mapping[str, str] | None = None,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
    margin: float | None = None,
    relative_to: RelativeTo = "base",
) -> ComparisonTable[Column]:
    """Compare the columns ``against`` with ``base``; by default all versions of its product.

    ``filters`` complete the selectors; ``workloads`` and ``threads`` choose rows, empty means all.
    ``margin`` is the relative difference that does not matter, None that of the project. Rows have the
    groups of the project. Raises SelectorError where a selector is ambiguous or nothing fits.
    """
    runs = included_runs(project, workloads=workloads, threads=threads, metric=metric)
    base_column, columns = chosen_columns(runs, base, against, filters or {})
    return compare_columns(
        project,
        metric=metric,
        base=base_column,
        columns=columns,
        workloads=workloads,
        threads=threads,
        margin=margin,
        relative_to=relative_to,
        grouping=grouping_of(project),
    )


def compare_columns(
    project: Project,
    *,
    metric: str,
    base: Column,
    columns: Sequence[Column],
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
    margin: float | None = None,
    relative_to: RelativeTo = "base",
    grouping: Grouping | None = None,
) -> ComparisonTable[Column]:
    """Compare columns that are known already; few statements. Raises SelectorError for the metric.

    Rows have groups where ``grouping`` gives them.
    """
    runs = included_runs(project, workloads=workloads, threads=threads, metric=metric)
    sides = [base, *columns]
    series = _series(sides, [metric], workloads, () if metric in DERIVED else threads)
    by_metric = cells_of_columns(runs, [side.key for side in sides], series)
    reading = SidesReading.of(project, by_metric, series, is_compared=bool(columns))
    table = reading.table(
        metric, _sides(reading, metric, sides), margin=margin, relative_to=relative_to, grouping=grouping
    )
    if table is None:
        measured = sorted({one.metric for one in _series(sides, [], workloads, threads)})
        there_is = f"; measured are {', '.join(measured)}" if measured else ""
        raise SelectorError(f"nothing of these versions has the metric {metric!r}{there_is}", field="metric")
    return table


def compare_all_metrics(
    project: Project,
    *,
    base: Column,
    columns: Sequence[Column],
    metrics: Sequence[str] | None = None,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> list[ComparisonTable[Column]]:
    """Make a table of each of these metrics that any of the columns has, by name.

    None: all that tools print; derived ones are compared one at a time. A constant number of statements.
    """
    if metrics is not None and not metrics:
        return []
    sides = [base, *columns]
    series = _series(sides, metrics or (), workloads, threads)
    runs = included_runs(project, workloads=workloads, threads=threads)
    by_metric = cells_of_columns(runs, [side.key for side in sides], series)
    reading = SidesReading.of(project, by_metric, series)
    tables = (reading.table(metric, _sides(reading, metric, sides)) for metric in sorted(by_metric))
    return [table for table in tables if table]


def compare_runs(base: Run, other: Run) -> list[ComparisonTable[Column]]:
    """Make a table of one row for each metric that two runs have, by name; a constant number of statements.

    The row is that of the base, whatever the workload and the thread count of the other are.
    """
    runs = base, other
    sides = [column_of(run) for run in runs]
    series = _series(sides, (), [run.workload.name for run in runs], [run.threads for run in runs])
    row = base.workload.name, base.threads
    pair = Run.objects.filter(pk__in=[run.pk for run in runs])
    by_metric = cells_of_runs(pair, series, lambda run, _: (run, row))
    reading = SidesReading.of(base.project, by_metric, series)
    # Two runs of one column are two groups of many of one version, without which nothing would be left.
    is_one = sides[0].key == sides[1].key
    tables = (
        reading.table(
            metric,
            [
                SideCells(side, reading.of_column(metric, run.pk), None if is_one else side.version.pk)
                for side, run in zip(sides, runs, strict=True)
            ],
        )
        for metric in sorted(by_metric)
    )
    return [table for table in tables if table]


def _sides(reading: SidesReading, metric: str, columns: Sequence[Column]) -> list[SideCells[Column]]:
    return [
        SideCells(column, reading.of_column(metric, column.key), column.version.pk, column.place)
        for column in columns
    ]


def _series(
    columns: Sequence[Column],
    metrics: Sequence[str],
    workloads: Sequence[str],
    threads: Sequence[int | None],
) -> list[SeriesRow]:
    """Return what is measured at the places of columns, and tells the noise there; see ``series_at``."""
    project_id = columns[0].version.product.project_id
    places = {column.place for column in columns}
    return series_at(project_id, places, metrics=metrics, workloads=workloads, threads=threads)
