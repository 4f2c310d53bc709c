"""The bare things that uploads are compared with, in the same run: a one-row insert, and a COPY."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection
from django.db.backends.utils import CursorWrapper

_INSERTS = 200
_COPIED = 100_000


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one row, in ms: CPU time of this process and of the database, and elapsed."""

    cpu: float
    elapsed: float


def one_row_insert(database_cpu_ms: Callable[[], float]) -> Cost:
    """With a commit of its own."""

    def insert(cursor: CursorWrapper) -> None:
        for at in range(_INSERTS):
            cursor.execute("INSERT INTO bare VALUES (%s, %s, %s)", [at, at, 1.5])

    return _cost(insert, _INSERTS, database_cpu_ms)


def copied_row(database_cpu_ms: Callable[[], float]) -> Cost:
    def write(cursor: CursorWrapper) -> None:
        with cursor.copy("COPY bare FROM STDIN") as copy:
            for at in range(_COPIED):
                copy.write_row((at, at, 1.5))

    return _cost(write, _COPIED, database_cpu_ms)


def _cost(write: Callable[[CursorWrapper], None], rows: int, database_cpu_ms: Callable[[], float]) -> Cost:
    with _bare_table() as cursor:
        cpu, start = _cpu_ms(database_cpu_ms), time.perf_counter()
        write(cursor)
        elapsed = 1000 * (time.perf_counter() - start)
        return Cost(cpu=(_cpu_ms(database_cpu_ms) - cpu) / rows, elapsed=elapsed / rows)


def _cpu_ms(database_cpu_ms: Callable[[], float]) -> float:
    return database_cpu_ms() + 1000 * time.process_time()


@contextmanager
def _bare_table() -> Iterator[CursorWrapper]:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS bare (series bigint, run bigint, value float8)")
        yield cursor
        cursor.execute("DROP TABLE bare")
