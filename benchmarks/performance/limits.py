"""The bare things that the database part is compared with, in the same run: a one-row insert, and a COPY."""

import time

from django.db import connection

_INSERTS = 200
_COPIED = 100_000


def one_row_insert_ms() -> float:
    """Elapsed, of a row with a commit."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS bare (series bigint, run bigint, value float8)")
        start = time.perf_counter()
        for at in range(_INSERTS):
            cursor.execute("INSERT INTO bare VALUES (%s, %s, %s)", [at, at, 1.5])
        elapsed = time.perf_counter() - start
        cursor.execute("DROP TABLE bare")
    return 1000 * elapsed / _INSERTS


def copied_rows_per_s() -> float:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS bare (series bigint, run bigint, value float8)")
        start = time.perf_counter()
        with cursor.copy("COPY bare FROM STDIN") as copy:
            for at in range(_COPIED):
                copy.write_row((at, at, 1.5))
        elapsed = time.perf_counter() - start
        cursor.execute("DROP TABLE bare")
    return _COPIED / elapsed
