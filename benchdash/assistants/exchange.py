"""One message of an assistant and its answer, by the SDK: from a request of Django to a response."""

import asyncio
from collections.abc import MutableMapping
from typing import Any, Final

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from rest_framework.request import Request

from benchdash.accounts.access import Viewer
from benchdash.assistants.server import SERVER, Asking

MAX_REQUEST_BYTES: Final = 64 * 1024

_Message = MutableMapping[str, Any]
# The SDK needs no other header, and what it does not get it cannot log.
_PASSED_ON: Final = ("accept", "content-type", "mcp-")


def exchange(request: Request, viewer: Viewer) -> HttpResponse:
    """Return the SDK's answer to a request. Raises what a tool raises by mistake.

    The SDK runs in an event loop of this request; tools are called in the thread that called this function,
    with its connection to the database.
    """
    asking = Asking(viewer)
    response = async_to_sync(_answer)(_scope(request, asking), request.body)
    if asking.failure:
        raise asking.failure
    return response


async def _answer(scope: dict[str, Any], body: bytes) -> HttpResponse:
    response, parts = HttpResponse(), []
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> _Message:
        if unread:
            return unread.pop()
        # The client is there until it is answered. Who waits for it to leave is cancelled at the end.
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: _Message) -> None:
        if message["type"] == "http.response.start":
            response.status_code = message["status"]
            for name, value in message["headers"]:
                response.headers[name.decode("latin-1")] = value.decode("latin-1")
        else:
            parts.append(message.get("body", b""))

    manager = StreamableHTTPSessionManager(
        SERVER, json_response=True, stateless=True, max_request_body_size=MAX_REQUEST_BYTES
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    response.content = b"".join(parts)
    return response


def _scope(request: Request, asking: Asking) -> dict[str, Any]:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in request.headers.items()
        if name.lower().startswith(_PASSED_ON)
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": None,
        "server": None,
        Asking.KEY: asking,
    }
