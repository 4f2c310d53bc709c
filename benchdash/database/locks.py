"""Locks of PostgreSQL that outlast transactions; a process that dies lets go of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone_with(kind: str, number: int = 0) -> Iterator[bool]:
    """Whether nobody else has this one of its kind. It is held from one transaction to the next."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, %s))", [kind, number])
        is_alone = bool(cursor.fetchone()[0])
        try:
            yield is_alone
        finally:
            if is_alone:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, %s))", [kind, number])


def is_free(kind: str, number: int = 0) -> bool:
    """Whether nobody else has this one of its kind; it is then held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, %s))", [kind, number])
        return bool(cursor.fetchone()[0])
