"""A column of one's own, from the file through the public door to the incident and the mail."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Scope
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_token

pytestmark = pytest.mark.django_db

STEP_AT = 8
NIGHTS = 13


@pytest.fixture
def project():
    project = make_project("nightly")
    subscribe(project, "dba@example.org", by=NOBODY)
    project.subscriptions.update(confirmed_at=timezone.now() - timedelta(days=90))
    return project


@pytest.fixture
def api(project):
    api = APIClient()
    token = make_token(project, Scope.UPLOAD, Scope.READ, Scope.TRIAGE)
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return api


def upload(api, night, *, head="rss_mb", **fields):
    """One night: the throughput stays, and the memory grows by a tenth at STEP_AT."""
    rss = (512 if night < STEP_AT else 563) + (night * 7 % 5) / 10
    table = f"threads,tps,{head}\n4,{1000 + night * 3 % 7},{rss}\n"
    at = timezone.now() - timedelta(days=NIGHTS - night)
    answer = api.post(
        "/api/v1/uploads/",
        {
            "file": SimpleUploadedFile("night.csv", table.encode()),
            "product": "MariaDB",
            "version": "11.4",
            "branch": "main",
            "commit": f"{night + 1:040x}",
            "committed_at": at.isoformat(),
            "started_at": at.isoformat(),
            "hardware": "box",
            "workload": "oltp_read_only",
            **fields,
        },
        format="multipart",
    )
    assert answer.status_code == 201, answer.content
    if night >= STEP_AT - 1:
        look()
    return answer.json()


def look():
    analyse_touched()
    owe_alerts()
    send_owed_alerts()


def incidents(api):
    found = api.get("/api/v1/incidents/?project=nightly").json()["results"]
    return [(one["kind"], one["status"], one["historical"]) for one in found if one["status"] == "confirmed"]


def test_nobody_is_told_of_a_column_until_its_direction_is_said(api, project, mailoutbox):
    warnings = upload(api, 0)["warnings"]
    [new] = [one for one in warnings if "rss_mb" in one and "new metric" in one]
    assert "which direction is better" in new
    for night in range(1, NIGHTS):
        assert not [one for one in upload(api, night)["warnings"] if "new metric" in one]
    assert incidents(api) == []
    [metric] = [
        one
        for one in api.get("/api/v1/metrics/?project=nightly").json()["results"]
        if one["name"] == "rss_mb"
    ]
    assert (metric["direction"], metric["watched"], metric["is_own"]) == ("unknown", False, True)

    said = {"name": "rss_mb", "unit": "MB", "direction": "lower"}
    assert api.patch("/api/v1/metrics/?project=nightly", said, format="json").status_code == 200
    look()
    assert [kind for kind, *_ in incidents(api)] == ["regression"]
    # It was there before anybody said so.
    assert mailoutbox == []


def test_a_column_that_says_its_unit_and_direction_makes_an_incident_and_a_mail(api, project, mailoutbox):
    for night in range(NIGHTS):
        upload(api, night, head='"rss_mb [MB, lower]"')
    assert [kind for kind, *_ in incidents(api)] == ["regression"]
    incident = Incident.objects.get(status="confirmed")
    assert incident.metric == "rss_mb"
    [mail] = mailoutbox
    assert "rss_mb" in mail.body
    assert "MB" in mail.body


def test_a_sender_says_in_a_field_what_its_columns_are(api, project):
    fields = {"metrics": '{"rss_mb": {"unit": "MB", "direction": "lower", "smallest_change": 0.2}}'}
    warnings = upload(api, 0, **fields)["warnings"]
    assert "new metric 'rss_mb' (MB, lower is better)" in warnings
    [metric] = [
        one
        for one in api.get("/api/v1/metrics/?project=nightly").json()["results"]
        if one["name"] == "rss_mb"
    ]
    assert (metric["unit"], metric["direction"], metric["smallest_change"]) == ("MB", "lower", 0.2)
    contradicted = upload(api, 1, metrics='{"rss_mb": {"direction": "higher"}, "rsss": {"unit": "MB"}}')
    said = " ".join(contradicted["warnings"])
    assert "for 'rss_mb' higher is better here, but in the project lower is better" in said
    assert "the field 'metrics' names 'rsss', which is not in the file" in said


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ('{"rss_mb": 1}', "must give a JSON object for 'rss_mb'"),
        ('{"rss_mb": {"better": "lower"}}', "gives 'better'; a metric can be given unit, direction"),
        ('{"rss_mb": {"direction": "down"}}', "is none of higher, lower, unknown"),
        ('{"rss_mb": {"smallest_change": "5"}}', "is no number greater than 0"),
    ],
)
def test_what_is_malformed_in_that_field_is_refused(api, project, metrics, message):
    file = SimpleUploadedFile("night.csv", b"threads,tps\n4,1000\n")
    answer = api.post("/api/v1/uploads/", {"file": file, "metrics": metrics}, format="multipart")
    assert answer.status_code == 400
    [error] = [one for one in answer.json()["errors"] if one["field"] == "metrics"]
    assert message in error["message"]
