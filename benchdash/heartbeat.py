"""Signs of life that beat and the workers leave in Redis, for the check whether benchdash is ready.

Beat sends a heartbeat to each queue and notes it. A worker notes when it begins and ends a job: a heartbeat,
which takes no time, or any other, during which it may be silent for longer.
"""

import logging
import time
from dataclasses import dataclass
from typing import Any

from celery import Task, current_task, shared_task
from celery.signals import after_task_publish, beat_init, task_postrun, task_prerun
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

BEAT = "beat"
_KEPT_FOR_S = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of life: its time (epoch seconds), and the name of the job that began then, if one did."""

    at: float
    job: str = ""

    @property
    def age(self) -> float:
        return max(0.0, time.time() - self.at)


@shared_task(name="benchdash.heartbeat")
def heartbeat() -> None:
    """Do nothing: that it runs is noted as for any other job."""


def sign_of(of: str) -> Sign | None:
    """Return the last sign of BEAT or of the workers of a queue. Raises redis.exceptions.RedisError."""
    noted = cache.get(_key(of))
    return Sign(*noted) if noted else None


def note(of: str, job: str = "") -> None:
    """Note a sign of life of a queue or of BEAT; of nothing for a job that came from no queue."""
    if not of:
        return
    try:
        cache.set(_key(of), [time.time(), job], timeout=_KEPT_FOR_S)
    except RedisError as error:
        logger.warning("the sign of life of %s is not kept: %s", of, error)


def note_beat(**_signal: Any) -> None:
    note(BEAT)


def note_begin(*, task: Task[..., Any], **_signal: Any) -> None:
    note(_queue_of(task), "" if task.name == heartbeat.name else task.name)


def note_end(*, task: Task[..., Any], **_signal: Any) -> None:
    """Note that a worker is free for the next job, whatever the others of its queue do."""
    note(_queue_of(task))


def still_at_work() -> None:
    """Note that a job of many steps goes on. Does nothing outside of a job."""
    if current_task:
        note(_queue_of(current_task), current_task.name)


def send_heartbeats(**_signal: Any) -> None:
    """Send the first heartbeats at once: beat itself would wait for a whole interval."""
    for queue in settings.QUEUES:
        heartbeat.apply_async(queue=queue, expires=settings.HEARTBEAT_EVERY_S)


def listen() -> None:
    after_task_publish.connect(note_beat, sender=heartbeat.name, dispatch_uid="heartbeat-sent")
    beat_init.connect(send_heartbeats, dispatch_uid="beat-begins")
    task_prerun.connect(note_begin, dispatch_uid="job-begins")
    task_postrun.connect(note_end, dispatch_uid="job-ends")


def _queue_of(task: Task[..., Any]) -> str:
    delivery = task.request.delivery_info
    return str(delivery["routing_key"] or "") if delivery else ""


def _key(of: str) -> str:
    return f"sign-of-life:{of}"
