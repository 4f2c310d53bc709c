"""How small a change is found in each series, as every look stores it."""

from datetime import timedelta
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchdash.regressions.models import Sensitivity
from benchdash.regressions.services import analyse_touched, recompute
from benchdash.results.models import Run
from tests.builders import make_project, make_record, make_runs
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def record_scatter(project, nights, *, between=0.01, within=0.0, runs=1, sessions=1, every_days=1, **fields):
    """Nights of a noisy machine; those of a night that are of one session follow each other."""
    now, rng = timezone.now(), Random(7)
    records = []
    for night in range(nights):
        mood = rng.gauss(1, between)
        start = now - timedelta(days=every_days * (nights - night))
        for session in range(sessions):
            for run in range(runs):
                at = start + timedelta(hours=4 * session, minutes=run)
                value = 1000 * mood * rng.gauss(1, within)
                fields = {"branch": "main", "version": "10.11.19", **fields}
                records.append(make_record(value, key=f"{night} {session} {run}", started_at=at, **fields))
    make_runs(records, project=project)
    analyse_touched()
    return Sensitivity.objects.get(series__project=project)


def test_a_look_says_how_small_a_change_is_found_in_a_series(project):
    row = record_scatter(project, 60, between=0.02)
    assert row.noise == pytest.approx(0.02, rel=0.5)
    assert 0.05 < row.smallest_change < 0.15


def test_a_quieter_series_finds_less(project):
    noisy = record_scatter(project, 40, between=0.04)
    quiet = record_scatter(make_project(), 40, between=0.005)
    assert quiet.smallest_change < noisy.smallest_change / 3


def test_nineteen_groups_are_not_enough_to_tell(project):
    row = record_scatter(project, 19)
    assert (row.groups, row.noise, row.smallest_change) == (19, None, None)


def test_with_one_run_a_night_nobody_says_what_more_would_find(project):
    row = record_scatter(project, 30)
    assert (row.runs, row.sessions) == (1, 1)
    assert (row.with_more_runs, row.with_more_sessions) == (None, None)


def test_two_runs_a_night_tell_what_four_would_find(project):
    row = record_scatter(project, 40, between=0.005, within=0.04, runs=2)
    assert (row.runs, row.more_runs) == (2, 4)
    assert row.with_more_runs < row.smallest_change
    assert row.with_more_sessions is None


def test_two_sessions_a_night_tell_what_four_would_find(project):
    now, rng = timezone.now(), Random(3)
    make_runs(
        [
            make_record(
                1000 * rng.gauss(1, 0.03),
                key=f"{night} {session}",
                branch="main",
                version="10.11.19",
                started_at=now - timedelta(days=40 - night) + timedelta(hours=4 * session),
            )
            for night in range(40)
            for session in range(2)
        ],
        project=project,
    )
    analyse_touched()
    row = Sensitivity.objects.get()
    assert (row.runs, row.sessions, row.more_sessions) == (2, 2, 4)
    assert row.with_more_sessions < row.smallest_change
    assert row.with_more_runs is None


def test_a_change_that_was_found_is_no_noise(project):
    record_nights(project, [1.0] * 30, workloads=("w",))
    analyse_touched()
    steady = Sensitivity.objects.get().smallest_change
    record_nights(project, [0.7] * 30, first=31, workloads=("w",))
    analyse_touched()
    assert Sensitivity.objects.get().smallest_change < 1.3 * steady


def test_the_pace_is_that_of_the_last_year(project):
    assert record_scatter(project, 30).groups_a_year == pytest.approx(365, rel=0.01)
    assert record_scatter(make_project(), 30, every_days=7).groups_a_year == pytest.approx(52, rel=0.01)


def test_a_few_days_say_nothing_of_a_pace(project):
    assert record_scatter(project, 5).groups_a_year is None


def test_looking_again_at_the_same_writes_nothing_anew(project):
    record_scatter(project, 30)
    with CaptureQueriesContext(connection) as captured:
        for _ in recompute(project=project):
            pass
    written = [one["sql"] for one in captured.captured_queries if not one["sql"].startswith("SELECT")]
    assert not [sql for sql in written if "sensitivity" in sql]


def test_series_whose_runs_are_gone_say_nothing(project):
    record_scatter(project, 30)
    Run.objects.update(excluded_at=timezone.now())
    for _ in recompute(project=project):
        pass
    assert not Sensitivity.objects.exists()


def test_what_is_not_looked_at_has_none(project):
    record_nights(project, [1.0] * 25, workloads=("w",), readings={"tps": 100.0, "latency_max": 7.0})
    analyse_touched()
    assert set(Sensitivity.objects.values_list("series__metric", flat=True)) == {"tps"}
