"""The Celery application; its settings are Django's, with the prefix CELERY_."""

import logging
import os
from functools import partial

from celery import Celery
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchdash.settings")

logger = logging.getLogger(__name__)

app = Celery("benchdash")
# Else a thread of the web server would send its jobs through an app that knows no broker.
app.set_default()
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def ring(task: str, *arguments: object) -> None:
    """Have a worker do the task with this name, once the transaction is committed."""
    transaction.on_commit(partial(_send, task, arguments))


def _send(task: str, arguments: tuple[object, ...]) -> None:
    try:
        app.send_task(task, arguments)
    except (OperationalError, RedisError) as error:
        # PostgreSQL remembers what is due and beat looks there: only seconds are lost.
        logger.warning("no broker takes %s%s, beat will see to it: %s", task, arguments, error)
