"""Points as plain rows: the same as those of a history."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.results.models import Run, Series, ServerVersion
from benchdash.results.point_rows import point_rows
from benchdash.results.queries import histories
from benchdash.results.readings import HIGHER, Reading
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db


def as_row(point):
    """A point of a history as the row that it should be."""
    return (
        point.version.version,
        point.commit,
        point.time.timestamp(),
        point.value,
        point.low,
        point.high,
        point.n,
        point.run_id,
        point.version.pk,
        point.run_ids,
        point.independent,
    )


def assert_same(*, newest=None, since=None):
    """The rows of every series are the points of its history; the newest, of its history from then on."""
    series = Series.objects.in_bulk()
    found, expected = point_rows(series, newest=newest), histories(series, since=since)
    assert found == {pk: list(map(as_row, points)) for pk, points in expected.items()}
    return list(found.values())


def test_releases_are_in_the_order_of_their_versions_and_a_group_is_its_median():
    make_series([100.0, [100.0, 130.0, 110.0], 90.0])
    [rows] = assert_same()
    assert [(row.version, row.value, row.n) for row in rows] == [
        ("10.6.1", 100.0, 1),
        ("10.6.2", 110.0, 3),
        ("10.6.3", 90.0, 1),
    ]
    assert (rows[0].low, rows[1].low is None) == (None, False)


def test_the_interval_of_a_single_run_is_the_tools_own():
    make_run(readings=[Reading("score", 50.0, "ops/s", HIGHER, low=48.0, high=52.0)])
    [[row]] = assert_same()
    assert (row.low, row.high) == (48.0, 52.0)


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
    assert (row.n, row.independent) == (3, 2)


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
    assert [(row.value, row.n) for row in rows] == [(0.5, 2), (2.0, 1)]


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
    assert [row.n for row in rows] == [1, 1]


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
        assert [len(rows) for rows in point_rows(series).values()] == [3, 3, 3]
