"""Sees to it that no process starts on a machine that has other files than the rest of the installation."""

from typing import Any

from celery.signals import worker_init
from django.db import connections

from ingest.storage_identity import WrongStorageError, refuse_another_storage


def start_with_our_files(process: str) -> None:
    """End this process, which is called so, with a sentence where its storage is another one."""
    try:
        refuse_another_storage()
    except WrongStorageError as error:
        raise SystemExit(f"{process} does not start: {error}.") from None
    finally:
        # The processes that this one will start must not share its connection.
        connections.close_all()


def listen() -> None:
    worker_init.connect(_on_worker_init, dispatch_uid="ingest.process_start")


def _on_worker_init(**_signal: Any) -> None:
    start_with_our_files("The worker")
