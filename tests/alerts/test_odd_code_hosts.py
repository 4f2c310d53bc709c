"""A code host that answers oddly makes its own project wait, and nobody else: real servers, a real worker."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from benchdash.accounts.models import Role
from benchdash.alerts import outgoing, pull_requests, tasks
from benchdash.alerts.code_hosts import calls
from benchdash.alerts.models import CodeHost, PullRequestAnswer
from tests.alerts.test_pull_requests import joined, measured, time_passes
from tests.builders import make_project, make_user
from tests.code_host_server import ODDITIES, SECRET, CodeHostServer
from tests.dashboard.page_text import said_after, text_of
from tests.regressions.nights import record_nights
from tests.waiting import wait_until


@pytest.fixture
def odd_server(settings):
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    server = CodeHostServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def projects(odd_server, server):
    """The first, whose code host will answer oddly, and another; each with a pull request that is slower."""
    odd, well = make_project("odd"), make_project("well")
    for project, its_server in ((odd, odd_server), (well, server)):
        measured(project, 80.0)
        joined(project, its_server)
    return odd, well


def told(project):
    return PullRequestAnswer.objects.filter(host__project=project).exclude(told="").count()


@pytest.mark.django_db
@pytest.mark.parametrize("oddity", [one for one in ODDITIES if one != "endless list"])
def test_a_code_host_that_answers_oddly_waits_longer_each_time_and_its_members_see_why(
    projects, odd_server, oddity, monkeypatch, client
):
    monkeypatch.setattr(outgoing, "MAX_SECONDS", 1.5)
    odd, well = projects
    odd_server.oddity = oddity
    waits = []
    for _ in range(2):
        time_passes()
        for host_id in pull_requests.hosts_to_ask():
            pull_requests.answer_pull_requests(host_id)
        host = CodeHost.objects.get(project=odd)
        # Where a single pull request was refused, the others of the project need not wait.
        row = host if host.error else host.answers.get()
        assert len(row.error) > 10
        waits.append((row.retry_at - timezone.now()) / timedelta(minutes=1))
    assert [round(wait) for wait in waits] == [1, 2]
    assert (told(odd), told(well)) == (0, 1)
    assert len(odd_server.asked) <= 1 + 2 * 2

    client.force_login(make_user("member", member_of=odd))
    page = text_of(client.get("/p/odd/gate/?pull_request=12"))
    assert f"The code host is not told about this pull request now: {row.error}." in page
    client.logout()
    odd.visibility = odd.Visibility.PUBLIC
    odd.save()
    assert "The code host" not in text_of(client.get("/p/odd/gate/?pull_request=12"))
    client.force_login(make_user("admin", member_of=odd, role=Role.ADMIN))
    assert row.error in text_of(client.get("/p/odd/notifications/"))
    odd_server.oddity = ""
    assert "is there" in said_after(client, client.post("/p/odd/notifications/pull-requests/test/"))
    assert pull_requests.answer_pull_requests(CodeHost.objects.get(project=odd).pk) == 1


@pytest.mark.django_db
def test_of_a_list_of_comments_without_an_end_some_pages_are_read(projects, odd_server):
    odd, _ = projects
    odd_server.oddity = "endless list"
    assert pull_requests.answer_pull_requests(CodeHost.objects.get(project=odd).pk) == 1
    # After the look at the repository and the status; then the comment is written.
    assert [method for method, _ in odd_server.asked[2:]] == ["GET"] * calls.MAX_PAGES + ["POST"]


@pytest.mark.django_db
def test_one_pull_request_that_is_refused_holds_up_no_other(projects, odd_server):
    odd, _ = projects
    measured(odd, 80.0, number=13)
    host = CodeHost.objects.get(project=odd)
    # The older one: somebody stored an id that its code host answers with an error of its own.
    PullRequestAnswer.objects.create(host=host, number=12, comment=7)
    odd_server.refused = "/issues/comments/7"
    for _ in range(2):
        time_passes()
        pull_requests.answer_pull_requests(host.pk)
    assert [one.number for one in host.answers.exclude(told="")] == [13]
    assert "500" in host.answers.get(number=12).error


@pytest.mark.django_db
def test_a_code_host_that_repeats_the_token_does_not_show_it(projects, odd_server):
    odd, _ = projects
    odd_server.oddity = "echo"
    pull_requests.answer_pull_requests(CodeHost.objects.get(project=odd).pk)
    [answer] = PullRequestAnswer.objects.all()
    assert "***" in answer.error
    assert SECRET not in answer.error


@pytest.mark.django_db(transaction=True)
def test_while_a_code_host_hangs_others_are_answered_and_mail_leaves(worker_of, projects, odd_server, smtp):
    odd, well = projects
    odd_server.oddity = "slow"
    of_code_hosts = worker_of("code-hosts", WEBHOOKS_MAY_BE_PRIVATE="1")
    worker_of("mail", "analysis")
    tasks.answer_pull_requests()
    wait_until(lambda: odd_server.asked[1:] and told(well) == 1)
    of_code_hosts.hang()
    nightly = make_project("nightly")
    call_command("subscribe", "--project=nightly", "dba@example.org")
    record_nights(nightly, [1.0] * 25 + [0.8] * 6)
    [mail] = smtp.wait_for(1)
    assert "MariaDB" in mail.subject
    of_code_hosts.go_on()
    # The whole call is over after its time, and the code host waits before it is asked again.
    assert wait_until(lambda: CodeHost.objects.get(project=odd).error, within=180)
    assert told(odd) == 0
    assert CodeHost.objects.get(project=odd).pk not in pull_requests.hosts_to_ask()
