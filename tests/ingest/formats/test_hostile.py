"""Every format on what people send by mistake, and on what nobody should send."""

import re
from itertools import islice

import pytest

from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from tests.ingest.formats.real_files import (
    ONE_RESULT_A_LINE,
    accepted,
    each_of,
    format_of,
    read,
    recognised_by,
    understood,
)
from tests.ingest.formats.storing import check_imported

EVERY_FORMAT = [*FORMATS, *COMPANION_FORMATS]
ACCEPTED = accepted()
# Numbers as no tool measures them.
IMPOSSIBLE = [
    "NaN",
    "nan",
    "Infinity",
    "-Infinity",
    "inf",
    "-1",
    "1e999",
    "1e-999",
    "-0.0",
    "9" * 400,
    "9" * 5000,
    "١٢٣",
    "²",
    "1_000",
    "0x10",
    "",
]
NUMBER = re.compile(rb"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")
# Long files are tried at fewer places.
BYTES_PER_TEST = 400_000
MOST_PLACES = 20


def text_of(path):
    return path.read_bytes().replace(b"\r\n", b"\n")


def readings_of(name, data):
    """Metric and value of everything that is read, None where the file is refused."""
    report = understood(name, data)
    if report is None:
        return None
    runs = [run.readings for run in report.found[0]] if name in FORMATS else [report.found[1]]
    return [(reading.metric, reading.value) for readings in runs for reading in readings]


