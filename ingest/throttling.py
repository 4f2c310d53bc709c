"""How often one sender may upload."""

import logging
import time

from django.core.cache import cache
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

logger = logging.getLogger(__name__)


class UploadThrottle(SimpleRateThrottle):
    """So many uploads of one token or user within a minute of the clock; without Redis nobody is refused."""

    scope = "uploads"

    def __init__(self) -> None:
        most, seconds = self.parse_rate(self.get_rate())
        self._most, self._seconds = most or 0, seconds or 60

    def allow_request(self, request: Request, view: APIView) -> bool:  # noqa: ARG002 - DRF calls it so
        return self._count(request) <= self._most

    def wait(self) -> float:
        return self._seconds - time.time() % self._seconds

    def _count(self, request: Request) -> int:
        sender = f"token:{request.auth.pk}" if request.auth else f"user:{request.user.pk}"
        key = f"throttle:{self.scope}:{sender}:{int(time.time() // self._seconds)}"
        try:
            cache.add(key, 0, timeout=2 * self._seconds)
            return cache.incr(key)
        except (RedisError, ValueError) as error:
            logger.warning("uploads are not counted: %s", error)
            return 1
