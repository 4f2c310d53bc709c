import hashlib
import hmac
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from benchdash.alerts import outgoing
from benchdash.alerts.channels import webhook
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.regressions.events import note
from benchdash.regressions.models import IncidentEvent
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_webhook

pytestmark = pytest.mark.django_db

HOSTILE = "<!channel> @all **a** [b](http://evil.example) |c"


@pytest.fixture
def project():
    return make_project("quartz", name="Quartz")


def sent_to(server, project, *, path="", payload="json", **incident):
    """What a webhook gets when an incident is confirmed."""
    make_webhook(project, f"{server.url}{path}", payload=payload)
    make_incident(project, **incident)
    owe_alerts()
    assert send_owed_alerts() == 1
    [delivery] = server.deliveries
    return delivery


def due_again():
    Alert.objects.update(retry_at=timezone.now())


# --- what is sent -----------------------------------------------------------------------------------------


def test_an_incident_is_posted_with_what_a_program_needs_to_act(webhook_server, project):
    delivery = sent_to(webhook_server, project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 4.4)})
    alert, said = Alert.objects.get(), delivery.json
    assert (said["event"], said["delivery"]) == ("opened", f"alert-{alert.pk}")
    assert said["project"] == {"slug": "quartz", "name": "Quartz"}
    assert said["text"].startswith("MariaDB main 10.11.19: ")
    assert said["news"] == ""
    assert said["page"].endswith(f"/p/quartz/incidents/{alert.incident_id}/")
    incident = said["incident"]
    assert (incident["from"], incident["to"], incident["change"]) == (
        "10.11.18",
        "10.11.19",
        pytest.approx(-0.2),
    )
    assert (incident["kind"], incident["status"], incident["state"]) == ("regression", "confirmed", "new")
    assert [(one["metric"], one["before"], one["after"]) for one in incident["changed"]] == [
        ("tps", 1000.0, 800.0),
        ("latency_p95", 4.0, 4.4),
    ]


def test_the_receiver_can_check_that_it_came_from_here_unchanged(webhook_server, project):
    delivery = sent_to(webhook_server, project)
    expected = hmac.new(b"a secret of the tests", delivery.body, hashlib.sha256).hexdigest()
    assert delivery.headers["X-Benchdash-Signature"] == f"sha256={expected}"
    assert delivery.headers["X-Benchdash-Event"] == "opened"
    assert delivery.headers["X-Benchdash-Delivery"] == delivery.json["delivery"]
    assert delivery.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("what", ["confirmed", "spread", "withdrawn", "recovered", "returned"])
def test_news_of_an_incident_is_posted_under_its_name(webhook_server, project, what):
    incident = make_incident(project)
    event = note(incident, IncidentEvent.What(what))
    hook = make_webhook(project, webhook_server.url)
    alert = Alert.objects.create(
        project=project, incident=incident, address=hook.address, subscription=hook, event=event
    )
    webhook.send(alert)
    [delivery] = webhook_server.deliveries
    assert delivery.json["event"] == delivery.headers["X-Benchdash-Event"] == what
    assert delivery.json["news"]


def test_a_message_for_slack_links_the_incident_and_calls_nobody(webhook_server, project):
    said = sent_to(webhook_server, project, payload="slack", product=HOSTILE).json
    link, line = said["text"].split("\n")
    assert link.startswith(f"<{page_of_incidents()}")
    assert "|&lt;!channel&gt; @all" in link
    assert "<!channel>" not in said["text"]
    assert line == "tps of oltp_read_only at 4 threads on bench-03: 1,000 to 800.0 (−20.0\xa0%)"


def test_a_message_for_mattermost_is_markdown_in_which_names_are_only_names(webhook_server, project):
    said = sent_to(webhook_server, project, payload="mattermost", product=HOSTILE).json
    assert "@all" not in said["text"]
    assert r"\*\*a\*\* \[b\]\(http://evil\.example\)" in said["text"]
    assert f"]({page_of_incidents()}" in said["text"]


def test_a_message_for_matrix_is_text_and_escaped_html(webhook_server, project):
    said = sent_to(webhook_server, project, payload="matrix", product=HOSTILE).json
    assert said.keys() == {"text", "html", "username"}
    assert "&lt;!channel&gt;" in said["html"]
    assert said["html"].startswith(f'<a href="{page_of_incidents()}')
    assert said["text"].split("\n")[-1].startswith(page_of_incidents())


