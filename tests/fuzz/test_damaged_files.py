"""Damaged fixtures, the same in every run; ``make fuzz`` looks for others."""

import random

import pytest

from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import Source
from tests.fuzz.__main__ import HOSTILE_WORDS, LONGEST_INPUT
from tests.ingest.formats.real_files import fixtures, format_of
from tests.ingest.formats.soundness import check_read, recognised

FILES_OF_A_FORMAT = 12
ALL = (*FORMATS, *COMPANION_FORMATS)
BYTES = {}
for path in fixtures():
    BYTES.setdefault(format_of(path), []).append(path.read_bytes()[:LONGEST_INPUT])


def without_a_part(data, rng):
    start, end = sorted(rng.choices(range(len(data) + 1), k=2))
    return data[:start] + data[end:]


def with_another_byte(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def with_a_word(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(HOSTILE_WORDS).encode() + data[at:]


def with_a_line_elsewhere(data, rng):
    lines = data.splitlines(keepends=True) or [b""]
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def without_a_line(data, rng):
    lines = data.splitlines(keepends=True) or [b""]
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def with_the_end_of_another(data, rng):
    other = rng.choice(BYTES[rng.choice(list(BYTES))])
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


DAMAGES = (
    *(without_a_part, with_another_byte, with_a_word),
    *(with_a_line_elsewhere, without_a_line, with_the_end_of_another),
)


@pytest.mark.parametrize("name", ALL)
def test_a_damaged_file_is_understood_or_refused(name):
    rng = random.Random(name)
    for _ in range(FILES_OF_A_FORMAT):
        data = rng.choice(BYTES[name])
        for damage in rng.choices(DAMAGES, k=rng.randint(1, 4)):
            data = damage(data, rng)
        source = Source(data)
        for other in {name, *(format_ for format_ in ALL if data and recognised(source, format_))}:
            check_read(other, data)
