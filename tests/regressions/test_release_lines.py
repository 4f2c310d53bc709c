"""How release lines and branches begin, through the public door: files in, pages, API and mail out."""

from datetime import timedelta
from random import Random

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_token
from tests.dashboard.page_text import text_of
from tests.sysbench_text import sysbench_report

pytestmark = pytest.mark.django_db

WORKLOADS = ("point_select", "read_only", "read_write", "update_index", "delete")
THREADS = (1, 8, 32)
REPEATS = 5


class Door:
    """A script that uploads what was measured, and knows nothing but the API."""

    def __init__(self, project):
        self.project = project
        self.api = APIClient()
        self.api.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
        self.now = timezone.now().replace(microsecond=0)

    def upload(self, text, **fields):
        fields = {"product": "MySQL", "hardware": "bench-03", **fields}
        answer = self.api.post(
            "/api/v1/uploads/", {"file": SimpleUploadedFile("result.txt", text.encode()), **fields}
        )
        assert answer.status_code == 201, answer.content

    def release(self, version, level=1.0, *, sessions=True, hours_ago=24, workloads=WORKLOADS, **fields):
        """Five repeats of every workload at every thread count, within an hour."""
        for repeat in range(REPEATS):
            for workload in workloads:
                for threads in THREADS:
                    noise = Random(f"{version} {repeat} {workload} {threads}").gauss(1, 0.01)
                    own = {"session": f"start-{repeat}"} if sessions else {}
                    started_at = self.now - timedelta(hours=hours_ago) + timedelta(minutes=10 * repeat)
                    self.upload(
                        sysbench_report(1000 * threads**0.5 * level * noise, threads=threads),
                        version=version,
                        workload=workload,
                        threads=threads,
                        started_at=started_at.isoformat(),
                        **{**own, **fields},
                    )

    def incidents(self):
        return self.api.get(f"/api/v1/incidents/?project={self.project.slug}").json()["results"]


def told():
    """Send what is owed, and return the subjects of all mails so far."""
    owe_alerts()
    send_owed_alerts()
    return [one.subject for one in mail.outbox]


@pytest.fixture
def door():
    project = make_project("servers", public=True)
    subscribe(project, "dba@example.org")
    return Door(project)


def test_a_line_that_begins_slower_than_the_line_before_is_one_incident_and_one_mail(door, client):
    door.release("5.5.29", hours_ago=48)
    door.release("5.6.10", 0.75)
    analyse_touched()

    [incident] = door.incidents()
    assert (incident["kind"], incident["status"]) == ("regression", "confirmed")
    assert (incident["from"], incident["to"], incident["origin"]) == ("5.5.29", "5.6.10", "5.5")
    assert incident["median"] == pytest.approx(-0.25, abs=0.01)
    [subject] = told()
    assert "MySQL 5.6" in subject
    assert "5.5.29" in mail.outbox[0].body
    page = text_of(client.get(incident["page"].split("testserver")[-1]))
    assert "between 5.5.29 and 5.6.10" in page

    change = incident["change_points"][0]
    points = door.api.get(f"/api/v1/series/{change['series']}/points/").json()
    [shown] = points["change_points"]
    assert (shown["index"], shown["state"], shown["incident"]) == (0, "confirmed", incident["id"])

    door.release("5.6.11", 0.75, hours_ago=12)
    analyse_touched()
    assert [one["id"] for one in door.incidents()] == [incident["id"]]
    assert told() == [subject]


def test_the_same_figures_within_one_line_are_the_same_incident(door):
    door.release("5.5.29", hours_ago=48)
    door.release("5.5.30", 0.75)
    analyse_touched()
    [incident] = door.incidents()
    assert (incident["from"], incident["to"], incident["status"]) == ("5.5.29", "5.5.30", "confirmed")
    assert incident["median"] == pytest.approx(-0.25, abs=0.01)


