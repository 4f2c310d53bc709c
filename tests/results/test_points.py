"""Histories: the groups that runs make, in their order, as columns and as points."""

import math
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from statistics import median

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchdash.results.models import Measurement, Run, Series, ServerVersion
from benchdash.results.points import (
    COLUMNS,
    histories,
    histories_and_excluded,
    history,
    positions,
    read_points,
)
from benchdash.results.queries import find_series
from benchdash.results.readings import HIGHER, Reading
from tests.builders import START, make_project, make_record, make_run, make_runs, make_series

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def project():
    return make_project()


def the_series(project):
    return find_series(project).get()


def names(points):
    return [point.version.version for point in points]


def exclude(run):
    Run.objects.filter(pk=run.pk).update(excluded_at=timezone.now())


# --- the reader and a plain grouping of the rows ------------------------------------------------------------


@st.composite
def records(draw):
    """Runs of a few commits or versions at a few times, so that all that can be equal often is."""
    commits = [None, *(f"{at:07x}" for at in range(4))]
    found = []
    for number in range(draw(st.integers(1, 14))):
        commit = draw(st.sampled_from(commits))
        made = draw(st.one_of(st.none(), st.integers(0, 3)))
        low = draw(st.one_of(st.none(), st.floats(1, 5)))
        value = draw(st.sampled_from([-1.0, 0.0, 5.0, 6.25, 7.0, 100.0]))
        readings = (Reading("score", value, "ops/s", HIGHER, low=low, high=low and low + 1),)
        found.append(
            make_record(
                key=str(number),
                branch=draw(st.sampled_from(["", "main", "main", "other"])),
                threads=draw(st.sampled_from([1, 4])),
                version=draw(st.sampled_from(["10.6.1", "10.6.10", "10.6.9", "10.6.1-rc"])),
                commit=commit,
                committed_at=START + timedelta(hours=made) if commit and made is not None else None,
                started_at=START + timedelta(hours=draw(st.integers(0, 40))),
                settings=draw(st.sampled_from([None, {"size": "1G"}, {"size": "2G"}])),
                tags=draw(
                    st.sampled_from([(), ("session:a",), ("x", "session:b", "session:a"), ("nightly",)])
                ),
                readings=readings,
            )
        )
    return found, draw(st.sets(st.integers(0, 11)))


def plain_groups(series, **runs):
    """The measurements of each group of a series in order, by one loop over the rows."""
    groups = defaultdict(list)
    for one in (
        Measurement.objects.filter(series=series, **runs)
        .select_related("run__version")
        .order_by("run__started_at", "run_id")
    ):
        version, day = one.run.version, one.run.started_at.astimezone(UTC).date()
        build = (version.commit or day) if series.branch else version.pk
        groups[build, one.run.content_id].append(one)
    return sorted(groups.values(), key=lambda group: order_of(group, series))


def order_of(group, series):
    first, last = group[0].run, group[-1].run
    version = last.version
    beginning = first.started_at, last.content_id or 0
    if not series.branch:
        made = version.committed_at or datetime.min.replace(tzinfo=UTC)
        return version.sort_key, made, first.started_at, version.pk, last.content_id or 0
    return placed_at(group, series), version.commit or "", *beginning


def placed_at(group, series):
    version = group[-1].run.version
    if version.committed_at or not version.commit:
        return version.committed_at or group[0].run.started_at
    of_commit = Run.objects.filter(version__commit=version.commit, branch=series.branch)
    known = [run.version.committed_at for run in of_commit if run.version.committed_at]
    return min(known or [run.started_at for run in of_commit])


def as_expected(group):
    """A plain group as a point, without the interval of several runs."""
    latest = group[-1]
    return (
        median(one.value for one in group),
        [(one.run_id, one.value) for one in group],
        (group[0].run.started_at, latest.run.version_id, latest.run.content_id, latest.run.environment_id),
        (latest.low, latest.high) if len(group) == 1 else None,
    )


