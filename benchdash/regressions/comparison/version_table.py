"""Versions against each other: a table of workloads and thread counts by versions, relative to a base."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import (
    Cell,
    CellsOfMetric,
    ColumnKey,
    RowKey,
    SeriesRow,
    cells_of_columns,
    cells_of_two_runs,
    series_at,
    threads_in,
    workloads_named,
)
from benchdash.regressions.comparison.noise_floors import Floors, NoiseFloors, noise_floors, of_two_places
from benchdash.regressions.comparison.rows import (
    GroupSummary,
    Noise,
    Pairs,
    RelativeTo,
    Row,
    compared_rows,
    group_summaries,
    summary_of,
)
from benchdash.regressions.detection.compare import EQUIVALENT
from benchdash.regressions.options import equivalence_margin
from benchdash.results.models import Run, ServerVersion
from benchdash.results.place import Place
from benchdash.results.points import MeasuredVersion, measured_versions
from benchdash.results.queries import measured_places
from benchdash.results.readings import DERIVED, Direction
from benchdash.results.version_places import versions_at
from benchdash.results.versions import parse_version
from benchdash.results.workload_groups import Grouping, grouping_of

MAX_CANDIDATES = 20


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
    def key(self) -> ColumnKey:
        return self.version.pk, self.branch, self.hardware_id, self.configuration_id, self.counterpart

    @property
    def place(self) -> Place:
        """Where its histories are, whatever the version and the branch."""
        product = self.version.product
        return Place(
            project_id=product.project_id,
            product_id=product.pk,
            build=self.version.build,
            branch="",
            line="",
            hardware_id=self.hardware_id,
            configuration_id=self.configuration_id,
            counterpart=self.counterpart,
        )


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
    sides = _Sides(*chosen_columns(runs, base, against, filters or {}))
    series = sides.series([metric], workloads, () if metric in DERIVED else threads)
    terms = _Terms(_margin(project, margin), relative_to, grouping_of(project))
    return _table(runs, series, metric, sides, terms)


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
    sides = _Sides(base, columns)
    series = sides.series([metric], workloads, () if metric in DERIVED else threads)
    return _table(runs, series, metric, sides, _Terms(_margin(project, None), relative_to, grouping))


def compare_all_metrics(
    project: Project,
    *,
    base: Column,
    columns: Sequence[Column],
    metrics: Sequence[str] | None = None,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> list[ComparisonTable]:
    """A table for each of these metrics that any of the columns has, by name; a constant number of
    statements. None: all that tools print; derived ones are compared one at a time.
    """
    if metrics is not None and not metrics:
        return []
    sides = _Sides(base, columns)
    series = sides.series(metrics or (), workloads, threads)
    runs = included_runs(project, workloads=workloads, threads=threads)
    by_metric = cells_of_columns(runs, sides.keys, series)
    terms, floors = _Terms(_margin(project, None)), _floors(series, by_metric)
    return [
        _table_of(metric, sides, [cells.get(key, {}) for key in sides.keys], terms, floors)
        for metric, cells in sorted(by_metric.items())
    ]


def compare_runs(base: Run, other: Run) -> list[ComparisonTable]:
    """A table of one row for each metric that two runs have, by name; a constant number of statements.

    The row is that of the base, whatever the workload and the thread count of the other are.
    """
    row = base.workload.name, base.threads
    sides = _Sides(column_of(base), [column_of(other)])
    series = sides.series(
        (), [run.workload.name for run in (base, other)], [run.threads for run in (base, other)]
    )
    by_metric = cells_of_two_runs(base, other, row, series)
    terms, floors = _Terms(_margin(base.project, None)), _floors(series, by_metric)
    return [
        _table_of(metric, sides, [cells.get(run.pk, {}) for run in (base, other)], terms, floors)
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


def resolve(runs: QuerySet[Run], selector: Selector, *, field: str) -> Column:
    """The one column that a selector means among the runs. Raises SelectorError for ``field``."""
    found = columns_of_runs(runs.filter(_conditions(selector)))
    if not found:
        raise SelectorError("no run fits the selector " + _words(selector), field=field)
    if len(found) > 1:
        candidates = [column.as_json() for column in found[:MAX_CANDIDATES]]
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
        return columns_at(measured_places(project))
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
        runs = runs.filter(workload__in=workloads_named(project.pk, workloads))
    if metric in DERIVED:
        return runs.none() if threads and None not in threads else runs
    return runs.filter(threads_in(threads)) if threads else runs


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
    return columns_at(list(runs.order_by().values_list(*_PLACE).distinct()))


def columns_at(places: Sequence[tuple[Any, ...]]) -> list[Column]:
    """In the order of versions, from rows with what _PLACE names; one statement."""
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
    """Of its product, at its place, in the order of versions; two statements."""
    product = base.version.product
    place = base.branch, base.hardware_id, base.configuration_id, base.counterpart
    ids = versions_at(runs, product.project_id, product.pk, place)
    versions = measured_versions(set(ids) - {base.version.pk}).values()
    return sorted((base._replace(version=one) for one in versions), key=_order)


def _margin(project: Project, asked: float | None) -> float:
    return equivalence_margin(project) if asked is None else asked


@dataclass(frozen=True, slots=True)
class _Terms:
    """How the columns of a table are compared, and its rows grouped."""

    margin: float
    relative_to: RelativeTo = "base"
    grouping: Grouping | None = None


@dataclass(frozen=True, slots=True)
class _Sides:
    """The columns of a table: the base, and those against it."""

    base: Column
    columns: Sequence[Column]

    @property
    def all(self) -> list[Column]:
        return [self.base, *self.columns]

    @property
    def keys(self) -> list[ColumnKey]:
        return [column.key for column in self.all]

    def series(
        self, metrics: Sequence[str], workloads: Sequence[str], threads: Sequence[int | None]
    ) -> list[SeriesRow]:
        """What is measured at their places, and tells the noise there; see ``series_at``."""
        project_id = self.base.version.product.project_id
        places = {column.place for column in self.all}
        return series_at(project_id, places, metrics=metrics, workloads=workloads, threads=threads)


def _table(
    runs: QuerySet[Run], series: Sequence[SeriesRow], metric: str, sides: _Sides, terms: _Terms
) -> ComparisonTable:
    by_metric = cells_of_columns(runs, sides.keys, series)
    if not by_metric:
        raise SelectorError(f"nothing of these versions has the metric {metric!r}", field="metric")
    cells = [by_metric[metric].get(key, {}) for key in sides.keys]
    return _table_of(metric, sides, cells, terms, _floors(series, by_metric) if sides.columns else None)


def _floors(series: Sequence[SeriesRow], cells: Mapping[str, CellsOfMetric]) -> NoiseFloors:
    """What histories know of everything in tables of these cells, which are by metric."""
    known = {
        metric: {row for rows in of_metric.values() for row in rows} for metric, of_metric in cells.items()
    }
    return noise_floors([one for one in series if one.row in known.get(one.metric, ())])


def _noise(
    floors: NoiseFloors,
    metric: str,
    columns: Sequence[Column],
    cells: Sequence[Mapping[RowKey, Cell]],
) -> Noise:
    """Of two places both must know it."""
    place_of: dict[Place, int] = {}
    place = np.array([place_of.setdefault(column.place, len(place_of)) for column in columns])
    key_of: dict[ColumnKey, int] = {}
    key = np.array([key_of.setdefault(column.key, len(key_of)) for column in columns])
    version = np.array([column.version.pk for column in columns])

    def noise(pairs: Pairs) -> Floors:
        at = [(one, metric, row) for one in place_of for row in pairs.keys]
        before, after = pairs.before, pairs.after
        versions = np.stack((version[before], version[after]), axis=1)
        # Two nights of one version are two groups of many, and without its version nothing would be left.
        versions[key[before] == key[after]] = 0
        left = floors.floors(at, place[before] * len(pairs.keys) + pairs.rows, versions)
        if len(place_of) == 1:
            return left
        right = floors.floors(at, place[after] * len(pairs.keys) + pairs.rows, versions)
        runs = np.array([(cells[one][row].n, cells[other][row].n) for row, one, other in pairs.each()])
        of_both = of_two_places(left, right, runs=(runs[:, 0], runs[:, 1]))
        return left.where(place[before] == place[after], of_both)

    return noise


def _table_of(
    metric: str,
    sides: _Sides,
    cells: Sequence[Mapping[RowKey, Cell]],
    terms: _Terms,
    floors: NoiseFloors | None,
) -> ComparisonTable:
    """``cells`` are of the base and of each column."""
    grouping = terms.grouping
    rows = compared_rows(
        cells[0],
        cells[1:],
        noise=_noise(floors, metric, sides.all, cells) if floors else None,
        margin=terms.margin,
        relative_to=terms.relative_to,
        group_of=grouping.of if grouping else None,
    )
    return ComparisonTable(
        metric=metric,
        unit=rows[0].unit,
        direction=rows[0].direction,
        base=sides.base,
        columns=tuple(sides.columns),
        rows=tuple(rows),
        geomean=summary_of(rows).geomean,
        margin=terms.margin,
        groups=group_summaries(rows, grouping.names) if grouping else (),
    )


def _words(selector: Selector) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in _said(selector).items()) or "(empty)"
