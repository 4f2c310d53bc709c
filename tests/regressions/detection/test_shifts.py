import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchdash.regressions.detection.level_scatter import level_scatter
from benchdash.regressions.detection.shifts import find_shifts

DROP = [200, 201, 199, 150, 151, 149, 150, 151]


def noisy(levels, *, noise=0.01, seed=1):
    """One value per level, with log-normal noise."""
    return np.array(levels) * np.exp(noise * np.random.default_rng(seed).normal(size=len(levels)))


def confirmed(values, **options):
    return [shift.index for shift in find_shifts(values, **options) if shift.state == "confirmed"]


def test_one_drop_is_found_where_it_is():
    (shift,) = find_shifts(DROP)
    assert (shift.index, shift.before, shift.after, shift.change) == (3, 200, 150, -0.25)
    assert shift.state == "confirmed"
    assert shift.confidence == pytest.approx(0.97, abs=0.01)


def test_eight_per_cent_in_noise_of_one_per_cent_is_confirmed_by_the_fifth_point():
    values = noisy([100] * 30 + [92] * 5)
    (shift,) = find_shifts(values)
    assert (shift.index, shift.state) == (30, "confirmed")
    assert shift.change == pytest.approx(-0.08, abs=0.01)


@pytest.mark.parametrize("after", [1, 2])
def test_one_or_two_points_are_a_suspicion(after):
    (shift,) = find_shifts(noisy([100] * 30 + [92] * 5)[: 30 + after])
    assert (shift.index, shift.state) == (30, "suspected")


@pytest.mark.parametrize("after", [3, 4])
def test_three_points_are_enough_where_the_step_is_eight_times_the_noise(after):
    (shift,) = find_shifts(noisy([100] * 30 + [92] * after))
    assert (shift.index, shift.state) == (30, "confirmed")


def test_three_points_are_a_suspicion_where_the_step_is_four_times_the_noise():
    (shift,) = find_shifts(noisy([100] * 30 + [95.5] * 3))
    assert (shift.index, shift.state) == (30, "suspected")


def test_a_level_that_did_not_last_is_no_shift():
    assert find_shifts(noisy([100] * 30 + [92] * 3 + [100] * 30)) == []


def test_there_and_back_are_two_shifts():
    shifts = find_shifts(noisy([100] * 30 + [80] * 10 + [100] * 20))
    assert [(shift.index, round(shift.change, 1)) for shift in shifts] == [(30, -0.2), (40, 0.2)]


def test_a_staircase_is_found_step_by_step():
    assert confirmed(noisy([100] * 15 + [90] * 15 + [80] * 15 + [70] * 15)) == [15, 30, 45]


def test_drift_is_no_shift():
    assert find_shifts(noisy(np.linspace(100, 120, 80))) == []


def test_outliers_are_no_shift():
    values = noisy([100] * 60)
    values[[10, 30, 31]] = 50, 180, 40
    assert find_shifts(values) == []


def test_two_outliers_at_the_end_are_at_most_a_suspicion():
    values = noisy([100] * 40)
    values[-2:] = 60
    assert [shift.state for shift in find_shifts(values)] == ["suspected"]


@pytest.mark.parametrize("n", range(11))
def test_a_constant_series_never_shifts(n):
    assert find_shifts([5.0] * n) == []


@pytest.mark.parametrize("values", [[0.0] * 20, [math.nan] * 20, [None] * 20, [-3.0] * 20])
def test_a_series_without_positive_numbers_says_nothing(values):
    assert find_shifts(values) == []


def test_gaps_keep_their_place():
    values = [200, None, 201, 199, math.nan, 150, 151, 149, math.inf, 150, 151]
    assert confirmed(values) == [5]


def test_a_drop_to_zero_is_a_change_of_minus_one():
    (shift,) = find_shifts([100, 101, 99, 100, 102, 0, 0, 0, 0, 0])
    assert (shift.index, shift.after, shift.change) == (5, 0, -1)


