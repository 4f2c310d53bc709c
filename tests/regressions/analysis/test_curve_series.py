"""Scaling curves as units of history: one constructed branch of nights, and what may happen to it."""

import itertools
from dataclasses import replace
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import Viewer
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched, recompute
from benchdash.results.corrections import exclude_run, merge, rename, restore_run
from benchdash.results.models import Hardware, Measurement, Run, Series, TouchedSeries
from benchdash.results.points import history
from benchdash.results.readings import reading
from benchdash.results.services import record_runs, remove_runs
from tests.builders import START, make_project, make_record, make_runs, make_series, make_upload, make_user
from tests.regressions.nights import night_time

pytestmark = pytest.mark.django_db

RISING = {1: 100.0, 8: 700.0, 32: 2000.0, 64: 2600.0}
FALLING = {1: 100.0, 8: 700.0, 32: 2000.0, 64: 1600.0}
METRICS = ["curve_knee_threads", "curve_peak", "curve_peak_threads", "curve_scale_up"]

_keys = itertools.count()


@pytest.fixture
def project():
    return make_project()


def records(curves, *, first=1, noise=0.005, **fields):
    """A night for each of ``curves``, throughput by threads, with the same noise every time."""
    return [
        make_record(
            tps * Random(f"{night} {threads}").gauss(1, noise),
            **{
                "key": f"{night} {threads} {next(_keys)}",
                "branch": "main",
                "version": "10.11.12",
                "started_at": night_time(night),
                "threads": threads,
                **fields,
            },
        )
        for night, curve in enumerate(curves, first)
        for threads, tps in curve.items()
    ]


def derived(metric="curve_peak_threads"):
    """The values of the only derived series of a metric."""
    return [point.value for point in history(Series.objects.get(metric=metric, is_derived=True))]


def rows():
    series = Series.objects.filter(is_derived=True)
    return {
        "series": sorted(series.values_list("pk", "metric", "unit", "direction", "threads")),
        "values": sorted(Measurement.objects.filter(series__in=series).values_list("series", "run", "value")),
    }


# --- values -------------------------------------------------------------------------------------------------


def test_each_group_has_peak_knee_and_scale_up(project):
    runs = make_runs(records([RISING, FALLING], noise=0), project=project)
    analyse_touched()
    assert sorted(Series.objects.filter(is_derived=True).values_list("metric", flat=True)) == METRICS
    assert derived("curve_peak") == [2600.0, 2000.0]
    assert derived("curve_peak_threads") == [64, 32]
    # 2600² / 64 = 105625 and 2000² / 32 = 125000.
    assert derived("curve_knee_threads") == [32, 32]
    assert derived("curve_scale_up") == [26.0, 16.0]
    units = dict(Series.objects.filter(is_derived=True).values_list("metric", "unit"))
    assert units == {
        "curve_peak": "1/s",
        "curve_peak_threads": "threads",
        "curve_knee_threads": "threads",
        "curve_scale_up": "x",
    }
    # It hangs on the runs at the peak: 64 threads in the first night, 32 in the second.
    holders = Measurement.objects.filter(series__metric="curve_peak").values_list("run", flat=True)
    assert set(holders) == {runs[3].pk, runs[6].pk}


def test_repeats_give_the_peak_of_medians(project):
    make_runs(records([RISING, {**RISING, 64: 100.0}, RISING], noise=0, started_at=START), project=project)
    analyse_touched()
    assert derived("curve_peak") == [2600.0]


def test_three_thread_counts_and_response_times_make_no_curve(project):
    make_runs(records([{1: 100.0, 8: 700.0, 32: 2000.0}]), project=project)
    times = [
        make_record(readings={"latency_avg": 1.0}, workload="rw", threads=threads) for threads in (1, 2, 4, 8)
    ]
    make_runs(times, project=project)
    analyse_touched()
    assert not Series.objects.filter(is_derived=True).exists()


def test_a_night_that_broke_off_has_no_peak(project):
    broken = {threads: tps for threads, tps in RISING.items() if threads < 64}
    usual = {**RISING, 16: 1200.0}
    make_runs(records([usual, usual, {**broken, 16: 1200.0}, usual], noise=0), project=project)
    analyse_touched()
    assert derived() == [64, 64, 64]


