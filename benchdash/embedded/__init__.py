"""The embedded PostgreSQL and Redis: where they live and how they are reached."""

import hashlib
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

# The longest path that a Unix socket may have is 107 bytes; the servers add a file name of their own.
_LONGEST_SOCKET_FOLDER = 80
# What stands in a URL and in the settings of both servers as it is.
_PLAIN_PATH = re.compile(r"[\w./-]+", re.ASCII)


def socket_folder(var: Path) -> Path:
    """``var/run``, or a short folder of the user's own where that path is too long or odd for a socket."""
    folder = var / "run"
    if len(os.fsencode(folder)) <= _LONGEST_SOCKET_FOLDER and _PLAIN_PATH.fullmatch(str(folder)):
        return folder
    digest = hashlib.sha256(os.fsencode(var)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"benchdash-{os.getuid()}-{digest}"


def database_url(var: Path) -> str:
    return f"postgres://benchdash@:5432/benchdash?host={socket_folder(var)}"


def redis_url(var: Path) -> str:
    return f"unix://{socket_folder(var) / 'redis.sock'}"


def secret_key(var: Path) -> str:
    """The key of this ``var/``, made at its first use and readable by its owner alone."""
    file = var / "secret_key"
    if not file.exists():
        _make_secret_key(file)
    return file.read_text()


def _make_secret_key(file: Path) -> None:
    file.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=file.parent, prefix=".secret_key-")
    with os.fdopen(descriptor, "w") as handle:
        handle.write(secrets.token_urlsafe(50))
    # The name appears with the whole key behind it; who comes second takes the key of the first.
    with suppress(FileExistsError):
        os.link(draft, file)
    Path(draft).unlink()
