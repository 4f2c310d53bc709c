import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Membership
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.alerts.services import (
    owe_alerts,
    retry,
    send_owed_alerts,
    send_owed_confirmations,
)
from benchdash.alerts.subscriptions import confirm, subscribe, unsubscribe
from benchdash.celery import ring
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import Hardware, Product, TouchedSeries
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db

ALICE = "alice@example.org"
LONG_AGO = timezone.now() - timedelta(days=1)


@pytest.fixture
def project():
    return make_project()


def subscribed(project, address=ALICE, **filters):
    """Who has been subscribed since yesterday."""
    subscription, _ = subscribe(project, address, **filters)
    Subscription.objects.filter(pk=subscription.pk).update(confirmed_at=LONG_AGO)
    return subscription


def owed():
    return list(Alert.objects.order_by("address").values_list("address", flat=True))


def due_again():
    Alert.objects.update(retry_at=timezone.now())


# --- owing ------------------------------------------------------------------------------------------------


def test_a_confirmed_regression_is_owed_once_to_each_address(project):
    subscribed(project)
    subscribed(project, branch="main")
    subscribed(project, "bob@example.org")
    make_incident(project)
    owe_alerts()
    owe_alerts()
    assert owed() == [ALICE, "bob@example.org"]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "improvement"},
        {"status": "suspected"},
        {"status": "withdrawn"},
        {"historical": True},
        {"quiet": True},
        {"state": "expected"},
        {"state": "invalid"},
        {"confirmed_at": timezone.now() - timedelta(days=20)},
    ],
)
def test_nobody_is_owed_what_is_no_news(project, fields):
    subscribed(project)
    Subscription.objects.update(confirmed_at=timezone.now() - timedelta(days=100))
    make_incident(project, **fields)
    owe_alerts()
    assert owed() == []


def test_nobody_is_owed_sample_data():
    sample = make_project(is_sample=True)
    subscribed(sample)
    make_incident(sample)
    owe_alerts()
    assert owed() == []


def test_who_subscribes_after_the_confirmation_hears_nothing_of_it(project):
    make_incident(project)
    subscribe(project, ALICE)
    owe_alerts()
    assert owed() == []


def test_who_subscribes_to_another_project_hears_nothing(project):
    subscribed(make_project())
    make_incident(project)
    owe_alerts()
    assert owed() == []


@pytest.mark.parametrize(
    ("filters", "is_told"),
    [
        ({}, True),
        ({"product": "MariaDB"}, True),
        ({"product": "PostgreSQL"}, False),
        ({"branch": "main"}, True),
        ({"branch": "11.4"}, False),
        ({"hardware": "bench-03"}, True),
        ({"hardware": "bench-04"}, False),
        ({"product": "MariaDB", "branch": "main", "hardware": "bench-03"}, True),
        ({"product": "MariaDB", "branch": "main", "hardware": "bench-04"}, False),
    ],
)
def test_a_subscription_hears_of_what_it_asked_for(project, filters, is_told):
    make_incident(project, product="MariaDB", branch="main", hardware="bench-03")
    things = {"product": Product, "hardware": Hardware}
    found = {
        name: things[name].objects.get_or_create(project=project, name=value)[0] if name in things else value
        for name, value in filters.items()
    }
    subscribed(project, **found)
    owe_alerts()
    assert bool(owed()) == is_told


def test_hardware_that_only_raised_a_suspicion_is_not_told_of(project):
    make_incident(project, hardware="bench-03")
    ChangePoint.objects.update(state="suspected")
    subscribed(project, hardware=Hardware.objects.get())
    owe_alerts()
    assert owed() == []


def test_who_left_a_private_project_hears_no_more_of_it(project):
    alice = make_user(member_of=project)
    subscribed(project, alice.email)
    make_incident(project)
    Membership.objects.all().delete()
    owe_alerts()
    assert owed() == []
    project.visibility = "public"
    project.save()
    owe_alerts()
    assert owed() == [ALICE]


def test_who_has_no_account_any_more_hears_nothing(project):
    alice = make_user(member_of=project)
    subscribed(project, alice.email)
    make_incident(project)
    alice.is_active = False
    alice.save()
    owe_alerts()
    assert owed() == []


def test_owing_takes_three_statements_however_many_there_are(project, django_assert_num_queries):
    for name in "abc":
        subscribed(project, f"{name}@example.org")
        make_incident(project, branch=name)
    with django_assert_num_queries(3):
        owe_alerts()
    assert len(owed()) == 9
    with django_assert_num_queries(2):
        owe_alerts()


# --- sending ----------------------------------------------------------------------------------------------


def test_what_is_owed_is_sent_once(project, smtp):
    subscribed(project)
    make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 1
    assert send_owed_alerts() == 0
    assert [mail.recipients for mail in smtp.mails] == [[ALICE]]
    assert Alert.objects.get().sent_at is not None


