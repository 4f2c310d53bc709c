"""Versions against each other: a table of workloads and thread counts by versions, relative to a base."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from django.db.models import F, FloatField, Func, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.detection import (
    Comparison,
    Sample,
    ToolInterval,
    adjusted,
    compare_samples,
    median_interval,
)
from benchdash.regressions.detection.compare import EQUIVALENT, MOST_PRIOR_DF, Verdict
from benchdash.regressions.noise_floors import NoiseFloor, NoiseFloors, PlaceKey, noise_floors, of_two_places
from benchdash.regressions.options import equivalence_margin
from benchdash.results.models import IntervalSamples, Measurement, Run, Series, ServerVersion
from benchdash.results.queries import MeasuredVersion, Point, measured_places, measured_versions
from benchdash.results.readings import DERIVED, HIGHER, Direction
from benchdash.results.sessions import session_means, sessions_of
from benchdash.results.versions import parse_version
from benchdash.results.workload_groups import Grouping, grouping_of

MOST_CANDIDATES = 20
_WITH_FORKS = "score"
_SAMPLE_MODE = " sample"  # how the names of JMH's workloads in that mode end
_NO_SCATTER = 1e-9  # what sums of squares leave of equal repeats by rounding


class SelectorError(Exception):
    """A selector that names nothing, or more than one thing; ``candidates`` are what it could mean.

    ``field`` says which: ``base``, ``against``, or ``metric``, which none of the versions has.
    """

    def __init__(self, message: str, candidates: Sequence[Mapping[str, Any]] = (), *, field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class Selector:
    """Which runs make one column. What is None may be anything, as long as one thing is meant in the end."""

    id: int | None = None
    product: str | None = None
    version: str | None = None
    build: str | None = None
    commit: str | None = None
    branch: str | None = None
    hardware: str | None = None
    configuration: str | None = None
    counterpart: str | None = None

    def completed_by(self, filters: Mapping[str, str]) -> "Selector":
        """The rest taken from the query's filters of the same names. An id says product to commit already."""
        taken = {"product", "version", "build", "commit"} if self.id is not None else set()
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        for name, value in filters.items():
            if name in values and values[name] is None and name not in taken:
                values[name] = value
        return Selector(**values)


