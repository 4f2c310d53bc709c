"""Pull requests are told how they did, at a server that speaks as GitHub and GitLab do."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, User
from benchdash.alerts import pull_requests
from benchdash.alerts.models import CodeHost, PullRequestAnswer
from benchdash.alerts.pull_requests import connect, hosts_to_ask
from benchdash.results.models import Product, PullRequest, Series, TouchedSeries
from tests.builders import make_series, make_user
from tests.code_host_server import REPOSITORY, SECRET

pytestmark = pytest.mark.django_db

STEADY = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0]


def joined(project, server, kind="github"):
    return connect(
        project, kind=kind, repository=REPOSITORY, secret=SECRET, api_url=f"{server.url}/", by=boss(project)
    )


def answer_pull_requests():
    """Do what beat has a worker do, and return how many were told."""
    return sum(pull_requests.answer_pull_requests(host_id) for host_id in hosts_to_ask())


def boss(project):
    address = f"boss-of-{project.slug}"
    known = User.objects.filter(email=f"{address}@example.org").first()
    return Viewer(user=known or make_user(address, member_of=project))


def time_passes():
    for waiting in (CodeHost, PullRequestAnswer):
        waiting.objects.update(retry_at=timezone.now() - timedelta(seconds=1))


def measured(project, value, *, number=12):
    """A pull request against a main that was measured for long."""
    make_series(STEADY, project=project, branch="main")
    make_series([value], project=project, branch=f"pull/{number}")
    TouchedSeries.objects.all().delete()
    product = Product.objects.get(project=project)
    PullRequest.objects.create(product=product, number=number, base_branch="main")


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_a_slower_one_gets_a_failure_and_one_comment_that_is_written_anew(project, server, kind):
    measured(project, 80.0)
    joined(project, server, kind)
    assert answer_pull_requests() == 1
    [status] = server.statuses
    assert status["state"] == ("failure" if kind == "github" else "failed")
    assert status["context" if kind == "github" else "name"] == "benchdash/quartz"
    assert status["description"].startswith("Fail: ")
    assert len(status["commit"]) == 40
    assert status["target_url"].endswith("/p/quartz/gate/?pull_request=12")
    [person, ours] = server.comments.values()
    assert person == "A person said this."
    assert ours.startswith("<!-- benchdash quartz -->\n**Fail: ")
    assert "−20.0 %" in ours
    # Nothing new: nothing is said again.
    assert answer_pull_requests() == 0
    # Another run came in, and says the same: nothing is written. Another verdict is, into the same comment.
    PullRequestAnswer.objects.update(seen_run=0)
    assert answer_pull_requests() == 0
    PullRequestAnswer.objects.update(told="", seen_run=0)
    assert answer_pull_requests() == 1
    assert len(server.comments) == 2
    # After a crash nobody remembers the comment; it is found.
    PullRequestAnswer.objects.all().delete()
    assert answer_pull_requests() == 1
    assert len(server.comments) == 2
    # Somebody deleted it.
    server.comments.popitem()
    PullRequestAnswer.objects.update(told="", seen_run=0)
    assert answer_pull_requests() == 1
    assert len(server.comments) == 2


def test_while_the_analysis_is_pending_the_comment_waits(project, server):
    measured(project, 80.0)
    joined(project, server)
    TouchedSeries.objects.create(series=Series.objects.get(branch="pull/12"))
    assert answer_pull_requests() == 1
    assert [one["state"] for one in server.statuses] == ["pending"]
    assert answer_pull_requests() == 0
    TouchedSeries.objects.all().delete()
    assert answer_pull_requests() == 1
    assert [one["state"] for one in server.statuses] == ["pending", "failure"]
    assert len(server.comments) == 2


def test_a_code_host_that_is_down_is_asked_again_later_and_what_went_wrong_is_kept(project, server):
    measured(project, 80.0)
    joined(project, server)
    server.down = True
    assert answer_pull_requests() == 0
    assert "503" in PullRequestAnswer.objects.get().error
    server.down = False
    assert answer_pull_requests() == 0
    time_passes()
    assert answer_pull_requests() == 1
    assert PullRequestAnswer.objects.get().error == ""


def test_a_project_of_relative_figures_publishes_none_in_a_comment(project, server):
    project.is_relative_only = True
    project.save()
    measured(project, 81.25)
    joined(project, server)
    assert answer_pull_requests() == 1
    ours = server.comments[max(server.comments)]
    assert "**Fail: " in ours
    assert "81.25" not in ours
    assert "|" not in ours


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"secret": "stolen"}, "401"),
        ({"repository": "quartz/other"}, "404"),
        ({"api_url": "ftp://127.0.0.1/"}, "https:// or http://"),
    ],
)
def test_a_connection_that_does_not_work_is_not_kept(project, server, wrong, why):
    said = {"kind": "github", "repository": REPOSITORY, "secret": SECRET, "api_url": server.url}
    with pytest.raises(ValidationError, match=why):
        connect(project, **{**said, **wrong}, by=boss(project))
    assert not CodeHost.objects.exists()


def test_the_token_goes_over_https_only_and_no_log_has_it(project, server, settings):
    joined(project, server)
    entry = AuditEntry.objects.get(action="code host connected")
    assert SECRET not in f"{entry.subject}{entry.detail}"
    settings.WEBHOOKS_MAY_BE_PRIVATE = False
    with pytest.raises(ValidationError, match="https only"):
        joined(project, server)


def test_held_mail_holds_these_too(project, server, settings):
    measured(project, 80.0)
    joined(project, server)
    settings.HOLD_MAIL = True
    assert answer_pull_requests() == 0
    assert server.statuses == []
