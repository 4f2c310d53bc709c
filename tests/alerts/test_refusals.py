from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.refusals import MIN_REFUSALS, STOP_AFTER, is_stopped
from benchdash.alerts.services import owe_alerts, retry, send_owed_alerts
from tests.alerts.incidents import make_incident
from tests.builders import make_project

pytestmark = pytest.mark.django_db

ALICE, BOB = "alice@example.org", "bob@example.org"


@pytest.fixture
def project(smtp):
    project = make_project()
    for address in (ALICE, BOB):
        Subscription.objects.create(
            project=project, address=address, confirmed_at=timezone.now() - timedelta(days=30)
        )
    make_incident(project)
    owe_alerts()
    smtp.no_mailbox = {ALICE: "550 5.1.1 no such mailbox"}
    return project


def try_again():
    Alert.objects.update(retry_at=None)
    return send_owed_alerts()


def alice():
    return Subscription.objects.get(address=ALICE)


def test_a_refused_address_is_marked_with_the_words_of_the_server(project):
    assert send_owed_alerts() == 1
    assert alice().refused_at is not None
    assert "5.1.1 no such mailbox" in alice().refusal
    assert Subscription.objects.get(address=BOB).refused_at is None


def test_an_address_that_shall_come_back_later_is_not_marked(project, smtp):
    smtp.no_mailbox = {ALICE: "450 4.2.1 greylisted, try again"}
    assert send_owed_alerts() == 1
    assert (alice().refused_at, Alert.objects.get(address=ALICE).attempts) == (None, 1)


def test_the_mark_goes_with_the_next_mail_that_is_taken(project, smtp):
    send_owed_alerts()
    smtp.no_mailbox = {}
    assert try_again() == 1
    assert (alice().refused_at, alice().refusal, alice().refusals) == (None, "", 0)


def refused_for(time, *, times):
    for _ in range(times - 1):
        try_again()
    Subscription.objects.filter(address=ALICE).update(refused_since=timezone.now() - time)
    try_again()


def test_after_days_of_refusals_nothing_is_sent_any_more(project, smtp):
    refused_for(STOP_AFTER, times=MIN_REFUSALS)
    assert is_stopped(alice())
    tries = Alert.objects.get(address=ALICE).attempts
    smtp.no_mailbox = {}
    make_incident(project, branch="other")
    owe_alerts()
    assert try_again() == 1
    assert [mail.recipients for mail in smtp.mails] == [[BOB], [BOB]]
    assert Alert.objects.get(address=ALICE).attempts == tries


@pytest.mark.parametrize(
    ("time", "times"), [(STOP_AFTER - timedelta(hours=1), 9), (STOP_AFTER * 3, MIN_REFUSALS - 1)]
)
def test_a_few_refusals_or_one_bad_day_stop_nothing(project, time, times):
    refused_for(time, times=times)
    assert not is_stopped(alice())
    tries = Alert.objects.get(address=ALICE).attempts
    try_again()
    assert Alert.objects.get(address=ALICE).attempts == tries + 1


def test_a_person_who_tries_it_again_resumes_it(project, smtp):
    refused_for(STOP_AFTER, times=MIN_REFUSALS)
    smtp.no_mailbox = {}
    retry(Alert.objects.get(address=ALICE))
    assert send_owed_alerts() == 1
    assert smtp.mails[-1].recipients == [ALICE]
