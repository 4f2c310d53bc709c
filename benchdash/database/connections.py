"""The connection of Django to PostgreSQL."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

# The driver keeps 100, and all pages together have more. A plan takes some 20 kB of the server's memory.
MAX_PREPARED = 200


def keep_more_statements(*, connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Let a new connection keep the prepared statements of all pages."""
    connection.connection.prepared_max = MAX_PREPARED
