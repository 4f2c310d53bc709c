"""GitLab: a status of a commit, and a note of a merge request.

https://docs.gitlab.com/api/commits/ and https://docs.gitlab.com/api/notes/
"""

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchdash.alerts.channels.errors import RefusedError
from benchdash.alerts.code_hosts import calls

if TYPE_CHECKING:
    from benchdash.alerts.code_hosts import CommitStatus
    from benchdash.alerts.models import CodeHost

API_URL: Final = "https://gitlab.com/api/v4"
MAX_SENTENCE: Final = 255
_STATES: Final = {"pending": "pending", "success": "success", "failure": "failed"}
# It does not like to be told the state that a status has already.
_ALREADY: Final = "Cannot transition status"


def check(host: "CodeHost") -> None:
    """Ask for the project. Raises RefusedError or UnavailableError."""
    calls.ask("GET", _project(host), _headers(host))


def set_status(host: "CodeHost", commit: str, status: "CommitStatus") -> None:
    """Say beside the commit how it did. Raises RefusedError or UnavailableError."""
    sent = {
        "state": _STATES[status.state],
        "description": status.sentence[:MAX_SENTENCE],
        "target_url": status.url,
        "name": host.status_name,
    }
    try:
        calls.ask("POST", f"{_project(host)}/statuses/{commit}", _headers(host), sent)
    except RefusedError as error:
        if _ALREADY not in str(error):
            raise


def find_comment(host: "CodeHost", number: int, mark: str) -> int | None:
    """Return the id of the note of the merge request that begins with the mark.

    Raises RefusedError or UnavailableError.
    """
    found = calls.comments(f"{_project(host)}/merge_requests/{number}/notes", _headers(host))
    return next((comment for comment, text in found if text.startswith(mark)), None)


def write_comment(host: "CodeHost", number: int, text: str, comment: int | None) -> int:
    """Write the note, and return its id. Raises RefusedError or UnavailableError."""
    notes = f"{_project(host)}/merge_requests/{number}/notes"
    if comment is None:
        return calls.written(notes, _headers(host), "POST", text)
    return calls.written(f"{notes}/{comment}", _headers(host), "PUT", text)


def _project(host: "CodeHost") -> str:
    return f"{host.api_url}/projects/{quote(host.repository, safe='')}"


def _headers(host: "CodeHost") -> dict[str, str]:
    return {"PRIVATE-TOKEN": host.secret}
