"""Mails that were sent, are owed, or cannot be sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Scope
from benchdash.alerts import services as mailing
from benchdash.alerts.mail_files import kept_mails, mails_are_files
from benchdash.alerts.models import Alert, Digest, OwedMail, Subscription
from benchdash.alerts.outgoing import server_of
from benchdash.alerts.owing import still_owed
from benchdash.alerts.subscriptions import OF_MAIL
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.project_page import (
    ProjectPage,
    alerts_shown_to,
    found_or_hidden,
    project_action,
    project_page,
)

_PAGE: Final = 50
_MAX_MAILS: Final = 20
_ALERT_STATES: Final = {
    "sent": ("sent", Q(sent_at__isnull=False)),
    "owed": ("owed", Q(sent_at=None, error="")),
    "failing": ("failing", Q(sent_at=None) & ~Q(error="")),
}


@project_page
def alerts(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    page.require_member()
    labels = [(name, label) for name, (label, _) in _ALERT_STATES.items()]
    chip = filters.one_of("state", "State", labels, request.GET.get("state"))
    found = alerts_shown_to(page).select_related(
        "incident__product", "incident__hardware", "incident__silence__workload", "event"
    )
    for choice in chip.chosen:
        found = found.filter(_ALERT_STATES[choice.value][1])
    found = found.order_by(F("sent_at").desc(nulls_first=True), "-owed_at", "-pk")
    pages, may_retry = Paginator(found, _PAGE).get_page(request.GET.get("page")), page.may(Scope.TRIAGE)
    context = {
        "filters": [chip],
        "reset_url": request.path if chip.chosen else "",
        "pages": pages,
        "rows": _rows(pages.object_list),
        "digests": [(one, _recipient(one)) for one in _digests(page)],
        "refused": _refused(page),
        "mails_are_files": mails_are_files(),
        "mail_is_held": settings.HOLD_MAIL,
        "held_for_days": settings.HISTORICAL_AFTER.days,
        "may_retry": may_retry,
    }
    # Each mail holds the link that ends its subscription.
    if mails_are_files() and may_retry:
        context["mails"] = kept_mails(page.project, most=_MAX_MAILS)
    return page.render(request, "dashboard/alerts.html", context)


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


def _refused(page: ProjectPage) -> list[str]:
    """Return the addresses that are refused."""
    if not page.may(Scope.TRIAGE):
        return []
    found = Subscription.objects.filter(OF_MAIL, project=page.project, refused_at__isnull=False)
    return list(found.order_by("address").values_list("address", flat=True).distinct())


@project_action
def alert_retry(request: HttpRequest, page: ProjectPage, pk: int) -> HttpResponse:
    page.require(Scope.TRIAGE)
    alert = found_or_hidden(Alert.objects.filter(project=page.project, pk=pk), f"there is no alert {pk}")
    mailing.retry(alert)
    return page.done(request, f"The mail to {alert.address} is tried again within 10 seconds.", "alerts")


urlpatterns = [
    path("alerts/", alerts, name="alerts"),
    path("alerts/<int:pk>/retry/", alert_retry, name="alert_retry"),
]
