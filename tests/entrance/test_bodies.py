"""How large a body may be, for whom and where."""

import pytest
from django.test import Client, RequestFactory
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated

from benchdash.accounts.access import NotAllowed, NotVisible
from benchdash.accounts.models import Role, Scope
from benchdash.entrance.bodies import MAX_STRANGER_BYTES, UPLOAD_SLACK_BYTES, declared_bytes, limit_for
from ingest.errors import FileTooLargeError
from tests.builders import make_project, make_token, make_user

pytestmark = pytest.mark.django_db

API, PAGE, ELSEWHERE = "/api/v1/uploads/", "/p/mine/uploads/new/", "/api/v1/subscriptions/"


@pytest.fixture
def project():
    return make_project("mine")


def request(path, *, token=None, user=None, method="POST"):
    made = RequestFactory().generic(method, path)
    if token:
        made.META["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    if user:
        client = Client()
        client.force_login(user)
        made.COOKIES["sessionid"] = client.cookies["sessionid"].value
    return made


def most(settings):
    return settings.UPLOAD_MAX_BYTES + UPLOAD_SLACK_BYTES


def test_a_stranger_sends_little_and_is_not_even_looked_up(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert limit_for(request(ELSEWHERE), MAX_STRANGER_BYTES) == MAX_STRANGER_BYTES
        assert limit_for(request(API, token="bd_wrong"), 100) == MAX_STRANGER_BYTES
    with pytest.raises(FileTooLargeError, match="larger than 65536 bytes"):
        limit_for(request(ELSEWHERE), MAX_STRANGER_BYTES + 1)


def test_who_is_known_sends_more_and_nowhere_a_large_file(project, settings):
    member = make_user(member_of=project)
    for known in ({"token": make_token(project)}, {"user": member}):
        usual = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        assert limit_for(request(ELSEWHERE, **known), usual) == usual
        for elsewhere in (
            request(ELSEWHERE, **known),
            request("/nothing/", **known),
            request(API, method="PUT", **known),
            request(f"{API}1/", **known),
        ):
            with pytest.raises(FileTooLargeError):
                limit_for(elsewhere, usual + 1)


def test_who_may_upload_sends_large_files_where_they_are_uploaded(project, settings):
    member = make_user(member_of=project)
    for allowed in (
        request(API, token=make_token(project)),
        request(API, user=member),
        request(API, user=make_user("root", is_superuser=True)),
        request(PAGE, user=member),
    ):
        assert limit_for(allowed, most(settings)) == most(settings)
        with pytest.raises(FileTooLargeError):
            limit_for(allowed, most(settings) + 1)


def test_who_may_not_upload_is_told_so(project, settings):
    reader = make_user("reader", member_of=project, role=Role.READER)
    gone = make_user("gone", member_of=project, is_active=False)
    for path, sender, expected in [
        (API, {}, NotAuthenticated),
        (PAGE, {}, NotAuthenticated),
        (PAGE, {"user": gone}, NotAuthenticated),
        (API, {"token": "bd_wrong"}, AuthenticationFailed),
        (API, {"token": make_token(project, Scope.READ)}, NotAllowed),
        (API, {"user": reader}, NotAllowed),
        (PAGE, {"user": reader}, NotAllowed),
        (PAGE, {"user": make_user("stranger")}, NotVisible),
    ]:
        with pytest.raises(expected):
            limit_for(request(path, **sender), most(settings))


@pytest.mark.parametrize(
    ("said", "bytes_"), [("12", 12), ("+12", 12), ("", 0), (None, 0), ("1e9", 0), ("9" * 5000, 0)]
)
def test_a_length_is_what_django_takes_for_one(said, bytes_):
    assert declared_bytes({"CONTENT_LENGTH": said}) == bytes_
