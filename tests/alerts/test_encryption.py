"""Secrets are stored encrypted; keys change; where none fits, the webhook or code host waits and says why."""

import io

import pytest
from django.core.management import call_command
from django.db import connection

from benchdash.accounts.models import Role, Scope
from benchdash.alerts import pull_requests
from benchdash.alerts.models import Alert, CodeHost, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from tests.alerts.incidents import make_incident
from tests.alerts.test_pull_requests import answer_pull_requests, joined, measured
from tests.api.conftest import client_of
from tests.builders import make_token, make_user, make_webhook
from tests.code_host_server import REPOSITORY, SECRET
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db
NEW_KEY = "a new key " * 6
WHY = "because the SECRET_KEY of this installation changed"
HOOK_SECRET = "a secret of the tests"


@pytest.fixture
def webhook(project, webhook_server, settings):
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    return make_webhook(project, webhook_server.url)


def stored():
    """Whatever the tables hold, as a dump of the database has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(one)::text FROM alerts_codehost one")
        rows = cursor.fetchall()
        cursor.execute("SELECT row_to_json(one)::text FROM alerts_subscription one")
        rows += cursor.fetchall()
        cursor.execute("SELECT encode(body, 'escape') FROM rest_storedanswer")
        return str(rows + cursor.fetchall())


def renewed():
    out = io.StringIO()
    call_command("renew_secrets", stdout=out)
    return out.getvalue()


def test_no_table_holds_a_secret_and_both_still_do_their_work(project, server, webhook, webhook_server):
    measured(project, 80.0)
    joined(project, server)
    client = client_of(make_token(project, Scope.TRIAGE))
    added = client.post(
        "/api/v1/webhooks/", {"url": f"{webhook_server.url}/2"}, headers={"idempotency-key": "once"}
    )
    text = stored()
    assert REPOSITORY in text
    assert not [one for one in (SECRET, HOOK_SECRET, added.json()["secret"]) if one in text]
    assert answer_pull_requests() == 1
    again = client.post(
        "/api/v1/webhooks/", {"url": f"{webhook_server.url}/2"}, headers={"idempotency-key": "once"}
    )
    assert again.json() == added.json()


def test_with_a_new_key_the_old_one_still_opens_until_everything_is_encrypted_anew(
    project,
    server,
    webhook,
    settings,
):
    measured(project, 80.0)
    joined(project, server)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], NEW_KEY
    assert answer_pull_requests() == 1
    said = (
        "alerts_codehost: 1 encrypted, 0 cannot be read\nalerts_subscription: 1 encrypted, 0 cannot be read\n"
    )
    assert renewed() == said
    settings.SECRET_KEY_FALLBACKS = []
    assert CodeHost.objects.get().secret == SECRET
    assert Subscription.objects.get().secret == HOOK_SECRET


def test_a_code_host_without_its_key_waits_until_the_token_is_entered_again(
    project,
    server,
    client,
    settings,
):
    measured(project, 80.0)
    joined(project, server)
    asked = len(server.asked)
    settings.SECRET_KEY = NEW_KEY
    assert answer_pull_requests() == 0
    assert "alerts_codehost: 0 encrypted, 1 cannot be read" in renewed()
    admin = make_user("admin", member_of=project, role=Role.ADMIN)
    client.force_login(admin)
    assert WHY in text_of(client.get("/p/quartz/gate/?pull_request=12"))
    address = "/p/quartz/notifications/"
    page = text_of(client.get(address))
    assert WHY in page
    assert "add it again" in page
    client.post(f"{address}pull-requests/test/")
    assert len(server.asked) == asked
    said = {
        "add": "code-host",
        "kind": "github",
        "repository": REPOSITORY,
        "secret": SECRET,
        "api_url": server.url,
    }
    assert client.post(address, said).status_code == 302
    assert pull_requests.waiting(project, 12) is None
    assert answer_pull_requests() == 1


def test_a_webhook_without_its_key_waits_until_it_is_added_again_and_loses_nothing(
    project,
    webhook,
    webhook_server,
    client,
    settings,
):
    settings.SECRET_KEY = NEW_KEY
    make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 0
    assert webhook_server.deliveries == []
    client.force_login(make_user("dba", member_of=project))
    page = text_of(client.get("/p/quartz/notifications/"))
    assert WHY in page
    assert "add it again" in page
    api = client_of(make_token(project, Scope.TRIAGE))
    [row] = api.get("/api/v1/webhooks/").json()["results"]
    assert WHY in row["error"]
    assert api.post(f"/api/v1/webhooks/{webhook.pk}/test/").json()["delivered"] is False
    added = api.post("/api/v1/webhooks/", {"url": webhook.address})
    assert (added.status_code, added.json()["id"]) == (201, webhook.pk)
    assert send_owed_alerts() == Alert.objects.count() == 1
    assert len(webhook_server.deliveries) == 1
    assert api.get("/api/v1/webhooks/").json()["results"][0]["error"] is None
