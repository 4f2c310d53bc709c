"""Versions against each other: a table of workloads and thread counts by versions, relative to a base."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.detection import (
    Comparison,
    ToolInterval,
    adjusted,
    compare_samples,
    median_interval,
)
from benchdash.results.models import Measurement, Run, Series, ServerVersion
from benchdash.results.readings import Direction

_MOST_CANDIDATES = 20


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


@dataclass(frozen=True, slots=True)
class Column:
    """One version at one place: what a selector means in the end."""

    version: ServerVersion
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


@dataclass(frozen=True, slots=True)
class Cell:
    """The included runs of one column at one workload and thread count.

    ``value`` is their median; ``low`` and ``high`` the 95 % interval of the level, the tool's where n = 1.
    ``series_id`` and ``run_id`` (the latest) lead to the evidence.
    """

    value: float
    n: int
    low: float | None
    high: float | None
    values: tuple[float, ...]
    tool_interval: ToolInterval | None
    series_id: int
    run_id: int


@dataclass(frozen=True, slots=True)
class Row:
    """``cells[i]`` and ``comparisons[i]`` belong to column i; None where it (or the base) has no runs."""

    workload: str
    threads: int | None
    group: str | None
    base: Cell | None
    cells: tuple[Cell | None, ...]
    comparisons: tuple[Comparison | None, ...]


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    metric: str
    unit: str
    direction: Direction
    base: Column
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    geomean: tuple[float | None, ...]


def compare(
    project: Project,
    *,
    metric: str,
    base: Selector,
    against: Sequence[Selector] = (),
    filters: Mapping[str, str] | None = None,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> ComparisonTable:
    """The table of the columns ``against`` relative to ``base``; by default all versions of its product.

    ``filters`` complete the selectors; ``workloads`` and ``threads`` choose rows, empty means all.
    Raises SelectorError where a selector is ambiguous or nothing fits.
    """
    filters = filters or {}
    runs = _runs(project, workloads=workloads, threads=threads)
    base_column = resolve(runs, base.completed_by(filters), field="base")
    if against:
        columns = [resolve(runs, selector.completed_by(filters), field="against") for selector in against]
    else:
        columns = _other_versions(runs, base_column)
    cells, unit, direction = _cells(runs, metric, {base_column.key, *(column.key for column in columns)})
    rows = _rows(cells, base_column, columns, direction)
    return ComparisonTable(
        metric=metric,
        unit=unit,
        direction=direction,
        base=base_column,
        columns=tuple(columns),
        rows=tuple(rows),
        geomean=tuple(_geometric_mean(rows, index) for index in range(len(columns))),
    )


def resolve(runs: QuerySet[Run], selector: Selector, *, field: str) -> Column:
    """The one column that a selector means among the runs. Raises SelectorError for ``field``."""
    found = _columns(runs.filter(**_conditions(selector)))
    if not found:
        raise SelectorError("no run fits the selector " + _words(selector), field=field)
    if len(found) > 1:
        candidates = [column.as_json() for column in found[:_MOST_CANDIDATES]]
        raise SelectorError(
            f"the selector {_words(selector)} fits {len(found)} columns; say more", candidates, field=field
        )
    return found[0]


def columns_of(project: Project, selector: Selector) -> list[Column]:
    """Every version at every place that fits, in the order of versions."""
    return _columns(_runs(project).filter(**_conditions(selector)))


def _runs(
    project: Project, *, workloads: Sequence[str] = (), threads: Sequence[int | None] = ()
) -> QuerySet[Run]:
    runs = Run.objects.filter(project=project, excluded_at=None)
    if workloads:
        runs = runs.filter(workload__name__in=workloads)
    if threads:
        counts = [count for count in threads if count is not None]
        wanted = runs.filter(threads__in=counts)
        runs = wanted | runs.filter(threads=None) if None in threads else wanted
    return runs


def _conditions(selector: Selector) -> dict[str, Any]:
    names = {
        "id": "version",
        "product": "version__product__name",
        "version": "version__version",
        "build": "version__build",
        "commit": "version__commit__startswith",
        "branch": "branch",
        "hardware": "hardware__name",
        "configuration": "configuration__name",
        "counterpart": "counterpart",
    }
    chosen = {one.name: getattr(selector, one.name) for one in fields(selector)}
    return {names[name]: value for name, value in chosen.items() if value is not None}


_PLACE = (
    "version",
    "branch",
    "hardware",
    "hardware__name",
    "configuration",
    "configuration__name",
    "counterpart",
)


def _columns(runs: QuerySet[Run]) -> list[Column]:
    places = list(runs.order_by().values_list(*_PLACE).distinct())
    versions = ServerVersion.objects.select_related("product").in_bulk({place[0] for place in places})
    columns = [
        Column(
            version=versions[version],
            branch=branch,
            hardware=hardware,
            configuration=configuration,
            counterpart=counterpart,
            hardware_id=hardware_id,
            configuration_id=configuration_id,
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
    return [column for column in _columns(at_its_place) if column.key != base.key]


@dataclass(frozen=True, slots=True)
class _Value:
    """One measurement with what decides whether it counts."""

    series_id: int
    run_id: int
    started_at: datetime
    surroundings: tuple[int | None, int | None]
    value: float
    low: float | None
    high: float | None


_ColumnKey = tuple[int, str, int, int, str]
_RowKey = tuple[str, int | None]


def _cells(
    runs: QuerySet[Run], metric: str, columns: set[_ColumnKey]
) -> tuple[dict[_ColumnKey, dict[_RowKey, Cell]], str, Direction]:
    """The cells of every column by row, and the unit and direction of the metric."""
    measured = (
        Measurement.objects.filter(
            run__in=runs.filter(version__in={key[0] for key in columns}).order_by(), series__metric=metric
        )
        .order_by()
        .values_list(
            "run__version",
            "run__branch",
            "run__hardware",
            "run__configuration",
            "run__counterpart",
            "series__workload__name",
            "run__threads",
            "series",
            "run",
            "run__started_at",
            "run__environment",
            "run__content",
            "value",
            "low",
            "high",
        )
    )
    values: dict[_ColumnKey, dict[_RowKey, list[_Value]]] = defaultdict(lambda: defaultdict(list))
    for *key, workload, threads, series, run, started_at, environment, content, value, low, high in measured:
        if (column := (key[0], key[1], key[2], key[3], key[4])) in columns:
            one = _Value(series, run, started_at, (environment, content), value, low, high)
            values[column][workload, threads].append(one)
    cells = {column: {row: _cell(group) for row, group in rows.items()} for column, rows in values.items()}
    any_cell = next((cell for rows in cells.values() for cell in rows.values()), None)
    if any_cell is None:
        raise SelectorError(f"nothing of these versions has the metric {metric!r}", field="metric")
    of_metric = Series.objects.get(pk=any_cell.series_id)
    return cells, of_metric.unit, of_metric.better


def _cell(values: Sequence[_Value]) -> Cell:
    """Where one version was measured under several environments or contents, the newest counts."""
    latest = max(values, key=lambda one: (one.started_at, one.run_id))
    counting = [one for one in values if one.surroundings == latest.surroundings]
    numbers = tuple(one.value for one in counting)
    interval = median_interval(numbers) if len(numbers) > 1 else None
    tool = None
    if len(numbers) == 1 and latest.low is not None and latest.high is not None:
        interval = latest.low, latest.high
        tool = ToolInterval(latest.low, latest.high)
    low, high = interval or (None, None)
    return Cell(
        value=float(np.median(numbers)),
        n=len(numbers),
        low=low,
        high=high,
        values=numbers,
        tool_interval=tool,
        series_id=latest.series_id,
        run_id=latest.run_id,
    )


def _rows(
    cells: Mapping[_ColumnKey, Mapping[_RowKey, Cell]],
    base: Column,
    columns: Sequence[Column],
    direction: Direction,
) -> list[Row]:
    noise, df = _pooled_noise(cell for rows in cells.values() for cell in rows.values())
    keys = sorted(
        {key for rows in cells.values() for key in rows},
        key=lambda key: (key[0], -1 if key[1] is None else key[1]),
    )
    bases = [cells.get(base.key, {}).get(key) for key in keys]
    table = [[cells.get(column.key, {}).get(key) for column in columns] for key in keys]
    compared = {
        (row, column): compare_samples(
            base_cell.values,
            cell.values,
            direction=direction,
            base_interval=base_cell.tool_interval,
            other_interval=cell.tool_interval,
            history_sd=noise,
            history_df=df,
        )
        for row, base_cell in enumerate(bases)
        for column, cell in enumerate(table[row])
        if base_cell and cell
    }
    verdicts = dict(zip(compared, adjusted(list(compared.values()), direction=direction), strict=True))
    return [
        Row(
            workload=workload,
            threads=threads,
            group=None,
            base=bases[row],
            cells=tuple(table[row]),
            comparisons=tuple(verdicts.get((row, column)) for column in range(len(columns))),
        )
        for row, (workload, threads) in enumerate(keys)
    ]


def _pooled_noise(cells: Iterable[Cell]) -> tuple[float | None, float]:
    """Scatter of repeats over the whole table, as the sd of their logs, and its degrees of freedom.

    What a cell with one run is judged by: the noise of its neighbours on the same machines.
    """
    residual, df = 0.0, 0
    for cell in cells:
        if cell.n > 1 and min(cell.values) > 0:
            logs = np.log(cell.values)
            residual += float(((logs - logs.mean()) ** 2).sum())
            df += cell.n - 1
    return (float(np.sqrt(residual / df)), df) if df and residual > 0 else (None, 0)


def _geometric_mean(rows: Sequence[Row], column: int) -> float | None:
    ratios = [
        one.ratio for row in rows if (one := row.comparisons[column]) is not None and one.ratio is not None
    ]
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else None


def _words(selector: Selector) -> str:
    said = {one.name: getattr(selector, one.name) for one in fields(selector)}
    return ", ".join(f"{name}={value!r}" for name, value in said.items() if value is not None) or "(empty)"
