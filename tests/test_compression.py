"""What goes over the wire to who accepts gzip."""

import gzip
from itertools import count

import pytest
from django.http import HttpResponse, StreamingHttpResponse

from benchdash.compression import CompressionMiddleware

LONG = "workload " * 1000


def answer(response, rf, accepts="gzip, br"):
    return CompressionMiddleware(lambda _: response)(rf.get("/", headers={"Accept-Encoding": accepts}))


def test_a_long_text_is_packed_for_who_accepts_it(rf):
    packed = answer(HttpResponse(LONG), rf)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.content) == int(packed.headers["Content-Length"]) < len(LONG) / 10
    assert gzip.decompress(packed.content).decode() == LONG


def test_who_does_not_accept_it_gets_the_text_and_caches_are_told(rf):
    plain = answer(HttpResponse(LONG), rf, accepts="br")
    assert plain.content.decode() == LONG
    assert plain.headers["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in plain.headers


@pytest.mark.parametrize(
    "response",
    [HttpResponse("short"), HttpResponse(LONG, headers={"Content-Encoding": "br"})],
    ids=["short", "packed already"],
)
def test_what_would_not_get_smaller_stays_as_it_is(response, rf):
    before = response.content
    assert answer(response, rf).content == before


def test_a_stream_is_neither_held_back_nor_read(rf):
    read = count()
    response = answer(StreamingHttpResponse(LONG for _ in read), rf)
    assert "Content-Encoding" not in response.headers
    assert next(read) == 0


def test_the_length_of_the_same_answer_varies(rf):
    assert len({len(answer(HttpResponse(LONG), rf).content) for _ in range(20)}) > 1


def test_the_tag_of_other_bytes_is_weak(rf):
    response = HttpResponse(LONG, headers={"ETag": '"of the text"'})
    assert answer(response, rf).headers["ETag"] == 'W/"of the text"'
