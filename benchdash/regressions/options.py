"""The options of a project about opinions; by default the settings of the installation hold."""

from datetime import timedelta

from django.conf import settings

from benchdash.accounts.models import Project

HISTORICAL_AFTER_DAYS = "historical_after_days"
EQUIVALENCE_MARGIN = "equivalence_margin"
RELEASE_LINE_ORDER = "release_line_order"
"""Names of release lines that follow each other in this order; others go by their version."""
LINES_NOT_COMPARED = "lines_not_compared"
"""Pairs of lines, the older first, whose releases are not compared."""
BRANCH_ORIGINS = "branch_origins"
"""Pairs of a pattern of branches (``10.11-*``) and the line or release that they started from."""
NO_ORIGIN = "none"
COMPARE_TEMPLATE = "compare_template"
"""The address of a page of the code host that shows what changed between two commits or versions."""
BUG_TEMPLATE = "bug_template"
"""The address of a bug in the bug tracker."""


def historical_after(project: Project) -> timedelta:
    """Return how long ago what is found may have begun, when its file came in, to be news."""
    days = project.options.get(HISTORICAL_AFTER_DAYS)
    return settings.HISTORICAL_AFTER if days is None else timedelta(days=days)


def equivalence_margin(project: Project) -> float:
    """Return the relative difference of two versions that does not matter: 0.02 is 2 %."""
    margin = project.options.get(EQUIVALENCE_MARGIN)
    return float(settings.EQUIVALENCE_MARGIN if margin is None else margin)


def release_line_order(project: Project) -> list[str]:
    return list(project.options.get(RELEASE_LINE_ORDER, ()))


def lines_not_compared(project: Project) -> list[tuple[str, str]]:
    return [(older, newer) for older, newer in project.options.get(LINES_NOT_COMPARED, ())]


def branch_origins(project: Project) -> list[tuple[str, str]]:
    return [(pattern, origin) for pattern, origin in project.options.get(BRANCH_ORIGINS, ())]


def compare_template(project: Project) -> str:
    return str(project.options.get(COMPARE_TEMPLATE, ""))


def bug_template(project: Project) -> str:
    return str(project.options.get(BUG_TEMPLATE, ""))
