"""How pull requests are answered: one module per kind of code host.

Each has ``API_URL`` and four functions: ``check(host)`` asks for the repository; ``set_status(host, commit,
status)`` says beside a commit how it did; ``write_comment(host, number, text, comment)`` writes the comment
with this id anew, or a new one for None, and returns its id; ``find_comment(host, number, mark)`` returns the
id of the comment that begins with the mark, or None. All raise RefusedError or UnavailableError.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Final, Literal

from benchdash.alerts.code_hosts import github, gitlab

StatusState = Literal["pending", "success", "failure"]
_KINDS: Final[dict[str, ModuleType]] = {"github": github, "gitlab": gitlab}


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """The status beside a commit: a state, a sentence, and the page that shows why."""

    state: StatusState
    sentence: str
    url: str


def code_host(kind: str) -> ModuleType:
    """Return the module of a kind: ``github`` or ``gitlab``."""
    return _KINDS[kind]
