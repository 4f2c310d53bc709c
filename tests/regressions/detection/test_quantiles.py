"""Percentiles of versions against each other, by those of their runs."""

import math

import numpy as np
import pytest

from benchdash.regressions.detection.compare import adjusted
from benchdash.regressions.detection.quantiles import compared_percentiles, percentiles_of_runs
from benchdash.results.distributions import Bounds, distribution_of
from benchdash.results.readings import LOWER


def run(*rows):
    return distribution_of(("from_ms", "to_ms", "count"), rows)


def like(middle, spread=0.2, seed=0, wide=1.018):
    """A thousand operations around so many ms, in buckets each ``wide`` times as high as the last."""
    times = middle * np.exp(np.random.default_rng(seed).normal(0, spread, 1000))
    numbers, counts = np.unique(np.floor(np.log(times) / math.log(wide)), return_counts=True)
    return run(*((wide**n, wide ** (n + 1), count) for n, count in zip(numbers, counts, strict=True)))


def compared(base, other, shares=(0.5,)):
    return compared_percentiles(percentiles_of_runs(base, shares), percentiles_of_runs(other, shares))


def test_the_percentile_of_several_runs_is_that_of_all_their_operations():
    found = percentiles_of_runs([run((1, 2, 900), (8, 16, 100)), run((1, 2, 10), (8, 16, 90))], [0.5, 0.9])
    assert found.bounds == (Bounds(1, 2), Bounds(8, 16))


def test_with_one_run_on_either_side_there_is_a_ratio_and_no_test():
    for base, other in (([like(1)], [like(2)]), ([like(1)] * 3, [like(2)]), ([like(1)], [like(2)] * 3)):
        (found,) = compared(base, other)
        assert found.ratio == pytest.approx(2, rel=0.05)
        assert (found.low, found.high, found.p, found.verdict) == (None, None, None, "unknown")


def test_a_doubled_response_time_is_worse():
    base = [like(1 + 0.01 * n, seed=n) for n in range(4)]
    other = [like(2 + 0.02 * n, seed=10 + n) for n in range(4)]
    for found in adjusted(compared(base, other, [0.5, 0.9, 0.99]), direction=LOWER):
        assert found.low < 2 < found.high
        assert found.low > 1.5
        assert found.verdict == "worse"


def test_runs_that_scatter_as_much_as_they_differ_prove_nothing():
    base = [like(middle, seed=n) for n, middle in enumerate((1, 1.5, 2))]
    other = [like(middle, seed=n) for n, middle in enumerate((1.2, 1.6, 2.3))]
    (found,) = compared(base, other)
    assert found.low < 1 < found.high
    assert found.p > 0.3


def test_within_wide_buckets_a_difference_is_not_taken_for_one():
    base, other = [run((4, 8, 100))] * 5, [run((8, 16, 100))] * 5
    (found,) = compared(base, other)
    # From just above 8 against 8 to 16 against 4.
    assert found.low == pytest.approx(1, abs=0.01)
    assert found.high == pytest.approx(4, rel=0.01)
    assert found.p == 1


def test_buckets_without_an_end_have_no_test():
    base, other = [run((0, 1, 100))] * 5, [run((8, None, 100))] * 5
    assert compared(base, other)[0].p is None


def test_equal_versions_are_rarely_called_different():
    """Of 200 pairs with five runs each, at most 5 %: the widths of the buckets are not charged to chance."""
    rng = np.random.default_rng(7)
    found = 0
    for pair in range(200):
        runs = [like(math.exp(rng.normal(0, 0.1)), seed=20 * pair + n) for n in range(10)]
        (one,) = compared(runs[:5], runs[5:])
        found += one.p < 0.05
    assert found <= 10
