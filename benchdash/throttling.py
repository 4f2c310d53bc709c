"""Limits of requests. They are counted in Redis; without it nobody is refused."""

import hashlib
import logging
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from benchdash.client_address import client_address, network_of

if TYPE_CHECKING:
    # DRF's views load the classes that its settings name, and one of them throttles.
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

# API and assistants count their anonymous requests themselves; monitoring may ask as often as it likes.
_NOT_COUNTED_AS_PAGES: Final = ("/api/v1/", "/api/schema/", "/mcp/", "/healthz", "/readyz", "/metrics")


class MinuteThrottle(SimpleRateThrottle):
    """A number of requests of one asker per minute of the clock."""

    def __init__(self) -> None:
        most, seconds = self.parse_rate(self.get_rate())
        self.most, self._seconds = most or 0, seconds or 60
        self._counted: int | None = None

    def asker(self, request: Request) -> str | None:
        """Return the name under which requests are counted; None for an asker without a limit."""
        raise NotImplementedError

    def allow_request(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002 - DRF calls it so
        asker = self.asker(request)
        return asker is None or self.allows(asker)

    def allows(self, asker: str) -> bool:
        """Count one more request of the asker, and return whether it is within the limit."""
        self._counted = self._count(asker)
        return self._counted is None or self._counted <= self.most

    def wait(self) -> float:
        return self._seconds - time.time() % self._seconds

    @property
    def headers(self) -> dict[str, str]:
        """The headers about the limit (draft-ietf-httpapi-ratelimit-headers); nothing if not counted."""
        if self._counted is None:
            return {}
        left, seconds = max(0, self.most - self._counted), math.ceil(self.wait())
        return {
            "RateLimit-Policy": f'"{self.scope}";q={self.most};w={self._seconds}',
            "RateLimit": f'"{self.scope}";r={left};t={seconds}',
        }

    def _count(self, asker: str) -> int | None:
        """Count a request, and return how many came in the current minute; None without Redis."""
        # Names may be long, and may contain anything.
        who = hashlib.sha256(asker.encode()).hexdigest()
        key = cache.make_key(f"throttle:{self.scope}:{who}:{int(time.time() // self._seconds)}")
        try:
            # Both in one round trip.
            redis = cache._cache.get_client(key, write=True).pipeline(transaction=False)  # type: ignore[attr-defined]
            counted, _ = redis.incr(key).expire(key, 2 * self._seconds).execute()
        except RedisError as error:
            logger.warning("requests (%s) are not counted: %s", self.scope, error)
            return None
        return int(counted)


class AnonymousThrottle(MinuteThrottle):
    """Requests from one network without a valid token or session."""

    scope = "anonymous"

    def asker(self, request: Request) -> str | None:
        return None if asker_of(request) else place_of(request)


class PersonThrottle(MinuteThrottle):
    """Requests of one person who is signed in."""

    scope = "person"

    def asker(self, request: Request) -> str | None:
        return None if request.auth else asker_of(request)


class TokenThrottle(MinuteThrottle):
    """Requests of one token."""

    scope = "token"

    def asker(self, request: Request) -> str | None:
        return asker_of(request) if request.auth else None


class UploadThrottle(MinuteThrottle):
    """Uploads of one token or user."""

    scope = "uploads"

    def asker(self, request: Request) -> str | None:
        return asker_of(request)


class PictureThrottle(MinuteThrottle):
    """Pictures that are drawn as PNG for one network."""

    scope = "pictures"


def place_of(request: HttpRequest | Request) -> str:
    """Return the address, or the network of IPv6, that a request came from."""
    return network_of(client_address(request))


def throttle_pages(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that answers 429 to too many requests of a person, or of a network of strangers."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        # An assistant may forget the slash.
        if f"{request.path}/".startswith((*_NOT_COUNTED_AS_PAGES, settings.STATIC_URL)):
            return get_response(request)
        person = request.user if request.user.is_authenticated else None
        throttle = PersonThrottle() if person else AnonymousThrottle()
        if throttle.allows(f"user:{person.pk}" if person else place_of(request)):
            return get_response(request)
        wait = str(int(throttle.wait()) + 1)
        refusal = render(request, "429.html", {"most": throttle.most, "wait": wait}, status=429)
        refusal["Retry-After"] = wait
        return refusal

    return answer


def asker_of(request: Request) -> str | None:
    """Return a name of the token or the user; None for anybody else."""
    if request.auth:
        return f"token:{request.auth.pk}"
    return f"user:{request.user.pk}" if request.user and request.user.is_authenticated else None
