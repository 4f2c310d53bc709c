"""Incidents over the API."""

import pytest

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, User
from benchdash.regressions import services, triage
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Run
from tests.alerts.incidents import make_incident as make_found_incident
from tests.alerts.incidents import make_machine_incident, make_silence
from tests.api.conftest import make_incident
from tests.builders import make_project, make_series, make_user
from tests.regressions.nights import record_nights

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


# --- what happened, and where it leads --------------------------------------------------------------------


def test_what_happened_is_told_and_who_did_it_to_members(make_world):
    world = make_world(public=True)
    patch(world, {"state": "wontfix", "assignee": "alice@example.org", "reason": "a secret customer"})
    address = f"/api/v1/incidents/{world.incident.pk}/"
    declined, assigned = world.clients["rita"].get(address).json()["events"]
    said = {name: declined[name] for name in ("what", "words", "state", "by", "reason")}
    assert said == {
        "what": "state",
        "words": "declined",
        "state": "wontfix",
        "by": "Bob",
        "reason": "a secret customer",
    }
    assert assigned["words"] == "assigned to Alice"
    [declined] = world.clients["anonymous"].get(address).json()["events"]
    assert (declined["words"], declined["by"], declined["reason"]) == ("declined", None, None)


def test_a_bug_and_commits_have_addresses_by_the_templates_of_the_project(make_world):
    world = make_world(public=True)
    world.incident.since = (
        make_series([1], project=world.project, version="10.6.2").measurements.get().run.version
    )
    world.incident.save()
    assert patch(world, {"bug": "MDEV-1"}).json()["bug_url"] is None
    world.project.options = {
        "compare_template": "https://git.example.org/{from}..{to}",
        "bug_template": "https://bugs.example.org/?id={bug}",
    }
    world.project.save()
    incident = world.clients["anonymous"].get(f"/api/v1/incidents/{world.incident.pk}/").json()
    assert (incident["bug"], incident["bug_url"]) == ("MDEV-1", "https://bugs.example.org/?id=MDEV-1")
    assert incident["compare_url"] == "https://git.example.org/10.6.2..10.6.3"
    assert patch(world, {"bug": "javascript://x"}).status_code == 400


def test_an_incident_is_snoozed_and_woken(make_world):
    world = make_world(public=True)
    answer = patch(world, {"snoozed_until": "2999-01-01T00:00:00Z", "snoozed_until_version": "10.7"}).json()
    assert (answer["snoozed_until"], answer["snoozed_until_version"]) == ("2999-01-01T00:00:00Z", "10.7")
    assert patch(world, {"snoozed_until": None}).json()["snoozed_until_version"] == "10.7"
    assert patch(world, {"snoozed_until_version": None}).json()["snoozed_until_version"] == ""
    assert patch(world, {"snoozed_until": "2020-01-01T00:00:00Z"}).status_code == 400


