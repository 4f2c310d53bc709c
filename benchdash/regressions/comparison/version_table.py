"""Versions against each other: a table of workloads and thread counts by versions, relative to a base."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import (
    Cell,
    CellsOfMetric,
    ColumnKey,
    RowKey,
    SeriesRow,
    cells_of_columns,
    cells_of_runs,
    series_at,
)
from benchdash.regressions.comparison.columns import (
    Column,
    Selector,
    SelectorError,
    chosen_columns,
    column_of,
    included_runs,
)
from benchdash.regressions.comparison.noise_floors import NoiseFloors, noise_floors
from benchdash.regressions.comparison.rows import (
    GroupSummary,
    RelativeTo,
    Row,
    compared_rows,
    group_summaries,
    summary_of,
)
from benchdash.regressions.detection.compare import EQUIVALENT
from benchdash.regressions.options import Margins, margins_of
from benchdash.results.controls import control_build
from benchdash.results.models import Run
from benchdash.results.readings import DERIVED, Direction
from benchdash.results.workload_groups import Grouping, grouping_of


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """Versions, or the groups of a branch, relative to a base.

    ``unit`` and ``direction`` are those of the first row, ``margin`` is what counts as the same, ``groups``
    are in the order of the project's. ``geomean`` is of speeds where rows have two directions.
    """

    metric: str
    unit: str
    direction: Direction
    base: Column
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    geomean: tuple[float | None, ...]
    margin: float = EQUIVALENT
    groups: tuple[GroupSummary, ...] = ()

    @classmethod
    def of_rows(
        cls,
        metric: str,
        base: Column,
        columns: Sequence[Column],
        rows: Sequence[Row],
        *,
        margin: float,
        grouping: Grouping | None,
    ) -> "ComparisonTable":
        return cls(
            metric=metric,
            unit=rows[0].unit,
            direction=rows[0].direction,
            base=base,
            columns=tuple(columns),
            rows=tuple(rows),
            geomean=summary_of(rows).geomean,
            margin=margin,
            groups=group_summaries(rows, grouping.names) if grouping else (),
        )


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
) -> ComparisonTable:
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
    day: date | None = None,
    margin: float | None = None,
    relative_to: RelativeTo = "base",
    grouping: Grouping | None = None,
) -> ComparisonTable:
    """Compare columns that are known already; few statements. Raises SelectorError for the metric.

    ``day``: only runs that started on it, by UTC. Rows have groups where ``grouping`` gives them.
    """
    runs = included_runs(project, workloads=workloads, threads=threads, metric=metric)
    if day is not None:
        midnight = datetime.combine(day, time(), UTC)
        runs = runs.filter(started_at__gte=midnight, started_at__lt=midnight + timedelta(days=1))
    sides = [base, *columns]
    series = _series(sides, [metric], workloads, () if metric in DERIVED else threads)
    by_metric = cells_of_columns(runs, _keys(sides), series)
    if not by_metric:
        measured = sorted({one.metric for one in _series(sides, [], workloads, threads)})
        there_is = f"; measured are {', '.join(measured)}" if measured else ""
        raise SelectorError(f"nothing of these versions has the metric {metric!r}{there_is}", field="metric")
    cells = [by_metric[metric].get(key, {}) for key in _keys(sides)]
    return _table(
        metric,
        sides,
        cells,
        _floors(series, by_metric.values()) if columns else None,
        control=_control(by_metric[metric], sides),
        margin=_margin(margins_of(project), metric, cells[0]) if margin is None else margin,
        relative_to=relative_to,
        grouping=grouping,
    )


def compare_all_metrics(
    project: Project,
    *,
    base: Column,
    columns: Sequence[Column],
    metrics: Sequence[str] | None = None,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> list[ComparisonTable]:
    """Make a table of each of these metrics that any of the columns has, by name.

    None: all that tools print; derived ones are compared one at a time. A constant number of statements.
    """
    if metrics is not None and not metrics:
        return []
    sides = [base, *columns]
    series = _series(sides, metrics or (), workloads, threads)
    runs = included_runs(project, workloads=workloads, threads=threads)
    by_metric = cells_of_columns(runs, _keys(sides), series)
    return _tables(project, sides, _keys(sides), series, by_metric)


def compare_runs(base: Run, other: Run) -> list[ComparisonTable]:
    """Make a table of one row for each metric that two runs have, by name; a constant number of statements.

    The row is that of the base, whatever the workload and the thread count of the other are.
    """
    runs = base, other
    sides = [column_of(run) for run in runs]
    series = _series(sides, (), [run.workload.name for run in runs], [run.threads for run in runs])
    row = base.workload.name, base.threads
    pair = Run.objects.filter(pk__in=[run.pk for run in runs])
    by_metric = cells_of_runs(pair, series, lambda run, _: (run, row))
    return _tables(base.project, sides, [run.pk for run in runs], series, by_metric)


def _keys(columns: Sequence[Column]) -> list[ColumnKey]:
    return [column.key for column in columns]


def _series(
    columns: Sequence[Column],
    metrics: Sequence[str],
    workloads: Sequence[str],
    threads: Sequence[int | None],
) -> list[SeriesRow]:
    """Return what is measured at the places of columns, and tells the noise there; see ``series_at``.

    Also of what is measured beside, to know the machine.
    """
    places = {column.place for column in columns}
    places |= {place._replace(build=control_build(place.build)) for place in places}
    project_id = columns[0].version.product.project_id
    return series_at(project_id, places, metrics=metrics, workloads=workloads, threads=threads)


def _floors(series: Sequence[SeriesRow], cells: Iterable[CellsOfMetric]) -> NoiseFloors:
    """Return what histories know of what these cells measured."""
    ids = {cell.series_id for of_metric in cells for by_row in of_metric.values() for cell in by_row.values()}
    measured = {one.what for one in series if one.id in ids}
    return noise_floors([one for one in series if one.what in measured])


def _control(cells: CellsOfMetric, sides: Sequence[Column]) -> Mapping[RowKey, Cell] | None:
    """Return the cells of the newest control at the one place of all sides; None where there is none."""
    places = {side.key[1:] for side in sides}
    columns = {side.key for side in sides}
    others = [key for key in cells if isinstance(key, tuple) and key not in columns and key[1:] in places]
    return cells[max(others)] if others and len(places) == 1 else None


def _tables(
    project: Project,
    sides: Sequence[Column],
    keys: Sequence[Hashable],
    series: Sequence[SeriesRow],
    by_metric: Mapping[str, CellsOfMetric],
) -> list[ComparisonTable]:
    """Make the table of each metric; ``keys`` are those of the cells of ``sides``, the base first."""
    floors, margins = _floors(series, by_metric.values()), margins_of(project)
    return [
        _table(
            metric,
            sides,
            [cells.get(key, {}) for key in keys],
            floors,
            margin=_margin(margins, metric, cells.get(keys[0], {})),
            control=_control(cells, sides),
        )
        for metric, cells in sorted(by_metric.items())
    ]


def _margin(margins: Margins, metric: str, base: Mapping[RowKey, Cell]) -> float:
    return margins.of(metric, (cell.value for cell in base.values()))


def _table(
    metric: str,
    sides: Sequence[Column],
    cells: Sequence[Mapping[RowKey, Cell]],
    floors: NoiseFloors | None,
    *,
    margin: float,
    relative_to: RelativeTo = "base",
    grouping: Grouping | None = None,
    control: Mapping[RowKey, Cell] | None = None,
) -> ComparisonTable:
    """Make a table of the cells of each of ``sides``, the base first; ``control`` tells the machine."""
    base, *columns = sides
    noise = None
    if floors:
        noise = floors.between(
            cells, versions=[side.version.pk for side in sides], names=[side.key for side in sides]
        )
    rows = compared_rows(
        cells[0],
        cells[1:],
        noise=noise,
        margin=margin,
        relative_to=relative_to,
        group_of=grouping.of if grouping else None,
        control=control,
    )
    return ComparisonTable.of_rows(metric, base, columns, rows, margin=margin, grouping=grouping)
