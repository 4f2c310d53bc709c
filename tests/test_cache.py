import pickle
from datetime import UTC, datetime

import pytest
import redis
from django.conf import settings
from django.core.cache import cache

pytestmark = pytest.mark.django_db  # each test begins with an empty cache

LOADED = []


class Planted:
    """Loading its pickle leaves a mark."""

    def __reduce__(self):
        return LOADED.append, ("a pickle was loaded",)


def put(key, value):
    """As somebody does who reaches Redis without us."""
    redis.from_url(settings.REDIS_URL).set(cache.make_key(key), value)


def test_a_pickle_in_redis_is_not_loaded_and_counts_as_missing():
    put("a", pickle.dumps(Planted()))
    cache.set("b", 2)
    assert cache.get("a") is None
    assert cache.get("b") == 2
    assert LOADED == []


@pytest.mark.parametrize("value", [7, -1.5, True, "ä", [1, [2]], {"a": [None, False]}])
def test_what_was_stored_comes_back(value):
    cache.set("a", value)
    assert cache.get("a") == value
    assert type(cache.get("a")) is type(value)


def test_a_value_that_json_cannot_tell_is_refused():
    with pytest.raises(TypeError):
        cache.set("a", datetime.now(UTC))


def test_a_number_that_was_stored_is_counted_on():
    cache.add("a", 0)
    assert [cache.incr("a"), cache.incr("a"), cache.get("a")] == [1, 2, 2]
