from datetime import timedelta

import numpy as np
import pytest

from benchdash.results.models import Run, Series
from benchdash.results.points import history, points_of, read_measurements, read_measurements_of_runs
from benchdash.results.sessions import Starts, session_at, session_means, session_of
from tests.builders import START, make_project, make_record, make_runs, make_upload

MINUTE_US = 60_000_000


def test_a_session_is_the_first_tag_that_names_one():
    assert session_of(["nightly", "session:a", "session:b"]) == "session:a"
    assert session_of(["nightly"]) is None


def test_the_mean_of_a_session_is_a_geometric_one():
    assert session_means([100, 400, 90], ["a", "a", "b"]) == pytest.approx([200, 90])


def spans(times, others=(), *, gap=120):
    """Spans of runs at one place, all in minutes."""
    starts, beside = (
        Starts(np.zeros(len(minutes), np.int64), np.array(minutes, np.int64) * MINUTE_US)
        for minutes in (times, others)
    )
    began, ended = starts.spans(beside, gap * MINUTE_US)
    return list(zip((began // MINUTE_US).tolist(), (ended // MINUTE_US).tolist(), strict=True))


def test_runs_within_two_hours_of_the_one_before_are_one_session():
    assert spans([0, 120, 240]) == [(0, 240)] * 3
    assert spans([0, 121]) == [(0, 0), (121, 121)]


def test_other_workloads_bridge_a_gap():
    assert spans([0, 200], others=[100]) == [(0, 200)] * 2


def test_another_place_does_not_bridge_a_gap():
    mine = Starts(np.array([1, 1]), np.array([0, 200]))
    began, _ = mine.spans(Starts(np.array([2]), np.array([100])), 120)
    assert began.tolist() == [0, 200]


@pytest.fixture
def project(db):
    return make_project()


def sessions_of_history(project, **fields):
    [point] = history(Series.objects.get(project=project, **fields))
    return point.sessions


def at(hours, **fields):
    return make_record(started_at=START + timedelta(hours=hours), **fields)


def test_untagged_repeats_of_one_evening_are_one_session(project):
    make_runs([at(0), at(0.1), at(0.2)], project=project)
    make_runs([at(24)], project=project)
    evening, next_day = session_at(START.timestamp()), session_at(START.timestamp() + 86400)
    assert sessions_of_history(project) == (evening, evening, evening, next_day)


def test_a_gap_is_bridged_by_other_workloads_that_the_reader_did_not_ask_for(project):
    make_runs([at(0), at(3)], project=project)
    assert len(set(sessions_of_history(project, workload__name="oltp_read_only"))) == 2
    make_runs([at(1.5, workload="other")], project=project)
    assert len(set(sessions_of_history(project, workload__name="oltp_read_only"))) == 1


def test_what_another_version_did_meanwhile_bridges_nothing(project):
    make_runs([at(0), at(3)], project=project)
    make_runs([at(1.5, version="10.6.24")], project=project)
    series = Series.objects.get(project=project)
    assert [point.independent for point in history(series)] == [2, 1]


def test_a_tag_parts_what_followed_at_once_and_joins_what_is_days_apart(project):
    make_runs(
        [at(0, tags=("session:a",)), at(0.1, tags=("session:b",)), at(48, tags=("session:a",))],
        project=project,
    )
    assert sessions_of_history(project) == ("session:a", "session:b", "session:a")


def received(hours, **fields):
    return at(hours, started_at_is_assumed=True, **fields)


def test_runs_without_a_known_start_are_one_session_while_they_are_received_within_two_hours(project):
    for hours in (0, 1.5, 3, 9):
        make_runs([received(hours)], upload=make_upload(project))
    names = {f"received {session_at(START.timestamp() + hours * 3600)}" for hours in (0, 9)}
    assert set(sessions_of_history(project)) == names


def test_a_receipt_joins_no_session_of_a_known_start(project):
    make_runs([at(0), received(0.5), at(1)], project=project)
    known, assumed = session_at(START.timestamp()), session_at(START.timestamp() + 1800)
    assert sessions_of_history(project) == (known, f"received {assumed}", known)


def test_on_a_branch_what_was_received_within_six_hours_counts_once(project):
    for hours in (0, 4, 8, 15):
        make_runs([received(hours, branch="main")], upload=make_upload(project))
        make_runs([received(hours, version="11.4.5")], upload=make_upload(project))
    of_branch, of_release = Series.objects.filter(project=project).order_by("-branch")
    assert history(of_branch)[0].independent == 3
    assert history(of_release)[0].independent == 4


def test_the_gap_is_a_setting(project, settings):
    make_runs([at(0), at(1)], project=project)
    settings.SESSION_GAP_S = 60.0
    assert len(set(sessions_of_history(project))) == 2


def test_a_session_lasts_on_all_pages_as_long_as_everything_that_was_measured_in_it(project):
    make_runs([at(1)], project=project)
    make_runs([at(0, workload="other"), at(2, workload="other")], project=project)
    series = [Series.objects.get(project=project, workload__name="oltp_read_only")]
    runs = read_measurements_of_runs(Run.objects.filter(workload__name="oltp_read_only"), series).runs
    assert (runs.session_began_at[0], runs.session_ended_at[0]) == (
        START.timestamp(),
        START.timestamp() + 7200,
    )


def test_the_same_runs_share_sessions_in_histories_and_tables(project):
    make_runs([at(0), at(3), at(3.1), at(30)], project=project)
    make_runs([at(1.5, workload="other")], project=project)
    series = [Series.objects.get(project=project, workload__name="oltp_read_only")]
    table = read_measurements_of_runs(Run.objects.all(), series)
    points = points_of(series, read_measurements([one.pk for one in series]))
    assert table.runs.sessions_of(table.run) == points.sessions(0)
    assert points.independent.tolist() == [2]
