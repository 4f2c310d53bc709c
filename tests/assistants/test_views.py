"""The door: what comes in, in which form, and who is let in."""

import json

import pytest

from benchdash.accounts.models import Scope
from benchdash.entrance.bodies import MAX_STRANGER_BYTES
from benchdash.throttling import AnonymousThrottle
from tests.assistants.conftest import HEADERS, Door
from tests.builders import PASSWORD, make_project, make_series, make_token, make_user

pytestmark = pytest.mark.django_db

PING = {"method": "ping"}


def test_a_message_is_answered_by_itself_in_json(nobody):
    answer = nobody.post(PING)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert "mcp-session-id" not in answer.headers
    notice = nobody.post(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    assert (notice.status_code, notice.content) == (202, b"")


@pytest.mark.parametrize("method", ["get", "delete", "put", "options"])
def test_there_are_no_streams_and_no_sessions_to_end(client, method):
    answer = getattr(client, method)("/mcp/", headers=HEADERS)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_a_missing_slash_loses_no_message(client):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, **PING})
    assert client.post("/mcp", body, "application/json", headers=HEADERS).status_code == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (PING, {"accept": "text/html"}, 406),
        (PING, {"accept": None}, 406),
        (PING, {"content-type": "text/plain"}, 415),
        (PING, {"content-type": None}, 415),
        (PING, {"origin": "http://elsewhere.example"}, 403),
        (PING, {"origin": "null"}, 403),
        (PING, {"origin": "http://testserver"}, 200),
        (PING, {"host": "elsewhere.example"}, 400),
        (PING, {"mcp-protocol-version": "1999-01-01"}, 400),
        (b"", {}, 400),
        (b"\0\xff{", {}, 400),
        (b"[" * 50_000, {}, 400),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', {}, 400),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', {}, 400),
        (b'{"jsonrpc": "1.0", "id": [], "method": 7}', {}, 400),
        (b"x" * (MAX_STRANGER_BYTES + 1), {}, 413),
    ],
)
def test_what_is_no_message_of_the_protocol_is_refused(client, nobody, body, headers, status):
    client.raise_request_exception = False
    assert nobody.post(body, **headers).status_code == status


def test_a_member_may_not_send_more_either():
    door = Door(make_token(make_project()))
    assert door.post(b"x" * (MAX_STRANGER_BYTES + 1)).status_code == 413


def test_an_unknown_method_or_tool_is_said(nobody):
    assert nobody.post({"method": "resources/list"}).json()["error"]["code"] == -32601
    assert "list_projects" in nobody.refusal("delete_everything")


def test_a_wrong_token_is_refused_and_a_session_counts_for_nothing(client):
    wrong = Door("wrong").post(PING)
    assert (wrong.status_code, wrong["WWW-Authenticate"]) == (401, "Bearer")
    project = make_project("quartz")
    make_user(member_of=project, password=PASSWORD)
    client.login(username="alice@example.org", password=PASSWORD)
    assert client.get("/p/quartz/runs/").status_code == 200
    call = {"name": "list_projects", "arguments": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    answer = client.post("/mcp/", body, "application/json", headers=HEADERS)
    assert answer.json()["result"]["structuredContent"]["projects"] == []


def test_too_many_messages_of_nobody_are_refused_as_by_the_api(monkeypatch, client, nobody):
    monkeypatch.setattr(AnonymousThrottle, "get_rate", lambda self: "3/day")
    project = make_project()
    statuses = [nobody.post(PING).status_code, client.get("/api/v1/projects/").status_code]
    statuses += [nobody.post(PING).status_code, nobody.post(PING).status_code]
    assert statuses == [200, 200, 200, 429]
    assert Door(make_token(project, Scope.READ)).post(PING).status_code == 200


def test_a_mistake_of_ours_is_no_answer(nobody, monkeypatch, client):
    series = make_series([100, 101], project=make_project(public=True))
    monkeypatch.setattr("benchdash.assistants.series.read_points", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        nobody.call("history", series=series.pk)
