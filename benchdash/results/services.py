"""Everything that writes the history: runs, their measurements, and which series are due for analysis."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.celery import ring_together
from benchdash.results import summaries
from benchdash.results.checks import RecordError, check_records
from benchdash.results.dimensions import RowsOfRun, differing_options, locate
from benchdash.results.merges import note_later_runs
from benchdash.results.models import (
    IntervalSamples,
    Measurement,
    PullRequest,
    Run,
    Series,
    TouchedSeries,
)
from benchdash.results.own_metrics import settle_own_metrics
from benchdash.results.probes import probe_of
from benchdash.results.pull_requests import number_in
from benchdash.results.readings import Reading
from benchdash.results.records import RunRecord
from benchdash.results.series import (
    Identity,
    adopt_or_refuse_units,
    delete_measurements,
    identities_of,
    line_of,
    note_printed_units,
    series_for,
)
from benchdash.results.sessions import START_UNKNOWN, session_of

__all__ = [
    "RecordError",
    "Recorded",
    "delete_runs",
    "hold_results",
    "reassign_series",
    "record_new_uploads",
    "record_runs",
    "record_uploads",
    "remove_runs",
    "ring_analysis",
    "touch",
    "touch_as_old_news",
]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded runs of one upload, and warnings for its sender.

    The ids of the runs and where each belongs, in the order of their records.
    """

    run_ids: list[int]
    places: list[RowsOfRun]
    records: list[RunRecord]
    warnings: list[str]


Check = Callable[[Sequence[int], Sequence[RowsOfRun], Sequence[RunRecord]], None]
"""Called with upload, place and record of each run before any is written; its error ends the recording."""


def record_runs(
    project: Project,
    *,
    upload_id: int,
    records: Sequence[RunRecord],
    quiet: bool = False,
    check: Check | None = None,
) -> Recorded:
    """Make the runs of an upload those of ``records``, as record_uploads does for several."""
    return record_uploads(project, {upload_id: records}, quiet=quiet, check=check)[upload_id]


@transaction.atomic
def record_uploads(
    project: Project,
    records_by_upload: Mapping[int, Sequence[RunRecord]],
    *,
    quiet: bool = False,
    check: Check | None = None,
) -> dict[int, Recorded]:
    """Make the runs of each upload those of its records: one transaction, a constant number of statements.

    Recorded again, a run is updated in place, keeps its exclusion, and has its measurements replaced; runs
    whose key is gone are removed. ``quiet``: nobody is mailed for what analysis finds.
    Raises RecordError, with nothing stored, for records that the history cannot hold.
    """
    # The same upload recorded twice at once would find no runs of the other, and count its own too.
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_UPLOADS, [sorted(records_by_upload)])
    stored = Run.objects.filter(upload_id__in=records_by_upload)
    again = set(stored.values_list("upload_id", flat=True).distinct())
    hold_results(project, alone=bool(again))
    with summaries.recounted(Run.objects.filter(upload_id__in=again)):
        return _record(project, records_by_upload, again=again, quiet=quiet, check=check)


_HOLD_UPLOADS = """
    SELECT pg_advisory_xact_lock(hashtextextended('runs of upload', upload)) FROM unnest(%s::bigint[]) upload
"""


# Like hold_results. PostgreSQL would plan statements with arrays anew each time, which takes longer than
# to run them: of an array that it does not see it expects ten values, and one value looks cheaper than that.
_HOLD_AND_PLAN_ONCE = """
    SELECT pg_advisory_xact_lock_shared(hashtextextended('results of project', %s)),
        set_config('plan_cache_mode', 'force_generic_plan', true)
"""


