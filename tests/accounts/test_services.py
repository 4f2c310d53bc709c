from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from benchdash.accounts.access import NotAllowed, Viewer
from benchdash.accounts.models import AuditEntry, Membership, Project, Scope, Token
from benchdash.accounts.services import (
    LastAdminError,
    change_project,
    create_project,
    create_token,
    find_token,
    remove_member,
    revoke_token,
    set_role,
)
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def alice(project):
    return Viewer(user=make_user("alice", member_of=project))


def test_a_project_is_private_and_called_by_its_slug_unless_said_otherwise():
    assert (create_project("nightly").visibility, create_project("watch").name) == ("private", "watch")
    assert create_project("open", name="Open results", public=True).is_public


@pytest.mark.parametrize("slug", ["", "two words", "../etc", "x" * 51, "taken"])
def test_a_slug_that_is_malformed_or_taken_is_refused(slug):
    create_project("taken")
    with pytest.raises(ValidationError):
        create_project(slug)
    assert Project.objects.count() == 1


def test_who_makes_a_project_is_its_admin_and_in_the_audit_log():
    root = make_user("root", is_superuser=True)
    made = create_project("nightly", by=Viewer(user=root))
    assert [(one.project, one.user, one.role) for one in Membership.objects.all()] == [(made, root, "admin")]
    assert [(one.action, one.user) for one in AuditEntry.objects.all()] == [("project made", root)]


def test_superusers_make_projects_and_others_where_everyone_may(settings):
    alice = Viewer(user=make_user("alice"))
    create_token(create_project("there"), "ci", [Scope.ADMIN])
    for nobody in (alice, Viewer(), Viewer(token=Token.objects.get())):
        with pytest.raises(NotAllowed):
            create_project("nightly", by=nobody)
    settings.PROJECTS_MADE_BY = "everyone"
    create_project("nightly", by=alice)
    for nobody in (Viewer(), Viewer(token=Token.objects.get())):
        with pytest.raises(NotAllowed):
            create_project("other", by=nobody)


def test_the_secret_of_a_token_is_given_once_and_only_its_hash_is_kept(project, alice):
    token, secret = create_token(project, "nightly", [Scope.UPLOAD], by=alice)
    assert secret.startswith("bd_")
    assert len(secret) > 40
    stored = str(Token.objects.values().get()) + str(AuditEntry.objects.values().get())
    assert secret not in stored
    assert secret[11:] not in stored
    assert token.prefix == secret[:10]


def test_a_token_is_found_by_its_secret_until_it_is_revoked(project, alice):
    token, secret = create_token(project, "nightly", [Scope.UPLOAD])
    assert find_token(secret) == token
    assert find_token(secret[:-1]) is None
    assert find_token("") is None
    revoke_token(token, by=alice)
    assert find_token(secret) is None


def test_two_tokens_never_share_a_secret(project):
    secrets = {create_token(project, "nightly", [Scope.READ])[1] for _ in range(20)}
    assert len(secrets) == 20


@pytest.mark.parametrize(("name", "scopes"), [("", ["read"]), (" ", ["read"]), ("x", ["root"]), ("x", [])])
def test_a_token_without_a_name_or_with_unknown_scopes_is_refused(project, name, scopes):
    with pytest.raises(ValidationError):
        create_token(project, name, scopes)
    assert not Token.objects.exists()


def test_making_and_revoking_a_token_are_in_the_audit_log(project, alice):
    token, _ = create_token(project, "nightly", [Scope.UPLOAD, Scope.READ], by=alice)
    revoke_token(token, by=alice)
    entries = AuditEntry.objects.order_by("pk")
    assert [(entry.action, entry.user) for entry in entries] == [
        ("token created", alice.user),
        ("token revoked", alice.user),
    ]
    assert entries[0].detail == {"scopes": ["read", "upload"], "expires": "never"}


def test_the_use_of_a_token_is_stamped_once_a_minute(project, django_assert_num_queries):
    token, secret = create_token(project, "nightly", [Scope.UPLOAD])
    find_token(secret)
    token.refresh_from_db()
    assert timezone.now() - token.last_used_at < timedelta(minutes=1)
    with django_assert_num_queries(1):
        find_token(secret)
    Token.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    with django_assert_num_queries(2):
        find_token(secret)


# --- projects and members -----------------------------------------------------------------------------------


def test_a_changed_project_is_in_the_audit_log_with_what_it_was(project, alice):
    changes = {"name": "Nightly runs", "visibility": "public", "notice": project.notice}
    change_project(project, changes, by=alice)
    project.refresh_from_db()
    assert (project.name, project.is_public) == ("Nightly runs", True)
    detail = {"name": f"{project.slug} → Nightly runs", "visibility": "private → public"}
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.user, entry.detail) == ("project changed", alice.user, detail)
    change_project(project, changes, by=alice)
    assert AuditEntry.objects.count() == 1


def test_a_project_is_not_changed_to_what_it_cannot_be(project, alice):
    with pytest.raises(ValidationError):
        change_project(project, {"visibility": "secret"}, by=alice)
    project.refresh_from_db()
    assert not project.is_public


def test_a_member_gets_a_role_and_another_one_and_is_removed(project, alice):
    bob = make_user("bob")
    set_role(project, bob, "reader", by=alice)
    set_role(project, bob, "member", by=alice)
    set_role(project, bob, "member", by=alice)
    membership = bob.memberships.get()
    assert membership.role == "member"
    remove_member(membership, by=alice)
    assert not bob.memberships.exists()
    entries = AuditEntry.objects.order_by("pk").values_list("action", "subject", "detail")
    assert list(entries) == [
        ("member changed", "bob@example.org", {"role": "no member → reader"}),
        ("member changed", "bob@example.org", {"role": "reader → member"}),
        ("member removed", "bob@example.org", {"role": "member"}),
    ]


def test_the_only_admin_stays_until_there_is_another(project, alice):
    membership = set_role(project, alice.user, "admin", by=alice)
    with pytest.raises(LastAdminError, match="is the only admin"):
        set_role(project, alice.user, "member", by=alice)
    with pytest.raises(LastAdminError, match="is the only admin"):
        remove_member(membership, by=alice)
    set_role(project, make_user("bob"), "admin", by=alice)
    remove_member(membership, by=alice)
    assert not alice.user.memberships.exists()
