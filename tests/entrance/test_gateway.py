"""Requests as Django gets them, and answers as it gives them."""

from io import BytesIO

import pytest

from benchdash.entrance.gateway import call, environ_of


def scope(path=b"/", query=b"", headers=()):
    return {
        "type": "http",
        "method": "GET",
        "http_version": "1.1",
        "scheme": "http",
        "raw_path": path,
        "query_string": query,
        "headers": list(headers),
        "client": ("10.0.0.1", 4711),
        "server": ("127.0.0.1", 8000),
    }


def test_the_environment_is_that_of_any_server():
    environ = environ_of(scope(b"/p/caf%C3%A9/", b"a=%20b", [(b"host", b"bench.example.org")]))
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/p/café/"
    assert (environ["QUERY_STRING"], environ["HTTP_HOST"]) == ("a=%20b", "bench.example.org")
    assert (environ["REMOTE_ADDR"], environ["SERVER_PORT"]) == ("10.0.0.1", "8000")
    assert environ["SERVER_PROTOCOL"] == "HTTP/1.1"


def test_bytes_that_are_no_text_reach_django_as_they_are():
    assert environ_of(scope(b"/%ff/"))["PATH_INFO"] == "/\xff/"


def test_headers_of_one_name_are_joined_and_an_underscore_passes_for_nothing():
    environ = environ_of(
        scope(
            headers=[
                (b"x-forwarded-for", b"10.0.0.2"),
                (b"x_forwarded_for", b"10.0.0.66"),
                (b"x-forwarded-for", b"10.0.0.3"),
                (b"cookie", b"a=1"),
                (b"cookie", b"b=2"),
                (b"content-type", b"text/plain"),
                (b"content_length", b"7"),
            ]
        )
    )
    assert environ["HTTP_X_FORWARDED_FOR"] == "10.0.0.2,10.0.0.3"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"
    assert environ["CONTENT_TYPE"] == "text/plain"
    assert "CONTENT_LENGTH" not in environ
    assert not any("66" in str(value) for value in environ.values())


def test_an_answer_is_put_together_and_closed():
    class Parts(list):
        is_closed = False

        def close(self):
            self.is_closed = True

    parts = Parts([b"one ", b"two"])

    def application(environ, start_response):
        assert environ["wsgi.input"].read() == b"body"
        start_response("201 Created", [("Set-Cookie", " a=1"), ("X-Kind", "test")])
        return parts

    answer = call(application, environ_of(scope()), BytesIO(b"body"))
    assert (answer.status, answer.content, answer.size) == (201, b"one two", 7)
    assert answer.headers[:2] == [(b"Set-Cookie", b"a=1"), (b"X-Kind", b"test")]
    assert parts.is_closed


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_file_is_left_to_be_read_by_who_sends_it(method):
    content = BytesIO(b"12345")

    def application(environ, start_response):
        start_response("200 OK", [("Content-Length", "5")])
        return environ["wsgi.file_wrapper"](content, 4096)

    answer = call(application, {**environ_of(scope()), "REQUEST_METHOD": method}, BytesIO())
    assert (answer.content, answer.size, content.closed) == (b"", 5, method == "HEAD")
    if answer.file:
        assert (answer.file.read(3), answer.file.read(3)) == (b"123", b"45")