def test_nothing_is_lost_while_the_mail_server_is_down(project, smtp, settings):
    subscribed(project)
    subscribed(project, "bob@example.org")
    make_incident(project)
    owe_alerts()
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert send_owed_alerts() == 0
    for alert in Alert.objects.all():
        assert alert.attempts == 1
        assert "refused" in alert.error.lower()
        assert alert.retry_at > timezone.now()
    # Nobody asks a server that is down for every mail anew.
    assert send_owed_alerts() == 0
    assert set(Alert.objects.values_list("attempts", flat=True)) == {1}
    settings.EMAIL_PORT = port
    due_again()
    assert send_owed_alerts() == 2
    assert sorted(mail.recipients[0] for mail in smtp.mails) == [ALICE, "bob@example.org"]
    assert set(Alert.objects.values_list("error", flat=True)) == {""}


def test_a_mail_that_is_refused_does_not_hold_up_the_others(project, smtp):
    subscribed(project)
    make_incident(project)
    owe_alerts()
    smtp.answer = "550 5.7.1 no such mailbox"
    assert send_owed_alerts() == 0
    assert "no such mailbox" in Alert.objects.get().error
    smtp.answer = "250 OK"
    subscribed(project, "bob@example.org")
    owe_alerts()
    assert send_owed_alerts() == 1
    assert smtp.mails[0].recipients == ["bob@example.org"]


def test_a_mail_that_cannot_be_made_does_not_hold_up_the_others(project, smtp, caplog):
    subscribed(project)
    first = make_incident(project)
    make_incident(project, branch="11.4")
    owe_alerts()
    Alert.objects.filter(incident=first).update(address="alice\n@example.org")
    assert send_owed_alerts() == 1
    broken = Alert.objects.get(sent_at=None)
    assert "newlines" in broken.error
    assert f"the mail of alert {broken.pk} could not be made" in caplog.text


def test_a_mail_server_that_hangs_delays_what_is_owed_and_holds_nobody_up_for_long(project, smtp, settings):
    settings.EMAIL_TIMEOUT = 1
    for name in "abcd":
        subscribed(project, f"{name}@example.org")
    make_incident(project)
    owe_alerts()
    smtp.slow_s = 60
    began = time.monotonic()
    assert send_owed_alerts() == 0
    assert time.monotonic() - began < 50
    assert set(Alert.objects.values_list("attempts", flat=True)) == {1}
    assert "timed out" in Alert.objects.first().error
    smtp.slow_s = 0
    due_again()
    assert send_owed_alerts() == 4


@pytest.mark.parametrize("keeps", [False, True])
def test_a_mail_server_that_dies_in_the_middle_of_a_mail_gets_it_again_as_the_same_mail(project, smtp, keeps):
    subscribed(project)
    make_incident(project)
    owe_alerts()
    smtp.dies_in_data, smtp.keeps_what_broke_off = True, keeps
    assert send_owed_alerts() == 0
    assert Alert.objects.get().error != ""
    smtp.dies_in_data = False
    due_again()
    assert send_owed_alerts() == 1
    assert send_owed_alerts() == 0
    # Nobody can know whether the first was kept: mail programs show two of one Message-ID once.
    assert len(smtp.mails) == 1 + keeps
    assert len({mail.message["Message-ID"] for mail in smtp.mails}) == 1


@pytest.mark.parametrize(("attempts", "minutes"), [(0, 1), (1, 2), (3, 8), (9, 10)])
def test_the_next_try_comes_later_and_later_up_to_ten_minutes(project, smtp, settings, attempts, minutes):
    subscribed(project)
    make_incident(project)
    owe_alerts()
    Alert.objects.update(attempts=attempts)
    settings.EMAIL_PORT = 1
    before = timezone.now()
    send_owed_alerts()
    wait = Alert.objects.get().retry_at - before
    assert timedelta(minutes=minutes) <= wait < timedelta(minutes=minutes, seconds=30)


def test_somebody_may_have_it_tried_at_once(project, smtp):
    subscribed(project)
    make_incident(project)
    owe_alerts()
    Alert.objects.update(retry_at=timezone.now() + timedelta(hours=5), error="550")
    assert send_owed_alerts() == 0
    retry(Alert.objects.get())
    assert send_owed_alerts() == 1


def test_what_was_withdrawn_meanwhile_is_not_sent(project, smtp):
    subscribed(project)
    incident = make_incident(project)
    owe_alerts()
    Incident.objects.update(status="withdrawn")
    assert send_owed_alerts() == 0
    Incident.objects.filter(pk=incident.pk).update(status="confirmed")
    assert send_owed_alerts() == 1


def test_who_left_while_the_mail_server_was_down_is_not_sent_what_was_owed(project, smtp):
    alice = make_user(member_of=project)
    subscribed(project, alice.email)
    make_incident(project)
    owe_alerts()
    assert owed() == [ALICE]
    Membership.objects.all().delete()
    assert send_owed_alerts() == 0
    assert smtp.mails == []
    assert owed() == []


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_one_mail(project, smtp):
    for name in "abcd":
        subscribed(project, f"{name}@example.org")
    make_incident(project)
    start = threading.Barrier(2)

    def work():
        start.wait()
        try:
            owe_alerts()
            return send_owed_alerts()
        finally:
            connections.close_all()

    with ThreadPoolExecutor() as pool:
        sent = [future.result() for future in [pool.submit(work) for _ in range(2)]]
    assert sum(sent) == 4
    recipients = [mail.recipients[0] for mail in smtp.mails]
    assert sorted(recipients) == [f"{name}@example.org" for name in "abcd"]


