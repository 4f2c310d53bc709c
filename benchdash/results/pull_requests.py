"""Pull requests: their runs are on branches of their own, apart from where they are to be merged."""

import re
from typing import Final

from django.db.models import Q

from benchdash.accounts.models import Project

PULL_REQUEST_DAYS: Final = "pull_request_days"
"""The option of a project that says for how many days results of pull requests are kept; 0: for ever."""
DEFAULT_DAYS: Final = 30
MAX_DAYS: Final = 36500
MAX_DIGITS: Final = 18
MAX_NUMBER: Final = 10**MAX_DIGITS - 1
PREFIX: Final = "pull/"
_IS_BRANCH: Final = re.compile(rf"{PREFIX}([1-9][0-9]{{0,{MAX_DIGITS - 1}}})", re.ASCII)
PATTERN: Final = f"^{_IS_BRANCH.pattern}$"
"""The pattern by which PostgreSQL knows their branches."""
_REF: Final = re.compile(
    rf"(?:(?:refs/)?(?:pull|merge-requests)/)?([1-9][0-9]{{0,{MAX_DIGITS - 1}}})/(?:head|merge)", re.ASCII
)


def branch_of(number: int) -> str:
    """Return the branch that the runs of a pull request are on: ``pull/12``."""
    return f"{PREFIX}{number}"


def number_in(branch: str) -> int | None:
    """Return the number of the pull request whose runs are on a branch; None for every other branch."""
    match = _IS_BRANCH.fullmatch(branch)
    return int(match[1]) if match else None


def number_in_ref(ref: str) -> int | None:
    """Return the number of the pull request that a branch or a ref of git means; None for every other.

    ``pull/12``, ``refs/pull/12/head``, ``12/merge`` (GitHub), ``refs/merge-requests/12/head`` (GitLab).
    """
    match = _REF.fullmatch(ref)
    return number_in(ref) or (int(match[1]) if match else None)


def is_of_pull_request(branch: str) -> bool:
    return number_in(branch) is not None


def of_pull_requests(field: str = "branch") -> Q:
    """Select the rows whose branch is that of a pull request."""
    return Q(**{f"{field}__regex": PATTERN})


def days_kept(project: Project) -> int:
    """Return for how many days results of a pull request are kept after the last came in; 0: for ever."""
    return int(project.options.get(PULL_REQUEST_DAYS, DEFAULT_DAYS))
