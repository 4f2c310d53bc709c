"""Reading a text twice as long takes twice as long, whatever the text is.

A search that begins anew at each blank of a long run of blanks takes a hundred times as long for ten times
the blanks: a line of a megabyte takes hours.
"""

import pytest

from ingest import formats
from ingest.archives.path_guesses import propose
from ingest.archives.path_words import words_in
from ingest.formats import FORMATS
from ingest.formats.cells import is_cell, is_number, quantity
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.configuration import is_configuration, read_content
from ingest.formats.documents import document_blocks, plain_text
from ingest.formats.headings import said_alone, said_by, thread_count
from ingest.formats.product_names import split_product_version
from ingest.formats.source import Source
from ingest.formats.tables.vocabulary import metric_of_head, own_metric, statistic_of_head
from ingest.formats.tools.benchbase_json import server_of
from ingest.masking import mask_text, mask_value, names_a_secret
from ingest.metadata.path_patterns import PathPattern
from tests.ingest.formats.growth import UNITS, grows_too_fast, run_of, stretched, units
from tests.ingest.formats.real_files import accepted, each_of, format_of

ALL = FORMATS | COMPANION_FORMATS
MAX_FIXTURE_BYTES = 10_000
SMALL_FIXTURES = [path for path in accepted() if path.stat().st_size < MAX_FIXTURE_BYTES]
# The largest small one of each: it has most kinds of lines.
ONE_OF_EACH = {format_of(path): path for path in sorted(SMALL_FIXTURES, key=lambda path: path.stat().st_size)}


def reader(name):
    format_ = ALL[name]

    def read(text):
        source = Source(text.encode())
        format_.recognise(source.head)
        if hasattr(format_, "near_miss"):
            format_.near_miss(source.head.decode().split("\n"))
        if hasattr(format_, "recognise_numbers"):
            format_.recognise_numbers(source.head)
        format_.parse(source)

    return read


def too_fast(read, cases):
    return [f"{times}: {what}" for what, make in cases if (times := grows_too_fast(read, make))]


def test_every_format_is_tried():
    assert ONE_OF_EACH.keys() == ALL.keys()


@each_of(ONE_OF_EACH.values())
def test_a_long_run_anywhere_in_a_file_takes_no_longer_than_its_length(path):
    cases = stretched(path.read_text(), seed=path.name, share=6, places=1)
    assert too_fast(reader(format_of(path)), cases) == []


@pytest.mark.slow
@each_of(SMALL_FIXTURES)
def test_a_long_run_at_every_place_of_a_file_takes_no_longer_than_its_length(path):
    cases = stretched(path.read_text(), seed=path.name)
    assert too_fast(reader(format_of(path)), cases) == []


@each_of(ONE_OF_EACH.values())
def test_a_file_repeated_takes_no_longer_than_its_length(path):
    text = path.read_text().rstrip("\n") + "\n"
    times = grows_too_fast(reader(format_of(path)), lambda size: text * (4 * size // len(text) + 1))
    assert times is None


def test_a_line_that_nobody_knows_takes_no_longer_than_its_length():
    def read(text):
        formats.recognise(Source(text.encode()))

    assert too_fast(read, ((repr(unit), lambda size, unit=unit: run_of(unit, size)) for unit in UNITS)) == []


# What surrounds a run where a text is read by itself.
AROUND = [
    *("{}", "{}x", "x{}", "1.1{}!", "v1.1{}_", "avg{}x", "tps ({}", "64{}threads", "threads{}x", "[x]{}("),
    "x {}\x01",
]
SECRETS = [
    *("{}", "password {}x", "identified by {}x", "identified with x {}", "-----BEGIN {}", "mysql -p{} x"),
    *("mysql {}-p", "curl -u {}", "curl {} -u a:b", "redis-cli {} -a x", "mongo -p {}", "authorization {}"),
    *("Bearer {}x", "login {}", "--password {}", "password={}", '"password": {}', "password\t{}", "set x {}"),
    *("changed a {} to b", "user {} on >x", "a:{}@tcp(", "://{}@x", "SCRAM-SHA-256${}", "=a:{}"),
    "requirepass {}x",
]
HEADS = (metric_of_head, own_metric, statistic_of_head, server_of)
HEADINGS = (said_by, said_alone, thread_count, plain_text, split_product_version)
TEXTS = {
    "cells": (lambda text: (is_cell(text), is_number(text), quantity(text)), AROUND),
    "heads": (lambda text: [read(text) for read in HEADS], AROUND),
    "headings": (lambda text: [read(text) for read in HEADINGS], AROUND),
    "documents": (lambda text: list(document_blocks(["# a", text, "x", f"| {text} |", "|---|"])), AROUND),
    "masking": (mask_text, SECRETS),
    "masking of lists": (lambda text: mask_value(["mysql", text, f"-p{text} x"]), ["{}", "x{} y"]),
    "names of secrets": (names_a_secret, ["{}", "x{}", "Pass{}"]),
    "configurations": (
        lambda text: (is_configuration(text), read_content(text)),
        ["{}", "[mysqld]\n{}", "a = {}", "a = '{}", "[client{}]\na", "variable_name{}x", "| a |{}", "a {}#"],
    ),
    # No name of a file is longer than 500 characters, and no number that Python reads than 4,300 digits.
    "path words": (
        lambda text: words_in(text[: len(text) // 2]),
        ["{}", "x/{}/y", "mysql-8.0{}", "t{}.txt", "{}-8.0.1/"],
    ),
    "path patterns": (
        PathPattern.parse("**/x.{version}_{build}.{config}/**/sb.{workload}.*.dop{threads}").match,
        ["{}", "x.{}", "x.1_2.c/{}", "x.1_2.c/sb.ro{}.dop"],
    ),
    "path guesses": (
        lambda text: propose(
            [f"{text[: len(text) // 4]}{n}/{n}.x{text[: len(text) // 4]}{'-' * n}.txt" for n in range(3)]
        ),
        ["{}", "a{}", "8.0.{}"],
    ),
}


def within(around, share):
    """A run within each of these texts."""
    for text in around:
        for unit in units(text, share):
            yield (
                f"{unit!r} in {text!r}",
                lambda size, text=text, unit=unit: text.replace("{}", run_of(unit, size)),
            )


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_takes_no_longer_than_its_length(name):
    read, around = TEXTS[name]
    assert too_fast(read, within(around, share=16)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_of_any_run_takes_no_longer_than_its_length(name):
    read, around = TEXTS[name]
    assert too_fast(read, within(around, share=1)) == []


@pytest.mark.parametrize("unit", ["a\n", "a = 1\n", "[client]\n", "[a]\na\n", "\n", "x\ty\n", "| a | b |\n"])
def test_a_configuration_of_many_lines_takes_no_longer_than_its_length(unit):
    read, _ = TEXTS["configurations"]
    assert grows_too_fast(read, lambda size: f"[{'x' * (size // 8)}]\n{run_of(unit, 4 * size)}") is None


def test_a_growth_above_linear_is_found():
    """The test of the tests: so grew the pattern that was the first to be found."""
    import re

    pattern = re.compile(r"\s+missed")
    assert grows_too_fast(pattern.search, lambda size: run_of(" ", 2 * size))
    assert grows_too_fast(str.split, lambda size: run_of("a ", 100 * size)) is None
