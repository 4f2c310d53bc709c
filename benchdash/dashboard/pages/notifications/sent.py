"""Mails that were sent, are owed, or cannot be sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest

from benchdash.accounts.models import Scope
from benchdash.alerts import services as mailing
from benchdash.alerts.mail_files import kept_mails, mails_are_files
from benchdash.alerts.models import Alert, Digest, OwedMail
from benchdash.alerts.outgoing import server_of
from benchdash.alerts.owing import still_owed
from benchdash.dashboard.shell.filters import unknown_value
from benchdash.dashboard.shell.project_page import ProjectPage, alerts_shown_to

_PAGE: Final = 20
_MAX_MAILS: Final = 10
_ALERT_STATES: Final = {
    "failing": Q(sent_at=None) & ~Q(error=""),
    "owed": Q(sent_at=None, error=""),
    "sent": Q(sent_at__isnull=False),
}


def sent_context(request: HttpRequest, page: ProjectPage) -> dict[str, Any]:
    """Return the alerts in the state that the address asks for, the digests, and what hinders mail."""
    alerts, may_retry = alerts_shown_to(page), page.may(Scope.TRIAGE)
    asked = request.GET.get("state", "")
    counts = alerts.aggregate(**{name: Count("pk", filter=of) for name, of in _ALERT_STATES.items()})
    found = alerts.filter(_ALERT_STATES.get(asked, Q())).select_related(
        "incident__product", "incident__hardware", "incident__silence__workload", "event"
    )
    found = found.order_by(F("sent_at").desc(nulls_first=True), "-owed_at", "-pk")
    pages = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    unknown = asked and asked not in _ALERT_STATES
    return {
        "unknown": [unknown_value("state", asked, _ALERT_STATES)] if unknown else [],
        "states": [(name, count, name == asked) for name, count in counts.items() if count],
        "is_one_state": asked in _ALERT_STATES,
        "pages": pages,
        "rows": _rows(pages.object_list),
        "digests": [(one, _recipient(one)) for one in _digests(page)],
        "mails_are_files": mails_are_files(),
        "mail_is_held": settings.HOLD_MAIL,
        "held_for_days": settings.HISTORICAL_AFTER.days,
        # Each mail holds the link that ends its subscription.
        "mails": kept_mails(page.project, most=_MAX_MAILS) if mails_are_files() and may_retry else [],
    }


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert with the one to whom it goes, and what became of it."""

    alert: Alert
    recipient: str
    state: str

    @property
    def may_be_retried(self) -> bool:
        return self.alert.retry_at is not None and self.state == "failing"


def _rows(alerts: Iterable[Alert]) -> list[AlertRow]:
    unsent = [alert.pk for alert in alerts if alert.sent_at is None]
    owed = set(still_owed().filter(pk__in=unsent).values_list("pk", flat=True)) if unsent else set()
    return [AlertRow(alert, _recipient(alert), _state(alert, is_owed=alert.pk in owed)) for alert in alerts]


def _state(alert: Alert, *, is_owed: bool) -> str:
    if alert.sent_at:
        return "sent"
    if mailing.is_old_news(alert):
        return "old"
    if not is_owed:
        return "dropped"
    return "failing" if alert.error else "owed"


def _recipient(mail: OwedMail) -> str:
    """Name who gets it; the address of a webhook may be a secret."""
    return server_of(mail.address) if "://" in mail.address else mail.address


def _digests(page: ProjectPage) -> QuerySet[Digest]:
    """Return the newest digests, to who does not triage those to their own address."""
    found = Digest.objects.filter(project=page.project)
    if not page.may(Scope.TRIAGE):
        found = found.filter(address=page.viewer.address)
    return found.order_by("-until", "-pk")[:_MAX_MAILS]
