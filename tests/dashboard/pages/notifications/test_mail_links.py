import re
import time
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Role
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.one_click import action_url
from benchdash.alerts.subscriptions import subscribe, unsubscribe
from benchdash.regressions.models import Incident
from benchdash.regressions.triage import triage
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_user
from tests.dashboard.page_text import said_after, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def stranger():
    """A browser that is nobody, and a server that wants the mark against forged forms."""
    return Client(enforce_csrf_checks=True)


def press(stranger, address):
    """Press the button of a page."""
    form = stranger.get(address).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[1]
    return stranger.post(address, {"csrfmiddlewaretoken": token})


# --- confirming by mail -----------------------------------------------------------------------------------


@pytest.fixture
def waiting(project):
    return subscribe(project, "list@example.org", branch="main", by=Viewer(user=make_user("bob")))[0]


def test_the_link_that_confirms_asks_and_changes_nothing(stranger, waiting):
    text = text_of(stranger.get(f"/confirm/{waiting.key}/"))
    assert "list@example.org will be told of confirmed regressions and confirmed drifts of nightly" in text
    waiting.refresh_from_db()
    assert waiting.confirmed_at is None


def test_the_button_confirms(stranger, waiting):
    address = f"/confirm/{waiting.key}/"
    assert stranger.post(address).status_code == 403
    assert "The subscription is confirmed" in text_of(press(stranger, address))
    waiting.refresh_from_db()
    assert waiting.confirmed_at is not None
    assert "The subscription is confirmed" in text_of(stranger.get(address))


@pytest.mark.parametrize("key", ["nonsense", "%00", "x" * 500])
def test_an_unknown_key_confirms_nothing(stranger, key):
    assert stranger.get(f"/confirm/{key}/").status_code == 404
    assert stranger.post(f"/confirm/{key}/").status_code in (403, 404)


# --- unsubscribing by mail --------------------------------------------------------------------------------


@pytest.fixture
def subscription(project):
    return subscribe(project, "alice@example.org", branch="main")[0]


def test_the_link_of_a_mail_asks_and_changes_nothing(stranger, subscription):
    answer = stranger.get(f"/unsubscribe/{subscription.key}/")
    assert "alice@example.org is told of confirmed regressions and confirmed drifts of nightly" in text_of(
        answer
    )
    assert Subscription.objects.exists()


def test_the_button_ends_the_subscription(stranger, subscription):
    address = f"/unsubscribe/{subscription.key}/"
    assert stranger.post(address).status_code == 403
    assert "The subscription has ended" in text_of(press(stranger, address))
    assert not Subscription.objects.exists()
    assert AuditEntry.objects.get().action == "unsubscribed"
    assert stranger.get(address).status_code == 404


def test_a_mail_program_ends_it_with_one_click(stranger, subscription):
    address = f"/unsubscribe/{subscription.key}/"
    for _ in range(2):
        assert stranger.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("key", ["nonsense", "%00", "x" * 500])
def test_an_unknown_key_is_not_found(stranger, key):
    assert stranger.get(f"/unsubscribe/{key}/").status_code == 404


# --- one click --------------------------------------------------------------------------------------------


@pytest.fixture
def alert(project):
    """What was mailed about an incident to an address without an account."""
    subscription, _ = subscribe(project, "lead@example.org")
    incident = make_incident(project)
    return Alert.objects.create(
        project=project, incident=incident, address=subscription.address, subscription=subscription
    )


def link(alert, action):
    return urlsplit(action_url(alert, action)).path


@pytest.mark.parametrize("action", ["acknowledge", "snooze"])
def test_a_program_that_follows_the_link_changes_nothing(stranger, alert, action):
    text = text_of(stranger.get(link(alert, action)))
    assert f"{action.capitalize()} this incident?" in text
    assert "nightly: MariaDB main became slower (−20.0 %)" in text
    assert stranger.post(link(alert, action)).status_code == 403
    incident = Incident.objects.get()
    assert (incident.state, incident.is_snoozed) == ("new", False)
    assert not incident.events.exists()


def test_the_button_acknowledges_in_the_name_of_the_address(stranger, alert):
    address = link(alert, "acknowledge")
    text = said_after(stranger, press(stranger, address))
    assert "Nothing to acknowledge" in text
    assert "The incident is acknowledged; by lead@example.org, just now" in text
    [event] = Incident.objects.get().events.all()
    assert (event.what, event.state, event.by_name) == ("state", "acknowledged", "lead@example.org")


def test_the_button_snoozes_for_a_week(stranger, alert):
    text = said_after(stranger, press(stranger, link(alert, "snooze")))
    assert "Nothing to snooze The" not in text
    assert "The incident is new and snoozed until" in text
    passed = Incident.objects.get().snoozed_until - timezone.now()
    assert timedelta(days=6, hours=23) < passed <= timedelta(days=7)


def test_a_link_used_twice_says_how_things_stand(stranger, alert):
    address = link(alert, "acknowledge")
    token = stranger.get(address).context["csrf_token"]
    for _ in range(2):
        stranger.post(address, {"csrfmiddlewaretoken": str(token)})
    assert Incident.objects.get().events.count() == 1
    triage(Incident.objects.get(), by=Viewer(user=make_user("carol")), state="fixed")
    text = text_of(stranger.get(address))
    assert "The incident is fixed; by Carol, just now" in text
    assert "Nothing to snooze" in text_of(stranger.get(link(alert, "snooze")))


def test_after_ninety_days_a_link_does_nothing(stranger, alert, monkeypatch):
    address, later = link(alert, "acknowledge"), time.time() + 90 * 86400 + 60
    monkeypatch.setattr("time.time", lambda: later)
    answer = stranger.get(address)
    assert answer.status_code == 404
    assert "The link is older than 90 days." in answer.content.decode()


@pytest.mark.parametrize("signed", ["nonsense", "%00", "x" * 500, "WzEsImFja25vd2xlZGdlIl0:1abc:def"])
def test_a_link_that_nobody_signed_does_nothing(stranger, signed):
    assert stranger.get(f"/one-click/{signed}/").status_code == 404


def test_the_link_of_a_subscription_that_ended_does_nothing(stranger, alert):
    address = link(alert, "acknowledge")
    Alert.objects.update(sent_at=timezone.now())
    unsubscribe(Subscription.objects.get(), by=Viewer())
    answer = stranger.get(address)
    assert answer.status_code == 404
    assert "MariaDB" not in answer.content.decode()


@pytest.mark.parametrize("kind", ["left", "inactive", "reader"])
def test_the_link_of_who_may_not_triage_any_more_does_nothing(client, project, kind):
    alice = make_user(member_of=project)
    subscription, _ = subscribe(project, alice.email)
    incident = make_incident(project)
    alert = Alert.objects.create(
        project=project, incident=incident, address=alice.email, subscription=subscription
    )
    address = link(alert, "acknowledge")
    assert client.get(address).status_code == 200
    if kind == "left":
        alice.memberships.all().delete()
    elif kind == "reader":
        alice.memberships.update(role=Role.READER)
    else:
        alice.is_active = False
        alice.save()
    for answer in (client.get(address), client.post(address)):
        assert answer.status_code == 404
        assert "MariaDB" not in answer.content.decode()
    assert Incident.objects.get().state == "new"
    fresh = Alert.objects.get()
    assert action_url(fresh, "acknowledge") == ""
