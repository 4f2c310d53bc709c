"""Which embedded servers are needed, and how long they run: as long as anybody uses them."""

import fcntl
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from benchdash.embedded import socket_folder
from benchdash.embedded.errors import ServerError
from benchdash.embedded.postgresql import Postgresql, give_to_server_user
from benchdash.embedded.redis import Redis


class Server(Protocol):
    def is_running(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


def needed(var: Path, environment: Mapping[str, str]) -> list[Server]:
    """Those that the environment does not replace by others."""
    servers: list[Server] = []
    if not environment.get("DATABASE_URL"):
        servers.append(Postgresql(var))
    if not environment.get("REDIS_URL"):
        servers.append(Redis(var))
    return servers


@contextmanager
def running(var: Path, servers: Sequence[Server]) -> Iterator[None]:
    """Start those that do not run yet; the last process that leaves stops them all.

    Raises ServerError with the reason when one cannot be started.
    """
    if not servers:
        yield
        return
    _make_folders(var)
    with (var / "servers.lock").open("w") as change, (var / "servers.users").open("w") as use:
        # Only who holds the first lock starts or stops a server; who uses them shares the second.
        fcntl.flock(change, fcntl.LOCK_EX)
        fcntl.flock(use, fcntl.LOCK_SH)
        try:
            start(servers)
            fcntl.flock(change, fcntl.LOCK_UN)
            yield
        finally:
            fcntl.flock(change, fcntl.LOCK_EX)
            if _is_last(use):
                stop(servers)


def start(servers: Sequence[Server]) -> None:
    for server in servers:
        if not server.is_running():
            server.start()


def stop(servers: Sequence[Server]) -> None:
    for server in reversed(servers):
        if server.is_running():
            server.stop()


def _is_last(use: IO[str]) -> bool:
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_folders(var: Path) -> None:
    folder = socket_folder(var)
    try:
        # Others may pass through to what is theirs; what is private is closed by itself.
        var.mkdir(mode=0o711, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        give_to_server_user(folder)
    except PermissionError as error:
        raise ServerError(f"{error.filename} belongs to another user") from error
    facts = folder.stat()
    if stat.S_IMODE(facts.st_mode) & 0o077:
        raise ServerError(f"{folder} is open to other users; remove it and start again")
