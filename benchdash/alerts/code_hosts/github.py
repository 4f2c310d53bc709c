"""GitHub, and servers that speak as it does: a status of a commit, and a comment of a pull request.

https://docs.github.com/en/rest/commits/statuses and https://docs.github.com/en/rest/issues/comments
"""

from typing import TYPE_CHECKING, Final

from benchdash.alerts.code_hosts import calls

if TYPE_CHECKING:
    from benchdash.alerts.code_hosts import CommitStatus
    from benchdash.alerts.models import CodeHost

API_URL: Final = "https://api.github.com"
MAX_SENTENCE: Final = 140


def check(host: "CodeHost") -> None:
    """Ask for the repository. Raises RefusedError or UnavailableError."""
    calls.ask("GET", _repository(host), _headers(host))


def set_status(host: "CodeHost", commit: str, status: "CommitStatus") -> None:
    """Say beside the commit how it did. Raises RefusedError or UnavailableError."""
    sent = {
        "state": status.state,
        "description": status.sentence[:MAX_SENTENCE],
        "target_url": status.url,
        "context": host.status_name,
    }
    calls.ask("POST", f"{_repository(host)}/statuses/{commit}", _headers(host), sent)


def find_comment(host: "CodeHost", number: int, mark: str) -> int | None:
    """Return the id of the comment of the pull request that begins with the mark.

    Raises RefusedError or UnavailableError.
    """
    found = calls.comments(f"{_repository(host)}/issues/{number}/comments", _headers(host))
    return next((comment for comment, text in found if text.startswith(mark)), None)


def write_comment(host: "CodeHost", number: int, text: str, comment: int | None) -> int:
    """Write the comment, and return its id. Raises RefusedError or UnavailableError."""
    if comment is None:
        return calls.written(f"{_repository(host)}/issues/{number}/comments", _headers(host), "POST", text)
    return calls.written(f"{_repository(host)}/issues/comments/{comment}", _headers(host), "PATCH", text)


def _repository(host: "CodeHost") -> str:
    return f"{host.api_url}/repos/{host.repository}"


def _headers(host: "CodeHost") -> dict[str, str]:
    return {
        "Authorization": f"Bearer {host.secret}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
