"""How often strangers may ask. Limits of the API are tested with it, those of signing in with its page."""

import pytest
from django.test import Client

from benchdash.throttling import AnonymousThrottle, PersonThrottle
from tests.builders import make_project, make_token, make_user

pytestmark = pytest.mark.django_db

ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture
def three_a_day(monkeypatch):
    monkeypatch.setattr(AnonymousThrottle, "get_rate", lambda self: "3/day")


def statuses(client, address, times, **more):
    return [client.get(address, **more).status_code for _ in range(times)]


def test_who_asks_for_too_many_pages_gets_a_page_that_says_so(three_a_day, client):
    make_project("nightly", public=True)
    assert statuses(client, "/p/nightly/", 4) == [200, 200, 200, 429]
    refused = client.get("/nothing/")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert "<h1>Too many requests from your address</h1>" in refused.content.decode()
    assert client.get("/p/nightly/", **ELSEWHERE).status_code == 200


def test_pages_and_the_api_count_together(three_a_day, client):
    make_project("nightly", public=True)
    assert statuses(client, "/p/nightly/runs/", 2) == [200, 200]
    assert statuses(client, "/api/v1/projects/", 2) == [200, 429]
    assert statuses(client, "/api/schema/", 1) == [429]


def test_who_is_signed_in_may_ask_more_than_a_stranger_and_is_limited_too(three_a_day, monkeypatch, client):
    monkeypatch.setattr(PersonThrottle, "get_rate", lambda self: "5/day")
    project = make_project("nightly", public=True)
    client.force_login(make_user(member_of=project))
    assert statuses(client, "/p/nightly/runs/", 4) == [200] * 4
    assert statuses(client, "/api/v1/runs/", 2) == [200, 429]
    refused = client.get("/p/nightly/runs/")
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)
    assert "<h1>Too many requests from your account</h1>" in refused.content.decode()
    other = Client()
    other.force_login(make_user("bob"))
    assert other.get("/p/nightly/runs/").status_code == 200


def test_a_session_is_told_its_limit_as_a_token_is(client):
    client.force_login(make_user())
    assert client.get("/api/v1/projects/")["RateLimit-Policy"].startswith('"person";q=')


@pytest.mark.parametrize("address", ["/healthz", "/static/css/base.css"])
def test_monitoring_and_static_files_are_not_limited(three_a_day, client, address):
    assert 429 not in statuses(client, address, 6)
    assert client.get("/").status_code == 200


def test_refused_tokens_are_limited_and_known_ones_are_not(three_a_day):
    secret = make_token(make_project())
    known, unknown = (Client(headers={"authorization": f"Bearer {one}"}) for one in (secret, "bd_unknown"))
    assert statuses(unknown, "/api/v1/runs/", 5) == [401, 401, 401, 429, 429]
    assert unknown.get("/api/v1/runs/")["Content-Type"] == "application/problem+json"
    assert int(unknown.get("/api/v1/runs/")["Retry-After"]) > 0
    assert set(statuses(known, "/api/v1/runs/", 5)) == {200}
    assert unknown.get("/api/v1/runs/", **ELSEWHERE).status_code == 401


def test_pages_are_shown_while_redis_is_down(three_a_day, client, settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1"}}
    assert set(statuses(client, "/", 5)) == {200}