def as_found(point):
    return (
        point.value,
        list(zip(point.run_ids, point.values, strict=True)),
        (point.time, point.version.pk, point.content_id, point.environment_id),
        (point.low, point.high) if point.n == 1 else None,
    )


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(records())
def test_points_are_those_of_a_plain_grouping_of_the_rows(drawn):
    of_runs, excluded = drawn
    Run.objects.all().delete()
    Series.objects.all().delete()
    ServerVersion.objects.all().delete()
    make_runs(of_runs)
    Run.objects.filter(key__in=[str(at) for at in excluded]).update(excluded_at=timezone.now())
    series = Series.objects.in_bulk()
    included, left_out = histories_and_excluded(series)
    for pk, one in series.items():
        expected = list(map(as_expected, plain_groups(one, run__excluded_at=None)))
        assert list(map(as_found, included[pk])) == expected
        of_excluded = plain_groups(one, run__excluded_at__isnull=False)
        assert list(map(as_found, left_out[pk])) == list(map(as_expected, of_excluded))
        since = START + timedelta(hours=20)
        some = plain_groups(one, run__excluded_at=None, run__started_at__gte=since)
        assert list(map(as_found, histories([pk], since=since)[pk])) == list(map(as_expected, some))
        assert_columns_say_the_same(one, included[pk])
    assert_newest_runs_alone_can_be_had(series)


def assert_columns_say_the_same(series, points):
    columns = read_points({series.pk: series})
    assert list(zip(*(columns.column(name) for name in COLUMNS), strict=True)) == [
        (
            point.version.version,
            point.commit,
            point.time.timestamp(),
            point.value,
            point.low,
            point.high,
            point.n,
            point.run_id,
        )
        for point in points
    ]
    assert columns.version_ids.tolist() == [point.version.pk for point in points]
    assert columns.independent.tolist() == [point.independent for point in points]
    index_of = {run: index for index, point in enumerate(points) for run in point.run_ids}
    for run in Run.objects.values_list("pk", flat=True):
        assert columns.index_of(run) == index_of.get(run)


def assert_newest_runs_alone_can_be_had(series, newest=3):
    """Of each series; excluded runs are among those that came in last."""
    found = [[] for _ in series]
    points = read_points(series, newest=newest, intervals=False)
    for at, of_series in enumerate(points.series.tolist()):
        runs = points.runs.ids[points.run[points.starts[at] : points.starts[at + 1]]].tolist()
        found[of_series].append((float(points.levels[at]), runs))
        assert {points.index_of(run, of_series) for run in runs} == {at}
    for one, of_series in zip(series.values(), found, strict=True):
        last = Measurement.objects.filter(series=one).order_by("-run_id")[:newest]
        groups = plain_groups(one, run__excluded_at=None, run_id__in=[row.run_id for row in last])
        assert of_series == [
            (median(row.value for row in group), [row.run_id for row in group]) for group in groups
        ]


# --- groups and their values ------------------------------------------------------------------------------


def test_a_point_is_the_median_of_the_runs_of_a_version():
    [one, two] = history(make_series([[100.0, 130.0, 110.0], 200.0]))
    assert (one.version.version, one.value, one.n, one.values) == ("10.6.1", 110.0, 3, (100.0, 130.0, 110.0))
    assert (two.version.version, two.value, two.n) == ("10.6.2", 200.0, 1)


def test_the_interval_of_a_point_counts_each_session_once(project):
    values = (("a", 98.0), ("a", 99.0), ("b", 101.0), ("b", 102.0))
    runs = [make_record(value, tags=(f"session:{name}",)) for name, value in values]
    make_runs(runs, project=project)
    days = [START + number * DAY for number in range(4)]
    apart = [
        replace(run, version="10.6.24", tags=(), started_at=day) for run, day in zip(runs, days, strict=True)
    ]
    make_runs(apart, project=project)
    make_runs([replace(run, version="10.6.25", tags=("session:c",)) for run in runs], project=project)
    two_sessions, four_runs, one_session = history(the_series(project))
    assert two_sessions.sessions == ("session:a", "session:a", "session:b", "session:b")
    assert (two_sessions.independent, four_runs.independent, one_session.independent) == (2, 4, 1)
    # Session means of 98.5 and 101.5: t(0.975, 1) = 12.7 times 1.5 % on either side, and 3.2 times 0.9 %.
    assert (two_sessions.low, two_sessions.high) == (
        pytest.approx(82.5, abs=0.3),
        pytest.approx(121, abs=0.5),
    )
    assert (four_runs.low, four_runs.high) == (pytest.approx(97.1, abs=0.1), pytest.approx(102.9, abs=0.1))
    assert (one_session.low, one_session.high) == (four_runs.low, four_runs.high)