class Column(NamedTuple):
    """One version at one place: what a selector means in the end."""

    version: ServerVersion | MeasuredVersion
    branch: str
    hardware: str
    configuration: str
    counterpart: str
    hardware_id: int
    configuration_id: int

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.version.pk,
            "product": self.version.product.name,
            "version": self.version.version,
            "build": self.version.build,
            "commit": self.version.commit,
            "branch": self.branch,
            "hardware": self.hardware,
            "configuration": self.configuration,
            "counterpart": self.counterpart,
        }

    @property
    def key(self) -> tuple[int, str, int, int, str]:
        return self.version.pk, self.branch, self.hardware_id, self.configuration_id, self.counterpart

    @property
    def place(self) -> PlaceKey:
        """Where its histories are, whatever the version and the branch."""
        return (
            self.version.product_id,
            self.version.build,
            self.hardware_id,
            self.configuration_id,
            self.counterpart,
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """The included runs of one column at one workload and thread count.

    ``value`` is their median; ``low`` and ``high`` the 95 % interval of the level, the tool's where n = 1.
    ``sessions`` names that of each value, empty where none is known; ``forks`` are the mean scores of the
    forks of a single JMH run. ``series_id`` and ``run_id`` (the latest) lead to the evidence.
    """

    value: float
    n: int
    low: float | None
    high: float | None
    values: tuple[float, ...]
    tool_interval: ToolInterval | None
    series_id: int
    run_id: int
    unit: str
    direction: Direction
    sessions: tuple[str, ...] = ()
    forks: tuple[float, ...] = ()

    @property
    def independent(self) -> Sequence[float]:
        """The mean of each session; the values themselves where no session is known."""
        is_known = self.sessions and min(self.values) > 0
        return session_means(self.values, self.sessions) if is_known else self.values

    @property
    def sample(self) -> Sample:
        return Sample(self.values, self.sessions, self.forks, self.tool_interval)


RowKey = tuple[str, int | None]
"""The name of a workload and a thread count."""

RelativeTo = Literal["base", "previous"]
"""What a column is held against: the base, or the column before it (the first one against the base)."""

Noise = Callable[[RowKey, int, int], NoiseFloor | None]
"""What histories know of a row of two columns; 0 is the base, 1 the first column."""


@dataclass(frozen=True, slots=True)
class Row:
    """``cells[i]`` and ``comparisons[i]`` belong to column i; None where it (or the base) has no runs.

    Rows of one metric may have units and directions of their own: a JMH score is a time or a throughput.
    Cells of one row in different units are not compared.
    """

    workload: str
    threads: int | None
    group: str | None
    base: Cell | None
    cells: tuple[Cell | None, ...]
    comparisons: tuple[Comparison | None, ...]

    @property
    def unit(self) -> str:
        return self._any_cell.unit

    @property
    def direction(self) -> Direction:
        return self._any_cell.direction

    @property
    def _any_cell(self) -> Cell:
        return next(cell for cell in (self.base, *self.cells) if cell)


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The ratios of a group of workloads, column by column: geometric mean, lowest and highest.

    ``name`` is None for the rows of no group. None where a column has no ratio of it.
    """

    name: str | None
    rows: int
    geomean: tuple[float | None, ...]
    lowest: tuple[float | None, ...]
    highest: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """``unit`` and ``direction`` are those of the first row. ``margin`` is what counts as the same.

    ``groups`` are in the order of the project's.
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
    """The table of the columns ``against`` relative to ``base``; by default all versions of its product.

    ``filters`` complete the selectors; ``workloads`` and ``threads`` choose rows, empty means all.
    ``margin`` is the relative difference that does not matter, None that of the project. Rows have the
    groups of the project. Raises SelectorError where a selector is ambiguous or nothing fits.
    """
    runs = included_runs(project, workloads=workloads, threads=threads, metric=metric)
    base_column, columns = chosen_columns(runs, base, against, filters or {})
    terms = _Terms(_margin(project, margin), relative_to, grouping_of(project))
    return _table(runs, metric, base_column, columns, terms)


def chosen_columns(
    runs: QuerySet[Run], base: Selector, against: Sequence[Selector], filters: Mapping[str, str]
) -> tuple[Column, list[Column]]:
    """The base and the columns against it, by default all versions of its product at its place.

    Raises SelectorError where a selector is ambiguous or nothing fits.
    """
    base_column = resolve(runs, base.completed_by(filters), field="base")
    if against:
        return base_column, [resolve(runs, one.completed_by(filters), field="against") for one in against]
    return base_column, _other_versions(runs, base_column)


def compare_columns(
    project: Project,
    *,
    metric: str,
    base: Column,
    columns: Sequence[Column],
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
    day: date | None = None,
    relative_to: RelativeTo = "base",
    grouping: Grouping | None = None,
) -> ComparisonTable:
    """The same for columns that are known already; few statements. Raises SelectorError for the metric.

    ``day``: only runs that started on it, by UTC. Rows have groups where ``grouping`` gives them.
    """
    runs = included_runs(project, workloads=workloads, threads=threads, metric=metric)
    if day is not None:
        midnight = datetime.combine(day, time(), UTC)
        runs = runs.filter(started_at__gte=midnight, started_at__lt=midnight + timedelta(days=1))
    return _table(runs, metric, base, columns, _Terms(_margin(project, None), relative_to, grouping))


def compare_all_metrics(
    project: Project,
    *,
    base: Column,
    columns: Sequence[Column],
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> list[ComparisonTable]:
    """A table for each metric that any of the columns has, by name; a constant number of statements."""
    by_metric = _cells_of(included_runs(project, workloads=workloads, threads=threads), [base, *columns])
    terms, floors = _Terms(_margin(project, None)), _floors(base, columns, by_metric)
    return [
        _table_of(
            metric,
            base,
            columns,
            cells.get(base.key, {}),
            [cells.get(one.key, {}) for one in columns],
            terms,
            floors,
        )
        for metric, cells in sorted(by_metric.items())
    ]


def compare_runs(base: Run, other: Run) -> list[ComparisonTable]:
    """A table of one row for each metric that two runs have, by name; a constant number of statements.

    The row is that of the base, whatever the workload and the thread count of the other are.
    """
    row = base.workload.name, base.threads
    measured = _measured(Run.objects.filter(pk__in=[base.pk, other.pk]))
    by_metric = _cells(measured, place=lambda one: (one.run_id, row))
    column, against = column_of(base), column_of(other)
    terms, floors = _Terms(_margin(base.project, None)), _floors(column, [against], by_metric)
    return [
        _table_of(metric, column, [against], cells.get(base.pk, {}), [cells.get(other.pk, {})], terms, floors)
        for metric, cells in sorted(by_metric.items())
    ]


def column_of(run: Run) -> Column:
    """The column to which a run belongs."""
    return Column(
        version=run.version,
        branch=run.branch,
        hardware=run.hardware.name,
        configuration=run.configuration.name,
        counterpart=run.counterpart,
        hardware_id=run.hardware_id,
        configuration_id=run.configuration_id,
    )


def compared_rows(
    base: Mapping[RowKey, Cell],
    columns: Sequence[Mapping[RowKey, Cell]],
    *,
    noise: Noise = lambda _row, _one, _other: None,
    margin: float = EQUIVALENT,
    relative_to: RelativeTo = "base",
    group_of: Callable[[str], str | None] | None = None,
    is_alike: Callable[[RowKey, int], bool] = lambda _row, _column: True,
) -> list[Row]:
    """The rows of a table from the cells of its base and of each column, in the order of their keys.

    ``noise`` says what histories know of the runs of two columns in a row; other cells take the scatter of
    repeats over the rest of the table. ``margin`` is the relative difference that does not matter.
    ``group_of`` says the group of a workload. A cell that is not ``is_alike`` was measured under other
    conditions than its base: it has no verdict, and p is adjusted as if it were not there.
    """
    keys = sorted({*base, *chain.from_iterable(columns)}, key=row_order)
    pool = _Pool.of([base, *columns])
    base = {key: _steadied(cell, *pool.without(key, 0)) for key, cell in base.items()}
    columns = [
        {key: _steadied(cell, *pool.without(key, index)) for key, cell in column.items()}
        for index, column in enumerate(columns, start=1)
    ]
    before = [base, *columns]
    compared, directions, unlike = {}, [], {}
    for key in keys:
        for index, column in enumerate(columns):
            at = index if relative_to == "previous" else 0
            if (one := before[at].get(key)) and (other := column.get(key)) and one.unit == other.unit:
                if known := noise(key, at, index + 1):
                    found = _compare(one, other, known.sd, known.worth, margin)
                else:
                    found = _of_the_table(_compare(one, other, *pool.without(key, at, index + 1), margin))
                if is_alike(key, index):
                    compared[key, index] = found
                    directions.append(one.direction)
                else:
                    unlike[key, index] = replace(found, p=None, verdict="unknown", more_runs=None)
    verdicts = dict(zip(compared, _verdicts(list(compared.values()), directions, margin), strict=True))
    verdicts |= unlike
    return [
        Row(
            workload=key[0],
            threads=key[1],
            group=group_of(key[0]) if group_of else None,
            base=base.get(key),
            cells=tuple(column.get(key) for column in columns),
            comparisons=tuple(verdicts.get((key, index)) for index in range(len(columns))),
        )
        for key in keys
    ]


def cell_of(point: Point, series: Series) -> Cell:
    """A group of a history as a cell."""
    tool = None
    if point.n == 1 and point.low is not None and point.high is not None:
        tool = ToolInterval(point.low, point.high)
    return Cell(
        value=point.value,
        n=point.n,
        low=point.low,
        high=point.high,
        values=point.values,
        tool_interval=tool,
        series_id=series.pk,
        run_id=point.run_id,
        unit=series.unit,
        direction=series.better,
        sessions=point.sessions,
    )


def geometric_mean(rows: Iterable[Row], column: int) -> float | None:
    """Of the ratios of one column; None where it has none."""
    ratios = _ratios(rows, column)
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else None


def group_summaries(rows: Sequence[Row], names: Sequence[str]) -> tuple[GroupSummary, ...]:
    """Of each group that has rows, in the order of ``names``; the rows of no group come last."""
    of_group: dict[str | None, list[Row]] = {name: [] for name in [*names, None]}
    for row in rows:
        of_group[row.group].append(row)
    return tuple(summary_of(found, name) for name, found in of_group.items() if found)


def summary_of(rows: Sequence[Row], name: str | None = None) -> GroupSummary:
    """Of at least one row."""
    columns = range(len(rows[0].cells))
    ratios = [_ratios(rows, column) for column in columns]
    return GroupSummary(
        name=name,
        rows=len(rows),
        geomean=tuple(geometric_mean(rows, column) for column in columns),
        lowest=tuple(min(found, default=None) for found in ratios),
        highest=tuple(max(found, default=None) for found in ratios),
    )


def _ratios(rows: Iterable[Row], column: int) -> list[float]:
    return [
        one.ratio for row in rows if (one := row.comparisons[column]) is not None and one.ratio is not None
    ]


def resolve(runs: QuerySet[Run], selector: Selector, *, field: str) -> Column:
    """The one column that a selector means among the runs. Raises SelectorError for ``field``."""
    found = columns_of_runs(runs.filter(_conditions(selector)))
    if not found:
        raise SelectorError("no run fits the selector " + _words(selector), field=field)
    if len(found) > 1:
        candidates = [column.as_json() for column in found[:MOST_CANDIDATES]]
        raise SelectorError(
            f"the selector {_words(selector)} fits {len(found)} columns; say more", candidates, field=field
        )
    return found[0]


def find_column(project: Project, selector: Selector, *, field: str) -> Column:
    """The one column that a selector means in a project. Raises SelectorError for ``field``."""
    return resolve(included_runs(project), selector, field=field)


def columns_of(project: Project, selector: Selector) -> list[Column]:
    """Every version at every place that fits, in the order of versions."""
    if selector == Selector():
        return _columns(measured_places(project))
    return columns_of_runs(included_runs(project).filter(_conditions(selector)))


def included_runs(
    project: Project,
    *,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
    metric: str = "",
) -> QuerySet[Run]:
    """Those of some workloads, also by their old names, and thread counts; empty means all.

    A derived ``metric`` is of whole curves: it stands at no thread count.
    """
    runs = Run.objects.filter(project=project, excluded_at=None)
    if workloads:
        runs = runs.filter(Q(workload__name__in=workloads) | Q(workload__aliases__name__in=workloads))
    if metric in DERIVED:
        return runs.none() if threads and None not in threads else runs
    return runs.filter(threads_in(threads)) if threads else runs


def threads_in(threads: Sequence[int | None]) -> Q:
    """Runs or series of these thread counts; None: of those where nobody said it."""
    counted = Q(threads__in=[count for count in threads if count is not None])
    return counted | Q(threads=None) if None in threads else counted


def _conditions(selector: Selector) -> Q:
    """Old names and version texts as packages write them mean the thing too."""
    exact = {
        "id": "version",
        "build": "version__build",
        "commit": "version__commit__startswith",
        "branch": "branch",
        "counterpart": "counterpart",
    }
    named = {"product": "version__product", "hardware": "hardware", "configuration": "configuration"}
    conditions = Q()
    for name, value in _said(selector).items():
        if name in named:
            conditions &= Q(**{f"{named[name]}__name": value}) | Q(**{f"{named[name]}__aliases__name": value})
        elif name == "version":
            texts = {value, parse_version(str(value)).version}
            conditions &= Q(version__version__in=texts) | Q(version__aliases__name=value)
        else:
            conditions &= Q(**{exact[name]: value})
    return conditions


def _said(selector: Selector) -> dict[str, int | str]:
    values = {one.name: getattr(selector, one.name) for one in fields(selector)}
    return {name: value for name, value in values.items() if value is not None}


_PLACE = (
    "version",
    "branch",
    "hardware",
    "hardware__name",
    "configuration",
    "configuration__name",
    "counterpart",
)


def columns_of_runs(runs: QuerySet[Run]) -> list[Column]:
    """In the order of versions; two statements."""
    return _columns(list(runs.order_by().values_list(*_PLACE).distinct()))


def _columns(places: Sequence[tuple[Any, ...]]) -> list[Column]:
    """From rows with what _PLACE names."""
    versions = measured_versions({place[0] for place in places})
    columns = [
        Column(
            versions[version],
            branch,
            hardware,
            configuration,
            counterpart,
            hardware_id,
            configuration_id,
        )
        for version, branch, hardware_id, hardware, configuration_id, configuration, counterpart in places
    ]
    return sorted(columns, key=_order)


def _order(column: Column) -> tuple[Any, ...]:
    version = column.version
    return (
        version.product.name,
        version.sort_key,
        version.committed_at.timestamp() if version.committed_at else 0,
        version.build,
        version.commit or "",
        column.branch,
        column.hardware,
        column.configuration,
        column.counterpart,
    )


def _other_versions(runs: QuerySet[Run], base: Column) -> list[Column]:
    at_its_place = runs.filter(
        version__product=base.version.product_id,
        branch=base.branch,
        hardware=base.hardware_id,
        configuration=base.configuration_id,
        counterpart=base.counterpart,
    )
    return [column for column in columns_of_runs(at_its_place) if column.key != base.key]


_ColumnKey = tuple[int, str, int, int, str]


class _Value(NamedTuple):
    """One measurement with its place in a table, and what decides whether it counts."""

    column: _ColumnKey
    row: RowKey
    metric: str
    series_id: int
    unit: str
    direction: Direction
    run_id: int
    started_at: float  # epoch seconds
    environment_id: int | None
    content_id: int | None
    tags: Sequence[str] | None
    value: float
    low: float | None
    high: float | None

    @property
    def surroundings(self) -> tuple[int | None, int | None]:
        return self.environment_id, self.content_id


def _margin(project: Project, asked: float | None) -> float:
    return equivalence_margin(project) if asked is None else asked


@dataclass(frozen=True, slots=True)
class _Terms:
    """How the columns of a table are compared, and its rows grouped."""

    margin: float
    relative_to: RelativeTo = "base"
    grouping: Grouping | None = None


def _table(
    runs: QuerySet[Run], metric: str, base: Column, columns: Sequence[Column], terms: _Terms
) -> ComparisonTable:
    cells = _cells_of(runs, [base, *columns], metric).get(metric)
    if not cells:
        raise SelectorError(f"nothing of these versions has the metric {metric!r}", field="metric")
    others = [cells.get(column.key, {}) for column in columns]
    floors = _floors(base, columns, {metric: cells})
    return _table_of(metric, base, columns, cells.get(base.key, {}), others, terms, floors)


def _floors(base: Column, columns: Sequence[Column], cells: Mapping[str, "_CellsOfMetric"]) -> NoiseFloors:
    """What histories know of everything in tables of these columns; ``cells`` are by metric."""
    if not columns:
        return NoiseFloors({}, {})
    return noise_floors(
        base.version.product.project_id,
        {base.place, *(column.place for column in columns)},
        metrics=cells.keys(),
        workloads={row[0] for of_metric in cells.values() for rows in of_metric.values() for row in rows},
    )


def _noise(
    floors: NoiseFloors,
    metric: str,
    columns: Sequence[Column],
    cells: Sequence[Mapping[RowKey, Cell]],
) -> Noise:
    """Of two places both must know it."""

    def noise(row: RowKey, one: int, other: int) -> NoiseFloor | None:
        first, second = columns[one], columns[other]
        # Two nights of one version are two groups of many, and without its version nothing would be left.
        is_one = first.key == second.key
        versions = frozenset() if is_one else frozenset({first.version.pk, second.version.pk})
        left = floors.at(first.place, metric, row, versions=versions)
        if left is None or first.place == second.place:
            return left
        right = floors.at(second.place, metric, row, versions=versions)
        runs = cells[one][row].n, cells[other][row].n
        return of_two_places(left, right, runs=runs) if right else None

    return noise


def _table_of(
    metric: str,
    base: Column,
    columns: Sequence[Column],
    base_cells: Mapping[RowKey, Cell],
    cells: Sequence[Mapping[RowKey, Cell]],
    terms: _Terms,
    floors: NoiseFloors,
) -> ComparisonTable:
    grouping = terms.grouping
    rows = compared_rows(
        base_cells,
        cells,
        noise=_noise(floors, metric, [base, *columns], [base_cells, *cells]),
        margin=terms.margin,
        relative_to=terms.relative_to,
        group_of=grouping.of if grouping else None,
    )
    return ComparisonTable(
        metric=metric,
        unit=rows[0].unit,
        direction=rows[0].direction,
        base=base,
        columns=tuple(columns),
        rows=tuple(rows),
        geomean=tuple(geometric_mean(rows, index) for index in range(len(columns))),
        margin=terms.margin,
        groups=group_summaries(rows, grouping.names) if grouping else (),
    )


def cells_of_runs(
    runs: QuerySet[Run], metric: str, of_run: Mapping[int, tuple[Hashable, str]]
) -> "_CellsOfMetric":
    """The cells of the columns that runs are put into, by row; one statement, two for a score.

    ``of_run`` gives, by the id of a run, its column and the name of its row; runs that it lacks do not count.
    """

    def place(one: _Value) -> tuple[Hashable, RowKey]:
        column, row = of_run[one.run_id]
        return column, (row, one.row[1])

    measured = (one for one in _measured(runs, metric) if one.run_id in of_run)
    return _cells(measured, place=place).get(metric, {})


_CellsOfMetric = dict[Hashable, dict[RowKey, Cell]]


def _cells_of(runs: QuerySet[Run], columns: Sequence[Column], metric: str = "") -> dict[str, _CellsOfMetric]:
    """The cells of these columns by metric, column and row."""
    keys = {column.key for column in columns}
    names = ("version", "branch", "hardware", "configuration", "counterpart")
    parts = zip(names, zip(*keys, strict=True), strict=True)
    at_places = runs.filter(**{f"{name}__in": set(values) for name, values in parts})
    measured = _measured(at_places, metric)
    return _cells((one for one in measured if one.column in keys), place=lambda one: (one.column, one.row))


def _measured(runs: QuerySet[Run], metric: str = "") -> Iterator[_Value]:
    """What the runs measured of one metric, or of all that tools print: a derived series is of many runs."""
    wanted = Q(series__metric=metric) if metric else Q(series__is_derived=False)
    measured = Measurement.objects.filter(wanted, run__in=runs.order_by())
    rows: Iterable[tuple[Any, ...]] = measured.order_by().values_list(
        "run__version",
        "run__branch",
        "run__hardware",
        "run__configuration",
        "run__counterpart",
        "series__workload__name",
        "series__threads",
        "series__metric",
        "series",
        "series__unit",
        "series__direction",
        "run",
        # As numbers and mostly nothing: the driver takes long over times with a zone, and over arrays.
        Func(
            F("run__started_at"),
            template="extract(epoch FROM %(expressions)s)::float8",
            output_field=FloatField(),
        ),
        "run__environment",
        "run__content",
        Func(F("run__tags"), template="CASE WHEN %(expressions)s <> '{}' THEN %(expressions)s END"),
        "value",
        "low",
        "high",
    )
    for row in rows:
        yield _Value(row[:5], row[5:7], *row[7:])


def _cells(
    values: Iterable[_Value], *, place: Callable[[_Value], tuple[Hashable, RowKey]]
) -> dict[str, _CellsOfMetric]:
    """The cells by metric, column and row; ``place`` tells column and row of a value."""
    groups: dict[tuple[str, Hashable, RowKey], list[_Value]] = defaultdict(list)
    for one in values:
        groups[(one.metric, *place(one))].append(one)
    cells: dict[str, _CellsOfMetric] = defaultdict(lambda: defaultdict(dict))
    for (metric, column, row), group in groups.items():
        cells[metric][column][row] = _cell(group)
    if _WITH_FORKS in cells:
        cells[_WITH_FORKS] = _with_forks(cells[_WITH_FORKS])
    return cells


def _with_forks(cells: _CellsOfMetric) -> _CellsOfMetric:
    """Cells of a single JMH run with the mean score of each fork, where the iterations are stored.

    Where the run only says how many forks and iterations it had, with the number of samples behind its
    error, and a single fork is known as one.
    """
    single = {cell.run_id for rows in cells.values() for cell in rows.values() if cell.n == 1}
    samples = IntervalSamples.objects.filter(run__in=single, source="iterations")
    forks = {one.run_id: _fork_means(one) for one in samples}
    said = Run.objects.filter(pk__in=single - forks.keys(), options__has_key="forks")
    options = dict(said.values_list("pk", "options"))

    def known(workload: str, cell: Cell) -> Cell:
        if cell.run_id in options:
            return _with_counts(cell, options[cell.run_id], of_samples=workload.endswith(_SAMPLE_MODE))
        return replace(cell, forks=forks.get(cell.run_id, ()))

    return {
        column: {row: known(row[0], cell) for row, cell in rows.items()} for column, rows in cells.items()
    }


def _with_counts(cell: Cell, options: Mapping[str, Any], *, of_samples: bool) -> Cell:
    """``of_samples``: the error is over so many single operations that their number does not matter."""
    forks, iterations = options.get("forks"), options.get("measurement_iterations")
    tool = cell.tool_interval
    if tool and isinstance(forks, int) and isinstance(iterations, int) and not of_samples:
        tool = replace(tool, samples=forks * iterations)
    return replace(cell, tool_interval=tool, forks=(cell.value,) if forks == 1 else ())


def _fork_means(samples: IntervalSamples) -> tuple[float, ...]:
    if not {"fork", "score"} <= set(samples.columns):
        return ()
    fork, score = samples.columns.index("fork"), samples.columns.index("score")
    scores: dict[float | None, list[float]] = defaultdict(list)
    for row in samples.rows:
        if (value := row[score]) is not None:
            scores[row[fork]].append(value)
    return tuple(map(statistics.fmean, scores.values()))


def _cell(values: Sequence[_Value]) -> Cell:
    """Where one version was measured under several environments or contents, the newest counts."""
    latest = max(values, key=lambda one: (one.started_at, one.run_id))
    counting = [one for one in values if one.surroundings == latest.surroundings]
    numbers = tuple(one.value for one in counting)
    # Several runs get their interval when the noise of the whole table is known.
    low, high = (latest.low, latest.high) if len(numbers) == 1 else (None, None)
    return Cell(
        value=statistics.median(numbers),
        n=len(numbers),
        low=low,
        high=high,
        values=numbers,
        tool_interval=None if low is None or high is None else ToolInterval(low, high),
        series_id=latest.series_id,
        run_id=latest.run_id,
        unit=latest.unit,
        direction=latest.direction,
        sessions=_sessions(counting),
    )


def _sessions(values: Sequence[_Value]) -> tuple[str, ...]:
    """Of nearly all runs nobody said any."""
    if not any(one.tags for one in values):
        return ()
    return sessions_of([(one.run_id, one.tags or ()) for one in values])


def _steadied(cell: Cell, noise_sd: float | None, noise_df: float) -> Cell:
    """The cell with an interval that knows how much repeats scatter over the whole table.

    Of a single session it is that of its runs: the scatter from session to session is not in it.
    """
    if cell.n == 1:
        return cell
    interval = median_interval(cell.independent, noise_sd=noise_sd, noise_df=noise_df)
    interval = interval or median_interval(cell.values)
    if not interval:
        return cell
    return replace(cell, low=min(interval[0], cell.value), high=max(interval[1], cell.value))


def row_order(key: RowKey) -> tuple[str, int]:
    workload, threads = key
    return workload, -1 if threads is None else threads


def _compare(base: Cell, other: Cell, sd: float | None, df: float, margin: float) -> Comparison:
    return compare_samples(
        base.sample,
        other.sample,
        direction=base.direction,
        history_sd=sd,
        history_df=df,
        margin=margin,
    )


def _of_the_table(comparison: Comparison) -> Comparison:
    """Its noise is that of the repeats in other cells, not of a history."""
    return replace(comparison, basis="table") if comparison.basis == "history" else comparison


_TURNED: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}


def _verdicts(
    comparisons: Sequence[Comparison], directions: Sequence[Direction], margin: float
) -> list[Comparison]:
    """p adjusted over the whole table, and the verdict of each by the direction of its row."""
    return [
        one if direction == HIGHER else replace(one, verdict=_TURNED.get(one.verdict, one.verdict))
        for one, direction in zip(
            adjusted(comparisons, direction=HIGHER, margin=margin), directions, strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Repeats:
    """Squared residuals of the logs of repeats, how many degrees of freedom, and what those are worth."""

    residual: float = 0.0
    df: int = 0
    worth: int = 0

    def __add__(self, other: "_Repeats") -> "_Repeats":
        return _Repeats(self.residual + other.residual, self.df + other.df, self.worth + other.worth)

    def __sub__(self, other: "_Repeats") -> "_Repeats":
        return _Repeats(self.residual - other.residual, self.df - other.df, self.worth - other.worth)


@dataclass(frozen=True, slots=True)
class _Pool:
    """The scatter of repeats over a table: what a cell with one run is judged by, on the same machines.

    Where sessions are known, repeats are sessions, which the rows of a column share: they count once.
    """

    columns: tuple[Mapping[RowKey, _Repeats], ...]
    totals: tuple[_Repeats, ...]
    shares_sessions: tuple[bool, ...]
    total: _Repeats

    @classmethod
    def of(cls, columns: Sequence[Mapping[RowKey, Cell]]) -> "_Pool":
        repeats = [{key: _repeats(cell) for key, cell in column.items()} for column in columns]
        shares = [any(cell.sessions for cell in column.values()) for column in columns]
        totals = []
        for column, is_shared in zip(repeats, shares, strict=True):
            total = sum(column.values(), _Repeats())
            once = max((one.worth for one in column.values()), default=0)
            totals.append(replace(total, worth=once) if is_shared else total)
        return cls(tuple(repeats), tuple(totals), tuple(shares), sum(totals, _Repeats()))

    def without(self, row: RowKey, *columns: int) -> tuple[float | None, float]:
        """sd of logs and degrees of freedom from all but the cells of these columns: they count anyway.

        Of columns with sessions nothing is left, because their other rows had the same ones.
        """
        rest = self.total
        for index in columns:
            shared = self.shares_sessions[index]
            rest -= self.totals[index] if shared else self.columns[index].get(row, _Repeats())
        sd = float(np.sqrt(max(rest.residual, 0) / rest.df)) if rest.df else 0.0
        return (sd, min(rest.worth, MOST_PRIOR_DF)) if sd > _NO_SCATTER else (None, 0)


def _repeats(cell: Cell) -> _Repeats:
    if cell.n == 1 or min(cell.values) <= 0:
        return _Repeats()
    logs = np.log(cell.independent)
    return _Repeats(float(((logs - logs.mean()) ** 2).sum()), len(logs) - 1, len(logs) - 1)


def _words(selector: Selector) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in _said(selector).items()) or "(empty)"
