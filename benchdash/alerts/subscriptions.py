"""Who wants to hear of what: subscribing, confirming, unsubscribing."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, TypedDict, Unpack

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Project, User
from benchdash.accounts.services import audit
from benchdash.accounts.time_zones import is_time_zone
from benchdash.alerts.channels import channel_of
from benchdash.alerts.models import Alert, Confirmation, Digest, MailTest, Subscription
from benchdash.alerts.refusals import forget_refusals
from benchdash.celery import ring
from benchdash.regressions.models import Incident
from benchdash.results.branches import branch_called
from benchdash.results.models import Hardware, Product

MAX_CONFIRMATIONS_A_DAY: Final = 3
MAX_HOUR: Final = 23
MAX_WEEKDAY: Final = 6
_IDENTITY: Final = (
    *("address", "product", "branch", "hardware", "workload_group", "metric", "smallest_change"),
    *("kinds", "rhythm"),
)
"""The fields of the constraint that makes a subscription unique in its project."""
OF_MAIL: Final = ~Q(address__contains="://")
"""Selects the subscriptions of e-mail addresses; the others are webhooks, whose address is one of the web."""
_WHEN: Final = ("hour", "weekday", "time_zone", "all_quiet")


class SubscriptionWishes(TypedDict, total=False):
    """The subjects and times of a subscription, as fields of Subscription; one left out has its default."""

    product: Product | None
    branch: str
    hardware: Hardware | None
    workload_group: str
    metric: str
    smallest_change: float | None
    kinds: Sequence[str]
    rhythm: str
    hour: int
    weekday: int
    time_zone: str
    all_quiet: bool


def subscribe(
    project: Project, address: str, *, by: Viewer | None = None, **wishes: Unpack[SubscriptionWishes]
) -> tuple[Subscription, bool]:
    """Return the subscription and whether it is new; the same one again stays one.

    The address of a member is tied to their account, whoever subscribed it: members who may no longer see the
    project are no longer told. An address other than the caller's own is first asked by mail. Without ``by``
    the operator subscribes, and nobody is asked.

    Raises django.core.exceptions.ValidationError for an address that is none, or that was asked too often,
    and for wishes that cannot be.
    """
    wanted = Subscription(project=project, **_checked(wishes))
    if "://" in address:
        raise ValidationError({"address": "this is an address of the web: add it as a webhook"})
    wanted.address = channel_of(address).check(address)
    wanted.user = _account(project, wanted.address)
    with transaction.atomic():
        same = {name: getattr(wanted, name) for name in _IDENTITY}
        rest = {name: getattr(wanted, name) for name in (*_WHEN, "user")}
        subscription, created = Subscription.objects.get_or_create(project=project, **same, defaults=rest)
        if wanted.user and subscription.user_id is None:
            subscription.user = wanted.user
            subscription.save(update_fields=["user"])
        if by is None or _is_own(wanted.address, by):
            _stamp_confirmed(subscription)
        elif created:
            ask_to_confirm(subscription)
        if created and by:
            audit(project, by, "subscribed", _subject(subscription))
    return subscription, created


def change(subscription: Subscription, *, by: Viewer, **wishes: Unpack[SubscriptionWishes]) -> None:
    """Give a subscription other wishes; what is left out stays.

    Raises django.core.exceptions.ValidationError for wishes that cannot be, or that another subscription of
    the address has already.
    """
    before = {name: getattr(subscription, name) for name in wishes}
    changed = {name: value for name, value in _checked(wishes).items() if value != before[name]}
    if not changed:
        return
    for name, value in changed.items():
        setattr(subscription, name, value)
    try:
        with transaction.atomic():
            subscription.save(update_fields=list(changed))
            detail = {name: f"{_word(before[name])} → {_word(value)}" for name, value in changed.items()}
            audit(subscription.project, by, "subscription changed", _subject(subscription), detail=detail)
    except IntegrityError:
        raise ValidationError(f"{subscription.address} has such a subscription already") from None


def _checked(wishes: SubscriptionWishes) -> dict[str, Any]:
    """Return wishes as they are stored. Raises django.core.exceptions.ValidationError."""
    checked: dict[str, Any] = dict(wishes)
    for name in ("branch", "workload_group", "metric", "time_zone"):
        if name in checked:
            checked[name] = checked[name].strip()
    if "branch" in checked:
        checked["branch"] = branch_called(checked["branch"])
    if "kinds" in wishes:
        checked["kinds"] = [kind for kind in Incident.Kind.values if kind in wishes["kinds"]]
        if not checked["kinds"] or set(wishes["kinds"]) - set(Incident.Kind.values):
            raise ValidationError({"kinds": f"choose some of {', '.join(Incident.Kind.values)}"})
    if "rhythm" in wishes and wishes["rhythm"] not in Subscription.Rhythm.values:
        raise ValidationError({"rhythm": f"choose one of {', '.join(Subscription.Rhythm.values)}"})
    if not 0 <= wishes.get("hour", 0) <= MAX_HOUR:
        raise ValidationError({"hour": f"an hour is 0 to {MAX_HOUR}"})
    if not 0 <= wishes.get("weekday", 0) <= MAX_WEEKDAY:
        raise ValidationError({"weekday": f"a weekday is 0 (Monday) to {MAX_WEEKDAY}"})
    if (zone := checked.get("time_zone")) and not is_time_zone(zone):
        raise ValidationError({"time_zone": f"no time zone is called {zone!r}; one is Europe/Berlin"})
    smallest = wishes.get("smallest_change")
    if smallest is not None and not 0 < smallest <= 1:
        raise ValidationError({"smallest_change": "a change is more than 0 and at most 1 (100 %)"})
    return checked


def _word(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str("" if value is None else value)


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


def ask_for_test(project: Project, address: str) -> MailTest:
    """Owe an address a test at once, in place of the one before.

    Raises django.core.exceptions.ValidationError where no mail can go there.
    """
    if settings.HOLD_MAIL:
        raise ValidationError("mail is held on this installation (HOLD_MAIL=1)")
    asked = {"owed_at": timezone.now(), "sent_at": None, "attempts": 0, "retry_at": None, "error": ""}
    test, _ = MailTest.objects.update_or_create(
        project=project, address=channel_of(address).check(address), defaults=asked
    )
    ring(settings.ALERTS_DOORBELL)
    return test


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


def try_again(subscription: Subscription, *, by: Viewer) -> None:
    """Forget that the address was refused, so that what it is owed is sent again."""
    with transaction.atomic():
        forget_refusals(subscription.address)
        for owed in (Alert, Digest, Confirmation):
            owed._default_manager.filter(address=subscription.address, sent_at=None).update(retry_at=None)
        audit(subscription.project, by, "refused address tried again", _subject(subscription))
    ring(settings.ALERTS_DOORBELL)


def unsubscribe(subscription: Subscription, *, by: Viewer, reason: str = "") -> None:
    """End a subscription, and delete its alerts and digests that were not sent yet."""
    with transaction.atomic():
        audit(subscription.project, by, "unsubscribed", _subject(subscription), reason=reason)
        for owed in (Alert, Digest):
            owed._default_manager.filter(subscription=subscription, sent_at=None).delete()
        subscription.delete()


def _account(project: Project, address: str) -> User | None:
    """Return the account of a member with that address, or of a superuser, who needs no membership."""
    may_see = Q(memberships__project=project) | Q(is_superuser=True)
    return User.objects.filter(may_see, email=address).first()


def _subject(subscription: Subscription) -> str:
    filters = [subscription.product, subscription.branch, subscription.hardware]
    filters += [subscription.workload_group, subscription.metric]
    wanted = ", ".join(str(one) for one in filters if one)
    return f"{subscription.address}{f' ({wanted})' if wanted else ''}"
