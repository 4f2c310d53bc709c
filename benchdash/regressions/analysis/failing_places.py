"""Places whose analysis raises: kept with the reason, tried again after longer and longer waits, set aside.

A place that fails holds up no other. What is due of it stays due.
"""

import logging
import traceback
from collections.abc import Collection, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.services import audit
from benchdash.regressions.models import FailingPlace
from benchdash.results.models import TouchedSeries
from benchdash.results.place import Place
from benchdash.results.services import touch

_log = logging.getLogger(__name__)

_EACH_WAIT_IS_LONGER = 4
_MAX_TRACEBACK = 20_000
_MAX_ERROR = 500
_OF_SERIES = {name: OuterRef(f"series__{name}") for name in Place._fields}


def due_touches() -> QuerySet[TouchedSeries]:
    """Return the touched series to look at now: without those of places that wait or are set aside."""
    waits = Q(next_try_at__gt=timezone.now())
    is_set_aside = Q(set_aside_at__isnull=False, seen_until__gte=OuterRef("touched_at"))
    resting = FailingPlace.objects.filter(waits | is_set_aside, **_OF_SERIES)
    return TouchedSeries.objects.filter(~Exists(resting))


def note_failure(place: Place, error: Exception, touched: Sequence[TouchedSeries]) -> None:
    """Keep why the look at a place failed, and when it is to be tried again. ``touched`` was looked at."""
    _log.error("the analysis of %s failed", place, exc_info=error)
    now = timezone.now()
    if not touched:
        touch(place.series().values_list("pk", flat=True), quiet=True)
    failing = FailingPlace.objects.filter(**place._asdict()).first()
    failing = failing or FailingPlace(**place._asdict(), since=now)
    failing.tries += 1
    failing.seen_until = max((row.touched_at for row in touched), default=timezone.now())
    longer = min(failing.tries, settings.PLACE_MAX_TRIES - 1) - 1
    failing.next_try_at = now + timedelta(seconds=settings.PLACE_RETRY_S * _EACH_WAIT_IS_LONGER**longer)
    if failing.tries >= settings.PLACE_MAX_TRIES:
        failing.set_aside_at = failing.set_aside_at or now
    # PostgreSQL keeps no NUL.
    failing.traceback = "".join(traceback.format_exception(error)).replace("\0", "")[-_MAX_TRACEBACK:]
    reason = traceback.format_exception_only(error)[0].replace("\0", "")
    failing.error = reason.splitlines()[0][:_MAX_ERROR]
    failing.save()


def note_success(product_id: int, places: Collection[Place]) -> None:
    for failing in FailingPlace.objects.filter(product=product_id):
        if Place.of(failing) in places:
            failing.delete()


def try_again(failing: FailingPlace, *, by: Viewer) -> None:
    """Have a place looked at now, whether it waits or is set aside."""
    with transaction.atomic():
        FailingPlace.objects.filter(pk=failing.pk).update(next_try_at=timezone.now(), set_aside_at=None)
        series = Place.of(failing).series()
        if series.exists():
            touch(series.values_list("pk", flat=True), quiet=True)
        else:
            failing.delete()
        audit(failing.project, by, "analysis tried again", str(failing))
