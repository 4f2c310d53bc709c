"""Versions against each other."""

from datetime import timedelta
from math import exp, log

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison.columns import Selector, SelectorError, columns_of
from benchdash.regressions.comparison.version_table import (
    compare,
    compare_all_metrics,
    compare_columns,
    compare_runs,
)
from benchdash.results.models import Run
from benchdash.results.readings import Reading
from benchdash.results.records import SampleTable
from benchdash.results.workload_groups import AUTOMATIC
from tests.builders import START, in_sessions, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def measured(version, workload, values, **reading):
    """Runs of a JMH score, one a value."""
    return [
        make_record(
            version=version, workload=workload, threads=None, readings=(Reading("score", value, **reading),)
        )
        for value in values
    ]


def columns(project):
    return columns_of(project, Selector())


def test_every_row_has_its_own_direction(project):
    """A score may be a time or a throughput: twice as much is worse in one row and better in the other."""
    for version, factor in (("1.0", 1), ("1.1", 2)):
        took = [value * factor for value in (10.0, 10.1, 10.2)]
        make_runs(
            [
                *in_sessions(measured(version, "SELECT 1, avgt", took, unit="ns/op", direction="lower")),
                *in_sessions(measured(version, "SELECT 1, thrpt", took, unit="op/s", direction="higher")),
            ],
            project=project,
        )
    base, other = columns(project)
    table = compare_columns(project, metric="score", base=base, columns=[other])
    assert [(row.unit, row.comparisons[0].verdict) for row in table.rows] == [
        ("ns/op", "worse"),
        ("op/s", "better"),
    ]


def test_cells_in_different_units_are_not_compared(project):
    make_runs(measured("1.0", "SELECT 1", [10.0], unit="ns/op", direction="lower"), project=project)
    other = [
        make_record(
            product="Other",
            version="1.0",
            workload="SELECT 1",
            threads=None,
            readings=(Reading("score", 5.0, "op/s", "higher"),),
        )
    ]
    make_runs(other, project=project)
    base, foreign = columns(project)
    [row] = compare_columns(project, metric="score", base=base, columns=[foreign]).rows
    assert row.cells[0].value == 5.0
    assert row.comparisons == (None,)


def test_known_columns_are_compared_in_five_statements_and_as_by_selectors(project):
    for version, value in (("10.2.44", 100.0), ("10.6.23", 90.0)):
        make_runs(
            [make_record(value, version=version), make_record(value + 1, version=version)], project=project
        )
    base, other = columns(project)
    with CaptureQueriesContext(connection) as statements:
        table = compare_columns(project, metric="tps", base=base, columns=[other], grouping=AUTOMATIC)
    assert len(statements) == 5
    by_selectors = compare(
        project, metric="tps", base=Selector(version="10.2.44"), against=[Selector(version="10.6.23")]
    )
    assert table == by_selectors


def test_all_metrics_are_compared_as_each_alone_in_five_statements(project):
    for version, factor in (("10.6.1", 1.0), ("10.6.2", 0.8)):
        make_runs(
            [
                make_record(
                    version=version,
                    workload=workload,
                    readings={"tps": factor * (100 + repetition), "latency_avg": (5 + repetition) / factor},
                )
                for workload in ("ro", "rw")
                for repetition in range(3)
            ],
            project=project,
        )
    base, other = columns(project)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        tables = compare_all_metrics(project, base=base, columns=[other])
    assert len(queries) == 5
    assert [table.metric for table in tables] == ["latency_avg", "tps"]
    for table in tables:
        alone = compare_columns(project, metric=table.metric, base=base, columns=[other])
        assert table.geomean == alone.geomean
        for row, same in zip(table.rows, alone.rows, strict=True):
            assert (row.workload, row.base.value, row.cells[0].value) == (
                same.workload,
                same.base.value,
                same.cells[0].value,
            )
            assert row.comparisons[0].p == pytest.approx(same.comparisons[0].p)


def test_two_runs_are_compared_metric_by_metric_in_one_row(project):
    slow, fast = make_runs(
        [
            make_record(readings={"tps": 100.0, "latency_avg": 5.0}),
            make_record(readings={"tps": 110.0, "qps": 900.0}, workload="other", threads=8),
        ],
        project=project,
    )
    latency, qps, tps = compare_runs(slow, fast)
    assert [(row.workload, row.threads) for row in tps.rows] == [("oltp_read_only", 4)]
    assert (tps.rows[0].base.value, tps.rows[0].cells[0].value) == (100.0, 110.0)
    assert tps.rows[0].comparisons[0].ratio == pytest.approx(1.1)
    assert (latency.rows[0].base.value, latency.rows[0].cells) == (5.0, (None,))
    assert (qps.rows[0].base, qps.rows[0].cells[0].value) == (None, 900.0)