def test_workloads_have_curves_of_their_own(project):
    make_runs(records([RISING], noise=0), project=project)
    make_runs(records([FALLING], noise=0, workload="rw"), project=project)
    analyse_touched()
    peaks = Series.objects.filter(metric="curve_peak_threads").order_by("workload__name")
    assert [history(one)[0].value for one in peaks] == [64, 32]


def test_releases_have_curves_too(project):
    for version, curve in (("10.11.11", RISING), ("10.11.12", FALLING)):
        make_runs(records([curve], noise=0, version=version, branch=""), project=project)
    analyse_touched()
    assert derived() == [64, 32]


# --- detection ----------------------------------------------------------------------------------------------


def test_a_peak_that_moved_is_found_as_one_change(project):
    make_runs(records([RISING] * 12), project=project)
    analyse_touched()
    assert not ChangePoint.objects.exists()
    for night in range(13, 19):
        make_runs(records([FALLING], first=night), project=project)
        analyse_touched()
    moved = ChangePoint.objects.exclude(state="withdrawn").get(series__metric="curve_peak_threads")
    assert (moved.state, moved.before, moved.after) == ("confirmed", 64, 32)
    assert moved.run.started_at == night_time(13)
    assert moved.last_good.started_at == night_time(12)
    [incident] = Incident.objects.exclude(status="withdrawn")
    assert (incident.kind, incident.status) == ("regression", "confirmed")
    assert moved.incident == incident
    found = incident.change_points.exclude(state="withdrawn")
    assert set(found.values_list("series__metric", "series__threads")) == {
        ("tps", 64),
        ("curve_peak_threads", None),
        ("curve_scale_up", None),
    }
    # The loss is that of throughput at 64 threads, not that of a peak at half the threads.
    assert incident.worst == pytest.approx(1600 / 2600 - 1, abs=0.01)
    assert incident.looked_at == 6


def test_what_is_derived_is_no_evidence_for_what_was_measured(project):
    """The same nights, with and without enough thread counts for a curve, show the same in throughput."""
    other = make_project()
    nights = [RISING] * 12 + [FALLING] * 5
    make_runs(records(nights), project=project)
    make_runs(
        records([{threads: night[threads] for threads in (8, 32, 64)} for night in nights]), project=other
    )
    analyse_touched()
    assert not Series.objects.filter(project=other, is_derived=True).exists()

    def found(project):
        points = ChangePoint.objects.filter(series__project=project, series__threads=64, series__metric="tps")
        return list(points.values_list("state", "before", "after"))

    assert found(project) == found(other)
    assert found(project)


def test_nothing_is_found_in_curves_that_stay(project):
    make_runs(records([RISING] * 30, noise=0.02), project=project)
    analyse_touched()
    assert not ChangePoint.objects.exists()


def test_a_change_keeps_its_row_when_the_value_moves_to_another_run(project):
    make_runs(records([RISING] * 12 + [FALLING] * 5), project=project)
    analyse_touched()
    moved = ChangePoint.objects.get(series__metric="curve_peak_threads")
    # A second run at 32 threads in the first night of the new level is its latest one at the peak.
    again = records([{32: 2000.0}], first=13)
    make_runs(again, project=project)
    analyse_touched()
    same = ChangePoint.objects.exclude(state="withdrawn").get(series__metric="curve_peak_threads")
    assert same.pk == moved.pk
    assert same.run_id != moved.run_id


# --- facts change -------------------------------------------------------------------------------------------


def test_looking_again_changes_nothing(project):
    make_runs(records([RISING, FALLING]), project=project)
    analyse_touched()
    before = rows()
    list(recompute(project=project))
    assert rows() == before
    with CaptureQueriesContext(connection) as looked:
        list(recompute(project=project))
    written = [one["sql"].split()[0] for one in looked if "results_" in one["sql"]]
    assert not {"INSERT", "UPDATE", "DELETE"} & set(written)


def test_runs_are_read_once_though_curves_changed(project):
    make_runs(records([RISING]), project=project)
    with CaptureQueriesContext(connection) as looked:
        analyse_touched()
    assert len([one for one in looked if "timestamptz_send(started_at)" in one["sql"]]) == 1


def test_more_groups_and_workloads_take_no_more_statements(project):
    make_runs(records([RISING]), project=project)
    with CaptureQueriesContext(connection) as few:
        analyse_touched()
    other = make_project()
    for workload in ("a", "b", "c"):
        make_runs(records([RISING] * 6, workload=workload), project=other)
    with CaptureQueriesContext(connection) as many:
        analyse_touched()
    assert len(many) == len(few)


