"""Requests to the API of a code host, with JSON both ways.

A code host may answer anything: each request, and each list, is bounded in time and in bytes.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.client import HTTPException
from typing import Any, Final

from benchdash.alerts import outgoing
from benchdash.alerts.channels.errors import RefusedError, UnavailableError

# A page of comments, each as long as GitHub takes them.
MAX_REPLY_BYTES: Final = 4 * 1024 * 1024
COMMENTS_PER_PAGE: Final = 30
MAX_PAGES: Final = 50
MAX_SECONDS_OF_COMMENTS = 30.0
MAX_ID: Final = 2**63 - 1
_MIN_SECRET: Final = 8
_LATER: Final = frozenset({408, 425, 429})


def ask(method: str, url: str, headers: Mapping[str, str], sent: Mapping[str, Any] | None = None) -> Any:
    """Send JSON, or nothing, and return the JSON that came back; None for an answer without a body.

    Raises RefusedError for what the code host does not want, and UnavailableError for what may pass: an
    answer that makes no sense is one of a proxy, or of a page that says when it is back.
    """
    body = b"" if sent is None else json.dumps(sent).encode()
    whole = {"Content-Type": "application/json", "User-Agent": "benchdash", **headers}
    try:
        reply = outgoing.request(method, url, body, whole, max_reply=MAX_REPLY_BYTES + 1)
    except outgoing.ForbiddenError as error:
        raise RefusedError(str(error)) from error
    except (OSError, HTTPException) as error:
        raise UnavailableError(outgoing.reason_of(error)) from error
    except ValueError:
        raise RefusedError("the token has a character that none can have; copy it again") from None
    if not reply.is_success:
        raise _refusal(reply, headers)
    if len(reply.body) > MAX_REPLY_BYTES:
        raise UnavailableError(f"its answer is larger than {MAX_REPLY_BYTES // 1024 // 1024} MB")
    try:
        return json.loads(reply.body) if reply.body else None
    except (ValueError, RecursionError):
        raise UnavailableError("its answer is no JSON; is this the address of its API?") from None


def comments(url: str, headers: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the id and the text of each comment of a list, the oldest first.

    Raises RefusedError and UnavailableError.
    """
    until = time.monotonic() + MAX_SECONDS_OF_COMMENTS
    for page in range(1, MAX_PAGES + 1):
        if time.monotonic() > until:
            raise UnavailableError(f"its comments took more than {MAX_SECONDS_OF_COMMENTS:g} seconds")
        rows = ask("GET", f"{url}?per_page={COMMENTS_PER_PAGE}&page={page}", headers)
        if not isinstance(rows, list):
            raise UnavailableError("its list of comments is no list; is this the address of its API?")
        yield from ((_id(row), str(row.get("body") or "")) for row in rows)
        if len(rows) < COMMENTS_PER_PAGE:
            return


def written(url: str, headers: Mapping[str, str], method: str, text: str) -> int:
    """Write a comment, and return its id. Raises RefusedError and UnavailableError."""
    return _id(ask(method, url, headers, {"body": text}))


def _id(row: Any) -> int:
    """Return the id of a comment. Raises UnavailableError."""
    number = row.get("id") if isinstance(row, dict) else None
    if type(number) is not int or not 0 < number <= MAX_ID:
        raise UnavailableError("it named no comment in its answer; is this the address of its API?")
    return number


def _refusal(reply: outgoing.Reply, headers: Mapping[str, str]) -> RefusedError | UnavailableError:
    """Say what was answered, without the token: some servers repeat what they were sent."""
    body = reply.body
    for word in " ".join(headers.values()).split():
        if len(word) >= _MIN_SECRET:
            body = body.replace(word.encode(), b"***")
    words = f"it answered {replace(reply, body=body)}"
    if reply.status >= 500 or reply.status in _LATER:
        return UnavailableError(words)
    if 300 <= reply.status < 400:
        return UnavailableError(f"{words}; redirects are not followed")
    return RefusedError(words, is_permanent=reply.status != 404)
