"""How much must agree before two runs are one."""

from datetime import UTC, datetime, timedelta

import pytest

from ingest.receiving.agreement import StoredReading as Figure
from ingest.receiving.agreement import ToldRun, agree, agreement, proves

START = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


def told(unit="1/s", **values):
    """A run with these figures; those that are pairs have an error beside the value."""
    figures = {}
    for metric, given in values.items():
        value, error = given if isinstance(given, tuple) else (given, None)
        ends = () if error is None else (value - error, value + error)
        figures[metric] = Figure(value, unit, *ends)
    return ToldRun(figures)


def said(**words):
    return ToldRun({"qps": Figure(1.0, "1/s")}, **words)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (58.49812345678, 58.498, True),
        (58.49812345678, 58.499, False),
        (58.4985, 58.498, True),  # rounded to even
        (0.053384, 0.053, True),
        (12374.6, 12375.0, True),
        (53000.0, 53384.0, True),  # 0.053 ms in ns
        (1696.990625, 1696.990626, False),
        (8998502.400000572, 8998502.4, True),  # what floating point adds
        (0.0, 0.0, True),
        (0.0, 0.4, False),
    ],
)
def test_figures_are_the_same_to_the_digits_of_the_coarser_print(one, other, same):
    assert (
        agree(Figure(one, "ms"), Figure(other, "ms")) == agree(Figure(other, "ms"), Figure(one, "ms")) == same
    )


def test_the_ends_of_an_interval_may_differ_by_what_two_roundings_make():
    exact, printed = (
        Figure(54.0174, "ms", 51.2687, 56.7661),
        Figure(54.017, "ms", 51.268, 56.766),
    )
    assert agree(exact, printed)
    assert not agree(exact, Figure(54.017, "ms", 51.265, 56.769))


def test_each_reading_that_both_have_must_agree_and_others_do_not_matter():
    full = told(unit="ms", a=58.49812, b=12.12)
    assert agreement(full, told(unit="ms", a=58.498, c=3.0)) == 2.5
    assert agreement(full, told(unit="ms", a=58.498, b=12.13)) is None
    assert agreement(full, told(unit="ms", c=3.0)) is None


@pytest.mark.parametrize(
    ("one", "other", "digits"),
    [
        (20.0, 20.0, 0),
        (200.0, 200.0, 0.5),
        (203.0, 203.0, 0.5),
        (12026.0, 12026.0, 2.5),
        (12020.0, 12020.0, 2.5),  # a rate is not rounded to tens
        (12026.15, 12026.0, 2.5),
        (12026.15, 12026.15, 4),
        (12026.1474286, 12026.1474286, 4),
    ],
)
def test_the_digits_that_differ_from_repeat_to_repeat_count_and_at_most_four_of_a_figure(one, other, digits):
    assert agreement(told(qps=one), told(qps=other)) == digits


def test_rates_of_a_run_are_multiples_of_each_other_and_count_once():
    run = told(tps=1696.99, qps=27151.85, reads_per_s=23757.87)
    assert agreement(run, run) == 4


def test_the_error_that_a_tool_prints_counts_beside_its_score():
    run = told(unit="ns/op", score=(58498.123, 7458.012))
    assert agreement(run, run) == 8


def test_sizes_and_counts_are_the_same_in_every_run_and_prove_nothing():
    run = ToldRun({"index_size": Figure(1048577.0, "B"), "gc.alloc.rate.norm": Figure(106.4775, "B/op")})
    assert agreement(run, run) == 0


@pytest.mark.parametrize(
    ("one", "other", "proven_by"),
    [
        ({}, {}, 6),
        ({"started_at": START}, {}, 6),
        ({"started_at": START}, {"started_at": START}, 3),
        ({"started_at": START}, {"started_at": START + timedelta(minutes=30)}, 6),
        ({"started_at": START}, {"started_at": START + timedelta(days=1)}, 12),
        ({"repetition": 1}, {"repetition": 2}, 12),
        ({"repetition": 1}, {"repetition": 1}, 6),
        ({"session": "session:a"}, {"session": "session:b"}, 12),
    ],
)
def test_words_of_the_sender_make_it_easier_or_harder_to_prove(one, other, proven_by):
    pairs = [(said(**one), said(**other))]
    assert proves(pairs, proven_by)
    assert not proves(pairs, proven_by - 1)


def test_the_form_that_says_when_it_was_measured_has_more_information_than_one_with_more_digits():
    exact = ToldRun({"qps": Figure(12026.1474, "1/s")}, samples=10)
    dated = ToldRun({"qps": Figure(12026.0, "1/s")}, started_at=START)
    assert dated.information > exact.information > ToldRun({"qps": Figure(12026.14, "1/s")}).information
