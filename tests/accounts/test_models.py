import pytest
from django.db import IntegrityError

from benchdash.accounts.models import Membership, User
from tests.builders import PASSWORD, make_project, make_user

pytestmark = pytest.mark.django_db


def test_an_address_is_one_user_in_whatever_case():
    user = User.objects.create_user(" Alice@Example.ORG ", PASSWORD)
    assert user.email == "alice@example.org"
    assert user.check_password(PASSWORD)
    with pytest.raises(IntegrityError):
        User(email="ALICE@example.org").save()


def test_a_user_without_a_password_cannot_sign_in():
    assert not User.objects.create_user("alice@example.org").has_usable_password()


def test_a_user_is_once_a_member_of_a_project():
    project = make_project()
    alice = make_user("alice", member_of=project)
    with pytest.raises(IntegrityError):
        Membership.objects.create(project=project, user=alice)
