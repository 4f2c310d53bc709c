"""The part of a loss that is left after a step back."""

import numpy as np

from benchdash.regressions.detection.remainders import remainder_of

BEFORE, AFTER = 20, 10


def histories(left, *, series=12, noise=0.02, mood=0.015, seed=1):
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, noise, (series, BEFORE + AFTER)) + rng.normal(0, mood, BEFORE + AFTER)
    logs[:, BEFORE:] += np.log1p(left)
    return logs


def remainder(logs, headline=None):
    return remainder_of(logs, BEFORE, np.ones(len(logs), dtype=bool) if headline is None else headline)


def test_a_part_that_stays_in_all_series_is_certain():
    found = remainder(histories(-0.037))
    assert abs(found.change + 0.037) < 0.015
    assert found.p < 0.01


def test_equal_levels_seldom_differ_whatever_mood_the_series_share():
    found = [remainder(histories(0.0, mood=0.03, seed=seed)).p < 0.01 for seed in range(300)]
    assert sum(found) <= 6


def test_a_level_above_the_old_one_leaves_nothing():
    assert remainder(histories(0.05)).p == 1.0


def test_two_nights_after_the_step_back_tell_nothing():
    assert remainder(histories(-0.037)[:, : BEFORE + 2]) is None


def test_the_change_is_that_of_the_headline_metric():
    logs = histories(-0.03)
    logs[6:, BEFORE:] -= 0.2
    found = remainder(logs, np.arange(12) < 6)
    assert abs(found.change + 0.03) < 0.015


def test_gaps_and_series_without_enough_nights_are_left_out():
    logs = histories(-0.037)
    logs[0, :18] = np.nan
    logs[1:, 4] = np.nan
    assert remainder(logs).p < 0.01
