"""The newest points of many series as arrays: the same as those of their histories."""

from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.utils import timezone

from benchdash.results.models import Run, Series, ServerVersion
from benchdash.results.newest_points import Stream, newest_points
from benchdash.results.queries import histories
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db


class Row(NamedTuple):
    value: float
    version_id: int
    independent: int
    run_ids: frozenset


def as_row(point):
    """A point of a history as what is expected of it."""
    return Row(point.value, point.version.pk, point.independent, frozenset(point.run_ids))


def assert_same(*, newest=100, since=None):
    """The points of every series are those of its history; the newest, of its history from then on."""
    series = Series.objects.in_bulk()
    found = newest_points(streams(series), newest=newest)
    rows = [[] for _ in series]
    for at, of_series in enumerate(found.series.tolist()):
        runs = frozenset(found.run_ids[found.point_of_run == at].tolist())
        rows[of_series].append(
            Row(float(found.values[at]), int(found.version_ids[at]), int(found.independent[at]), runs)
        )
        assert {found.starts[of_series, run] for run in runs} == {at}
    assert rows == [list(map(as_row, points)) for points in histories(series, since=since).values()]
    return rows


def streams(series):
    return {pk: Stream(one.product_id, one.branch) for pk, one in series.items()}


def test_releases_are_in_the_order_of_their_versions_and_a_group_is_its_median():
    make_series([100.0, [100.0, 130.0, 110.0], 90.0])
    [rows] = assert_same()
    assert [(row.value, row.independent) for row in rows] == [(100.0, 1), (110.0, 3), (90.0, 1)]


def test_sessions_count_once():
    record = make_record(100.0)
    values = (("a", 98.0), ("a", 99.0), ("b", 101.0))
    make_runs(
        [
            replace(record, tags=(f"session:{name}",), readings=make_record(value).readings)
            for name, value in values
        ]
    )
    [[row]] = assert_same()
    assert (len(row.run_ids), row.independent) == (3, 2)


def test_a_branch_is_in_the_order_of_its_commits_whether_their_time_is_known_or_not():
    project = make_project()
    make_series([1.0, 2.0, 3.0, [4.0, 5.0]], project=project, branch="main")
    ServerVersion.objects.filter(commit=f"{2:040x}").update(committed_at=None)
    [rows] = assert_same()
    assert sorted(row.value for row in rows) == [1.0, 2.0, 3.0, 4.5]


def test_runs_of_a_branch_without_a_commit_are_one_group_a_day():
    record = replace(make_record(1.0, branch="main"), commit=None, committed_at=None)
    times = [START, START + timedelta(hours=2), START + timedelta(days=1)]
    make_runs(
        [
            replace(record, started_at=time, readings=make_record(float(at)).readings)
            for at, time in enumerate(times)
        ]
    )
    [rows] = assert_same()
    assert [(row.value, row.independent) for row in rows] == [(0.5, 2), (2.0, 1)]


def test_excluded_runs_do_not_count():
    make_series([1.0, [2.0, 4.0], 3.0])
    Run.objects.filter(pk=Run.objects.order_by("started_at")[2].pk).update(excluded_at=timezone.now())
    [rows] = assert_same()
    assert [row.value for row in rows] == [1.0, 2.0, 3.0]


def test_contents_of_a_configuration_that_differ_are_groups_of_their_own():
    project = make_project()
    for content in ("1G", "2G"):
        make_run(100.0, project=project, settings={"innodb_buffer_pool_size": content})
    [rows] = assert_same()
    assert [row.independent for row in rows] == [1, 1]


def test_of_long_histories_the_newest_runs_can_be_had_alone():
    make_series([1.0, 2.0, 3.0, 4.0])
    third = Run.objects.order_by("started_at")[2]
    [rows] = assert_same(newest=2, since=third.started_at)
    assert [row.value for row in rows] == [3.0, 4.0]


def test_many_series_take_as_many_statements_as_one(django_assert_num_queries):
    project = make_project()
    for metric in ("tps", "qps", "latency_p95"):
        make_series([1.0, 2.0, 3.0], project=project, metric=metric)
    series = Series.objects.in_bulk()
    with django_assert_num_queries(1):
        assert newest_points(streams(series), newest=10).series.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_series_without_runs_has_no_points():
    assert len(newest_points({1: Stream(1, "main")}, newest=10).values) == 0
    assert len(newest_points({}, newest=10).values) == 0
