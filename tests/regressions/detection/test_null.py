"""What the rule confirms in shuffled histories, where there is nothing to be found."""

import numpy as np
import pytest

from benchdash.regressions.detection.null import _level, false_alarms

HIGHER = {("read", "tps"): "higher", ("write", "tps"): "higher"}


def noisy(levels, *, seed):
    return np.array(levels) * np.exp(0.02 * np.random.default_rng(seed).standard_normal(len(levels)))


def shuffled(table, *, known=(), seed=1):
    return false_alarms(table, HIGHER, known=known, rng=np.random.default_rng(seed))


def test_the_levels_between_known_changes_are_put_on_the_first():
    assert _level(np.array([100.0, 102, 98, 50, np.nan, 49, 51]), [0, 3, 7]) == pytest.approx(
        [100, 102, 98, 100, np.nan, 98, 102], nan_ok=True
    )


def test_a_level_without_a_value_or_of_zeros_stays_as_it_is():
    assert _level(np.array([np.nan, np.nan, 0, 0, 50, 50]), [0, 2, 4, 6]) == pytest.approx(
        [np.nan, np.nan, 0, 0, 50, 50], nan_ok=True
    )


def test_every_position_is_a_look_once_two_are_there_and_every_value_a_point():
    table = {key: noisy([100.0] * 40, seed=i) for i, key in enumerate(HIGHER)}
    found = shuffled(table)
    assert (found.looks, found.points) == (39, 80)
    assert (found.shifts, found.members) == (0, 0)


def test_a_change_that_is_known_is_no_false_alarm():
    table = {key: noisy([100.0] * 20 + [70.0] * 20, seed=i) for i, key in enumerate(HIGHER)}
    assert [shuffled(table, known=[20], seed=seed).shifts for seed in range(5)] == [0] * 5


def test_the_same_seed_gives_the_same_answer():
    table = {key: np.exp(np.random.default_rng(i).standard_t(1, 60)) for i, key in enumerate(HIGHER)}
    assert [shuffled(table, seed=seed) for seed in range(5)] == [
        shuffled(table, seed=seed) for seed in range(5)
    ]


def test_an_alarm_is_counted_once_however_many_looks_it_lasts():
    # The first level has two modes and so a mean above its median, on which it is put.
    table = {key: noisy([100.0] * 22 + [160.0] * 18 + [100.0] * 40, seed=i) for i, key in enumerate(HIGHER)}
    found = false_alarms(table, HIGHER, known=[40], expected=[40], rng=np.random.default_rng(1))
    assert found.looks == 79
    assert 1 <= found.shifts <= 3
    assert found.shifts <= found.members <= 2 * found.shifts
