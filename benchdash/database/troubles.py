"""Errors of the database, told apart by what can be done about them."""

from django.db import Error, InterfaceError, OperationalError, connection

# Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html.
_CONNECTION_LOST = ("08", "57P")
_DISK_FULL = "53100"
_CONFLICTS = ("40",)
_LOCKED = "55P03"
_SHORT_OF_RESOURCES = "53"
_STOPPED = "57014"


def is_connection_lost(error: Error) -> bool:
    """Return whether the database does not answer. A statement that the driver refuses is another matter."""
    if state := _sqlstate(error):
        return state.startswith(_CONNECTION_LOST)
    is_of_the_driver = isinstance(error, OperationalError | InterfaceError)
    return is_of_the_driver and (connection.connection is None or connection.connection.closed)


def is_disk_full(error: Error) -> bool:
    return _sqlstate(error) == _DISK_FULL


def passing_trouble(error: Error) -> str:
    """Return a sentence about trouble that may be over at the next try; "" for any other."""
    state = _sqlstate(error)
    if state.startswith(_CONFLICTS):
        return "this met another change of the same rows"
    if state == _LOCKED:
        return "another change holds what this one needs"
    if state.startswith(_SHORT_OF_RESOURCES) and state != _DISK_FULL:
        return "the database is short of memory or connections now"
    if state == _STOPPED:
        return "this took the database too long and was stopped"
    return ""


def is_everybodys(error: Exception) -> bool:
    """Return whether the database is in trouble, and not the thing that was being done."""
    if not isinstance(error, Error):
        return False
    is_conflict = _sqlstate(error).startswith((*_CONFLICTS, _LOCKED, _SHORT_OF_RESOURCES))
    return is_conflict or is_connection_lost(error)


def _sqlstate(error: Error) -> str:
    return getattr(error.__cause__, "sqlstate", None) or ""
