"""Telling others that there is news, knowing no more of them than a task's name."""

import logging
from functools import partial

from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from benchdash.celery import app as celery

_log = logging.getLogger(__name__)


def ring_alerts() -> None:
    """After the commit, ask those who tell people to look. A lost ring costs seconds: beat asks them too."""
    transaction.on_commit(partial(_ring, settings.ALERTS_DOORBELL))


def _ring(task: str) -> None:
    try:
        celery.send_task(task)
    except (OperationalError, RedisError) as error:
        _log.warning("%s was not rung, beat will do: %s", task, error)
