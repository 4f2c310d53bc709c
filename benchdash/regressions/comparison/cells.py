"""The cells of a table of comparisons: what the included runs of one column measured in one row."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import isnan, nan, sqrt
from statistics import fmean
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from django.conf import settings
from django.db.models import Min, Q, QuerySet, Subquery

from benchdash.regressions.detection.counts import Counts
from benchdash.regressions.detection.noise import Floats, Ints
from benchdash.regressions.detection.scatter import ToolInterval
from benchdash.regressions.watched_metrics import Counted, counted, run_lengths
from benchdash.results.controls import control_build, is_control
from benchdash.results.models import Alias, IntervalSamples, Run, Series, Workload
from benchdash.results.place import Place
from benchdash.results.points import (
    MeasuredVersion,
    Measurements,
    medians,
    read_measurements_of_runs,
    sort_into_groups,
)
from benchdash.results.readings import Direction
from benchdash.results.sessions import has_receipts, rest_on_receipts
from benchdash.results.versions import sort_key

_WITH_FORKS = "score"
_SAMPLE_MODE = " sample"  # how the names of JMH's workloads in that mode end

RowKey = tuple[str, int | None]
"""The name of a workload and a thread count."""

ColumnKey = tuple[int, str, int, int, str]
"""Id of a version, its branch, ids of hardware and configuration, and the counterpart."""


Span = tuple[float, float]


class CountedEvents(NamedTuple):
    """The events of each session of a cell whose values are their rates, and what they are."""

    counts: Counts
    what: Counted


class Cell(NamedTuple):
    """The included runs of one column at one workload and thread count.

    ``value`` is their median; ``low`` and ``high`` the 95 % interval of the level, the tool's where n = 1.
    ``tool_interval`` is what the tool's own error leaves of the mean of the runs. ``sessions`` names that of
    each value and ``spans`` says when it began and when its last run started (epoch seconds), where that is
    known; ``machine`` is the id of the hardware, and ``of_branch`` tells where runs are sent as they are
    measured. ``forks`` are the mean scores of the forks of a single JMH
    run. ``events`` are there where the values are rates of what is counted. ``series_id`` and ``run_id`` (the
    latest) lead to the evidence.
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
    spans: tuple[Span, ...] = ()
    machine: int = 0
    printed_unit: str = ""
    of_branch: bool = False
    events: CountedEvents | None = None

    @property
    def independent(self) -> int:
        """The number of sessions."""
        return len(set(self.sessions))

    @property
    def span(self) -> Span:
        """When its first session began and the last run of its last one started."""
        # Runs are in the order of their starts.
        return self.spans[0][0], self.spans[-1][1]


def rests_on_receipts(*cells: Cell) -> bool:
    """Tell whether sessions of cells that are compared do not count, because their starts are assumed."""
    assumed = [cell for cell in cells if has_receipts(cell.sessions)]
    of_branch = all(cell.of_branch for cell in assumed)
    return bool(assumed) and rest_on_receipts([cell.sessions for cell in assumed], of_branch=of_branch)


What = tuple[Place, str, RowKey]
"""A place of every stream, a metric, and a workload with its thread count."""

CellsOfMetric = dict[Hashable, dict[RowKey, Cell]]
"""The cells of one metric by column and row."""


class SeriesRow(NamedTuple):
    """The columns of a series that comparisons need; ``workload`` is its name."""

    id: int
    project_id: int
    product_id: int
    build: str
    branch: str
    line: str
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
    printed_unit: str

    @property
    def pk(self) -> int:
        return self.id

    @property
    def row(self) -> RowKey:
        return self.workload, self.threads

    @property
    def place(self) -> Place:
        return Place.of(self).of_every_stream

    @property
    def what(self) -> What:
        return self.place, self.metric, self.row


_NAMES_OF_COLUMN: Final = ("version", "branch", "hardware", "configuration", "counterpart")


def series_at(
    project_id: int,
    places: Collection[Place],
    *,
    metrics: Collection[str] = (),
    workloads: Collection[str] = (),
    threads: Collection[int | None] = (),
) -> list[SeriesRow]:
    """List the series at these places, of all branches and lines, and of controls beside; one statement.

    Without ``metrics`` of all that tools print. ``workloads`` are names, also old ones; empty, as of
    ``threads``: all.
    """
    anywhere = Q()
    for place in {*places, *(one._replace(build=control_build(one.build)) for one in places)}:
        of_streams = place._asdict()
        del of_streams["branch"], of_streams["line"]
        anywhere |= Q(**of_streams)
    found = Series.objects.filter(anywhere, project=project_id)
    found = found.filter(metric__in=metrics) if metrics else found.filter(is_derived=False)
    if workloads:
        found = found.filter(workload__in=workloads_named(project_id, workloads))
    if threads:
        found = found.filter(threads_in(threads))
    return _rows_of(found)


