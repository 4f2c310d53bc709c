"""The worker class of gunicorn, by its documented hook: uvicorn's, with connections that have deadlines."""

import asyncio
import os
import signal
import sys

from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped] # the same
from uvicorn.server import Server
from uvicorn_worker import UvicornWorker

from benchdash.entrance.connections import Connection


class Worker(UvicornWorker):  # type: ignore[misc] # it ships no types
    CONFIG_KWARGS = {
        "http": Connection,
        "loop": "asyncio",
        "interface": "asgi3",
        "lifespan": "off",
        "ws": "none",
        # BEHIND_PROXY in benchdash.settings alone decides if a proxy's word counts.
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": 3,
    }

    async def _serve(self) -> None:
        """Do what uvicorn's worker does, and keep the server to end it."""
        self.config.app = self.wsgi
        self.wsgi.retire = self._retire
        self._server = Server(self.config)
        self._install_sigquit_handler()
        await self._server.serve(sockets=self.sockets)
        if not self._server.started:
            sys.exit(Arbiter.WORKER_BOOT_ERROR)

    def _retire(self, reason: str) -> None:
        """Have gunicorn start a successor, accept no more connections, and end when the last one is closed.

        Gunicorn counts one process more until this one is gone (``child_exit`` in its settings).
        """
        self.log.info("Replacing worker (pid: %s): %s", self.pid, reason)
        os.kill(self.ppid, signal.SIGTTIN)
        for listener in self._server.servers:
            listener.close()
        self._end = asyncio.create_task(self._end_when_drained())

    async def _end_when_drained(self) -> None:
        state = self._server.server_state
        await asyncio.sleep(0.1)  # a connection that was just accepted is not among them yet
        while state.connections or state.tasks:
            await asyncio.sleep(0.1)
        self._server.should_exit = True
