import math

import numpy as np
import pytest

from benchdash.regressions.detection.joint import find_joint_shifts
from tests.regressions.detection.test_histories import HISTORIES, read

DIRECTIONS = {"tps": "higher", "latency_avg": "lower", "latency_p95": "lower"}


def directions(table):
    return {key: DIRECTIONS[key[1]] for key in table}


def place(*speeds, noise=0.03, seed=1):
    """tps and latency_avg of as many workloads as there are speeds, each a list of relative levels."""
    rng = np.random.default_rng(seed)
    table = {}
    for number, speed in enumerate(speeds):
        measured = np.array(speed) * np.exp(noise * rng.normal(size=len(speed)))
        table[f"workload {number}", "tps"] = 1000 * measured
        table[f"workload {number}", "latency_avg"] = 4 / measured
    return table


def found(table, **options):
    return find_joint_shifts(table, directions(table), **options)


def test_workloads_that_fall_together_are_one_shift_with_their_own_levels():
    (shift,) = found(place([1] * 20 + [0.9] * 6, [1] * 20 + [0.8] * 6, [1] * 20 + [0.85] * 6))
    assert (shift.index, shift.worse, shift.state) == (20, True, "confirmed")
    assert len(shift.members) == 6
    assert shift.members["workload 1", "tps"].change == pytest.approx(-0.2, abs=0.02)
    assert shift.members["workload 1", "latency_avg"].change == pytest.approx(0.25, abs=0.03)


def test_together_they_show_what_none_shows_alone():
    table = place(*[[1] * 20 + [0.93] * 6] * 8, noise=0.06)
    alone = [found({key: values}) for key, values in table.items()]
    assert alone == [[]] * 16
    assert [shift.index for shift in found(table)] == [20]


def test_metrics_of_the_same_runs_are_not_counted_as_more_evidence():
    once = {("w", "tps"): place([1] * 20 + [0.95] * 6)["workload 0", "tps"]}
    twice = {("w", "tps"): once["w", "tps"], ("w", "latency_avg"): 4000 / once["w", "tps"]}
    (from_one,), (from_two,) = found(once), found(twice)
    assert from_two.confidence <= from_one.confidence


def test_a_workload_that_moves_alone_is_found_and_the_others_are_not_blamed():
    (shift,) = found(place([1] * 20 + [0.7] * 8, [1] * 28, [1] * 28))
    assert (shift.index, shift.worse) == (20, True)
    assert {workload for workload, _ in shift.members} == {"workload 0"}


def test_a_tail_latency_may_move_alone():
    table = place([1] * 30)
    table["workload 0", "latency_p95"] = (
        7 * np.repeat([1, 1.5], [20, 10]) * np.exp(0.03 * np.random.default_rng(2).normal(size=30))
    )
    (shift,) = found(table)
    assert (shift.index, shift.worse, set(shift.members)) == (20, True, {("workload 0", "latency_p95")})


def test_opposite_directions_are_two_shifts():
    shifts = found(place([1] * 20 + [0.7] * 8, [1] * 20 + [1.4] * 8))
    assert sorted((shift.index, shift.worse) for shift in shifts) == [(20, False), (20, True)]


def test_two_positions_are_a_suspicion():
    (shift,) = found(place([1] * 20 + [0.8] * 2, [1] * 20 + [0.8] * 2))
    assert (shift.index, shift.state) == (20, "suspected")


def test_missing_nights_and_a_night_only_half_uploaded_do_not_matter():
    table = place([1] * 20 + [0.8] * 6, [1] * 20 + [0.8] * 6)
    for position, key in (
        (4, ("workload 0", "tps")),
        (25, ("workload 1", "tps")),
        (25, ("workload 1", "latency_avg")),
    ):
        table[key][position] = math.nan
    assert [shift.index for shift in found(table)] == [20]


@pytest.mark.parametrize("n", range(7))
def test_a_handful_of_unchanged_positions_says_nothing(n):
    assert found(place([1] * n, [1] * n)) == []


def test_series_that_never_vary_or_were_never_measured_are_no_evidence():
    table = place([1] * 20 + [0.8] * 6)
    table["idle", "tps"] = np.full(26, 5.0)
    table["never", "tps"] = np.full(26, math.nan)
    (shift,) = found(table)
    assert {workload for workload, _ in shift.members} == {"workload 0"}


def test_no_series_no_shift():
    assert found({}) == []


