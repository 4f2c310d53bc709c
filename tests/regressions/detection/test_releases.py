"""A handful of releases, judged by the noise of their family."""

import numpy as np
import pytest

from benchdash.regressions.detection.releases import find_release_shifts, find_shift_at
from benchdash.results.readings import HIGHER, LOWER
from tests.ingest.small_datum import SMALL_DATUM

WORKLOADS = 12


def matrix(levels, *, workloads=WORKLOADS, threads=(4,), sessions=1, noise=0.01, session_noise=0.003, seed=1):
    """About 1,000 tps times ``levels[release]`` in each cell; or ``levels(workload, threads)`` gives them."""
    rng = np.random.default_rng(seed)
    of = levels if callable(levels) else lambda workload, threads: levels
    releases = len(of(0, threads[0]))
    session = session_noise * rng.normal(size=(releases, sessions))
    return {
        ((f"w{workload}", count), "tps"): (
            1000
            * np.array(of(workload, count))[:, None]
            * np.exp(session + noise * rng.normal(size=(releases, sessions)))
        ).tolist()
        for workload in range(workloads)
        for count in threads
    }


def found(table, **options):
    return find_release_shifts(table, dict.fromkeys(table, HIGHER), **options)


def a_third_loses(levels):
    """The first third of the workloads has these levels, the others stay where they are."""
    return lambda workload, threads: levels if workload < WORKLOADS / 3 else [1.0] * len(levels)


