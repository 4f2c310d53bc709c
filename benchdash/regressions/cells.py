"""The cells of a table of comparisons: what the included runs of one column measured in one row."""

import json
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from statistics import fmean, median
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from django.db import connection
from django.db.models import Q, QuerySet

from benchdash.database.subquery import subquery
from benchdash.regressions.detection import ToolInterval
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.scatter import Ints
from benchdash.results.models import Alias, IntervalSamples, Measurement, Run, Series, Workload
from benchdash.results.queries import Point
from benchdash.results.readings import Direction
from benchdash.results.sessions import sessions_of

_WITH_FORKS = "score"
_SAMPLE_MODE = " sample"  # how the names of JMH's workloads in that mode end

RowKey = tuple[str, int | None]
"""The name of a workload and a thread count."""

ColumnKey = tuple[int, str, int, int, str]
"""Id of a version, its branch, ids of hardware and configuration, and the counterpart."""


class Cell(NamedTuple):
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


PlaceKey = tuple[int, str, int, int, str]
"""Ids and names of product, build, hardware, configuration, counterpart: where histories are, whatever the
version and the branch.
"""

What = tuple[PlaceKey, str, RowKey]
"""A place, a metric, and a workload with its thread count."""

CellsOfMetric = dict[Hashable, dict[RowKey, Cell]]
"""By column and row."""


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


class SeriesRow(NamedTuple):
    """What comparisons need of a series; ``workload`` is its name."""

    id: int
    product_id: int
    build: str
    branch: str
    hardware_id: int
    configuration_id: int
    counterpart: str
    workload_id: int
    workload: str
    threads: int | None
    metric: str
    unit: str
    direction: Direction
    is_derived: bool

    @property
    def row(self) -> RowKey:
        return self.workload, self.threads

    @property
    def place(self) -> PlaceKey:
        return self.product_id, self.build, self.hardware_id, self.configuration_id, self.counterpart

    @property
    def what(self) -> What:
        return self.place, self.metric, self.row


_NAMES_OF_PLACE: Final = ("product", "build", "hardware", "configuration", "counterpart")
_NAMES_OF_COLUMN: Final = ("version", "branch", "hardware", "configuration", "counterpart")


def series_at(
    project_id: int,
    at: Collection[PlaceKey],
    *,
    metrics: Collection[str] = (),
    workloads: Collection[str] = (),
    threads: Collection[int | None] = (),
) -> list[SeriesRow]:
    """The series at these places, of all branches and lines; one statement.

    Without ``metrics`` of all that tools print. ``workloads`` are names, also old ones; empty, as of
    ``threads``: all.
    """
    anywhere = Q()
    for place in at:
        anywhere |= Q(**dict(zip(_NAMES_OF_PLACE, place, strict=True)))
    found = Series.objects.filter(anywhere, project=project_id)
    found = found.filter(metric__in=metrics) if metrics else found.filter(is_derived=False)
    if workloads:
        found = found.filter(workload__in=workloads_named(project_id, workloads))
    if threads:
        found = found.filter(threads_in(threads))
    return _rows_of(found)


def workloads_named(project_id: int, names: Collection[str]) -> QuerySet[Workload, Any]:
    """The ids of those that have these names, or had them."""
    renamed = Alias.objects.filter(project=project_id, name__in=names, workload__isnull=False)
    named = Q(name__in=names) | Q(pk__in=renamed.values("workload"))
    return Workload.objects.filter(named, project=project_id).order_by().values("pk")


def threads_in(threads: Collection[int | None]) -> Q:
    """Runs or series of these thread counts; None: of those where nobody said it."""
    counted = Q(threads__in=[count for count in threads if count is not None])
    return counted | Q(threads=None) if None in threads else counted


def _rows_of(found: QuerySet[Series]) -> list[SeriesRow]:
    names = ["workload__name" if name == "workload" else name for name in SeriesRow._fields]
    return list(map(SeriesRow._make, found.order_by().values_list(*names)))


# --- reading ----------------------------------------------------------------------------------------------

# Texts of bytes: as rows, the driver would make an object of each number.
# A prepared statement does not know how many runs and series it gets and expects a handful: it would go
# through all series for each run. A FULL JOIN is always hashed; what has no other side falls out after it.
_MEASURED: Final = """
    WITH run AS MATERIALIZED (
        SELECT chosen.*, series.id AS of_series
        FROM (
            SELECT id, version_id, branch, hardware_id, configuration_id, counterpart, workload_id, threads,
                started_at, environment_id, content_id, tags
            FROM results_run WHERE id IN (RUNS)
        ) chosen
        FULL JOIN unnest(%s::bigint[], %s::bigint[], %s::int[]) AS series (id, workload_id, threads)
            ON series.workload_id = chosen.workload_id
            AND (series.threads IS NULL OR series.threads = coalesce(chosen.threads, -1))
    )
    SELECT run.version_id, run.branch, run.hardware_id, run.configuration_id, run.counterpart,
        string_agg(int8send(measured.series_id), ''::bytea), string_agg(int8send(run.id), ''::bytea),
        string_agg(timestamptz_send(run.started_at), ''::bytea),
        string_agg(int8send(coalesce(run.environment_id, 0)), ''::bytea),
        string_agg(int8send(coalesce(run.content_id, 0)), ''::bytea),
        string_agg(float8send(measured.value), ''::bytea),
        string_agg(float8send(coalesce(measured.low, 'NaN')), ''::bytea),
        string_agg(float8send(coalesce(measured.high, 'NaN')), ''::bytea),
        json_object_agg(run.id, run.tags) FILTER (WHERE run.tags <> '{}')::text
    FROM run
    JOIN results_measurement measured ON measured.series_id = run.of_series AND measured.run_id = run.id
    GROUP BY run.version_id, run.branch, run.hardware_id, run.configuration_id, run.counterpart
"""
_KINDS: Final = (">i8", ">i8", ">i8", ">i8", ">i8", ">f8", ">f8", ">f8")