def test_each_version_can_be_held_against_the_one_before(project):
    for version, value in (("10.2.44", 100.0), ("10.6.23", 50.0), ("10.11.15", 75.0)):
        make_runs([make_record(value, version=version)], project=project)
    base, *others = columns(project)
    table = compare_columns(project, metric="tps", base=base, columns=others, relative_to="previous")
    assert [one.ratio for one in table.rows[0].comparisons] == [0.5, 1.5]


def test_what_the_version_before_lacks_is_not_compared(project):
    make_runs([make_record(100.0, version="10.2.44"), make_record(75.0, version="10.11.15")], project=project)
    make_runs([make_record(50.0, version="10.6.23", workload="rw")], project=project)
    base, *others = columns(project)
    table = compare_columns(project, metric="tps", base=base, columns=others, relative_to="previous")
    assert table.rows[0].comparisons == (None, None)


def test_groups_have_their_geometric_mean_lowest_and_highest_ratio(project):
    for version, values in (("10.2.44", (100.0, 100.0, 100.0)), ("10.6.23", (50.0, 200.0, 90.0))):
        names = ("hot-points", "point-query", "SELECT 1")
        make_runs(
            [
                make_record(value, version=version, workload=name)
                for name, value in zip(names, values, strict=True)
            ],
            project=project,
        )
    base, *others = columns(project)
    table = compare_columns(project, metric="tps", base=base, columns=others, grouping=AUTOMATIC)
    assert [row.group for row in table.rows] == [None, "point queries", "point queries"]
    points, rest = table.groups
    assert (points.name, points.rows, points.lowest, points.highest) == ("point queries", 2, (0.5,), (2.0,))
    assert points.geomean == pytest.approx((1.0,))
    assert (rest.name, rest.rows, rest.lowest) == (None, 1, (0.9,))


def test_a_mean_of_rows_with_two_directions_is_one_of_speeds(project):
    """Twice the time and half the throughput are both half as fast; neither hides the other."""
    for version, factor in (("1.0", 1.0), ("1.1", 2.0)):
        make_runs(
            [
                *measured(version, "SELECT 1, avgt", [10.0 * factor], unit="ns/op", direction="lower"),
                *measured(version, "SELECT 1, thrpt", [10.0 / factor], unit="op/s", direction="higher"),
            ],
            project=project,
        )
    base, other = columns(project)
    table = compare_columns(project, metric="score", base=base, columns=[other], grouping=AUTOMATIC)
    assert [row.comparisons[0].ratio for row in table.rows] == [2.0, 0.5]
    assert [row.speeds for row in table.rows] == [(0.5,), (0.5,)]
    assert table.geomean == pytest.approx((0.5,))
    assert all(group.of_speeds and group.geomean == pytest.approx((0.5,)) for group in table.groups)


def test_a_mean_of_times_alone_is_one_of_values(project):
    for version, time in (("1.0", 10.0), ("1.1", 20.0)):
        records = measured(version, "SELECT 1, avgt", [time], unit="ns/op", direction="lower")
        make_runs(records, project=project)
    base, other = columns(project)
    table = compare_columns(project, metric="score", base=base, columns=[other])
    assert (table.geomean, table.rows[0].speeds) == ((2.0,), (0.5,))


@pytest.mark.parametrize(("value", "verdict"), [(100.0, "same"), (80.0, "worse")])
def test_two_nights_of_one_version_are_held_against_the_noise_of_all(project, value, verdict):
    values = [100.0, 100.5, 99.5] * 8 + [value]
    runs = make_runs(
        [
            make_record(tps, version="10.11.19", branch="nights", started_at=START + timedelta(days=day))
            for day, tps in enumerate(values)
        ],
        project=project,
    )
    [table] = compare_runs(runs[0], runs[-1])
    [comparison] = table.rows[0].comparisons
    assert (comparison.basis, comparison.verdict) == ("history", verdict)


def test_what_was_never_measured_is_said(project):
    make_runs([make_record()], project=project)
    [base] = columns(project)
    with pytest.raises(SelectorError, match="'score'"):
        compare_columns(project, metric="score", base=base, columns=[])