def record_new_uploads(
    project: Project,
    records_by_upload: Mapping[int, Sequence[RunRecord]],
    *,
    quiet: bool = False,
    check: Check | None = None,
) -> dict[int, Recorded]:
    """Record uploads that the caller's transaction has made: nothing hangs on them yet.

    The caller rolls back where this raises.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_AND_PLAN_ONCE, [project.pk])
    return _record(project, records_by_upload, again=set(), quiet=quiet, check=check)


def _record(
    project: Project,
    records_by_upload: Mapping[int, Sequence[RunRecord]],
    *,
    again: Collection[int],
    quiet: bool,
    check: Check | None,
) -> dict[int, Recorded]:
    """Record uploads; ``again`` are those that have runs already, which the caller has recounted.

    The caller holds the results.
    """
    for records in records_by_upload.values():
        check_records(records)
    upload_ids = [upload_id for upload_id, records in records_by_upload.items() for _ in records]
    every_record = [record for records in records_by_upload.values() for record in records]
    located = locate(project, every_record)
    _note_pull_requests(located.places, every_record)
    settled = settle_own_metrics(project, every_record)
    every_record = list(settled.records)
    if check:
        check(upload_ids, located.places, every_record)
    recorded = {upload_id: Recorded([], [], [], []) for upload_id in records_by_upload}
    left = _delete_other_runs({upload_id: records_by_upload[upload_id] for upload_id in again})
    if again:
        IntervalSamples.objects.filter(run__upload_id__in=again).delete()
    run_ids = _write_runs(upload_ids, located.places, every_record)
    if new := [pk for pk, upload_id in zip(run_ids, upload_ids, strict=True) if upload_id not in again]:
        summaries.add_runs(new)
    read = [
        (run_id, _identity(place, record), record.readings)
        for run_id, place, record in zip(run_ids, located.places, every_record, strict=True)
    ]
    _measure(project, read, anew=bool(again), left=left, quiet=quiet)
    if settled.changed:
        touch_as_old_news(settled.changed)
    for upload_id, run_id, place, record in zip(
        upload_ids, run_ids, located.places, every_record, strict=True
    ):
        recorded[upload_id].run_ids.append(run_id)
        recorded[upload_id].places.append(place)
        recorded[upload_id].records.append(record)
    followed = [
        (alias_id, run_id)
        for run_id, place in zip(run_ids, located.places, strict=True)
        for alias_id, _ in place.followed
    ]
    if followed:
        note_later_runs(followed)
    unsaid, news = dict(located.new_names), dict(settled.news)
    for one in recorded.values():
        one.warnings.extend(_warnings(one, unsaid))
        one.warnings.extend(_metric_warnings(one, news, settled.warnings))
    return recorded


def _note_pull_requests(places: Sequence[RowsOfRun], records: Sequence[RunRecord]) -> None:
    """Keep where pull requests are to be merged, as was said last."""
    said = {
        (place.product.pk, number): record.base_branch
        for place, record in zip(places, records, strict=True)
        if record.base_branch and (number := number_in(record.branch)) is not None
    }
    if said:
        PullRequest.objects.bulk_create(
            [
                PullRequest(product_id=product, number=number, base_branch=base)
                for (product, number), base in sorted(said.items())
            ],
            update_conflicts=True,
            unique_fields=["product", "number"],
            update_fields=["base_branch"],
        )


def _warnings(upload: Recorded, unsaid: dict[tuple[str, str], str]) -> list[str]:
    """Return the warnings for an upload, and take those about its new names out of ``unsaid``."""
    names = {(kind, getattr(record, kind)) for record in upload.records for kind, _ in unsaid}
    new = [unsaid.pop(name) for name in list(unsaid) if name in names]
    old = [warning for place in upload.places for _, warning in place.followed]
    options = map(_option_warning, upload.places, upload.records)
    starts = [START_UNKNOWN for record in upload.records if _is_of_unknown_start(record)]
    return list(dict.fromkeys(filter(None, [*new, *old, *options, *starts])))


def _is_of_unknown_start(record: RunRecord) -> bool:
    """Tell whether nobody says of a run of a release when it was made, nor in which session."""
    return record.started_at_is_assumed and not record.branch and session_of(record.tags) is None


def _metric_warnings(
    upload: Recorded, news: dict[str, str], warnings: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return what is to be said of the own metrics in an upload, and take its news out of ``news``."""
    if not warnings:
        return []
    own = dict.fromkeys(one.metric for record in upload.records for one in record.readings if one.is_own)
    new = [news.pop(metric) for metric in own if metric in news]
    return [*new, *(warning for metric in own for warning in warnings.get(metric, ()))]


@transaction.atomic
def remove_runs(project: Project, *, upload_id: int, quiet: bool = True) -> int:
    """Remove the runs of an upload with all that was measured in them, and return their number."""
    return remove_runs_of(project, [upload_id], quiet=quiet)


@transaction.atomic
def remove_runs_of(project: Project, upload_ids: Collection[int], *, quiet: bool = True) -> int:
    """Remove the runs of many uploads at once, as remove_runs does."""
    return delete_runs(project, Run.objects.filter(upload_id__in=upload_ids), quiet=quiet)


@transaction.atomic
def delete_runs(project: Project, runs: QuerySet[Run], *, quiet: bool = True) -> int:
    """Remove these runs, as remove_runs does."""
    hold_results(project, alone=True)
    run_ids = list(runs.values_list("pk", flat=True))
    with summaries.recounted(runs):
        _settle(left=_delete_runs(run_ids), quiet=quiet)
    return len(run_ids)


