"""Digests: the morning page as a mail, once a day or a week by the clock of who reads it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from benchdash.alerts.models import Digest, Subscription
from benchdash.alerts.owing import MAY_READ_THE_PROJECT, fitting
from benchdash.alerts.refusals import IS_STOPPED
from benchdash.alerts.subscriptions import OF_MAIL
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.missing import Missing
from benchdash.regressions.morning.mornings import Morning, morning_of
from benchdash.regressions.morning.nights import NIGHT
from benchdash.regressions.morning.rows import Standing
from benchdash.results.workload_groups import Grouping, grouping_of

MAX_SPAN: Final = timedelta(days=28)
"""A digest looks back no further, however long ago the last one was sent."""
_DAYS: Final = {Subscription.Rhythm.DAILY: 1, Subscription.Rhythm.WEEKLY: 7}


def owe_digests(*, now: datetime | None = None) -> None:
    """Owe each subscription the latest digest that is due; one that missed several gets one.

    What has nothing to tell to somebody who does not want to hear that is only noted.
    """
    now = now or timezone.now()
    for subscription, newest, told_until in _subscriptions():
        span = due_span(subscription, newest, told_until, now=now)
        if span is None:
            continue
        since, until = span
        digest = Digest(
            project=subscription.project,
            subscription=subscription,
            address=subscription.address,
            since=since,
            until=until,
        )
        digest.is_quiet = not subscription.all_quiet and is_quiet(morning_for(digest))
        with transaction.atomic():
            # A digest that could not be sent so far is in this one.
            Digest.objects.filter(subscription=subscription, sent_at=None, is_quiet=False).delete()
            # Another worker may owe the same one right now: the database keeps one of them.
            Digest.objects.bulk_create([digest], ignore_conflicts=True)


def unsent_digests() -> QuerySet[Digest]:
    """Return the digests that are still to be sent."""
    told = Subscription.objects.filter(MAY_READ_THE_PROJECT, ~IS_STOPPED, pk=OuterRef("subscription"))
    return Digest.objects.filter(Exists(told), sent_at=None, is_quiet=False)


def _subscriptions() -> list[tuple[Subscription, datetime | None, datetime | None]]:
    """Return who gets digests, each with the ends of the newest one and of the newest that is done with."""
    told = Subscription.objects.filter(
        MAY_READ_THE_PROJECT,
        OF_MAIL,
        ~IS_STOPPED,
        rhythm__in=_DAYS,
        confirmed_at__isnull=False,
        project__is_sample=False,
        project__deleting_since=None,
    ).select_related("project", "user", "product", "hardware")
    digests = Digest.objects.filter(subscription__in=told.values("pk")).order_by()
    done = Q(sent_at__isnull=False) | Q(is_quiet=True)
    ends = digests.values("subscription").annotate(newest=Max("until"), done=Max("until", filter=done))
    of = {one["subscription"]: (one["newest"], one["done"]) for one in ends}
    return [(one, *of.get(one.pk, (None, None))) for one in told]


# --- when -------------------------------------------------------------------------------------------------


def due_span(
    subscription: Subscription, newest: datetime | None, told_until: datetime | None, *, now: datetime
) -> tuple[datetime, datetime] | None:
    """Return from when to when the digest goes that is due, or None.

    ``newest`` is the end of the newest digest, ``told_until`` of the newest that is done with. Another hour
    or time zone does not make two digests of one day.
    """
    days = _DAYS[Subscription.Rhythm(subscription.rhythm)]
    until = _latest(subscription, now)
    usual = _at_hour(subscription, until, days_before=days)
    if subscription.confirmed_at is None or until < subscription.confirmed_at:
        return None
    if newest and until - newest < timedelta(days=days) / 2:
        return None
    return max(told_until or usual, until - MAX_SPAN), until


def _latest(subscription: Subscription, now: datetime) -> datetime:
    """Return the last time, up to now, at which the clock of the subscription showed its hour."""
    is_weekly = subscription.rhythm == Subscription.Rhythm.WEEKLY
    weekday = now.astimezone(subscription.zone).weekday()
    back = (weekday - subscription.weekday) % 7 if is_weekly else 0
    found = _at_hour(subscription, now, days_before=back)
    return found if found <= now else _at_hour(subscription, now, days_before=back + (7 if is_weekly else 1))


def _at_hour(subscription: Subscription, moment: datetime, *, days_before: int) -> datetime:
    """Return when the clock showed the hour, so many days before.

    An hour that the clock leaves out in spring is the one after it; of one that it shows twice in autumn, it
    is the first.
    """
    day = moment.astimezone(subscription.zone).date() - timedelta(days=days_before)
    return datetime.combine(day, time(subscription.hour), subscription.zone).astimezone(UTC)


# --- what -------------------------------------------------------------------------------------------------


def morning_for(digest: Digest) -> Morning:
    """Return the morning of a digest, as its subscription asks for it. Suspicions are on the page only."""
    # A day is the last night of the morning page.
    since = digest.since if digest.until - digest.since > NIGHT else None
    with timezone.override(digest.subscription.zone if digest.subscription else UTC):
        morning = morning_of(digest.project, now=digest.until, since=since)
        return _wanted(morning, digest.subscription) if digest.subscription else morning


def is_quiet(morning: Morning) -> bool:
    """Tell whether nothing is new, open, missing or recovered."""
    return not (morning.new or morning.open or morning.missing or morning.recovered)


def _wanted(morning: Morning, subscription: Subscription) -> Morning:
    silences = [one.incident for one in morning.missing if one.incident]
    fits = fitting(subscription, [*morning.new, *morning.open, *morning.lost, *morning.recovered, *silences])

    def told(incidents: Sequence[Incident]) -> list[Incident]:
        return [one for one in incidents if one.pk in fits and one.status == Incident.Status.CONFIRMED]

    new, still_open, recovered = told(morning.new), told(morning.open), told(morning.recovered)
    lost = told(morning.lost)
    missing = [one for one in morning.missing if _is_wanted_missing(one, subscription, fits)]
    groups = grouping_of(morning.project) if subscription.workload_group else None
    return replace(
        morning,
        new=new,
        open=still_open,
        lost=lost,
        recovered=recovered,
        missing=missing,
        rows=[row for row in morning.rows if _is_wanted_row(row, subscription, groups)],
        waiting=0,
    )


def _is_wanted_missing(missing: Missing, subscription: Subscription, fits: set[int]) -> bool:
    """Tell whether what is missing is asked for."""
    if missing.incident:
        return missing.incident.pk in fits
    if Incident.Kind.SILENCE not in subscription.kinds:
        return False
    product, hardware = subscription.product, subscription.hardware
    # The product may have a build behind its name.
    is_of_product = product is None or f"{missing.product} ".startswith(f"{product.name} ")
    is_of_branch = subscription.branch in ("", missing.stream)
    return is_of_product and is_of_branch and (hardware is None or hardware.name == missing.hardware)


def _is_wanted_row(row: Standing, subscription: Subscription, groups: Grouping | None) -> bool:
    product, hardware = subscription.product, subscription.hardware
    return (
        (product is None or product.name == row.place.product)
        and (hardware is None or hardware.name == row.place.hardware)
        and subscription.branch in ("", row.place.branch)
        and subscription.metric in ("", row.metric)
        and (groups is None or groups.of(row.workload) == subscription.workload_group)
    )
