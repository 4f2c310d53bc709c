import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections

from benchdash.alerts.tasks import answer_code_host, answer_pull_requests
from benchdash.celery import app, ring, ring_together, taken_up
from benchdash.database.locks import alone_with
from benchdash.regressions.models import Incident
from benchdash.results.models import TouchedSeries
from ingest.receiving.imports import IMPORT_TASK
from ingest.tasks import import_waiting
from tests.builders import make_project, make_upload
from tests.celery_worker import QUEUES, forget_queues
from tests.regressions.nights import record_nights

TASK = "benchdash.alerts.tasks.send_alerts"


@pytest.fixture
def empty_queue():
    forget_queues()
    yield
    forget_queues()


def queued():
    with app.connection_for_write() as broker:
        return broker.default_channel.client.llen("mail")


@pytest.mark.django_db
def test_the_bell_rings_once_the_transaction_is_committed(django_capture_on_commit_callbacks):
    before = queued()
    with django_capture_on_commit_callbacks(execute=True):
        ring(TASK)
        assert queued() == before
    assert queued() == before + 1


def waiting():
    """How many rings are on their way, at once or a little later."""
    with app.connection_for_write() as broker:
        messages = broker.default_channel.client.lrange("mail", 0, -1)
    return [bool(json.loads(message)["headers"]["eta"]) for message in messages]


@pytest.mark.django_db
def test_many_who_ring_together_are_answered_by_one(django_capture_on_commit_callbacks, empty_queue):
    for _ in range(100):
        with django_capture_on_commit_callbacks(execute=True):
            ring_together(TASK, every=3)
    assert waiting() == [False]


@pytest.mark.django_db
def test_who_rings_when_the_task_has_begun_is_answered_by_another_a_little_later(
    django_capture_on_commit_callbacks, empty_queue
):
    for _ in range(2):
        taken_up(TASK, every=3)
        for _ in range(100):
            with django_capture_on_commit_callbacks(execute=True):
                ring_together(TASK, every=3)
    assert waiting() == [True, True]


def test_a_bell_that_cannot_ring_stops_nobody():
    script = (
        "import django; django.setup();"
        f"from benchdash.celery import ring; ring('{TASK}', 7); print('went on')"
    )
    nowhere = {
        **os.environ,
        "REDIS_URL": "unix:///nowhere/redis.sock",
        "DJANGO_SETTINGS_MODULE": "benchdash.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=nowhere, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "went on\n"
    assert f"no broker takes {TASK}(7,), beat will see to it" in done.stderr


# --- queues -------------------------------------------------------------------------------------------------


def test_every_task_has_the_queue_of_its_kind():
    app.loader.import_default_modules()
    queues = {
        name: app.amqp.router.route({}, name)["queue"].name
        for name in app.tasks
        if not name.startswith("celery.")
    }
    assert queues[IMPORT_TASK] == queues[import_waiting.name] == "imports"
    assert queues[settings.ANALYSIS_DOORBELL] == "analysis"
    assert queues[settings.ALERTS_DOORBELL] == "mail"
    assert queues[answer_code_host.name] == queues[answer_pull_requests.name] == "code-hosts"
    assert set(queues.values()) == set(QUEUES)


def test_a_look_out_that_no_worker_takes_up_is_dropped():
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        assert entry["options"]["expires"] > 0, name
        if isinstance(entry["schedule"], float):
            assert entry["options"]["expires"] <= entry["schedule"], name


@pytest.mark.django_db(transaction=True)
def test_a_second_look_out_ends_at_once():
    upload = make_upload(make_project(), state="queued")

    def look_out():
        import_waiting()
        connections.close_all()

    with ThreadPoolExecutor() as pool:
        with alone_with(import_waiting.name):
            pool.submit(look_out).result()
            upload.refresh_from_db()
            assert (upload.state, upload.attempts) == ("queued", 0)
        pool.submit(look_out).result()
    upload.refresh_from_db()
    assert upload.state == "refused"  # its content is no result


@pytest.mark.django_db(transaction=True)
def test_a_queue_full_of_imports_delays_neither_analysis_nor_mail(worker_of, smtp):
    project = make_project()
    call_command("subscribe", f"--project={project.slug}", "dba@example.org")
    worker_of("imports").hang()
    waiting = [make_upload(project, state="queued") for _ in range(40)]
    for upload in waiting:
        app.send_task(IMPORT_TASK, (upload.pk,))
    worker_of("analysis", "mail")
    record_nights(project, [1.0] * 25 + [0.8] * 6)
    [mail] = smtp.wait_for(1)
    assert "MariaDB" in mail.subject
    assert Incident.objects.filter(status=Incident.Status.CONFIRMED).count() == 1
    assert not TouchedSeries.objects.exists()
    assert [upload.state for upload in waiting] == ["queued"] * 40