def test_series_of_one_table_are_equally_long():
    with pytest.raises(ValueError, match="equally long"):
        found({("w", "tps"): [1, 2, 3], ("w", "latency_avg"): [1, 2]})


def test_a_known_position_keeps_its_place():
    table = place([1] * 20 + [0.8] * 10, [1] * 20 + [0.8] * 10)
    assert [shift.index for shift in found(table, known=[21])] == [21]


def test_night_by_night_the_measured_switch_is_confirmed_once_and_stays():
    """Nights 0 to 30 as they came in, each looked at with what was known the night before."""
    history = read(HISTORIES / "nights-instrumentation.json")
    known, told = [], []
    for night in range(1, 32):
        table = {(line["workload"], line["metric"]): line["values"][:night] for line in history["lines"]}
        known = [shift.index for shift in found(table, known=known) if shift.state == "confirmed"]
        told.append(list(known))
    assert told == [[]] * 30 + [[26]]


def test_unchanged_workloads_that_share_their_noise_raise_few_false_alarms():
    """Six places of three workloads on a machine with bursts, looked at 35 times each: at most one alarm."""
    alarms = 0
    for seed in range(6):
        rng = np.random.default_rng([11, seed])
        machine = -0.05 * rng.exponential(size=40) + 0.03 * rng.normal(size=40)
        table = place(*[np.exp(machine)] * 3, noise=0.04, seed=seed)
        for n in range(6, 41):
            looks = found({key: values[:n] for key, values in table.items()})
            alarms += any(shift.state == "confirmed" for shift in looks)
    assert alarms <= 1


def test_a_step_smaller_than_a_bucket_of_the_histogram_is_none():
    below, above = 8.13, 8.28
    before, after = [below, above] * 10, [above] * 12
    assert np.median(after) / np.median(before) - 1 < above / below - 1
    assert found({("w", "latency_p95"): before + after}) == []
    (shift,) = found({("w", "latency_p95"): [below] * 18 + [above] * 2 + [9.05] * 10 + [9.22] * 2})
    assert shift.index == 20


# --- one cause or several --------------------------------------------------------------------------------


def losses(*firsts, nights=45, loss=0.1, noise=0.02, mood=0.015, seed=1):
    """Throughput of as many workloads as there are first nights of a loss, on a machine with its moods."""
    rng = np.random.default_rng([5, seed])
    moods = rng.normal(0, mood, nights)
    levels = [np.where(np.arange(nights) >= first, math.log(1 - loss), 0) for first in firsts]
    return {
        (f"workload {number}", "tps"): 1000 * np.exp(level + moods + rng.normal(0, noise, nights))
        for number, level in enumerate(levels)
    }


def by_cause(shifts):
    """The workloads of each shift, and where it may have begun."""
    return [
        ({int(workload.split()[1]) for workload, _ in one.members}, next(iter(one.members.values())).began)
        for one in shifts
    ]


@pytest.mark.parametrize("apart", [2, 3, 4, 5])
def test_losses_of_different_workloads_a_few_nights_apart_are_two_shifts(apart):
    for seed in range(5):
        first, second = by_cause(found(losses(*[30] * 6, *[30 + apart] * 6, seed=seed)))
        assert (first[0], second[0]) == (set(range(6)), set(range(6, 12)))
        assert first[1][0] <= 30 <= first[1][1] < second[1][0] <= 30 + apart <= second[1][1]


@pytest.mark.parametrize(("loss", "noise"), [(0.05, 0.02), (0.05, 0.025), (0.1, 0.025)])
def test_one_loss_of_noisy_workloads_stays_one_shift_whose_range_holds_it(loss, noise):
    for seed in range(10):
        [(_, (first, last))] = by_cause(found(losses(*[30] * 12, loss=loss, noise=noise, seed=seed)))
        assert first <= 30 <= last


def test_two_shifts_stay_two_from_the_night_on_when_they_were_told_apart():
    table = losses(*[30] * 6, *[33] * 6)
    known, numbers = [], []
    for night in range(25, 46):
        looks = found({key: values[:night] for key, values in table.items()}, known=known)
        known = [shift.index for shift in looks if shift.state == "confirmed"]
        numbers.append(len(known))
    assert known == [30, 33]
    assert numbers == sorted(numbers)


def test_a_loss_between_two_nights_that_were_not_measured_may_have_begun_in_either():
    table = losses(*[30] * 6)
    for values in table.values():
        values[[28, 29]] = np.nan
    [(_, (first, last))] = by_cause(found(table))
    assert (first, last) == (28, 30)
