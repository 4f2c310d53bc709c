"""Which series a reading belongs to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.results.checks import RecordError
from benchdash.results.models import Measurement, Run, Series
from benchdash.results.readings import Direction, Reading
from benchdash.results.versions import release_line


class Identity(NamedTuple):
    """What all series of one run share; the metric tells them apart."""

    workload_id: int
    product_id: int
    hardware_id: int
    threads: int | None
    configuration_id: int
    branch: str
    line: str
    build: str
    counterpart: str


class StoredSeries(NamedTuple):
    """A row of Series, as far as readings are held against it."""

    pk: int
    unit: str
    direction: Direction
    printed_unit: str


Measured = tuple[StoredSeries, int, Reading]
"""A reading with its series and the id of its run."""


def identity_of(run: Run) -> Identity:
    version = run.version
    return Identity(
        workload_id=run.workload_id,
        product_id=version.product_id,
        hardware_id=run.hardware_id,
        threads=run.threads,
        configuration_id=run.configuration_id,
        branch=run.branch,
        line=line_of(run.branch, version.product.name, version.version),
        build=version.build,
        counterpart=run.counterpart,
    )


def line_of(branch: str, product: str, version: str) -> str:
    """On a branch there are no release lines."""
    return "" if branch else release_line(product, version)


Wanted = Sequence[tuple[Identity, Sequence[Reading]]]
"""The readings of runs, with what their series share."""
ByIdentity = Mapping[tuple[Any, ...], Mapping[str, StoredSeries]]
"""Series by their identity and their metric."""


def series_for(project: Project, wanted: Wanted) -> ByIdentity:
    """The series of all these readings; those that do not exist are made.

    At most three statements. New series are made in the order of their identities, so that two uploads that
    bring the same ones wait for each other and never deadlock.
    """
    found = _find(project, wanted)
    missing = {
        (identity, reading.metric): reading
        for identity, readings in wanted
        for reading in readings
        if reading.metric not in found.get(identity, ())
    }
    if missing:
        new = [
            Series(
                project=project,
                **identity._asdict(),
                metric=metric,
                unit=reading.unit,
                printed_unit=reading.printed_unit,
                direction=reading.direction,
            )
            for (identity, metric), reading in sorted(missing.items(), key=lambda item: _sortable(*item[0]))
        ]
        Series.objects.bulk_create(new, ignore_conflicts=True)
        found = _find(project, wanted)
    return found


# By the head of the unique index; a few series beside those that are wanted come with them.
_FIND = """
    SELECT workload_id, product_id, hardware_id, threads, configuration_id, branch, line, build, counterpart,
        metric, id, unit, direction, printed_unit
    FROM results_series
    WHERE project_id = %(project)s AND workload_id = ANY(%(workload_id)s) AND metric = ANY(%(metric)s)
        AND product_id = ANY(%(product_id)s) AND hardware_id = ANY(%(hardware_id)s)
        AND (threads = ANY(%(threads)s) OR threads IS NULL)
        AND branch = ANY(%(branch)s) AND line = ANY(%(line)s)
"""


def _find(project: Project, wanted: Wanted) -> ByIdentity:
    identities = {identity for identity, _ in wanted}
    parameters: dict[str, Any] = {
        name: list({getattr(identity, name) for identity in identities} - {None})
        for name in ("workload_id", "product_id", "hardware_id", "threads", "branch", "line")
    }
    metrics = list({reading.metric for _, readings in wanted for reading in readings})
    found: dict[tuple[Any, ...], dict[str, StoredSeries]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_FIND, {**parameters, "project": project.pk, "metric": metrics})
        for row in cursor.fetchall():
            # A plain tuple finds what an identity finds, and is made in less time.
            found[row[:9]][row[9]] = StoredSeries._make(row[10:])
    return found


def _sortable(identity: Identity, metric: str) -> tuple[Any, ...]:
    return (*((value is not None, value) for value in identity), metric)


def adopt_or_refuse_units(measured: Sequence[Measured]) -> None:
    """A series that these runs have to themselves takes the unit and direction of its reading.

    Raises RecordError where other runs measured in another unit, or where these runs disagree.
    """
    conflicts = {series.pk: reading for series, _, reading in measured if _differ(series, reading)}
    if not conflicts:
        return
    others = Measurement.objects.exclude(run__in={run_id for _, run_id, _ in measured})
    shared = set(others.filter(series__in=conflicts).values_list("series_id", flat=True).distinct())
    adopted = _adopt({pk: reading for pk, reading in conflicts.items() if pk not in shared})
    for series, _, reading in measured:
        now = adopted.get(series.pk, series)
        if _differ(now, reading):
            raise RecordError(_conflict(now, reading))


def _adopt(readings: Mapping[int, Reading]) -> dict[int, StoredSeries]:
    """By the id of a series, which from now on is as its reading."""
    fields = ("unit", "direction", "printed_unit")
    rows = (
        Series(pk=pk, **{name: getattr(reading, name) for name in fields}) for pk, reading in readings.items()
    )
    Series.objects.bulk_update(rows, fields)
    return {
        pk: StoredSeries(pk, reading.unit, reading.direction, reading.printed_unit)
        for pk, reading in readings.items()
    }


def _differ(series: StoredSeries, reading: Reading) -> bool:
    return (series.unit, series.direction) != (reading.unit, reading.direction)


def _conflict(series: StoredSeries, reading: Reading) -> str:
    known = "in the series where it belongs"
    if series.unit != reading.unit:
        return f"'{reading.metric}' is in '{reading.unit}' here, but in '{series.unit}' {known}"
    return f"for '{reading.metric}' {reading.direction} is better here, but {series.direction} {known}"
