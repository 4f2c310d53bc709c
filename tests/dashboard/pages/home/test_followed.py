"""The projects that a person follows stand first where they need somebody."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.following import follow, followed_projects
from benchdash.accounts.models import Role
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

STEADY = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4


def nights(project, values, **fields):
    start = timezone.now() - timedelta(days=len(values) - 1, hours=5)
    make_series(values, project=project, branch="main", start=start, **fields)


def test_members_follow_their_projects_unless_they_said_no():
    own, other = make_project("own"), make_project("other", public=True)
    hidden = make_project("hidden")
    viewer = Viewer(user=make_user(member_of=own))
    assert list(followed_projects(viewer)) == [own]
    follow(own, by=viewer, is_wanted=False)
    follow(other, by=viewer)
    follow(hidden, by=viewer)
    assert list(followed_projects(viewer)) == [other]
    assert not followed_projects(Viewer()).exists()


def test_the_page_that_it_was_leads_to_it(client):
    assert client.get("/my-morning/").headers["Location"] == "/"


def test_projects_that_need_somebody_come_first(client):
    quiet, broken = make_project("a-quiet"), make_project("broken")
    alice = make_user(member_of=quiet)
    broken.memberships.create(user=alice, role=Role.READER)
    nights(quiet, STEADY)
    nights(broken, [*STEADY, *(0.7 * value for value in STEADY[:7])])
    analyse_touched()
    client.force_login(alice)
    text = text_of(client.get("/"))
    assert (
        text.index("1 new: oltp_read_only −30.")
        < text.index("Other projects")
        < text.index("nothing new, nothing open.")
    )
    assert "MariaDB main in oltp_read_only, 1 of 1 series, since" in text
    assert "nobody has it" in text


def test_any_number_of_projects_takes_the_same_statements(client, django_assert_max_num_queries):
    alice = make_user(member_of=make_project("first"))
    client.force_login(alice)
    with django_assert_max_num_queries(11):
        client.get("/")
    for slug in ("second", "third"):
        project = make_project(slug)
        project.memberships.create(user=alice, role=Role.READER)
        nights(project, [*STEADY, *(0.7 * value for value in STEADY[:7])])
    analyse_touched()
    with django_assert_max_num_queries(11):
        client.get("/")
