"""What is too large is refused before anything reads it, under any server."""

import pytest
from django.test import Client

from tests.builders import make_project, make_token

pytestmark = pytest.mark.django_db

LENGTH = 600 * 2**20


class Untouched:
    """A body that nobody may read."""

    def read(self, *_size):
        raise AssertionError("the body was read")

    readline = read


def post(path, length=LENGTH, **headers):
    client = Client(headers=headers)
    kind = "multipart/form-data; boundary=b"
    return client.generic("POST", path, b"", kind, CONTENT_LENGTH=str(length), **{"wsgi.input": Untouched()})


@pytest.mark.parametrize("path", ["/sign-in/", "/admin/login/", "/p/mine/members/", "/nothing/"])
def test_a_page_refuses_a_large_body_by_a_sentence(path):
    answer = post(path)
    assert answer.status_code == 413
    assert answer.content == b"Request Entity Too Large: the request is larger than 65536 bytes\n"
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert "default-src" in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_api_refuses_it_by_problem_details():
    token = make_token(make_project())
    for path, headers, expected in [
        ("/api/v1/uploads/", {}, 401),
        ("/api/v1/uploads/", {"Authorization": "Bearer bd_wrong"}, 401),
        ("/api/v1/uploads/", {"Authorization": f"Bearer {token}"}, 413),
        ("/api/v1/subscriptions/", {}, 413),
    ]:
        answer = post(path, **headers)
        assert answer.status_code == answer.json()["status"] == expected
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.headers.get("WWW-Authenticate") == ("Bearer" if expected == 401 else None)


def test_a_form_of_the_usual_size_is_read():
    answer = Client().post("/sign-in/", {"username": "nobody@example.org", "password": "x" * 100})
    assert answer.status_code == 200
