"""What was mailed, is owed, or cannot be sent."""

from typing import Final

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import F, Q
from django.http import HttpRequest, HttpResponse
from django.urls import path

from benchdash.accounts.models import Scope
from benchdash.alerts import services as mailing
from benchdash.alerts.mail_files import kept_mails, mails_are_files
from benchdash.alerts.models import Alert
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
    found = alerts_shown_to(page).select_related("incident__product", "incident__until", "incident__since")
    for choice in chip.chosen:
        found = found.filter(_ALERT_STATES[choice.value][1])
    found = found.order_by(F("sent_at").desc(nulls_first=True), "-owed_at", "-pk")
    pages, may_retry = Paginator(found, _PAGE).get_page(request.GET.get("page")), page.may(Scope.TRIAGE)
    context = {
        "filters": [chip],
        "reset_url": request.path if chip.chosen else "",
        "pages": pages,
        "rows": [(alert, mailing.is_old_news(alert)) for alert in pages],
        "mails_are_files": mails_are_files(),
        "mail_is_held": settings.HOLD_MAIL,
        "held_for_days": settings.HISTORICAL_AFTER.days,
        "may_retry": may_retry,
    }
    # Each mail holds the link that ends its subscription.
    if mails_are_files() and may_retry:
        context["mails"] = kept_mails(page.project, most=_MAX_MAILS)
    return page.render(request, "dashboard/alerts.html", context)


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
