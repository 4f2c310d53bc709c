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


NO_TEXT = "a string holds a NUL or half of a surrogate pair, which is not text"
BREAKS_OFF = "the JSON breaks off in the middle; is the file complete?"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": {"b": 1},\n "c": {"b": 1},\n "a": 2}', 3, "the key 'a' is given twice in one object"),
        ("[1,\nNaN]", 2, "NaN is not a number that can be compared"),
        ("[1,\n-Infinity]", 2, "-Infinity is not a number that can be compared"),
        ("[1,\n\n-1e999]", 3, "the number -1e999 is too large"),
        (f"[1,\n\n1{'0' * 5000}]", 3, f"the number 1{'0' * 39} is too large"),
        ("[1,\n1e9990.7]", 2, "not valid JSON: Expecting ',' delimiter, column 7"),
        ("[1,\nNaN1]", 2, "not valid JSON: Expecting ',' delimiter, column 4"),
        ("[" * 100_000, 1, "the JSON is nested too deeply for a result file"),
        ('{"a":\n"\\u0000"}', 2, NO_TEXT),
        ('{"b": 1,\n"\\udc00": 1}', 2, NO_TEXT),
        ('{"a": [1,\n', 2, BREAKS_OFF),
        ('[{"a":\n"half a wor', 2, BREAKS_OFF),
        (
            '{"a": 1,\n b: 2}',
            2,
            "not valid JSON: Expecting property name enclosed in double quotes, column 2",
        ),
    ],
)
def test_what_is_no_json_that_can_be_kept_is_refused_with_its_line(text, line, message):
    assert error_of(text) == (line, message)


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
