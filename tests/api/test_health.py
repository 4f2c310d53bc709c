"""Health, readiness and figures, and who is told them."""

import pytest
from django.db import connection

from benchdash.alerts.models import Alert
from benchdash.api.heartbeat import note_worker, worker_seen_at
from benchdash.regressions.models import Incident
from benchdash.regressions.tasks import analyse_touched
from benchdash.results.services import touch
from ingest.models import Upload
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_series, make_upload, make_user
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

ELSEWHERE = {"REMOTE_ADDR": "203.0.113.7"}


def test_anyone_is_told_that_the_process_lives(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get("/healthz", **ELSEWHERE)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_all_that_stands_is_ready(client):
    note_worker()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "checks": {"database": "ok", "migrations": "ok", "redis": "ok", "worker": "ok"},
    }


def test_without_a_worker_it_is_not_ready(client):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["worker"] == "no worker was seen within 90 s"


def test_a_worker_that_does_something_is_seen(worker, client):
    analyse_touched.delay()
    wait_until(worker_seen_at)
    assert client.get("/readyz").status_code == 200


def test_a_migration_that_is_not_applied_is_not_ready(client):
    note_worker()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'alerts'")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"].endswith("migrations are not applied")


def test_without_redis_it_is_not_ready_and_says_so(client, settings, redis_is_down):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["redis"] == "Redis does not answer"


def test_a_stranger_is_told_the_state_and_no_details(client):
    assert client.get("/readyz", **ELSEWHERE).json() == {"status": "not ready"}


@pytest.mark.parametrize("address", ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
def test_figures_are_for_those_on_this_machine(client, address):
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize(
    "request_of_a_stranger",
    [
        ELSEWHERE,
        {"REMOTE_ADDR": ""},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_FORWARDED": "for=127.0.0.1"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_REAL_IP": "127.0.0.1"},
        {"REMOTE_ADDR": "203.0.113.7", "HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"REMOTE_ADDR": "203.0.113.7", "HTTP_AUTHORIZATION": "Bearer "},
    ],
)
def test_nobody_else_gets_them_by_claiming_to_be_there(client, request_of_a_stranger):
    assert client.get("/metrics", **request_of_a_stranger).status_code == 403


def test_an_operator_gets_them_from_anywhere(client, settings):
    settings.OPERATOR_TOKEN = "letmein"
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer letmein", **ELSEWHERE).status_code == 200
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer letmeout", **ELSEWHERE).status_code == 403
    client.force_login(make_user("alice"))
    assert client.get("/metrics", **ELSEWHERE).status_code == 403
    client.force_login(make_user("root", is_superuser=True))
    assert client.get("/metrics", **ELSEWHERE).status_code == 200
    assert "checks" in client.get("/readyz", **ELSEWHERE).json()


def test_the_figures_say_what_is_there_and_what_waits(client):
    project = make_project()
    series = make_series([100, 101], project=project)
    make_upload(project, state=Upload.State.QUEUED)
    make_upload(project, state=Upload.State.REFUSED)
    touch([series.pk], quiet=True)
    lines = client.get("/metrics").content.decode().splitlines()
    assert 'benchdash_uploads{state="imported"} 1' in lines
    assert 'benchdash_uploads{state="queued"} 1' in lines
    assert 'benchdash_uploads{state="refused"} 1' in lines
    assert "benchdash_runs 2" in lines
    assert "benchdash_series_touched 1" in lines
    assert "benchdash_alerts_unsent 0" in lines
    [age] = [line for line in lines if line.startswith('benchdash_oldest_waiting_seconds{queue="analysis"}')]
    assert 0 <= float(age.split()[1]) < 60


def test_an_alert_waits_until_it_is_sent_or_its_incident_is_withdrawn(client):
    def unsent():
        lines = client.get("/metrics").content.decode().splitlines()
        [line] = [line for line in lines if line.startswith("benchdash_alerts_unsent")]
        return line

    incident = make_incident(make_project())
    Alert.objects.create(project=incident.project, incident=incident, address="alice@example.org")
    assert unsent() == "benchdash_alerts_unsent 1"
    incident.status = Incident.Status.WITHDRAWN
    incident.save()
    assert unsent() == "benchdash_alerts_unsent 0"


def test_every_figure_is_described_once(client):
    lines = client.get("/metrics").content.decode().splitlines()
    described = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    figures = {line.split("{")[0].split()[0] for line in lines if not line.startswith("#")}
    assert sorted(described) == sorted(figures)