@dataclass(frozen=True, slots=True)
class _Values:
    """Measurements, an element each: ``columns`` are indexes of ``keys``; NaN where a tool said no interval.

    ``tags`` are by run, of those that have any.
    """

    keys: Sequence[ColumnKey]
    columns: Ints
    series: Ints
    runs: Ints
    started_us: Ints
    environments: Ints
    contents: Ints
    values: Floats
    low: Floats
    high: Floats
    tags: Mapping[int, Sequence[str]]


def _measured(runs: QuerySet[Run], series: Collection[SeriesRow]) -> _Values:
    """What the runs measured of these series; one statement."""
    chosen, parameters = subquery(runs.values("pk"))
    # A derived series is of runs of any thread count; of others a run has that of its own.
    threads = [None if one.is_derived else -1 if one.threads is None else one.threads for one in series]
    asked = [one.id for one in series], [one.workload_id for one in series], threads
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED.replace("RUNS", chosen), [*parameters, *asked])
        found: list[tuple[Any, ...]] = cursor.fetchall()
    series, of_runs, started, environments, contents, values, low, high = (
        np.frombuffer(b"".join(row[at] for row in found), kind).astype(kind[1:])
        for at, kind in enumerate(_KINDS, start=5)
    )
    return _Values(
        keys=[row[:5] for row in found],
        columns=np.repeat(np.arange(len(found)), [len(row[5]) // 8 for row in found]),
        series=series,
        runs=of_runs,
        started_us=started,
        environments=environments,
        contents=contents,
        values=values,
        low=low,
        high=high,
        tags={int(run): told for row in found if row[-1] for run, told in json.loads(row[-1]).items()},
    )


def cells_of_columns(
    runs: QuerySet[Run], keys: Collection[ColumnKey], series: Iterable[SeriesRow]
) -> dict[str, CellsOfMetric]:
    """The cells of these columns by metric, column and row, of what these series have; one statement, three
    with scores.
    """
    parts = zip(_NAMES_OF_COLUMN, zip(*keys, strict=True), strict=True)
    at_places = runs.filter(**{f"{name}__in": set(values) for name, values in parts})
    branches = {key[1] for key in keys}
    known = {one.id: one for one in series if one.branch in branches}
    values = _measured(at_places, known.values())
    of_key = [at if key in keys else _NOWHERE for at, key in enumerate(values.keys)]
    rows, row_of = _coded([known[pk].row for pk in values.series.tolist()])
    columns = np.array(of_key, dtype=np.int64)[values.columns]
    return _cells(values, known, columns=(columns, values.keys), rows=(rows, row_of))


def cells_of_two_runs(
    base: Run, other: Run, row: RowKey, series: Iterable[SeriesRow]
) -> dict[str, CellsOfMetric]:
    """The cells of that row by metric and the id of the run, of what these series have."""
    runs = Run.objects.filter(pk__in=[base.pk, other.pk])
    known = {one.id: one for one in series}
    values = _measured(runs, known.values())
    in_row = np.zeros(len(values.runs), np.int64), [row]
    return _cells(values, known, columns=_coded(values.runs.tolist()), rows=in_row)


def cells_of_runs(
    runs: QuerySet[Run], known: Mapping[int, SeriesRow], of_run: Mapping[int, tuple[Hashable, str]]
) -> CellsOfMetric:
    """The cells of the columns that runs are put into, by row, of the series of one metric, which are by id;
    one statement, three for a score.

    ``of_run`` gives, by the id of a run, its column and the name of its row; runs that it lacks do not count.
    """
    values = _measured(runs, known.values())
    columns, column_of = _coded([of_run[run][0] if run in of_run else None for run in values.runs.tolist()])
    if None in column_of:
        columns[columns == column_of.index(None)] = _NOWHERE
    rows = _coded(
        [
            (of_run[run][1] if run in of_run else "", known[pk].threads)
            for run, pk in zip(values.runs.tolist(), values.series.tolist(), strict=True)
        ]
    )
    by_metric = _cells(values, known, columns=(columns, column_of), rows=rows)
    return next(iter(by_metric.values()), {})


def series_of(runs: QuerySet[Run], metric: str) -> dict[int, SeriesRow]:
    """By id, those of one metric that runs have."""
    measured = Measurement.objects.filter(run__in=runs.order_by()).order_by()
    found = Series.objects.filter(metric=metric, pk__in=measured.values("series"))
    return {one.id: one for one in _rows_of(found)}


_Name = TypeVar("_Name", bound=Hashable)
_NOWHERE: Final = -1


def _coded(names: Sequence[_Name]) -> tuple[Ints, list[_Name]]:
    """Indexes of the distinct names, and these."""
    codes: dict[_Name, int] = {}
    found = np.fromiter((codes.setdefault(name, len(codes)) for name in names), np.int64, len(names))
    return found, list(codes)


def _cells(
    values: _Values,
    series: Mapping[int, SeriesRow],
    *,
    columns: tuple[Ints, Sequence[Hashable]],
    rows: tuple[Ints, Sequence[RowKey]],
) -> dict[str, CellsOfMetric]:
    """The cells by metric, column and row; these are indexes of names, of each value, or _NOWHERE.

    Where one version was measured under several environments or contents, the newest counts.
    """
    metrics, metric_of = _coded([series[pk].metric for pk in values.series.tolist()])
    parts = np.stack((metrics, columns[0], rows[0]))
    in_order = np.lexsort((values.runs, values.started_us, *parts[::-1]))
    in_order = in_order[columns[0][in_order] != _NOWHERE]
    parts = parts[:, in_order]
    begins = np.ones(len(in_order), dtype=bool)
    begins[1:] = (parts[:, 1:] != parts[:, :-1]).any(axis=0)
    starts = np.flatnonzero(begins)
    of_cell = np.cumsum(begins) - 1
    latest = in_order[np.append(starts[1:], len(in_order))[: len(starts)] - 1]
    counts = (values.environments[in_order] == values.environments[latest][of_cell]) & (
        values.contents[in_order] == values.contents[latest][of_cell]
    )
    n = np.bincount(of_cell[counts], minlength=len(starts))
    ends = np.cumsum(n)
    numbers, runs = values.values[in_order][counts].tolist(), values.runs[in_order][counts].tolist()
    cells: dict[str, CellsOfMetric] = defaultdict(lambda: defaultdict(dict))
    for (metric, column, row), first, end, low, high, pk in zip(
        parts[:, starts].T.tolist(),
        (ends - n).tolist(),
        ends.tolist(),
        values.low[latest].tolist(),
        values.high[latest].tolist(),
        values.series[latest].tolist(),
        strict=True,
    ):
        cells[metric_of[metric]][columns[1][column]][rows[1][row]] = _cell(
            numbers[first:end], runs[first:end], (low, high), series[pk], values.tags
        )
    if _WITH_FORKS in cells:
        cells[_WITH_FORKS] = _with_forks(cells[_WITH_FORKS])
    return cells


def _cell(
    values: Sequence[float],
    runs: Sequence[int],
    told: tuple[float, float],
    series: SeriesRow,
    tags: Mapping[int, Sequence[str]],
) -> Cell:
    """``told`` is the tool's interval of a single run. Several get theirs when the noise of the whole table
    is known.
    """
    low, high = (None if isnan(end) or len(values) > 1 else end for end in told)
    sessions: tuple[str, ...] = ()
    if tags and any(run in tags for run in runs):
        sessions = sessions_of([(run, tags.get(run, ())) for run in runs])
    return Cell(
        value=values[0] if len(values) == 1 else median(values),
        n=len(values),
        low=low,
        high=high,
        values=tuple(values),
        tool_interval=None if low is None or high is None else ToolInterval(low, high),
        series_id=series.id,
        run_id=runs[-1],
        unit=series.unit,
        direction=series.direction,
        sessions=sessions,
    )


def _with_forks(cells: CellsOfMetric) -> CellsOfMetric:
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
        return cell._replace(forks=forks.get(cell.run_id, ()))

    return {
        column: {row: known(row[0], cell) for row, cell in rows.items()} for column, rows in cells.items()
    }


def _with_counts(cell: Cell, options: Mapping[str, Any], *, of_samples: bool) -> Cell:
    """``of_samples``: the error is over so many single operations that their number does not matter."""
    forks, iterations = options.get("forks"), options.get("measurement_iterations")
    tool = cell.tool_interval
    if tool and isinstance(forks, int) and isinstance(iterations, int) and not of_samples:
        tool = replace(tool, samples=forks * iterations)
    return cell._replace(tool_interval=tool, forks=(cell.value,) if forks == 1 else ())


def _fork_means(samples: IntervalSamples) -> tuple[float, ...]:
    if not {"fork", "score"} <= set(samples.columns):
        return ()
    fork, score = samples.columns.index("fork"), samples.columns.index("score")
    scores: dict[float | None, list[float]] = defaultdict(list)
    for row in samples.rows:
        if (value := row[score]) is not None:
            scores[row[fork]].append(value)
    return tuple(map(fmean, scores.values()))