# --- which columns ----------------------------------------------------------------------------------------


def measure(project, version, *values, **fields):
    make_runs([make_record(value, version=version, **fields) for value in values], project=project)


def names(table):
    return [column.version.version for column in table.columns]


def test_without_others_the_base_meets_all_versions_of_its_product_at_its_place(project):
    for version in ("10.11.7", "10.2.44", "10.6.23"):
        measure(project, version, 100.0)
    measure(project, "10.6.99", 100.0, hardware="another machine")
    measure(project, "8.0.44", 100.0, product="MySQL")
    table = compare(project, metric="tps", base=Selector(product="MariaDB", version="10.2.44"))
    assert names(table) == ["10.6.23", "10.11.7"]


def test_a_selector_that_fits_nothing_is_refused(project):
    measure(project, "10.6.23", 100.0)
    with pytest.raises(SelectorError, match=r"no run fits the selector version='10.6.24'") as refused:
        compare(project, metric="tps", base=Selector(version="10.6.24"))
    assert refused.value.field == "base"
    assert not refused.value.candidates


def test_an_ambiguous_selector_is_refused_with_what_it_could_mean(project):
    measure(project, "10.6.23", 100.0)
    measure(project, "10.6.24", 100.0, hardware="bench-03")
    measure(project, "10.6.24", 100.0, hardware="bench-04")
    with pytest.raises(SelectorError, match="fits 2 columns; say more") as refused:
        compare(
            project, metric="tps", base=Selector(version="10.6.23"), against=[Selector(version="10.6.24")]
        )
    assert refused.value.field == "against"
    assert [candidate["hardware"] for candidate in refused.value.candidates] == ["bench-03", "bench-04"]


def test_filters_say_the_rest_of_every_selector_unless_it_says_otherwise(project):
    for hardware in ("bench-03", "bench-04"):
        measure(project, "10.6.23", 100.0, hardware=hardware)
        measure(project, "10.6.24", 100.0, hardware=hardware)
    table = compare(
        project,
        metric="tps",
        base=Selector(version="10.6.23"),
        against=[Selector(version="10.6.24"), Selector(version="10.6.24", hardware="bench-04")],
        filters={"hardware": "bench-03"},
    )
    assert table.base.hardware == "bench-03"
    assert [column.hardware for column in table.columns] == ["bench-03", "bench-04"]


def test_an_id_says_the_version_whatever_the_filters_say_of_it(project):
    measure(project, "10.6.23", 100.0)
    measure(project, "10.6.24", 100.0)
    [base, other] = columns(project)
    table = compare(
        project,
        metric="tps",
        base=Selector(id=base.version.pk),
        against=[Selector(id=other.version.pk)],
        filters={"version": "10.6.23", "product": "MariaDB"},
    )
    assert names(table) == ["10.6.24"]


def test_the_beginning_of_a_commit_means_it(project):
    place = {"branch": "main", "version": "unknown"}
    make_runs([make_record(100.0, commit="1f3c9a0b2d", **place)], project=project)
    make_runs([make_record(90.0, commit="2b4d6f8a0c", **place)], project=project)
    table = compare(
        project, metric="tps", base=Selector(commit="1f3c9a0"), against=[Selector(commit="2b4d6")]
    )
    assert table.rows[0].comparisons[0].ratio == 0.9


def test_versions_of_other_projects_are_not_compared(project):
    measure(project, "10.6.23", 100.0)
    measure(make_project(), "10.6.24", 100.0)
    assert names(compare(project, metric="tps", base=Selector(version="10.6.23"))) == []


# --- the cells --------------------------------------------------------------------------------------------


def test_a_ratio_is_of_medians_and_a_row_is_a_workload_at_a_thread_count(project):
    for version, factor in (("10.2.44", 1.0), ("10.6.23", 0.8)):
        for threads in (16, 1):
            measure(project, version, *(v * threads * factor for v in (100, 110, 150)), threads=threads)
        measure(project, version, 500 * factor, workload="a load without threads", threads=None)
    table = compare(project, metric="tps", base=Selector(version="10.2.44"))
    assert (table.unit, table.direction) == ("1/s", "higher")
    assert [(row.workload, row.threads, row.base.value, row.cells[0].value) for row in table.rows] == [
        ("a load without threads", None, 500, 400),
        ("oltp_read_only", 1, 110, 88),
        ("oltp_read_only", 16, 1760, 1408),
    ]
    assert [row.comparisons[0].ratio for row in table.rows] == [pytest.approx(0.8)] * 3
    assert table.geomean == (pytest.approx(0.8),)


