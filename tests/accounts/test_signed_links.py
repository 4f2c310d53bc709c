"""Signed links: what they bind, when they end, and who makes them."""

from datetime import timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone

from benchdash.accounts.access import NOBODY, NotAllowed, Viewer
from benchdash.accounts.models import Project, Role
from benchdash.accounts.signed_links import (
    LinkEnded,
    NotSigned,
    end_signed_links,
    make_signed_query,
    require_signature,
)
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("quartz")


@pytest.fixture
def admin(project):
    return Viewer(user=make_user(member_of=project, role=Role.ADMIN))


def signed(project, admin, query="series=1&series=2&x=time", *, what="history", ends_at=None):
    return QueryDict(
        make_signed_query(project, what, QueryDict(query), ends_at=ends_at, by=admin), mutable=True
    )


def test_a_link_holds_at_any_size_and_in_both_themes(project, admin):
    query = signed(project, admin, "series=1&width=300")
    assert "width" not in query
    for more in ("", "&width=700&height=300&theme=dark", "&theme=light"):
        require_signature(project, "history", QueryDict(query.urlencode() + more))


@pytest.mark.parametrize(
    "change",
    [
        lambda query: query.update({"series": "3"}),
        lambda query: query.setlist("series", ["2", "1"]),
        lambda query: query.setlist("series", ["1"]),
        lambda query: query.update({"relative": "1"}),
        lambda query: query.pop("x"),
        lambda query: query.pop("ends"),
        lambda query: query.update({"ends": "never"}),
        lambda query: query.setlist("ends", ["99999999999"]),
        lambda query: query.pop("signature"),
        lambda query: query.setlist("signature", [""]),
        lambda query: query.setlist("signature", [query["signature"][:-1]]),
        lambda query: query.setlist("signature", [query["signature"].swapcase()]),
        lambda query: query.setlist("signature", [f"x:{query['signature']}"]),
        lambda query: query.setlist("signature", ["ä" * 43]),
        lambda query: query.setlist("series", ["1&series=2"]),
    ],
)
def test_a_changed_link_is_none(project, admin, change):
    query = signed(project, admin, ends_at=timezone.now() + timedelta(days=30))
    require_signature(project, "history", query)
    change(query)
    with pytest.raises(NotSigned):
        require_signature(project, "history", query)


def test_a_link_is_to_one_thing_of_one_project(project, admin):
    query = signed(project, admin)
    other = make_project("granite")
    # Even a project with the same mark has signatures of its own.
    Project.objects.filter(pk=other.pk).update(options=project.options)
    other.refresh_from_db()
    for where, what in ((project, "compare"), (project, "badge"), (other, "history")):
        with pytest.raises(NotSigned):
            require_signature(where, what, query)


def test_a_link_ends_in_time_or_with_all_others(project, admin):
    over = signed(project, admin, ends_at=timezone.now() - timedelta(seconds=2))
    with pytest.raises(LinkEnded):
        require_signature(project, "history", over)
    query = signed(project, admin)
    end_signed_links(project, by=admin)
    with pytest.raises(NotSigned):
        require_signature(Project.objects.get(), "history", query)
    require_signature(project, "history", signed(project, admin))
    with pytest.raises(NotSigned):
        require_signature(project, "history", query)


def test_links_are_made_and_ended_by_admins_and_that_is_logged(project, admin):
    member = Viewer(user=make_user("bob", member_of=project))
    for who in (member, NOBODY):
        with pytest.raises(NotAllowed):
            signed(project, who)
        with pytest.raises(NotAllowed):
            end_signed_links(project, by=who)
    assert not project.audit_entries.exists()
    query = signed(project, admin)
    end_signed_links(project, by=admin)
    ended, made = project.audit_entries.all()
    assert (made.action, made.subject) == ("signed link made", "history without an end")
    assert made.detail == {"address": "series=1&series=2&x=time&ends=never"}
    assert query["signature"] not in str(made.detail)
    assert ended.action == "signed links ended"
