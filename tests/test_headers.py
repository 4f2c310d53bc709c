"""What every answer carries for the safety of who reads it."""

import pytest

from tests.builders import PASSWORD, make_project, make_upload, make_user

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.dashboard.shell.guide"),
    pytest.mark.usefixtures("no_loop_of_the_browser"),
]


def policy_of(answer):
    return dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))


@pytest.fixture
def answers(client):
    """By what they are: pages, files, and all kinds of refusals."""
    client.raise_request_exception = False
    project = make_project(public=True, raw_files_are_public=True)
    upload = make_upload(project)
    page = f"/p/{project.slug}"
    return {
        "a page": client.get("/"),
        "a table": client.get(f"{page}/versions.csv"),
        "a raw file": client.get(f"/api/v1/uploads/{upload.pk}/raw/"),
        "JSON": client.get("/api/v1/projects/"),
        "the schema": client.get("/api/schema/"),
        "health": client.get("/healthz"),
        "an assistant": client.post("/mcp/", PING, "application/json", headers={"accept": "*/*"}),
        "to sign in first": client.get(f"{page}/tokens/"),
        "a slash is missing": client.get(f"{page}/runs"),
        "no such page": client.get("/nothing/"),
        "no such thing": client.get("/api/v1/runs/1/"),
        "no such method": client.put(f"{page}/versions/"),
        "too many parameters": client.get(f"{page}/versions/?" + "a=1&" * 2000),
        "a foreign host": client.get("/", headers={"host": "elsewhere.example"}),
        "a mistake of ours": client.get("/broken/"),
    }


def test_every_answer_has_a_policy_for_scripts_and_is_not_framed_or_guessed_at(answers):
    statuses = [200] * 7 + [302, 301, 404, 404, 405, 400, 400, 500]
    assert [answer.status_code for answer in answers.values()] == statuses
    for what, answer in answers.items():
        policy = policy_of(answer)
        assert policy["default-src"] == policy["frame-ancestors"] == "'none'", what
        assert policy["script-src"] == "'self'", what
        assert answer["X-Content-Type-Options"] == "nosniff", what
        assert answer["Referrer-Policy"] == "same-origin", what


def test_files_are_saved_and_not_shown(answers):
    for what in ("a table", "a raw file"):
        assert answers[what]["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "elsewhere", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"]
)
def test_signing_in_leads_nowhere_else(client, elsewhere):
    make_user(password=PASSWORD)
    said = {"username": "alice@example.org", "password": PASSWORD, "next": elsewhere}
    assert client.post("/sign-in/", said)["Location"] == "/"
    assert client.get("/sign-in/", {"next": elsewhere})["Location"] == "/"
    assert client.post("/sign-out/", {"next": elsewhere})["Location"] == "/"
