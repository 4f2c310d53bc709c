"""Keeps files in a folder so that a file is whole and on the disk before its row is written."""

import os
import tempfile
from pathlib import Path

from django.core.files import File
from django.core.files.storage import FileSystemStorage


class FolderStorage(FileSystemStorage):
    """A folder of the file system in which no part of a file is ever seen, and no crash loses one."""

    def _save(self, name: str, content: "File[bytes]") -> str:
        path = Path(self.path(name))
        made = _make_folders(path.parent)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".partial-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        for folder in (path.parent, *made):
            _sync_folder(folder)
        return name


def _make_folders(folder: Path) -> list[Path]:
    """Return the folders in which a new folder was made; they must be synced too."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return [parent.parent for parent in missing]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
