"""Webhooks: adding, listing, trying and removing them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from jsonschema import Draft202012Validator

from benchdash.accounts.models import AuditEntry
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.webhooks import MAX_WEBHOOKS
from tests.api.conftest import OUTSIDERS, READERS
from tests.builders import make_webhook
from tests.schema_check import schema

pytestmark = pytest.mark.django_db

URL = "https://1.1.1.1/hook"


@pytest.fixture
def world(make_world):
    return make_world(public=True)


def add(world, who="bob", **body):
    return world.clients[who].post("/api/v1/webhooks/", {"project": "quartz", "url": URL, **body})


def listed(world, who="bob"):
    return world.clients[who].get("/api/v1/webhooks/?project=quartz").json()["results"]


def test_a_webhook_is_added_once_and_its_secret_is_shown_once(world):
    first, again = add(world), add(world)
    assert (first.status_code, again.status_code) == (201, 200)
    secret = first.json()["secret"]
    assert len(secret) >= 32
    assert again.json() == {**first.json(), "secret": None}
    assert {**listed(world)[0], "secret": secret} == first.json()
    assert first.json() == {
        "id": first.json()["id"],
        "project": "quartz",
        "url": URL,
        "kinds": ["regression"],
        "payload": "json",
        "product": None,
        "branch": "",
        "hardware": None,
        "created_at": first.json()["created_at"],
        "last_sent_at": None,
        "owed": 0,
        "error": None,
        "secret": secret,
    }


def test_a_secret_of_one_s_own_is_taken_if_it_is_long_enough(world):
    assert add(world, secret="0123456789abcdef").json()["secret"] == "0123456789abcdef"
    answer = add(world, url=f"{URL}/2", secret="short")
    assert answer.status_code == 400
    assert answer.json()["errors"] == [{"field": "secret", "message": "a secret has at least 16 characters"}]


def test_kinds_payload_and_filters_are_kept(world):
    body = {"kinds": ["silence", "regression"], "payload": "slack", "product": "MariaDB", "branch": "main"}
    answer = add(world, **body, hardware="quartz-box").json()
    assert answer.items() >= {**body, "kinds": ["regression", "silence"], "hardware": "quartz-box"}.items()


@pytest.mark.parametrize(
    "body",
    [
        {"url": "https://127.0.0.1/"},
        {"url": "http://169.254.169.254/latest/meta-data/"},
        {"url": "mailto:eve@example.org"},
        {"url": "eve@example.org"},
        {"url": ""},
        {"kinds": []},
        {"kinds": ["gossip"]},
        {"payload": "pigeon"},
    ],
)
def test_what_cannot_be_a_webhook_is_an_error_of_its_field(world, body):
    answer = add(world, **body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"].partition(".")[0] == next(iter(body))
    assert not Subscription.objects.filter(address__contains="://").exists()


def test_a_project_has_so_many_webhooks_at_most(world):
    for number in range(MAX_WEBHOOKS):
        make_webhook(world.project, f"{URL}/{number}")
    assert add(world).json()["errors"][0]["message"] == "a project has at most 20 webhooks"
    assert len(listed(world)) == MAX_WEBHOOKS


def test_the_audit_log_names_the_host_and_not_the_address_which_may_be_a_secret(world):
    pk = add(world, url=f"{URL}/T000/B000/xyz").json()["id"]
    world.clients["bob"].delete(f"/api/v1/webhooks/{pk}/")
    entries = AuditEntry.objects.filter(action__startswith="webhook").order_by("pk")
    assert [(one.action, one.subject) for one in entries] == [
        ("webhook added", "1.1.1.1"),
        ("webhook removed", "1.1.1.1"),
    ]
    assert all("xyz" not in str(one.detail) for one in entries)


def test_a_webhook_that_goes_takes_what_it_is_owed_along(world):
    hook = make_webhook(world.project, URL)
    Alert.objects.create(
        project=world.project, incident=world.incident, address=URL, subscription=hook, sent_at=None
    )
    answer = world.clients["bob"].delete(f"/api/v1/webhooks/?project=quartz&url={URL}")
    assert (answer.status_code, Alert.objects.count()) == (204, 0)
    assert listed(world) == []


@pytest.mark.parametrize("who", [*OUTSIDERS, *READERS, "upload token"])
def test_only_who_triages_sees_or_changes_webhooks(world, who):
    hook = make_webhook(world.project, URL)
    client = world.clients[who]
    at = f"/api/v1/webhooks/{hook.pk}/"
    answers = [
        client.get("/api/v1/webhooks/?project=quartz"),
        add(world, who, url=f"{URL}/2"),
        client.get(at),
        client.post(f"{at}test/"),
        client.delete(at),
        client.delete(f"/api/v1/webhooks/?project=quartz&url={URL}"),
    ]
    assert {one.status_code for one in answers} <= {401, 403, 404}
    assert Subscription.objects.filter(address__contains="://").count() == 1


def test_a_webhook_is_not_among_the_addresses_that_are_mailed(world):
    make_webhook(world.project, URL)
    found = world.clients["bob"].get("/api/v1/subscriptions/?project=quartz").json()["results"]
    assert [one["address"] for one in found] == ["quartz@example.org"]


def test_a_test_says_what_came_back(world, webhook_server):
    hook = make_webhook(world.project, webhook_server.url)
    at = f"/api/v1/webhooks/{hook.pk}/test/"
    assert world.clients["bob"].post(at).json() == {"delivered": True, "answer": "204"}
    webhook_server.status, webhook_server.answer = 404, b"no_service"
    refused = world.clients["bob"].post(at).json()
    assert refused == {"delivered": False, "answer": "it answered 404: no_service"}
    assert [one.json["event"] for one in webhook_server.deliveries] == ["test", "test"]
    assert not Alert.objects.exists()


def test_the_list_says_when_a_webhook_was_last_reached_and_why_not(world, webhook_server):
    hook = make_webhook(world.project, webhook_server.url)
    world.incident.confirmed_at = timezone.now()
    world.incident.save()
    webhook_server.status = 500
    owe_alerts()
    send_owed_alerts()
    [failing] = listed(world)
    assert (failing["owed"], failing["error"], failing["last_sent_at"]) == (1, "it answered 500", None)
    webhook_server.status = 200
    Alert.objects.filter(subscription=hook).update(retry_at=None)
    send_owed_alerts()
    [reached] = listed(world)
    assert (reached["owed"], reached["error"]) == (0, None)
    assert reached["last_sent_at"] is not None


def test_what_is_sent_is_as_the_schema_says(world, webhook_server):
    hook = make_webhook(world.project, webhook_server.url)
    world.clients["bob"].post(f"/api/v1/webhooks/{hook.pk}/test/")
    world.incident.confirmed_at = timezone.now()
    world.incident.save()
    owe_alerts()
    send_owed_alerts()
    operation = schema()["webhooks"]["incident"]["post"]
    shape = operation["requestBody"]["content"]["application/json"]["schema"]
    validator = Draft202012Validator({**shape, "components": schema()["components"]})
    sent = [one.json for one in webhook_server.deliveries]
    assert [one["event"] for one in sent] == ["test", "opened"]
    assert [error.message for one in sent for error in validator.iter_errors(one)] == []


def test_a_list_takes_as_many_statements_however_many_there_are(world):
    def count():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            listed(world)
        return len(queries)

    make_webhook(world.project, URL)
    one = count()
    for number in range(10):
        make_webhook(world.project, f"{URL}/{number}")
    assert count() == one
