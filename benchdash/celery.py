"""The Celery application; its settings are Django's, with the prefix CELERY_."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps

from celery import Celery
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from benchdash.database.locks import alone_with

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")

logger = logging.getLogger(__name__)

# A task that has waited longer was lost with its broker.
_LOST_AFTER_S = 60.0

app = Celery("benchdash")
# Else a thread of the web server would send its jobs through an app that knows no broker.
app.set_default()
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def one_at_a_time(job: Callable[[], None]) -> Callable[[], None]:
    """Wrap a job so that it ends at once while another worker runs the same one."""

    @wraps(job)
    def run() -> None:
        with alone_with(f"{job.__module__}.{job.__qualname__}") as is_alone:
            if is_alone:
                job()

    return run


def ring(task: str, *arguments: object) -> None:
    """Have a worker do the task with this name, once the transaction is committed."""
    transaction.on_commit(partial(_send, task, arguments))


def ring_together(task: str, *, every: float) -> None:
    """Like ``ring``, for a task that does everything that is due: one run answers many rings.

    While one waits in the queue no other is sent: it will see everything committed by then. It begins at
    once, or ``every`` seconds after the last one began.
    """
    transaction.on_commit(partial(_send_together, task, every))


def taken_up(task: str, *, every: float) -> None:
    """Let the task be rung for again. Such a task calls this before it looks at what is due."""
    with _without_redis_beat_sees_to_it(task):
        cache.set(_began(task), True, timeout=every)
        cache.delete(_waits(task))


def _send_together(task: str, every: float) -> None:
    with _without_redis_beat_sees_to_it(task):
        if cache.add(_waits(task), True, timeout=_LOST_AFTER_S + every):
            app.send_task(task, countdown=every if cache.get(_began(task)) else None)


def _waits(task: str) -> str:
    return f"waits:{task}"


def _began(task: str) -> str:
    return f"began:{task}"


@contextmanager
def _without_redis_beat_sees_to_it(task: str) -> Iterator[None]:
    """Log that Redis is away. PostgreSQL remembers what is due, and beat asks it within seconds."""
    try:
        yield
    except (OperationalError, RedisError) as error:
        logger.warning("no broker takes %s, beat will see to it: %s", task, error)


def _send(task: str, arguments: tuple[object, ...]) -> None:
    with _without_redis_beat_sees_to_it(f"{task}{arguments}"):
        app.send_task(task, arguments)
