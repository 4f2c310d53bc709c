"""The order of the release lines of a project."""

from collections.abc import Collection

from benchdash.accounts.models import Project
from benchdash.regressions.options import lines_not_compared, release_line_order
from benchdash.results.versions import parse_version


def line_before(line: str, lines: Collection[str], project: Project) -> str:
    """Return which of the ``lines`` comes right before a line; empty where none does, or none is to.

    Versions of no line, which have the empty one, come neither before a line nor after it.
    """
    order = release_line_order(project)
    named = [one for one in order[: order.index(line)] if one in lines] if line in order else []
    others = [one for one in lines if one and (line not in order or one not in order)]
    older = [one for one in others if _sort_key(one) < _sort_key(line)]
    before = named[-1] if named else max(older, key=_sort_key, default="")
    return "" if (before, line) in lines_not_compared(project) else before


def _sort_key(line: str) -> str:
    return parse_version(line).sort_key
