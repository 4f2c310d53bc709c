"""The words of verdicts, and what is said beside them."""

from typing import get_args

import pytest

from benchdash.regressions.comparison import verdict_words
from benchdash.regressions.detection.compare import Basis, Comparison, Verdict
from tests.dashboard.charts.tables import cell

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("verdict", "of_speed", "of_cost"),
    [
        ("better", "faster", "better"),
        ("worse", "slower", "worse"),
        ("likely_better", "likely faster (one session)", "likely better (one session)"),
        ("likely_worse", "likely slower (one session)", "likely worse (one session)"),
        ("same", f"no difference within ±2{SPACE}%", f"no difference within ±2{SPACE}%"),
        ("unknown", "not enough to tell", "not enough to tell"),
    ],
)
def test_every_verdict_has_words_of_its_own(verdict, of_speed, of_cost):
    assert verdict in get_args(Verdict)
    assert verdict_words.words(verdict, "latency_p95", margin=0.02) == of_speed
    assert verdict_words.words(verdict, "cpu_per_op", margin=0.02) == of_cost


def test_counts_are_in_the_order_of_verdicts():
    verdicts = ["unknown", "worse", "likely_worse", "worse", "same"]
    assert verdict_words.counts_in_words(verdicts, "tps") == (
        "2 slower, 1 likely slower, 1 no difference, 1 not enough to tell"
    )


def test_sessions_are_counted_once_and_runs_of_no_known_session_each():
    assert verdict_words.session_count(cell(1.0, 2.0, 3.0, sessions=("a", "a", "b"))) == 2
    assert verdict_words.session_count(cell(1.0, 2.0, 3.0)) == 3


@pytest.mark.parametrize(
    ("basis", "is_blind"),
    [("within session", True), ("tool", True), ("forks", True), ("none", True), ("history", False)],
)
def test_one_session_each_says_nothing_unless_something_else_tells_how_sessions_scatter(basis, is_blind):
    one = cell(1.0, 2.0, sessions=("a", "a"))
    assert verdict_words.says_nothing_between_sessions(Comparison(1.1, basis=basis), one, one) is is_blind
    several = cell(1.0, 2.0, sessions=("a", "b"))
    assert not verdict_words.says_nothing_between_sessions(Comparison(1.1, basis=basis), one, several)


def test_what_is_not_settled_says_how_many_of_what_would_settle_it():
    settling = verdict_words.settling
    assert settling(Comparison(1.1, basis="runs", more_runs=1)) == "1 more session of each would settle it"
    assert settling(Comparison(1.1, basis="sessions", more_runs=3)) == (
        "3 more sessions of each would settle it"
    )
    likely = Comparison(1.1, verdict="likely_better", basis="within session", more_runs=2)
    assert settling(likely) == "2 more sessions of each would settle it"
    assert settling(Comparison(1.1)) == ""
    # So many would nobody measure.
    many = Comparison(1.01, basis="sessions", more_runs=85)
    rather = "measuring both in turns beside a control, or on a quieter machine, tells sooner"
    assert verdict_words.what_would_tell([many]) == f"85 more sessions of each would settle it; {rather}."
    assert rather in verdict_words.what_would_tell([likely, many])
    assert rather in verdict_words.note([many], margin=0.02)
    assert settling(Comparison(1.1, verdict="better", basis="runs")) == ""


def test_a_note_counts_the_cells_only_where_their_noise_differs():
    runs = Comparison(1.1, verdict="better", basis="runs")
    assert verdict_words.note([runs, runs], margin=0.02) == "Noise: repeats."
    assert verdict_words.note([Comparison(1.1), runs, runs], margin=0.02) == (
        "Noise: repeats (2 cells), not known: no test (1 cell)."
    )
    assert verdict_words.note([], margin=0.02) == ""


def test_a_note_explains_the_number_of_runs_where_it_stands():
    unknown = Comparison(1.1, basis="runs", more_runs=4)
    assert verdict_words.short_verdict(unknown) == "not enough to tell, 4 more"
    assert verdict_words.note([unknown], margin=0.02) == (
        "Noise: repeats. 1 cell would be settled by 4 more sessions of each."
    )


def test_more_sessions_than_anybody_measures_are_no_advice():
    unknown = Comparison(1.1, basis="runs", more_runs=19)
    few = [Comparison(1.1, basis="runs", more_runs=more) for more in (3, 1)]
    assert "2 cells would be settled by 1 to 3 more sessions of each. Where not even 10 would," in (
        verdict_words.note([*few, unknown], margin=0.02)
    )
    assert verdict_words.short_verdict(unknown) == "not enough to tell"
    assert verdict_words.note([unknown], margin=0.02) == (
        "Noise: repeats. Where not even 10 would, measuring both in turns beside a control, or on a quieter"
        " machine, tells sooner."
    )


def test_a_note_says_what_no_difference_and_likely_mean_where_they_are_said():
    same = Comparison(1.001, verdict="same", basis="history")
    assert verdict_words.note([same], margin=0.025) == (
        f"Noise: history. No difference: within ±2.5{SPACE}%."
    )
    likely = Comparison(1.2, verdict="likely_better", basis="within session")
    assert verdict_words.note([likely], margin=0.02) == (
        "Noise: one session each: no test. Likely: one session says so, and how much sessions scatter is not"
        " known."
    )


def test_every_basis_has_words():
    assert set(verdict_words.NOISE) == set(get_args(Basis))
