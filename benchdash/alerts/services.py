"""The mails owed to subscriptions. A mail owed is a row; a mail sent stamps it."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from benchdash.alerts.channels import channel_of, email
from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.digests import unsent_digests
from benchdash.alerts.models import (
    RETRY_FIELDS,
    Alert,
    Confirmation,
    Digest,
    MailTest,
    OwedMail,
    Subscription,
    is_due,
)
from benchdash.alerts.owing import (
    MAY_READ_THE_PROJECT,
    oldest_news,
    still_owed,
    untold_incidents,
    untold_news,
)
from benchdash.alerts.refusals import forget_refusals, note_refusal

_log = logging.getLogger(__name__)

# A server that is down is back within minutes; one that refuses an address or a mail seldom changes its mind.
_MAX_WAIT_FOR_SERVER = timedelta(minutes=10)
_MAX_WAIT_OF_REFUSED = timedelta(hours=6)


def owe_alerts() -> None:
    """Owe an alert for every confirmed incident, and for news of it, to each who has not been told of it."""
    owed = {
        (one.incident_id, one.address, one.event_id): one for one in [*untold_incidents(), *untold_news()]
    }
    # Another worker may owe the same ones right now: the database keeps one of each.
    Alert.objects.bulk_create([Alert(**one._asdict()) for one in owed.values()], ignore_conflicts=True)


def send_owed_alerts() -> int:
    """Send the alerts that are due, and return how many were sent: none while mail is held."""
    _forget_who_left()
    return _send_all(_due_alerts, lambda alert: channel_of(alert.address).send(alert))


def send_owed_digests() -> int:
    """Send the digests that are due, and return how many were sent: none while mail is held."""
    return _send_all(_due_digests, email.send_digest)


def send_owed_confirmations() -> int:
    """Send the confirmations that are due, and return how many were sent: none while mail is held."""
    return _send_all(_due_confirmations, lambda one: channel_of(one.address).ask(one))


def send_owed_tests() -> int:
    """Send the tests that are due, and return how many were sent: none while mail is held."""
    return _send_all(lambda: _due(MailTest.objects.select_related("project")), email.send_test)


def is_old_news(alert: Alert) -> bool:
    """Return whether the incident, or the event, is too old for its alert to be sent any more."""
    happened_at = alert.event.at if alert.event else alert.incident.confirmed_at
    return happened_at is not None and happened_at <= oldest_news()


def retry(alert: Alert) -> None:
    """Make the alert due at once, also where its address was refused for days."""
    forget_refusals(alert.address)
    Alert.objects.filter(pk=alert.pk, sent_at=None).update(retry_at=None)


def _forget_who_left() -> None:
    """Delete unsent alerts to people who may no longer see the project."""
    gone = Subscription.objects.exclude(MAY_READ_THE_PROJECT)
    Alert.objects.filter(subscription__in=gone, sent_at=None).delete()


# --- sending ----------------------------------------------------------------------------------------------


_Mail = TypeVar("_Mail", bound=OwedMail)


def _due(owed: "QuerySet[_Mail]") -> "QuerySet[_Mail]":
    """Lock the mails that are due; those that another worker is sending right now are left to it."""
    return (
        owed.select_for_update(skip_locked=True, of=("self",))
        .filter(is_due(), sent_at=None)
        .order_by("owed_at", "pk")
    )


def _due_alerts() -> QuerySet[Alert]:
    return _due(still_owed()).select_related(
        *(f"incident__{name}" for name in ("project", "product", "hardware", "since", "until")),
        *("incident__largest__series__workload", "incident__silence__hardware", "incident__recovered_by"),
        *("event", "subscription__user"),
    )


def _due_digests() -> QuerySet[Digest]:
    return _due(unsent_digests()).select_related(
        "project", *(f"subscription__{name}" for name in ("user", "product", "hardware"))
    )


def _due_confirmations() -> QuerySet[Confirmation]:
    # The subscription may have ended, or been confirmed, in the meantime.
    waiting = Confirmation.objects.filter(subscription__isnull=False, subscription__confirmed_at=None)
    return _due(waiting).select_related(
        "subscription__project", "subscription__product", "subscription__hardware"
    )


def _send_all(due: "Callable[[], QuerySet[_Mail]]", send: Callable[[_Mail], None]) -> int:
    if settings.HOLD_MAIL:
        return 0
    sent = 0
    while (was_sent := _send_next(due, send)) is not None:
        sent += was_sent
    return sent


@transaction.atomic
def _send_next(due: "Callable[[], QuerySet[_Mail]]", send: Callable[[_Mail], None]) -> bool | None:
    """Send the next mail that is due, and return whether it went out; None where none is due."""
    mail = due().first()
    if mail is None:
        return None
    try:
        with transaction.atomic():
            send(mail)
    except RefusedError as error:
        if error.is_permanent:
            note_refusal(mail.address, str(error))
        _postpone([mail], error, longest=_MAX_WAIT_OF_REFUSED)
        return False
    except UnavailableError as error:
        _postpone([mail, *_at_the_same_server(mail, due())], error, longest=_MAX_WAIT_FOR_SERVER)
        return False
    except Exception as error:  # noqa: BLE001 - a mail that cannot be made must not hold up the others
        _log.exception("the mail of %s %s could not be made", _kind(mail), mail.pk)
        _postpone([mail], error, longest=_MAX_WAIT_OF_REFUSED)
        return False
    # A crash between the mail and this stamp repeats the mail: better twice than never.
    mail.sent_at = timezone.now()
    mail.error = ""
    mail.save(update_fields=["sent_at", "error"])
    forget_refusals(mail.address)
    return True


def _at_the_same_server(mail: _Mail, due: "QuerySet[_Mail]") -> list[_Mail]:
    server = channel_of(mail.address).server_of(mail.address)
    others = due.exclude(pk=mail.pk)
    return [one for one in others if channel_of(one.address).server_of(one.address) == server]


def _postpone(mails: list[_Mail], error: Exception, *, longest: timedelta) -> None:
    for mail in mails:
        wait = mail.postpone(error, max_wait=longest)
        _log.warning("%s %s was not sent, next try in %s: %s", _kind(mail), mail.pk, wait, error)
    type(mails[0])._default_manager.bulk_update(mails, RETRY_FIELDS, batch_size=100)


def _kind(mail: OwedMail) -> str:
    return type(mail).__name__.lower()
