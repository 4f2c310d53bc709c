"""The series of readings: found, made, and checked for their units."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.results.checks import RecordError
from benchdash.results.models import Measurement, Run, Series
from benchdash.results.readings import UNKNOWN, Direction, Reading
from benchdash.results.versions import release_line


class Identity(NamedTuple):
    """The columns that all series of one run share; the metric tells them apart."""

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


def identities_of(run_ids: Collection[int]) -> dict[int, Identity]:
    """Return what the series of runs share, by the id of a run, as the runs are now."""
    rows = Run.objects.filter(pk__in=run_ids).values_list(
        *("pk", "version__product__name", "version__version", "workload_id", "version__product_id"),
        *("hardware_id", "threads", "configuration_id", "branch", "version__build", "counterpart"),
    )
    return {
        run_id: Identity._make((*ids, branch, line_of(branch, product, version), build, counterpart))
        for run_id, product, version, *ids, branch, build, counterpart in rows
    }


def line_of(branch: str, product: str, version: str) -> str:
    """Return the release line of a run; on a branch there are none."""
    return "" if branch else release_line(product, version)


Wanted = Sequence[tuple[Identity, Sequence[Reading]]]
"""The readings of runs, with what their series share."""
ByIdentity = Mapping[Identity, Mapping[str, StoredSeries]]
"""Series by their identity and their metric."""


def series_for(project: Project, wanted: Wanted) -> ByIdentity:
    """Find the series of all these readings, and make those that do not exist.

    At most three statements. New series are made in the order of their identities, so that two uploads that
    bring the same ones wait for each other and never deadlock.
    """
    found = _find(project, wanted)
    missing = {
        (identity, reading.metric): reading
        for identity, readings in wanted
        for reading in readings
        if reading.metric not in found[identity]
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
                # A default of the database would make each value a parameter of the statement.
                is_derived=False,
            )
            for (identity, metric), reading in sorted(missing.items(), key=lambda item: _sortable(*item[0]))
        ]
        Series.objects.bulk_create(new, ignore_conflicts=True)
        found = _find(project, wanted)
    return found


# By the unique index, whatever the planner knows of the arrays: by an index of fewer columns it would read
# all series of the workloads. "Equal or both unknown" is no condition of an index.
_OF_IDENTITY = """
    SELECT wanted.at, series.metric, series.id, series.unit, series.direction, series.printed_unit
    FROM wanted JOIN results_series series ON series.project_id = %(project)s
        AND series.workload_id = wanted.workload_id AND series.metric = ANY(%(metric)s)
        AND series.product_id = wanted.product_id AND series.hardware_id = wanted.hardware_id
        AND series.configuration_id = wanted.configuration_id AND series.branch = wanted.branch
        AND series.line = wanted.line AND series.build = wanted.build
        AND series.counterpart = wanted.counterpart
"""
_FIND = f"""
    WITH wanted AS (
        SELECT * FROM unnest(
            %(workload_id)s::bigint[], %(product_id)s::bigint[], %(hardware_id)s::bigint[],
            %(threads)s::integer[], %(configuration_id)s::bigint[], %(branch)s::varchar[],
            %(line)s::varchar[], %(build)s::varchar[], %(counterpart)s::varchar[]
        ) WITH ORDINALITY AS wanted ({", ".join(Identity._fields)}, at)
    )
    {_OF_IDENTITY} AND series.threads = wanted.threads
    UNION ALL
    {_OF_IDENTITY} AND series.threads IS NULL AND wanted.threads IS NULL
"""  # noqa: S608 - of our own names


def _find(project: Project, wanted: Wanted) -> ByIdentity:
    found: dict[Identity, dict[str, StoredSeries]] = {identity: {} for identity, _ in wanted}
    metrics = list({reading.metric for _, readings in wanted for reading in readings})
    if not metrics:
        return found
    identities = list(found)
    columns = map(list, zip(*identities, strict=True))
    parameters: dict[str, Any] = dict(zip(Identity._fields, columns, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_FIND, {**parameters, "project": project.pk, "metric": metrics})
        for at, metric, *series in cursor.fetchall():
            found[identities[at - 1]][metric] = StoredSeries._make(series)
    return found


def _sortable(identity: Identity, metric: str) -> tuple[Any, ...]:
    return (*((value is not None, value) for value in identity), metric)


def adopt_or_refuse_units(measured: Sequence[Measured]) -> None:
    """Give a series that these runs have to themselves the unit and direction of its reading.

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


def note_printed_units(measured: Sequence[Measured]) -> None:
    """Keep the unit that the newest reading of each series was printed in."""
    newest = {
        series.pk: reading.printed_unit
        for series, _, reading in measured
        if series.printed_unit != reading.printed_unit
    }
    rows = [Series(pk=pk, printed_unit=unit) for pk, unit in sorted(newest.items())]
    Series.objects.bulk_update(rows, ["printed_unit"], batch_size=100)


def _adopt(readings: Mapping[int, Reading]) -> dict[int, StoredSeries]:
    """Give series the units of these readings, by the id of a series, and return them as they are now."""
    fields = ("unit", "direction", "printed_unit")
    rows = [
        Series(pk=pk, **{name: getattr(reading, name) for name in fields}) for pk, reading in readings.items()
    ]
    Series.objects.bulk_update(rows, fields, batch_size=100)
    return {
        pk: StoredSeries(pk, reading.unit, reading.direction, reading.printed_unit)
        for pk, reading in readings.items()
    }


def _differ(series: StoredSeries, reading: Reading) -> bool:
    directions = {series.direction, reading.direction} - {UNKNOWN}
    return series.unit != reading.unit or len(directions) > 1


def _conflict(series: StoredSeries, reading: Reading) -> str:
    known = "in the series where it belongs"
    if series.unit != reading.unit:
        return f"'{reading.metric}' is in '{reading.unit}' here, but in '{series.unit}' {known}"
    return f"for '{reading.metric}' {reading.direction} is better here, but {series.direction} {known}"


# Like __in of Django, with an array a column: the ORM takes two parameters of a statement for each key.
_DELETE = """
    DELETE FROM results_measurement
    WHERE (series_id, run_id) IN (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))
"""


def delete_measurements(keys: Collection[tuple[int, int]]) -> None:
    """Delete measurements by series and run."""
    if not keys:
        return
    series_ids, run_ids = zip(*keys, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, [list(series_ids), list(run_ids)])
