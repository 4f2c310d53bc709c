"""Subscriptions and the audit log."""

import pytest

from benchdash.accounts.models import AuditEntry
from benchdash.alerts.models import Subscription
from benchdash.results.models import Product
from tests.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(make_world):
    return make_world(public=True)


def subscribe(world, who="bob", **body):
    return world.clients[who].post("/api/v1/subscriptions/", {"project": "quartz", **body})


def test_an_address_is_subscribed_once(world):
    body = {"address": "Eve@Example.org", "product": "MariaDB", "branch": "main", "hardware": "quartz-box"}
    first, again = subscribe(world, **body), subscribe(world, **body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json() == {
        "id": first.json()["id"],
        "project": "quartz",
        "address": "eve@example.org",
        "product": "MariaDB",
        "branch": "main",
        "hardware": "quartz-box",
        "workload_group": "",
        "metric": "",
        "smallest_change": None,
        "kinds": ["regression", "drift"],
        "rhythm": "immediately",
        "hour": 8,
        "weekday": 0,
        "time_zone": "",
        "all_quiet": False,
        "created_at": first.json()["created_at"],
        "confirmed_at": None,
        "refused_at": None,
        "refusal": "",
    }
    assert AuditEntry.objects.filter(action="subscribed", subject__startswith="eve@").count() == 1


def test_one_s_own_address_need_not_confirm(world):
    assert subscribe(world, address="bob@example.org").json()["confirmed_at"] is not None


def test_an_address_that_was_asked_too_often_is_an_error_of_the_address(world):
    for branch in ("a", "b", "c"):
        assert subscribe(world, address="eve@example.org", branch=branch).status_code == 201
    answer = subscribe(world, address="eve@example.org", branch="d")
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == "address"
    assert "was asked to confirm 3 times within a day" in error["message"]


def test_empty_filters_mean_all(world):
    answer = subscribe(world, address="eve@example.org", product="", hardware=None).json()
    assert (answer["product"], answer["branch"], answer["hardware"]) == (None, "", None)


WISHES = {
    "workload_group": "writes",
    "metric": "tps",
    "smallest_change": 0.05,
    "kinds": ["regression", "silence"],
    "rhythm": "weekly",
    "hour": 7,
    "weekday": 4,
    "time_zone": "Europe/Berlin",
    "all_quiet": True,
}


def test_a_subscription_says_what_it_tells_of_and_when(world):
    answer = subscribe(world, address="eve@example.org", **WISHES).json()
    assert {name: answer[name] for name in WISHES} == WISHES


def test_a_subscription_is_changed_and_what_is_left_out_stays(world):
    pk = subscribe(world, address="eve@example.org", branch="main").json()["id"]
    answer = world.clients["bob"].patch(f"/api/v1/subscriptions/{pk}/", WISHES)
    assert answer.status_code == 200
    assert {name: answer.json()[name] for name in (*WISHES, "branch")} == {**WISHES, "branch": "main"}
    assert world.clients["bob"].get(f"/api/v1/subscriptions/{pk}/").json() == answer.json()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kinds", []),
        ("kinds", ["rain"]),
        ("rhythm", "hourly"),
        ("hour", 24),
        ("hour", 7.5),
        ("time_zone", "Mars/Olympus"),
        ("smallest_change", 5),
    ],
)
def test_wishes_that_cannot_be_are_errors_of_their_field(world, field, value):
    pk = world.subscription.pk
    for answer in (
        subscribe(world, address="eve@example.org", **{field: value}),
        world.clients["bob"].patch(f"/api/v1/subscriptions/{pk}/", {field: value}),
    ):
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"].partition(".")[0] == field


