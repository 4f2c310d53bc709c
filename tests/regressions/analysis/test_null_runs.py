from datetime import UTC, datetime, timedelta

import pytest

from benchdash.regressions import tasks
from benchdash.regressions.analysis import null_runs
from benchdash.regressions.analysis.null_runs import next_null_run, null_run, projects_due
from benchdash.regressions.models import ChangePoint, NullRun
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_series
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db

FRIDAY = datetime(2026, 11, 20, 3, 30, tzinfo=UTC)


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def few_looks(monkeypatch):
    monkeypatch.setattr(null_runs, "_ENOUGH_LOOKS", 100)


def test_a_null_run_looks_at_a_projects_own_histories_again_and_again(project, few_looks):
    record_nights(project, [1.0] * 30)
    record_nights(make_project(), [1.0] * 30)
    run = null_run(project, at=FRIDAY)
    # 30 nights are 29 looks, four times over; 90 points each time.
    assert (run.places, run.looks, run.points) == (1, 116, 360)
    assert (run.incidents, run.change_points) == (0, 0)
    assert NullRun.objects.get() == run


def test_what_was_confirmed_is_taken_out_before(project, few_looks):
    record_nights(project, [1.0] * 20 + [0.6] * 10)
    analyse_touched()
    assert ChangePoint.objects.filter(state="confirmed").count() == 3
    assert null_run(project, at=FRIDAY).incidents == 0


def test_every_place_has_its_turn(project, few_looks):
    for hardware in ("bench-01", "bench-02", "bench-03"):
        record_nights(project, [1.0] * 30, hardware=hardware)
    assert null_run(project, at=FRIDAY).places == 3


def test_the_same_histories_on_the_same_day_give_the_same_answer(project, few_looks):
    record_nights(project, [1.0, 0.7] * 15)
    figures = [
        (run.looks, run.incidents, run.change_points)
        for run in (null_run(project, at=FRIDAY), null_run(project, at=FRIDAY))
    ]
    assert figures[0] == figures[1]


def test_rates_are_of_a_thousand():
    run = NullRun(places=1, looks=2000, points=50_000, incidents=3, change_points=7)
    assert run.incidents_per_1000_looks == 1.5
    assert run.change_points_per_1000_points == pytest.approx(0.14)


def test_a_history_that_is_too_short_is_not_shuffled(project):
    record_nights(project, [1.0] * 11)
    assert null_run(project) is None
    assert not NullRun.objects.exists()


def test_a_project_is_due_a_week_after_its_last_null_run(project):
    make_series([100.0], project=project)
    make_project("without-results")
    assert list(projects_due(FRIDAY)) == [project]
    NullRun.objects.create(
        project=project, at=FRIDAY, places=1, looks=1, points=1, incidents=0, change_points=0
    )
    assert list(projects_due(FRIDAY + timedelta(days=6))) == []
    assert list(projects_due(FRIDAY + timedelta(days=7))) == [project]


def test_the_next_null_run_is_in_the_coming_night_or_a_week_after_the_last():
    assert next_null_run(None, now=FRIDAY) == FRIDAY
    assert next_null_run(None, now=FRIDAY + timedelta(hours=1)) == FRIDAY + timedelta(days=1)
    last = NullRun(at=FRIDAY + timedelta(minutes=2))
    assert next_null_run(last, now=FRIDAY + timedelta(hours=1)) == FRIDAY + timedelta(days=7)
    assert next_null_run(last, now=FRIDAY + timedelta(days=9, hours=1)) == FRIDAY + timedelta(days=10)


@pytest.mark.django_db(transaction=True)
def test_the_job_runs_one_for_each_project_that_is_due(worker, project):
    record_nights(project, [1.0] * 12)
    worker.wait_until_idle()
    tasks.null_runs_due.delay()
    worker.wait_until_idle()
    assert NullRun.objects.get().project == project
