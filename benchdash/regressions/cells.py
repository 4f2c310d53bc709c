"""The cells of a table of comparisons: what the included runs of one column measured in one row."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import F, FloatField, Func, Q, QuerySet

from benchdash.regressions.detection import ToolInterval
from benchdash.results.models import IntervalSamples, Measurement, Run, Series
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


class _Value(NamedTuple):
    """One measurement with its place in a table, and what decides whether it counts."""

    column: ColumnKey
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


def cells_of_runs(
    runs: QuerySet[Run], metric: str, of_run: Mapping[int, tuple[Hashable, str]]
) -> CellsOfMetric:
    """The cells of the columns that runs are put into, by row; one statement, two for a score.

    ``of_run`` gives, by the id of a run, its column and the name of its row; runs that it lacks do not count.
    """

    def place(one: _Value) -> tuple[Hashable, RowKey]:
        column, row = of_run[one.run_id]
        return column, (row, one.row[1])

    values = (one for one in _measured(runs, metric) if one.run_id in of_run)
    return _cells(values, place=place).get(metric, {})


def cells_of_two_runs(base: Run, other: Run, row: RowKey) -> dict[str, CellsOfMetric]:
    """The cells of that row by metric and the id of the run."""
    runs = Run.objects.filter(pk__in=[base.pk, other.pk])
    return _cells(_measured(runs), place=lambda one: (one.run_id, row))


def cells_of_columns(
    runs: QuerySet[Run], keys: Collection[ColumnKey], metric: str = ""
) -> dict[str, CellsOfMetric]:
    """The cells of these columns by metric, column and row; without ``metric`` all that tools print."""
    names = ("version", "branch", "hardware", "configuration", "counterpart")
    parts = zip(names, zip(*keys, strict=True), strict=True)
    at_places = runs.filter(**{f"{name}__in": set(values) for name, values in parts})
    values = _measured(at_places, metric)
    return _cells((one for one in values if one.column in keys), place=lambda one: (one.column, one.row))


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
) -> dict[str, CellsOfMetric]:
    """The cells by metric, column and row; ``place`` tells column and row of a value."""
    groups: dict[tuple[str, Hashable, RowKey], list[_Value]] = defaultdict(list)
    for one in values:
        groups[(one.metric, *place(one))].append(one)
    cells: dict[str, CellsOfMetric] = defaultdict(lambda: defaultdict(dict))
    for (metric, column, row), group in groups.items():
        cells[metric][column][row] = _cell(group)
    if _WITH_FORKS in cells:
        cells[_WITH_FORKS] = _with_forks(cells[_WITH_FORKS])
    return cells


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
