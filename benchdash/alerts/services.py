"""Owing alerts and sending them. An alert owed is a row; a mail sent stamps it."""

import logging
from datetime import timedelta
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused

from django.conf import settings
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Membership, Project, User
from benchdash.accounts.services import audit
from benchdash.alerts import emails
from benchdash.alerts.models import Alert, Subscription
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Hardware, Product

_log = logging.getLogger(__name__)

_RETRY_AFTER = timedelta(minutes=1)
# A mail server is back after minutes; what refuses one address or mail seldom changes its mind.
_SERVER_AT_LEAST_EVERY = timedelta(minutes=10)
_MAIL_AT_LEAST_EVERY = timedelta(hours=6)


def subscribe(
    project: Project,
    address: str,
    *,
    product: Product | None = None,
    branch: str = "",
    hardware: Hardware | None = None,
    by: Viewer | None = None,
) -> tuple[Subscription, bool]:
    """The subscription and whether it is new; the same one again stays one.

    The address of a member is tied to their account, whoever subscribed it: who may no longer see the project
    is no longer told. Raises django.core.exceptions.ValidationError for what is not an e-mail address.
    """
    address = address.strip().lower()
    validate_email(address)
    user = _account(project, address)
    with transaction.atomic():
        subscription, created = Subscription.objects.get_or_create(
            project=project,
            address=address,
            product=product,
            branch=branch.strip(),
            hardware=hardware,
            defaults={"user": user},
        )
        if user and subscription.user_id is None:
            subscription.user = user
            subscription.save(update_fields=["user"])
        if created and by:
            audit(project, by, "subscribed", _subject(subscription))
    return subscription, created


def unsubscribe(subscription: Subscription, *, by: Viewer) -> None:
    """End a subscription, and forget what is owed by it and was not sent yet."""
    with transaction.atomic():
        audit(subscription.project, by, "unsubscribed", _subject(subscription))
        Alert.objects.filter(subscription=subscription, sent_at=None).delete()
        subscription.delete()


def _account(project: Project, address: str) -> User | None:
    """Of a member with that address, or of a superuser, who needs no membership."""
    may_see = Q(memberships__project=project) | Q(is_superuser=True)
    return User.objects.filter(may_see, email=address).first()


def owe_alerts() -> None:
    """Note every confirmed regression that a subscriber has not been told about."""
    owed = {
        (incident_id, address): Alert(
            project_id=project_id, incident_id=incident_id, address=address, subscription_id=subscription_id
        )
        for project_id, incident_id, address, subscription_id in _untold()
    }
    # Another worker may owe the same ones right now: the database keeps one of each.
    Alert.objects.bulk_create(owed.values(), ignore_conflicts=True)


def send_owed_alerts() -> int:
    """Send what is owed and due; the number of mails sent."""
    _forget_who_left()
    sent = 0
    while (was_sent := _send_next()) is not None:
        sent += was_sent
    return sent


def retry(alert: Alert) -> None:
    """Let the next look at what is owed try it at once."""
    Alert.objects.filter(pk=alert.pk, sent_at=None).update(retry_at=None)


def _subject(subscription: Subscription) -> str:
    filters = [subscription.product, subscription.branch, subscription.hardware]
    wanted = ", ".join(str(one) for one in filters if one)
    return f"{subscription.address}{f' ({wanted})' if wanted else ''}"


def _forget_who_left() -> None:
    """What was owed before somebody lost sight of the project, and waited for the mail server meanwhile."""
    gone = Subscription.objects.exclude(_may_read_the_project)
    Alert.objects.filter(subscription__in=gone, sent_at=None).delete()


# --- owing ------------------------------------------------------------------------------------------------

_may_read_the_project = Q(user=None) | Q(user__is_active=True) & (
    Q(project__visibility=Project.Visibility.PUBLIC)
    | Q(user__is_superuser=True)
    | Exists(Membership.objects.filter(project=OuterRef("project"), user=OuterRef("user")))
)


def _untold() -> QuerySet[Subscription, tuple[int, int, str, int]]:
    """Project, incident, address and subscription of whom to tell; one statement.

    Who subscribed after an incident was confirmed does not hear of it.
    """
    confirmed = ChangePoint.objects.filter(
        incident=OuterRef("project__incidents"),
        series__hardware=OuterRef("hardware"),
        state=ChangePoint.State.CONFIRMED,
    )
    told = Alert.objects.filter(incident=OuterRef("project__incidents"), address=OuterRef("address"))
    return Subscription.objects.filter(
        _may_read_the_project,
        Q(product=None) | Q(product=F("project__incidents__product")),
        Q(branch="") | Q(branch=F("project__incidents__branch")),
        Q(hardware=None) | Exists(confirmed),
        ~Exists(told),
        project__is_sample=False,
        project__incidents__kind=Incident.Kind.REGRESSION,
        project__incidents__status=Incident.Status.CONFIRMED,
        project__incidents__state__in=Incident.OPEN,
        project__incidents__historical=False,
        project__incidents__quiet=False,
        project__incidents__confirmed_at__gte=F("created_at"),
        # What nobody was told within this time is old news.
        project__incidents__confirmed_at__gt=timezone.now() - settings.HISTORICAL_AFTER,
    ).values_list("project", "project__incidents", "address", "pk")


# --- sending ----------------------------------------------------------------------------------------------


def _due() -> QuerySet[Alert]:
    """Locked; those that another worker is mailing right now are left to it."""
    return (
        Alert.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(Q(retry_at=None) | Q(retry_at__lte=timezone.now()), sent_at=None)
        # What was withdrawn while the mail server was down is no longer true.
        .filter(incident__status=Incident.Status.CONFIRMED)
        .order_by("owed_at", "pk")
    )


@transaction.atomic
def _send_next() -> bool | None:
    """Whether the next alert that is due could be sent; None where none is due."""
    alert = (
        _due()
        .select_related(
            "incident__project", "incident__product", "incident__since", "incident__until", "subscription"
        )
        .first()
    )
    if alert is None:
        return None
    try:
        with transaction.atomic():
            emails.send_regression(alert)
    except (SMTPRecipientsRefused, SMTPDataError) as error:
        _postpone([alert], error, at_least_every=_MAIL_AT_LEAST_EVERY)
        return False
    except (OSError, SMTPException) as error:
        # The others would wait for the same server, each until it times out.
        _postpone([alert, *_due().exclude(pk=alert.pk)], error, at_least_every=_SERVER_AT_LEAST_EVERY)
        return False
    except Exception as error:  # noqa: BLE001 - a mail that cannot be made must not hold up the others
        _log.exception("the mail of alert %s could not be made", alert.pk)
        _postpone([alert], error, at_least_every=_MAIL_AT_LEAST_EVERY)
        return False
    # A crash between the mail and this stamp repeats the mail: better twice than never.
    alert.sent_at = timezone.now()
    alert.error = ""
    alert.save(update_fields=["sent_at", "error"])
    return True


def _postpone(alerts: list[Alert], error: Exception, *, at_least_every: timedelta) -> None:
    for alert in alerts:
        wait = min(_RETRY_AFTER * 2 ** min(alert.attempts, 10), at_least_every)
        _log.warning("alert %s was not sent, next try in %s: %s", alert.pk, wait, error)
        alert.retry_at = timezone.now() + wait
        alert.attempts += 1
        alert.error = (str(error) or type(error).__name__)[:500]
    Alert.objects.bulk_update(alerts, ["retry_at", "attempts", "error"])