def test_a_clear_difference_has_a_verdict_by_the_direction_of_its_metric(project):
    for version, factor in (("10.2.44", 1.0), ("10.6.23", 0.5)):
        values = [value * factor for value in (100.0, 101.0, 99.0, 100.5)]
        records = [make_record(version=version, readings={"tps": one, "latency_p95": one}) for one in values]
        make_runs(in_sessions(records), project=project)
    for metric, verdict in (("tps", "worse"), ("latency_p95", "better")):
        [row] = compare(project, metric=metric, base=Selector(version="10.2.44")).rows
        [found] = row.comparisons
        assert (found.ratio, found.verdict) == (pytest.approx(0.5), verdict)
        assert found.p < 0.001
        assert found.low < 0.5 < found.high


def test_the_same_again_is_the_same(project):
    for version in ("10.2.44", "10.6.23"):
        records = [make_record(value, version=version) for value in (100.0, 100.1, 99.9, 100.05)]
        make_runs(in_sessions(records), project=project)
    [row] = compare(project, metric="tps", base=Selector(version="10.2.44")).rows
    assert row.comparisons[0].verdict == "same"


def test_a_cell_without_runs_is_empty_on_either_side(project):
    measure(project, "10.2.44", 100.0, workload="old")
    measure(project, "10.6.23", 100.0, workload="new")
    new, old = compare(project, metric="tps", base=Selector(version="10.2.44")).rows
    assert (new.base, new.cells[0].value, new.comparisons) == (None, 100.0, (None,))
    assert (old.base.value, old.cells, old.comparisons) == (100.0, (None,), (None,))


def test_where_settings_changed_the_newest_count(project):
    measure(project, "10.2.44", 100.0)
    measure(project, "10.6.23", 10.0, 11.0, settings={"a": "1"}, started_at=START)
    measure(project, "10.6.23", 90.0, settings={"a": "2"}, started_at=START + timedelta(days=1))
    [row] = compare(project, metric="tps", base=Selector(version="10.2.44")).rows
    assert (row.cells[0].value, row.cells[0].n) == (90.0, 1)


def test_excluded_runs_do_not_count(project):
    measure(project, "10.2.44", 100.0)
    measure(project, "10.6.23", 90.0, 10.0)
    Run.objects.filter(measurements__value=10.0).update(excluded_at=START, excluded_reason="disk full")
    [row] = compare(project, metric="tps", base=Selector(version="10.2.44")).rows
    assert (row.cells[0].value, row.cells[0].n) == (90.0, 1)


def test_workloads_and_thread_counts_choose_rows(project):
    for version in ("10.2.44", "10.6.23"):
        for threads in (1, 16, None):
            measure(project, version, 100.0, threads=threads)
        measure(project, version, 100.0, workload="oltp_insert")
    table = compare(
        project,
        metric="tps",
        base=Selector(version="10.2.44"),
        workloads=["oltp_read_only"],
        threads=[16, None],
    )
    assert [(row.workload, row.threads) for row in table.rows] == [
        ("oltp_read_only", None),
        ("oltp_read_only", 16),
    ]


def test_runs_tagged_as_one_session_each_cannot_tell(project):
    for version, values in (("10.2.44", (100.0, 101.0)), ("10.6.23", (80.0, 81.0))):
        measure(project, version, *values, tags=("nightly", f"session:{version}"))
    [row] = compare(project, metric="tps", base=Selector(version="10.2.44")).rows
    [found] = row.comparisons
    assert (found.verdict, found.p, found.basis) == ("unknown", None, "within session")
    assert found.more_runs == 2
    assert found.low < 0.8 < 1 < found.high
    assert row.cells[0].low < 80.5 < row.cells[0].high


def test_several_sessions_tell(project):
    for version, values in (("10.2.44", (100.0, 101.0)), ("10.6.23", (80.0, 81.0))):
        for session in ("a", "b", "c"):
            measure(project, version, *values, tags=(f"session:{session}",))
    [row] = compare(project, metric="tps", base=Selector(version="10.2.44")).rows
    assert (row.comparisons[0].verdict, row.comparisons[0].basis) == ("worse", "pairs")


