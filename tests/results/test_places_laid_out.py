"""Histories as arrays: the same groups, positions and medians as those of points."""

from datetime import timedelta
from random import Random

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.results.models import Run, Series
from benchdash.results.points import histories, lay_on, lay_out, positions
from tests.builders import START, make_project, make_record, make_runs, make_series

pytestmark = pytest.mark.django_db

PLENTY = 10**6


def groups_of(layout, series):
    """Position, runs and their values of each group of a series."""
    measured = layout.measured[series.pk]
    found = {}
    for run, value in zip(measured.runs, measured.values, strict=True):
        group = found.setdefault(int(layout.runs.positions[run]), ([], []))
        group[0].append(int(layout.runs.ids[run]))
        group[1].append(float(value))
    return found


def measure_at_random(project, rng, *, branch):
    records = [
        make_record(
            rng.uniform(50, 200),
            key=str(at),
            branch=branch,
            version=f"10.6.{rng.randrange(6)}",
            commit=f"{rng.randrange(4):07x}" if branch and rng.random() < 0.7 else None,
            configuration_text=rng.choice(["", "[mysqld]\npool = 1G\n", "[mysqld]\npool = 2G\n"]) or None,
            started_at=START + timedelta(hours=rng.randrange(200)),
            threads=rng.choice([1, 4]),
        )
        for at in range(60)
    ]
    make_runs(records, project=project)


@pytest.mark.parametrize("branch", ["", "main"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_stand_where_those_of_points_stand(branch, seed):
    project = make_project()
    measure_at_random(project, Random(seed), branch=branch)
    runs = Run.objects.order_by("pk")
    runs.filter(pk__in=list(runs.values_list("pk", flat=True)[:5])).update(excluded_at=START)
    series = list(Series.objects.all())
    layout = lay_out(series, most_values=PLENTY)
    points = histories([one.pk for one in series])
    place = positions(points.values(), branch=branch)
    assert len(layout.runs.groups) == len(place)
    for one in series:
        assert groups_of(layout, one) == {
            place[point.position]: (list(point.run_ids), list(point.values)) for point in points[one.pk]
        }


def record_nights(nights, *, branch="main"):
    """At two thread counts, in the order of ``nights``; the value is the number of the night."""
    records = [
        make_record(
            float(night),
            key=f"{place} {threads}",
            branch=branch,
            version=f"10.6.{night}",
            commit=f"{night:07x}" if branch else None,
            started_at=START + timedelta(days=night),
            threads=threads,
        )
        for place, night in enumerate(nights, 100)
        for threads in (1, 4)
    ]
    make_runs(records, project=make_project())
    return list(Series.objects.order_by("threads"))


def test_only_the_newest_nights_are_read_where_there_are_too_many_whatever_came_in_last():
    series = record_nights([6, 1, 4, 2, 5, 3])
    layout = lay_out(series, most_values=6)
    assert [layout.measured[one.pk].values.tolist() for one in series] == [[4.0, 5.0, 6.0]] * 2
    assert (len(layout.runs.groups), layout.runs.is_cut) == (3, True)
    assert not lay_out(series, most_values=PLENTY).runs.is_cut


def test_an_old_commit_that_is_measured_again_stays_before_the_cut():
    series = record_nights(range(1, 7))
    again = make_record(
        9.0,
        key="again",
        branch="main",
        version="10.6.1",
        commit="0000001",
        started_at=START + timedelta(days=30),
        threads=1,
    )
    make_runs([again], project=series[0].project)
    layout = lay_out(series, most_values=6)
    assert [layout.measured[one.pk].values.tolist() for one in series] == [[5.0, 6.0]] * 2


def test_releases_are_never_cut():
    series = record_nights(range(1, 7), branch="")
    assert len(lay_out(series, most_values=2).runs.groups) == 6


def test_without_anything_measured_there_is_nothing():
    layout = lay_out([], most_values=PLENTY)
    assert (layout.runs.groups, layout.measured, len(layout.runs.ids)) == ([], {}, 0)


def test_any_number_of_series_takes_a_few_statements():
    project = make_project()
    measure_at_random(project, Random(1), branch="main")
    with CaptureQueriesContext(connection) as captured:
        lay_out(list(Series.objects.all()), most_values=PLENTY)
    # And that of the series themselves.
    assert len(captured) <= 7


def test_the_median_of_each_position_and_nothing_where_nothing_was_measured():
    project = make_project()
    make_series([5.0, [3.0, 1.0, 2.0], [4.0, 8.0]], project=project, threads=1)
    make_series([7.0], project=project, threads=4, version="10.6.2")
    layout = lay_out(list(Series.objects.order_by("threads")), most_values=PLENTY)
    levels = [one.levels for one in layout.measured.values()]
    np.testing.assert_array_equal(levels, [[5.0, 2.0, 6.0], [np.nan, 7.0, np.nan]])


def test_values_by_the_ids_of_runs_are_laid_on_the_same_positions():
    series = make_series([1.0, [2.0, 3.0]])
    runs = lay_out([series], most_values=PLENTY).runs
    first, *_, last = runs.ids.tolist()
    one, none = lay_on(runs, [{last: 20.0, first: 10.0}, {}])
    assert (one.runs.tolist(), one.values.tolist(), one.levels.tolist()) == (
        [0, 2],
        [10.0, 20.0],
        [10.0, 20.0],
    )
    assert (none.runs.tolist(), np.isnan(none.levels).all()) == ([], True)
