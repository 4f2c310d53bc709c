"""Lines of histories: what changed around their groups, and their order on an axis."""

from datetime import timedelta

import pytest

from benchdash.accounts.access import Viewer
from benchdash.dashboard.pages.history.histories import (
    HistoryLook,
    changes_of,
    read_lines,
    rows_of,
    versions_axis,
)
from benchdash.regressions.models import ChangePoint
from benchdash.results.corrections import exclude_run
from benchdash.results.models import Run
from tests.builders import START, make_project, make_record, make_runs, make_series

pytestmark = pytest.mark.django_db


def make_change_point(series, index, **fields):
    runs = list(Run.objects.filter(measurements__series=series).order_by("started_at"))
    values = {"state": "confirmed", "before": 100, "after": 80, "change": -0.2, "confidence": 0.99}
    values |= {"groups_before": index, "groups_after": len(runs) - index}
    return ChangePoint.objects.create(series=series, run=runs[index], **{**values, **fields})


def make_nights(settings, *, project, configuration="default", version="10.6.1", **fields):
    """A run a night, each with its settings (a dict)."""
    records = [
        make_record(
            started_at=START + timedelta(days=night),
            settings=held,
            configuration_text=str(held),
            configuration=configuration,
            version=version,
            **fields,
        )
        for night, held in enumerate(settings)
    ]
    return make_runs(records, project=project)[0].measurements.get().series


def labels_of(*series):
    lines = read_lines(series)
    axis = versions_axis(lines)
    return list(axis.labels), [[axis.place(line.series, p) for p in line.points] for line in lines]


# --- what happened ------------------------------------------------------------------------------------------


def test_a_change_point_stands_at_the_first_group_of_the_new_level():
    series = make_series([100, 101, 80, 81])
    change_point = make_change_point(series, 2)
    make_change_point(series, 3, state="withdrawn")
    (line,) = read_lines([series])
    assert line.shifts == {2: change_point}
    assert line.last_shift == change_point


def test_a_switch_is_named_at_the_group_where_it_shows():
    off, on = {"performance_schema": "OFF"}, {"performance_schema": "ON"}
    series = make_nights([off, off, on, on, off], project=make_project(), branch="main")
    (line,) = read_lines([series])
    assert {index: [str(one) for one in found] for index, found in line.switches.items()} == {
        2: ["performance_schema: OFF → ON"],
        4: ["performance_schema: ON → OFF"],
    }


def test_a_group_of_which_nothing_is_known_switches_nothing():
    off, on = {"performance_schema": "OFF"}, {"performance_schema": "ON"}
    project = make_project()
    records = [
        make_record(branch="main", started_at=START, settings=off, configuration_text="a"),
        make_record(branch="main", started_at=START + timedelta(days=1)),
        make_record(branch="main", started_at=START + timedelta(days=2), settings=on, configuration_text="b"),
    ]
    series = make_runs(records, project=project)[0].measurements.get().series
    (line,) = read_lines([series])
    assert {index: [str(one) for one in found] for index, found in line.switches.items()} == {
        2: ["performance_schema: OFF → ON"]
    }


def test_a_changed_kernel_is_a_switch_too():
    records = [
        make_record(branch="main", started_at=START + timedelta(days=night), environment={"kernel": kernel})
        for night, kernel in enumerate(["6.1", "6.6"])
    ]
    series = make_runs(records)[0].measurements.get().series
    (line,) = read_lines([series])
    assert [str(one) for one in line.switches[1]] == ["kernel: 6.1 → 6.6"]


def test_excluded_runs_are_kept_apart():
    series = make_series([100, 10, 101])
    wrong = Run.objects.get(measurements__series=series, measurements__value=10)
    exclude_run(wrong, by=Viewer(), reason="the machine was busy")
    (line,) = read_lines([series])
    assert [point.value for point in line.points] == [100, 101]
    assert [point.value for point in line.excluded] == [10]
    assert versions_axis([line]).labels == ["10.6.1", "10.6.2", "10.6.3"]


