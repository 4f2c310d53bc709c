"""Jobs, in the processes of a real worker."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.db.models import F

from benchdash.celery import app
from benchdash.regressions import tasks
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Measurement, Run, Series, TouchedSeries
from benchdash.results.services import touch
from tests.builders import make_project
from tests.regressions.nights import record_nights
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

A_FIFTH_SLOWER = [1.0] * 20 + [0.8] * 6


@pytest.fixture
def answers(worker):
    """What the analyses of this test have answered: how many touched series each dealt with."""
    before = len(worker.log)
    answer = re.compile(rf"{re.escape(tasks.analyse_touched.name)}\[\S+ succeeded in \S+: (\d+)")
    return lambda: [int(number) for number in answer.findall(worker.log[before:])]


def test_a_hundred_uploads_within_seconds_lead_to_few_analyses(worker, answers):
    project = make_project()
    for night in range(100):
        record_nights(project, [1.0], first=night, workloads=["oltp_read_only"])
    wait_until(lambda: not TouchedSeries.objects.exists())
    worker.wait_until_idle()
    assert Measurement.objects.count() == 100
    assert 1 <= len(answers()) <= 8


def test_a_series_is_looked_at_once_after_the_last_of_a_hundred_touches(worker, answers):
    with transaction.atomic():
        record_nights(make_project(), A_FIFTH_SLOWER)
        for _ in range(100):
            touch(Series.objects.values_list("pk", flat=True), quiet=False)
    worker.wait_until_idle()
    assert [answer for answer in answers() if answer] == [3]
    assert ChangePoint.objects.count() == 3


def test_two_processes_are_never_at_one_product(worker, answers):
    with ThreadPoolExecutor() as pool, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE regressions_changepoint IN SHARE MODE")
        pool.submit(record_a_loss).result()
        wait_until(held_up)
        app.send_task(tasks.analyse_touched.name)
        wait_until(lambda: answers() == [0])
        assert held_up() == 1
        assert TouchedSeries.objects.count() == 3
    worker.wait_until_idle()
    assert answers() == [0, 3]
    assert ChangePoint.objects.count() == 3
    assert Incident.objects.count() == 1


def test_the_nightly_recompute_looks_at_every_product_and_mails_nobody(worker):
    with transaction.atomic():
        record_nights(make_project(), A_FIFTH_SLOWER)
        record_nights(make_project(), A_FIFTH_SLOWER)
        TouchedSeries.objects.all().delete()
    worker.wait_until_idle()
    assert not Incident.objects.exists()
    app.send_task(tasks.recompute_all.name)
    worker.wait_until_idle()
    assert list(Incident.objects.values_list("status", "quiet")) == [("confirmed", True)] * 2


def test_what_comes_in_at_night_does_not_wait_for_the_work_of_the_night():
    old, new = make_project(), make_project()
    record_nights(old, A_FIFTH_SLOWER)
    TouchedSeries.objects.all().delete()
    record_nights(new, A_FIFTH_SLOWER)
    tasks.recompute_product(old.products.get().pk)
    assert Incident.objects.filter(project=new, quiet=False).count() == 1


def record_a_loss():
    record_nights(make_project(), A_FIFTH_SLOWER)
    connections.close_all()


def held_up():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]


def test_a_machine_that_stopped_is_found_once_by_the_job_of_every_hour(worker):
    project = make_project()
    record_nights(project, [1.0] * 26, workloads=["oltp_read_only"])
    Run.objects.update(recorded_at=F("started_at") + timedelta(hours=1))
    for _ in range(2):
        app.send_task(tasks.silences_due.name)
        worker.wait_until_idle()
    assert Incident.objects.get().subject == "box"
