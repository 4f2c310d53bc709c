"""What histories know of the noise that versions are compared by."""

from datetime import timedelta

import numpy as np
import pytest

from benchdash.regressions.comparison.cells import series_at
from benchdash.regressions.comparison.columns import Selector, columns_of
from benchdash.regressions.comparison.noise_floors import (
    Floors,
    Histories,
    Levels,
    NoiseFloor,
    NoiseFloors,
    noise_floors,
    of_two_places,
)
from benchdash.regressions.comparison.version_table import compare_columns
from benchdash.regressions.detection.compare import compare_samples
from benchdash.regressions.tasks import analyse_touched
from tests.builders import START, make_project, make_record, make_runs, make_series

pytestmark = pytest.mark.django_db

NIGHTS = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 101.0]


@pytest.fixture
def project():
    return make_project()


def release(project, version, value, **fields):
    make_runs([make_record(value, version=version, **fields)], project=project)


def compared(project, **place):
    """The comparison of the first release with the second."""
    first, second = columns_of(project, Selector(branch="", **place))[:2]
    [row] = compare_columns(project, metric="tps", base=first, columns=[second]).rows
    return row.comparisons[0]


def floor_at(floors, what, versions=(0, 0), time=1e12):
    """The floor of one row at one place at a time, from all versions but two (ids)."""
    without = floors.histories.coded(versions)[None]
    return floors.floors([what], np.zeros(1, int), without, np.array([[time, time]]))[0]


def floor_of(project):
    """That of the only workload at the place of the only release."""
    [column] = columns_of(project, Selector(branch=""))
    floors = noise_floors(series_at(project.pk, [column.place], metrics=["tps"]))
    return floor_at(floors, (column.place, "tps", ("oltp_read_only", 4)))


def test_one_run_of_each_version_is_enough_where_nights_of_a_branch_tell_the_noise(project):
    release(project, "10.6.1", 100.0)
    release(project, "10.6.2", 90.0)
    assert (compared(project).basis, compared(project).verdict) == ("none", "unknown")
    make_series(NIGHTS, project=project, branch="main")
    assert (compared(project).basis, compared(project).verdict) == ("history", "worse")


def test_a_floor_is_the_scatter_of_sessions(project, settings):
    release(project, "10.6.1", 100.0)
    make_series([[value, value] for value in NIGHTS], project=project, branch="main")
    # The nights scatter by 0.83 %, and each has two sessions, three hours apart.
    assert floor_of(project) == NoiseFloor(pytest.approx(0.0083 * 2**0.5, rel=0.02), 7)
    settings.SESSION_GAP_S = 4 * 3600.0
    assert floor_of(project) == NoiseFloor(pytest.approx(0.0083, rel=0.02), 7)


def test_nights_elsewhere_say_nothing(project):
    release(project, "10.6.1", 100.0)
    for place in (
        {"hardware": "other"},
        {"configuration": "other"},
        {"threads": 8},
        {"counterpart": "other"},
    ):
        make_series(NIGHTS, project=project, branch="main", **place)
    make_series(NIGHTS, project=project, branch="main", metric="qps")
    assert floor_of(project) is None


def test_releases_of_all_lines_tell_the_noise_where_each_line_has_few(project):
    values = (100.0, 104.0, 97.0, 101.0, 99.0, 103.0, 98.0, 60.0)
    for number, value in enumerate(values):
        release(project, f"10.{number}.1", value, started_at=START + timedelta(days=number))
    columns = columns_of(project, Selector())
    [row] = compare_columns(project, metric="tps", base=columns[0], columns=[columns[-1]]).rows
    assert (row.comparisons[0].basis, row.comparisons[0].verdict) == ("history", "worse")


@pytest.mark.parametrize(
    ("when", "verdict"), [(timedelta(minutes=80), "worse"), (timedelta(days=30), "unknown")]
)
def test_releases_of_one_evening_do_not_tell_how_another_evening_differs(project, when, verdict):
    """Seven releases within an hour agree; who comes a month later may meet a slower machine."""
    for number, value in enumerate((100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0)):
        release(project, f"10.6.{number}", value, started_at=START + timedelta(minutes=9 * number))
    release(project, "10.6.8", 80.0, started_at=START + when)
    first, *_, last = columns_of(project, Selector())
    [row] = compare_columns(project, metric="tps", base=first, columns=[last]).rows
    assert row.comparisons[0].verdict == verdict


def test_a_step_that_was_found_is_no_noise(project):
    release(project, "10.6.1", 100.0)
    make_series([*NIGHTS, *(value / 2 for value in NIGHTS)], project=project, branch="main")
    assert floor_of(project).sd > 0.3
    analyse_touched()
    assert floor_of(project) == NoiseFloor(pytest.approx(0.0083, rel=0.02), 8)


def test_other_releases_of_the_line_tell_the_noise_where_there_are_no_nights(project):
    make_series([*NIGHTS, 90.0], project=project)
    columns = columns_of(project, Selector())
    [row] = compare_columns(project, metric="tps", base=columns[-2], columns=[columns[-1]]).rows
    [found] = row.comparisons
    # From the seven others: the two that are compared tell nothing about themselves.
    others = float(np.std(np.log(NIGHTS[:7]), ddof=1))
    alone = compare_samples([101.0], [90.0], direction="higher", history_sd=others, history_df=6)
    assert (found.basis, found.p) == ("history", pytest.approx(alone.p))