# --- confirmations ------------------------------------------------------------------------------------------


@pytest.fixture
def asked(project):
    """The subscription of an address that somebody else subscribed."""
    return subscribe(project, ALICE, branch="main", by=Viewer(user=make_user("bob")))[0]


def test_an_address_is_asked_once_by_a_mail_with_the_link(project, smtp, asked):
    assert (send_owed_confirmations(), send_owed_confirmations()) == (1, 0)
    [mail] = smtp.mails
    assert mail.recipients == [ALICE]
    assert mail.subject == f"[{project.slug}] Please confirm: mails about benchmarks"
    link = f"/confirm/{asked.key}/"
    assert link in mail.text
    assert link in mail.html
    assert "every product, main, all hardware" in " ".join(mail.text.split())


def test_the_question_is_asked_again_when_the_mail_server_is_back(smtp, settings, asked):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert send_owed_confirmations() == 0
    owed_mail = Confirmation.objects.get()
    assert (owed_mail.attempts, owed_mail.sent_at) == (1, None)
    assert owed_mail.retry_at > timezone.now()
    settings.EMAIL_PORT = port
    assert send_owed_confirmations() == 0
    Confirmation.objects.update(retry_at=timezone.now())
    assert send_owed_confirmations() == 1


def test_nobody_is_asked_about_what_has_ended_or_is_confirmed_already(project, smtp, asked):
    confirm(asked, by=Viewer())
    ended, _ = subscribe(project, "carol@example.org", by=Viewer(user=make_user("eve")))
    unsubscribe(ended, by=Viewer())
    assert send_owed_confirmations() == 0
    assert smtp.mails == []


@pytest.mark.django_db(transaction=True)
def test_a_worker_asks_the_address_and_tells_it_once_it_has_confirmed(worker, project, smtp, client):
    subscribe(project, ALICE, by=Viewer(user=make_user("bob", member_of=project)))
    [question] = smtp.wait_for(1)
    path = urlsplit(re.search(r"https?://\S+/confirm/\S+", question.text)[0]).path
    # Programs that look for bad links follow this one.
    assert client.get(path).status_code == 200
    assert Subscription.objects.get().confirmed_at is None
    assert "The subscription is confirmed" in client.post(path).content.decode()
    with transaction.atomic():
        make_incident(project, confirmed_at=timezone.now() + timedelta(seconds=1))
        # Else the worker looks at these runs, whose two points are no evidence, and withdraws the incident.
        TouchedSeries.objects.all().delete()
        ring("benchdash.alerts.tasks.send_alerts")
    _, alert = smtp.wait_for(2)
    assert alert.recipients == [ALICE]
    assert "became slower" in alert.text


# --- holding ------------------------------------------------------------------------------------------------


def test_held_mail_stays_owed_and_is_sent_once_it_is_not_held(project, smtp, settings):
    subscribed(project)
    make_incident(project)
    settings.HOLD_MAIL = True
    owe_alerts()
    assert send_owed_alerts() == 0
    assert (owed(), smtp.mails) == ([ALICE], [])
    settings.HOLD_MAIL = False
    assert send_owed_alerts() == 1


def test_what_was_held_until_it_is_old_news_is_never_sent(project, smtp, settings):
    subscribed(project)
    incident = make_incident(project)
    owe_alerts()
    Incident.objects.filter(pk=incident.pk).update(confirmed_at=timezone.now() - settings.HISTORICAL_AFTER)
    assert send_owed_alerts() == 0
    assert (owed(), smtp.mails) == ([ALICE], [])


@pytest.mark.django_db(transaction=True)
def test_a_restored_copy_mails_nothing(project, smtp):
    """A process that starts with HOLD_MAIL=1, on a database in which a mail is owed."""
    subscribed(project)
    make_incident(project)
    assert send_in_another_process(smtp, HOLD_MAIL="1") == "0\n"
    assert (owed(), smtp.mails) == ([ALICE], [])
    assert send_in_another_process(smtp) == "1\n"
    assert [mail.recipients[0] for mail in smtp.mails] == [ALICE, "bob@example.org"]


def send_in_another_process(smtp, **environment):
    """How many alerts it sent; it sends another mail as well."""
    code = """if True:
        from django.core.mail import send_mail
        from benchdash.alerts.services import owe_alerts, send_owed_alerts
        owe_alerts()
        print(send_owed_alerts())
        send_mail("a", "b", None, ["bob@example.org"])
    """
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    told = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        env={**os.environ, "DATABASE_URL": database.geturl(), "EMAIL_URL": smtp.url, **environment},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout
