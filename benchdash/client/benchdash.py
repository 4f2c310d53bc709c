#!/usr/bin/env python3
"""Measure, upload and gate from any machine: the command line of benchdash.

One file for Python 3.8 or newer, with nothing to install beside it. The environment says where the dashboard
is (BENCHDASH_URL) and who asks (BENCHDASH_TOKEN); options of the same names win.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Sequence

# How a command ends. A gate that passed and an upload that was taken are both fine.
EXIT_FINE, EXIT_REGRESSED, EXIT_CANNOT_TELL, EXIT_ERROR = 0, 1, 2, 3
REQUEST_TIMEOUT_S = 120


class ClientError(Exception):
    """What went wrong, in a sentence for the person who must act on it."""


# --- the server ---------------------------------------------------------------------------------------------


class ServerAnswer(NamedTuple):
    """What the server said: the status of HTTP and the JSON of the body."""

    status: int
    body: dict[str, Any]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def sentence(self) -> str:
        """Say what the server found wrong, with the field or the line of each error."""
        sentences = [_error_sentence(error) for error in self.body.get("errors", [])]
        return "; ".join(sentences) or str(self.body.get("detail", f"HTTP {self.status}"))


def _error_sentence(error: dict[str, Any]) -> str:
    if error.get("field"):
        return f"{error['field']}: {error['message']}"
    return f"line {error['line']}: {error['message']}" if error.get("line") else str(error["message"])


class Server(NamedTuple):
    """A dashboard, and the token with which it is asked."""

    url: str
    token: str

    def get(self, path: str, query: dict[str, str] | None = None) -> ServerAnswer:
        """Ask for ``/api/v1/`` and ``path``. Raises ClientError where no server answers."""
        asked = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self._send(urllib.request.Request(f"{self.url}/api/v1/{path}{asked}"))

    def upload(self, form: Form) -> ServerAnswer:
        """Send fields and files. Raises ClientError where no server answers."""
        boundary = uuid.uuid4().hex
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        address = f"{self.url}/api/v1/uploads/"
        return self._send(urllib.request.Request(address, form.encoded(boundary), headers))

    def _send(self, request: urllib.request.Request) -> ServerAnswer:
        request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_S) as response:
                return ServerAnswer(response.status, _read_json(response.read()))
        except urllib.error.HTTPError as error:
            return ServerAnswer(error.code, _read_json(error.read()))
        except OSError as error:
            raise ClientError(f"{self.url} does not answer: {error}") from None


def _read_json(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


class Form(NamedTuple):
    """An upload: fields by name (a name may come again), and the names, paths and bytes of files."""

    fields: list[tuple[str, str]]
    files: list[tuple[str, str, bytes]]

    def encoded(self, boundary: str) -> bytes:
        """Return the body of the request: multipart/form-data (RFC 7578)."""
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in self.fields
        ]
        for name, path, content in self.files:
            file_name = path.replace("\\", "/").replace('"', "%22")
            head = (
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n'
            )
            parts += [head.encode(), b"Content-Type: application/octet-stream\r\n\r\n", content, b"\r\n"]
        return b"".join([*parts, f"--{boundary}--\r\n".encode()])


# --- upload -------------------------------------------------------------------------------------------------

# Fields of an upload that are an option of the same name, with "-" for "_".
TEXT_FIELDS = (
    *("project", "product", "version", "build", "commit", "committed_at", "branch", "hardware"),
    *("configuration", "counterpart", "workload", "threads", "started_at", "repetition", "session"),
    *("metric", "notes", "format"),
)


def add_field_options(parser: argparse.ArgumentParser) -> None:
    """Add what may be said of a result that its file cannot say."""
    for name in TEXT_FIELDS:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT")


def fields_of(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the fields that were given as options."""
    given = [(name, getattr(options, name)) for name in TEXT_FIELDS]
    return [(name, value) for name, value in given if value is not None]


def upload(options: argparse.Namespace) -> int:
    """Send each file with the same fields."""
    server = server_of(options)
    ends = [EXIT_FINE]
    for file in options.files:
        try:
            content = Path(file).read_bytes()
        except OSError as error:
            raise ClientError(f"{file}: {error.strerror}") from None
        answer = server.upload(Form(fields_of(options), [("file", Path(file).name, content)]))
        print(f"{file}: {answer.body.get('state') if answer.is_success else answer.sentence()}")
        ends.append(EXIT_FINE if answer.is_success else EXIT_ERROR)
    return max(ends)


# --- the command line ---------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with EXIT_ERROR, because 2 means that a gate cannot tell."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_ERROR, f"{self.prog}: {message}\n")


def server_of(options: argparse.Namespace) -> Server:
    """Return the server that options or environment name. Raises ClientError where neither does."""
    for name in ("url", "token"):
        if not getattr(options, name):
            raise ClientError(f"set BENCHDASH_{name.upper()} or give --{name}")
    return Server(options.url.rstrip("/"), options.token)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; ``command`` of its result is the function to call."""
    shared = Parser(add_help=False)
    shared.add_argument("--url", default=os.environ.get("BENCHDASH_URL"), help="address of the dashboard")
    shared.add_argument("--token", default=os.environ.get("BENCHDASH_TOKEN"), help="safer in BENCHDASH_TOKEN")
    whole = Parser(prog="benchdash", description="Measure, upload and gate.")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("upload", parents=[shared], help="send result files")
    command.add_argument("files", nargs="+", metavar="FILE")
    add_field_options(command)
    command.set_defaults(command=upload)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return how it ended."""
    options = parser().parse_args(arguments)
    try:
        end: int = options.command(options)
    except ClientError as error:
        print(f"benchdash: {error}", file=sys.stderr)
        return EXIT_ERROR
    return end


if __name__ == "__main__":
    sys.exit(main())
