"""Django's backend for PostgreSQL, with more prepared statements per connection."""

from typing import Any

from django.db.backends.postgresql import base

# The driver keeps 100, and all pages together have more. A plan takes some 20 kB of the server's memory.
MAX_PREPARED = 200


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.prepared_max = MAX_PREPARED
        return connection
