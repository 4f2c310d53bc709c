"""Everything that writes the history: runs, their measurements, and which series are due for analysis."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.celery import ring_together
from benchdash.results.checks import RecordError, check_records
from benchdash.results.dimensions import Place, differing_options, locate
from benchdash.results.models import IntervalSamples, Measurement, Run, Series
from benchdash.results.readings import HIGHER, LOWER, Reading
from benchdash.results.records import RunRecord
from benchdash.results.series import adopt_or_refuse_units, series_for

__all__ = [
    "RecordError",
    "Recorded",
    "hold_results",
    "reassign_series",
    "record_runs",
    "record_uploads",
    "remove_runs",
    "ring_analysis",
    "touch",
]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The runs in the order of their records, and what their sender should know."""

    runs: list[Run]
    warnings: list[str]


def record_runs(
    project: Project, *, upload_id: int, records: Sequence[RunRecord], quiet: bool = False
) -> Recorded:
    """Make the runs of an upload those of ``records``, as record_uploads does for several."""
    return record_uploads(project, {upload_id: records}, quiet=quiet)[upload_id]


@transaction.atomic
def record_uploads(
    project: Project, records_by_upload: Mapping[int, Sequence[RunRecord]], *, quiet: bool = False
) -> dict[int, Recorded]:
    """Make the runs of each upload those of its records: one transaction, a constant number of statements.

    Recorded again, a run is updated in place, keeps its exclusion, and has its measurements replaced; runs
    whose key is gone are removed. ``quiet``: nobody is mailed for what analysis finds.
    Raises RecordError, with nothing stored, for records that the history cannot hold.
    """
    for records in records_by_upload.values():
        check_records(records)
    again = set(
        Run.objects.filter(upload_id__in=records_by_upload).values_list("upload_id", flat=True).distinct()
    )
    hold_results(project, alone=bool(again))
    every_record = [record for records in records_by_upload.values() for record in records]
    located = locate(project, every_record)
    left = _delete_other_runs({upload_id: records_by_upload[upload_id] for upload_id in again})
    upload_ids = [upload_id for upload_id, records in records_by_upload.items() for _ in records]
    option_warnings = [
        _option_warning(place, record) for place, record in zip(located.places, every_record, strict=True)
    ]
    runs = _write_runs(project, upload_ids, located.places, every_record, option_warnings)
    _write_samples(runs, every_record)
    _measure(project, runs, [record.readings for record in every_record], left=left, quiet=quiet)
    recorded: dict[int, Recorded] = {upload_id: Recorded([], []) for upload_id in records_by_upload}
    for upload_id, run in zip(upload_ids, runs, strict=True):
        recorded[upload_id].runs.append(run)
    unsaid = dict(located.new_names)
    for upload_id, records in records_by_upload.items():
        names = {(kind, getattr(record, kind)) for record in records for kind, _ in located.new_names}
        recorded[upload_id].warnings.extend(unsaid.pop(name) for name in list(unsaid) if name in names)
    for upload_id, warning in dict.fromkeys(zip(upload_ids, option_warnings, strict=True)):
        if warning:
            recorded[upload_id].warnings.append(warning)
    return recorded


@transaction.atomic
def remove_runs(project: Project, *, upload_id: int, quiet: bool = True) -> int:
    """Remove the runs of an upload with all that was measured in them; gives their number."""
    return remove_runs_of(project, [upload_id], quiet=quiet)


@transaction.atomic
def remove_runs_of(project: Project, upload_ids: Collection[int], *, quiet: bool = True) -> int:
    """As remove_runs, for many uploads at once."""
    hold_results(project, alone=True)
    run_ids = list(Run.objects.filter(upload_id__in=upload_ids).values_list("pk", flat=True))
    _settle(left=_delete_runs(run_ids), entered=set(), quiet=quiet)
    return len(run_ids)


@transaction.atomic
def reassign_series(project: Project, run_ids: Collection[int], *, quiet: bool = True) -> None:
    """Put the measurements of these runs into the series where they belong by the runs as they are now.

    For when what identifies a series changed: a thing was merged, a version renamed into another release
    line. The caller holds the results alone. Raises RecordError where a series has another unit.
    """
    runs = list(Run.objects.filter(pk__in=run_ids).select_related("version__product"))
    readings: dict[int, list[Reading]] = {run.pk: [] for run in runs}
    stored = Measurement.objects.filter(run__in=run_ids, series__is_derived=False).order_by("series", "run")
    for measurement in stored.select_related("series"):
        series = measurement.series
        reading = Reading(
            metric=series.metric,
            value=measurement.value,
            unit=series.unit,
            direction=HIGHER if series.higher_is_better else LOWER,
            low=measurement.low,
            high=measurement.high,
            printed_unit=series.printed_unit,
        )
        readings[measurement.run_id].append(reading)
    _measure(project, runs, [readings[run.pk] for run in runs], left=set(), quiet=quiet)


