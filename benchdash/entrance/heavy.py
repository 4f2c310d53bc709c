"""Expensive requests, which take turns: however many come, threads are left for all others."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from typing import Final

from django.conf import settings
from django.urls import Resolver404, resolve
from rest_framework.exceptions import APIException, Throttled

# When somebody who is refused may ask again.
RETRY_S: Final = 5
# Names of pages and of answers that compare, draw or read a long history; exports are further ones.
_PAGES: Final = (
    "article article_block badge embed embed_png embed_svg feed gate history incident"
    " incident_evidence matrix my_morning overview pair rule sweep"
)
_ANSWERS: Final = "compare curves difference gate latency matrix nights overview series-points sweep"
HEAVY: Final = frozenset(
    {
        *(f"dashboard:{name}" for name in _PAGES.split()),
        *(f"api:{name}" for name in _ANSWERS.split()),
        "assistants:mcp",
    }
)
_EXPORT: Final = "_csv"


class Busy(APIException):
    status_code = 503
    default_detail = "too many expensive requests at a time; try again"
    wait = RETRY_S


@lru_cache(maxsize=1024)
def is_heavy(path: str) -> bool:
    """Return whether requests of a path are expensive."""
    try:
        name = resolve(path).view_name
    except Resolver404:
        return False
    return name in HEAVY or name.endswith(_EXPORT)


class Turns:
    """Expensive requests of this process: some are answered, some wait, and those beyond are refused."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(settings.MAX_HEAVY)
        self._places_of: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(settings.MAX_HEAVY_PER_ADDRESS)
        )
        self._present: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for a place. Raises Throttled where the address has too many requests, or Busy."""
        if self._present[address] >= settings.MAX_HEAVY_PER_ADDRESS + settings.MAX_HEAVY_WAITING_PER_ADDRESS:
            raise Throttled(RETRY_S, "too many expensive requests from your address at a time")
        if self._present.total() >= settings.MAX_HEAVY + settings.MAX_HEAVY_WAITING:
            raise Busy
        self._present[address] += 1
        try:
            async with AsyncExitStack() as places:
                try:
                    async with asyncio.timeout(settings.HEAVY_WAIT_SECONDS):
                        await places.enter_async_context(self._places_of[address])
                        await places.enter_async_context(self._places)
                except TimeoutError:
                    raise Busy from None
                yield
        finally:
            self._present[address] -= 1
            if not self._present[address]:
                del self._present[address], self._places_of[address]
