"""Sweeps of a project: what they can be made of, and the table of one, relative to a base value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Avg, Count, Max, Q, QuerySet
from django.db.models.fields.json import KeyTransform

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import (
    RowKey,
    SeriesRow,
    cells_of_runs,
    series_at,
    threads_in,
    with_controls,
)
from benchdash.regressions.comparison.table import ComparisonTable, SideCells, SidesReading
from benchdash.regressions.sweeps import conditions
from benchdash.regressions.sweeps.conditions import (
    CONFIGURATION,
    HARDWARE,
    Factor,
    RunGroup,
    Sweep,
    SweepPoint,
)
from benchdash.regressions.sweeps.subjects import Subject
from benchdash.results.models import (
    Configuration,
    ConfigurationContent,
    Environment,
    Hardware,
    Measurement,
    Run,
    Series,
    Workload,
)
from benchdash.results.place import Place
from benchdash.results.versions import release_line

MAX_VALUES: Final = 24
_MAX_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Found:
    """The choices of what to sweep for a subject, and the sweep; ``swept_on`` are the machines of it."""

    machines: Sequence[str]
    swept_on: Sequence[str]
    choices: Sequence[conditions.Choice]
    chosen: conditions.Choice | None
    sweep: Sweep | None


def groups_of(project: Project, subject: Subject) -> list[RunGroup]:
    """Group the runs of a subject by their conditions, without what never varies; six statements."""
    runs = _of_subject(project, subject)
    workloads = Workload.objects.filter(pk__in=runs.order_by().values("workload")).in_bulk()
    options = sorted({name for workload in workloads.values() for name in workload.options})
    # Only what is named by a workload: the options of a run have measured facts among them.
    told = {f"option_{at}": KeyTransform(name, "options") for at, name in enumerate(options)}
    rows = list(
        runs.order_by()
        .annotate(**told)
        .values("workload", "hardware", "configuration", "content", "environment", *told)
        .annotate(
            ids=ArrayAgg("pk"),
            threads_counts=Count("threads", distinct=True),
            newest=Max("started_at"),
            seconds=Avg("duration_s"),
        )
    )

    def read(found: QuerySet[Any], name: str) -> dict[Any, Any]:
        return found.in_bulk({row[name] for row in rows} - {None})

    hardware = read(Hardware.objects.all(), "hardware")
    configurations = read(Configuration.objects.all(), "configuration")
    contents = read(ConfigurationContent.objects.defer("text"), "content")
    environments = read(Environment.objects.all(), "environment")
    groups = []
    for row in rows:
        workload, machine = workloads[row["workload"]].name, hardware[row["hardware"]]
        environment, content = environments.get(row["environment"]), contents.get(row["content"])
        settings = content.settings if content else {}
        name = configurations[row["configuration"]].name
        own_name = _without_settings(name, settings)
        groups.append(
            RunGroup(
                workload=workload,
                conditions={
                    HARDWARE: machine.name,
                    CONFIGURATION: own_name or name,
                    **_conditions("setting", settings),
                    **_conditions("fact", machine.facts | (environment.facts if environment else {})),
                    **_conditions("parameter", conditions.parameters_of(workload)),
                    **_conditions("option", {name: row[f"option_{at}"] for at, name in enumerate(options)}),
                },
                runs=tuple(row["ids"]),
                threads=max(row["threads_counts"], 1),
                newest=row["newest"],
                seconds=row["seconds"],
                settings_are_known=bool(settings) and own_name in ("", name),
            )
        )
    return conditions.without_constants(groups)


def _without_settings(name: str, settings: Mapping[str, Any]) -> str:
    """Return what a configuration's name says beside its settings: ``tcp`` of ``tcp, pool=8``.

    A table that knows some of its columns as settings writes all of them into the name.
    """
    known = {*map(str, settings.values()), *(f"{one}={value}" for one, value in settings.items())}
    return ", ".join(part for part in name.split(", ") if part not in known)


def _conditions(kind: conditions.Kind, values: Mapping[str, Any]) -> dict[Factor, str]:
    return {
        Factor(kind, name): str(value)[:_MAX_LENGTH] for name, value in values.items() if value is not None
    }


def find_sweep(
    project: Project,
    subject: Subject,
    *,
    setting: str = "",
    base: str = "",
    hardware: str = "",
    only: Sequence[str] = (),
) -> Found:
    """Find what varies of a subject, and the sweep asked for, or that with most values; six statements.

    ``setting`` is the key or name of a factor, ``base`` one of its values, ``hardware`` the name of a machine
    and ``only`` are other conditions, each ``key=value``.
    """
    groups = groups_of(project, subject)
    machines = sorted(_machines(groups))
    if hardware in machines:
        groups = [group for group in groups if group.value(HARDWARE) == hardware]
    groups = conditions.only_with(groups, only)
    offered = conditions.choices(groups)
    chosen = conditions.find_choice(offered, setting) if setting else next(iter(offered), None)
    swept, counted = None, groups
    if chosen:
        counted = conditions.on_one_machine(groups, chosen.factor)
        swept = conditions.sweep(counted, chosen.factor, base=base, most=MAX_VALUES)
    return Found(machines, sorted(_machines(counted)), offered, chosen, swept)


def _machines(groups: Iterable[RunGroup]) -> set[str]:
    return {name for group in groups if (name := group.value(HARDWARE))}


def metrics_of(project: Project, subject: Subject) -> dict[str, int]:
    """Count, by metric, the series of the subject that have it, or a little more; one statement."""
    version = subject.version
    series = Series.objects.filter(
        project=project,
        product=version.product_id,
        build=version.build,
        branch=subject.branch,
        line="" if subject.branch else release_line(version.product.name, version.version),
        counterpart=subject.counterpart,
        workload__in=Run.objects.filter(version=version.pk).values("workload"),
    )
    return dict(series.order_by().values_list("metric").annotate(Count("pk")))


def sweep_table(
    project: Project, subject: Subject, sweep: Sweep, *, metric: str, threads: Sequence[int | None] = ()
) -> ComparisonTable[SweepPoint] | None:
    """Make the table of one metric; ``threads`` chooses rows, empty means all. None where nothing has it.

    Its columns are the values beside the base. Few statements. A value that was measured under other
    conditions than the base has no verdict.
    """
    of_run = {
        run: (index, row)
        for index, point in enumerate(sweep.points)
        for row, groups in point.groups.items()
        for group in groups
        for run in group.runs
    }
    runs = _of_subject(project, subject)
    if threads:
        runs = runs.filter(threads_in(threads))
    measured = Measurement.objects.filter(run__in=runs.order_by(), series__metric=metric)
    places = {
        Place.of(one).of_every_stream for one in Series.objects.filter(pk__in=measured.values("series"))
    }
    series = series_at(project.pk, places, metrics=[metric], threads=threads) if places else []

    def placed(run: int, one: SeriesRow) -> tuple[int, RowKey] | None:
        column, row = of_run.get(run, (None, ""))
        return None if column is None else (column, (row, one.threads))

    included = with_controls(_counting(project), Q(pk__in=of_run), series)
    reading = SidesReading.of(project, cells_of_runs(included, series, placed), series)
    place = places.pop() if len(places) == 1 else None
    points = [sweep.base, *sweep.others]
    sides = [
        SideCells(point, reading.of_column(metric, sweep.points.index(point)), subject.version.pk, place)
        for point in points
    ]

    def is_alike(row: RowKey, column: int) -> bool:
        before, after = (point.groups.get(row[0], ()) for point in (sweep.base, sweep.others[column]))
        return conditions.are_alike(before, after, sweep.factor)

    return reading.table(metric, sides, is_alike=is_alike)


def _counting(project: Project) -> QuerySet[Run]:
    return Run.objects.filter(project=project, excluded_at=None)


def _of_subject(project: Project, subject: Subject) -> QuerySet[Run]:
    return _counting(project).filter(
        version=subject.version.pk, branch=subject.branch, counterpart=subject.counterpart
    )
