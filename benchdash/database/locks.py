"""Advisory locks of PostgreSQL; they are freed when their process dies."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone_with(kind: str, number: int = 0) -> Iterator[bool]:
    """Try to hold a lock during the block, across transactions, and yield whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, %s))", [kind, number])
        is_alone = bool(cursor.fetchone()[0])
        try:
            yield is_alone
        finally:
            if is_alone:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, %s))", [kind, number])


def is_free(kind: str, number: int = 0) -> bool:
    """Try to hold a lock until the transaction ends, and return whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, %s))", [kind, number])
        return bool(cursor.fetchone()[0])


def hold(kind: str, number: int = 0) -> None:
    """Wait for a lock, and hold it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))", [kind, number])
