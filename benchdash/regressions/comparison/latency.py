"""Distributions of response times of versions against each other, merged over the runs of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple

from django.db.models import QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import ColumnKey
from benchdash.regressions.comparison.columns import (
    Column,
    Selector,
    SelectorError,
    chosen_columns,
    included_runs,
    names,
)
from benchdash.regressions.comparison.comparability import Doubt, doubts_of_runs, newest_runs
from benchdash.regressions.detection.compare import Comparison, adjusted
from benchdash.regressions.detection.quantiles import (
    RunPercentiles,
    compared_percentiles,
    percentiles_of_runs,
)
from benchdash.regressions.options import equivalence_margin
from benchdash.results.distributions import (
    BUCKET_COLUMNS,
    VALUE_COLUMNS,
    Bounds,
    Distribution,
    distribution_of,
    merged,
)
from benchdash.results.models import IntervalSamples, Run
from benchdash.results.points import read_sessions
from benchdash.results.readings import LOWER
from benchdash.results.sessions import receipts

SHARES: Final = (0.5, 0.9, 0.95, 0.99, 0.999)
"""The percentiles that are shown and compared."""

MAX_RUNS: Final = 600
"""Runs that are merged at most: those of each column that started last. The others are only counted."""

MAX_CELLS: Final = 200
"""Cells that a table has at most."""


@dataclass(frozen=True, slots=True, order=True)
class LatencyRowKey:
    """A workload at a thread count, and whose response times: ``read`` of YCSB, or ``""`` for all of them."""

    workload: str
    threads: int | None
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Percentile:
    """``bounds`` is None where the operations are too few to tell it."""

    share: float
    bounds: Bounds | None
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class LatencyCell:
    """The operations of the included runs of one column in one row, merged.

    ``runs`` are merged of ``measured``; ``run_id`` is the latest. ``sessions`` are as many as the merged runs
    shared, None where no run names one.
    """

    distribution: Distribution
    percentiles: Sequence[Percentile]
    runs: int
    measured: int
    run_id: int
    sessions: int | None = None

    @property
    def operations(self) -> int:
        return round(self.distribution.total)


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """``cells[i]`` belongs to column i; None where it has no histogram."""

    key: LatencyRowKey
    base: LatencyCell | None
    cells: tuple[LatencyCell | None, ...]


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """``margin`` is what counts as the same."""

    base: Column
    columns: tuple[Column, ...]
    rows: tuple[LatencyRow, ...]
    margin: float


def sampled_runs(
    project: Project, *, workloads: Sequence[str] = (), threads: Sequence[int | None] = ()
) -> QuerySet[Run]:
    """Return the included runs that have a histogram."""
    runs = included_runs(project, workloads=workloads, threads=threads)
    return runs.filter(pk__in=_histograms().values("run"))


def sampled_rows(project: Project, columns: Sequence[Column]) -> dict[LatencyRowKey, int]:
    """Count, for each row that has histograms, how many of these columns have one; one statement."""
    found: dict[LatencyRowKey, set[ColumnKey]] = defaultdict(set)
    for one in _sampled(included_runs(project), columns):
        found[one.row].add(one.column)
    return {row: len(found[row]) for row in sorted(found, key=_row_order)}


def compare_latencies(
    project: Project,
    *,
    base: Selector,
    against: Sequence[Selector] = (),
    filters: Mapping[str, str] | None = None,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> LatencyTable:
    """Compare versions that have histograms, as ``version_table.compare`` does.

    Raises SelectorError, also where the table would have more than MAX_CELLS.
    """
    runs = sampled_runs(project, workloads=workloads, threads=threads)
    column, columns = chosen_columns(runs, base, against, filters or {})
    return _table(runs, column, columns, margin=equivalence_margin(project))


def compare_columns(
    project: Project, *, base: Column, columns: Sequence[Column], row: LatencyRowKey
) -> LatencyTable:
    """Compare columns that are known already, in one row; two statements."""
    runs = included_runs(project, workloads=[row.workload], threads=[row.threads])
    return _table(runs, base, columns, margin=equivalence_margin(project), operation=row.operation)


def latency_doubts(table: LatencyTable) -> list[Doubt]:
    """Say what makes the columns of a table unlike each other; two statements."""
    columns = [table.base, *table.columns]
    rows = (((row.key.workload, row.key.threads), (row.base, *row.cells)) for row in table.rows)
    named = list(zip(columns, names(columns), strict=True))
    return doubts_of_runs(newest_runs(columns, rows), named, table.base)


# --- what there is ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sampled:
    """A histogram of one run with what decides whether it counts."""

    run_id: int
    source: str
    version: int
    branch: str
    hardware: int
    configuration: int
    counterpart: str
    workload: str
    threads: int | None
    started_at: datetime
    environment_id: int | None
    content_id: int | None

    @property
    def row(self) -> LatencyRowKey:
        return LatencyRowKey(self.workload, self.threads, self.source.removesuffix("histogram").strip())

    @property
    def column(self) -> ColumnKey:
        return self.version, self.branch, self.hardware, self.configuration, self.counterpart


def _histograms() -> QuerySet[IntervalSamples]:
    return IntervalSamples.objects.filter(columns__in=[list(VALUE_COLUMNS), list(BUCKET_COLUMNS)])


def _sampled(runs: QuerySet[Run], columns: Iterable[Column]) -> list[_Sampled]:
    """Find the histograms of these columns, without their buckets."""
    keys = {column.key for column in columns}
    found = _histograms().filter(run__in=runs.filter(version__in={key[0] for key in keys}).order_by())
    rows = found.order_by().values_list(
        "run",
        "source",
        "run__version",
        "run__branch",
        "run__hardware",
        "run__configuration",
        "run__counterpart",
        "run__workload__name",
        "run__threads",
        "run__started_at",
        "run__environment",
        "run__content",
    )
    return [one for one in (_Sampled(*row) for row in rows) if one.column in keys]


def _row_order(row: LatencyRowKey) -> tuple[str, int, str]:
    return row.workload, -1 if row.threads is None else row.threads, row.operation


# --- the table --------------------------------------------------------------------------------------------


class _Histograms(NamedTuple):
    """The histograms of one column in one row that count, newest last; ``kept`` are merged."""

    counting: Sequence[_Sampled]
    kept: Sequence[_Sampled]


def _table(
    runs: QuerySet[Run],
    base: Column,
    columns: Sequence[Column],
    *,
    margin: float,
    operation: str | None = None,
) -> LatencyTable:
    sampled = _sampled(runs, [base, *columns])
    groups = _groups(one for one in sampled if operation in (None, one.row.operation))
    if len(groups) > MAX_CELLS:
        raise SelectorError(
            f"these are {len(groups)} distributions, and at most {MAX_CELLS} are computed at once; "
            "name fewer versions or thread counts",
            field="against",
        )
    read = _distributions(chain.from_iterable(group.kept for group in groups.values()))
    sessions = read_sessions({run for run, _ in read})
    found = {key: one for key, group in groups.items() if (one := _merged_runs(group, read, sessions))}
    known = {key: percentiles_of_runs(one.units, SHARES) for key, one in found.items()}
    compared = _comparisons(base, columns, known, margin)
    made = {key: _cell(one, known[key], compared.get(key, ())) for key, one in found.items()}
    return LatencyTable(
        base=base,
        columns=tuple(columns),
        rows=tuple(
            LatencyRow(row, made.get((row, base.key)), tuple(made.get((row, one.key)) for one in columns))
            for row in sorted({row for row, _ in made}, key=_row_order)
        ),
        margin=margin,
    )


def _groups(sampled: Iterable[_Sampled]) -> dict[tuple[LatencyRowKey, ColumnKey], _Histograms]:
    """Group histograms by row and column; of several environments or contents the newest counts."""
    found: dict[tuple[LatencyRowKey, ColumnKey], list[_Sampled]] = defaultdict(list)
    for one in sorted(sampled, key=lambda one: (one.started_at, one.run_id)):
        found[one.row, one.column].append(one)
    groups = {}
    most = max(1, MAX_RUNS // max(1, len(found)))
    for key, all_of_it in found.items():
        surroundings = all_of_it[-1].environment_id, all_of_it[-1].content_id
        counting = [one for one in all_of_it if (one.environment_id, one.content_id) == surroundings]
        groups[key] = _Histograms(counting, counting[-most:])
    return groups


def _distributions(sampled: Iterable[_Sampled]) -> dict[tuple[int, str], Distribution]:
    """Read by run and source the distributions that count an operation; one statement."""
    wanted = {(one.run_id, one.source) for one in sampled}
    tables = IntervalSamples.objects.filter(
        run__in={run for run, _ in wanted}, source__in={source for _, source in wanted}
    )
    found = {
        (one.run_id, one.source): distribution_of(one.columns, one.rows)
        for one in tables
        if (one.run_id, one.source) in wanted
    }
    return {key: one for key, one in found.items() if one}


@dataclass(frozen=True, slots=True)
class _MergedRuns:
    """The histograms of a group that say something, those of a session merged into one of its ``units``."""

    group: _Histograms
    units: Sequence[Distribution]
    runs: int


def _merged_runs(
    group: _Histograms, read: Mapping[tuple[int, str], Distribution], sessions: Mapping[int, str]
) -> _MergedRuns | None:
    told = [one for one in group.kept if (one.run_id, one.source) in read]
    if not told:
        return None
    of_session: dict[str, list[Distribution]] = defaultdict(list)
    for one in told:
        session, (_, branch, *_) = sessions[one.run_id], one.column
        # Sessions that do not count are one, of which there is no test.
        counts = branch or not receipts([session])
        of_session[session if counts else ""].append(read[one.run_id, one.source])
    return _MergedRuns(group, list(map(merged, of_session.values())), len(told))


def _comparisons(
    base: Column,
    columns: Sequence[Column],
    known: Mapping[tuple[LatencyRowKey, ColumnKey], RunPercentiles],
    margin: float,
) -> dict[tuple[LatencyRowKey, ColumnKey], list[Comparison]]:
    """Compare each cell with the base of its row, p adjusted over the whole table."""
    others = {column.key for column in columns}
    raw = {
        (row, column): compared_percentiles(known[row, base.key], found)
        for (row, column), found in known.items()
        if column in others and (row, base.key) in known
    }
    of_table = list(chain.from_iterable(raw.values()))
    verdicts = iter(adjusted(of_table, direction=LOWER, margin=margin))
    return {key: [next(verdicts) for _ in of_shares] for key, of_shares in raw.items()}


def _cell(found: _MergedRuns, known: RunPercentiles, compared: Sequence[Comparison]) -> LatencyCell:
    comparisons: Sequence[Comparison | None] = compared or [None] * len(SHARES)
    return LatencyCell(
        distribution=merged(found.units),
        percentiles=[
            Percentile(share, bounds, comparison)
            for share, bounds, comparison in zip(known.shares, known.bounds, comparisons, strict=True)
        ],
        runs=found.runs,
        measured=len(found.group.counting),
        run_id=found.group.kept[-1].run_id,
        sessions=len(found.units),
    )
