"""Who came in and who was refused is logged in one line each, without a secret."""

import logging

import pytest
from django.test import Client

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Token
from benchdash.accounts.services import revoke_token
from benchdash.dashboard.pages.home.views import TriesFromPlace
from tests.builders import PASSWORD, make_project, make_token, make_user

pytestmark = pytest.mark.django_db

HERE = {"REMOTE_ADDR": "192.0.2.6"}


@pytest.fixture
def lines(caplog):
    """What was logged of who came in."""
    caplog.set_level(logging.INFO, logger="benchdash.access")
    return lambda: [one.getMessage() for one in caplog.records if one.name == "benchdash.access"]


def sign_in(username, password):
    return Client().post("/sign-in/", {"username": username, "password": password}, **HERE)


def test_signing_in_is_logged_with_account_and_address(lines):
    make_user(password=PASSWORD)
    sign_in("alice@example.org", PASSWORD)
    assert lines() == ["'alice@example.org' signed in from '192.0.2.6'"]


def test_a_failed_sign_in_is_logged_without_the_password(lines):
    sign_in("alice@example.org", "my-password")
    assert lines() == ["sign-in as 'alice@example.org' failed from '192.0.2.6'"]


def test_a_try_that_was_refused_is_logged(lines, monkeypatch):
    monkeypatch.setattr(TriesFromPlace, "get_rate", lambda self: "0/day")
    sign_in("alice@example.org", PASSWORD)
    assert lines() == ["sign-in as 'alice@example.org' from '192.0.2.6' was not tried: too many"]


@pytest.mark.parametrize("break_of_line", ["\n", "\r\n", "\u2028", "\x85", "\x1b[2K"])
def test_nobody_writes_a_line_of_their_own_into_the_log(lines, break_of_line):
    sign_in(f"x{break_of_line}'root@example.org' signed in from '10.0.0.1'", "x")
    [line] = lines()
    assert line.isprintable()
    assert len(line.splitlines()) == 1
    assert line.startswith("sign-in as ")
    assert line.endswith(" failed from '192.0.2.6'")


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_appended(lines, settings):
    settings.BEHIND_PROXY = True
    Client().post("/sign-in/", {"username": "a@b.c"}, HTTP_X_FORWARDED_FOR="10.0.0.1, 192.0.2.9", **HERE)
    assert lines() == ["sign-in as 'a@b.c' failed from '192.0.2.9'"]


def test_a_refused_token_is_logged_by_its_beginning(lines):
    secret = make_token(make_project())
    revoke_token(Token.objects.get(), by=Viewer())
    for sent in (secret, "the-password-of-something-else"):
        Client(headers={"authorization": f"Bearer {sent}"}).get("/api/v1/runs/", **HERE)
    assert lines() == [
        f"a token '{secret[:10]}…' was refused from '192.0.2.6': 'the token is unknown or was revoked'",
        "a token that is none of ours was refused from '192.0.2.6': 'the token is unknown or was revoked'",
    ]
    assert secret[:11] not in "".join(lines())
