"""Somebody asks for a mail to see whether mails arrive."""

import pytest
from django.core import mail

from benchdash.alerts.models import MailTest
from benchdash.alerts.services import send_owed_tests
from tests.builders import make_project, make_user
from tests.dashboard.page_text import said_after, text_of

pytestmark = pytest.mark.django_db

PAGE = "/p/nightly/notifications/"


@pytest.fixture
def member(client):
    client.force_login(make_user(member_of=make_project("nightly", public=True)))
    return client


def test_a_test_goes_to_the_address_of_the_account_and_the_page_says_when(member, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    text = said_after(member, member.post(f"{PAGE}test/"))
    assert "A test to alice@example.org is on its way." in text
    assert "is not sent yet" in text
    assert send_owed_tests() == 1
    assert [one.to for one in mail.outbox] == [["alice@example.org"]]
    assert "nothing has happened" in mail.outbox[0].body
    assert "The test to alice@example.org was handed to the mail server just now" in text_of(member.get(PAGE))
    member.post(f"{PAGE}test/")
    assert MailTest.objects.filter(sent_at=None).count() == MailTest.objects.count() == 1


def test_a_test_that_cannot_be_sent_says_why(member, settings):
    settings.EMAIL_BACKEND, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", 1
    member.post(f"{PAGE}test/")
    assert send_owed_tests() == 0
    assert "The test to alice@example.org was not sent: " in text_of(member.get(PAGE))


def test_while_mail_is_held_no_test_is_owed(member, settings):
    settings.HOLD_MAIL = True
    text = said_after(member, member.post(f"{PAGE}test/"))
    assert "No test was sent: mail is held on this installation (HOLD_MAIL=1)." in text
    assert not MailTest.objects.exists()


def test_it_is_for_members(client, member):
    client.force_login(make_user("bob"))
    assert client.post(f"{PAGE}test/").status_code == 403
