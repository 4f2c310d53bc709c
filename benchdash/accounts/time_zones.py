"""The time zones that people live in."""

from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from benchdash.accounts.access import viewer_of

_Answer = Callable[[HttpRequest], HttpResponseBase]

UTC = "UTC"
# The API reads and writes UTC; monitoring must be answered without a look at who asks.
_NO_PAGES = ("/api/", "/healthz", "/readyz", "/metrics")


@cache
def time_zones() -> list[str]:
    """Return the names of all time zones that are called by a place (``Europe/Berlin``), and UTC first."""
    # Zones without a place (``EST5EDT``), and Etc/GMT+5, which is west of Greenwich, are traps.
    places = (name for name in available_timezones() if "/" in name)
    return [UTC, *sorted(name for name in places if not name.startswith(("Etc/", "SystemV/")))]


def is_time_zone(name: str) -> bool:
    return name in time_zones()


def zone_of(*names: str) -> ZoneInfo:
    """Return the zone of the first name that is not empty and still known; else UTC."""
    return ZoneInfo(next((name for name in names if name and is_time_zone(name)), UTC))


def use_time_zone_of_person(get_response: _Answer) -> _Answer:
    """Return a middleware that lets pages write times in the zone of who is signed in; UTC for others."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(_NO_PAGES):
            return get_response(request)
        user = viewer_of(request).user
        with timezone.override(zone_of(user.time_zone if user else "")):
            return get_response(request)

    return answer
