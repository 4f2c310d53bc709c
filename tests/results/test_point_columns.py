"""Points as columns: the same as those of a history, whatever was measured."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchdash.results.models import Run, Series, ServerVersion
from benchdash.results.point_columns import COLUMNS, point_columns
from benchdash.results.queries import histories
from benchdash.results.readings import HIGHER, Reading
from tests.builders import START, make_project, make_record, make_runs, make_series

pytestmark = pytest.mark.django_db


def as_row(point):
    """A point of a history, in the order of COLUMNS."""
    return (
        point.version.version,
        point.commit,
        point.time.timestamp(),
        point.value,
        point.low,
        point.high,
        point.n,
        point.run_id,
    )


def rows_of(points, names=COLUMNS):
    return list(zip(*(points.columns[name] for name in names), strict=True))


def assert_same():
    """The columns of every series are the points of its history; the columns, all and each alone."""
    series = Series.objects.in_bulk()
    expected = {pk: list(map(as_row, points)) for pk, points in histories(series).items()}
    found = point_columns(series)
    assert {pk: rows_of(points) for pk, points in found.items()} == expected
    for at, name in enumerate(COLUMNS):
        alone = point_columns(series, [name])
        assert {pk: rows_of(points, [name]) for pk, points in alone.items()} == {
            pk: [(row[at],) for row in rows] for pk, rows in expected.items()
        }
    for pk, points in histories(series).items():
        index_of = {run: index for index, point in enumerate(points) for run in point.run_ids}
        runs = Run.objects.values_list("pk", flat=True)
        assert {run: found[pk].index_of(run) for run in runs} == {run: index_of.get(run) for run in runs}


@st.composite
def records(draw):
    """Runs of a few commits or versions at a few times, so that all that can be equal often is."""
    branch = draw(st.sampled_from(["", "main"]))
    commits = [None, *(f"{at:07x}" for at in range(4))]
    found = []
    for number in range(draw(st.integers(1, 12))):
        commit = draw(st.sampled_from(commits))
        made = draw(st.one_of(st.none(), st.integers(0, 3)))
        low = draw(st.one_of(st.none(), st.floats(1, 5)))
        value = Reading(
            "score",
            draw(st.sampled_from([5.0, 6.25, 7.0, 100.0])),
            "ops/s",
            HIGHER,
            low=low,
            high=low and low + 1,
        )
        found.append(
            make_record(
                key=str(number),
                branch=branch,
                version=draw(st.sampled_from(["10.6.1", "10.6.10", "10.6.9", "10.6.1-rc"])),
                commit=commit,
                committed_at=START + timedelta(hours=made) if commit and made is not None else None,
                started_at=START + timedelta(hours=draw(st.integers(0, 40))),
                settings=draw(st.sampled_from([None, {"size": "1G"}, {"size": "2G"}])),
                tags=draw(st.sampled_from([(), ("session:a",), ("session:b",), ("nightly",)])),
                readings=(value,),
            )
        )
    return found, draw(st.sets(st.integers(0, 11)))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(records())
def test_columns_say_what_histories_say(drawn):
    of_runs, excluded = drawn
    Run.objects.all().delete()
    Series.objects.all().delete()
    ServerVersion.objects.all().delete()
    make_runs(of_runs)
    keys = [str(at) for at in excluded]
    Run.objects.filter(key__in=keys).update(excluded_at=timezone.now())
    assert_same()


def test_a_commit_without_a_time_stands_where_another_build_or_its_first_run_has_it():
    project = make_project()
    make_series([1.0, 2.0, 3.0, [4.0, 5.0]], project=project, branch="main")
    ServerVersion.objects.filter(commit=f"{2:040x}").update(committed_at=None)
    assert_same()


def test_a_series_without_runs_that_count_has_no_points():
    make_series([1.0, 2.0])
    Run.objects.update(excluded_at=timezone.now())
    assert_same()


def test_columns_of_many_series_are_one_statement(django_assert_num_queries):
    project = make_project()
    for metric in ("tps", "qps", "latency_p95"):
        make_series([1.0, [2.0, 4.0], 3.0], project=project, metric=metric)
    record = make_record(1.0, branch="main", commit="a" * 40, committed_at=START)
    make_runs([record, replace(record, started_at=START + timedelta(days=1))], project=project)
    series = Series.objects.in_bulk()
    with django_assert_num_queries(1):
        assert sorted(map(len, point_columns(series).values())) == [1, 3, 3, 3]