def workloads_named(project_id: int, names: Collection[str]) -> QuerySet[Workload, Any]:
    """Return the ids of the workloads that have these names, or had them."""
    renamed = Alias.objects.filter(project=project_id, name__in=names, workload__isnull=False)
    named = Q(name__in=names) | Q(pk__in=renamed.values("workload"))
    return Workload.objects.filter(named, project=project_id).order_by().values("pk")


def threads_in(threads: Collection[int | None], field: str = "threads") -> Q:
    """Return a condition for runs or series of these thread counts; None: of those where nobody said it."""
    counted = Q(**{f"{field}__in": [count for count in threads if count is not None]})
    return counted | Q(**{field: None}) if None in threads else counted


def _rows_of(found: QuerySet[Series]) -> list[SeriesRow]:
    names = ["workload__name" if name == "workload" else name for name in SeriesRow._fields]
    return list(map(SeriesRow._make, found.order_by().values_list(*names)))


# --- cells ------------------------------------------------------------------------------------------------


class Control(NamedTuple):
    """The column of a control: a version at a place, whatever stream and commit it was sent with."""

    place: Place
    version: str

    @property
    def order(self) -> tuple[str, str]:
        return sort_key(self.version), self.version


def cells_of_columns(
    runs: QuerySet[Run], keys: Collection[ColumnKey], series: Iterable[SeriesRow]
) -> dict[str, CellsOfMetric]:
    """Make the cells of columns by metric, column and row, of what these series have; and those of controls.

    One statement, three with scores.
    """
    parts = {
        f"{name}__in": set(values)
        for name, values in zip(_NAMES_OF_COLUMN, zip(*keys, strict=True), strict=True)
    }
    branches = parts["branch__in"]
    known = [one for one in series if one.branch in branches or is_control(one.build)]
    measured = read_measurements_of_runs(with_controls(runs, Q(**parts), known), known)
    versions = measured.runs.versions

    def name(version: MeasuredVersion, one: SeriesRow) -> Hashable:
        # A run shares all of its column but the version with its series.
        key = version.pk, one.branch, one.hardware_id, one.configuration_id, one.counterpart
        return key if key in keys else _control(version, one)

    both = measured.series * len(versions) + measured.runs.version[measured.run]
    distinct, of_column = np.unique(both, return_inverse=True)
    pairs = (divmod(pair, len(versions)) for pair in distinct.tolist())
    column, column_of = _coded([name(versions[version], known[at]) for at, version in pairs])
    row, row_of = _coded([one.row for one in known])
    return _cells(measured, known, (column[of_column], column_of), (row[measured.series], row_of))


def cells_of_runs(
    runs: QuerySet[Run],
    series: Sequence[SeriesRow],
    place: Callable[[int, SeriesRow], tuple[Hashable, RowKey] | None],
) -> dict[str, CellsOfMetric]:
    """Make the cells by metric, column and row, of what these series have; one statement, three with scores.

    ``place`` gives column and row of the id of a run and a series; None: it does not count, unless it is of
    a control.
    """
    measured = read_measurements_of_runs(runs, series)
    versions = measured.runs.versions

    def placed(run: int, at: int, version: int) -> tuple[Hashable, RowKey]:
        one = series[at]
        return place(run, one) or (_control(versions[version], one), one.row)

    places = [
        placed(*measurement)
        for measurement in zip(
            measured.run_ids.tolist(),
            measured.series.tolist(),
            measured.runs.version[measured.run].tolist(),
            strict=True,
        )
    ]
    columns, rows = _coded([column for column, _ in places]), _coded([row for _, row in places])
    return _cells(measured, series, columns, rows)


def with_controls(
    runs: QuerySet[Run], own: Q, series: Iterable[SeriesRow], *, since: datetime | None = None
) -> QuerySet[Run]:
    """Return of these runs the ``own`` ones, and those of the controls among these series beside them.

    A control that ended before the first of the own runs began, or ``since``, stands beside none.
    """
    of_controls = Q(pk__in=())
    controls = {(one.product_id, one.build, one.hardware_id) for one in series if is_control(one.build)}
    for product, build, hardware in controls:
        of_controls |= Q(version__product=product, version__build=build, hardware=hardware)
    if controls:
        of_own = runs.filter(own).order_by().values("project")
        first = since or Subquery(of_own.annotate(first=Min("started_at")).values("first"))
        of_controls &= Q(started_at__gte=first - timedelta(seconds=settings.SESSION_GAP_S))
    return runs.filter(own | of_controls)


def _control(version: MeasuredVersion, series: SeriesRow) -> Control | None:
    return Control(series.place, version.version) if is_control(series.build) else None


def newest_control(cells: CellsOfMetric, place: Place) -> Mapping[RowKey, Cell]:
    """Return the cells of the newest control that was measured beside a place; empty where there is none."""
    beside = place._replace(build=control_build(place.build))
    controls = [key for key in cells if isinstance(key, Control) and key.place == beside]
    return cells[max(controls, key=lambda one: one.order)] if controls else {}


_Name = TypeVar("_Name", bound=Hashable)


