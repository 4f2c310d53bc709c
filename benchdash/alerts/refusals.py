"""Addresses that the receiving side refuses: marked at once, and after some days left alone."""

from datetime import timedelta
from typing import Final

from django.db.models import Case, F, Q, When
from django.utils import timezone

from benchdash.alerts.models import Subscription

STOP_AFTER: Final = timedelta(days=3)
MIN_REFUSALS: Final = 5
_MAX_WORDS: Final = 500

IS_STOPPED: Final = Q(
    refused_at__isnull=False, refused_at__gte=F("refused_since") + STOP_AFTER, refusals__gte=MIN_REFUSALS
)
"""Selects the subscriptions to which nothing is sent until somebody resumes them, by ``forget_refusals``."""


def is_stopped(subscription: Subscription) -> bool:
    """Tell whether nothing is sent to it any more, because its address was refused for days."""
    at, since = subscription.refused_at, subscription.refused_since
    if at is None or since is None:
        return False
    return at >= since + STOP_AFTER and subscription.refusals >= MIN_REFUSALS


def note_refusal(address: str, words: str) -> None:
    """Mark an address, in every project, as refused just now."""
    now = timezone.now()
    is_first = Q(refused_at=None)
    Subscription.objects.filter(address=address).update(
        refused_at=now,
        refusal=words[:_MAX_WORDS],
        refused_since=Case(When(is_first, then=now), default=F("refused_since")),
        refusals=Case(When(is_first, then=1), default=F("refusals") + 1),
    )


def forget_refusals(address: str) -> None:
    """Take the marks from an address: it took a mail, or somebody wants it to be tried again."""
    Subscription.objects.filter(address=address, refused_at__isnull=False).update(
        refused_at=None, refusal="", refused_since=None, refusals=0
    )
