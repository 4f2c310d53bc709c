"""The cache in Redis: Django's, which makes a new client for every command, with one client that is kept."""

from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient


class _Client(RedisCacheClient):
    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, **options)
        self._kept: dict[bool, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        if write not in self._kept:
            self._kept[write] = super().get_client(key, write=write)
        return self._kept[write]


class Cache(RedisCache):
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client

    def count(self, key: str, *, seconds: int) -> int:
        """How often the key was counted, this time included; forgotten so long after the first time."""
        name = self.make_and_validate_key(key)
        client = self._cache.get_client(name, write=True)
        number: int = client.incr(name)
        if number == 1:
            client.expire(name, seconds)
        return number
