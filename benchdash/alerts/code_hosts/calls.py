"""Requests to the API of a code host, with JSON both ways."""

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from itertools import count
from typing import Any, Final

from benchdash.alerts import outgoing
from benchdash.alerts.channels.errors import RefusedError, UnavailableError

# A page of comments, each as long as a code host takes.
MAX_REPLY_BYTES: Final = 16 * 1024 * 1024
COMMENTS_PER_PAGE: Final = 50
MAX_PAGES: Final = 40
_LATER: Final = frozenset({408, 425, 429})


def ask(method: str, url: str, headers: Mapping[str, str], sent: Mapping[str, Any] | None = None) -> Any:
    """Send JSON, or nothing, and return the JSON that came back; None for an answer without a body.

    Raises RefusedError for what the code host does not want, and UnavailableError for what may pass.
    """
    body = b"" if sent is None else json.dumps(sent).encode()
    whole = {"Content-Type": "application/json", "User-Agent": "benchdash", **headers}
    try:
        reply = outgoing.request(method, url, body, whole, max_reply=MAX_REPLY_BYTES)
    except outgoing.ForbiddenError as error:
        raise RefusedError(str(error)) from error
    except (OSError, HTTPException) as error:
        raise UnavailableError(outgoing.reason_of(error)) from error
    if reply.status >= 500 or reply.status in _LATER:
        raise UnavailableError(f"it answered {reply}")
    if not reply.is_success:
        raise RefusedError(f"it answered {reply}", is_permanent=reply.status != 404)
    try:
        return json.loads(reply.body) if reply.body else None
    except ValueError:
        raise RefusedError("its answer is no JSON; is this the address of its API?") from None


def comments(url: str, headers: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the id and the text of each comment of a list, the oldest first.

    Raises RefusedError and UnavailableError.
    """
    for page in count(1):
        rows = ask("GET", f"{url}?per_page={COMMENTS_PER_PAGE}&page={page}", headers)
        for row in rows if isinstance(rows, list) else ():
            yield int(row["id"]), str(row.get("body") or "")
        if not isinstance(rows, list) or len(rows) < COMMENTS_PER_PAGE or page == MAX_PAGES:
            return


def written(url: str, headers: Mapping[str, str], method: str, text: str) -> int:
    """Write a comment, and return its id. Raises RefusedError and UnavailableError."""
    row = ask(method, url, headers, {"body": text})
    if not isinstance(row, dict) or not isinstance(row.get("id"), int):
        raise RefusedError("it named no comment in its answer")
    found: int = row["id"]
    return found
