"""Measurements by their keys: Django's own way takes two parameters of a statement for each."""

from collections.abc import Collection

from django.db import connection

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
