"""Texts made longer and longer, and whether the CPU time of reading them grows faster than they do."""

import functools
import gc
import random
import re
import time
from contextlib import suppress

from ingest.formats.report import FormatError

# Eight times the text may take three times as much per character: far from 64 times in all, and more than a
# busy machine adds.
SMALL, LARGE = 1_000, 8_000
MAX_RATIO = 3 * LARGE / SMALL
# What takes less for the larger text tells nothing, and costs nothing.
MIN_CPU_S = 0.02
TRIES = 3

UNITS = [
    *" \t1aA.-,|\"':/[](){}=#*`_%<\\;+~@",
    *("\u00a0", "é", "1 ", "a ", "a-", "1.", "1,", "1:", "- |", "| ", "a=", "a=1 ", "a.", "a: ", "1\t", ", "),
    *('" ', '"a" ', "[a]", "(1) ", "{}", "1 a ", "/a", "a/b ", '\\"', "''", "<a ", "**a", "a_", "a, ", "-- "),
]


def run_of(unit, size):
    return (unit * (size // len(unit) + 1))[:size]


def grows_too_fast(read, make):
    """Return the CPU time of reading the smaller and the larger text, or None where it grows with them."""
    larger = make(LARGE)
    if _cpu(read, larger) < MIN_CPU_S:
        return None
    smaller = make(SMALL)
    times = [min(_cpu(read, text) for _ in range(TRIES)) for text in (smaller, larger)]
    return times if times[1] >= MIN_CPU_S and times[1] > MAX_RATIO * times[0] else None


@functools.cache
def _caches():
    """The caches of ingest: a text that was read once would cost nothing the second time."""
    caches = [one for one in gc.get_objects() if type(one) is functools._lru_cache_wrapper]
    return [one for one in caches if one.__module__.startswith("ingest")]


def _cpu(read, text):
    for cache in _caches():
        cache.cache_clear()
    begun = time.thread_time()
    with suppress(FormatError):
        read(text)
    return time.thread_time() - begun


def units(seed, share):
    """A sample of what is repeated, another one for each seed."""
    return random.Random(seed).sample(UNITS, len(UNITS) // share)


def stretched(text, *, seed, share=1, places=None):
    """Yield what was done and the text of any size that it gives: a run within one of its lines or beside it.

    ``places`` is how many places are tried for each unit; all of one line of each shape where it is None.
    """
    chance = random.Random(seed)
    lines = text.replace("\r\n", "\n").split("\n")
    shapes = {re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", line)): at for at, line in enumerate(lines)}
    spots = [(at, spot) for at in shapes.values() for spot in _spots(lines[at])]
    for unit in [*units(seed, share), *_parts(lines, chance)]:
        for at, spot in spots if places is None else chance.sample(spots, min(places, len(spots))):
            yield f"{unit!r} in line {at + 1} at {spot}: {lines[at][:60]!r}", _within(lines, at, spot, unit)
        at = chance.choice(list(shapes.values()))
        yield f"{unit!r} as line {at + 1}", _beside(lines, at, unit)


def _spots(line):
    """The ends of a line, and where its words and marks begin."""
    return [0, *(found.start() for found in re.finditer(r"(?<!^)\b|(?<=\W)(?=\W)", line)), len(line)]


def _parts(lines, chance):
    """Some lines, and some words with what stands before them, to be repeated."""
    filled = [line for line in lines if line.strip()]
    words = [word for line in filled for word in re.findall(r"\W*\w+", line)]
    return [*chance.sample(filled, min(4, len(filled))), *chance.sample(words, min(4, len(words)))]


def _within(lines, at, spot, unit):
    def make(size):
        line = lines[at][:spot] + run_of(unit, size) + lines[at][spot:]
        return "\n".join([*lines[:at], line, *lines[at + 1 :]])

    return make


def _beside(lines, at, unit):
    return lambda size: "\n".join([*lines[:at], run_of(unit, size), *lines[at:]])