def touch(series_ids: Iterable[int], *, quiet: bool) -> None:
    """Note that these series are due for analysis. Loud stays loud until analysis has looked."""
    ids = sorted(set(series_ids))
    if not ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(_TOUCH, {"series": ids, "at": timezone.now(), "quiet": quiet})
    ring_analysis()


def refresh_statistics() -> None:
    """Tell PostgreSQL's planner of many new rows at once; by itself it looks a minute later.

    With the old statistics it reads a table of versions row by row: seconds instead of milliseconds.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE results_run, results_series, results_measurement")


def ring_analysis() -> None:
    """Ask for analysis once the transaction is committed; files that come in together share one."""
    ring_together(settings.ANALYSIS_DOORBELL, every=settings.ANALYSIS_EVERY_S)


def hold_results(project: Project, *, alone: bool) -> None:
    """Wait for who holds the project's results alone, then hold them until the transaction ends.

    Uploads are recorded side by side. Who deletes or moves rows that an upload under way may have found
    already (a correction, a second recording) must be alone.
    """
    lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {lock}(hashtextextended('results of project', %s))",
            [project.pk],
        )


# --- runs -------------------------------------------------------------------------------------------------

_RUN_IDENTITY = ["upload_id", "key"]
_RUN_FACTS = [
    "project",
    "version",
    "branch",
    "hardware",
    "environment",
    "configuration",
    "content",
    "counterpart",
    "workload",
    "threads",
    "repetition",
    "started_at",
    "started_at_is_assumed",
    "duration_s",
    "options",
    "tags",
    "notes",
    "warnings",
]


def _write_runs(
    project: Project,
    upload_ids: Sequence[int],
    places: Sequence[Place],
    records: Sequence[RunRecord],
    option_warnings: Sequence[str],
) -> list[Run]:
    runs = [
        Run(
            project=project,
            upload_id=upload_id,
            key=record.key,
            version=place.version,
            branch=record.branch,
            hardware=place.hardware,
            environment=place.environment,
            configuration=place.configuration,
            content=place.content,
            counterpart=record.counterpart,
            workload=place.workload,
            threads=record.threads,
            repetition=record.repetition,
            started_at=record.started_at,
            started_at_is_assumed=record.started_at_is_assumed,
            duration_s=record.duration_s,
            options={**record.facts, **record.options},
            tags=list(record.tags),
            notes=record.notes,
            warnings=[*record.warnings, *filter(None, [option_warning])],
        )
        for upload_id, place, record, option_warning in zip(
            upload_ids, places, records, option_warnings, strict=True
        )
    ]
    Run.objects.bulk_create(
        sorted(runs, key=lambda run: (run.upload_id, run.key)),
        update_conflicts=True,
        unique_fields=_RUN_IDENTITY,
        update_fields=_RUN_FACTS,
    )
    return runs


def _option_warning(place: Place, record: RunRecord) -> str:
    differing = differing_options(place.workload, record.options)
    if not differing:
        return ""
    return (
        f"the options of '{place.workload.name}' differ from those of its first run: {', '.join(differing)}"
    )


def _delete_other_runs(records_by_upload: Mapping[int, Sequence[RunRecord]]) -> set[int]:
    """Delete the runs of these uploads whose key is in no record; gives the series that they leave."""
    if not records_by_upload:
        return set()
    stay = {(upload_id, record.key) for upload_id, records in records_by_upload.items() for record in records}
    stored = Run.objects.filter(upload_id__in=records_by_upload).values_list("pk", "upload_id", "key")
    gone = [pk for pk, upload_id, key in stored if (upload_id, key) not in stay]
    return _delete_runs(gone) if gone else set()


def _delete_runs(run_ids: Collection[int]) -> set[int]:
    """Gives the series that they leave."""
    runs = Run.objects.filter(pk__in=run_ids)
    left = set(Measurement.objects.filter(run__in=runs).values_list("series_id", flat=True).distinct())
    runs.delete()
    return left


_WRITE_SAMPLES = """
    INSERT INTO results_intervalsamples (run_id, source, columns, rows)
    VALUES (%s, %s, %s::varchar[], %s::float8[])
