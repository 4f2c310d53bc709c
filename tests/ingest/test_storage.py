import io
import os
import zlib
from pathlib import Path

import pytest

from ingest import storage
from ingest.errors import FileTooLargeError
from ingest.models import RawFile
from ingest.storage import RawData, keep
from tests.builders import make_project


def kept(project, data):
    return keep(project, [data])[data.sha256]


pytestmark = pytest.mark.django_db

SMALL = b"transactions: 4812\n"


@pytest.fixture
def inline_up_to_32_bytes(settings, tmp_path):
    settings.UPLOAD_INLINE_BYTES = 32
    settings.MEDIA_ROOT = tmp_path


LARGE = b"transactions: 4812\n" * 100_000


def files_under(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_a_small_file_lives_compressed_in_its_row():
    raw = kept(make_project(), RawData(SMALL))
    assert (raw.size, raw.storage_name) == (19, "")
    assert zlib.decompress(RawFile.objects.get().content) == SMALL
    assert storage.read(raw) == SMALL
    assert storage.open_raw(raw) is None


def test_a_large_file_lies_in_the_storage_by_project_and_content(inline_up_to_32_bytes, tmp_path):
    project = make_project()
    raw = kept(project, RawData(io.BytesIO(LARGE)))
    assert raw.content is None
    assert raw.storage_name == f"raw/{project.pk}/{raw.sha256[:2]}/{raw.sha256}"
    assert files_under(tmp_path) == [tmp_path / raw.storage_name]
    assert storage.read(raw) == LARGE
    with storage.open_raw(raw) as file:
        assert file.read() == LARGE


def test_the_same_content_is_stored_once_in_a_project(inline_up_to_32_bytes, tmp_path):
    one, other = make_project(), make_project()
    assert kept(one, RawData(LARGE)).pk == kept(one, RawData(LARGE)).pk
    assert kept(other, RawData(LARGE)).pk != kept(one, RawData(LARGE)).pk
    assert len(files_under(tmp_path)) == 2


def test_a_large_file_and_its_folders_are_synced_before_its_row_is_written(
    inline_up_to_32_bytes, tmp_path, monkeypatch
):
    synced = []
    sync = os.fsync

    def note(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        assert not RawFile.objects.exists()
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    raw = kept(make_project(), RawData(LARGE))
    place = tmp_path / raw.storage_name
    assert synced[0].parent == place.parent
    assert synced[1:] == [place.parent, place.parents[1], place.parents[2], tmp_path]


def test_a_write_that_fails_leaves_nothing_behind(inline_up_to_32_bytes, tmp_path, settings):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > 100 and getattr(self, "armed", False):
                raise OSError("the disk is full")
            return super().read(size)

    source = Broken(LARGE)
    data = RawData(source)
    assert (data.size, len(data.sha256)) == (len(LARGE), 64)
    source.armed = True
    with pytest.raises(OSError, match="full"):
        kept(make_project(), data)
    assert files_under(tmp_path) == []
    assert not RawFile.objects.exists()


def test_a_file_beyond_the_limit_is_refused_while_it_is_read(settings):
    settings.UPLOAD_MAX_BYTES = 100
    assert RawData(b"x" * 100).size == 100
    with pytest.raises(FileTooLargeError):
        RawData(io.BytesIO(b"x" * 101)).sha256  # noqa: B018 - reads it
