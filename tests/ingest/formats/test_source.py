"""Bytes become text once, or are refused with the line that is to blame."""

import pytest

from ingest.formats.limits import Limits
from ingest.formats.report import FormatError
from ingest.formats.source import HEAD_BYTES, Source


def refusal(data, **limits):
    with pytest.raises(FormatError) as error:
        len(Source(data, limits=Limits(**limits)).lines)
    return error.value.line, error.value.message


# --- encodings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [b"", b" \t\r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\xff\xfe", "\n ".encode("utf-16"), b"\xc2\xa0"],
)
def test_a_file_of_nothing_but_blanks_is_empty(data):
    assert refusal(data) == (None, "the file is empty")


ODD = "not UTF-8; lines that are not were read as Windows-1252"
CUT = "the file ends within a character; it may be cut off"
COLOURS = "taken away from the lines before they were read: terminal colours"


@pytest.mark.parametrize(
    ("data", "lines", "warnings"),
    [
        (b"\xef\xbb\xbfone\n", ["one"], []),
        ("\ufefftps: 1 ±\r\nfünf 🐘\r\n".encode("utf-16-le"), ["tps: 1 ±", "fünf 🐘"], []),
        ("\ufefftps: 1 ±\r\nfünf 🐘\r\n".encode("utf-16-be"), ["tps: 1 ±", "fünf 🐘"], []),
        *[
            ("\ufeffone\ntwo 🐘".encode("utf-16-le")[:-cut], ["one", "two "], [f"line 2: {CUT}"])
            for cut in (1, 2, 3)
        ],
        *[("± one\ntwo 🐘".encode()[:-cut], ["± one", "two "], [f"line 2: {CUT}"]) for cut in (1, 2, 3)],
        ("Score\n42 ± 3 €\n43 €\n".encode("cp1252"), ["Score", "42 ± 3 €", "43 €"], [f"line 2: {ODD}"]),
        (
            "42 ±\n".encode() + b"caf\xe9\n" + "≈ 10⁻⁶\n".encode(),
            ["42 ±", "café", "≈ 10⁻⁶"],
            [f"line 2: {ODD}"],
        ),
        (b"a\x81b\n", ["a\N{REPLACEMENT CHARACTER}b"], [f"line 1: {ODD}"]),
        (b"\x1b[31mred\x1b[0m\a\b\f\v\t\n", ["red\a\b\f\v\t"], [COLOURS]),
    ],
)
def test_bytes_become_lines_of_text(data, lines, warnings):
    source = Source(data)
    assert source.lines == lines
    assert source.head.decode() == source.text
    assert source.text.splitlines() == "\n".join(lines).splitlines()
    assert list(source.warnings) == warnings


NUL = "a NUL byte: this is not a text file"


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        ("tps: 1\n".encode("utf-16-le"), 1, NUL),
        ("tps: 1\n".encode("utf-16-be"), 1, NUL),
        (b"one\ntwo\nth\0ree\n", 3, NUL),
        (b"one\r\ntwo\x01\r\n", 2, "a control character (0x01): this is not a text file"),
        (b"\x1f\x8b\x08 zipped", 1, "a control character (0x1f): this is not a text file"),
        (
            b"\xff\xfe" + "one\n".encode("utf-16-le") + b"\x00\xdc" + "three\n".encode("utf-16-le"),
            1,
            "the UTF-16 breaks; save the file as UTF-8 and send it again",
        ),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(data, line, message):
    assert refusal(data) == (line, message)


# --- lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_the_same_whatever_ends_them(end):
    source = Source(end.join(["eins", "", "fünf", ""]).encode())
    assert source.lines == ["eins", "", "fünf"]
    assert source.head == "eins\n\nfünf\n".encode()
    assert source.ends_with_newline


def test_a_last_line_without_its_end_is_a_line():
    source = Source(b"one\ntwo")
    assert source.lines == ["one", "two"]
    assert not source.ends_with_newline


def test_only_line_feeds_and_carriage_returns_end_lines():
    assert Source("a\u2028b\x0bc\x85d\n".encode()).lines == ["a\u2028b\x0bc\x85d"]


def test_the_head_is_the_first_64_kb():
    assert Source(b"x" * 100_000).head == b"x" * HEAD_BYTES
    assert Source("x".encode("utf-16") * 1 + "x".encode("utf-16-le") * 100_000).head == b"x" * HEAD_BYTES
    assert HEAD_BYTES == 65_536


def test_a_message_counts_all_lines_of_the_file():
    lines = [f"line {number}" for number in range(1, 101)]
    assert refusal("\r\n".join([*lines, "\0"]).encode())[0] == 101
    odd = Source("\r\n".join([*lines, "±"]).encode("latin-1"))
    assert odd.warnings[0].startswith("line 101: not UTF-8")
    assert odd.text.endswith("line 100\n±")


# --- limits -------------------------------------------------------------------------------------------------


def test_a_file_beyond_the_limit_is_refused():
    assert refusal(b"x\n" * 50, file_bytes=99) == (
        None,
        "the file has 100 bytes, more than 99 (RESULT_FILE_MAX_BYTES); send what is in it as several files",
    )


@pytest.mark.parametrize("json_bytes", [10, 1000])
def test_a_line_beyond_the_limit_is_refused_with_its_number(json_bytes):
    assert refusal(b"one\n" + b"x" * 30, line_bytes=20, json_bytes=json_bytes) == (
        2,
        "a line of 30 bytes, more than 20 (RESULT_LINE_MAX_BYTES): a tool does not print such lines",
    )


def test_json_may_be_one_long_line():
    source = Source(b"[" + b"1, " * 30 + b"1]", limits=Limits(line_bytes=20))
    assert source.text.startswith("[1, 1")


def test_a_file_of_too_many_lines_is_refused():
    assert refusal(b"x\n" * 50, lines=49) == (
        None,
        "the file has 50 lines, more than 49 (RESULT_MAX_LINES); send what is in it as several files",
    )
