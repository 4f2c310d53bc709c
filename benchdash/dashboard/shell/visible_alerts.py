"""Which alerts somebody sees: they name the addresses of others."""

from django.db.models import QuerySet

from benchdash.accounts.models import Scope
from benchdash.alerts.models import Alert
from benchdash.dashboard.shell.project_page import ProjectPage


def alerts_shown_to(page: ProjectPage) -> QuerySet[Alert]:
    """The alerts of the project for those who triage; for others those to their own address."""
    alerts = Alert.objects.filter(project=page.project)
    return alerts if page.may(Scope.TRIAGE) else alerts.filter(address=page.viewer.address)