def test_two_places_need_two_histories(project):
    for hardware, value in (("box", 100.0), ("new box", 90.0)):
        release(project, "10.6.1", value, hardware=hardware)
    make_series(NIGHTS, project=project, branch="main")
    assert compared(project).basis == "none"
    make_series(NIGHTS, project=project, branch="main", hardware="new box")
    assert (compared(project).basis, compared(project).verdict) == ("history", "worse")


def both_of(left, right, runs):
    of_sides = ([float(number)] for number in runs)
    return of_two_places(Floors.of([left]), Floors.of([right]), runs=tuple(map(np.array, of_sides)))[0]


def test_the_noise_of_two_places_gives_the_error_that_both_have():
    quiet, noisy = NoiseFloor(0.01, 10), NoiseFloor(0.03, 10)
    both = both_of(quiet, noisy, (1, 4))
    # 0.01^2 / 1 + 0.03^2 / 4 = 3.25e-4 = both^2 (1 / 1 + 1 / 4)
    assert both.sd**2 == pytest.approx(3.25e-4 / 1.25)
    assert 10 < both.worth < 19
    assert both_of(quiet, quiet, (1, 1)) == NoiseFloor(pytest.approx(0.01), 19)
    assert both_of(quiet, None, (1, 1)) is None


PLACE = (1, "", 1, 1, "")
WHAT = (PLACE, "tps", ("oltp_read_only", 4))


def pooled(*histories):
    levels = Histories.of(
        [Levels(values, (), 1, (), [day * 86400.0 for day in range(len(values))]) for values in histories]
    )
    return floor_at(NoiseFloors({}, levels, {WHAT: list(range(len(histories)))}, {}, {}), WHAT)


def test_histories_of_one_thing_are_pooled_by_what_they_are_worth():
    assert pooled() is None
    steps = np.exp([0.01, -0.01] * 3)
    little, much = (
        NoiseFloor(pytest.approx(0.01 * 1.2**0.5), 5),
        NoiseFloor(pytest.approx(0.02 * 1.2**0.5), 5),
    )
    assert (pooled(steps), pooled(steps**2)) == (little, much)
    assert pooled(steps, steps**2) == NoiseFloor(pytest.approx((3e-4) ** 0.5), 10)
    assert pooled(*[steps] * 4).worth == 19


def test_a_history_that_never_scatters_is_known_for_it():
    assert pooled([100.0] * 7) == NoiseFloor(pytest.approx(0, abs=1e-6), 6)
    assert pooled([100.0] * 8) == NoiseFloor(pytest.approx(0, abs=1e-6), 7)
    assert pooled([100.0] * 5) is None


def test_any_number_of_columns_workloads_and_nights_takes_the_same_statements(
    project, django_assert_num_queries
):
    def measure(workload, nights):
        make_series([100.0, 90.0, 95.0], project=project, workload=workload)
        make_series(NIGHTS * nights, project=project, branch="main", workload=workload)

    measure("a", 1)
    base, *others = columns_of(project, Selector(branch=""))
    with django_assert_num_queries(5):
        compare_columns(project, metric="tps", base=base, columns=others[:1])
    for workload in "bcd":
        measure(workload, 2)
    with django_assert_num_queries(5):
        compare_columns(project, metric="tps", base=base, columns=others)


@pytest.mark.parametrize("branch", ["main", ""])
def test_of_equal_versions_of_one_run_each_five_per_cent_differ(project, branch):
    """Stored runs of 400 workloads, 3 % of noise: eight more nights, or releases, tell it."""
    workloads, histories = 400, 8
    logs = 0.03 * np.random.default_rng(20261120).normal(size=(workloads, histories + 2))
    records = []
    for number, row in enumerate(np.exp(logs).tolist()):
        for at, value in enumerate(row):
            is_night = branch and at >= 2
            version = (
                {"commit": f"{at:040x}", "branch": "main"} if is_night else {"version": f"10.6.{at + 1}"}
            )
            records.append(make_record(100 * value, workload=f"w{number}", started_at=START, **version))
    make_runs(records, project=project)
    base, other = columns_of(project, Selector(branch=""))[:2]
    floors = noise_floors(series_at(project.pk, [base.place], metrics=["tps"]))
    found = []
    for number, row in enumerate(np.exp(logs)):
        versions = base.version.pk, other.version.pk
        what = base.place, "tps", (f"w{number}", 4)
        floor = floor_at(floors, what, versions, START.timestamp())
        found.append(
            compare_samples(
                [100 * row[0]],
                [100 * row[1]],
                direction="higher",
                history_sd=floor.sd,
                history_df=floor.worth,
            ).p
            < 0.05
        )
    error = 2 * (0.05 * 0.95 / workloads) ** 0.5
    assert 0.04 - error <= np.mean(found) <= 0.06 + error
