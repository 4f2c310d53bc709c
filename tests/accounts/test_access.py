"""Alice owns the private project, Bob is a member, Rita reads, Charlie must see nothing."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from benchdash.accounts.access import NOBODY, NotAllowed, NotVisible, Viewer, viewer_of
from benchdash.accounts.models import Membership, Role, Scope, Token
from benchdash.accounts.services import create_token
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db

ALL = {"read", "upload", "triage", "admin"}


@pytest.fixture
def private():
    return make_project("private")


@pytest.fixture
def public():
    return make_project("public", public=True)


@pytest.fixture
def viewers(private, public):
    def token(project, *scopes):
        return Viewer(token=create_token(project, "nightly", scopes)[0])

    return {
        "alice": Viewer(user=make_user("alice", member_of=private, role=Role.ADMIN)),
        "bob": Viewer(user=make_user("bob", member_of=private)),
        "rita": Viewer(user=make_user("rita", member_of=private, role=Role.READER)),
        "charlie": Viewer(user=make_user("charlie")),
        "nobody": NOBODY,
        "root": Viewer(user=make_user("root", is_superuser=True)),
        "upload token": token(private, Scope.UPLOAD),
        "read token": token(private, Scope.READ),
        "triage token": token(private, Scope.TRIAGE),
        "admin token": token(private, Scope.ADMIN),
        "foreign token": token(public, *Scope.values),
    }


@pytest.mark.parametrize(
    ("who", "sees", "may"),
    [
        ("alice", True, ALL),
        ("bob", True, {"read", "upload", "triage"}),
        ("rita", True, {"read"}),
        ("charlie", False, set()),
        ("nobody", False, set()),
        ("root", True, ALL),
        ("upload token", False, {"upload"}),
        ("read token", True, {"read"}),
        ("triage token", True, {"read", "triage"}),
        ("admin token", True, {"read", "triage", "admin"}),
        ("foreign token", False, set()),
    ],
)
def test_who_sees_a_private_project_and_may_do_what(viewers, private, public, who, sees, may):
    viewer = viewers[who]
    assert (private in viewer.projects()) == sees
    assert public in viewer.projects()
    assert {scope for scope in Scope.values if viewer.may(scope, private)} == may
    assert viewer.is_member(private) == ("read" in may)
    of_scope = {scope for scope in Scope.values if private.pk in viewer.project_ids(scope)}
    assert of_scope == may


def test_a_token_that_sends_is_told_what_it_lacks_to_read_its_own_project(viewers, private):
    viewer = viewers["upload token"]
    with pytest.raises(NotAllowed, match="this needs the scope 'read' in the project 'private'"):
        viewer.project("private")
    assert viewer.project_as_sender("private") == private
    assert viewer.sending_token == viewer.token
    assert viewers["read token"].sending_token is None
    with pytest.raises(NotVisible):
        viewers["foreign token"].project_as_sender("private")


@pytest.mark.parametrize("who", ["charlie", "nobody", "foreign token"])
def test_a_project_that_one_may_not_see_is_like_one_that_does_not_exist(viewers, private, who):
    sentences = []
    for slug in ("private", "missing"):
        with pytest.raises(NotVisible) as error:
            viewers[who].project(slug)
        sentences.append(str(error.value).replace(slug, "it"))
    assert sentences[0] == sentences[1]


@pytest.mark.parametrize(
    ("who", "may"),
    [("nobody", set()), ("charlie", set()), ("upload token", set()), ("bob", set()), ("foreign token", ALL)],
)
def test_anyone_reads_a_public_project_and_only_its_own_change_it(viewers, public, who, may):
    viewer = viewers[who]
    assert viewer.project("public") == public
    assert {scope for scope in Scope.values if viewer.may(scope, public)} == may
    assert viewer.is_member(public) == ("read" in may)


def test_what_one_may_not_do_is_refused_with_the_scope_that_it_needs(viewers, private):
    viewers["bob"].require(Scope.TRIAGE, private)
    with pytest.raises(NotAllowed, match="this needs the scope 'admin' in the project 'private'"):
        viewers["bob"].require(Scope.ADMIN, private)


def test_a_project_with_several_members_is_listed_once(viewers, private, public):
    assert list(viewers["alice"].projects().order_by("slug")) == [private, public]
    Membership.objects.create(project=public, user=viewers["alice"].user)
    assert list(viewers["alice"].projects().order_by("slug")) == [private, public]


def test_a_member_who_is_removed_sees_nothing_in_the_next_request(viewers, private):
    bob = viewers["bob"].user
    Membership.objects.filter(user=bob).delete()
    assert private not in Viewer(user=bob).projects()
    assert not Viewer(user=bob).may(Scope.READ, private)


def test_a_token_without_scopes_sees_no_private_project(private):
    viewer = Viewer(token=Token(project=private, scopes=[]))
    assert private not in viewer.projects()


def test_the_viewer_of_a_request_is_its_token_its_user_or_nobody(private):
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    assert viewer_of(request) == NOBODY
    assert viewer_of(request).is_anonymous
    request.user = make_user("alice")
    assert viewer_of(request).user == request.user
    request.user = make_user("gone", is_active=False)
    assert viewer_of(request) == NOBODY
    request.auth = create_token(private, "nightly", [Scope.READ])[0]
    assert viewer_of(request) == Viewer(token=request.auth)
