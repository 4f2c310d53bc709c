"""The embedded PostgreSQL and Redis: where they live and how they are reached."""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

# The longest path that a Unix socket may have is 107 bytes; the servers add a file name of their own.
_LONGEST_SOCKET_FOLDER = 80


def socket_folder(var: Path) -> Path:
    """``var/run``, or a short folder of the user's own where that path is too long for a socket."""
    folder = var / "run"
    if len(os.fsencode(folder)) <= _LONGEST_SOCKET_FOLDER:
        return folder
    digest = hashlib.sha256(os.fsencode(var)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"benchdash-{os.getuid()}-{digest}"


def database_url(var: Path) -> str:
    return f"postgres://postgres@/benchdash?host={socket_folder(var)}"


def redis_url(var: Path) -> str:
    return f"unix://{socket_folder(var) / 'redis.sock'}"


def secret_key(var: Path) -> str:
    """The key of this ``var/``, made at its first use and readable by its owner alone."""
    file = var / "secret_key"
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        pass
    var.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_text().strip()
    with os.fdopen(descriptor, "w") as handle:
        handle.write(secrets.token_urlsafe(50))
    return file.read_text().strip()