@transaction.atomic
def reassign_series(project: Project, run_ids: Collection[int], *, quiet: bool = True) -> None:
    """Put the measurements of these runs into the series where they belong by the runs as they are now.

    For when what identifies a series changed: a thing was merged, a version renamed into another release
    line. The caller holds the results alone. Raises RecordError where a series has another unit.
    """
    identities = identities_of(run_ids)
    readings: dict[int, list[Reading]] = {run_id: [] for run_id in identities}
    measured = Measurement.objects.filter(run__in=run_ids, series__is_derived=False)
    series_by_id = Series.objects.in_bulk(list(measured.values_list("series_id", flat=True).distinct()))
    rows = measured.order_by("series", "run").values_list("series_id", "run_id", "value", "low", "high")
    for series_id, run_id, value, low, high in rows:
        series = series_by_id[series_id]
        reading = Reading(
            metric=series.metric,
            value=value,
            unit=series.unit,
            direction=series.better,
            low=low,
            high=high,
            printed_unit=series.printed_unit,
        )
        readings[run_id].append(reading)
    read = [(run_id, identity, readings[run_id]) for run_id, identity in identities.items()]
    _measure(project, read, anew=True, left=set(), quiet=quiet)


def touch(series_ids: Iterable[int], *, quiet: bool) -> None:
    """Note that these series are due for analysis. Loud stays loud until analysis has looked."""
    ids = sorted(set(series_ids))
    if not ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(_TOUCH, {"touched": ids, "at": timezone.now(), "quiet": quiet})
    ring_analysis()


def touch_as_old_news(series_ids: Collection[int]) -> None:
    """Note that series are due because they mean something else now: nobody is told what that finds.

    Not even where files that came in meanwhile are still to be looked at.
    """
    touch(series_ids, quiet=True)
    TouchedSeries.objects.filter(series__in=series_ids, quiet=False).update(quiet=True)


def refresh_statistics() -> None:
    """Tell PostgreSQL's planner of many new rows at once; by itself it looks a minute later.

    With the old statistics it reads a table of versions row by row: seconds instead of milliseconds.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE results_run, results_series, results_measurement")


def fold_summaries() -> None:
    """Fold the rows that uploads added to the summaries, project by project."""
    for project in summaries.projects_to_fold():
        with transaction.atomic():
            hold_results(project, alone=False)
            summaries.fold(project)


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

# The columns that are written, with their types; all but the first two are facts that may be told anew.
_RUN_COLUMNS = {
    "upload_id": "bigint",
    "key": "varchar",
    "project_id": "bigint",
    "version_id": "bigint",
    "branch": "varchar",
    "hardware_id": "bigint",
    "environment_id": "bigint",
    "configuration_id": "bigint",
    "content_id": "bigint",
    "counterpart": "varchar",
    "workload_id": "bigint",
    "threads": "integer",
    "repetition": "integer",
    "started_at": "timestamptz",
    "started_at_is_assumed": "boolean",
    "duration_s": "float8",
    "probe": "float8",
    "options": "jsonb",
    "tags": "varchar[]",
    "notes": "text",
    "warnings": "text[]",
}
_RUN_FACTS = [name for name in _RUN_COLUMNS if name not in ("upload_id", "key")]
# One text for all rows: the driver takes milliseconds for some thousand parameters.
_WRITE_RUNS = f"""
    WITH written AS (
        INSERT INTO results_run ({", ".join(_RUN_COLUMNS)}, recorded_at, excluded_reason)
        SELECT {", ".join(_RUN_COLUMNS)}, %(now)s, ''
        FROM json_to_recordset(%(runs)s::json) AS given (
            {", ".join(f"{name} {kind}" for name, kind in _RUN_COLUMNS.items())}
        )
        ON CONFLICT (upload_id, key) DO UPDATE
        SET {", ".join(f"{name} = excluded.{name}" for name in _RUN_FACTS)}
        RETURNING upload_id, key, id
    ), sampled AS (
        INSERT INTO results_intervalsamples (run_id, source, columns, rows)
        SELECT id, source, columns, rows
        FROM json_to_recordset(%(samples)s::json) AS given (
            upload_id bigint, key varchar, source varchar, columns varchar[], rows float8[]
        ) JOIN written USING (upload_id, key)
        ON CONFLICT (run_id, source) DO UPDATE SET columns = excluded.columns, rows = excluded.rows
    )
    SELECT upload_id, key, id FROM written
