"""The options of a project about opinions; by default the settings of the installation hold."""

from datetime import timedelta

from django.conf import settings

from benchdash.accounts.models import Project

HISTORICAL_AFTER_DAYS = "historical_after_days"
EQUIVALENCE_MARGIN = "equivalence_margin"


def historical_after(project: Project) -> timedelta:
    """Return how long ago what is found may have begun, when its file came in, to be news."""
    days = project.options.get(HISTORICAL_AFTER_DAYS)
    return settings.HISTORICAL_AFTER if days is None else timedelta(days=days)


def equivalence_margin(project: Project) -> float:
    """Return the relative difference of two versions that does not matter: 0.02 is 2 %."""
    margin = project.options.get(EQUIVALENCE_MARGIN)
    return float(settings.EQUIVALENCE_MARGIN if margin is None else margin)
