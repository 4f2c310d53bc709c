"""Signs of life; real beats and workers give them in tests/api/test_readiness.py."""

import pytest
from celery import shared_task
from django.core.cache import cache

from benchdash.heartbeat import BEAT, heartbeat, send_heartbeats, sign_of, still_at_work
from tests.celery_worker import QUEUES, forget_queues

seen = []


@pytest.fixture(autouse=True)
def _nothing_is_remembered():
    cache.clear()
    seen.clear()
    yield
    forget_queues()


@shared_task
def two_steps():
    seen.append(sign_of("mail"))
    cache.clear()
    still_at_work()
    seen.append(sign_of("mail"))


def test_a_worker_notes_when_it_begins_a_job_goes_on_with_it_and_is_free_again():
    two_steps.apply(routing_key="mail")
    assert [sign.job for sign in seen] == [two_steps.name, two_steps.name]
    assert sign_of("mail").job == ""
    assert sign_of("imports") is None


def test_a_heartbeat_is_a_job_that_takes_no_time():
    heartbeat.apply(routing_key="mail")
    assert sign_of("mail").job == ""


def test_what_is_called_and_came_from_no_queue_is_no_sign_of_a_worker():
    two_steps.apply()
    two_steps()
    assert seen == [None, None, None, None]


def test_beat_notes_that_it_sent_heartbeats_and_no_worker_has_run_them():
    send_heartbeats()
    assert 0 <= sign_of(BEAT).age < 10
    assert [sign_of(queue) for queue in QUEUES] == [None] * len(QUEUES)
