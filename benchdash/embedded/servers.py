"""The embedded servers that are needed; they run as long as any process uses them."""

import fcntl
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Protocol

from benchdash.embedded import ServerError, socket_folder
from benchdash.embedded.postgresql import Postgresql
from benchdash.embedded.redis import Redis
from benchdash.embedded.server_user import give_to_server_user


class Server(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def log(self) -> Path: ...
    def is_running(self) -> bool: ...
    def answers(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


def needed(var: Path, environment: Mapping[str, str]) -> list[Server]:
    """Return the servers that the environment does not replace by others."""
    servers: list[Server] = []
    if not environment.get("DATABASE_URL"):
        servers.append(Postgresql(var))
    if not environment.get("REDIS_URL"):
        servers.append(Redis(var))
    return servers


@contextmanager
def running(var: Path, servers: Sequence[Server]) -> Iterator[None]:
    """Run the servers during the block; the last process that leaves stops them all.

    Raises ServerError with the reason when one cannot be started.
    """
    if not servers:
        yield
        return
    _make_folders(var)
    with (var / "servers.users").open("a") as users:
        with _change(var):
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            start_missing(var, servers)
            yield
        finally:
            with _change(var):
                if _is_last_of(users):
                    _stop(servers)


def start_missing(var: Path, servers: Sequence[Server]) -> list[Server]:
    """Start the servers that do not run, and return them."""
    if all(server.is_running() for server in servers):
        return []
    with _change(var):
        missing = [server for server in servers if not server.is_running()]
        for server in missing:
            server.start()
        return missing


def _stop(servers: Sequence[Server]) -> None:
    """Stop them all, even where one of them fails to. Raises ServerError for that one."""
    with ExitStack() as stops:
        for server in servers:
            stops.callback(_stop_one, server)


def _stop_one(server: Server) -> None:
    if server.is_running():
        server.stop()


@contextmanager
def _change(var: Path) -> Iterator[None]:
    """Let one process at a time start or stop servers."""
    with (var / "servers.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_last_of(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_folders(var: Path) -> None:
    folder = socket_folder(var)
    try:
        # Other users may pass through; private folders in it are closed themselves.
        var.mkdir(mode=0o711, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            var.chmod(var.stat().st_mode | 0o011)
        folder.mkdir(mode=0o700, exist_ok=True)
        is_ours = folder.stat().st_uid == os.geteuid() or os.geteuid() == 0
        give_to_server_user(folder)
    except OSError as error:
        raise ServerError(f"{error.filename} cannot be used: {error.strerror}") from error
    if not is_ours or stat.S_IMODE(folder.stat().st_mode) & 0o077:
        raise ServerError(f"{folder} is open to other users; remove it and start again")
