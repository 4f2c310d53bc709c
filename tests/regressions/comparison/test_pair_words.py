"""A comparison in a sentence that verdicts bear out."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchdash.regressions.comparison.pair_words import Claim, summary
from benchdash.regressions.detection.compare import Verdict
from tests.dashboard.charts.tables import cell, judged, table

NOISE = (0.99, 1.0, 1.01)


def runs(value, *, unit="1/s", direction="higher"):
    """Three runs around a value."""
    return cell(*(value * factor for factor in NOISE), unit=unit, direction=direction)


def compared(metric, *pairs, **reading):
    """A table of one metric with a row (base, other) for each of w0, w1 ... at one thread."""
    base = {(f"w{number}", 1): runs(one, **reading) for number, (one, _) in enumerate(pairs)}
    other = {(f"w{number}", 1): runs(two, **reading) for number, (_, two) in enumerate(pairs)}
    return table(base, other, metric=metric)


def test_what_is_slower_in_one_direction_is_said_with_its_geometric_mean():
    tables = [compared("tps", (100, 80), (100, 80), (100, 100))]
    assert summary(tables, "11.4.4", "11.4.5") == (
        "11.4.5 is 14 % slower than 11.4.4 (geometric mean of 3 workloads; 2 significantly worse, none"
        " better)."
    )


@pytest.mark.parametrize(
    ("cpu", "words"),
    [
        (112, "and spends 12 % more server CPU per operation"),
        (80, "but spends 20 % less server CPU per operation"),
    ],
)
def test_what_it_costs_is_said_with_it(cpu, words):
    cost = {"unit": "µs/op", "direction": "lower"}
    tables = [
        compared("server_cpu_per_op", (100, cpu), **cost),
        compared("cpu_per_op", (200, 2 * cpu), **cost),
        compared("tps", (100, 90)),
    ]
    said = summary(tables, "A", "B")
    assert said.startswith("B is 10 % slower than A (w0, 1 thread, 95 % interval −")
    assert said.endswith(f") {words}.")


def test_several_costs_are_listed():
    cost = {"direction": "lower"}
    tables = [
        compared("tps", (100, 120)),
        compared("cs_per_op", (10, 7), unit="1/op", **cost),
        compared("write_kb_per_op", (10, 13), unit="kB/op", **cost),
    ]
    assert summary(tables, "A", "B").endswith(
        "makes 30 % fewer context switches and writes 30 % more per operation."
    )


def test_what_takes_time_takes_longer():
    said = summary([compared("score", (100, 130), unit="ns/op", direction="lower")], "A", "B")
    assert said.startswith("B takes 30 % longer than A (w0, 1 thread, 95 % interval +")


def test_where_rows_disagree_they_are_counted():
    tables = [compared("tps", (100, 80), (100, 120), (100, 100))]
    assert summary(tables, "A", "B") == (
        "B is slower than A in w0 (−20.0 %) and faster in w1 (+20.0 %), of 3 workloads."
    )


def test_one_row_of_many_does_not_speak_for_all():
    tables = [compared("tps", (100, 50), *[(100, 100)] * 9)]
    assert summary(tables, "A", "B") == (
        "B is slower than A in w0 (−50.0 %) and faster in none of 10 workloads."
    )


def test_of_many_rows_two_workloads_are_named_with_their_thread_counts():
    steady = {(workload, threads): runs(100) for workload in "abcd" for threads in (1, 4, 16)}
    slower = {**steady, **{(workload, 1): runs(98 if workload == "a" else 80) for workload in "abc"}}
    said = summary([table(steady, {**slower, ("a", 4): runs(150)})], "A", "B")
    assert said.startswith(
        "B is slower than A in b at 1 thread and c at 1 thread (−20.0 %) and faster in a at 4 threads (+50.0"
        " %), of 12 thread counts of 4 workloads."
    )


def test_what_does_not_stand_out_is_not_said():
    noisy = table({("w", 1): cell(80.0, 100.0, 125.0)}, {("w", 1): cell(75.0, 95.0, 120.0)})
    assert (
        summary([noisy], "A", "B") == "No difference between A and B stands out of the noise (w, 1 thread)."
    )


def test_what_is_certainly_the_same_is_said_to_be():
    steady = cell(*(100 + number / 100 for number in range(5)))
    said = summary(
        [table({("w", 1): steady, ("x", 1): steady}, {("w", 1): steady, ("x", 1): steady})], "A", "B"
    )
    assert said == "No difference between A and B within ±2\N{NO-BREAK SPACE}% (2 workloads)."


def test_response_time_and_cost_speak_where_throughput_does_not():
    noisy = table({("w", 1): cell(80.0, 100.0, 125.0)}, {("w", 1): cell(75.0, 95.0, 120.0)})
    tables = [noisy, compared("latency_p95", (10, 15), unit="ms", direction="lower")]
    said = summary(tables, "A", "B")
    assert (
        "stands out of the noise (w, 1 thread). Its 95th percentile of response time is 50 % longer (" in said
    )


def test_where_both_sides_have_one_session_that_is_said_and_what_would_settle_it():
    said = summary([table({("DO 1", None): 100.0}, {("DO 1", None): 130.6})], "1.1.2", "1.1.3")
    assert said == (
        "1.1.3 measures +30.6 % against 1.1.2 in transactions per second (DO 1), but in one session each:"
        " what the machine did that hour cannot be told from what the version does. 2 more sessions of 1.1.2"
        " and of 1.1.3 would tell how much sessions scatter here."
    )


def test_what_is_likely_in_one_session_is_counted_as_no_more_than_that():
    evening = {"sessions": ("evening",) * 3}
    sides = [
        {(f"w{row}", 1): cell(value, value, value, **evening) for row in range(4)} for value in (100, 46)
    ]
    found = judged(table(*sides), "likely_worse", "likely_worse", "likely_worse", "unknown")
    assert summary([found], "16.15", "18.4") == (
        "18.4 measures −54.0 % against 16.15 in transactions per second (geometric mean of 4 workloads; 3"
        " likely slower), but in one session each: what the machine did that hour cannot be told from what"
        " the version does. 2 more sessions of 16.15 and of 18.4 would tell how much sessions scatter here."
    )
    assert summary([found], "run 1", "run 2", are_runs=True).endswith("from what the version does.")


def test_what_is_likely_stands_beside_what_is_significant():
    tables = [compared("tps", (100, 80), (100, 80), (100, 80), (100, 80))]
    found = judged(tables[0], "worse", "worse", "likely_worse", "unknown", basis="sessions")
    assert Claim.of(found).verdict == "worse"
    found = judged(tables[0], "likely_worse", "likely_worse", "unknown", "unknown", basis="sessions")
    assert Claim.of(found).verdict == "likely_worse"
    assert summary([found], "A", "B") == (
        "B measures −20.0 % against A in transactions per second (geometric mean of 4 workloads; 2 likely"
        " slower), which is no more than likely: one session says it."
    )


def test_where_directions_differ_the_mean_is_one_of_speeds():
    time, rate = (runs(100, unit="ns/op", direction="lower"), runs(100))
    slower = (runs(200, unit="ns/op", direction="lower"), runs(50))
    found = table(
        {("avgt", 1): time, ("thrpt", 1): rate},
        {("avgt", 1): slower[0], ("thrpt", 1): slower[1]},
        metric="score",
    )
    assert summary([found], "A", "B") == (
        "B is 50 % slower than A (geometric mean of the speeds of 2 workloads; 2 significantly worse, none"
        " better)."
    )


def test_where_directions_differ_named_rows_changed_by_their_speed():
    time = {"unit": "ns/op", "direction": "lower"}
    base = {("avgt", 1): runs(100, **time), **{(f"thrpt{at}", 1): runs(100) for at in range(4)}}
    found = table(base, {**base, ("avgt", 1): runs(200, **time)}, metric="score")
    assert (
        summary([found], "A", "B")
        == "B is slower than A in avgt (−50.0 %) and faster in none of 5 workloads."
    )


def test_nothing_in_common_is_said():
    apart = table({("w", 1): 100.0}, {("x", 1): 100.0})
    assert summary([apart], "A", "B") == "A and B have nothing in common that was measured."
    assert summary([], "A", "B") == "A and B have nothing in common that was measured."


def test_a_claim_counts_its_verdicts():
    claim = Claim.of(compared("tps", (100, 80), (100, 100)))
    assert (claim.verdict, claim.counts["worse"]) == ("worse", 1)
    assert claim.words in {"1 slower, 1 not enough to tell", "1 slower, 1 no difference"}


RATIOS = {"worse": [0.5, 0.98], "better": [1.03, 1.3]}


@st.composite
def found_rows(draw):
    """Verdicts of a few rows, with a ratio on the side that each says."""
    verdicts = draw(st.lists(st.sampled_from(get_args(Verdict)), min_size=1, max_size=6))
    return [
        (one, draw(st.sampled_from(RATIOS.get(one.removeprefix("likely_"), [0.999, 1.0]))))
        for one in verdicts
    ]


@given(found_rows(), st.booleans())
def test_no_summary_denies_a_certain_difference_or_signs_a_zero(found, are_threads):
    keys = [("w", at + 1) if are_threads else (f"w{at}", 1) for at in range(len(found))]
    other = {key: 100.0 * ratio for key, (_, ratio) in zip(keys, found, strict=True)}
    verdicts = [verdict for verdict, _ in found]
    said = summary([judged(table(dict.fromkeys(keys, 100.0), other), *verdicts, basis="sessions")], "A", "B")
    assert not re.search(r"[+−]0\.0 %|\b0\.0 % (slower|faster)", said), said
    if {"worse", "better"} & set(verdicts):
        assert re.search("slower|faster|worse|better", said), said
        assert "No difference" not in said
