"""Django's ``migrate``, one process at a time: web servers that start together do not race."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_KEY = "hashtextextended('migrate', 0)"
_ASK_EVERY_S = 0.2
# Every database has this one whose migrations were others than those of today, which begin anew.
_OLDER = ("results", "0002_measurement_key_covers_values")
_TOO_OLD = (
    "this database was made by an older benchdash: start with a new one, by another BENCHDASH_VAR or"
    " DATABASE_URL, and send the result files to it again"
)


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with _alone(connection):
            applied = set(MigrationRecorder(connection).applied_migrations())
            if _OLDER in applied or _has_joined_in_part(applied):
                raise CommandError(_TOO_OLD)
            super().handle(*args, **options)


def _has_joined_in_part(applied: set[tuple[str, str]]) -> bool:
    """Tell whether some, but not all, of the migrations that were joined into one are applied."""
    joined = (set(one.replaces) for one in MigrationLoader(None).replacements.values())
    return any(parts & applied and parts - applied for parts in joined)


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
