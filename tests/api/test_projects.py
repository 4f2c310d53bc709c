"""Projects in the API: who makes them, and who changes their settings."""

import pytest

from benchdash.accounts.models import AuditEntry, Membership, Project, Role, Scope
from tests.api.conftest import client_of
from tests.builders import make_project, make_token, make_user

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v1/projects/"


@pytest.fixture
def project():
    return make_project("quartz", options={"historical_after_days": 5, "bug_template": "https://b/{bug}"})


@pytest.fixture
def admin(project):
    return client_of(make_user("alice", member_of=project, role=Role.ADMIN))


def errors(answer):
    assert answer.status_code == 400, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    return {error["field"]: error["message"] for error in answer.json()["errors"]}


def test_who_makes_a_project_is_its_admin_and_it_is_private_unless_said(settings):
    settings.PROJECTS_MADE_BY = "everyone"
    charlie = client_of(make_user("charlie"))
    made = charlie.post(ADDRESS, {"slug": "topaz"})
    assert made.status_code == 201
    assert (made.json()["name"], made.json()["visibility"]) == ("topaz", "private")
    assert made.json() == charlie.get(f"{ADDRESS}topaz/").json()
    assert Membership.objects.get(project__slug="topaz", role=Role.ADMIN).user.email == "charlie@example.org"
    assert AuditEntry.objects.get(action="project made").subject == "topaz"
    assert charlie.post(ADDRESS, {"slug": "opal", "visibility": "public"}).json()["visibility"] == "public"
    assert charlie.patch(f"{ADDRESS}topaz/", {"name": "Topaz"}).json()["name"] == "Topaz"


def test_nobody_else_makes_a_project(settings, project):
    token = client_of(make_token(project, *Scope.values))
    person, superuser = client_of(make_user("bob")), client_of(make_user("eve", is_superuser=True))
    # Who may not is told so before anything is said of the body.
    assert person.post(ADDRESS, {"slug": "?"}).status_code == 403
    settings.PROJECTS_MADE_BY = "everyone"
    assert client_of().post(ADDRESS, {"slug": "topaz"}).status_code == 401
    refused = token.post(ADDRESS, {"slug": "topaz"})
    assert (refused.status_code, "a token is of one project" in refused.json()["detail"]) == (403, True)
    assert Project.objects.get() == project
    settings.PROJECTS_MADE_BY = "superusers"
    assert superuser.post(ADDRESS, {"slug": "topaz"}).status_code == 201


def test_a_project_that_cannot_be_made_says_why(project):
    superuser = client_of(make_user("eve", is_superuser=True))
    assert errors(superuser.post(ADDRESS, {"slug": "quartz"})) == {
        "slug": "'quartz' is taken by another project"
    }
    for body, field in [
        ({}, "slug"),
        ({"slug": "a b"}, "slug"),
        ({"slug": "x" * 51}, "slug"),
        ({"slug": 7}, "slug"),
        ({"slug": "topaz", "name": ""}, "name"),
        ({"slug": "topaz", "visibility": "secret"}, "visibility"),
        ({"slug": "topaz", "public": True}, "public"),
    ]:
        assert set(errors(superuser.post(ADDRESS, body))) == {field}, body
    assert Project.objects.get() == project


def test_an_admin_changes_what_is_said_and_nothing_else(project, admin):
    sent = {
        "name": "Quartz",
        "visibility": "public",
        "notice": "One machine alone.",
        "raw_files_are_public": True,
        "is_relative_only": True,
        "pull_request_days": 0,
    }
    changed = admin.patch(f"{ADDRESS}quartz/", sent).json()
    assert {name: changed[name] for name in sent} == sent
    assert changed == admin.get(f"{ADDRESS}quartz/").json()
    project.refresh_from_db()
    kept = {"historical_after_days": 5, "bug_template": "https://b/{bug}"}
    assert project.options == {**kept, "pull_request_days": 0}
    entry = AuditEntry.objects.get(action="project changed")
    assert entry.detail["visibility"] == "private → public"
    assert set(entry.detail) == {*sent, "options"} - {"pull_request_days"}

    days = {"pull_request_days": None, "historical_after_days": None}
    assert admin.patch(f"{ADDRESS}quartz/", days).json() == {**changed, **days}
    assert Project.objects.get().options == {"bug_template": kept["bug_template"]}
    # What changes nothing is in no log.
    admin.patch(f"{ADDRESS}quartz/", {"name": "Quartz", **days})
    assert AuditEntry.objects.filter(action="project changed").count() == 2


def test_the_margins_of_the_gate_are_settings(project, admin):
    margins = {"gate_row_margin": 0.2, "gate_mean_margin": 0.05}
    assert margins.items() <= admin.patch(f"{ADDRESS}quartz/", margins).json().items()
    project.refresh_from_db()
    assert margins.items() <= project.options.items()
    assert admin.patch(f"{ADDRESS}quartz/", dict.fromkeys(margins)).json()["gate_row_margin"] is None


def test_a_token_with_the_scope_admin_changes_its_own_project_alone(project):
    make_project("topaz", public=True)
    token = client_of(make_token(project, Scope.ADMIN))
    assert token.patch(f"{ADDRESS}quartz/", {"notice": "noted"}).json()["notice"] == "noted"
    assert token.patch(f"{ADDRESS}topaz/", {"notice": "noted"}).status_code == 403
    assert AuditEntry.objects.get(action="project changed").project == project


def test_a_change_that_cannot_be_made_says_why_and_changes_nothing(project, admin):
    for body, field in [
        ({"slug": "topaz"}, "slug"),
        ({"is_sample": True}, "is_sample"),
        ({"name": " "}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"visibility": "secret"}, "visibility"),
        ({"is_relative_only": "yes"}, "is_relative_only"),
        ({"raw_files_are_public": None}, "raw_files_are_public"),
        ({"pull_request_days": -1}, "pull_request_days"),
        ({"pull_request_days": 36501}, "pull_request_days"),
        ({"historical_after_days": "5"}, "historical_after_days"),
        ({"gate_row_margin": 0.6}, "gate_row_margin"),
        ({"gate_mean_margin": "nan"}, "gate_mean_margin"),
    ]:
        assert set(errors(admin.patch(f"{ADDRESS}quartz/", {"notice": "noted", **body}))) == {field}, body
    assert "give one of name, visibility" in errors(admin.patch(f"{ADDRESS}quartz/", {})).popitem()[1]
    assert Project.objects.get().notice == ""
    assert not AuditEntry.objects.filter(action="project changed").exists()
