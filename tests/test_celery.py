import os
import subprocess
import sys

import pytest

from benchdash.celery import app, ring

TASK = "benchdash.alerts.tasks.send_alerts"


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