def test_a_rise_from_zero_has_no_per_cent():
    assert find_shifts([0, 0, 0, 0, 0, 100, 101, 99, 100, 102]) == []


def test_one_printed_digit_is_no_change_of_a_third():
    latency_in_ms = [0.03] * 10 + [0.04] * 5
    assert confirmed(latency_in_ms) == []


def test_changes_below_the_least_effect_are_left_out():
    values = noisy([1000] * 50 + [990] * 50, noise=0.002)
    assert confirmed(values) == [50]
    assert confirmed(values, min_effect=0.02) == []


def test_the_unit_does_not_matter():
    values = noisy([100] * 30 + [92] * 10)
    in_milliseconds, in_seconds = find_shifts(values), find_shifts(values / 1000)
    assert [shift.index for shift in in_seconds] == [shift.index for shift in in_milliseconds]
    assert in_seconds[0].change == pytest.approx(in_milliseconds[0].change)


def test_a_known_shift_keeps_its_place_while_its_evidence_stands():
    values = noisy([100] * 30 + [92] * 10)
    assert confirmed(values) == [30]
    assert confirmed(values, known=[29]) == [29]


def test_a_known_shift_goes_when_its_evidence_is_gone():
    assert find_shifts(noisy([100] * 40), known=[20]) == []


def test_what_happens_later_does_not_take_a_known_shift_back():
    drop_and_slow_recovery = np.concatenate(([100] * 30, [80] * 15, np.linspace(80, 115, 40)))
    assert 30 in confirmed(noisy(drop_and_slow_recovery), known=[30])


@given(
    st.lists(st.floats(min_value=0, max_value=1e12) | st.none() | st.just(math.nan), max_size=30),
    st.lists(st.integers(0, 35), max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_any_numbers_give_sound_shifts_and_the_same_ones_again(values, known):
    shifts = find_shifts(values, known=known)
    assert shifts == find_shifts(values, known=known)
    assert [shift.index for shift in shifts] == sorted({shift.index for shift in shifts})
    for shift in shifts:
        assert 0 < shift.index < len(values)
        assert 0 <= shift.confidence <= 1
        assert math.isfinite(shift.change)
        assert shift.before > 0


@pytest.mark.parametrize("n", range(2, 11))
def test_unchanged_short_series_are_hardly_ever_taken_for_shifts(n):
    """400 series each; one is what chance may do."""
    found = [confirmed(noisy([100] * n, noise=0.05, seed=seed)) for seed in range(400)]
    assert sum(map(bool, found)) <= 1


def lognormal(rng):
    return 0.05 * rng.normal(size=60)


def one_sided(rng):
    """Runs lose to neighbours, never win."""
    return -0.06 * rng.exponential(size=60)


def drifting(rng):
    return 0.05 * rng.normal(size=60) + np.linspace(0, 0.1, 60)


@pytest.mark.parametrize("noise", [lognormal, one_sided, drifting])
def test_looking_after_every_point_raises_few_false_alarms(noise):
    """Twenty series looked at 55 times each: at most two false alarms (1.8 per 1000 looks)."""
    alarms = 0
    for seed in range(20):
        values = 1000 * np.exp(noise(np.random.default_rng([7, seed])))
        alarms += len({index for n in range(6, 61) for index in confirmed(values[:n])})
    assert alarms <= 2


def test_five_thousand_points_are_searched_at_once():
    steps = np.repeat([100, 90, 100, 110, 100], 1000)
    assert confirmed(noisy(steps)) == [1000, 2000, 3000, 4000]


def test_the_scatter_within_levels_leaves_the_steps_out():
    values = noisy([100] * 30 + [50] * 30, noise=0.03)
    sd, df = level_scatter(values, [shift.index for shift in find_shifts(values)])
    assert sd == pytest.approx(0.03, rel=0.2)
    assert df == 8


def test_four_points_say_too_little_about_scatter():
    assert level_scatter([100, 101, 99, 100], []) is None
