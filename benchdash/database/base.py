"""Django's backend for PostgreSQL, with connections that are checked for nothing and keep more statements."""

import select
from typing import Any

from django.db.backends.postgresql import base

# All pages together ask more than the 100 that the driver keeps; a plan takes some 20 kB of the server.
_MOST_PREPARED = 200


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.prepared_max = _MOST_PREPARED
        return connection

    def is_usable(self) -> bool:
        """Whether the server has not ended the connection; Django asks before each request that reads.

        A server has nothing to say to a connection at rest but that it ends, so the socket knows. To ask
        with SELECT 1 would be a statement more for each request.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return not waiting.poll(0)
