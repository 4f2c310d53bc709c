"""Changes in how often something happens."""

import numpy as np
import pytest

from benchdash.regressions.detection.counts import Counts, find_count_shifts

MINUTE = 60.0
SMALLEST = 0.5 / MINUTE
STALLS = [4, 3, 5, 4, 3, 5, 4, 3, 4, 5]


def found(events, *, seconds=MINUTE, **options):
    events = np.array(events, dtype=float)
    counts = Counts(events, np.full(len(events), seconds))
    return find_count_shifts(counts, **{"smallest": SMALLEST, **options})


def test_stalls_that_begin_are_one_change_from_zero_without_per_cent():
    [shift] = found([0] * 46 + STALLS)
    assert (shift.index, shift.state, shift.before, shift.change) == (46, "confirmed", 0.0, None)
    assert shift.after == pytest.approx(4 / MINUTE)


def test_it_is_confirmed_after_three_groups():
    states = [[shift.state for shift in found([0] * 46 + STALLS[:after])] for after in range(1, 4)]
    assert states == [[], [], ["confirmed"]]


def test_stalls_that_end_are_a_change_to_zero():
    [shift] = found([4, 3, 5, 4] * 6 + [0] * 10)
    assert (shift.index, shift.state, shift.after) == (24, "confirmed", 0.0)


def test_stalls_that_come_and_go_are_two_changes():
    assert [shift.index for shift in found([0] * 30 + STALLS + [0] * 20)] == [30, 40]


def test_one_bad_night_is_no_new_level():
    assert found([0] * 30 + [500] + [0] * 10) == []
    assert found([0] * 40 + [500]) == []


def test_a_change_that_is_too_small_to_matter_is_not_told():
    often = [0] * 46 + [10] * 10
    assert found(often, seconds=3600.0) == []
    [shift] = found(often, seconds=3600.0, smallest=5 / 3600)
    assert shift.state == "confirmed"


def test_a_few_more_of_many_are_no_change_of_a_count():
    assert found([100] * 30 + [120] * 30) == []


def test_longer_runs_let_more_happen_and_nothing_changed():
    events = np.array([2.0, 3, 1, 2, 3, 2, 1, 2, 3, 2] * 2 + [20.0, 22, 18, 21, 24, 19, 20, 22])
    seconds = np.array([60.0] * 20 + [600.0] * 8)
    assert find_count_shifts(Counts(events, seconds), smallest=SMALLEST) == []


def test_groups_that_measured_nothing_are_left_out():
    events = np.array([0.0] * 40 + [np.nan] * 3 + [4.0, 3, 5, 4, 3, 5])
    seconds = np.where(np.isfinite(events), MINUTE, 0.0)
    [shift] = find_count_shifts(Counts(events, seconds), smallest=SMALLEST)
    assert shift.index == 43


@pytest.mark.parametrize("events", [[], [0] * 50, [5], [0, 0, 9, 9, 9]])
def test_nothing_and_too_little_show_nothing(events):
    assert found(events) == []


def test_a_known_change_stays_while_its_own_evidence_does():
    events = [0] * 12 + [2, 1, 2, 3, 1, 2]
    assert found(events) == []
    assert [shift.index for shift in found(events, known=[12])] == [12]
    assert found([0] * 12 + [0, 0, 1, 0, 0, 0], known=[12]) == []


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [0.3, 1.0, 100.0])
def test_events_in_bursts_are_not_confirmed(seed, shape):
    rng = np.random.default_rng(seed)
    events = rng.negative_binomial(shape, shape / (shape + 2), 80)
    assert [shift for shift in found(events) if shift.state == "confirmed"] == []