def test_a_point_names_its_first_and_latest_run(project):
    late, early, middle = make_runs(
        [make_record(tps, started_at=START + days * DAY) for tps, days in ((3.0, 2), (1.0, 0), (2.0, 1))],
        project=project,
    )
    [point] = history(the_series(project))
    assert point.time == START
    assert (point.first_run_id, point.run_id) == (early.pk, late.pk)
    assert point.run_ids == (early.pk, middle.pk, late.pk)
    assert point.values == (1.0, 2.0, 3.0)


def test_the_interval_of_several_runs_is_that_of_their_logarithms():
    [point] = history(make_series([[math.exp(1), math.exp(2), math.exp(3)]]))
    # Student's t for 2 degrees of freedom is 4.303; the logarithms have mean 2, standard error 1 / sqrt(3).
    assert point.low == pytest.approx(math.exp(2 - 4.303 / math.sqrt(3)), rel=1e-3)
    assert point.high == pytest.approx(math.exp(2 + 4.303 / math.sqrt(3)), rel=1e-3)


def test_the_interval_of_values_that_are_not_all_positive_is_plain():
    [point] = history(make_series([[-1.0, 0.0, 1.0]], metric="errors_per_s"))
    assert point.low == pytest.approx(-4.303 / math.sqrt(3), rel=1e-3)
    assert point.high == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)


def test_equal_values_have_an_interval_without_width():
    [point] = history(make_series([[100.1, 100.1, 100.1]]))
    assert (point.low, point.high) == (pytest.approx(100.1), pytest.approx(100.1))
    assert point.low <= point.value <= point.high


def test_values_far_apart_have_finite_intervals_around_their_median():
    [one, two] = history(make_series([[1e-300, 1e300], [1.0, 1.0, 1.0, 1.0, 1e9]]))
    for point in (one, two):
        assert 0 < point.low <= point.value <= point.high < math.inf


def test_one_run_has_the_interval_of_its_tool_or_none(project):
    make_run(project=project, readings=[Reading("score", 10.0, "ns/op", "lower", low=9.0, high=12.0)])
    make_run(project=project, version="10.6.24", readings=[Reading("score", 10.0, "ns/op", "lower")])
    assert [(point.low, point.high) for point in history(the_series(project))] == [(9.0, 12.0), (None, None)]


def test_excluded_runs_are_left_out_and_given_apart():
    series = make_series([[100.0, 900.0], 200.0])
    for run in Run.objects.filter(measurements__value__in=[900.0, 200.0]):
        exclude(run)
    assert [(point.value, point.n) for point in history(series)] == [(100.0, 1)]
    assert [point.value for point in histories_and_excluded({series.pk: series})[1][series.pk]] == [
        900.0,
        200.0,
    ]


def test_contents_that_differ_are_never_one_group(project):
    for size, tps in (("1G", 100.0), ("2G", 200.0), ("1G", 102.0)):
        make_run(tps, project=project, settings={"innodb_buffer_pool_size": size})
    points = history(the_series(project))
    assert [(point.value, point.n) for point in points] == [(101.0, 2), (200.0, 1)]
    assert len({point.content_id for point in points}) == 2


def test_a_series_without_runs_or_that_does_not_exist_has_no_points():
    series = make_series([1.0])
    exclude(Run.objects.get())
    assert histories([series.pk, 0]) == {series.pk: [], 0: []}


# --- order ------------------------------------------------------------------------------------------------


def test_releases_come_in_the_order_of_their_versions_and_not_of_their_runs(project):
    for days, version in enumerate(["10.6.9", "10.6.10", "10.6.2"]):
        make_run(project=project, version=version, started_at=START + days * DAY)
    assert names(history(the_series(project))) == ["10.6.2", "10.6.9", "10.6.10"]


def test_versions_that_sort_alike_come_in_the_order_of_their_commits(project):
    for commit, days in (("aaaaaaa", 2), ("bbbbbbb", 1)):
        make_run(project=project, version="10.6.1", commit=commit, committed_at=START + days * DAY)
    assert [point.commit for point in history(the_series(project))] == ["bbbbbbb", "aaaaaaa"]


def test_a_branch_comes_in_the_order_of_its_commits(project):
    for commit, committed, started in (("aaaaaaa", 2, 3), ("bbbbbbb", 1, 4), ("ccccccc", 2, 5)):
        make_run(
            project=project,
            branch="main",
            version="unknown",
            commit=commit,
            committed_at=START + committed * DAY,
            started_at=START + started * DAY,
        )
    assert [point.commit for point in history(the_series(project))] == ["bbbbbbb", "aaaaaaa", "ccccccc"]