"""


def _write_samples(runs: Sequence[Run], records: Sequence[RunRecord]) -> None:
    IntervalSamples.objects.filter(run__in=[run.pk for run in runs]).delete()
    tables = [
        (run.pk, table.source, list(table.columns), _array(table.rows))
        for run, record in zip(runs, records, strict=True)
        for table in record.samples
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE_SAMPLES, tables)


def _array(rows: Sequence[Sequence[float | None]]) -> str:
    """The rows as PostgreSQL writes them: as arrays of the driver they would take ten times the memory."""
    cells = (",".join("NULL" if cell is None else repr(cell) for cell in row) for row in rows)
    return "{" + ",".join(f"{{{row}}}" for row in cells) + "}"


# --- measurements -----------------------------------------------------------------------------------------

_Measured = list[tuple[Series, Run, Reading]]

_WRITE_MEASUREMENTS = """
    INSERT INTO results_measurement AS measurement (series_id, run_id, value, low, high)
    SELECT * FROM unnest(
        %(series)s::bigint[], %(runs)s::bigint[],
        %(values)s::float8[], %(lows)s::float8[], %(highs)s::float8[]
    )
    ON CONFLICT (series_id, run_id) DO UPDATE
    SET value = excluded.value, low = excluded.low, high = excluded.high
    WHERE (measurement.value, measurement.low, measurement.high)
        IS DISTINCT FROM (excluded.value, excluded.low, excluded.high)
"""
# What the series of one scaling curve share.
_OF_A_CURVE = [name for name in Series.IDENTITY if name not in ("threads", "metric")]
_DELETE_MEASUREMENTS = """
    DELETE FROM results_measurement
    WHERE (series_id, run_id) IN (SELECT * FROM unnest(%(series)s::bigint[], %(runs)s::bigint[]))
"""
_TOUCH = """
    INSERT INTO results_touchedseries AS touched (series_id, touched_at, due_since, quiet)
    -- now() is the start of the transaction: nothing that it records is older.
    SELECT series_id, %(at)s, now(), %(quiet)s FROM unnest(%(series)s::bigint[]) AS series_id
    ON CONFLICT (series_id) DO UPDATE
    SET touched_at = excluded.touched_at, quiet = touched.quiet AND excluded.quiet
"""


def _measure(
    project: Project,
    runs: Sequence[Run],
    readings: Sequence[Sequence[Reading]],
    *,
    left: set[int],
    quiet: bool,
) -> None:
    """Make the measurements of these runs those of their readings, each in the series where it belongs."""
    pairs = [(run, reading) for run, found in zip(runs, readings, strict=True) for reading in found]
    measured = [
        (series, run, reading)
        for series, (run, reading) in zip(series_for(project, pairs), pairs, strict=True)
    ]
    adopt_or_refuse_units(measured)
    gone = _write_measurements(runs, measured)
    _settle(left=left | gone, entered={series.pk for series, _, _ in measured}, quiet=quiet)


def _write_measurements(runs: Sequence[Run], measured: _Measured) -> set[int]:
    """Gives the series from which a measurement was deleted."""
    # A format may hand over whole numbers as int, and an array of the driver holds one type.
    rows = sorted(
        (series.pk, run.pk, float(r.value), _float(r.low), _float(r.high)) for series, run, r in measured
    )
    stored = Measurement.objects.filter(run__in=[run.pk for run in runs])
    gone = sorted(set(stored.values_list("series_id", "run_id")) - {row[:2] for row in rows})
    with connection.cursor() as cursor:
        if gone:
            cursor.execute(_DELETE_MEASUREMENTS, _columns(("series", "runs"), gone))
        if rows:
            names = ("series", "runs", "values", "lows", "highs")
            cursor.execute(_WRITE_MEASUREMENTS, _columns(names, rows))
    return {series for series, _ in gone}


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _settle(*, left: set[int], entered: set[int], quiet: bool) -> None:
    """Delete the series that were left empty; the others, left or entered, are due for analysis.

    Derived series are left to analysis, which fills or deletes them; those of an emptied series are due too.
    """
    measured = Exists(Measurement.objects.filter(series=OuterRef("pk")))
    emptied = Series.objects.filter(~measured, pk__in=left - entered, is_derived=False)
    empty = set(emptied.values_list("pk", flat=True))
    curves: set[int] = set()
    if empty:
        gone = Series.objects.filter(pk__in=empty, **{name: OuterRef(name) for name in _OF_A_CURVE})
        curves = set(Series.objects.filter(Exists(gone), is_derived=True).values_list("pk", flat=True))
        Series.objects.filter(pk__in=empty).delete()
    touch((left | entered | curves) - empty, quiet=quiet)
