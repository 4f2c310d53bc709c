"""Bytes become text once, or are refused with the line that is to blame."""

import pytest

from ingest.formats.report import FormatError
from ingest.formats.source import HEAD_BYTES, Source


def refusal(data):
    with pytest.raises(FormatError) as error:
        Source(data).text  # noqa: B018 - reading it is what fails
    return error.value.line, error.value.message


@pytest.mark.parametrize("data", [b"", b" \t\r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_file_of_nothing_but_blanks_is_empty(data):
    assert refusal(data) == (None, "the file is empty")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_by_name_or_for_its_nul_bytes(encoding):
    line, message = refusal("tps: 1\n".encode(encoding))
    assert line == 1
    assert ("UTF-16" in message) == (encoding == "utf-16")


def test_a_nul_byte_is_refused_with_its_line():
    assert refusal(b"one\ntwo\nth\0ree\n") == (3, "a NUL byte: this is not a text file")


def test_latin_1_is_refused_with_the_line_of_its_first_odd_byte():
    assert refusal("eins\nzwei\nfünf\n".encode("latin-1"))[0] == 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_the_same_whatever_ends_them(end):
    source = Source(end.join(["eins", "", "fünf", ""]).encode())
    assert source.lines == ["eins", "", "fünf"]
    assert source.ends_with_newline


def test_a_last_line_without_its_end_is_a_line():
    source = Source(b"one\ntwo")
    assert source.lines == ["one", "two"]
    assert not source.ends_with_newline


def test_a_byte_order_mark_is_no_text():
    source = Source(b"\xef\xbb\xbfone\n")
    assert source.text == "one\n"
    assert source.head == b"one\n"


def test_the_head_is_the_first_64_kb():
    assert Source(b"x" * 100_000).head == b"x" * HEAD_BYTES
    assert HEAD_BYTES == 65_536


def test_only_line_feeds_end_lines():
    assert Source("a\u2028b\x0bc\x85d\n".encode()).lines == ["a\u2028b\x0bc\x85d"]
