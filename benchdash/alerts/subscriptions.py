"""Who wants to hear of what: subscribing, confirming, unsubscribing."""

from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Project, User
from benchdash.accounts.services import audit
from benchdash.alerts.channels import channel_of
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.celery import ring
from benchdash.results.models import Hardware, Product

MAX_CONFIRMATIONS_A_DAY = 3


def subscribe(
    project: Project,
    address: str,
    *,
    product: Product | None = None,
    branch: str = "",
    hardware: Hardware | None = None,
    by: Viewer | None = None,
) -> tuple[Subscription, bool]:
    """Return the subscription and whether it is new; the same one again stays one.

    The address of a member is tied to their account, whoever subscribed it: members who may no longer see the
    project are no longer told. An address other than the caller's own is first asked by mail. Without ``by``
    the operator subscribes, and nobody is asked.

    Raises django.core.exceptions.ValidationError for an address that is none, or that was asked too often.
    """
    address = channel_of(address).check(address)
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
        if by is None or _is_own(address, by):
            _stamp_confirmed(subscription)
        elif created:
            ask_to_confirm(subscription)
        if created and by:
            audit(project, by, "subscribed", _subject(subscription))
    return subscription, created


def ask_to_confirm(subscription: Subscription) -> None:
    """Owe the address a mail with the link that confirms its subscription.

    Raises django.core.exceptions.ValidationError where the address was asked too often within a day, for
    this or any other subscription.
    """
    asked = Confirmation.objects.filter(
        address=subscription.address, owed_at__gt=timezone.now() - timedelta(days=1)
    )
    if asked.count() >= MAX_CONFIRMATIONS_A_DAY:
        most = f"{MAX_CONFIRMATIONS_A_DAY} times within a day"
        raise ValidationError(
            {"address": f"{subscription.address} was asked to confirm {most}; try again tomorrow"}
        )
    Confirmation.objects.create(subscription=subscription, address=subscription.address)
    ring(settings.ALERTS_DOORBELL)


def confirm(subscription: Subscription, *, by: Viewer) -> None:
    """Start the subscription. Repeatable."""
    with transaction.atomic():
        if _stamp_confirmed(subscription):
            audit(subscription.project, by, "subscription confirmed", _subject(subscription))


def _stamp_confirmed(subscription: Subscription) -> bool:
    """Confirm the subscription, and return whether it was not confirmed before."""
    now = timezone.now()
    stamped = Subscription.objects.filter(pk=subscription.pk, confirmed_at=None).update(confirmed_at=now)
    if stamped:
        subscription.confirmed_at = now
    return bool(stamped)


def _is_own(address: str, by: Viewer) -> bool:
    """Return whether the address belongs to the caller, or to who made the calling token."""
    person = by.token.created_by if by.token else by.user
    return person is not None and person.email == address


def end_unconfirmed() -> None:
    """End the subscriptions that nobody confirmed in time, and delete the questions of that time."""
    within = Subscription.CONFIRM_WITHIN
    before = timezone.now() - within
    waiting = Subscription.objects.filter(confirmed_at=None, created_at__lt=before)
    for subscription in waiting.select_related("project", "product", "hardware"):
        unsubscribe(subscription, by=NOBODY, reason=f"not confirmed within {within.days} days")
    Confirmation.objects.filter(owed_at__lt=before).delete()


def unsubscribe(subscription: Subscription, *, by: Viewer, reason: str = "") -> None:
    """End a subscription, and delete its alerts that were not sent yet."""
    with transaction.atomic():
        audit(subscription.project, by, "unsubscribed", _subject(subscription), reason=reason)
        Alert.objects.filter(subscription=subscription, sent_at=None).delete()
        subscription.delete()


def _account(project: Project, address: str) -> User | None:
    """Return the account of a member with that address, or of a superuser, who needs no membership."""
    may_see = Q(memberships__project=project) | Q(is_superuser=True)
    return User.objects.filter(may_see, email=address).first()


def _subject(subscription: Subscription) -> str:
    filters = [subscription.product, subscription.branch, subscription.hardware]
    wanted = ", ".join(str(one) for one in filters if one)
    return f"{subscription.address}{f' ({wanted})' if wanted else ''}"
