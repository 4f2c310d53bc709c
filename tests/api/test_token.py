"""A script asks what its token may do, and learns why it may nothing any more."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Token
from benchdash.accounts.services import create_token, revoke_token
from tests.api.conftest import client_of
from tests.builders import make_project, make_token, make_user

pytestmark = pytest.mark.django_db

URL = "/api/v1/token/"


def test_a_token_is_told_what_it_may_do():
    project = make_project("mine")
    token, secret = create_token(project, "ci", ["upload"], expires_in_days=30, hardware=" bench-03 ")
    client_of(secret).get(URL)
    told = client_of(secret).get(URL).json()
    token.refresh_from_db()
    assert told.pop("expires_at").startswith(f"{token.expires_at:%Y-%m-%dT%H:%M}")
    assert told.pop("last_used_at").startswith(f"{token.last_used_at:%Y-%m-%dT%H:%M}")
    assert told == {
        "project": "mine",
        "name": "ci",
        "scopes": ["upload"],
        "hardware": "bench-03",
        "identity": None,
    }


def test_a_token_that_expired_is_told_so_and_one_that_was_guessed_is_not():
    token, secret = create_token(make_project(), "ci", ["read"], expires_in_days=1)
    client = client_of(secret)
    assert client.get(URL).status_code == 200
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = client.get(URL)
    assert answer.status_code == 401
    assert answer.json()["detail"].startswith("the token expired on 20")
    # Also before the body of a large request is read.
    assert "expired" in client.post("/api/v1/uploads/", {"x": "y" * 100_000}).json()["detail"]
    assert "expired" not in client_of(f"{secret}x").get(URL).json()["detail"]
    revoke_token(token, by=Viewer())
    assert client.get(URL).json()["detail"] == "the token is unknown or was revoked"


def test_without_a_token_there_is_nothing_to_tell():
    for who in (None, make_user(is_superuser=True)):
        assert client_of(who).get(URL).status_code in (401, 403)


def test_a_token_without_an_end_says_so():
    told = client_of(make_token(make_project())).get(URL).json()
    assert (told["expires_at"], told["hardware"]) == (None, None)
