"""The cache in Redis: Django's, which makes a new client for every command, with one client that is kept."""

import json
from collections.abc import Iterable
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient


class JSONSerializer:
    """Values as JSON: what stands in Redis is never run, as a pickle would be."""

    def dumps(self, obj: Any) -> bytes:
        """Raises TypeError for a value that JSON has no form for."""
        return json.dumps(obj).encode()

    def loads(self, data: Any) -> Any:
        """Return the value, or None where the data is no JSON."""
        try:
            return json.loads(data)
        except ValueError:
            return None


class _Client(RedisCacheClient):
    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, serializer=JSONSerializer(), **options)
        self._kept: dict[bool, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        if write not in self._kept:
            self._kept[write] = super().get_client(key, write=write)
        return self._kept[write]

    def get(self, key: Any, default: Any) -> Any:
        """Values of another kind than JSON count as missing."""
        value = super().get(key, None)
        return default if value is None else value

    def get_many(self, keys: Iterable[Any]) -> dict[Any, Any]:
        return {key: value for key, value in super().get_many(keys).items() if value is not None}


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
