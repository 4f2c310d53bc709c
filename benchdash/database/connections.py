"""The connection of Django to PostgreSQL."""

from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from benchdash.database.bounds import bounded, current_bounds

# The driver keeps 100, and all pages together have more. A plan takes some 20 kB of the server's memory.
MAX_PREPARED = 200


def keep_more_statements(*, connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Let a new connection keep the prepared statements of all pages."""
    connection.connection.prepared_max = MAX_PREPARED


def bound_requests(*, connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Let the server stop long statements of a new connection, where it serves requests.

    A limit from its URL or its role stays. A PgBouncer, which numbers processes by itself, gets none: its
    connections are shared with workers.
    """
    if not current_bounds():
        return
    driver = connection.connection
    driver.cursor_factory = bounded(driver.cursor_factory)
    driver.execute(
        "SELECT set_config('statement_timeout', %s, false)"
        " WHERE current_setting('statement_timeout') = '0' AND pg_backend_pid() = %s",
        [f"{settings.STATEMENT_SECONDS * 1000:.0f}", driver.info.backend_pid],
    )
