"""Workers leave a mark that they live, for those who ask whether the installation is ready."""

import logging
from datetime import datetime, timedelta
from typing import Any

from celery.signals import heartbeat_sent, task_prerun, worker_ready
from django.core.cache import cache
from django.utils import timezone
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

# Beat sends a task every ten seconds, so a worker that is not seen for so long is stuck or gone.
LATELY = timedelta(seconds=90)
_KEY = "worker-seen-at"
_KEPT_FOR = timedelta(days=1)


def note_worker(**_signal: Any) -> None:
    try:
        cache.set(_KEY, timezone.now(), timeout=int(_KEPT_FOR.total_seconds()))
    except RedisError as error:
        logger.warning("the worker's heartbeat is not kept: %s", error)


def worker_seen_at() -> datetime | None:
    """When any worker was last seen, as far as Redis remembers. Raises redis.exceptions.RedisError."""
    seen_at: datetime | None = cache.get(_KEY)
    return seen_at


def listen() -> None:
    for signal in (worker_ready, heartbeat_sent, task_prerun):
        signal.connect(note_worker, dispatch_uid="benchdash.api.heartbeat")