def test_commits_without_times_come_in_the_order_of_their_earliest_start_on_the_branch(project):
    """Wherever they were measured: another workload ran the second commit first."""
    starts = [("aaaaaaa", 0, "other"), ("bbbbbbb", 1, "w"), ("aaaaaaa", 2, "w"), ("ccccccc", 3, "w")]
    for commit, days, workload in starts:
        make_run(
            project=project, branch="main", commit=commit, workload=workload, started_at=START + days * DAY
        )
    # A branch of the same name of another product says nothing.
    make_run(project=project, product="MySQL", branch="main", commit="ccccccc", started_at=START - DAY)
    series = find_series(project, product="MariaDB").get(workload__name="w")
    assert [point.commit for point in history(series)] == ["aaaaaaa", "bbbbbbb", "ccccccc"]


def test_runs_of_a_branch_without_commits_are_grouped_by_their_day(project):
    for hours in (0, 1, 24):
        make_run(project=project, branch="main", version="unknown", started_at=START + timedelta(hours=hours))
    points = history(the_series(project))
    assert [(point.time.date(), point.n) for point in points] == [
        (date(2026, 3, 2), 2),
        (date(2026, 3, 3), 1),
    ]


def test_a_commit_of_a_branch_is_one_group_whatever_its_version_is_called(project):
    for version in ("11.8.0", "11.8.1"):
        make_run(project=project, branch="main", version=version, commit="abcdef0")
    [point] = history(the_series(project))
    assert point.n == 2


def test_series_of_one_stream_share_their_positions(project):
    make_series([1.0, 2.0, 3.0], project=project, workload="a")
    make_series([1.0], project=project, workload="b", version="10.6.2", step=DAY)
    of_series = histories(series.pk for series in find_series(project))
    order = positions(of_series.values(), branch="")
    a, b = ([order[point.position] for point in points] for points in of_series.values())
    assert (a, b) == ([0, 1, 2], [1])


def test_positions_of_a_branch_follow_its_commits(project):
    for commit, workload, days in (("aaaaaaa", "w", 1), ("bbbbbbb", "v", 0), ("ccccccc", "w", 2)):
        make_run(
            project=project, branch="main", commit=commit, workload=workload, started_at=START + days * DAY
        )
    points = histories(series.pk for series in find_series(project)).values()
    order = positions(points, branch="main")
    commits = {order[point.position]: point.commit for of_series in points for point in of_series}
    assert commits == {0: "bbbbbbb", 1: "aaaaaaa", 2: "ccccccc"}


# --- many -------------------------------------------------------------------------------------------------


def test_only_the_newest_groups_of_a_long_history_can_be_asked_for():
    series = make_series([1.0, 2.0, 3.0], branch="main")
    points = histories([series.pk], since=START + timedelta(days=1))[series.pk]
    assert [point.value for point in points] == [2.0, 3.0]


def test_any_number_of_series_takes_three_statements_at_most(project, django_assert_num_queries):
    for workload in ("a", "b", "c"):
        make_series([1.0, 2.0], project=project, branch="main", workload=workload, committed_at=None)
    ids = list(find_series(project).values_list("pk", flat=True))
    with django_assert_num_queries(3):
        histories(ids[:1])
    with django_assert_num_queries(3):
        assert len(histories(ids)) == 3
    releases = make_series([1.0, 2.0], project=project)
    with django_assert_num_queries(2):
        history(releases)


def test_a_thousand_points_are_all_there():
    points = history(make_series([float(n) for n in range(1, 1001)]))
    assert [point.value for point in points] == [float(n) for n in range(1, 1001)]


def test_columns_of_many_series_are_one_statement(django_assert_num_queries):
    project = make_project()
    for metric in ("tps", "qps", "latency_p95"):
        make_series([1.0, [2.0, 4.0], 3.0], project=project, metric=metric)
    record = make_record(1.0, branch="main", commit="a" * 40, committed_at=START)
    make_runs([record, replace(record, started_at=START + DAY)], project=project)
    series = Series.objects.in_bulk()
    with django_assert_num_queries(1):
        assert read_points(series).series.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]


def test_a_series_without_runs_has_no_columns():
    series = make_series([1.0, 2.0])
    exclude(Run.objects.first())
    exclude(Run.objects.last())
    assert len(read_points({series.pk: series})) == 0
    assert [read_points({series.pk: series}).column(name) for name in COLUMNS] == [[]] * len(COLUMNS)
    assert len(read_points({}, newest=10).levels) == 0
