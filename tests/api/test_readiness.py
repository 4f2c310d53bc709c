"""Each part of an installation that is gone, hangs, is full or is late."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from random import Random
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from benchdash.alerts.models import Alert
from benchdash.heartbeat import BEAT, note
from benchdash.results.models import TouchedSeries
from benchdash.storage_url import storage_of
from ingest.models import RawFile, Upload
from ingest.receiving.imports import wait_for_job
from tests.alerts.incidents import make_incident
from tests.api.conftest import client_of
from tests.builders import make_project, make_series, make_token, make_upload, make_user
from tests.celery_worker import QUEUES
from tests.small_disks import fill, mounted
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

MB = 2**20


def everything_lives():
    for of in (BEAT, *QUEUES):
        note(of)


@pytest.fixture
def ready(client):
    """Everything lives. Asks as somebody on this machine: the status, and what is said of the parts."""
    everything_lives()
    return lambda: asked(client)


def asked(client):
    answer = client.get("/readyz")
    told = answer.json()
    assert answer.status_code == (503 if told["status"] == "not ready" else 200)
    assert bool(told["not_ready"]) == (told["status"] == "not ready")
    return told


def test_all_that_stands_is_ready(ready):
    told = ready()
    assert told["status"] == "ready"
    assert told["degraded"] == []
    parts = ["database", "redis", "migrations", "beat", *WORKERS]
    parts += ["disk", "storage", "oldest import", "oldest analysis", "oldest mail"]
    assert told["checks"] == dict.fromkeys(parts, "ok")


def test_a_migration_that_is_not_applied_is_not_ready(ready):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'alerts'")
    told = ready()
    assert told["checks"]["migrations"].endswith("migrations are not applied")
    assert told["checks"]["oldest mail"] == "not known without migrations"


def test_without_redis_it_is_not_ready_and_says_so(client, redis_is_down):
    told = asked(client)
    assert told["checks"]["redis"] == "Redis does not answer"
    assert told["checks"]["beat"] == "not known without redis"
    assert told["checks"]["oldest import"] == "ok"


# --- beat and the workers ---------------------------------------------------------------------------------


@pytest.fixture
def beat(tmp_path, transactional_db):
    """A real beat, with a heartbeat twice a second."""
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    command = [sys.executable, "-m", "celery", "-A", "benchdash.celery", "beat", "--pidfile="]
    process = subprocess.Popen(
        [*command, f"--schedule={tmp_path / 'schedule'}"],
        env={**os.environ, "DATABASE_URL": database.geturl(), "HEARTBEAT_EVERY_S": "0.5"},
        stderr=subprocess.DEVNULL,
    )
    yield process
    process.kill()
    process.wait()


def test_it_follows_a_heartbeat_that_beat_sends_and_workers_run(client, worker, beat, settings):
    settings.BEAT_SILENT_AFTER_S = settings.WORKER_SILENT_AFTER_S = 3
    assert asked(client)["not_ready"] == ["beat", *WORKERS]
    wait_until(lambda: asked(client)["status"] == "ready")
    worker.hang()
    told = wait_until(lambda: (told := asked(client))["not_ready"] == WORKERS and told)
    assert told["checks"]["workers of mail"].startswith("no worker of the queue 'mail' has run anything for")
    worker.go_on()
    wait_until(lambda: asked(client)["status"] == "ready")
    beat.send_signal(signal.SIGSTOP)
    # A worker may be late for longer than beat is: the one is seen before the other.
    told = wait_until(lambda: "beat" in (told := asked(client))["not_ready"] and told)
    assert told["not_ready"] == ["beat", *WORKERS]
    assert told["checks"]["beat"].startswith("beat has sent nothing for")
    assert told["checks"]["workers of mail"] == "not known without beat"


WORKERS = [f"workers of {queue}" for queue in QUEUES]


def test_workers_that_are_at_a_long_job_are_silent_and_well(ready, settings):
    settings.WORKER_SILENT_AFTER_S = 0.01
    for queue in QUEUES:
        note(queue, f"a job of {queue}")
    time.sleep(0.02)
    assert ready()["status"] == "ready"
    settings.JOB_SILENT_AFTER_S = 0.01
    told = ready()
    assert told["not_ready"] == WORKERS
    assert (
        told["checks"]["workers of mail"] == "the workers of the queue 'mail' are at a job of mail since 0 s"
    )


# --- what waits -------------------------------------------------------------------------------------------


def long_ago():
    return timezone.now() - timedelta(hours=1)


def test_a_file_that_waits_too_long_is_degraded(ready):
    upload = make_upload(make_project(), state=Upload.State.QUEUED)
    assert ready()["status"] == "ready"
    Upload.objects.update(queued_at=long_ago())
    told = ready()
    assert (told["status"], told["degraded"]) == ("degraded", ["oldest import"])
    assert told["checks"]["oldest import"].startswith("uploads wait to be imported for 36")
    Upload.objects.update(state=Upload.State.IMPORTED)
    assert ready()["status"] == "ready"
    upload.refresh_from_db()
    wait_for_job(upload)  # an old file that is read again has only begun to wait
    assert ready()["status"] == "ready"


def test_a_series_that_waits_too_long_is_degraded(ready):
    make_series([100, 101])
    assert ready()["status"] == "ready"
    TouchedSeries.objects.update(due_since=long_ago())
    assert ready()["degraded"] == ["oldest analysis"]


def test_a_mail_that_waits_too_long_is_degraded(ready):
    incident = make_incident(make_project())
    alert = Alert.objects.create(project=incident.project, incident=incident, address="alice@example.org")
    assert ready()["status"] == "ready"
    Alert.objects.filter(pk=alert.pk).update(owed_at=long_ago())
    assert ready()["degraded"] == ["oldest mail"]


# --- the disk ---------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path, settings):
    """The folder of large files on a disk of 8 MB."""
    with mounted(tmp_path) as disk:
        settings.STORAGES = {**settings.STORAGES, "default": storage_of(disk.as_uri())}
        settings.DISK_FULL_BYTES, settings.DISK_LOW_BYTES = MB, 4 * MB
        yield disk


def test_a_disk_that_is_low_is_degraded_and_a_full_one_is_not_ready(ready, small_disk):
    assert ready()["status"] == "ready"
    fill(small_disk, leaving=2 * MB)
    told = ready()
    assert (told["status"], told["degraded"]) == ("degraded", ["disk"])
    assert told["checks"]["disk"] == "the disk of the folder 'storage' has 2 MB left"
    (small_disk / "other").unlink()
    fill(small_disk, leaving=0)
    assert ready()["not_ready"] == ["disk"]


def test_a_full_disk_answers_507_and_the_same_file_comes_in_when_there_is_room(small_disk):
    project = make_project("full")
    api = client_of(make_token(project))
    fill(small_disk, leaving=0)

    def send():
        # Noise takes as much room packed as it does plain.
        file = SimpleUploadedFile("large.txt", Random(0).randbytes(MB).hex().encode())
        return api.post("/api/v1/uploads/", {"file": file, "product": "p"}, format="multipart")

    answer = send()
    assert (answer.status_code, answer["Content-Type"]) == (507, "application/problem+json")
    assert answer.json()["title"] == "Insufficient Storage"
    assert "the disk of this installation is full" in answer.json()["detail"]
    assert not Upload.objects.exists()
    assert not RawFile.objects.exists()
    assert not list(small_disk.rglob(".partial-*"))
    (small_disk / "other").unlink()
    assert send().status_code == 422  # it is kept, and was no result
    assert Upload.objects.count() == 1


def test_a_page_says_that_the_disk_is_full_in_a_sentence(client, small_disk, settings):
    settings.FILE_UPLOAD_TEMP_DIR = small_disk
    project = make_project("full")
    client.force_login(make_user(member_of=project))
    client.raise_request_exception = False
    fill(small_disk, leaving=0)
    file = SimpleUploadedFile("large.txt", bytes(5 * MB))
    answer = client.post("/p/full/uploads/new/", {"file": file})
    assert answer.status_code == 507
    assert "The disk of this installation is full, so nothing was stored" in answer.content.decode()
