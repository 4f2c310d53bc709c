"""Tells whether this machine keeps raw files where the rest of the installation does.

A file ``storage-id`` lies beside the raw files, and the database knows what it says. A machine that finds
another one, or none, has a folder of its own: files that it takes could be read nowhere else.
"""

import logging
import secrets
from typing import Final

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, default_storage, storages
from django.db import DatabaseError, connections, transaction

from ingest.models import RawFile, RawStorage

logger = logging.getLogger(__name__)

NAME: Final = "storage-id"


class WrongStorageError(Exception):
    """A storage that is not the one of this installation, with a sentence for its operator."""


def refuse_another_storage() -> None:
    """Raise WrongStorageError where this process must not start. The very first one gives the storage its id.

    A database or storage that does not answer is no reason: others see to that. The process may part
    afterwards: what it is asked here leaves no connection to S3 open.
    """
    storage = storages.create_storage(settings.STORAGES["default"])
    try:
        _learn(storage)
        trouble = storage_trouble(storage)
    except (DatabaseError, OSError) as error:
        logger.warning("whether the storage of files is the right one is not known: %s", error)
        return
    if trouble:
        raise WrongStorageError(trouble)


def start_with_our_files(process: str) -> None:
    """End this process, which is called so, with a sentence where its storage is another one."""
    try:
        refuse_another_storage()
    except WrongStorageError as error:
        raise SystemExit(f"{process} does not start: {error}.") from None
    finally:
        # The processes that this one will start must not share its connection.
        connections.close_all()


def storage_trouble(storage: Storage = default_storage) -> str:
    """Return why this is not the storage of the installation; nothing where it is.

    Raises DatabaseError, or OSError where the storage does not answer.
    """
    known = RawStorage.objects.first()
    found = _read(storage)
    if known is None or found == known.identity:
        return ""
    what = "another storage-id" if found else "no storage-id"
    return (
        f"STORAGE_URL leads to {_place()}, which holds {what} and is not where this installation keeps its "
        "files: mount the same folder on all machines, or keep files in S3; where the files were moved "
        "by hand, run manage.py use_storage"
    )


def use_this_storage(storage: Storage = default_storage) -> None:
    """Make the storage of this machine the one of the installation. Raises WrongStorageError.

    Processes that run elsewhere learn of it at once; those with another storage are then the wrong ones.
    """
    if trouble := _trouble_with_files(storage):
        raise WrongStorageError(trouble)
    with transaction.atomic():
        identity = _read(storage) or _write(storage, secrets.token_hex(16))
        RawStorage.objects.update_or_create(pk=1, defaults={"identity": identity})


def _learn(storage: Storage) -> None:
    """Note the storage of the very first process. Raises WrongStorageError where it lacks the files."""
    if RawStorage.objects.exists():
        return
    if trouble := _trouble_with_files(storage):
        raise WrongStorageError(trouble)
    with transaction.atomic():
        # If two processes come at once, the second waits here for the row of the first.
        row, is_new = RawStorage.objects.get_or_create(pk=1, defaults={"identity": secrets.token_hex(16)})
        if is_new:
            row.identity = _read(storage) or _write(storage, row.identity)
            row.save(update_fields=["identity"])


def _trouble_with_files(storage: Storage) -> str:
    """Return what is wrong where the newest file of the installation is not in this storage."""
    newest = RawFile.objects.exclude(storage_name="").order_by("-pk").first()
    if newest is None or storage.exists(newest.storage_name):
        return ""
    return (
        f"STORAGE_URL leads to {_place()}, where {newest.storage_name} is missing: it must lead to the files "
        "that this installation has received so far"
    )


def _read(storage: Storage) -> str:
    try:
        with storage.open(NAME) as file:
            return bytes(file.read(100)).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""


def _write(storage: Storage, identity: str) -> str:
    storage.save(NAME, ContentFile(f"{identity}\n".encode()))
    return identity


def _place() -> str:
    """Name the storage without the secrets that STORAGE_URL may hold."""
    options = settings.STORAGES["default"]["OPTIONS"]
    bucket = options.get("bucket_name")
    return f"the bucket {bucket}" if bucket else f"the folder {options['location']}"