def _coded(names: Sequence[_Name]) -> tuple[Ints, list[_Name]]:
    """Return the indexes of names among the distinct ones, and these."""
    codes: dict[_Name, int] = {}
    found = np.fromiter((codes.setdefault(name, len(codes)) for name in names), np.int64, len(names))
    return found, list(codes)


def _cells(
    measured: Measurements,
    series: Sequence[SeriesRow],
    columns: tuple[Ints, Sequence[Hashable]],
    rows: tuple[Ints, Sequence[RowKey]],
) -> dict[str, CellsOfMetric]:
    """Make cells by metric, column and row; ``columns`` and ``rows`` are indexes, of each value, and names.

    What is in the column None does not count.

    Where one version was measured under several environments or contents, the newest counts.
    """
    metrics, metric_of = _coded([one.metric for one in series])
    parts = np.stack((metrics[measured.series], columns[0], rows[0]))
    in_order, ends = sort_into_groups(parts)
    latest, runs = in_order[ends[1:] - 1], measured.runs
    like = np.repeat(measured.run[latest], np.diff(ends))
    run = measured.run[in_order]
    counts = (runs.environment_ids[run] == runs.environment_ids[like]) & (
        runs.content_ids[run] == runs.content_ids[like]
    )
    ends = np.append(0, np.cumsum(counts))[ends]
    measured_values, run = measured.values[in_order][counts], run[counts]
    levels = medians(measured_values, ends).tolist()
    # Plain lists: a cell has a few values, and slices of small arrays cost more than all else here.
    values, run_ids = measured_values.tolist(), runs.ids[run].tolist()
    sessions = runs.sessions_of(run)
    spans = list(zip(runs.session_began_at[run].tolist(), runs.session_ended_at[run].tolist(), strict=True))
    told_low, told_high = measured.low[in_order][counts].tolist(), measured.high[in_order][counts].tolist()
    is_counted = any(counted(metric) for metric in metric_of)
    lengths = run_lengths(run_ids) if is_counted else {}
    cells: dict[str, CellsOfMetric] = defaultdict(lambda: defaultdict(dict))
    for (metric, column, row), start, end, level, at in zip(
        parts[:, latest].T.tolist(),
        ends[:-1].tolist(),
        ends[1:].tolist(),
        levels,
        measured.series[latest].tolist(),
        strict=True,
    ):
        if columns[1][column] is None:
            continue
        # Several runs get their interval when the noise of the whole table is known.
        told = (told_low[start], told_high[start]) if end - start == 1 else (nan, nan)
        low, high = (None if isnan(bound) else bound for bound in told)
        what = counted(metric_of[metric])
        of_series = series[at]
        cells[metric_of[metric]][columns[1][column]][rows[1][row]] = Cell(
            value=level,
            n=end - start,
            low=low,
            high=high,
            values=tuple(values[start:end]),
            tool_interval=_tool_interval(told_low[start:end], told_high[start:end]),
            series_id=of_series.id,
            run_id=run_ids[end - 1],
            unit=of_series.unit,
            direction=of_series.direction,
            sessions=sessions[start:end],
            spans=tuple(spans[start:end]),
            machine=of_series.hardware_id,
            printed_unit=of_series.printed_unit,
            of_branch=bool(of_series.branch),
            events=_events(what, measured_values[start:end], run_ids[start:end], sessions[start:end], lengths)
            if what
            else None,
        )
    if _WITH_FORKS in cells:
        cells[_WITH_FORKS] = _with_forks(cells[_WITH_FORKS])
    return cells


def _events(
    what: Counted,
    values: Floats,
    runs: Sequence[int],
    sessions: Sequence[str],
    lengths: Mapping[int, float],
) -> CountedEvents:
    """Count the events of each session."""
    seconds = np.array([lengths.get(run, what.per_s) for run in runs])
    codes, _ = _coded(sessions)
    events, length = (
        np.bincount(codes, weights=each).astype(float) for each in (what.events(values, seconds), seconds)
    )
    return CountedEvents(Counts(events, length), what)


def _tool_interval(low: Sequence[float], high: Sequence[float]) -> ToolInterval | None:
    """Return what the intervals that a tool gave runs leave of their mean; None where one gave none."""
    if any(map(isnan, low)) or any(map(isnan, high)):
        return None
    if len(low) == 1:
        return ToolInterval(low[0], high[0])
    pairs = list(zip(low, high, strict=True))
    middle = fmean(lower + upper for lower, upper in pairs) / 2
    half = sqrt(sum((upper - lower) ** 2 for lower, upper in pairs)) / 2 / len(pairs)
    return ToolInterval(middle - half, middle + half)


def _with_forks(cells: CellsOfMetric) -> CellsOfMetric:
    """Give cells of a single JMH run the mean score of each fork, where the iterations are stored.

    Where the run only says how many forks and iterations it had, they get the number of samples behind its
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
    """Note how many samples and forks are behind a cell.

    ``of_samples``: the error is over so many single operations that their number does not matter.
    """
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
