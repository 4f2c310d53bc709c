"""Properties of every format, whatever has happened to a file."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from tests.ingest.formats.real_files import each_of, fixtures, format_of
from tests.ingest.formats.storing import check_imported
from tests.ingest.formats.test_hostile import IMPOSSIBLE

# Mutations of a long file take long, and hold nothing that those of its beginning do not.
MOST_LINES = 120
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
WORD = re.compile(r"\w+")
INSERTED = [
    "",
    " ",
    "\t",
    "\x1b[1m",
    "\x85",
    "\u2028",
    "\ud7ff",
    "\ufeff",
    "±",
    "≈ 10⁻⁶",
    "%",
    ":",
    "::",
    "=",
    "/",
    '"',
    "'",
    ",",
    ";",
    "[",
    "]",
    "{",
    "}",
    "(",
    "-",
    "n/a",
    "N/A",
    "null",
    "x" * 301,
    "é" * 1000,
    "0" * 5000,
]

EVERY_FORMAT = [*FORMATS, *COMPANION_FORMATS]


def shortened(path):
    """The lines of a fixture; of a long one the first and the last."""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    return lines if len(lines) <= MOST_LINES else lines[: MOST_LINES // 2] + lines[-MOST_LINES // 2 :]


LINES = {
    name: [shortened(path) for path in fixtures() if format_of(path) == name and path.stat().st_size]
    for name in EVERY_FORMAT
}


@st.composite
def damaged(draw, files):
    """The text of one of the files after one to five things have happened to its lines."""
    lines = list(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 5))):
        _damage(draw, lines)
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


def _damage(draw, lines):
    at = draw(st.integers(0, len(lines) - 1))
    other = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["delete", "repeat", "swap", "move", "number", "insert", "word", "cut"])):
        case "delete":
            del lines[min(at, other) : min(max(at, other), min(at, other) + 5)]
            lines.append("")
        case "repeat":
            lines[at:at] = lines[other : other + 5]
        case "swap":
            lines[at], lines[other] = lines[other], lines[at]
        case "move":
            lines[at] += lines[other]
        case "number":
            impossible = draw(st.sampled_from(IMPOSSIBLE) | st.floats().map(repr) | st.integers().map(str))
            lines[at] = _replaced(draw, NUMBER, lines[at], impossible)
        case "insert":
            place = draw(st.integers(0, len(lines[at])))
            inserted = draw(st.sampled_from(INSERTED) | st.text(max_size=5))
            lines[at] = lines[at][:place] + inserted + lines[at][place:]
        case "word":
            lines[at] = _replaced(draw, WORD, lines[at], draw(st.sampled_from(INSERTED)))
        case "cut":
            lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]


def _replaced(draw, pattern, line, replacement):
    places = list(pattern.finditer(line))
    if not places:
        return line
    start, stop = draw(st.sampled_from(places)).span()
    return line[:start] + replacement + line[stop:]


@pytest.mark.parametrize("name", [name for name in EVERY_FORMAT if LINES[name]])
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(data=st.data())
def test_a_damaged_file_is_understood_soundly_or_refused(name, data):
    check_imported(name, data.draw(damaged(LINES[name])).encode("utf-8", "replace"))


@pytest.mark.parametrize("name", EVERY_FORMAT)
@settings(max_examples=40, deadline=None)
@given(
    text=st.text(max_size=200) | st.lists(st.sampled_from(INSERTED + IMPOSSIBLE), max_size=20).map("\n".join)
)
def test_any_text_is_understood_soundly_or_refused(name, text):
    check_imported(name, text.encode("utf-8", "replace"))


@pytest.mark.parametrize("name", EVERY_FORMAT)
@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_understood_soundly_or_refused(name, data):
    check_imported(name, data)


@each_of(path for path in fixtures() if path.stat().st_size < 20_000)
def test_a_very_long_name_is_read_or_refused(path):
    """Six words of the file in turn, where letters alone make them."""
    text = path.read_bytes().decode("utf-8", "replace")
    words = list(dict.fromkeys(re.findall(r"\b[A-Za-z_]{2,}\b", text)))
    names = ("x" * 301, "🐘" * 301, "a b " * 300, "x" * 20_000)
    for number, word in enumerate(words[:: len(words) // 5 + 1]):
        changed = re.sub(rf"\b{word}\b", names[number % len(names)], text, count=2)
        check_imported(format_of(path), changed.encode())
