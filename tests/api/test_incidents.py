"""Incidents over the API."""

import pytest

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, User
from benchdash.regressions import services, triage
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Run
from tests.api.conftest import make_incident
from tests.builders import make_project, make_series, make_user

pytestmark = pytest.mark.django_db


def test_an_incident_is_listed_as_the_contract_says(make_world, settings):
    world = make_world(public=True)
    [incident] = world.clients["anonymous"].get("/api/v1/incidents/?project=quartz").json()["results"]
    number = world.incident.pk
    contract = {
        "id": number,
        "url": f"{settings.SITE_URL}/api/v1/incidents/{number}/",
        "state": "new",
        "kind": "regression",
        "status": "confirmed",
        "historical": False,
        "product": "MariaDB",
        "branch": "",
        "from": None,
        "to": "10.6.3",
        "worst": -0.2,
        "median": -0.2,
        "series": 1,
        "of": 2,
    }
    assert {name: incident[name] for name in contract} == contract
    assert incident["detected_at"]
    assert incident["page"] == f"{settings.SITE_URL}/p/quartz/incidents/{number}/"
    assert incident["to_version"] == {
        "id": world.run.version_id,
        "version": "10.6.3",
        "build": "",
        "commit": None,
    }
    [change_point] = incident["change_points"]
    assert change_point["series"] == world.series.pk
    assert change_point["run"] == world.run.pk
    assert (change_point["before"], change_point["after"], change_point["state"]) == (100.5, 80, "confirmed")
    assert (change_point["workload"], change_point["threads"]) == ("quartz_reads", 4)
    assert (change_point["metric"], change_point["unit"], change_point["hardware"]) == (
        "tps",
        "1/s",
        "quartz-box",
    )


def test_on_a_branch_an_incident_lies_between_commits(anonymous):
    series = make_series([100, 100, 80], project=make_project(public=True), branch="main")
    good, slow = Run.objects.order_by("started_at")[1:]
    make_incident(series, slow, since=good.version)
    [incident] = anonymous.get("/api/v1/incidents/").json()["results"]
    assert (incident["from"], incident["to"]) == (f"{2:040x}", f"{3:040x}")


def test_an_incident_that_analysis_found_is_there(anonymous):
    project = make_project("amber", public=True)
    make_series([100, 101, 99, 100, 101, 99, 100, 80, 81, 79, 80, 81, 79, 80], project=project, branch="main")
    services.analyse_touched()
    [incident] = anonymous.get("/api/v1/incidents/?project=amber&kind=regression").json()["results"]
    assert (incident["status"], incident["to"]) == ("confirmed", f"{8:040x}")
    assert incident["worst"] == pytest.approx(-0.2, abs=0.02)
    [change_point] = incident["change_points"]
    points = anonymous.get(f"/api/v1/series/{change_point['series']}/points/").json()
    assert [(one["index"], one["incident"]) for one in points["change_points"]] == [(7, incident["id"])]


def test_withdrawn_change_points_do_not_count(make_world):
    world = make_world(public=True)
    ChangePoint.objects.update(state=ChangePoint.State.WITHDRAWN)
    [incident] = world.clients["anonymous"].get("/api/v1/incidents/").json()["results"]
    assert (incident["series"], incident["change_points"]) == (0, [])


def patch(world, body, *, who="bob"):
    return world.clients[who].patch(f"/api/v1/incidents/{world.incident.pk}/", body)


def test_an_incident_is_triaged_with_a_reason(make_world):
    world = make_world(public=True)
    body = {"state": "expected", "assignee": "Alice@example.org", "reason": "durability was switched on"}
    answer = patch(world, body)
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["assignee"]) == ("expected", "alice@example.org")
    incident = Incident.objects.get()
    assert (incident.state, incident.reason) == ("expected", "durability was switched on")
    entry = AuditEntry.objects.get(action="incident triaged")
    assert (entry.user.email, entry.reason) == ("bob@example.org", "durability was switched on")
    assert patch(world, {"assignee": None}).json()["assignee"] is None
    assert Incident.objects.get().state == "expected"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"state": "broken"}, "state"),
        ({"state": None}, "state"),
        ({"assignee": "charlie@example.org"}, "assignee"),
        ({"assignee": "nobody"}, "assignee"),
        ({}, "state"),
    ],
)
def test_a_triage_that_makes_no_sense_is_refused(make_world, body, field):
    answer = patch(make_world(public=True), body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field
    assert Incident.objects.get().state == "new"


def test_members_talk_about_an_incident(make_world):
    world = make_world(public=True)
    address = f"/api/v1/incidents/{world.incident.pk}/"
    answer = world.clients["bob"].post(f"{address}comments/", {"text": "a new kernel"})
    assert answer.status_code == 201
    assert (answer.json()["author"], answer.json()["text"]) == ("Bob", "a new kernel")
    world.clients["triage token"].post(f"{address}comments/", {"text": "seen"})
    comments = world.clients["rita"].get(address).json()["comments"]
    assert [comment["text"] for comment in comments] == ["a new kernel", "seen"]


def test_what_people_say_of_an_incident_is_for_members(make_world):
    world = make_world(public=True)
    patch(world, {"assignee": "bob@example.org", "reason": "a secret customer"})
    triage.comment(world.incident, by=Viewer(user=User.objects.get(email="bob@example.org")), text="secret")
    for who in ("charlie", "anonymous", "token of another project"):
        answer = world.clients[who].get(f"/api/v1/incidents/{world.incident.pk}/")
        assert (answer.json()["assignee"], answer.json()["reason"], answer.json()["comments"]) == (
            None,
            None,
            [],
        )
        assert "secret" not in answer.content.decode()


def test_an_incident_says_what_else_changed(anonymous):
    project = make_project(public=True)
    settings = {"innodb_flush_log_at_trx_commit": "0"}
    make_series([100, 100], project=project, settings=settings)
    series = make_series(
        [80], project=project, version="10.6.3", settings={"innodb_flush_log_at_trx_commit": "1"}
    )
    good, slow = Run.objects.filter(version__version__in=["10.6.2", "10.6.3"]).order_by("version__sort_key")
    incident = make_incident(series, slow)
    ChangePoint.objects.update(last_good=good)
    answer = anonymous.get(f"/api/v1/incidents/{incident.pk}/").json()
    assert answer["what_changed"] == [{"name": "innodb_flush_log_at_trx_commit", "before": "0", "after": "1"}]


def test_somebody_who_left_is_no_assignee(make_world):
    world = make_world(public=True)
    User.objects.filter(email="alice@example.org").update(is_active=False)
    assert patch(world, {"assignee": "alice@example.org"}).status_code == 400


def test_an_assignee_is_a_member_of_this_project(make_world):
    world = make_world(public=True)
    make_user("dora", member_of=make_project("elsewhere"))
    assert patch(world, {"assignee": "dora@example.org"}).status_code == 400