def replaced_in_turn(data, pattern, replacement):
    """The file with one place replaced after another, at most twenty of them."""
    places = list(pattern.finditer(data))
    most = min(max(BYTES_PER_TEST // len(data), 1), MOST_PLACES)
    for place in places[:: len(places) // most + 1]:
        start, stop = place.span()
        yield data[:start] + replacement(place.group()) + data[stop:]


# --- hardly a file ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_an_empty_file_is_refused(name):
    for data in (b"", b"\n", b" \t\r\n" * 1000, b"\xef\xbb\xbf", b"\xff\xfe"):
        assert understood(name, data) is None, data[:20]


def has_a_banner(path):
    """Whether its first line cannot be all there is."""
    return format_of(path) not in ONE_RESULT_A_LINE | COMPANION_FORMATS.keys()


@each_of(filter(has_a_banner, ACCEPTED))
def test_a_banner_alone_is_no_result(path):
    name = format_of(path)
    banner = understood(name, text_of(path).partition(b"\n")[0] + b"\n")
    assert banner is None or banner.found == read(name, text_of(path)).found


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_next_to_nothing_is_refused_or_says_nothing_wrong(name):
    for data in (b"x", b"0", b"\n\n0\n", b",\n", b"\t\n1\t1\n", b"[]", b"{}", b"null", b'""'):
        check_imported(name, data)


# --- other ways to write the same ---------------------------------------------------------------------------


@each_of(ACCEPTED)
def test_other_line_ends_change_nothing(path):
    name, data = format_of(path), text_of(path)
    for line_end in (b"\r\n", b"\r"):
        other = data.replace(b"\n", line_end)
        assert read(name, other) == read(name, data), line_end
        assert recognised_by(other) == [name], line_end


@each_of(ACCEPTED)
def test_other_encodings_with_their_mark_change_nothing(path):
    name, text = format_of(path), text_of(path).decode()
    for encoding, mark in (("utf-16", ""), ("utf-16-be", "\ufeff"), ("utf-8-sig", "")):
        other = (mark + text.replace("\n", "\r\n")).encode(encoding)
        assert read(name, other) == read(name, text.encode()), encoding
        assert recognised_by(other) == [name], encoding


def is_latin_1(path):
    """Whether it has characters beyond ASCII, all of which Latin-1 has."""
    text = path.read_bytes().decode()
    return not text.isascii() and max(text) <= "\xff"


@each_of(filter(is_latin_1, ACCEPTED))
def test_latin_1_is_read_with_a_warning(path):
    name, text = format_of(path), text_of(path).decode()
    other = text.encode("latin-1")
    assert read(name, other).found == read(name, text.encode()).found
    assert any("Windows-1252" in warning for warning in read(name, other).warnings)
    assert recognised_by(other) == [name]


@each_of(ACCEPTED)
def test_a_nul_byte_anywhere_is_refused(path):
    name, data = format_of(path), text_of(path)
    for place in range(0, len(data), max(len(data) // 10, 1)):
        assert understood(name, data[:place] + b"\0" + data[place:]) is None


@each_of(ACCEPTED)
def test_decimal_commas_never_change_a_number(path):
    name, data = format_of(path), text_of(path)
    commas = NUMBER.sub(lambda number: number.group().replace(b".", b","), data)
    whole, found = readings_of(name, data), readings_of(name, commas)
    for metric, value in found or ():
        # A figure that is computed otherwise from fewer digits is near all the same.
        near = [number for one, number in whole if one == metric and value == pytest.approx(number, rel=0.02)]
        assert near, f"{metric} became {value}"


# --- values that nothing measures ---------------------------------------------------------------------------


@each_of(ACCEPTED)
def test_numbers_that_nothing_measures_are_refused_or_left_out(path):
    check_impossible_numbers(path, share=8)


@pytest.mark.slow
@each_of(ACCEPTED)
def test_each_number_that_nothing_measures_is_refused_or_left_out_at_each_place(path):
    check_impossible_numbers(path, share=1)


def check_impossible_numbers(path, *, share):
    """Put each of them at one of ``share`` places, and at all places at once."""
    name, data = format_of(path), text_of(path)
    for offset, impossible in enumerate(IMPOSSIBLE):
        changed = replaced_in_turn(data, NUMBER, lambda _, put=impossible: put.encode())
        for text in islice(changed, offset % share, None, share):
            check_imported(name, text)
        check_imported(name, NUMBER.sub(impossible.encode(), data))


# --- JSON ---------------------------------------------------------------------------------------------------

MEMBER = re.compile(rb'"[^"\n]+"\s*:\s*(?:"[^"\n]*"|[-0-9.eE+]+|true|false|null)(?=\s*[,}\n])')
IN_JSON = [
    path for path in ACCEPTED if re.match(rb"\s*[\[{]", path.read_bytes()) and MEMBER.search(text_of(path))
]


def refused_or_warned_of(path, damaged):
    found = understood(format_of(path), damaged)
    return found is None or bool(found.warnings - read(format_of(path), text_of(path)).warnings)


def other_value(member):
    name, _, value = member.partition(b":")
    return name + b": " + (b'"other"' if value.lstrip().startswith(b'"') else b"7")


@each_of(IN_JSON)
def test_a_key_given_twice_is_refused(path):
    """The second value differs, so that one of the two would be lost."""
    for data in replaced_in_turn(text_of(path), MEMBER, lambda member: other_value(member) + b", " + member):
        assert refused_or_warned_of(path, data)


@each_of(IN_JSON)
def test_nesting_a_hundred_thousand_deep_is_refused(path):
    data = text_of(path)
    start, stop = MEMBER.search(data).span()
    for nested in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        deep = data[:start] + b'"deep": ' + nested + b", " + data[start:stop] + data[stop:]
        found = understood(format_of(path), deep)
        # What reads the lines of a log, and no JSON, passes over it.
        is_passed_over = found is not None and found.found == read(format_of(path), data).found
        assert is_passed_over or refused_or_warned_of(path, deep), nested[:5]


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_nothing_but_nesting_is_no_fault(name):
    for opening in (b"[", b'{"a":', b'[{"benchmark":', b'{"measurements": [{"a":'):
        check_imported(name, opening * 20_000)
        check_imported(name, opening * 20_000 + b"1\n")


@each_of(IN_JSON)
def test_values_of_other_kinds_are_refused_or_left_out(path):
    check_other_kinds(path, share=4)


@pytest.mark.slow
@each_of(IN_JSON)
def test_values_of_other_kinds_are_refused_or_left_out_at_each_place(path):
    check_other_kinds(path, share=1)


def check_other_kinds(path, *, share):
    values = ("null", "true", '""', "[]", "{}", '"1"', "[1]", '{"a": 1}', '"\\u0000"', "-5")
    for offset, value in enumerate(values):

        def with_value(member, put=value):
            return member.split(b":")[0] + b": " + put.encode()

        changed = replaced_in_turn(text_of(path), MEMBER, with_value)
        for data in islice(changed, offset % share, None, share):
            check_imported(format_of(path), data)


def test_there_is_json_to_try_this_on():
    assert len({format_of(path) for path in IN_JSON}) >= 3
