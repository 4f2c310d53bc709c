"""Telling others that there is news, knowing no more of them than a task's name."""

import logging
from functools import partial

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

_log = logging.getLogger(__name__)


def ring_alerts() -> None:
    """After the commit, ask those who tell people to look. A lost ring costs seconds: beat asks them too."""
    transaction.on_commit(partial(_ring, settings.ALERTS_DOORBELL))


def _ring(task: str) -> None:
    try:
        current_app.send_task(task)
    except OperationalError as error:
        _log.warning("%s was not rung, beat will do: %s", task, error)