"""  # noqa: S608 - of our own names


def _write_runs(
    upload_ids: Sequence[int],
    places: Sequence[RowsOfRun],
    records: Sequence[RunRecord],
) -> list[int]:
    """Store the runs with their samples; return their ids in the order of their records."""
    # An upload writes them in the order of their keys, and two that write the same never deadlock.
    rows = sorted(map(_run_row, upload_ids, places, records), key=lambda row: (row["upload_id"], row["key"]))
    samples = [
        {
            "upload_id": upload_id,
            "key": record.key,
            "source": table.source,
            "columns": table.columns,
            "rows": table.rows,
        }
        for upload_id, record in zip(upload_ids, records, strict=True)
        for table in record.samples
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITE_RUNS,
            {"runs": _json(rows), "samples": _json(samples), "now": timezone.now()},
        )
        ids = {(upload_id, key): pk for upload_id, key, pk in cursor.fetchall()}
    return [ids[upload_id, record.key] for upload_id, record in zip(upload_ids, records, strict=True)]


def _json(value: Any) -> str:
    """Return the value as PostgreSQL reads JSON; dates become texts."""
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:
        # Integers beyond 64 bits, which PostgreSQL knows, and lone surrogates, which it refuses.
        return json.dumps(value, default=str)


def _run_row(upload_id: int, place: RowsOfRun, record: RunRecord) -> dict[str, Any]:
    """Return a run by the names of _RUN_COLUMNS."""
    probe = probe_of(one[:3] for one in record.readings)
    return {
        "upload_id": upload_id,
        "key": record.key,
        "project_id": place.version.project_id,
        "version_id": place.version.pk,
        "branch": record.branch,
        "hardware_id": place.hardware.pk,
        "environment_id": place.environment_id,
        "configuration_id": place.configuration_id,
        "content_id": place.content_id,
        "counterpart": record.counterpart,
        "workload_id": place.workload.pk,
        "threads": record.threads,
        "repetition": record.repetition,
        "started_at": record.started_at,
        "started_at_is_assumed": record.started_at_is_assumed,
        "duration_s": record.duration_s,
        "probe": probe and probe.value,
        "options": {**record.facts, **record.options},
        "tags": record.tags,
        "notes": record.notes,
        "warnings": list(filter(None, [*record.warnings, _option_warning(place, record)])),
    }


def _identity(place: RowsOfRun, record: RunRecord) -> Identity:
    return Identity(
        workload_id=place.workload.pk,
        product_id=place.product.pk,
        hardware_id=place.hardware.pk,
        threads=record.threads,
        configuration_id=place.configuration_id,
        branch=record.branch,
        line=line_of(record.branch, place.product.name, place.version.version),
        build=place.version.build,
        counterpart=record.counterpart,
    )


def _option_warning(place: RowsOfRun, record: RunRecord) -> str:
    differing = differing_options(place.workload, record.options)
    if not differing:
        return ""
    return (
        f"the options of '{place.workload.name}' differ from those of its first run: {', '.join(differing)}"
    )


def _delete_other_runs(records_by_upload: Mapping[int, Sequence[RunRecord]]) -> set[int]:
    """Delete the runs of these uploads whose key is in no record, and return the series that they leave."""
    if not records_by_upload:
        return set()
    stay = {(upload_id, record.key) for upload_id, records in records_by_upload.items() for record in records}
    stored = Run.objects.filter(upload_id__in=records_by_upload).values_list("pk", "upload_id", "key")
    gone = [pk for pk, upload_id, key in stored if (upload_id, key) not in stay]
    return _delete_runs(gone) if gone else set()


def _delete_runs(run_ids: Collection[int]) -> set[int]:
    """Delete runs, and return the series that they leave."""
    runs = Run.objects.filter(pk__in=run_ids)
    left = set(Measurement.objects.filter(run__in=runs).values_list("series_id", flat=True).distinct())
    runs.delete()
    return left


# --- measurements -----------------------------------------------------------------------------------------

_Row = tuple[int, int, float, float | None, float | None]
"""Series, run, value, and its interval."""
_Read = Sequence[tuple[int, Identity, Sequence[Reading]]]
"""The readings of each run, by its id, with what their series share."""

_TOUCH = """
    INSERT INTO results_touchedseries AS touched (series_id, touched_at, due_since, quiet)
    -- now() is the start of the transaction: nothing that it records is older.
    SELECT series_id, %(at)s, now(), %(quiet)s FROM unnest(%(touched)s::bigint[]) AS series_id
    ON CONFLICT (series_id) DO UPDATE
    SET touched_at = excluded.touched_at, quiet = touched.quiet AND excluded.quiet
