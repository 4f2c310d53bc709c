"""What the headers of every answer say: limits, what goes away, and which other sites may read."""

from datetime import date

import pytest
from django.test import Client
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from benchdash.accounts.models import Scope
from benchdash.rest.deprecation import deprecated
from benchdash.rest.views import ApiView
from tests.builders import make_project, make_token


class OldView(ApiView):
    """What is there to go away."""

    @extend_schema(
        **deprecated(date(2026, 11, 24), sunset=date(2027, 11, 24)),
        parameters=[OpenApiParameter("older", **deprecated(date(2026, 1, 1)))],
        responses={200: {"type": "object", "properties": {"id": {"type": "integer"}}}},
    )
    def get(self, request):
        return Response({"id": 1}, headers={"Link": '</next>; rel="next"'})

    @extend_schema(
        parameters=[OpenApiParameter("older", **deprecated(date(2026, 1, 1)))],
        request=None,
        responses={204: None},
    )
    def post(self, request):
        return Response(status=204)


urlpatterns = [path("api/old/", OldView.as_view())]


@pytest.mark.django_db
@pytest.mark.urls(__name__)
def test_what_goes_away_says_so_in_the_schema_and_in_every_answer(client):
    answer = client.get("/api/old/")
    assert answer["Deprecation"] == "@1795478400"
    assert answer["Sunset"] == "Wed, 24 Nov 2027 00:00:00 GMT"
    assert answer["Link"].startswith('</next>; rel="next", <http')
    assert answer["Link"].endswith('/api/docs/>; rel="deprecation"; type="text/html"')
    assert client.get("/api/old/?older=1")["Deprecation"] == "@1767225600"
    plain, used = client.post("/api/old/"), client.post("/api/old/?older=1")
    assert not plain.has_header("Deprecation")
    assert used["Deprecation"] == "@1767225600"
    assert not used.has_header("Sunset")


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
