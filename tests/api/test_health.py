"""Health, readiness and figures, and who is told them."""

import pytest
from django.utils import timezone

from benchdash.alerts.models import Alert
from benchdash.regressions.models import FailingPlace, Incident, PlaceOrder
from benchdash.regressions.services import analyse_touched, recompute
from benchdash.results.services import touch
from ingest.models import RawStorage, Upload
from tests.alerts.incidents import make_incident
from tests.api.test_readiness import everything_lives
from tests.builders import make_project, make_series, make_upload, make_user
from tests.celery_worker import QUEUES

pytestmark = pytest.mark.django_db

ELSEWHERE = {"REMOTE_ADDR": "203.0.113.7"}


def test_anyone_is_told_that_the_process_lives(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get("/healthz", **ELSEWHERE)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_machine_with_other_files_is_not_ready(client, stored_files):
    everything_lives()
    RawStorage.objects.create(pk=1, identity="a" * 32)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "holds no storage-id" in answer.json()["checks"]["storage"]
    stored_files.write_text("no folder")
    assert client.get("/readyz").json()["checks"]["storage"] == "the storage of files does not answer"


def test_uploads_whose_file_cannot_be_read_are_counted(client):
    upload = make_upload(make_project(), state=Upload.State.QUEUED, misses=2)
    make_upload(upload.project, misses=2)
    assert "benchdash_uploads_put_back 1" in client.get("/metrics").content.decode().splitlines()


def test_a_stranger_is_told_the_state_and_no_details(client):
    assert client.get("/readyz", **ELSEWHERE).json() == {"status": "not ready"}
    everything_lives()
    assert client.get("/readyz", **ELSEWHERE).json() == {"status": "ready"}


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


def test_the_figures_tell_of_places_that_cannot_be_analysed(client):
    def figures():
        lines = client.get("/metrics").content.decode().splitlines()
        return {line.split()[0]: line.split()[1] for line in lines if line.startswith("benchdash_places")}

    make_series([100, 101])
    analyse_touched()
    assert figures() == {"benchdash_places_failing": "0", "benchdash_places_set_aside": "0"}
    PlaceOrder.objects.update(groups="no JSON")
    list(recompute())
    assert figures() == {"benchdash_places_failing": "1", "benchdash_places_set_aside": "0"}
    FailingPlace.objects.update(set_aside_at=timezone.now())
    assert figures() == {"benchdash_places_failing": "0", "benchdash_places_set_aside": "1"}


def test_the_figures_tell_how_long_everything_was_silent_and_how_much_room_is_left(client):
    def figures():
        lines = client.get("/metrics").content.decode().splitlines()
        return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))

    assert figures()['benchdash_silent_seconds{of="beat"}'] == "nan"
    everything_lives()
    for of in ("beat", *QUEUES):
        assert 0 <= float(figures()[f'benchdash_silent_seconds{{of="{of}"}}']) < 60
    for folder in ("var", "storage", "temporary"):
        assert int(figures()[f'benchdash_disk_free_bytes{{folder="{folder}"}}']) > 0


def test_every_figure_is_described_once(client):
    lines = client.get("/metrics").content.decode().splitlines()
    described = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    figures = {line.split("{")[0].split()[0] for line in lines if not line.startswith("#")}
    assert sorted(described) == sorted(figures)