def page_of_incidents():
    alert = Alert.objects.select_related("incident__project").get()
    return f"http://127.0.0.1:8000/p/{alert.incident.project.slug}/incidents/"


# --- trouble ----------------------------------------------------------------------------------------------


def test_a_server_that_fails_gets_it_again_under_the_same_name(webhook_server, project):
    webhook_server.status, webhook_server.answer = 503, b"later"
    make_webhook(project, webhook_server.url)
    make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 0
    alert = Alert.objects.get()
    assert (alert.error, alert.attempts, alert.sent_at) == ("it answered 503: later", 1, None)
    webhook_server.status = 204
    due_again()
    assert send_owed_alerts() == 1
    assert len({one.headers["X-Benchdash-Delivery"] for one in webhook_server.deliveries}) == 1


@pytest.mark.parametrize(("status", "is_refusal"), [(400, True), (404, True), (408, False), (429, False)])
def test_what_is_refused_may_wait_longer_than_what_comes_too_often(
    webhook_server, project, status, is_refusal
):
    webhook_server.status = status
    make_webhook(project, webhook_server.url)
    make_incident(project)
    owe_alerts()
    for _ in range(10):
        due_again()
        send_owed_alerts()
    waits = Alert.objects.get().retry_at - timezone.now() > timedelta(minutes=11)
    assert waits == is_refusal


def test_a_redirect_is_a_refusal_that_says_so(webhook_server, project):
    webhook_server.status, webhook_server.headers = 301, {"Location": "http://169.254.169.254/"}
    make_webhook(project, webhook_server.url)
    make_incident(project)
    owe_alerts()
    send_owed_alerts()
    assert Alert.objects.get().error == "it answered 301; redirects are not followed"
    assert len(webhook_server.deliveries) == 1


def test_a_server_that_hangs_is_asked_once_and_holds_up_nobody_else(
    webhook_server, project, smtp, monkeypatch
):
    monkeypatch.setattr(outgoing, "MAX_SECONDS", 0.5)
    webhook_server.delay = 30.0
    for path in ("/a", "/b", "/c"):
        make_webhook(project, webhook_server.url + path)
    Subscription.objects.create(
        project=project, address="alice@example.org", confirmed_at=timezone.now() - timedelta(days=1)
    )
    make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 1
    assert [mail.recipients for mail in smtp.mails] == [["alice@example.org"]]
    assert len(webhook_server.deliveries) == 1
    assert Alert.objects.filter(sent_at=None, attempts=1).count() == 3


def test_a_mail_server_that_is_down_holds_up_no_webhook(webhook_server, project, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    Subscription.objects.create(
        project=project, address="alice@example.org", confirmed_at=timezone.now() - timedelta(days=1)
    )
    make_webhook(project, webhook_server.url)
    make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 1
    assert len(webhook_server.deliveries) == 1


def test_a_name_that_leads_inside_meanwhile_is_refused_when_it_is_sent(webhook_server, project, settings):
    make_webhook(project, webhook_server.url)
    make_incident(project)
    owe_alerts()
    settings.WEBHOOKS_MAY_BE_PRIVATE = False
    assert send_owed_alerts() == 0
    assert "outside of private networks" in Alert.objects.get().error
    assert webhook_server.deliveries == []


def test_nothing_is_posted_while_mail_is_held(webhook_server, project, settings):
    settings.HOLD_MAIL = True
    make_webhook(project, webhook_server.url)
    make_incident(project)
    owe_alerts()
    assert (send_owed_alerts(), webhook_server.deliveries) == (0, [])


# --- addresses --------------------------------------------------------------------------------------------


def test_an_address_is_stored_without_its_fragment():
    assert webhook.check(" https://1.1.1.1/hook?a=b#there ") == "https://1.1.1.1/hook?a=b"


def test_an_address_that_may_not_be_called_is_an_error_of_the_address():
    with pytest.raises(ValidationError) as raised:
        webhook.check("https://127.0.0.1/")
    assert "outside of private networks" in raised.value.message_dict["address"][0]


def test_nobody_is_asked_by_a_webhook():
    with pytest.raises(webhook.RefusedError):
        webhook.ask(Confirmation(address="https://1.1.1.1/"))