def test_one_session_each_is_suspected_and_mailed_to_nobody(door, client):
    for version, level, hours in (("5.5.29", 1.0, 48), ("5.6.10", 0.75, 24)):
        door.release(version, level, sessions=False, session="evening", hours_ago=hours)
    analyse_touched()
    [incident] = door.incidents()
    assert incident["status"] == "suspected"
    assert told() == []
    assert {one["confidence"] for one in incident["change_points"]} == {None}
    page = text_of(client.get(incident["page"].split("testserver")[-1]))
    assert "what the machine did that hour cannot be told from what the version does" in page


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_archives_in_any_order_are_compared_with_the_newest_release_of_the_line_before(door, order):
    archives = [
        ("5.5.28", 0.5, 72),
        ("5.5.29", 1.0, 48),
        ("5.6.10", 0.75, 24),
    ]
    for at in order:
        version, level, hours = archives[at]
        door.release(version, level, hours_ago=hours, workloads=WORKLOADS[:2])
        analyse_touched()
    found = {one["to"]: one for one in door.incidents() if one["status"] == "confirmed"}
    assert found["5.6.10"]["from"] == "5.5.29"
    assert found["5.6.10"]["kind"] == "regression"


@pytest.mark.slow
def test_a_line_between_two_others_takes_the_place_of_the_older_one(door):
    door.release("5.5.29", hours_ago=72, workloads=WORKLOADS[:2])
    door.release("5.7.9", 0.75, hours_ago=24, workloads=WORKLOADS[:2])
    analyse_touched()
    [incident] = door.incidents()
    assert (incident["from"], incident["to"]) == ("5.5.29", "5.7.9")
    door.release("5.6.10", 0.75, hours_ago=48, workloads=WORKLOADS[:2])
    analyse_touched()
    live = {(one["from"], one["to"]) for one in door.incidents() if one["status"] != "withdrawn"}
    assert live == {("5.5.29", "5.6.10")}


@pytest.mark.slow
def test_lines_that_the_project_does_not_compare_raise_nothing(door):
    door.project.options = {"lines_not_compared": [["5.5", "5.6"]]}
    door.project.save()
    door.release("5.5.29", hours_ago=48, workloads=WORKLOADS[:2])
    door.release("5.6.10", 0.75, workloads=WORKLOADS[:2])
    analyse_touched()
    assert door.incidents() == []


def test_a_branch_is_compared_with_the_release_that_it_started_from(door):
    door.release("5.6.10", hours_ago=72, workloads=WORKLOADS[:2])
    started_at = door.now - timedelta(hours=24)
    door.release(
        "5.6.11",
        0.75,
        hours_ago=24,
        workloads=WORKLOADS[:2],
        branch="5.6-feature",
        commit="3f9a2c1a" * 5,
        committed_at=started_at.isoformat(),
    )
    analyse_touched()
    [incident] = door.incidents()
    assert (incident["branch"], incident["origin"], incident["status"]) == ("5.6-feature", "5.6", "confirmed")
    assert incident["from"] == "5.6.10"
    assert len(told()) == 1


def test_a_branch_is_not_compared_with_a_release_that_is_younger(door):
    door.release("5.6.10", hours_ago=24, workloads=WORKLOADS[:2])
    door.release(
        "5.6.11",
        0.75,
        hours_ago=48,
        workloads=WORKLOADS[:2],
        branch="5.6-feature",
        commit="3f9a2c1a" * 5,
        committed_at=(door.now - timedelta(hours=48)).isoformat(),
    )
    analyse_touched()
    assert not Incident.objects.exists()


def test_a_project_says_which_release_its_branches_started_from(door):
    door.project.options = {"branch_origins": [["feature-*", "5.6.9"]]}
    door.project.save()
    door.release("5.6.9", hours_ago=96, workloads=WORKLOADS[:2])
    door.release("5.6.10", 0.75, hours_ago=72, workloads=WORKLOADS[:2])
    door.release(
        "unknown",
        0.75,
        hours_ago=24,
        workloads=WORKLOADS[:2],
        branch="feature-x",
        commit="3f9a2c1a" * 5,
        committed_at=(door.now - timedelta(hours=24)).isoformat(),
    )
    analyse_touched()
    found = {one["branch"]: one for one in door.incidents()}
    assert found["feature-x"]["origin"] == "5.6.9"
    assert found["feature-x"]["from"] == "5.6.9"
