"""Finds files in the storage that no row names: those of uploads that were rolled back or interrupted."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.core.files.storage import default_storage
from django.utils import timezone

from ingest.models import RawFile
from ingest.storage.raw_bytes import FOLDER

# A younger one may belong to an upload whose row is about to be written.
MIN_AGE: Final = timedelta(days=1)


def stray_files() -> Iterator[str]:
    """Yield the names of files older than a day that no row names, one folder after another."""
    for project in _folders(FOLDER):
        for folder in _folders(project):
            names = [f"{folder}/{name}" for name in default_storage.listdir(folder)[1]]
            rows = RawFile.objects.filter(storage_name__in=names)
            known = set(rows.values_list("storage_name", flat=True))
            yield from (name for name in names if name not in known and _is_old(name))


def _folders(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in default_storage.listdir(folder)[0]]
    except FileNotFoundError:
        return []


def _is_old(name: str) -> bool:
    try:
        return default_storage.get_modified_time(name) < timezone.now() - MIN_AGE
    except FileNotFoundError:
        return False  # it has just been given its real name, or was deleted
