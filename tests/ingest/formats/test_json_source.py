import pytest

from ingest.formats.json_source import line_of, load, load_lines
from ingest.formats.limits import Limits
from ingest.formats.report import FormatError
from ingest.formats.source import Source


def error_of(text: str) -> tuple[int | None, str]:
    with pytest.raises(FormatError) as caught:
        load(Source(text.encode()))
    return caught.value.line, caught.value.message


def test_numbers_and_texts_are_read_as_they_stand():
    value = load(Source(b'{"count": 24800, "seconds": 2.004031, "note": "\\ud83d\\ude00"}'))
    assert value == {"count": 24800, "seconds": 2.004031, "note": "\N{GRINNING FACE}"}


def test_a_key_given_twice_is_refused_on_the_line_of_the_second():
    assert error_of('{"a": {"b": 1},\n "c": {"b": 1},\n "a": 2}') == (
        3,
        "the key 'a' is given twice in one object",
    )


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_that_is_no_number_is_refused(constant):
    assert error_of(f"[1,\n{constant}]") == (2, f"{constant} is not a number that can be compared")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400, "1" + "0" * 5000])
def test_a_number_too_large_for_a_double_is_refused(number):
    line, message = error_of(f"[1,\n\n{number}]")
    assert line == 3
    assert message.endswith("is too large")


@pytest.mark.parametrize("spoilt", ["NaN1", "1e9990.7", "1e999 1"])
def test_what_is_refused_and_no_json_either_is_told_as_no_json(spoilt):
    line, message = error_of(f"[1,\n{spoilt}]")
    assert (line, message.partition(" Expecting")[0]) == (2, "not valid JSON:")


def test_nesting_that_exhausts_the_decoder_is_refused():
    assert error_of("[" * 100_000) == (1, "the JSON is nested too deeply for a result file")


@pytest.mark.parametrize("text", ['{"a":\n"\\u0000"}', '{"a":\n"\\ud800"}', '{"b": 1,\n"\\udc00": 1}'])
def test_a_string_that_no_database_stores_is_refused(text):
    assert error_of(text) == (2, "a string holds a NUL or half of a surrogate pair, which is not text")


@pytest.mark.parametrize("text", ['{"a": [1,\n', '[{"a":\n"half a wor', "[1,\n2"])
def test_a_file_that_breaks_off_says_so(text):
    line, message = error_of(text)
    assert message == "the JSON breaks off in the middle; is the file complete?"
    assert line in {1, 2}


def test_what_is_no_json_is_refused_with_line_and_column():
    assert error_of('{"a": 1,\n b: 2}') == (
        2,
        "not valid JSON: Expecting property name enclosed in double quotes, column 2",
    )


def test_json_lines_are_values_with_their_line_numbers():
    assert list(load_lines(Source(b'{"a": 1}\n\n[2]\n'))) == [(1, {"a": 1}), (3, [2])]


def test_an_error_in_json_lines_names_the_line_of_the_file():
    with pytest.raises(FormatError) as caught:
        list(load_lines(Source(b'{"a": 1}\n{"a": NaN}\n')))
    assert caught.value.line == 2


def test_json_beyond_the_limits_is_refused_before_it_is_decoded():
    with pytest.raises(FormatError, match=r"JSON of 9 bytes, more than 8 \(RESULT_JSON_MAX_BYTES\)"):
        load(Source(b"[1, 2, 3]", limits=Limits(json_bytes=8)))
    with pytest.raises(FormatError, match=r"JSON of up to 3 values, more than 2 \(RESULT_JSON_MAX_VALUES\)"):
        load(Source(b"[1, 2, 3]", limits=Limits(json_values=2)))
    with pytest.raises(FormatError, match=r"more than 2 runs \(RESULT_MAX_RUNS\)"):
        list(load_lines(Source(b"1\n2\n3\n", limits=Limits(runs=2))))


def test_the_line_of_a_value_is_found_by_its_path():
    source = Source(b'{"other": {"m": 0},\n "m": [\n{"q": 1},\n{"q":\n 2}]}')
    assert line_of(source, "m", 1) == 4
    assert line_of(source, "m", 1, "q") == 5
    assert line_of(source, "m", 7) is None
