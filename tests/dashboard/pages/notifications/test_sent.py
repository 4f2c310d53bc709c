from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.models import Role
from benchdash.alerts.models import Alert, Digest, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.events import note
from benchdash.regressions.models import Incident, IncidentEvent
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_user
from tests.dashboard.page_text import said_after, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def shown(client, page, **query):
    return text_of(client.get(f"/p/nightly/{page}/", query))


def test_alerts_are_listed_with_what_became_of_them(client, project, member):
    now = timezone.now()
    for address, fields in {
        "sent@example.org": {"sent_at": now},
        "owed@example.org": {},
        "failing@example.org": {"error": "no such mailbox", "attempts": 3, "retry_at": now},
    }.items():
        Alert.objects.create(project=project, incident=make_incident(project), address=address, **fields)
    text = shown(client, "notifications")
    assert "MariaDB main regression sent@example.org ✓ sent" in text
    assert "MariaDB main regression owed@example.org … owed" in text
    assert "MariaDB main regression failing@example.org × failing" in text
    assert "3 no such mailbox next try" in text
    for state in ("sent", "owed", "failing"):
        chosen = shown(client, "notifications", state=state)
        assert [name for name in ("sent", "owed", "failing") if f"{name}@example.org" in chosen] == [state]


def test_that_mail_is_held_stands_above_the_alerts(client, project, member, settings):
    Alert.objects.create(project=project, incident=make_incident(project), address="owed@example.org")
    assert "Mail is held" not in shown(client, "notifications")
    settings.HOLD_MAIL = True
    text = shown(client, "notifications")
    assert "Mail is held ( HOLD_MAIL=1 ): nothing is sent, and what is owed stays owed." in text
    assert "owed@example.org … owed" in text


def test_what_is_too_old_to_be_mailed_says_so(client, project, member, settings):
    incident = make_incident(project, confirmed_at=timezone.now() - settings.HISTORICAL_AFTER)
    Alert.objects.create(project=project, incident=incident, address="old@example.org", error="x")
    assert "old@example.org too old to mail" in shown(client, "notifications")


def test_one_that_fails_is_tried_at_once_when_asked(client, project, member):
    alert = Alert.objects.create(
        project=project,
        incident=make_incident(project),
        address="a@example.org",
        error="x",
        retry_at=timezone.now(),
    )
    text = said_after(client, client.post(f"/p/nightly/notifications/alerts/{alert.pk}/retry/"))
    assert "The mail to a@example.org is tried again" in text
    alert.refresh_from_db()
    assert alert.retry_at is None
    other = make_project("other", public=True)
    alert.project = other
    alert.save()
    assert client.post(f"/p/nightly/notifications/alerts/{alert.pk}/retry/").status_code == 404


def test_without_a_mail_server_its_mails_are_shown(client, project, member, settings, tmp_path):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    for place, address in ((project, "alice@example.org"), (make_project(), "secret@example.org")):
        subscribe(place, address)
        Subscription.objects.update(confirmed_at="2026-01-01T00:00Z")
        make_incident(place)
    owe_alerts()
    send_owed_alerts()
    text = shown(client, "notifications")
    assert "This installation has no mail server" in text
    assert "[benchdash] MariaDB main 10.11.19: -20.0 % in 1 of 12 series (oltp_read_only) to alice" in text
    assert "tps: 1,000 → 800 (−20.0 %)" in text
    assert "secret@example.org" not in text
    client.force_login(make_user("reader", member_of=project, role=Role.READER))
    assert "tps: 1,000" not in shown(client, "notifications")


def test_with_a_mail_server_nothing_is_said_of_files(client, project, member, smtp):
    assert "no mail server" not in shown(client, "notifications")


def test_news_of_an_incident_and_what_is_no_news_any_more_are_told_apart(client, project, member):
    incident = make_incident(project)
    subscription, _ = subscribe(project, "alice@example.org")
    told = {"project": project, "incident": incident, "subscription": subscription}
    Alert.objects.create(**told, address="alice@example.org", sent_at=timezone.now())
    event = note(incident, IncidentEvent.What.RECOVERED)
    Alert.objects.create(**told, address="alice@example.org", event=event)
    assert "MariaDB main recovered alice@example.org … owed" in shown(client, "notifications")
    Incident.objects.update(state="invalid")
    text = shown(client, "notifications")
    assert "MariaDB main recovered alice@example.org no news any more" in text
    assert "MariaDB main regression alice@example.org ✓ sent" in text


def test_the_address_of_a_webhook_is_not_shown(client, project, member):
    incident = make_incident(project)
    Alert.objects.create(project=project, incident=incident, address="https://chat.example.org/T0/secret")
    text = shown(client, "notifications")
    assert "MariaDB main regression chat.example.org … owed" in text
    assert "T0" not in text


def test_digests_are_listed_with_what_became_of_them(client, project, member):
    subscription, _ = subscribe(project, "alice@example.org", rhythm="daily")
    until = timezone.now()
    for number, fields in enumerate(
        ({"sent_at": until}, {"is_quiet": True}, {"error": "no such mailbox", "attempts": 1}, {})
    ):
        Digest.objects.create(
            project=project,
            subscription=subscription,
            address="alice@example.org",
            since=until - timedelta(days=number + 1),
            until=until - timedelta(days=number),
            **fields,
        )
    text = shown(client, "notifications").partition("The newest 4 digests")[2]
    order = [text.index(state) for state in ("✓ sent", "all quiet, not sent", "× failing", "… owed")]
    assert order == sorted(order)
