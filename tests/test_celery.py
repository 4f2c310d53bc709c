import json
import os
import subprocess
import sys

import pytest

from benchdash.celery import app, ring, ring_together, taken_up

TASK = "benchdash.alerts.tasks.send_alerts"


@pytest.fixture
def empty_queue():
    with app.connection_for_write() as broker:
        broker.default_channel.client.delete("celery")
        yield
        broker.default_channel.client.delete("celery")


def queued():
    with app.connection_for_write() as broker:
        return broker.default_channel.client.llen("celery")


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
        messages = broker.default_channel.client.lrange("celery", 0, -1)
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
