"""How small a change may be and still be found; ``python -m benchmarks.power`` measures more of it."""

import math

import numpy as np
import pytest

from benchdash.regressions.detection.power import MIN_BEFORE, POWER, smallest_change
from benchdash.regressions.detection.repeats import Scatter, more_than, of_median, repeat_scatter
from benchmarks.power import Kind, outcomes


def scatter(group=0.02, *, within=None, between=None, runs=1, sessions=1):
    return Scatter(group, 0.3, within, between, runs, sessions)


def smallest(one, *, before=60, length=200, tests=4):
    return smallest_change(one, before=before, length=length, tests=tests)


def test_what_is_called_findable_is_found_in_eight_of_ten_cases():
    kinds = (Kind(0.02, 0.01, 0.3, 1, 60, 3), Kind(0.01, 0.03, 0.0, 2, 40, 2))
    for one in outcomes(60, kinds):
        # Sixty tries of a power of 80 % have a standard error of 5 %.
        assert one.found / one.tries >= POWER - 0.1
        assert one.promised_with_runs is None or one.found_with_runs / one.tries >= POWER - 0.1


def test_twice_the_noise_needs_nearly_twice_the_change():
    assert 1.7 < smallest(scatter(0.02)) / smallest(scatter(0.01)) < 2


def test_more_series_searched_need_a_larger_change():
    assert smallest(scatter(), tests=400) > smallest(scatter(), tests=4)


def test_a_longer_level_before_finds_smaller_changes():
    assert smallest(scatter(), before=200) < smallest(scatter(), before=MIN_BEFORE)


def test_a_longer_history_has_more_places_to_be_wrong_at():
    assert smallest(scatter(), length=5000) > smallest(scatter(), length=100)


def test_a_young_level_is_told_as_of_twenty_groups():
    assert smallest(scatter(), before=3) == smallest(scatter(), before=MIN_BEFORE)


def test_nothing_below_what_detection_looks_for_is_promised():
    assert smallest(scatter(0.00001)) == 0.005


def test_more_runs_take_away_only_what_scatters_within_a_session():
    one = scatter(math.hypot(0.03, 0.04), within=0.03)
    four = one.with_runs(4)
    assert four.group == pytest.approx(math.sqrt(0.04**2 + 0.03**2 * of_median(4) / 4))
    assert smallest(four) < smallest(one)


def test_without_repeats_nobody_says_what_more_runs_would_do():
    with pytest.raises(ValueError, match="not known"):
        scatter().with_runs(4)
    with pytest.raises(ValueError, match="not known"):
        scatter(within=0.01).with_sessions(4)


def test_more_sessions_take_away_what_scatters_between_them():
    one = scatter(math.sqrt(0.01**2 + 0.04**2 / 2), between=0.04, runs=2, sessions=2)
    assert one.with_sessions(4).group == pytest.approx(math.sqrt(0.01**2 + 0.04**2 / 4))


def test_more_repeats_never_make_it_worse():
    # The median of three varies more than that of two would let expect: 1.35 / 3 to 1 / 2 of one.
    one = scatter(0.01, within=0.05, runs=2)
    assert one.with_runs(4).group <= one.group


def test_four_are_proposed_for_fewer_and_twice_as_many_else():
    assert [more_than(n) for n in (1, 2, 3, 4, 6)] == [4, 4, 4, 8, 12]


# --- parts of the scatter -----------------------------------------------------------------------------------


def test_the_scatter_of_runs_is_told_from_that_of_nights():
    rng = np.random.default_rng(1)
    nights = rng.normal(0, 0.05, 400)
    values = np.exp(np.repeat(nights, 3) + rng.normal(0, 0.02, 1200))
    groups = np.repeat(np.arange(400), 3)
    within, between = repeat_scatter(values, groups, groups)
    assert within == pytest.approx(0.02, rel=0.1)
    assert between is None


def test_the_scatter_of_sessions_is_told_from_that_of_their_runs():
    rng = np.random.default_rng(2)
    sessions = rng.normal(0, 0.04, 800)
    values = np.exp(np.repeat(sessions, 2) + rng.normal(0, 0.02, 1600))
    groups, numbers = np.repeat(np.arange(400), 4), np.repeat(np.arange(800), 2)
    within, between = repeat_scatter(values, groups, numbers)
    assert within == pytest.approx(0.02, rel=0.1)
    assert between == pytest.approx(0.04, rel=0.1)


def test_one_run_a_night_tells_neither():
    nights = np.arange(50)
    assert repeat_scatter(np.full(50, 100.0), nights, nights) == (None, None)


def test_values_that_are_not_positive_say_nothing():
    nights = np.repeat(np.arange(2), 2)
    assert repeat_scatter(np.zeros(4), nights, nights) == (None, None)
