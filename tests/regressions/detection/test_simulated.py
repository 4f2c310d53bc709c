"""Comparisons of simulated equal versions: the short form of ``python -m benchmarks.comparison``.

Of 5 % and 95 % the project allows 1 and 2 points either way, and the simulation has an error of its own: two
standard errors of it are added.
"""

import pytest

from benchmarks.comparison import (
    cases,
    false_positives_and_coverage,
    tables_with_a_difference,
)

PAIRS = 1200
# One of each kind of sides; ``make slow`` simulates the others too.
IN_SHORT = {
    "2 and 2 runs, history",
    "1 and 1 run, 8 nights of a branch",
    "3 and 3 runs",
    "3 and 3 sessions of 4 runs",
    "1 and 1 session of 4 runs, history of sessions",
    "two of 2 versions in the same 3 sessions",
}
CASES = [
    pytest.param(case, id=case.name, marks=() if case.name in IN_SHORT else pytest.mark.slow)
    for case in cases()
    if case.is_honest
]


def allowance(trials):
    return 2 * (0.05 * 0.95 / trials) ** 0.5


@pytest.mark.parametrize("case", CASES)
def test_five_per_cent_of_equal_versions_differ_and_95_per_cent_of_intervals_hold_the_truth(case):
    wrong, covered = false_positives_and_coverage(case, PAIRS)
    error = allowance(PAIRS)
    assert 0.04 - error <= wrong <= 0.06 + error
    assert 0.93 - error <= covered <= 0.97 + error


def test_runs_of_shared_sessions_taken_for_independent_ones_would_cry_wolf():
    assert tables_with_a_difference(50, known=False) > 0.3
    assert tables_with_a_difference(200, known=True) <= 0.06 + allowance(200)
