"""What will go away: said in the schema, and in the headers of every answer that it had a part in.

``Deprecation`` is RFC 9745, ``Sunset`` RFC 8594.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Final

from django.conf import settings
from django.utils.http import http_date

from benchdash.rest.operations import Operation

_SINCE: Final = "x-deprecated-since"
_SUNSET: Final = "x-sunset"


def deprecated(since: date, *, sunset: date | None = None) -> dict[str, Any]:
    """Return arguments of ``extend_schema`` or ``OpenApiParameter`` for what goes away on ``sunset``."""
    days = {_SINCE: since.isoformat(), **({_SUNSET: sunset.isoformat()} if sunset else {})}
    return {"deprecated": True, "extensions": days}


def deprecation_headers(operation: Operation, sent: Iterable[str]) -> dict[str, str]:
    """Return what an answer says of the operation, and of the parameters that were ``sent``.

    Of several things the one that was deprecated first, and the one that goes away first, count.
    """
    things = [
        operation.described,
        *(operation.parameters[name] for name in sent if name in operation.parameters),
    ]
    since, sunset = _first(things, _SINCE), _first(things, _SUNSET)
    if since is None:
        return {}
    headers = {
        "Deprecation": f"@{since}",
        "Link": f'<{settings.SITE_URL}/api/docs/>; rel="deprecation"; type="text/html"',
    }
    return {**headers, "Sunset": http_date(sunset)} if sunset else headers


def _first(things: Iterable[Mapping[str, Any]], name: str) -> int | None:
    """Return the beginning of the earliest day, in seconds of Unix time."""
    days = [date.fromisoformat(thing[name]) for thing in things if name in thing]
    return int(datetime.combine(min(days), time.min, UTC).timestamp()) if days else None