def test_lines_take_the_same_statements_however_many(django_assert_num_queries):
    project = make_project()
    off, on = {"a": "OFF"}, {"a": "ON"}
    one = make_nights([off, on], project=project, branch="main")
    with django_assert_num_queries(3):
        read_lines([one])
    more = [
        make_nights([off, on, off, on], project=project, branch="main", workload=f"w{number}")
        for number in range(3)
    ]
    with django_assert_num_queries(3):
        read_lines(more)


# --- figures ------------------------------------------------------------------------------------------------


def test_the_newest_group_is_compared_with_the_one_before_and_with_the_first_level():
    (line,) = read_lines([make_series([100.0, 100.1, 99.9, 100.0, 100.2, 99.8, 100.0, 50.0])])
    change = changes_of([line])[line]
    assert change.change == pytest.approx(-0.5)
    assert change.verdict == "worse"
    assert line.of_first_level == pytest.approx(0.5)
    assert line.runs == 8
    assert line.level == 100


def test_a_night_is_held_against_its_level_and_not_against_the_night_before():
    values = [100.0, 100.1, 99.9, 100.0, 100.2, 99.8, 100.0, 100.1, 110.0, 100.0]
    (line,) = read_lines([make_series(values, branch="main")])
    change = changes_of([line])[line]
    assert change.change == pytest.approx(0.0)
    assert change.verdict == "same"


def test_one_group_has_nothing_to_be_compared_with():
    (line,) = read_lines([make_series([[100, 101]])])
    assert (changes_of([line])[line], line.noise) == (None, None)


def test_lines_that_are_compared_together_are_told_what_each_is_told_alone():
    project = make_project()
    values = {
        "tps": [100.0, 100.1, 99.9, 100.0, 100.2, 99.8, 100.0, 50.0],
        "latency_p95": [[5.0, 5.2], [5.1, 5.3], [9.0, 9.1]],
        "qps": [3.0],
        "latency_avg": [7.0, 8.0],
    }
    lines = read_lines(
        [make_series(of_metric, project=project, metric=metric) for metric, of_metric in values.items()]
    )
    assert changes_of(lines) == {line: changes_of([line])[line] for line in lines}


def test_rows_are_the_groups_of_all_lines_newest_first():
    project = make_project()
    lines = read_lines(
        [
            make_series([1, 2], project=project, workload="a"),
            make_series([3, 4], project=project, workload="b"),
        ]
    )
    rows = rows_of(lines, HistoryLook(versions_axis(lines)))
    assert [(row.name, row.point.value) for row in rows] == [
        ("10.6.2", 2),
        ("10.6.2", 4),
        ("10.6.1", 1),
        ("10.6.1", 3),
    ]
    assert [row.change for row in rows] == [1, pytest.approx(1 / 3), None, None]


# --- axes ---------------------------------------------------------------------------------------------------


def test_release_lines_share_one_axis_of_versions():
    project = make_project()
    records = [make_record(version=version) for version in ("10.11.1", "10.6.1", "10.6.20", "10.6.3")]
    runs = make_runs(records, project=project)
    series = [runs[1].measurements.get().series, runs[0].measurements.get().series]
    labels, places = labels_of(*series)
    assert labels == ["10.6.1", "10.6.3", "10.6.20", "10.11.1"]
    assert places == [[0, 1, 2], [3]]


def test_commits_are_short_and_days_stand_where_no_commit_is_known():
    project = make_project()
    commits = make_series([1, 2], project=project, branch="main")
    assert labels_of(commits)[0] == ["0000000000", "0000000000 #2"]
    nights = make_nights([{}, {}], project=project, branch="nightly")
    assert labels_of(nights)[0] == ["2026-03-02", "2026-03-03"]


def test_contents_of_one_configuration_stand_beside_each_other():
    series = make_nights([{"a": "1"}, {"a": "2"}], project=make_project())
    assert labels_of(series) == (["10.6.1", "10.6.1 (2)"], [[0, 1]])


def test_configurations_share_the_places_of_their_versions():
    project = make_project()
    plain = make_nights([{"a": "1"}], project=project)
    tuned = make_nights([{"a": "2"}], project=project, configuration="tuned")
    assert labels_of(plain, tuned) == (["10.6.1"], [[0], [0]])
