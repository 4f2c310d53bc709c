"""Django's ``migrate``, one process at a time: web servers that start together do not race."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

_KEY = "hashtextextended('migrate', 0)"
_ASK_EVERY_S = 0.2


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with _alone(connections[options["database"]]):
            super().handle(*args, **options)


@contextmanager
def _alone(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Wait until no other process migrates. The lock goes with the connection of a process that dies."""
    with connection.cursor() as cursor:
        # A statement that waits would hold up CREATE INDEX CONCURRENTLY, which waits for statements.
        while not _is_locked(cursor):
            time.sleep(_ASK_EVERY_S)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_unlock({_KEY})")


def _is_locked(cursor: Any) -> bool:
    cursor.execute(f"SELECT pg_try_advisory_lock({_KEY})")
    return bool(cursor.fetchone()[0])
