"""Owing alerts and sending them. An alert owed is a row; a mail sent stamps it."""

import logging
from datetime import timedelta
from smtplib import SMTPException

from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, User
from benchdash.accounts.services import audit
from benchdash.alerts import emails
from benchdash.alerts.models import Alert, Subscription
from benchdash.regressions.models import Incident
from benchdash.results.models import Hardware, Product

_log = logging.getLogger(__name__)

_RETRY_AFTER = timedelta(minutes=1)
_RETRY_AT_MOST_EVERY = timedelta(hours=6)


def subscribe(
    project: Project,
    address: str,
    *,
    product: Product | None = None,
    branch: str = "",
    hardware: Hardware | None = None,
    user: User | None = None,
    by: Viewer | None = None,
) -> tuple[Subscription, bool]:
    """The subscription and whether it is new; the same one again stays one.

    Raises django.core.exceptions.ValidationError for what is not an e-mail address.
    """
    validate_email(address)
    with transaction.atomic():
        subscription, created = Subscription.objects.get_or_create(
            project=project,
            address=address.strip().lower(),
            product=product,
            branch=branch,
            hardware=hardware,
            defaults={"user": user},
        )
        if created and by:
            audit(project, by, "subscribed", subscription.address)
    return subscription, created


def unsubscribe(subscription: Subscription, *, by: Viewer) -> None:
    with transaction.atomic():
        audit(subscription.project, by, "unsubscribed", subscription.address)
        subscription.delete()


def owe_alerts() -> int:
    """Note every confirmed regression that a subscriber has not been told about; the number of new alerts."""
    owed = [
        Alert(
            project_id=incident.project_id,
            incident=incident,
            address=address,
            subscription_id=subscription_id,
        )
        for incident in _tellable_incidents().select_related("product")
        for address, subscription_id in _subscribers(incident).items()
    ]
    # Another worker may owe the same ones right now: the database keeps one of each.
    before = Alert.objects.count() if owed else 0
    Alert.objects.bulk_create(owed, ignore_conflicts=True)
    return Alert.objects.count() - before if owed else 0


def send_owed_alerts() -> int:
    """Send what is owed and due; the number of mails sent."""
    sent = 0
    due = Q(retry_at=None) | Q(retry_at__lte=timezone.now())
    for alert_id in Alert.objects.filter(due, sent_at=None).order_by("owed_at").values_list("pk", flat=True):
        sent += _send(alert_id)
    return sent


def _tellable_incidents() -> QuerySet[Incident]:
    return Incident.objects.filter(
        kind=Incident.Kind.REGRESSION,
        status=Incident.Status.CONFIRMED,
        historical=False,
        quiet=False,
        project__is_sample=False,
        state__in=Incident.OPEN,
        # Older ones were owed long ago, or their subscribers came later.
        confirmed_at__gte=timezone.now() - timedelta(days=14),
    )


def _subscribers(incident: Incident) -> dict[str, int]:
    """Addresses that want to hear of the incident and are owed nothing for it yet, with a subscription."""
    wanted = (
        Subscription.objects.filter(project=incident.project_id, created_at__lte=incident.confirmed_at)
        .filter(Q(product=None) | Q(product=incident.product))
        .filter(Q(branch="") | Q(branch=incident.branch))
        .filter(
            Q(hardware=None)
            | Q(hardware__in=incident.change_points.filter(state="confirmed").values("series__hardware"))
        )
        .exclude(address__in=incident.alerts.values("address"))
    )
    return dict(wanted.values_list("address", "pk"))


@transaction.atomic
def _send(alert_id: int) -> bool:
    # Locked rows are skipped: another worker is mailing them right now.
    alert = (
        Alert.objects.select_for_update(skip_locked=True, of=("self",))
        .select_related(
            "incident__project", "incident__product", "incident__since", "incident__until", "subscription"
        )
        .filter(pk=alert_id, sent_at=None)
        .first()
    )
    if alert is None:
        return False
    try:
        emails.send_regression(alert)
    except (OSError, SMTPException) as error:
        wait = min(_RETRY_AFTER * 2 ** min(alert.attempts, 10), _RETRY_AT_MOST_EVERY)
        _log.warning("alert %s was not sent, next try in %s: %s", alert.pk, wait, error)
        Alert.objects.filter(pk=alert.pk).update(
            attempts=F("attempts") + 1, retry_at=timezone.now() + wait, error=str(error)[:500]
        )
        return False
    # A crash between the mail and this stamp repeats the mail: better twice than never.
    alert.sent_at = timezone.now()
    alert.error = ""
    alert.save(update_fields=["sent_at", "error"])
    return True
