"""Histograms as distributions, with numbers small enough to check by eye."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchdash.results.distributions import (
    Bounds,
    distribution_of,
    is_histogram,
    merged,
    shares_of,
)

_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHARES = (0.5, 0.9, 0.95, 0.99, 0.999, 1.0)


def buckets(*rows, **options):
    return distribution_of(("from_ms", "to_ms", "count"), rows, **options)


def valued(*rows):
    return distribution_of(("latency_ms", "count"), rows)


def table(distribution):
    return list(
        zip(
            distribution.lows.tolist(),
            distribution.highs.tolist(),
            distribution.counts.tolist(),
            strict=True,
        )
    )


def bounds(low, high):
    return Bounds(pytest.approx(low), pytest.approx(high))


# --- percentiles --------------------------------------------------------------------------------------------


def test_a_percentile_is_as_exact_as_its_bucket():
    found = buckets((1, 2, 50), (2, 4, 40), (4, 8, 9), (8, 16, 1))
    assert found.percentiles([0.5, 0.51, 0.9, 0.91, 0.99, 1]) == [
        Bounds(1, 2),
        Bounds(2, 4),
        Bounds(2, 4),
        Bounds(4, 8),
        Bounds(4, 8),
        Bounds(8, 16),
    ]
    assert found.largest == Bounds(8, 16)
    assert found.total == 100


def test_only_percentiles_with_an_operation_beyond_them_are_told():
    found = buckets((1, 2, 99), (2, 4, 1))
    assert [found.tells(share) for share in (0.5, 0.99, 0.999)] == [True, True, False]
    assert buckets((1, 2, 1)).tells(0.5)


def test_the_middle_of_bounds_is_that_of_their_logs():
    assert Bounds(1, 4).middle == pytest.approx(2)
    assert Bounds(0, 4).middle == pytest.approx(math.sqrt(8))
    assert Bounds(4, math.inf).middle == pytest.approx(math.sqrt(32))


# --- merging ------------------------------------------------------------------------------------------------


def test_repeats_are_merged_by_summing_buckets_and_not_by_averaging_percentiles():
    quick, slow = buckets((1, 2, 900), (8, 16, 100)), buckets((1, 2, 10), (8, 16, 90))
    together = merged([quick, slow])
    assert table(together) == [(1, 2, 910), (8, 16, 190)]
    # The averages of the medians, from 1 to 2 and from 8 to 16, would be from 4.5 to 9.
    assert together.percentile(0.5) == Bounds(1, 2)


def test_buckets_of_different_tools_are_merged_as_they_stand():
    together = merged([buckets((0, 10, 50), (10, 20, 50)), buckets((8, 9, 100))])
    assert table(together) == [(0, 10, 50), (8, 9, 100), (10, 20, 50)]
    # 50 of 200 took at most 10 ms, 100 took 8 to 9 ms, and 50 took 10 to 20 ms.
    assert together.percentile(0.5) == Bounds(8, 9)
    assert together.percentile(0.2) == Bounds(0, 9)


HISTOGRAMS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 8), st.integers(1, 1000)), min_size=1, max_size=20
).map(lambda rows: buckets(*((low / 4, (low + width) / 4, count) for low, width, count in rows)))


@_PATIENT
@given(HISTOGRAMS, st.integers(2, 5))
def test_merging_copies_changes_no_percentile(histogram, copies):
    assert merged([histogram] * copies).percentiles(SHARES) == histogram.percentiles(SHARES)


@_PATIENT
@given(st.lists(HISTOGRAMS, min_size=1, max_size=4))
def test_a_merged_percentile_lies_between_those_of_its_parts(parts):
    together = merged(parts)
    for share in SHARES:
        own = [part.percentile(share) for part in parts]
        found = together.percentile(share)
        assert min(one.low for one in own) <= found.low <= max(one.low for one in own)
        assert min(one.high for one in own) <= found.high <= max(one.high for one in own)


@_PATIENT
@given(st.lists(st.floats(0.01, 90), min_size=1, max_size=200), st.floats(0.01, 1))
def test_a_percentile_of_the_operations_lies_within_its_bounds(times, share):
    edges = [0, 0.05, 0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55, None]
    counts = np.histogram(times, [*edges[:-1], math.inf])[0]
    found = buckets(*zip(edges[:-1], edges[1:], counts, strict=True)).percentile(share)
    exact = np.quantile(times, share, method="inverted_cdf")
    assert found.low <= exact <= found.high


# --- reading ------------------------------------------------------------------------------------------------


def test_the_values_of_sysbench_are_the_middles_of_its_buckets():
    found = valued((1.608, 5), (1.637, 7), (100000.0, 1))
    assert table(found)[0] == pytest.approx((1.5933, 1.6223, 5), rel=1e-3)
    assert found.highs[0] == pytest.approx(found.lows[1])
    assert found.largest.high == math.inf


def test_the_values_of_jmh_are_the_low_ends_of_its_buckets():
    found = valued((0.021728, 1), (0.054016, 1), (0.054464, 1))
    # 21,728 ns has 15 bits, of which ten are kept.
    assert found.highs.tolist() == pytest.approx([0.02176, 0.05408, 0.054528])


def test_other_values_are_the_middles_of_buckets_as_wide_as_the_nearest_are_apart():
    found = valued((1, 2), (10, 6), (1000, 2))
    assert found.percentile(0.5) == bounds(10**0.5, 10**1.5)
    assert found.largest == bounds(10**2.5, 10**3.5)


def test_the_bucket_of_0_ms_ends_where_the_next_one_begins():
    found = valued((0, 60), (1, 30), (2, 10))
    assert found.percentile(0.5) == bounds(0, 2**-0.5)


def test_a_bucket_without_an_upper_end_holds_all_that_took_longer():
    assert buckets((0, 1, 3), (1, None, 2)).largest == Bounds(1, math.inf)


def test_what_is_no_histogram_or_counts_nothing_is_none():
    assert not is_histogram(["time_s", "tps"])
    assert distribution_of(["time_s", "tps"], [[1.0, 2.0]]) is None
    assert valued() is None
    assert valued((None, 3), (1, None), (2, 0), (-1, 4), (math.nan, 1), (math.inf, 1)) is None
    assert buckets((2, 1, 5)) is None


def test_very_fine_buckets_become_wider_ones_that_hold_the_same_operations():
    fine = [(number / 10, (number + 1) / 10, 1) for number in range(10, 10_000)]
    coarse = buckets(*fine, most=100)
    assert len(coarse.counts) <= 100
    assert coarse.total == len(fine)
    exact, wide = buckets(*fine, most=10**6).percentile(0.5), coarse.percentile(0.5)
    assert wide.low <= exact.low
    assert wide.high >= exact.high


# --- bars ---------------------------------------------------------------------------------------------------


def test_bars_are_the_same_for_all_and_add_up_to_one():
    found = shares_of([buckets((1, 2, 3), (2, 4, 1)), buckets((1, 4, 8))], most=60)
    assert found.edges.tolist() == pytest.approx([1, 4])
    found = shares_of([buckets((1, 2, 3), (2, 4, 1)), buckets((2, 4, 8))], most=60)
    assert found.edges.tolist() == pytest.approx([1, 2, 4])
    assert [shares.tolist() for shares in found.shares] == [
        pytest.approx([0.75, 0.25]),
        pytest.approx([0, 1]),
    ]


def test_a_wide_bucket_is_spread_over_the_bars_that_it_covers():
    fine = buckets((1, 2, 60), (2, 4, 30), (4, 16, 10))
    assert shares_of([fine], most=60).shares[0].tolist() == pytest.approx([0.6, 0.3, 0.05, 0.05])


def test_buckets_that_begin_at_0_or_never_end_are_drawn_as_an_octave():
    found = shares_of([buckets((0, 2, 1), (2, 4, 2), (4, None, 1))], most=60)
    assert found.edges.tolist() == pytest.approx([1, 2, 4, 8])
    assert found.shares[0].tolist() == pytest.approx([0.25, 0.5, 0.25])
    assert shares_of([valued((0, 5))], most=60).shares[0].tolist() == [1]
