"""Reading a file ends where its CPU time is spent, whatever reads it, with a sentence."""

import pytest

from ingest import formats
from ingest.budget import OverBudgetError, check_budget, cpu_budget
from ingest.formats import FORMATS, companions
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.limits import Limits
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from ingest.masking import mask_text
from tests.ingest.formats.real_files import accepted, each_of, format_of

NO_TIME = Limits(cpu_seconds=-1)
TOOK = r"reading it took more than \S+ s of CPU time \(RESULT_MAX_CPU_SECONDS\); send only"
ONE_OF_EACH = {format_of(path): path for path in accepted()}


@each_of(ONE_OF_EACH.values())
def test_every_format_looks_at_the_budget_while_it_reads(path):
    name = format_of(path)
    with pytest.raises(OverBudgetError), cpu_budget(-1):
        (FORMATS | COMPANION_FORMATS)[name].parse(Source(path.read_bytes()))


@pytest.mark.parametrize("name", [None, "sysbench"])
def test_a_file_that_takes_too_long_is_refused_with_a_sentence(name):
    source = Source(ONE_OF_EACH["sysbench"].read_bytes(), limits=NO_TIME)
    with pytest.raises(FormatError, match=TOOK):
        formats.parse(source, name)
    with pytest.raises(FormatError, match=TOOK):
        formats.recognise(source)


def test_the_refusal_names_the_line_that_was_being_read():
    lines = (b"a b c d e f\n" * 10) + ONE_OF_EACH["sysbench"].read_bytes()
    source = Source(lines)
    with pytest.raises(OverBudgetError) as raised, cpu_budget(-1):
        list(source.lines)
    assert raised.value.line == 1


def test_companions_are_recognised_within_the_budget():
    with pytest.raises(FormatError, match=TOOK), NO_TIME.budget(0):
        companions.recognise(Source(ONE_OF_EACH["vmstat"].read_bytes()))


def test_a_long_text_is_masked_within_the_budget():
    with pytest.raises(FormatError, match=TOOK), NO_TIME.budget(0):
        mask_text("some words " * 10_000)


def test_without_a_budget_nothing_is_refused_and_behind_one_neither():
    check_budget()
    with pytest.raises(OverBudgetError), cpu_budget(-1):
        check_budget()
    check_budget()
    with cpu_budget(60):
        check_budget()


def test_a_larger_file_has_more_time():
    with Limits(cpu_seconds=-1).budget(61_000_000):
        check_budget()
