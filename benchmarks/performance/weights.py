"""What a database weighs: measurements, and what is kept beside them."""

from dataclasses import replace

from django.db import connection

from benchmarks.performance.loaded import Loaded

_BESIDE = {
    "runs": "results_run",
    "series": "results_series",
    "uploads": "ingest_upload",
    "raw files": "ingest_rawfile",
    "intervals and histograms": "results_intervalsamples",
}


def weighed(loaded: Loaded) -> Loaded:
    """With the bytes of the database as it is now: with indexes and what is stored out of line."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute(
            "SELECT (SELECT count(*) FROM results_measurement), pg_database_size(current_database()),"
            " pg_total_relation_size('results_measurement')"
        )
        measurements, of_database, of_measurements = cursor.fetchone()
        cursor.execute(
            "SELECT pg_total_relation_size(name::regclass) FROM unnest(%s::text[]) WITH ORDINALITY"
            " AS of_table (name, at) ORDER BY at",
            [list(_BESIDE.values())],
        )
        beside = [size for (size,) in cursor.fetchall()]
    return replace(
        loaded,
        measurements=measurements,
        bytes_of_measurements=of_measurements,
        bytes_of_database=of_database,
        bytes_beside=dict(zip(_BESIDE, beside, strict=True)),
    )
