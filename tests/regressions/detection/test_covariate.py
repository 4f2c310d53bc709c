import numpy as np
import pytest

from benchdash.regressions.detection.covariate import relative_to_control, without_machine
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


def beside_a_control(n=60, *, noise=0.02, seed=5):
    """A server and its control on a machine that goes up and down: each with noise of its own."""
    speed = speeds(n, seed)
    rng = np.random.default_rng([seed, 2])
    return (1000 * speed * np.exp(noise * rng.normal(size=(2, n)))).tolist()


def test_beside_a_control_a_step_is_found_that_the_machine_hides():
    tested, control = beside_a_control()
    table = {("read", "tps"): np.array(tested) * np.repeat([1.0, 0.9], 30)}
    directions = {("read", "tps"): "higher"}
    assert find_joint_shifts(table, directions) == []
    (shift,) = find_joint_shifts(table, directions, controls={("read", "tps"): control})
    assert (shift.index, shift.worse, shift.state) == (30, True, "confirmed")


def test_another_workload_of_the_control_tells_the_speed_of_the_machine_too():
    tested, control = beside_a_control()
    table = {("read", "tps"): np.array(tested) * np.repeat([1.0, 0.9], 30), ("write", "tps"): [None] * 60}
    directions = {("read", "tps"): "higher", ("write", "tps"): "higher"}
    (shift,) = find_joint_shifts(table, directions, controls={("write", "tps"): control})
    assert (shift.index, shift.worse) == (30, True)


def test_a_large_step_of_the_machine_leaves_no_shift_in_what_is_relative_to_the_control():
    machine = np.repeat([1.0, 0.6], [30, 20])
    for seed in range(20):
        tested, control = np.array(beside_a_control(50, seed=seed)) / speeds(50, seed) * machine
        table, directions = {("read", "tps"): tested}, {("read", "tps"): "higher"}
        assert find_joint_shifts(table, directions, controls={("read", "tps"): control}) == []


def test_eleven_points_with_a_control_are_too_few():
    tested, control = np.array(beside_a_control(11))
    assert relative_to_control(tested, control, np.log(control)) is tested
