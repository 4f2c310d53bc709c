"""Checks of the machine before anything starts: a folder, disk space, a port."""

import errno
import fcntl
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchdash.launcher import LaunchError

_NEEDED_DISK_MB = 300
# The web server of a launcher that was killed needs a moment to notice and to free the port.
_PORT_PATIENCE_S = 2.0


@contextmanager
def own_folder(var: Path) -> Iterator[None]:
    """Make ``var``, check that it has room, and hold it for this process alone during the block."""
    try:
        var.mkdir(mode=0o711, parents=True, exist_ok=True)
        lock = os.open(var / "launcher.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise LaunchError(f"{var} cannot be written: {os.strerror(error.errno or 0)}") from error
    try:
        _lock(lock, var)
        _require_disk(var)
        yield
    finally:
        os.close(lock)


def _lock(lock: int, var: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LaunchError(
            f"another benchdash already runs in {var}; stop it, or set BENCHDASH_VAR to another folder"
        ) from None


def _require_disk(var: Path) -> None:
    free_mb = shutil.disk_usage(var).free // 2**20
    if free_mb < _NEEDED_DISK_MB:
        raise LaunchError(
            f"the disk of {var} is full: {free_mb} MB are free, and benchdash needs {_NEEDED_DISK_MB} MB"
        )


def reserve(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address, not listening yet. Port 0 is any free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise LaunchError(f"HOST={host} is not an address of this machine") from error
    deadline = time.monotonic() + _PORT_PATIENCE_S
    while True:
        reserved = socket.socket(family, kind, protocol)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            reserved.bind(address)
        except OSError as error:
            reserved.close()
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise LaunchError(_refusal(error, host, port)) from error
            time.sleep(0.1)
        else:
            return reserved


def _refusal(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken by another program; choose another with PORT={port + 1} make run"
        )
    if error.errno == errno.EACCES:
        return f"port {port} is for root alone; choose one above 1023 with PORT=8000 make run"
    return f"HOST={host} cannot be listened on: {os.strerror(error.errno or 0)}"
