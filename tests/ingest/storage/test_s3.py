import io
import subprocess
import sys
import uuid

import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage

from benchdash.storage_url import storage_of
from ingest.errors import FileMissingError, FileUnavailableError
from ingest.models import Upload
from ingest.storage import raw_bytes
from ingest.storage.raw_bytes import RawData, keep
from tests.builders import make_project
from tests.ingest.sending import SAID, send

pytestmark = pytest.mark.django_db

LOG = b"transactions: 4812\n" * 100_000


def choose(settings, url):
    settings.UPLOAD_INLINE_BYTES = 32
    settings.STORAGES = {**settings.STORAGES, "default": storage_of(url)}


@pytest.fixture
def prefix(s3_server, settings):
    prefix = f"storage-{uuid.uuid4()}"
    choose(settings, s3_server.url(prefix))
    return prefix


def kept(data):
    return keep(make_project(), [RawData(io.BytesIO(data))])[RawData(data).sha256]


def test_a_large_file_lies_compressed_below_the_prefix_of_the_bucket(s3_server, prefix):
    raw = kept(LOG)
    assert s3_server.names(prefix) == [f"{prefix}/{raw.storage_name}"]
    assert default_storage.size(raw.storage_name) < len(LOG) / 100
    assert raw_bytes.read(raw) == LOG
    with raw_bytes.open_seekable(raw) as file:
        file.seek(-5, io.SEEK_END)
        assert file.read() == LOG[-5:]


def test_a_missing_file_is_told_apart_from_a_server_that_does_not_answer(s3_server, prefix, settings):
    raw = kept(LOG)
    raw_bytes.delete([raw.storage_name, "raw/is-not-there"])
    assert s3_server.names(prefix) == []
    with pytest.raises(FileMissingError):
        raw_bytes.read(raw)
    choose(settings, "s3://testing:testing@results?region=us-east-1&endpoint=http://127.0.0.1:9")
    with pytest.raises(FileUnavailableError, match="does not answer"):
        raw_bytes.read(raw)
    with pytest.raises(FileUnavailableError, match="does not answer"):
        kept(LOG)


def test_an_upload_that_cannot_be_stored_now_is_asked_to_come_again(settings, api):
    choose(settings, "s3://testing:testing@results?region=us-east-1&endpoint=http://127.0.0.1:9")
    answer = send(api, LOG, **SAID)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["errors"] == [{"message": "the storage of files does not answer now"}]
    assert not Upload.objects.exists()


def test_who_keeps_files_in_a_folder_loads_nothing_of_s3():
    program = (
        "import django, sys; django.setup(); import ingest.api, ingest.tasks; print('boto3' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        cwd=django_settings.BASE_DIR,
        env={
            "DJANGO_SETTINGS_MODULE": "benchdash.settings",
            "DATABASE_URL": "postgres://nobody@127.0.0.1:9/no",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "False\n"