THE_FIRST_THIRD = {f"w{workload}" for workload in range(WORKLOADS // 3)}


def workloads_of(shift):
    return {what[0] for what, _ in shift.members}


# --- nothing to say ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [{}, {(("w", 4), "tps"): []}, {(("w", 4), "tps"): [[], []]}])
def test_nothing_measured_is_nothing_found(table):
    assert found(table) == []


@pytest.mark.parametrize("values", [[100], [100, 50], [100, 0], [0, 0, 0], [float("nan"), 100, 50]])
def test_single_runs_of_one_workload_prove_nothing(values):
    assert found({(("w", 4), "tps"): [[value] for value in values]}) == []


def test_equal_values_do_not_make_a_machine_free_of_noise():
    assert found({(("w", 4), "tps"): [[100], [100], [99.5], [99.5]]}) == []


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_not_confirmed(seed):
    table = matrix([1.0] * 6, seed=seed, session_noise=0.02)
    assert [shift for shift in found(table) if shift.state == "confirmed"] == []


def test_two_releases_that_differ_by_a_session_are_the_same():
    # Everything lost a tenth at once: one session each cannot tell the server from the machine.
    assert found(matrix([1.0, 0.9])) == []


# --- part of the workloads --------------------------------------------------------------------------------


def test_workloads_that_lose_together_are_suspected_after_one_run_each():
    [shift] = found(matrix(a_third_loses([1.0, 1.0, 1.0, 0.92])))
    assert (shift.index, shift.worse, shift.state) == (3, True, "suspected")
    assert workloads_of(shift) == THE_FIRST_THIRD


def test_and_confirmed_when_the_next_release_shows_it_too():
    [shift] = found(matrix(a_third_loses([1.0, 1.0, 1.0, 0.92, 0.92])))
    assert (shift.index, shift.worse, shift.state) == (3, True, "confirmed")
    assert workloads_of(shift) == THE_FIRST_THIRD
    for one in shift.members.values():
        assert one.change == pytest.approx(-0.08, abs=0.03)
        assert one.family.series == WORKLOADS
        assert one.family.noise == pytest.approx(0.01, abs=0.005)
        assert one.after < one.family.low < one.before < one.family.high


def test_a_gain_is_found_alike():
    [shift] = found(matrix(a_third_loses([1.0, 1.0, 1.0, 1.08, 1.08])))
    assert (shift.worse, shift.state) == (False, "confirmed")


def test_a_release_whose_sessions_disagree_is_not_confirmed():
    # The loss of the fourth release is gone in the fifth: it was a bad hour.
    shifts = found(matrix(a_third_loses([1.0, 1.0, 1.0, 0.85, 1.0])))
    assert "confirmed" not in {shift.state for shift in shifts}


def test_two_releases_of_one_run_each_are_compared_by_how_the_others_moved():
    [shift] = found(matrix(a_third_loses([1.0, 0.85])))
    assert shift.state == "suspected"
    assert workloads_of(shift) == THE_FIRST_THIRD


def test_response_times_that_rise_are_for_the_worse():
    table = matrix(a_third_loses([1.0, 1.0, 1.0, 1.08, 1.08]))
    [shift] = find_release_shifts(table, dict.fromkeys(table, LOWER))
    assert (shift.worse, shift.state) == (True, "confirmed")


def test_workloads_that_some_releases_lack_do_not_disturb_the_others():
    table = matrix(a_third_loses([1.0, 1.0, 1.0, 0.92, 0.92]))
    table[("w11", 4), "tps"][1:] = [[], [], [], []]
    table[("w10", 4), "tps"][0] = []
    [shift] = found(table)
    assert workloads_of(shift) == THE_FIRST_THIRD


# --- everything -------------------------------------------------------------------------------------------


def test_a_loss_of_everything_needs_to_know_how_sessions_scatter():
    [shift] = found(matrix([1.0] * 2 + [0.9] * 2))
    assert (shift.index, shift.state) == (2, "suspected")
    [shift] = found(matrix([1.0] * 4 + [0.9] * 4))
    assert (shift.index, shift.state) == (4, "confirmed")
    assert len(shift.members) == WORKLOADS


def test_the_newest_session_alone_confirms_no_loss_of_everything():
    [shift] = found(matrix([1.0] * 8 + [0.85]))
    assert (shift.index, shift.state) == (8, "suspected")


# --- threads ----------------------------------------------------------------------------------------------

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)


def from_64_on(workload, threads):
    return [1.0, 0.8] if threads >= 64 else [1.0, 1.0]


def test_a_loss_at_many_threads_is_found_there_although_sessions_differ():
    table = matrix(from_64_on, workloads=1, threads=COUNTS, sessions=3, noise=0.01, session_noise=0.05)
    [shift] = found(table, expected=[1])
    assert (shift.index, shift.worse, shift.state) == (1, True, "confirmed")
    assert {what[1] for what, _ in shift.members} == {64, 128}


# --- what was known before --------------------------------------------------------------------------------


def test_what_was_confirmed_stays_on_evidence_that_would_not_confirm_it_anew():
    table = matrix([1.0] * 2 + [0.9] * 2)
    assert [shift.state for shift in found(table)] == ["suspected"]
    [shift] = found(table, known=[2], search=False)
    assert (shift.index, shift.state) == (2, "confirmed")


def test_what_was_confirmed_is_moved_where_the_evidence_has_gone():
    [shift] = found(matrix(a_third_loses([1.0, 1.0, 0.92, 0.92, 0.92])), known=[3])
    assert (shift.index, shift.state) == (2, "confirmed")


def test_what_was_confirmed_goes_when_later_releases_do_not_show_it():
    table = matrix(a_third_loses([1.0, 1.0, 0.92, 0.92, 1.0, 1.0, 1.0, 1.0]))
    assert found(table, known=[6], search=False) == []


# --- published results ------------------------------------------------------------------------------------

needs_small_datum = pytest.mark.skipif(
    not SMALL_DATUM.is_dir(), reason="the published results of small_datum are not here"
)
EIGHT_BUILDS = ("5.6.51", "5.7.44", "8.0.43", "8.0.44", "8.4.6", "8.4.7", "9.4.0", "9.5.0")


def published():
    """33 workloads on eight builds of MySQL, one run each, as their author published them."""
    lines = (SMALL_DATUM / "qps.abs.all.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if line[:1].isdigit()]
    return {((row[-1], 1), "qps"): [[float(cell)] for cell in row[:-1]] for row in rows}


@needs_small_datum
def test_of_eight_published_builds_in_a_row_only_the_step_to_8_0_is_certain():
    table = published()
    assert len(table) == 33
    shifts = {EIGHT_BUILDS[shift.index]: shift for shift in found(table)}
    assert [version for version, shift in shifts.items() if shift.state == "confirmed"] == ["8.0.43"]
    step = shifts["8.0.43"]
    assert step.worse
    assert len(step.members) >= 5
    assert {"insert_range=100", "delete_range=100"} < workloads_of(step)
    assert min(one.change for one in step.members.values()) == pytest.approx(-0.39, abs=0.01)


@needs_small_datum
@pytest.mark.parametrize("builds", [(2, 4), (4, 6), (6, 8)], ids=["8.0", "8.4", "9"])
def test_two_published_releases_of_one_line_are_the_same(builds):
    assert found({key: cells[slice(*builds)] for key, cells in published().items()}) == []


# --- one session each ---------------------------------------------------------------------------------------


def test_one_session_each_suspects_a_quarter_and_says_that_it_knows_no_noise():
    [shift] = found(matrix([1.0, 0.75], workloads=5, threads=(1, 8, 32)))
    assert (shift.index, shift.worse, shift.state) == (1, True, "suspected")
    for member in shift.members.values():
        assert (member.confidence, member.family.noise, member.family.low) == (None, None, None)


def test_one_session_each_is_never_confirmed_however_large_the_step():
    for level in (0.5, 0.1, 10.0):
        assert {shift.state for shift in found(matrix([1.0, level], workloads=8))} == {"suspected"}


def test_runs_that_scatter_let_one_session_scatter_too():
    assert found(matrix([1.0, 0.6], workloads=5, noise=0.2)) == []


# --- where the one change may be ----------------------------------------------------------------------------


def test_the_one_place_where_a_change_may_be_needs_no_search():
    table = matrix([1.0, 0.9], workloads=4, sessions=3, session_noise=0.01)
    directions = dict.fromkeys(table, HIGHER)
    shift = find_shift_at(1, table, directions)
    assert (shift.index, shift.worse, shift.state) == (1, True, "confirmed")
    assert find_shift_at(1, matrix([1.0, 1.0], sessions=3), dict.fromkeys(matrix([1.0]), HIGHER)) is None


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_place_without_a_level_on_both_sides_shows_nothing(index):
    table = {(("w", 4), "tps"): [[1.0, 2.0]]}
    assert find_shift_at(index, table, dict.fromkeys(table, HIGHER)) is None


# --- the expected range -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_no_new_level_lies_where_its_own_evidence_expects_it(seed):
    rng = np.random.default_rng(seed)
    releases, workloads = int(rng.integers(2, 8)), int(rng.integers(1, 15))
    levels = np.exp(0.2 * rng.normal(size=(workloads, releases)) * (rng.random((workloads, 1)) < 0.6))
    table = matrix(
        lambda workload, threads: levels[workload],
        workloads=workloads,
        threads=(1, 8, 64)[: int(rng.integers(1, 4))],
        sessions=int(rng.integers(1, 4)),
        noise=float(rng.choice([0.01, 0.1, 0.5])),
        session_noise=float(rng.choice([0.003, 0.1])),
        seed=seed,
    )
    directions = dict.fromkeys(table, LOWER if seed % 2 else HIGHER)
    everywhere = [find_shift_at(index, table, directions) for index in range(1, releases)]
    for shift in (*find_release_shifts(table, directions), *filter(None, everywhere)):
        assert shift.members
        for member in shift.members.values():
            assert member.family.low is None or not member.family.low <= member.after <= member.family.high