def test_what_was_expected_needs_a_reason(make_world):
    answer = patch(make_world(public=True), {"state": "expected"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "reason"


def test_a_loss_of_which_a_part_is_left_after_its_recovery_is_open_and_says_how_much(anonymous):
    project = make_project("amber", public=True)
    record_nights(project, [1.0] * 15 + [0.9] * 6 + [0.963] * 6, first=4)
    services.analyse_touched()
    answer = anonymous.get("/api/v1/incidents/", {"open": "true", "kind": "regression"})
    [lost] = answer.json()["results"]
    assert (lost["state"], lost["recovered_by"] is None) == ("new", False)
    assert -0.047 < lost["remaining"] < -0.027 < lost["change"] + 0.08
    night = anonymous.get("/api/v1/overview/", {"project": "amber"}).json()
    assert f"recovered to −{-lost['remaining']:.1%}".replace("%", "\xa0%") in night["sentence"]


def test_recovered_and_explained_incidents_name_the_other(anonymous):
    project = make_project("amber", public=True)
    machine = make_machine_incident(project)
    back = make_silence(project)
    lost = make_found_incident(project, recovered_by=back, folded_into=machine)
    found = {one["id"]: one for one in anonymous.get("/api/v1/incidents/").json()["results"]}
    assert found[lost.pk]["recovered_by"]["id"] == back.pk
    assert found[lost.pk]["folded_into"]["page"].endswith(f"/p/amber/incidents/{machine.pk}/")
    assert [one["id"] for one in found[back.pk]["recovers"]] == [lost.pk]
    assert (found[machine.pk]["hardware"], found[machine.pk]["product"]) == ("bench-03", None)
    silence = found[back.pk]["silence"]
    assert (silence["hardware"], silence["workload"], silence["cadence_s"]) == ("bench-03", None, 86400.0)
    assert found[lost.pk]["silence"] is None


# --- filters ----------------------------------------------------------------------------------------------


def test_incidents_are_found_by_what_is_open_and_by_machine(anonymous):
    project = make_project("amber", public=True)
    measured = make_found_incident(project)
    declined = make_found_incident(project, product="MySQL", hardware="bench-04", state="wontfix")
    silent = make_silence(project)

    def found(query):
        return {one["id"] for one in anonymous.get(f"/api/v1/incidents/?{query}").json()["results"]}

    assert found("open=true") == {measured.pk, silent.pk}
    assert found("open=false") == {declined.pk}
    assert found("hardware=bench-03") == {measured.pk, silent.pk}
    assert found("hardware=bench-04") == {declined.pk}
    assert found("hardware=bench-05") == set()


def test_only_members_find_incidents_by_who_looks_at_them(make_world):
    world = make_world(public=True)
    patch(world, {"assignee": "bob@example.org"})

    def found(who, query):
        return len(world.clients[who].get(f"/api/v1/incidents/?{query}").json()["results"])

    assert found("bob", "assignee=bob@example.org") == 1
    assert found("bob", "assignee=") == 0
    assert found("anonymous", "assignee=bob@example.org") == 0
    assert found("anonymous", "assignee=") == 0
    assert found("charlie", "assignee=bob@example.org") == 0


# --- several at once --------------------------------------------------------------------------------------


def triage_together(world, body, *, who="bob"):
    return world.clients[who].post("/api/v1/incidents/triage/", body)


def test_several_incidents_are_triaged_at_once(make_world):
    world = make_world(public=True)
    other = make_found_incident(world.project)
    ids = [world.incident.pk, other.pk]
    answer = triage_together(world, {"ids": ids, "state": "wontfix", "reason": "not ours"})
    assert answer.status_code == 200
    assert [(one["id"], one["state"]) for one in answer.json()] == [(pk, "wontfix") for pk in ids]
    assert list(Incident.objects.values_list("reason", flat=True)) == ["not ours", "not ours"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"state": "expected"}, "reason"),
        ({"snoozed_until_version": "11"}, "snoozed_until_version"),
        ({"assignee": "charlie@example.org"}, "assignee"),
        ({}, "state"),
        ({"state": "fixed", "ids": []}, "ids"),
        ({"state": "fixed", "ids": [2**40]}, "ids"),
    ],
)
def test_if_one_cannot_be_triaged_none_is(make_world, body, field):
    world = make_world(public=True)
    ids = [world.incident.pk, make_machine_incident(world.project).pk]
    answer = triage_together(world, {"ids": ids, **body})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field
    assert not Incident.objects.exclude(state="new", snoozed_until_version="", assignee=None).exists()


def test_several_incidents_are_triaged_only_where_all_may_be(make_world):
    world = make_world(public=True)
    elsewhere = make_found_incident(make_project("elsewhere", public=True))
    hidden = make_found_incident(make_project("hidden"))
    body = {"ids": [world.incident.pk, elsewhere.pk], "state": "fixed"}
    assert triage_together(world, body).status_code == 403
    assert triage_together(world, body, who="anonymous").status_code == 401
    assert triage_together(world, {**body, "ids": [hidden.pk]}).status_code == 400
    assert not Incident.objects.exclude(state="new").exists()
