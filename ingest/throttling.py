"""How often one may ask, and upload."""

import logging
import time
from typing import TYPE_CHECKING, cast

from django.core.cache import caches
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

if TYPE_CHECKING:
    from benchdash.cache import Cache

logger = logging.getLogger(__name__)


class MinuteThrottle(SimpleRateThrottle):
    """So many requests of one asker within a minute of the clock; without Redis nobody is refused."""

    def __init__(self) -> None:
        most, seconds = self.parse_rate(self.get_rate())
        self._most, self._seconds = most or 0, seconds or 60

    def asker(self, request: Request) -> str | None:
        """Whose requests are counted together; None for one who is not counted."""
        raise NotImplementedError

    def allow_request(self, request: Request, view: APIView) -> bool:  # noqa: ARG002 - DRF calls it so
        asker = self.asker(request)
        return asker is None or self._count(asker) <= self._most

    def wait(self) -> float:
        return self._seconds - time.time() % self._seconds

    def _count(self, asker: str) -> int:
        """How often it was asked in the current minute, this time included."""
        key = f"throttle:{self.scope}:{asker}:{int(time.time() // self._seconds)}"
        try:
            return cast("Cache", caches["default"]).count(key, seconds=2 * self._seconds)
        except RedisError as error:
            logger.warning("requests (%s) are not counted: %s", self.scope, error)
            return 1


class AnonymousThrottle(MinuteThrottle):
    """Requests without a token or a session, from one place."""

    scope = "anonymous"

    def asker(self, request: Request) -> str | None:
        return None if _known(request) else self.get_ident(request)


class UploadThrottle(MinuteThrottle):
    """Uploads of one token or user."""

    scope = "uploads"

    def asker(self, request: Request) -> str | None:
        return _known(request)


def _known(request: Request) -> str | None:
    """The token or the user who asks."""
    if request.auth:
        return f"token:{request.auth.pk}"
    return f"user:{request.user.pk}" if request.user and request.user.is_authenticated else None
