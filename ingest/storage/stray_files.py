"""Finds files in the storage that no row names: those of uploads that were rolled back or interrupted."""

from collections.abc import Iterable, Iterator, Sequence
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
            yield from _old(_unknown(names))


def _folders(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in default_storage.listdir(folder)[0]]
    except FileNotFoundError:
        return []


def _unknown(names: Sequence[str]) -> list[str]:
    known = set(RawFile.objects.filter(storage_name__in=names).values_list("storage_name", flat=True))
    return [name for name in names if name not in known]


def _old(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        try:
            modified = default_storage.get_modified_time(name)
        except FileNotFoundError:
            continue  # it has just been given its real name, or was deleted
        if modified < timezone.now() - MIN_AGE:
            yield name
