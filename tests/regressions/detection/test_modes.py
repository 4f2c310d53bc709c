"""Series that go between two levels and back, again and again."""

import numpy as np
import pytest

from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.modes import offsets_of

NIGHTS = 100
LOW = 0.95


def noise(seed, *, sd=0.01, correlation=0.0, nights=NIGHTS):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, sd, nights)
    for at in range(1, nights):
        x[at] = correlation * x[at - 1] + np.sqrt(1 - correlation**2) * x[at]
    return x


def stays(*nights):
    """1.0 and LOW in turns, for so many nights each."""
    return np.concatenate([[LOW if at % 2 else 1.0] * stay for at, stay in enumerate(nights)])


def alternating(seed=1, *, step=0.0, stay=6):
    levels = stays(*[stay] * (NIGHTS // stay + 1))[:NIGHTS]
    levels[80:] *= 1 + step
    return 1000 * levels * np.exp(noise(seed))


def confirmed(values, first=20):
    """The nights at which steps are confirmed first, by the night of each, and the steps of the last look."""
    table = {("bimodal", "tps"): values} | {(at, "tps"): 1000 * np.exp(noise(at)) for at in range(100, 105)}
    told, last = {}, []
    for night, shifts in enumerate(joint_looks(table, dict.fromkeys(table, "higher"), first_new=first), 21):
        last = [shift.index for shift in shifts if shift.state == "confirmed"]
        for index in last:
            told.setdefault(index, night)
    return told, last


def test_a_series_that_goes_to_and_fro_three_times_has_two_levels():
    _, low, high = offsets_of(np.log(alternating()))
    assert np.exp(low) == pytest.approx(950, rel=0.01)
    assert np.exp(high) == pytest.approx(1000, rel=0.01)


def test_visits_are_told_as_steps_until_they_are_known_and_then_taken_back():
    told, last = confirmed(alternating())
    assert {night for night in told.values() if night <= 45}
    assert not {night for night in told.values() if night > 45}
    assert last == []


def test_visits_before_the_window_that_shows_two_levels_belong_to_them():
    values = 1000 * stays(*[20] * 2, *[6] * 20)[:NIGHTS] * np.exp(noise(1))
    offsets, *_ = offsets_of(np.log(values))
    assert not offsets[1:19].any()
    assert offsets[21:39].all()


def test_a_true_step_before_the_two_levels_stays():
    values = 1000 * np.append([0.8] * 20, stays(*[6] * 20))[:NIGHTS] * np.exp(noise(1))
    _, last = confirmed(values)
    assert last == [20]


def test_a_step_of_both_levels_is_told():
    told, _ = confirmed(alternating(step=-0.10))
    assert [night for index, night in told.items() if 78 <= index <= 82 and night <= 90]


def test_a_stay_longer_than_the_window_is_a_level():
    values = 1000 * stays(*[6] * 10, 90) * np.exp(noise(1, nights=150))
    offsets, low, high = offsets_of(np.log(values))
    assert np.isnan([low, high]).all()
    assert not offsets[-60:].any()


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_noise_has_no_two_levels(correlation):
    assert [seed for seed in range(300) if offsets_of(noise(seed, correlation=correlation))[0].any()] == []


@pytest.mark.parametrize("steps", [1, 2])
def test_true_steps_with_slow_nights_are_no_two_levels(steps):
    called = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        x = noise(seed, correlation=0.3)
        for at in rng.integers(10, NIGHTS - 5, steps):
            x[at:] += rng.choice([-0.05, 0.05])
        slow = rng.random(NIGHTS) < 0.05
        x[slow] -= rng.uniform(0.02, 0.1, slow.sum())
        called += [seed] if offsets_of(x)[0].any() else []
    assert len(called) <= 1


def test_neighbouring_buckets_of_a_histogram_are_no_two_levels():
    rng = np.random.default_rng(1)
    offsets, *_ = offsets_of(np.log(9.8 * 1.018 ** rng.integers(0, 2, NIGHTS)))
    assert not offsets.any()
