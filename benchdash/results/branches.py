"""Names of branches, as people and CI write them."""

import re
from typing import Final

_REF: Final = re.compile(r"(?:(?:refs/)?(?:heads|remotes/origin)/|origin/)+(?=.)")
_NO_BRANCH: Final = re.compile(r"HEAD|\((?:HEAD detached|no branch).*")


def branch_called(ref: str) -> str:
    """Return ``main`` for ``refs/heads/main``, ``heads/main``, ``origin/main`` and the like."""
    found = _REF.match(ref)
    return ref[found.end() :] if found else ref


def new_branch(ref: str) -> str:
    """Return the branch that runs are sent for. Raises ValueError for ``HEAD``, which is on any branch."""
    name = branch_called(ref)
    if _NO_BRANCH.fullmatch(name):
        raise ValueError(
            f"'{ref[:50]}' names no branch: send its own name, such as main; a detached checkout does not"
            " know it, but the job that made it does (GITHUB_REF_NAME, CI_COMMIT_BRANCH, BRANCH_NAME)"
        )
    return name
