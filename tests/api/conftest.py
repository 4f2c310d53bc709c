"""Fixtures of the API's tests."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    """Neither a worker's heartbeat nor how often somebody asked."""
    cache.clear()


@pytest.fixture
def redis_is_down(settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1"}}