"""
_COLUMNS = ("series", "runs", "values", "lows", "highs")
_MEASURE = """
    INSERT INTO results_measurement AS measurement (series_id, run_id, value, low, high)
    SELECT * FROM unnest(
        %(series)s::bigint[], %(runs)s::bigint[],
        %(values)s::float8[], %(lows)s::float8[], %(highs)s::float8[]
    )
"""
# To look for a row that is there already takes a quarter of the time.
_MEASURE_ANEW = f"""
    {_MEASURE}
    ON CONFLICT (series_id, run_id) DO UPDATE
    SET value = excluded.value, low = excluded.low, high = excluded.high
    WHERE (measurement.value, measurement.low, measurement.high)
        IS DISTINCT FROM (excluded.value, excluded.low, excluded.high)
"""  # noqa: S608 - of our own names
_MEASURE_AND_TOUCH = f"WITH measured AS ({_MEASURE}) {_TOUCH}"
_MEASURE_ANEW_AND_TOUCH = f"WITH measured AS ({_MEASURE_ANEW}) {_TOUCH}"
# The fields that the series of one scaling curve share.
_OF_A_CURVE = [name for name in Series.IDENTITY if name not in ("threads", "metric")]


def _measure(project: Project, read: _Read, *, anew: bool, left: set[int], quiet: bool) -> None:
    """Make the measurements of these runs those of their readings, each in the series where it belongs.

    Without ``anew`` nothing was measured in these runs before.
    """
    series = series_for(project, [(identity, readings) for _, identity, readings in read])
    measured = [
        (of_run[reading.metric], run_id, reading)
        for run_id, identity, readings in read
        for of_run in [series[identity]]
        for reading in readings
    ]
    adopt_or_refuse_units(measured)
    note_printed_units(measured)
    rows = sorted([(one.pk, run_id, r.value, r.low, r.high) for one, run_id, r in measured])
    gone = _delete_measurements([run_id for run_id, _, _ in read], stay=rows) if anew else set()
    if rows:
        _write_measurements(rows, anew=anew, quiet=quiet)
    _settle(left=(left | gone) - {row[0] for row in rows}, quiet=quiet)


def _delete_measurements(run_ids: Collection[int], *, stay: Sequence[_Row]) -> set[int]:
    """Delete measurements of these runs that are in no row, and return the series that they leave."""
    stored = Measurement.objects.filter(run__in=run_ids).values_list("series_id", "run_id")
    gone = sorted(set(stored) - {row[:2] for row in stay})
    delete_measurements(gone)
    return {series for series, _ in gone}


def _write_measurements(rows: Sequence[_Row], *, anew: bool, quiet: bool) -> None:
    """Write measurements; the series that they enter are due for analysis from now on."""
    columns = {name: _array(column) for name, column in zip(_COLUMNS, zip(*rows, strict=True), strict=True)}
    touched = sorted({row[0] for row in rows})
    with connection.cursor() as cursor:
        cursor.execute(
            _MEASURE_ANEW_AND_TOUCH if anew else _MEASURE_AND_TOUCH,
            {**columns, "touched": touched, "at": timezone.now(), "quiet": quiet},
        )
    ring_analysis()


def _array(numbers: Iterable[float | None]) -> str:
    """Return numbers as PostgreSQL writes an array: the driver refuses integers beside fractions."""
    return "{" + ",".join(["NULL" if one is None else repr(one) for one in numbers]) + "}"


def _settle(*, left: set[int], quiet: bool) -> None:
    """Delete those of the series that were left empty; the others are due for analysis.

    Derived series are left to analysis, which fills or deletes them; those of an emptied series are due too.
    """
    empty = _emptied(left) if left else set()
    curves: set[int] = set()
    if empty:
        gone = Series.objects.filter(pk__in=empty, **{name: OuterRef(name) for name in _OF_A_CURVE})
        curves = set(Series.objects.filter(Exists(gone), is_derived=True).values_list("pk", flat=True))
        Series.objects.filter(pk__in=empty).delete()
    touch((left | curves) - empty, quiet=quiet)


def _emptied(series_ids: Collection[int]) -> set[int]:
    """Return those of the series that have no measurement any more."""
    measured = Exists(Measurement.objects.filter(series=OuterRef("pk")))
    emptied = Series.objects.filter(~measured, pk__in=series_ids, is_derived=False)
    return set(emptied.values_list("pk", flat=True))