@pytest.mark.parametrize(
    ("forks", "basis", "verdict"),
    [((1, 2, 3), "forks", "likely_worse"), ((1, 1, 1), "within fork", "unknown")],
)
def test_the_forks_of_one_jmh_run_are_what_is_tested(project, forks, basis, verdict):
    for version, factor in (("1.0", 1.0), ("1.1", 2.0)):
        rows = tuple((fork, number, 10.0 * factor + number) for number, fork in enumerate(forks, 1))
        score = Reading("score", 12.0 * factor, "ns/op", "lower", low=11.0 * factor, high=13.0 * factor)
        iterations = SampleTable("iterations", ("fork", "iteration", "score"), rows)
        make_runs([make_record(version=version, readings=(score,), samples=(iterations,))], project=project)
    [row] = compare(project, metric="score", base=Selector(version="1.0")).rows
    assert (row.comparisons[0].basis, row.comparisons[0].verdict) == (basis, verdict)
    assert row.comparisons[0].ratio == 2


@pytest.mark.parametrize(
    ("forks", "mode", "samples", "basis"),
    [(3, "avgt", 15, "tool"), (1, "avgt", 5, "within fork"), (3, "sample", None, "tool")],
)
def test_a_jmh_report_without_its_iterations_tells_what_is_behind_its_error(
    project, forks, mode, samples, basis
):
    for version, factor in (("1.0", 1.0), ("1.1", 2.0)):
        score = Reading("score", 12.0 * factor, "ns/op", "lower", low=11.0 * factor, high=13.0 * factor)
        record = make_record(
            version=version,
            workload=f"bench.select {mode}",
            readings=(score,),
            options={"forks": forks, "measurement_iterations": 5},
        )
        make_runs([record], project=project)
    [row] = compare(project, metric="score", base=Selector(version="1.0")).rows
    assert row.base.tool_interval.samples == samples
    assert row.comparisons[0].basis == basis


def measured_beside_a_control(project, *, with_control):
    """Two versions in five sessions each, months apart; the second is 10 % slower, the machine 20 %.

    The machine's speed varies by 15 % from session to session, and everything that runs on it with it.
    """
    rng = np.random.default_rng(20261123)
    for version, level, machine in (("10.2.44", 0.0, 0.0), ("10.6.23", log(0.9), log(0.8))):
        for session in range(5):
            mood = machine + 0.15 * rng.normal()
            start = START + timedelta(days=session + (100 if machine else 0))
            for workload in ("ro", "rw"):
                speeds = {version: level, **({"1.0": 0.0} if with_control else {})}
                for measured, own in speeds.items():
                    tps = 100 * exp(own + mood + 0.01 * rng.normal())
                    build = "control" if measured == "1.0" else ""
                    record = make_record(
                        tps, version=measured, build=build, workload=workload, started_at=start
                    )
                    make_runs([record], project=project)
    if with_control:
        # A newer control that ended long before them stands beside neither.
        ended = {"version": "2.0", "build": "control", "started_at": START - timedelta(days=300)}
        records = [make_record(100.0, workload=workload, **ended) for workload in ("ro", "rw")]
        make_runs(records, project=project)


def slower_beside_a_control(project, *, with_control):
    measured_beside_a_control(project, with_control=with_control)
    versions = Selector(version="10.2.44"), [Selector(version="10.6.23")]
    table = compare(project, metric="tps", base=versions[0], against=versions[1])
    return [row.comparisons[0] for row in table.rows]


def test_a_control_tells_the_machine_from_the_server(project):
    for found in slower_beside_a_control(project, with_control=True):
        assert (found.verdict, found.basis) == ("worse", "control")
        assert found.p < 0.001


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_row_of_zeros_tells_nothing_of_the_machine_beside_its_control(project):
    for version, tps in (("10.2.44", 0.0), ("1.0", 100.0)):
        build = "control" if version == "1.0" else ""
        make_runs([make_record(tps, version=version, build=build, workload="dead")], project=project)
    compared = filter(None, slower_beside_a_control(project, with_control=True))
    assert [found.basis for found in compared] == ["control", "control"]


def test_without_a_control_what_the_machine_does_is_taken_for_the_server(project):
    for found in slower_beside_a_control(project, with_control=False):
        assert found.basis == "sessions"
        assert found.ratio < 0.85


def test_statements_do_not_grow_with_versions_and_runs(project):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            compare(project, metric="tps", base=Selector(version="10.2.1"))
        return len(captured)

    measure(project, "10.2.1", 100.0)
    measure(project, "10.2.2", 100.0)
    few = statements()
    for patch in range(3, 9):
        measure(project, f"10.2.{patch}", 100.0, 101.0, 102.0)
    assert statements() == few
