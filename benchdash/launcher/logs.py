"""Logs that stay small while everything runs for months."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

MAX_LOG_BYTES = 10 * 2**20


def rotate(log: Path, *, max_bytes: int = MAX_LOG_BYTES) -> None:
    """Keep what a log that has grown too long says as ``NAME.1``, and go on with an empty one.

    Programs append to the file that they opened and need not know of it. A line that is written at this
    moment may be lost.
    """
    if not log.exists() or log.stat().st_size <= max_bytes:
        return
    # On a full disk, the older lines are lost rather than the room that they take.
    with suppress(OSError):
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)
