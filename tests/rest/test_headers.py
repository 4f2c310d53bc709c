"""The headers of every answer: limits, and which other sites may read."""

import pytest
from django.test import Client

from benchdash.accounts.models import Scope
from benchdash.rest.views import ApiView
from tests.builders import make_project, make_token


@pytest.mark.django_db
def test_answers_say_how_many_requests_are_left(client, monkeypatch):
    project = make_project(public=True)
    rates = ApiView().limits()[0].THROTTLE_RATES
    monkeypatch.setitem(rates, "anonymous", "600/min")
    answer = client.get("/api/v1/projects/")
    assert answer["RateLimit-Policy"] == '"anonymous";q=600;w=60'
    name, left, seconds = answer["RateLimit"].split(";")
    assert (name, left) == ('"anonymous"', "r=599")
    assert 0 < int(seconds.removeprefix("t=")) <= 60
    token = Client(headers={"authorization": f"Bearer {make_token(project, Scope.UPLOAD)}"})
    assert token.get("/api/v1/nothing/").status_code == 404
    assert token.get("/api/v1/runs/0/")["RateLimit"].startswith('"token";r=5999;')
    assert token.post("/api/v1/uploads/")["RateLimit"].startswith('"uploads";r=5999;')
    monkeypatch.setitem(rates, "token", "0/day")
    refused = token.get("/api/v1/runs/")
    assert refused.status_code == 429
    assert refused["RateLimit"].startswith('"token";r=0;t=')
    assert int(refused["Retry-After"]) > 0
    assert refused.json()["code"] == "throttled"


@pytest.mark.django_db
def test_without_redis_nobody_is_refused_and_nothing_is_said_of_limits(client, settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1"}}
    answer = client.get("/api/v1/projects/")
    assert answer.status_code == 200
    assert not answer.has_header("RateLimit")


@pytest.mark.django_db
def test_other_sites_read_only_where_the_installation_allows_it(client, settings):
    def allowed(method="get", **headers):
        answer = getattr(client, method)(
            "/api/v1/projects/", headers={"origin": "https://a.example", **headers}
        )
        assert not answer.has_header("Access-Control-Allow-Credentials")
        return answer.headers.get("Access-Control-Allow-Origin")

    preflight = {"access-control-request-method": "GET"}
    assert allowed() is None
    settings.CORS_ORIGINS = ["https://a.example"]
    assert allowed() == allowed("options", **preflight) == "https://a.example"
    assert allowed(origin="https://b.example") is None
    settings.CORS_ORIGINS = ["*"]
    assert allowed(origin="https://b.example") == "*"
    answer = client.options("/api/v1/runs/", headers={"origin": "https://a.example", **preflight})
    assert (answer.status_code, answer["Access-Control-Allow-Methods"]) == (204, "GET, HEAD")
    assert (
        client.get("/", headers={"origin": "https://a.example"}).has_header("Access-Control-Allow-Origin")
        is False
    )


@pytest.mark.django_db
def test_what_cannot_be_read_or_is_not_there_is_a_problem_with_a_code(client):
    token = Client(headers={"authorization": f"Bearer {make_token(make_project(), Scope.TRIAGE)}"})

    def answer(method, address, body=b"", kind="application/json"):
        found = token.generic(method, address, body, kind)
        assert found["Content-Type"] == "application/problem+json"
        return found.status_code, found.json()["code"]

    assert answer("POST", "/api/v1/annotations/", b"{") == (400, "unreadable")
    assert answer("POST", "/api/v1/annotations/", b"[]") == (400, "invalid")
    assert answer("POST", "/api/v1/annotations/", b"a=1", "text/plain") == (415, "unsupported_media_type")
    assert answer("PUT", "/api/v1/annotations/") == (405, "method_not_allowed")
    assert token.put("/api/v1/annotations/")["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert answer("GET", "/api/v1/nothing/") == (404, "not_found")
    assert token.options("/api/v1/annotations/").status_code == 200
    led = [getattr(token, method)("/api/v1/annotations") for method in ("get", "post")]
    assert [(one.status_code, one["Location"]) for one in led] == [
        (301, "/api/v1/annotations/"),
        (308, "/api/v1/annotations/"),
    ]
