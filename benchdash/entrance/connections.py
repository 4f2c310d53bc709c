"""Connections of clients: their limit per address, and their deadlines."""

import asyncio
from collections import Counter
from contextvars import ContextVar
from typing import Any, Final

from django.conf import settings
from uvicorn.protocols.http.h11_impl import H11Protocol

_TOO_MANY: Final = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: 21\r\nRetry-After: 5\r\nConnection: close\r\n\r\nToo many connections\n"
)


class Visitors:
    """The number of open connections, or requests, of each address in this process."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count one more and return True, or return False where the limit is reached."""
        if self._open[address] >= settings.MAX_CONNECTIONS_PER_ADDRESS:
            return False
        if self._open.total() >= settings.MAX_CONNECTIONS:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]


# Connections are counted, or requests behind a proxy, which holds all connections itself.
visitors: Final = Visitors()


class Connection(H11Protocol):
    """A connection that is cut off at a deadline, whatever its client does.

    Its first deadline is that of a request's head, counted from the beginning of the connection; the
    application sets the others.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._address: str | None = None
        self.is_lost = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        if peer and not settings.BEHIND_PROXY:
            if not visitors.enter(peer[0]):
                transport.write(_TOO_MANY)
                transport.close()
                return
            self._address = peer[0]
        self.cut_off_in(settings.REQUEST_HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        # The task that answers the request inherits this value.
        _current.set(self)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self.lift_deadline()
        if self._address is not None:
            visitors.leave(self._address)
        super().connection_lost(exc)

    def cut_off_in(self, seconds: float) -> None:
        """Set the deadline; there is one at a time."""
        self.lift_deadline()
        if not self.is_lost:
            self._deadline = asyncio.get_running_loop().call_later(seconds, self.transport.abort)

    def lift_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None


_current: ContextVar[Connection] = ContextVar("connection")


def current_connection() -> Connection:
    """Return the connection of the request that is being answered."""
    return _current.get()