def test_a_reader_changes_her_own_subscription_and_no_other(world):
    own = subscribe(world, "rita", address="rita@example.org").json()["id"]
    rita = world.clients["rita"]
    assert rita.patch(f"/api/v1/subscriptions/{own}/", {"rhythm": "daily"}).json()["rhythm"] == "daily"
    # JSON knows one kind of numbers.
    assert rita.patch(f"/api/v1/subscriptions/{own}/", {"hour": 7.0}).json()["hour"] == 7
    assert rita.patch(f"/api/v1/subscriptions/{world.subscription.pk}/", {"hour": 1}).status_code == 404


def test_a_product_may_be_subscribed_to_before_its_first_result(world):
    assert subscribe(world, address="eve@example.org", product="MySQL").json()["product"] == "MySQL"
    assert make_run(project=world.project, product="MySQL").version.product == Product.objects.get(
        name="MySQL"
    )


def test_what_is_no_address_is_an_error_of_the_address(world):
    for address in ("nobody", "a@b", "x" * 300 + "@example.org", ""):
        answer = subscribe(world, address=address)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == "address"


def test_a_token_need_not_name_its_project(world):
    answer = world.clients["triage token"].post("/api/v1/subscriptions/", {"address": "eve@example.org"})
    assert answer.json()["project"] == "quartz"


def test_a_reader_subscribes_and_unsubscribes_only_herself(world):
    assert subscribe(world, "rita", address="eve@example.org").status_code == 403
    own = subscribe(world, "rita", address="rita@example.org")
    assert own.status_code == 201
    assert Subscription.objects.get(address="rita@example.org").user.name == "Rita"
    rita = world.clients["rita"]
    assert rita.delete(f"/api/v1/subscriptions/{own.json()['id']}/").status_code == 204
    # That of somebody else does not exist for her.
    assert rita.delete(f"/api/v1/subscriptions/{world.subscription.pk}/").status_code == 404
    assert rita.delete("/api/v1/subscriptions/?project=quartz&address=quartz@example.org").status_code == 403


def test_a_reader_sees_her_own_subscriptions(world):
    subscribe(world, "rita", address="rita@example.org")
    shown = world.clients["rita"].get("/api/v1/subscriptions/?project=quartz").json()["results"]
    assert [one["address"] for one in shown] == ["rita@example.org"]


def test_all_subscriptions_of_an_address_end_at_once(world):
    subscribe(world, address="eve@example.org")
    subscribe(world, address="eve@example.org", product="MariaDB")
    address = "/api/v1/subscriptions/?project=quartz&address=EVE@example.org"
    assert world.clients["bob"].delete(address).status_code == 204
    assert list(Subscription.objects.values_list("address", flat=True)) == ["quartz@example.org"]
    assert AuditEntry.objects.filter(action="unsubscribed").count() == 2
    assert world.clients["bob"].delete("/api/v1/subscriptions/?project=quartz").status_code == 400
    mistyped = world.clients["bob"].delete("/api/v1/subscriptions/?project=quartz&address=eve.example.org")
    assert mistyped.json()["detail"] == "address: 'eve.example.org' is no e-mail address"


def test_subscriptions_are_found_by_their_address(world):
    subscribe(world, address="eve@example.org")
    client = world.clients["bob"]
    [found] = client.get("/api/v1/subscriptions/?address=Eve@example.org").json()["results"]
    assert found["address"] == "eve@example.org"
    assert client.get(f"/api/v1/subscriptions/{found['id']}/").json() == found


def test_the_audit_log_names_who_did_what_latest_first(world):
    world.clients["triage token"].patch(
        f"/api/v1/runs/{world.run.pk}/", {"excluded": True, "reason": "the machine was busy"}
    )
    subscribe(world, address="eve@example.org")
    last, before, *_ = world.clients["bob"].get("/api/v1/audit/?project=quartz").json()["results"]
    assert (last["by"], last["action"], last["subject"]) == ("Bob", "subscribed", "eve@example.org")
    assert (before["action"], before["reason"]) == ("run excluded", "the machine was busy")
    assert before["by"].startswith("nightly (bd_")
