"""An installation on several machines, and what becomes of files when one of them stops hard."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.storage import storages
from django.db import connection, transaction

from benchdash.celery import app
from benchdash.storage_url import storage_of
from ingest.models import RawFile, Upload
from ingest.receiving.imports import IMPORT_TASK
from tests.builders import make_project, make_token
from tests.celery_worker import forget_queues
from tests.ingest.long_logs import long_log
from tests.ingest.packing import tar_of
from tests.machines import Machine
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.pipeline]

SAID = {"product": "MariaDB", "version": "11.4.2", "hardware": "box", "workload": "oltp_read_only"}
# Large enough for a file of its own, and read by a job.
ARCHIVE = tar_of({"night.log": long_log(2 * 1024 * 1024)})


@pytest.fixture
def machine(tmp_path):
    """``machine(name, **environment)`` makes one; all are stopped hard at the end."""
    made = []

    def make(name, **environment):
        made.append(Machine(tmp_path / name, **environment))
        return made[-1]

    forget_queues()
    yield make
    for one in made:
        one.kill()


def test_a_file_that_one_machine_took_is_imported_by_another_from_s3(machine, s3_server):
    prefix = f"machines-{uuid.uuid4()}"
    first = machine("first", STORAGE_URL=s3_server.url(prefix))
    first.serve()
    answer = first.upload(make_token(make_project()), "night.tar", ARCHIVE, **SAID)
    assert answer["state"] == "queued"
    assert len(s3_server.names(prefix)) == 2  # the file, and the storage-id
    second = machine("second", STORAGE_URL=s3_server.url(prefix))
    second.start_worker()
    upload = wait_until(lambda: Upload.objects.filter(pk=answer["id"], state="imported").first(), within=180)
    assert upload.files.get().upload.state == Upload.State.IMPORTED


def test_a_machine_with_a_folder_of_its_own_says_so_and_refuses_no_upload(machine):
    first = machine("first")
    first.serve()
    answer = first.upload(make_token(make_project()), "night.tar", ARCHIVE, **SAID)
    second = machine("second")
    web, worker = second.start_web(), second.start_worker()
    for name, process in (("web", web), ("worker", worker)):
        assert process.wait(timeout=60) != 0
        assert f"the folder {second.var}/media, which holds no storage-id" in second.log(name)
        assert "mount the same folder on all machines, or keep files in S3" in second.log(name)
    assert Upload.objects.get(pk=answer["id"]).state == Upload.State.QUEUED
    # With the folder of the first it works.
    third = machine("third", STORAGE_URL=(first.var / "media").as_uri())
    third.start_worker()
    app.send_task(IMPORT_TASK, [answer["id"]])
    wait_until(lambda: Upload.objects.filter(pk=answer["id"], state="imported").exists(), within=180)


@pytest.mark.parametrize("place", ["folder", "s3"])
def test_a_hard_stop_between_file_and_row_leaves_no_row_and_the_next_try_is_like_new(
    place, machine, tmp_path, s3_server
):
    url = s3_server.url(f"stop-{uuid.uuid4()}") if place == "s3" else (tmp_path / "files").as_uri()
    files = storages.create_storage(storage_of(url))
    project = make_project()
    token, below = make_token(project), f"raw/{project.pk}"
    first = machine("first", STORAGE_URL=url)
    first.serve()
    with ThreadPoolExecutor() as threads:
        with transaction.atomic(), connection.cursor() as cursor:
            # The file may be stored meanwhile, its row may not.
            cursor.execute("LOCK TABLE ingest_rawfile IN SHARE ROW EXCLUSIVE MODE")
            sent = threads.submit(first.upload, token, "night.tar", ARCHIVE, **SAID)
            left = wait_until(lambda: _files(files, below), within=180)
            first.kill()
        with pytest.raises(OSError):
            sent.result()
    assert not RawFile.objects.exists()
    assert not Upload.objects.exists()
    first.serve()
    assert first.upload(token, "night.tar", ARCHIVE, **SAID)["duplicate"] is False
    raw = RawFile.objects.get()
    assert files.exists(raw.storage_name)
    assert raw.storage_name not in left


def _files(storage, folder):
    """The names of all whole files below the folder."""
    try:
        folders, names = storage.listdir(folder)
    except FileNotFoundError:
        return []
    below = [name for inner in folders for name in _files(storage, f"{folder}/{inner}")]
    return below + [f"{folder}/{name}" for name in names if not name.startswith(".partial-")]