def test_a_run_that_is_excluded_counts_no_more_and_again_when_restored(project):
    by = Viewer(user=make_user("alice", member_of=project))
    runs = make_runs(records([RISING, RISING], noise=0), project=project)
    analyse_touched()
    before = rows()
    exclude_run(runs[3], by=by, reason="a backup ran")
    analyse_touched()
    assert derived("curve_peak") == [2600.0]
    restore_run(runs[3], by=by)
    analyse_touched()
    assert rows() == before


def test_removed_runs_take_their_curve_along(project):
    upload = make_upload(project)
    make_runs(records([RISING], noise=0), project=project, upload=upload)
    make_runs(records([FALLING], first=2, noise=0), project=project)
    analyse_touched()
    remove_runs(project, upload_id=upload.pk)
    analyse_touched()
    assert derived() == [32]


@pytest.mark.parametrize("threads", [1, 64])
def test_a_curve_whose_thread_count_is_gone_is_gone(project, threads):
    """Whether or not the removed run held the values of the curve."""
    upload = make_upload(project)
    make_runs(records([{threads: RISING[threads]}], noise=0), project=project, upload=upload)
    rest = {count: tps for count, tps in RISING.items() if count != threads}
    make_runs(records([rest], noise=0), project=project)
    analyse_touched()
    assert derived() == [64]
    remove_runs(project, upload_id=upload.pk)
    analyse_touched()
    assert not Series.objects.filter(is_derived=True).exists()
    assert not TouchedSeries.objects.exists()
    assert Series.objects.count() == 3


def test_all_runs_gone_leave_nothing(project):
    upload = make_upload(project)
    make_runs(records([RISING]), project=project, upload=upload)
    analyse_touched()
    remove_runs(project, upload_id=upload.pk)
    analyse_touched()
    assert not Series.objects.exists()
    assert not Measurement.objects.exists()


def test_a_file_that_is_recorded_again_keeps_its_curve(project):
    upload = make_upload(project)
    sent = records([RISING, FALLING], noise=0)
    make_runs(sent, project=project, upload=upload)
    analyse_touched()
    before = rows()
    record_runs(project, upload_id=upload.pk, records=sent, quiet=True)
    analyse_touched()
    assert rows() == before
    # A better parser reads another value.
    worse = (reading("tps", 5.0),)
    better = [replace(one, readings=worse) if one.threads == 64 else one for one in sent]
    record_runs(project, upload_id=upload.pk, records=better, quiet=True)
    analyse_touched()
    assert derived() == [32, 32]
    assert [row[:2] for row in rows()["series"]] == [row[:2] for row in before["series"]]


def test_a_merge_moves_the_runs_and_the_curve_follows(project):
    by = Viewer(user=make_user("alice", member_of=project))
    make_runs(records([RISING], noise=0, hardware="old box"), project=project)
    make_runs(records([FALLING], first=2, noise=0, hardware="new box"), project=project)
    analyse_touched()
    old, new = (Hardware.objects.get(name=name) for name in ("old box", "new box"))
    effect = merge(old, new, by=by)
    # Four series of throughput; what is derived of them does not count.
    assert (effect.runs, effect.series, effect.merged) == (4, 4, 4)
    analyse_touched()
    assert derived() == [64, 32]
    assert Series.objects.filter(is_derived=True).count() == 4
    assert not TouchedSeries.objects.exists()


def test_a_version_of_another_line_takes_its_curve_along(project):
    by = Viewer(user=make_user("alice", member_of=project))
    runs = make_runs(records([RISING], noise=0, version="10.6.1", branch=""), project=project)
    analyse_touched()
    rename(runs[0].version, "10.11.1", by=by)
    analyse_touched()
    assert set(Series.objects.values_list("line", "is_derived")) == {("10.11", False), ("10.11", True)}
    assert derived() == [64]


def test_a_failed_run_makes_its_night_incomplete(project):
    make_runs(records([RISING, {**RISING, 8: 0.0}, RISING], noise=0), project=project)
    analyse_touched()
    assert derived() == [64, 64]


def test_series_of_other_metrics_are_as_before(project):
    series = make_series([100.0] * 5, project=project)
    analyse_touched()
    assert list(Series.objects.values_list("pk", flat=True)) == [series.pk]
    assert Run.objects.count() == 5
