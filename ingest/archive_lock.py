"""One at a time imports or changes an archive; who dies lets go of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_KEY = "hashtextextended('archive', %s)"


@contextmanager
def alone_with(archive_id: int) -> Iterator[bool]:
    """Whether nobody else has the archive. It is held from one transaction to the next."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_lock({_KEY})", [archive_id])
        is_alone = bool(cursor.fetchone()[0])
        try:
            yield is_alone
        finally:
            if is_alone:
                cursor.execute(f"SELECT pg_advisory_unlock({_KEY})", [archive_id])


def is_free(archive_id: int) -> bool:
    """Whether nobody else has the archive; it is then held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_xact_lock({_KEY})", [archive_id])
        return bool(cursor.fetchone()[0])
