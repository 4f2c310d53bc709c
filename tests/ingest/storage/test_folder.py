import os
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from ingest.storage.folder import FolderStorage


def test_a_file_and_its_folders_are_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    synced, sync = [], os.fsync

    def note(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    place = tmp_path / FolderStorage(location=tmp_path).save("raw/1/ab/abc", ContentFile(b"a log"))
    assert synced[0].parent == place.parent
    assert synced[0].name.startswith(".partial-")
    assert synced[1:] == [place.parent, place.parents[1], place.parents[2], tmp_path]
    assert place.read_bytes() == b"a log"
    assert list(place.parent.iterdir()) == [place]


def test_of_a_file_that_breaks_off_nothing_is_left(tmp_path):
    class Broken(ContentFile):
        def chunks(self, chunk_size=None):
            yield b"the first piece"
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        FolderStorage(location=tmp_path).save("raw/1/ab/abc", Broken(b""))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
