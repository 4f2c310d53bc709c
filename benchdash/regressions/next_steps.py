"""Views of some runs: a curve, a history, a comparison with the version before them."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.db.models import Count, QuerySet

from benchdash.regressions.comparison.cells import ColumnKey
from benchdash.regressions.comparison.columns import Column, columns_at
from benchdash.regressions.sweeps.conditions import parameters_of, without_parameter
from benchdash.results.models import Run, VersionPlace
from benchdash.results.place import Place
from benchdash.results.version_places import MeasuredPlace, nearest_version


@dataclass(frozen=True)
class Outlook:
    """Views of runs at the place where most of them were measured.

    ``columns`` are their versions there, in order, and ``curves`` those with two thread counts of a workload
    or more, whoever sent them. ``workloads`` are names by id, in order of names. ``neighbour`` is the nearest
    earlier version there with one of these workloads, else the nearest later one; it is looked for where
    there is one version. ``run`` is the run where there is only one. ``varies`` is whether the newest version
    was measured under several settings, or with several values of a parameter.
    """

    columns: tuple[Column, ...]
    curves: tuple[Column, ...]
    workloads: dict[int, str]
    neighbour: Column | None
    run: int | None
    threads_are_known: bool
    varies: bool

    @property
    def newest(self) -> Column:
        return self.columns[-1]

    @property
    def has_history(self) -> bool:
        """Tell whether two versions of the place or more have one of the workloads."""
        return len(self.columns) > 1 or self.neighbour is not None


def outlook_of(runs: QuerySet[Run]) -> Outlook | None:
    """Tell what can be seen of runs of one project; None where none of them counts. Few statements."""
    counting = runs.filter(excluded_at=None).order_by()
    counts = (Count("pk"), Count("threads"), Count("content", distinct=True))
    rows = [_Row(*row) for row in counting.values_list(*_OF_ROW).annotate(*counts).order_by(*_OF_ROW[:2])]
    if not rows:
        return None
    known = columns_at(list({row.column: None for row in rows}))
    most = _place_of_most(rows, known)
    columns = [column for column in known if _stream(column) == most]
    keys = {column.key for column in columns}
    here = [row for row in rows if row.key in keys]
    place, branch = most
    at_place = place.runs.filter(
        branch=branch, excluded_at=None, workload__in=counting.values("workload")
    ).order_by()
    curves = set(
        at_place.filter(version__in=counting.values("version"))
        .values("version", "workload")
        .annotate(counts=Count("threads", distinct=True))
        .filter(counts__gt=1)
        .values_list("version", flat=True)
    )
    return Outlook(
        columns=tuple(columns),
        curves=tuple(column for column in columns if column.version.pk in curves),
        workloads={row.workload: row.workload_name for row in here},
        neighbour=_neighbour(columns[0], at_place) if len(columns) == 1 else None,
        run=counting.values_list("pk", flat=True).get() if sum(row.runs for row in rows) == 1 else None,
        threads_are_known=any(row.with_threads for row in here),
        varies=_varies([row for row in rows if row.version == columns[-1].version.pk]),
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
    with_threads: int
    contents: int

    @property
    def column(self) -> MeasuredPlace:
        return self[2:9]

    @property
    def key(self) -> ColumnKey:
        return self.version, self.branch, self.hardware, self.configuration, self.counterpart


def _stream(column: Column) -> tuple[Place, str]:
    return column.place, column.branch


def _place_of_most(rows: Iterable[_Row], columns: Iterable[Column]) -> tuple[Place, str]:
    """Return the place and the branch of most runs."""
    streams = {column.key: _stream(column) for column in columns}
    runs: Counter[tuple[Place, str]] = Counter()
    for row in rows:
        runs[streams[row.key]] += row.runs
    return max(runs, key=runs.__getitem__)


def _neighbour(column: Column, runs: QuerySet[Run]) -> Column | None:
    """Return the version before a column at its place that has some of the runs, else the one after."""
    names = ("version", "branch", "hardware", "configuration", "counterpart")
    at = VersionPlace.objects.filter(**dict(zip(names, column.key, strict=True))).first()
    nearest = nearest_version(runs, at) if at else None
    if nearest is None:
        return None
    place = (column.hardware_id, column.hardware, column.configuration_id, column.configuration)
    return columns_at([(nearest, column.branch, *place, column.counterpart)])[0]


def _varies(rows: Iterable[_Row]) -> bool:
    """Tell whether one version has several settings, or workloads that differ in one parameter alone."""
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        if row.contents > 1:
            return True
        for name, value in parameters_of(row.workload_name).items():
            values[name, without_parameter(row.workload_name, name)].add(value)
    return any(len(found) > 1 for found in values.values())
