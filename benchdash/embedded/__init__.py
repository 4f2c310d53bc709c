"""The embedded PostgreSQL and Redis: where they live and how they are reached."""

import hashlib
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

# The path of a Unix socket has at most 107 bytes; the servers add a file name of their own.
MAX_SOCKET_FOLDER_BYTES = 80
# Needs no quoting in a URL or in the settings of either server.
_PLAIN_PATH = re.compile(r"[\w./-]+", re.ASCII)


class ServerError(Exception):
    """An embedded server could not be started or stopped; the message is one sentence for a person."""


def socket_folder(var: Path) -> Path:
    """Return ``var/run``, or a short folder of the user's where that path is too long or odd for a socket."""
    folder = var / "run"
    if len(os.fsencode(folder)) <= MAX_SOCKET_FOLDER_BYTES and _PLAIN_PATH.fullmatch(str(folder)):
        return folder
    digest = hashlib.sha256(os.fsencode(var)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"benchdash-{os.getuid()}-{digest}"


def database_url(var: Path) -> str:
    return f"postgres://benchdash@:5432/benchdash?host={socket_folder(var)}"


def redis_url(var: Path) -> str:
    return f"unix://{socket_folder(var) / 'redis.sock'}"


def secret_key(var: Path) -> str:
    """Return the secret key of this ``var/``, made at its first use and readable by its owner alone."""
    file = var / "secret_key"
    if not file.exists():
        _make_secret_key(file)
    return file.read_text()


def _make_secret_key(file: Path) -> None:
    file.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=file.parent, prefix=".secret_key-")
    with os.fdopen(descriptor, "w") as handle:
        handle.write(secrets.token_urlsafe(50))
    # Linked when it is complete; a second process takes the key of the first.
    with suppress(FileExistsError):
        os.link(draft, file)
    Path(draft).unlink()
