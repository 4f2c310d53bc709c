"""Logs of limited size."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

MAX_LOG_BYTES = 10 * 2**20


def rotate(log: Path, *, max_bytes: int = MAX_LOG_BYTES) -> None:
    """Copy a log that has grown too long to ``NAME.1``, and empty it.

    Programs go on appending to the file that they opened. A line that is written at this moment may be lost.
    """
    if not log.exists() or log.stat().st_size <= max_bytes:
        return
    # On a full disk the older lines are dropped, to free their room.
    with suppress(OSError):
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)
