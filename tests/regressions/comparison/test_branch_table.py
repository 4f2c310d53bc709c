"""The newest groups of a branch beside a baseline."""

from datetime import timedelta
from math import exp, log

import numpy as np
import pytest

from benchdash.regressions.comparison.branch_table import Around, Base, branch_table
from benchdash.regressions.comparison.columns import Selector, columns_of
from benchdash.results.controls import control_build
from tests.builders import START, make_project, make_record, make_runs, make_series

pytestmark = pytest.mark.django_db

QUIET = [100.0, 100.5, 99.5, 100.2, 99.8]


@pytest.fixture
def project():
    return make_project()


def read(project, *, last=3, base=None, metric="tps", until=None):
    [branch, *_] = columns_of(project, Selector(branch="main"))
    return branch_table(project, branch, metric=metric, last=last, base=base and Base(base), until=until)


def ratios(found):
    return [[one and round(one.ratio, 3) for one in row.comparisons] for row in found.table.rows]


def test_the_newest_groups_stand_beside_the_release(project):
    make_series([100.0, 110.0, 90.0, 80.0], project=project, branch="main")
    make_runs([make_record(50.0, version="10.6.1"), make_record(100.0, version="10.6.2")], project=project)
    release = columns_of(project, Selector(branch=""))[-1]
    found = read(project, base=release)
    assert found.table.base.version.version == "10.6.2"
    assert found.base_group is None
    assert ratios(found) == [[1.1, 0.9, 0.8]]


def test_without_a_release_the_oldest_shown_group_is_the_baseline(project):
    make_series([50.0, 100.0, 90.0, 80.0], project=project, branch="main")
    found = read(project)
    assert found.base_group.name == "00000000"
    assert ratios(found) == [[0.9, 0.8]]


def test_a_release_without_the_metric_is_no_baseline(project):
    make_series([100.0, 90.0], project=project, branch="main", metric="qps")
    make_runs([make_record(50.0)], project=project)
    found = read(project, base=columns_of(project, Selector(branch=""))[0], metric="qps")
    assert found.base_group is not None
    assert ratios(found) == [[0.9]]


def test_runs_without_commits_are_groups_by_day(project):
    nights = [
        make_record(
            value, version="unknown", branch="main", started_at=START + timedelta(days=day, hours=hour)
        )
        for day, value in enumerate([100.0, 90.0, 80.0])
        for hour in (0, 1)
    ]
    make_runs(nights, project=project)
    found = read(project)
    assert [group.name for group in (found.base_group, *found.groups)] == ["2 Mar", "3 Mar", "4 Mar"]
    assert ratios(found) == [[0.9, 0.8]]
    assert [cell.n for cell in found.table.rows[0].cells] == [2, 2]


def test_the_history_tells_the_noise_of_single_runs(project):
    make_series([*QUIET, *QUIET, 80.0], project=project, branch="main")
    found = read(project, last=2)
    assert found.table.rows[0].comparisons[0].verdict == "worse"


def test_workloads_share_their_columns_and_may_miss_some(project):
    make_series([100.0, 90.0], project=project, branch="main", workload="ro")
    make_series([100.0], project=project, branch="main", workload="rw")
    found = read(project)
    assert {
        row.workload: [cell and cell.value for cell in (row.base, *row.cells)] for row in found.table.rows
    } == {
        "ro": [100.0, 90.0],
        "rw": [100.0, None],
    }


def test_groups_until_a_time_are_read_like_the_newest(project):
    make_series([*QUIET, 80.0, *QUIET], project=project, branch="main")
    whole = read(project, last=11)
    at = whole.groups[4].placed_at
    found = read(project, last=2, until=at)
    assert [cell.value for cell in (found.table.rows[0].base, *found.table.rows[0].cells)] == [99.8, 80.0]
    assert found.table.rows[0].comparisons[0].verdict == "worse"
    assert found.around.earlier == whole.groups[2].placed_at
    assert (found.around.later, found.around.is_last) == (whole.groups[6].placed_at, False)
    assert read(project, last=6, until=at).around.is_last
    assert whole.around == Around(None, None, is_last=True)
    assert read(project, until=at - timedelta(days=100)) is None


def test_a_metric_that_was_not_measured_has_no_table(project):
    make_series([100.0], project=project, branch="main")
    assert read(project, metric="score") is None


def test_a_control_beside_the_nights_tells_the_machine_from_the_server(project):
    """Two commits in five sessions each; the second is 10 % slower, the machine 20 %, and moody."""
    rng = np.random.default_rng(20261123)
    for number, (level, machine) in enumerate(((0.0, 0.0), (log(0.9), log(0.8)))):
        own = {
            "branch": "main",
            "commit": f"{number:040x}",
            "committed_at": START + timedelta(days=9 * number),
        }
        for session in range(5):
            mood = machine + 0.15 * rng.normal()
            start = START + timedelta(days=session + 9 * number)
            for workload in ("ro", "rw"):
                tested, beside = (100 * exp(one + mood + 0.01 * rng.normal()) for one in (level, 0.0))
                fields = {"workload": workload, "started_at": start}
                control = make_record(beside, version="1.0", build=control_build(""), **fields)
                make_runs([make_record(tested, version="unknown", **own, **fields), control], project=project)
    # A newer control that ended long before them stands beside neither.
    ended = {"version": "2.0", "build": control_build(""), "started_at": START - timedelta(days=300)}
    make_runs([make_record(100.0, workload=workload, **ended) for workload in ("ro", "rw")], project=project)
    for row in read(project).table.rows:
        [compared] = row.comparisons
        assert (compared.verdict, compared.basis) == ("worse", "control")
        assert compared.p < 0.001


def test_any_number_of_groups_and_workloads_takes_the_same_statements(project, django_assert_num_queries):
    make_series([100.0, 90.0], project=project, branch="main", workload="ro")
    [branch, *_] = columns_of(project, Selector(branch="main"))
    with django_assert_num_queries(8):
        branch_table(project, branch, metric="tps", last=8, base=None)
    for workload in "abc":
        make_series([100.0] * 12, project=project, branch="main", workload=workload)
    with django_assert_num_queries(8):
        branch_table(project, branch, metric="tps", last=8, base=None)
