from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from benchdash.accounts.models import User
from tests.builders import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client):
    client.force_login(make_user("alice"))
    return client


def who(client):
    user = client.get("/").wsgi_request.user
    return user.email if user.is_authenticated else None


def test_a_session_says_who_asks(signed_in):
    assert who(signed_in) == User.objects.get().email


def test_one_that_ended_says_nothing(signed_in):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert who(signed_in) is None


def test_nor_does_one_that_nobody_knows(signed_in):
    signed_in.cookies["sessionid"] = "unknown-session-of-some-length"
    assert who(signed_in) is None


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "another"}])
def test_nor_one_of_somebody_who_may_no_longer_sign_in(signed_in, change):
    User.objects.update(**change)
    assert who(signed_in) is None


def test_nor_one_of_somebody_who_is_gone(signed_in):
    User.objects.all().delete()
    assert who(signed_in) is None


def test_a_page_asks_once_for_the_session_and_once_for_the_user(signed_in, django_assert_num_queries):
    # Two more: the projects on lists, and the project by itself, which may be being deleted.
    with django_assert_num_queries(4):
        signed_in.get("/p/unknown/")
