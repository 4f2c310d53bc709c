"""Bounds of one request of the web server: its time, and how much of the database it reads.

Nothing else is bounded: jobs, commands and tests have no current bounds.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import OperationalError, connection, connections

_SAMPLED_ROWS: Final = 10
_current: ContextVar["RequestBounds | None"] = ContextVar("bounds", default=None)


class OutOfTimeError(OperationalError):
    """The request is past its deadline."""


class OutOfRoomError(OperationalError):
    """The request read more rows or bytes than it may."""


@dataclass
class RequestBounds:
    """The rest of the bounds of a request, and the error that stopped it.

    A stopped request gets no further statement, so that nothing of a transaction that was cut is committed.
    """

    deadline: float
    rows: int
    bytes: int
    error: OutOfTimeError | OutOfRoomError | None = None

    @classmethod
    def of_request(cls, size: int) -> "RequestBounds":
        """Return the bounds of a request that begins now; a large body has longer."""
        seconds = settings.REQUEST_SECONDS + size / settings.MIN_BYTES_PER_SECOND
        return cls(time.monotonic() + seconds, settings.MAX_REQUEST_ROWS, settings.MAX_REQUEST_BYTES)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep what this thread does within the bounds."""
        reset = _current.set(self)
        try:
            with connection.execute_wrapper(self._execute):
                yield
        finally:
            _current.reset(reset)
            if self.error:
                # It may hold locks that a further statement would have freed.
                connections.close_all()

    def check(self) -> None:
        """Raise the error that stopped the request, or OutOfTimeError past the deadline."""
        if self.error is None and time.monotonic() > self.deadline:
            self.error = OutOfTimeError("this took longer than a request may take")
        if self.error is None:
            return
        if connection.in_atomic_block:
            connection.needs_rollback = True
        raise self.error

    def _execute(self, run: Callable[..., Any], *statement: Any) -> Any:
        self.check()
        answer = run(*statement)
        *_, context = statement
        if result := context["cursor"].pgresult:
            self.rows -= result.ntuples
            self.bytes -= _bytes_of(result)
        if self.rows < 0 or self.bytes < 0:
            self.error = OutOfRoomError("this reads more than a request may read")
        self.check()
        return answer


def current_bounds() -> RequestBounds | None:
    return _current.get()


def _bytes_of(result: Any) -> int:
    """Estimate the size of a result of the driver by some of its rows."""
    step: int = max(1, result.ntuples // _SAMPLED_ROWS)
    sampled = (
        result.get_value(row, field)
        for row in range(0, result.ntuples, step)
        for field in range(result.nfields)
    )
    return step * sum(len(value) for value in sampled if value is not None)


class _BoundedCursor:
    """Looks at the deadline before each chunk of rows that it hands out."""

    def fetchmany(self, size: int = 0) -> Any:
        if bounds := current_bounds():
            bounds.check()
        return super().fetchmany(size)  # type: ignore[misc] # of the driver's cursor, which comes next


def bounded(cursor: type[Any]) -> type[Any]:
    return type(cursor.__name__, (_BoundedCursor, cursor), {})
