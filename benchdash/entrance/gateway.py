"""Between ASGI, as the event loop speaks it, and WSGI, as Django speaks it in a thread (PEP 3333)."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote_to_bytes
from wsgiref.types import WSGIApplication

Scope = Mapping[str, Any]
Environ = dict[str, Any]
_Write = Callable[[bytes], object]


class File:
    """A file that Django hands over in place of the bytes of an answer."""

    def __init__(self, content: IO[bytes], _block_size: int = 0) -> None:
        self.read = content.read
        self.close = content.close


@dataclass(frozen=True)
class Answer:
    """An answer made in a thread: ``content``, or a ``file`` that is still to be read."""

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes = b""
    file: File | None = None

    @property
    def size(self) -> int:
        """The length of what follows the headers, as they say it."""
        return next((int(value) for name, value in self.headers if name.lower() == b"content-length"), 0)


def environ_of(scope: Scope) -> Environ:
    """Return the WSGI environment of a request, without its body."""
    server, client = scope.get("server") or ("", None), scope.get("client") or ("", None)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1] or ""),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": File,
    }
    _add_headers(environ, scope["headers"])
    return environ


def _add_headers(environ: Environ, headers: Iterable[tuple[bytes, bytes]]) -> None:
    for name, value in headers:
        # X_Forwarded_For would pass for X-Forwarded-For.
        if b"_" in name:
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        text = value.decode("latin-1")
        if key in environ:
            text = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        environ[key] = text


def call(application: WSGIApplication, environ: Environ, body: IO[bytes]) -> Answer:
    """Return the application's answer. Is called in a thread: it takes as long as the application does."""
    status, headers = 0, []

    def start_response(line: str, pairs: list[tuple[str, str]], _error: object = None) -> _Write:
        nonlocal status, headers
        status = int(line.split(" ", 1)[0])
        # Django's cookies begin with a space.
        headers = [(name.encode("latin-1"), value.strip().encode("latin-1")) for name, value in pairs]
        return _no_write

    parts = application({**environ, "wsgi.input": body}, start_response)
    if isinstance(parts, File):
        if environ["REQUEST_METHOD"] != "HEAD":
            return Answer(status, headers, file=parts)
        parts.close()
        return Answer(status, headers)
    try:
        content = b"".join(parts)
    finally:
        if close := getattr(parts, "close", None):
            close()
    if not any(name.lower() == b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(content)).encode()))
    return Answer(status, headers, content)


def _no_write(_data: bytes) -> object:
    raise NotImplementedError("answers are returned, not written")
