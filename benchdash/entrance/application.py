"""The ASGI application: reads a request, lets a thread answer it, and sends the answer."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from io import BytesIO
from pathlib import Path
from resource import getpagesize
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, TypeVar
from wsgiref.types import WSGIApplication

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from rest_framework.exceptions import APIException, Throttled

from benchdash.client_address import believed_address, network_of
from benchdash.database.bounds import OutOfTimeError, RequestBounds
from benchdash.entrance.bodies import declared_bytes, limit_for, max_bytes_of_anyone
from benchdash.entrance.connections import Connection, current_connection, visitors
from benchdash.entrance.gateway import Answer, Environ, Scope, call, environ_of
from benchdash.entrance.heavy import RETRY_S, Turns, is_heavy
from benchdash.entrance.middleware import REFUSAL, REFUSALS

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
T = TypeVar("T")

_HEALTH: Final = "/healthz"
_BAD_REQUEST: Final = 400
_MAX_BYTES_IN_MEMORY: Final = 1024 * 1024
_STATM: Final = Path("/proc/self/statm")
_CHUNK: Final = 256 * 1024
# A refused client reads the answer only when it has sent its request. This much of it is waited for.
_LINGER_SECONDS: Final = 1.0
_MAX_LINGER_BYTES: Final = 16 * 1024 * 1024


class TooSlow(APIException):
    status_code = 408
    default_detail = "the request did not arrive in time"


class _ClientGone(Exception):  # noqa: N818 - nobody is left to be told
    """The connection was closed before the request was complete."""


class Entrance:
    """Reads whole requests, has a fixed number of threads answer them, and sends the answers.

    A thread keeps its database connection from one request to the next. ``retire``, with a reason, has this
    process replaced; from then on each connection is closed after its next answer.
    """

    retire: Callable[[str], None] | None = None

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._unsent: Counter[str] = Counter()
        self._turns = Turns()
        self._threads = ThreadPoolExecutor(settings.WEB_THREADS, thread_name_prefix="web")
        # For what needs no database: no page keeps it waiting.
        self._quick_thread = ThreadPoolExecutor(1, thread_name_prefix="quick")
        self._is_retiring = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = current_connection()
        connection.lift_deadline()
        environ = environ_of(scope)
        address = believed_address(environ["REMOTE_ADDR"], environ.get("HTTP_X_FORWARDED_FOR", ""))
        with _counted(address) as is_let_in:
            try:
                answer = await self._answer(environ, address, receive, is_let_in=is_let_in)
            except _ClientGone:
                return
            connection.cut_off_in(settings.ANSWER_SECONDS + answer.size / settings.MIN_BYTES_PER_SECOND)
            with self._in_memory(answer, address):
                await _send(answer, connection, send)
                if REFUSAL in environ:
                    await _linger(receive)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        if _resident_bytes() > settings.MAX_PROCESS_BYTES:
            self._retire("its memory grew")
        connection.cut_off_in(settings.REQUEST_HEAD_SECONDS)

    async def _answer(self, environ: Environ, address: str, receive: Receive, *, is_let_in: bool) -> Answer:
        """Read the request and answer it. Raises _ClientGone. The middleware words refusals."""
        with SpooledTemporaryFile(_MAX_BYTES_IN_MEMORY) as body:
            try:
                if not is_let_in or self._unsent[address] > settings.MAX_UNSENT_BYTES_PER_ADDRESS:
                    raise Throttled(RETRY_S, "too many requests at a time")
                await self._take_in(environ, body, receive)
                answer = await self._made(environ, address, body)
            except REFUSALS as error:
                environ[REFUSAL] = error
                answer = await self._quickly(environ, body)
        if REFUSAL in environ or self._is_retiring:
            answer.headers.append((b"connection", b"close"))
        return answer

    async def _made(self, environ: Environ, address: str, body: IO[bytes]) -> Answer:
        """Answer a request in one of the threads. Raises one of REFUSALS."""
        path = environ["PATH_INFO"]
        if path == _HEALTH:
            return await self._quickly(environ, body)
        async with self._turns.turn(network_of(address)) if is_heavy(path) else nullcontext():
            if current_connection().is_lost:
                raise _ClientGone
            bounds = RequestBounds.of_request(declared_bytes(environ))
            try:
                answer = await self._in_thread(bounds, call, self._application, environ, body)
            finally:
                if isinstance(bounds.error, OutOfTimeError):
                    self._retire("a request took too long")
        if bounds.error and answer.status < _BAD_REQUEST:  # something took the error for another
            raise bounds.error
        return answer

    def _retire(self, reason: str) -> None:
        if self.retire and not self._is_retiring:
            self._is_retiring = True
            self.retire(reason)

    @contextmanager
    def _in_memory(self, answer: Answer, address: str) -> Iterator[None]:
        """Count the bytes of an answer while they are sent."""
        self._unsent[address] += len(answer.content)
        try:
            yield
        finally:
            self._unsent[address] -= len(answer.content)
            if not self._unsent[address]:
                del self._unsent[address]

    async def _take_in(self, environ: Environ, body: IO[bytes], receive: Receive) -> None:
        """Read the body and note its length. Raises one of REFUSALS, or _ClientGone."""
        if not (environ.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" in environ):
            return
        size, began = 0, asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(settings.REQUEST_BODY_SECONDS) as deadline:
                limit = await self._limit(environ, declared_bytes(environ))
                async for chunk in _chunks(receive):
                    size += len(chunk)
                    if size > limit:
                        limit = await self._limit(environ, size)
                    await _write(body, chunk, size)
                    extra = size / settings.MIN_BYTES_PER_SECOND
                    deadline.reschedule(began + settings.REQUEST_BODY_SECONDS + extra)
        except TimeoutError:
            raise TooSlow from None
        body.seek(0)
        environ["CONTENT_LENGTH"] = str(size)

    async def _limit(self, environ: Environ, size: int) -> int:
        """Return how many bytes the sender may send. Raises one of REFUSALS if these are more."""
        if size <= max_bytes_of_anyone():
            return max_bytes_of_anyone()
        return await self._in_thread(RequestBounds.of_request(0), _limit_for, environ, size)

    async def _in_thread(self, bounds: RequestBounds, function: Callable[..., T], *args: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _within, bounds, function, *args)

    async def _quickly(self, environ: Environ, body: IO[bytes]) -> Answer:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._quick_thread, call, self._application, environ, body)


def _within(bounds: RequestBounds, function: Callable[..., T], *args: Any) -> T:
    with bounds.hold():
        return function(*args)


def _limit_for(environ: Environ, size: int) -> int:
    close_old_connections()
    return limit_for(WSGIRequest({**environ, "wsgi.input": BytesIO()}), size)


@contextmanager
def _counted(address: str) -> Iterator[bool]:
    """Count a request behind a proxy, for as long as it lasts; False if its address has too many."""
    is_let_in = not settings.BEHIND_PROXY or visitors.enter(address)
    try:
        yield is_let_in
    finally:
        if is_let_in and settings.BEHIND_PROXY:
            visitors.leave(address)


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise _ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _write(body: IO[bytes], chunk: bytes, size: int) -> None:
    if size <= _MAX_BYTES_IN_MEMORY:
        body.write(chunk)
    else:  # to a disk, which may be slow
        await asyncio.to_thread(body.write, chunk)


async def _send(answer: Answer, connection: Connection, send: Send) -> None:
    """Send all but the end of an answer, and read what is in a file at the pace at which it is taken."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    if answer.file is None:
        await send({"type": "http.response.body", "body": answer.content, "more_body": True})
        return
    try:
        while not connection.is_lost and (chunk := await asyncio.to_thread(answer.file.read, _CHUNK)):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        await asyncio.to_thread(answer.file.close)


def _resident_bytes() -> int:
    """Return how much memory this process holds; 0 where the system does not say it."""
    try:
        return int(_STATM.read_text().split()[1]) * getpagesize()
    except OSError:
        return 0


async def _linger(receive: Receive) -> None:
    """Read a little more of a refused request: a client that is still sending would miss the answer."""
    read = 0
    with suppress(TimeoutError, _ClientGone):
        async with asyncio.timeout(_LINGER_SECONDS):
            async for chunk in _chunks(receive):
                read += len(chunk)
                if read > _MAX_LINGER_BYTES:
                    return
