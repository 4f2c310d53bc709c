import pytest
from django.test import RequestFactory
from rest_framework.exceptions import AuthenticationFailed

from benchdash.accounts.access import Viewer
from benchdash.accounts.authentication import TokenAuthentication
from benchdash.accounts.models import Token
from benchdash.accounts.services import revoke_token
from tests.builders import make_project, make_token, make_user

pytestmark = pytest.mark.django_db


def authenticate(header=None):
    request = RequestFactory().get("/", **({"HTTP_AUTHORIZATION": header} if header is not None else {}))
    return TokenAuthentication().authenticate(request)


def test_a_bearer_token_acts_for_its_project_and_for_no_user():
    project = make_project()
    user, token = authenticate(f"Bearer {make_token(project)}")
    assert user.is_anonymous
    assert token.project == project
    assert authenticate(f"bearer {make_token(project)}")[1].project == project


@pytest.mark.parametrize("header", [None, "", "Basic YTpi", "Token x"])
def test_other_headers_are_left_to_others(header):
    assert authenticate(header) is None


@pytest.mark.parametrize("secret", ["", "bd_unknown", "a b", "\xff"])
def test_an_unknown_token_is_refused(secret):
    with pytest.raises(AuthenticationFailed, match="the token is unknown or was revoked"):
        authenticate(f"Bearer {secret}")


def test_a_revoked_token_is_refused():
    secret = make_token(make_project())
    revoke_token(Token.objects.get(), by=Viewer(user=make_user("alice")))
    with pytest.raises(AuthenticationFailed):
        authenticate(f"Bearer {secret}")
