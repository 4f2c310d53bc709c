"""Projects with more runs than a statement may have parameters, made by one statement for each table."""

from django.db import connection

from benchdash.results.summaries import recount_all
from tests.builders import make_project, make_record, make_runs, make_upload

RUNS = 70_000
# Versions, uploads, files, and counterparts with their series: more than a statement of ours may name.
KINDS = 1_100
_VERSIONS = """
    INSERT INTO results_serverversion (project_id, product_id, version, sort_key, build, "order", commit)
    SELECT project_id, product_id, version, sort_key, build, "order", lpad(to_hex(at), 40, '0')
    FROM results_serverversion, generate_series(1, %(kinds)s) at WHERE id = %(version)s
"""
_FILES = """
    INSERT INTO ingest_rawfile (project_id, sha256, size, content, storage_name)
    SELECT project_id, lpad(at::text, 64, '0'), size, content, ''
    FROM ingest_rawfile, generate_series(1, %(kinds)s) at WHERE id = %(file)s
"""
_UPLOADS = """
    INSERT INTO ingest_upload (project_id, raw_id, name, metadata, metadata_digest, state, format, errors,
        warnings, done, total, attempts, quiet, is_archive, came_alone, received_at)
    SELECT seed.project_id, file.id, name, metadata, metadata_digest, state, format, errors,
        warnings, done, total, attempts, quiet, is_archive, came_alone, received_at
    FROM ingest_upload seed JOIN ingest_rawfile file
        ON file.project_id = seed.project_id AND file.id <> seed.raw_id
    WHERE seed.id = %(upload)s
"""
_RUNS = """
    WITH uploads AS (
        SELECT id, row_number() OVER (ORDER BY id) AS kind FROM ingest_upload
        WHERE project_id = %(project)s AND id <> %(upload)s
    ), versions AS (
        SELECT id, row_number() OVER (ORDER BY id) AS kind FROM results_serverversion
        WHERE project_id = %(project)s AND id <> %(version)s
    )
    INSERT INTO results_run (project_id, upload_id, key, version_id, branch, hardware_id, environment_id,
        configuration_id, content_id, counterpart, workload_id, threads, started_at, started_at_is_assumed,
        options, tags, notes, warnings, recorded_at, excluded_reason)
    SELECT project_id, uploads.id, at::text, versions.id, branch, hardware_id, environment_id,
        configuration_id, content_id, 'client ' || kind, workload_id, threads,
        started_at + at * interval '1 minute', started_at_is_assumed,
        options, tags, notes, warnings, recorded_at, excluded_reason
    FROM results_run, generate_series(1, %(number)s) at
        JOIN uploads ON kind = at %% %(kinds)s + 1 JOIN versions USING (kind)
    WHERE results_run.id = %(run)s
"""
_SERIES = """
    INSERT INTO results_series (project_id, product_id, build, branch, line, hardware_id, configuration_id,
        counterpart, workload_id, threads, metric, unit, printed_unit, direction)
    SELECT project_id, product_id, build, branch, line, hardware_id, configuration_id,
        'client ' || kind, workload_id, threads, metric, unit, printed_unit, direction
    FROM results_series, generate_series(1, %(kinds)s) kind WHERE project_id = %(project)s
"""
_MEASUREMENTS = """
    INSERT INTO results_measurement (series_id, run_id, value)
    SELECT series.id, run.id, 100 FROM results_series series
    JOIN results_run run ON run.project_id = series.project_id AND run.counterpart = series.counterpart
    WHERE series.project_id = %(project)s AND run.id <> %(run)s
"""


def make_large_project(slug, *, runs=RUNS, kinds=KINDS, **fields):
    """A project with so many runs beside its first one, whose record has these fields; not analysed."""
    project = make_project(slug)
    upload = make_upload(project)
    record = make_record(**{"version": "unknown", "branch": "main", "commit": "f" * 40, **fields})
    [run] = make_runs([record], project=project, upload=upload)
    values = {
        "number": runs,
        "kinds": kinds,
        "project": project.pk,
        "version": run.version_id,
        "file": upload.raw_id,
        "upload": upload.pk,
        "run": run.pk,
    }
    with connection.cursor() as cursor:
        for statement in (_VERSIONS, _FILES, _UPLOADS, _RUNS, _SERIES, _MEASUREMENTS):
            cursor.execute(statement, values)
            # Else the next one is planned for a few rows.
            cursor.execute("ANALYZE")
    recount_all(project)
    return project
