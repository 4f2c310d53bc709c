import gzip
import hashlib
import io
import os
import random
import shutil
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, transaction

from benchdash.storage_url import storage_of
from ingest.errors import FileMissingError, FileTooLargeError, FileUnavailableError
from ingest.models import RawFile
from ingest.storage import raw_bytes
from ingest.storage.identity import refuse_another_storage
from ingest.storage.raw_bytes import RawData, keep
from tests.builders import make_project
from tests.waiting import wait_until


def kept(project, data):
    return keep(project, [data])[data.sha256]


pytestmark = pytest.mark.django_db

SMALL = b"transactions: 4812\n"


@pytest.fixture
def inline_up_to_32_bytes(settings, tmp_path):
    settings.UPLOAD_INLINE_BYTES = 32
    settings.STORAGES = {**settings.STORAGES, "default": storage_of(tmp_path.as_uri())}


LARGE = b"transactions: 4812\n" * 100_000
NOISE = random.Random(3).randbytes(100_000)


def files_under(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_a_small_file_lives_compressed_in_its_row():
    raw = kept(make_project(), RawData(SMALL))
    assert (raw.size, raw.storage_name) == (19, "")
    assert zlib.decompress(RawFile.objects.get().content) == SMALL
    assert raw_bytes.read(raw) == SMALL
    assert raw_bytes.open_raw(raw).read() == SMALL


def test_a_large_file_lies_compressed_in_the_storage_by_project_and_content(inline_up_to_32_bytes, tmp_path):
    project = make_project()
    raw = kept(project, RawData(io.BytesIO(LARGE)))
    assert raw.content is None
    assert (raw.size, raw.sha256) == (len(LARGE), hashlib.sha256(LARGE).hexdigest())
    assert raw.storage_name.startswith(f"raw/{project.pk}/{raw.sha256[:2]}/{raw.sha256}-")
    [file] = files_under(tmp_path)
    assert file == tmp_path / raw.storage_name
    assert file.suffix == ".zst"
    assert zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes()) == LARGE
    assert file.stat().st_size < len(LARGE) / 100


def test_a_compressed_file_is_read_whole_as_a_stream_and_in_any_order(inline_up_to_32_bytes):
    raw = kept(make_project(), RawData(LARGE))
    assert raw_bytes.read(raw) == LARGE
    with raw_bytes.open_raw(raw) as file:
        assert file.read(13) + file.read() == LARGE
    with raw_bytes.open_seekable(raw) as file:
        file.seek(-5, os.SEEK_END)
        assert file.read() == LARGE[-5:]
        file.seek(14)
        assert file.read(4) == b"4812"


@pytest.mark.parametrize("data", [gzip.compress(NOISE), zstandard.compress(NOISE)])
def test_a_file_that_came_compressed_is_stored_as_it_is(inline_up_to_32_bytes, tmp_path, data):
    raw = kept(make_project(), RawData(io.BytesIO(data)))
    assert (tmp_path / raw.storage_name).read_bytes() == data
    assert raw_bytes.read(raw) == data
    with raw_bytes.open_seekable(raw) as file:
        assert file.read() == data


def test_a_file_that_was_stored_before_files_were_compressed_is_read(inline_up_to_32_bytes):
    digest = hashlib.sha256(LARGE).hexdigest()
    name = default_storage.save(f"raw/1/{digest[:2]}/{digest}", ContentFile(LARGE))
    raw = RawFile.objects.create(project=make_project(), sha256=digest, size=len(LARGE), storage_name=name)
    assert raw_bytes.read(raw) == LARGE
    with raw_bytes.open_seekable(raw) as file:
        assert file.read() == LARGE


def test_storing_and_reading_a_stream_takes_little_memory(inline_up_to_32_bytes, tmp_path):
    size = 40 * 1024 * 1024
    with (tmp_path / "log.txt").open("w+b") as file:
        for _ in range(size // len(NOISE) + 1):
            file.write(NOISE)
        data = RawData(file)
        tracemalloc.start()
        raw = kept(make_project(), data)
        with raw_bytes.open_raw(raw) as stream:
            while stream.read(64 * 1024):
                pass
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert raw.size > size
    assert peak < 12 * 1024 * 1024


def test_the_same_content_is_stored_once_in_a_project(inline_up_to_32_bytes, tmp_path):
    one, other = make_project(), make_project()
    assert kept(one, RawData(LARGE)).pk == kept(one, RawData(LARGE)).pk
    assert kept(other, RawData(LARGE)).pk != kept(one, RawData(LARGE)).pk
    assert len(files_under(tmp_path)) == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_uploads_of_the_same_bytes_at_once_one_file_stays(inline_up_to_32_bytes, tmp_path):
    project = make_project()

    def keep_it():
        try:
            return kept(project, RawData(LARGE)).pk
        finally:
            connection.close()

    with ThreadPoolExecutor() as threads:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE ingest_rawfile IN SHARE ROW EXCLUSIVE MODE")
            uploads = [threads.submit(keep_it) for _ in range(2)]
            wait_until(lambda: sum(file.suffix == ".zst" for file in files_under(tmp_path)) == 2)
        [one] = {upload.result() for upload in uploads}
    assert files_under(tmp_path) == [tmp_path / RawFile.objects.get(pk=one).storage_name]


def test_a_write_that_fails_leaves_nothing_behind(inline_up_to_32_bytes, tmp_path):
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


def test_nothing_is_stored_where_the_folder_is_not_mounted_any_more(inline_up_to_32_bytes, tmp_path):
    refuse_another_storage()
    kept(make_project(), RawData(LARGE))
    (tmp_path / "storage-id").unlink()
    shutil.rmtree(tmp_path / "raw")
    with pytest.raises(FileUnavailableError, match="not the right storage of files"):
        kept(make_project(), RawData(LARGE))
    assert files_under(tmp_path) == []


# --- what is not there --------------------------------------------------------------------------------------


def test_a_missing_file_is_told_apart_from_a_storage_that_does_not_answer(inline_up_to_32_bytes, tmp_path):
    raw = kept(make_project(), RawData(LARGE))
    file = tmp_path / raw.storage_name
    file.unlink()
    with pytest.raises(FileMissingError, match="the file is not in the storage of this machine"):
        raw_bytes.read(raw)
    file.mkdir()
    with pytest.raises(FileUnavailableError, match="does not answer"):
        raw_bytes.open_raw(raw)


def test_a_disk_that_fails_within_a_file_is_no_fault_of_the_file(inline_up_to_32_bytes, tmp_path):
    raw = kept(make_project(), RawData(LARGE))
    place = tmp_path / raw.storage_name
    place.unlink()
    place.symlink_to("/proc/self/mem")  # it opens, and reading its first byte fails
    with pytest.raises(FileUnavailableError, match="does not answer"):
        raw_bytes.read(raw)
    with pytest.raises(FileUnavailableError, match="does not answer"), raw_bytes.open_seekable(raw):
        pass


def test_what_cannot_be_deleted_now_stops_nothing(inline_up_to_32_bytes, tmp_path, caplog):
    raw = kept(make_project(), RawData(LARGE))
    folder = tmp_path / "raw/1"
    (folder / "full").mkdir(parents=True)
    raw_bytes.delete(["raw/1", "raw/2/is-not-there", raw.storage_name])
    assert "raw/1 could not be deleted" in caplog.text
    assert files_under(tmp_path) == []
