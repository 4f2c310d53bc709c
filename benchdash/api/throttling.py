"""How often somebody without a token or a session may ask."""

import logging
import time

from django.core.cache import cache
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

logger = logging.getLogger(__name__)


class AnonymousThrottle(SimpleRateThrottle):
    """So many requests from one place within a minute of the clock; without Redis nobody is refused."""

    scope = "anonymous"

    def __init__(self) -> None:
        most, seconds = self.parse_rate(self.get_rate())
        self._most, self._seconds = most or 0, seconds or 60

    def allow_request(self, request: Request, view: APIView) -> bool:  # noqa: ARG002 - DRF calls it so
        if request.auth or (request.user and request.user.is_authenticated):
            return True
        return self._count(request) <= self._most

    def wait(self) -> float:
        return self._seconds - time.time() % self._seconds

    def _count(self, request: Request) -> int:
        """How often this place asked in the current minute, this time included."""
        minute = int(time.time() // self._seconds)
        key = f"throttle:{self.scope}:{self.get_ident(request)}:{minute}"
        try:
            cache.add(key, 0, timeout=2 * self._seconds)
            return cache.incr(key)
        except (RedisError, ValueError) as error:
            logger.warning("requests are not counted: %s", error)
            return 1
