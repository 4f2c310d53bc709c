"""Failures outside our code, and what pages and the API say about them."""

import errno
from dataclasses import dataclass

from django.db import Error

from benchdash.database import troubles
from benchdash.database.bounds import OutOfRoomError, OutOfTimeError
from benchdash.database.troubles import is_connection_lost, passing_trouble

DISK_FULL = "the disk of this installation is full, so nothing was stored; tell whoever runs it"


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer to a failure; with ``retry_after_s`` where it may be over by then."""

    status: int
    sentence: str
    retry_after_s: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after_s)} if self.retry_after_s else {}


def failure_of(error: BaseException | None) -> Failure | None:
    """Return the answer to an error; None for a mistake of ours."""
    match error:
        case _ if is_disk_full(error):
            return Failure(507, DISK_FULL)
        case OutOfTimeError():
            return Failure(503, f"{error} and was stopped; try again, or ask for less", retry_after_s=5)
        case OutOfRoomError():
            return Failure(413, f"{error}; ask for less, by a filter or a shorter period")
        case Error() if is_connection_lost(error):
            return Failure(503, "the database does not answer now; try again", retry_after_s=5)
        case Error() if sentence := passing_trouble(error):
            return Failure(503, f"{sentence}; try again", retry_after_s=5)
    return None


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether a disk, ours or that of the database, is full."""
    match error:
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return True
        case Error():
            return troubles.is_disk_full(error)
    return False
