"""What the bar offers to whom."""

import pytest
from django.http import HttpResponse, QueryDict
from django.urls import include, path

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Role
from benchdash.dashboard.shell.navigation import navigation, page_url, tabs
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db

NAMES = [
    "overview",
    "matrix",
    "history",
    "incidents",
    "incident",
    "articles",
    "uploads",
    "upload",
    "upload_new",
    "runs",
    "run",
    "versions",
    "hardware",
    "configurations",
    "workloads",
    "metrics",
    "share",
    "notifications",
    "audit",
    "tokens",
    "project_settings",
]


class EveryPage:
    urlpatterns = [
        path(
            "p/<slug:slug>/",
            include(([path(f"{name}/", lambda _: HttpResponse(), name=name) for name in NAMES], "dashboard")),
        )
    ]


@pytest.fixture(autouse=True)
def every_page(settings):
    settings.ROOT_URLCONF = EveryPage


def labels(links):
    return [link.label for link in links]


def test_anybody_is_offered_what_anybody_may_read():
    bar = navigation(make_project(public=True), NOBODY, "overview")
    assert labels(bar.main) == ["Overview", "Compare", "History", "Incidents", "Articles"]
    assert labels(bar.menu) == ["Uploads and runs", "Catalogue", "Badges and embeds"]
    assert bar.upload is None


def test_members_and_admins_are_offered_more():
    project = make_project()
    member = Viewer(user=make_user("bob", member_of=project))
    admin = Viewer(user=make_user("alice", member_of=project, role=Role.ADMIN))
    for viewer, first in ((member, "share"), (admin, "project_settings")):
        bar = navigation(project, viewer, "")
        assert labels(bar.menu) == ["Uploads and runs", "Catalogue", "Notifications", "Settings"]
        assert bar.menu[-1].url == page_url(first, project)
        assert bar.upload.url == page_url("upload_new", project)


def test_pages_of_one_destination_are_tabs_of_each_other():
    project = make_project()
    member = Viewer(user=make_user("bob", member_of=project))
    assert tabs(project, member, "notifications", QueryDict()) == []
    assert labels(tabs(project, member, "audit", QueryDict())) == ["Badges and embeds", "Audit log"]
    assert tabs(project, member, "overview", QueryDict()) == []
    assert tabs(make_project("open", public=True), NOBODY, "share", QueryDict()) == []


@pytest.mark.parametrize(
    ("page", "entry"),
    [
        *(("matrix", "Compare"), ("incident", "Incidents"), ("article_edit", "Articles")),
        *(("upload_change", "Uploads and runs"), ("run", "Uploads and runs"), ("metrics", "Catalogue")),
    ],
)
def test_a_page_is_marked_under_its_destination(page, entry):
    bar = navigation(make_project(public=True), NOBODY, page)
    assert [link.label for link in (*bar.main, *bar.menu) if link.is_current] == [entry]


def test_an_address_leaves_out_what_is_empty_and_escapes_the_rest():
    project = make_project("nightly")
    assert page_url("history", project, workload="a b&c", branch="") == "/p/nightly/history/?workload=a+b%26c"


def test_a_page_that_moved_is_found_where_it_is_now(settings):
    project = make_project("nightly")
    assert page_url("versions", project) == "/p/nightly/versions/"
    settings.ROOT_URLCONF = type(
        "Moved",
        (),
        {
            "urlpatterns": [
                path(
                    "elsewhere/<slug:slug>/",
                    include(([path("", lambda _: HttpResponse(), name="versions")], "dashboard")),
                )
            ]
        },
    )
    assert page_url("versions", project) == "/elsewhere/nightly/"
