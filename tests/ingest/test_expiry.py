"""Results of pull requests: apart from every branch, and gone when nobody needs them any more."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from benchdash.accounts.models import AuditEntry
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import PullRequest, Run, TouchedSeries
from ingest.expiry import expire_pull_requests
from ingest.models import Upload
from tests.builders import make_project, make_series, make_token
from tests.ingest import sending
from tests.ingest.sending import SAID, client_of

pytestmark = pytest.mark.django_db


def table(*values):
    return "\n".join(["threads,tps", *(f"{threads},{value}" for threads, value in values)]).encode()


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def send(project):
    client = client_of(make_token(project))

    def send(content, **said):
        answer = sending.send(client, content, "a.csv", **SAID, **said)
        assert answer.status_code in (200, 201), answer.content
        return answer.json()

    send.client = client
    return send


def test_a_pull_request_of_a_fork_never_lands_on_the_branch_that_it_is_named_after(project, send):
    sent = send(table((4, 1234.5678)), branch="main", pull_request=12, base_branch="main")
    run = Run.objects.get()
    assert run.branch == "pull/12"
    said = {name: run.options[name] for name in ("pull_request", "branch", "base_branch")}
    assert said == {"pull_request": 12, "branch": "main", "base_branch": "main"}
    assert PullRequest.objects.get().base_branch == "main"
    # Merged, the same file counts on main: it is no copy of what the pull request measured.
    merged = send(table((4, 1234.5678)), branch="main")
    assert (merged["duplicate"], merged.get("copies", [])) == (False, [])
    assert sorted(Run.objects.values_list("branch", flat=True)) == ["main", "pull/12"]
    assert sent["id"] != merged["id"]
    answer = send.client.post(
        "/api/v1/uploads/", {"file": SimpleUploadedFile("a.csv", b"x"), **SAID, "pull_request": "0"}
    )
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "pull_request")


def test_nothing_is_looked_for_in_a_pull_request_and_its_base_never_sees_it(project, client):
    make_series([*[100.0, 101.0, 99.0] * 5, *[60.0] * 6], project=project, branch="pull/7")
    analyse_touched()
    assert not TouchedSeries.objects.exists()
    assert not ChangePoint.objects.exists()
    assert not Incident.objects.exists()
    make_series([100.0, 101.0, 99.0, 100.0], project=project, branch="main")
    for page in ("", "history/", "compare/matrix/", "morning/"):
        body = client.get(f"/p/amber/{page}").content.decode()
        assert "21 groups" not in body
    overview = client.get("/api/v1/overview/?project=amber").json()
    assert {row["branch"] for row in overview["rows"]} <= {"main"}
    shown = client.get("/p/amber/history/?branch=pull/7").content.decode()
    assert "pull/7" in shown


@pytest.mark.parametrize(
    ("ref", "branch"),
    [
        ("pull/34", "pull/34"),
        ("34/merge", "pull/34"),
        ("refs/pull/34/head", "pull/34"),
        ("refs/merge-requests/34/head", "pull/34"),
        ("34", "34"),
        ("release/34/merge", "release/34/merge"),
        ("pull/034", "pull/034"),
    ],
)
def test_a_ref_of_a_pull_request_is_its_branch(send, ref, branch):
    send(table((4, 1234.5678)), branch=ref, commit="a" * 40)
    assert Run.objects.get().branch == branch


def test_an_empty_variable_of_ci_puts_no_pull_request_among_the_results_of_its_base(project, client):
    answer = client.post(
        "/api/v1/uploads/",
        {
            "file": SimpleUploadedFile("a.csv", b"threads,tps\n4,1234.5\n"),
            **SAID,
            "branch": "main",
            "pull_request": "",
            "base_branch": "main",
        },
        headers={"authorization": f"Bearer {make_token(project)}"},
    )
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == "pull_request"
    assert not Run.objects.exists()


def test_what_nobody_needs_any_more_expires_and_the_rest_stays(project, send):
    old = send(table((4, 1234.5678)), pull_request=12, base_branch="main", commit="a" * 40)
    kept = send(table((4, 2234.5678)), branch="main", commit="b" * 40)
    young = send(table((4, 3234.5678)), pull_request=13, base_branch="main", commit="c" * 40)
    long_ago = timezone.now() - timedelta(days=31)
    Run.objects.filter(upload_id__in=[old["id"], kept["id"]]).update(recorded_at=long_ago)
    project.options = {"pull_request_days": 0}
    project.save()
    expire_pull_requests()
    assert Run.objects.count() == 3
    project.options = {}
    project.save()
    for _ in range(2):
        expire_pull_requests()
        assert set(Run.objects.values_list("upload_id", flat=True)) == {kept["id"], young["id"]}
    assert Upload.objects.get(pk=old["id"]).state == Upload.State.DELETED
    [entry] = AuditEntry.objects.filter(action="results expired")
    assert (entry.subject, entry.detail) == ("pull/12", {"runs": 1, "uploads": 1})


def test_of_an_upload_that_holds_more_only_the_pull_request_expires(project, send):
    """Two runs of a table; one of them was corrected to be of main since."""
    sent = send(table((4, 1234.5678), (8, 2345.6789)), pull_request=12)
    runs = Run.objects.order_by("threads")
    runs.update(recorded_at=timezone.now() - timedelta(days=31))
    Run.objects.filter(threads=8).update(branch="main")
    expire_pull_requests()
    assert list(Run.objects.values_list("threads", "branch")) == [(8, "main")]
    assert Upload.objects.get(pk=sent["id"]).state == Upload.State.IMPORTED
