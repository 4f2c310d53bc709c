import numpy as np
import pytest

from benchdash.regressions.detection.covariate import without_machine
from benchdash.regressions.detection.joint import find_joint_shifts


def speeds(n=60, seed=1):
    """A machine that goes up and down by a fifth."""
    return np.exp(0.2 * np.random.default_rng(seed).normal(size=n))


def test_throughput_that_only_follows_the_speed_of_the_machine_is_flat():
    speed = speeds()
    adjusted = without_machine(1000 * speed, 5 / speed)
    assert adjusted == pytest.approx(1000 * np.median(speed), rel=1e-4)


def test_a_step_of_the_server_stays_and_the_ups_and_downs_of_the_machine_go():
    speed = speeds()
    step = np.repeat([1.0, 0.9], 30)
    adjusted = without_machine(1000 * speed * step, 5 / speed)
    assert np.median(adjusted[30:]) / np.median(adjusted[:30]) == pytest.approx(0.9, abs=0.01)
    assert np.std(np.log(adjusted[:30])) < 0.02


def test_a_cost_that_explains_nothing_changes_nothing():
    values, cost = 1000 * speeds(seed=1), speeds(seed=2)
    assert without_machine(values, cost) is values


@pytest.mark.parametrize("cost", [None, np.full(60, np.nan), np.full(60, 5.0), np.zeros(60)])
def test_without_a_usable_cost_the_values_are_as_they_were(cost):
    values = 1000 * speeds()
    assert without_machine(values, cost) is values


def test_eleven_points_are_too_few():
    speed = speeds(11)
    values = 1000 * speed
    assert without_machine(values, 5 / speed) is values


def test_a_point_without_a_cost_stays_as_it_is():
    speed = speeds()
    cost = 5 / speed
    cost[7] = np.nan
    values = 1000 * speed
    assert without_machine(values, cost)[7] == values[7]


def test_with_the_cost_of_the_client_a_step_is_found_that_the_machine_hides():
    speed = speeds(seed=4)
    table = {("read", "tps"): 1000 * speed * np.repeat([1.0, 0.9], 30)}
    directions = {("read", "tps"): "higher"}
    assert find_joint_shifts(table, directions) == []
    (shift,) = find_joint_shifts(table, directions, machine={"read": 5 / speed})
    assert (shift.index, shift.worse, shift.state) == (30, True, "confirmed")
