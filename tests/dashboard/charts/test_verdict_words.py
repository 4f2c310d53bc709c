"""What is said beside a verdict."""

from typing import get_args

from benchdash.dashboard.charts import verdict_words
from benchdash.regressions.detection.compare import Basis, Comparison


def test_an_unknown_verdict_says_how_many_of_what_would_settle_it():
    assert verdict_words.settling(Comparison(1.1, basis="runs", more_runs=1)) == (
        "1 more run of each would settle it"
    )
    assert verdict_words.settling(Comparison(1.1, basis="sessions", more_runs=3)) == (
        "3 more sessions of each would settle it"
    )
    assert verdict_words.settling(Comparison(1.1)) == ""
    assert verdict_words.settling(Comparison(1.1, verdict="better", basis="runs")) == ""


def test_a_note_counts_the_cells_only_where_their_noise_differs():
    runs = Comparison(1.1, verdict="better", basis="runs")
    assert verdict_words.note([runs, runs], margin=0.02) == "Noise: repeats."
    assert verdict_words.note([Comparison(1.1), runs, runs], margin=0.02) == (
        "Noise: repeats (2 cells), not known: no test (1 cell)."
    )
    assert verdict_words.note([], margin=0.02) == ""


def test_a_note_explains_the_number_of_runs_where_it_stands():
    unknown = Comparison(1.1, basis="runs", more_runs=4)
    assert verdict_words.short_verdict(unknown) == "unknown, 4 more"
    assert verdict_words.note([unknown], margin=0.02) == (
        "Noise: repeats. More: so many further runs of each version would settle it."
    )


def test_a_note_says_what_the_same_means_where_it_is_said():
    same = Comparison(1.001, verdict="same", basis="history")
    assert verdict_words.note([same], margin=0.025) == "Noise: history. Same: within 2.5\N{NO-BREAK SPACE}%."


def test_every_basis_has_words():
    assert set(verdict_words.NOISE) == set(get_args(Basis))
