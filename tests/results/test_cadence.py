"""When results are due, learned from when they came in before."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from benchdash.results.cadence import reporters
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

MONDAY = datetime(2026, 9, 7, 4, 0, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def cadences(project, *, now):
    """The cadence of each place and workload that reports regularly."""
    return [one.cadence for one in reporters(project, now=now) if one.cadence]


def cadence_of(starts, *, now=None, **fields):
    """The cadence of one workload that started then."""
    project = make_project()
    make_runs([make_record(started_at=start, **fields) for start in starts], project=project)
    found = cadences(project, now=now or starts[-1] + HOUR)
    assert len(found) <= 1
    return found[0] if found else None


def nights(count, *, weekdays=range(7), jitter_h=0.5, first=MONDAY):
    days = [first + number * DAY for number in range(count)]
    rng = Random(count)
    return [day + rng.uniform(-jitter_h, jitter_h) * HOUR for day in days if day.weekday() in weekdays]


def test_a_nightly_job_is_due_the_next_night():
    starts = nights(30)
    cadence = cadence_of(starts)
    assert cadence.interval_s == pytest.approx(DAY.total_seconds(), rel=0.05)
    assert cadence.sessions == 30
    assert cadence.last_at == starts[-1]
    assert abs(cadence.due_at - (MONDAY + 30 * DAY)) < HOUR
    assert abs(cadence.second_due_at - (MONDAY + 31 * DAY)) < HOUR


@pytest.mark.parametrize(("last", "due", "second"), [(3, 4, 7), (4, 7, 8), (0, 1, 2)])
def test_a_job_of_working_days_is_not_due_at_the_weekend(last, due, second):
    starts = nights(7 * 5 + last + 1, weekdays=range(5))
    cadence = cadence_of(starts)
    week = MONDAY + 35 * DAY
    assert abs(cadence.due_at - (week + due * DAY)) < HOUR
    assert abs(cadence.second_due_at - (week + second * DAY)) < HOUR


def test_after_a_week_without_knowing_the_weekends_the_longest_gap_counts():
    starts = nights(10, weekdays=range(5))
    cadence = cadence_of(starts)
    assert cadence.due_at - starts[-1] == pytest.approx(3 * DAY, abs=2 * HOUR)


def test_a_weekly_job_is_due_the_next_week():
    starts = [MONDAY + number * 7 * DAY for number in range(8)]
    cadence = cadence_of(starts)
    assert cadence.due_at == MONDAY + 8 * 7 * DAY
    assert cadence.second_due_at == MONDAY + 9 * 7 * DAY


def test_a_job_of_two_weekdays_is_due_on_them():
    starts = nights(40, weekdays=(1, 4))
    cadence = cadence_of(starts)
    assert cadence.due_at.date() == (MONDAY + 43 * DAY).date() or cadence.due_at.weekday() in (1, 4)
    assert abs(cadence.due_at - min(starts[-1] + gap * DAY for gap in (3, 4))) < 26 * HOUR


def test_an_hourly_job_is_due_the_next_hour():
    starts = [MONDAY + number * HOUR for number in range(24 * 20)]
    cadence = cadence_of(starts)
    assert cadence.interval_s == pytest.approx(HOUR.total_seconds())
    assert cadence.due_at == starts[-1] + HOUR


def test_hours_in_which_nobody_works_are_not_due():
    starts = [
        MONDAY + day * DAY + hour * HOUR
        for day in range(33)
        if (MONDAY + day * DAY).weekday() < 5
        for hour in range(0, 10, 3)
    ]
    friday_evening = cadence_of(starts)
    assert starts[-1].weekday() == 4
    assert friday_evening.due_at == MONDAY + 35 * DAY


def test_a_night_of_many_runs_is_one_report():
    starts = [start + minutes * timedelta(minutes=1) for start in nights(10) for minutes in range(0, 240, 20)]
    cadence = cadence_of(starts)
    assert cadence.sessions == 10
    assert cadence.last_at == starts[-1]


def test_results_that_come_now_and_then_have_no_cadence():
    regular = 0
    for seed in range(20):
        rng = Random(seed)
        days = sorted(rng.uniform(0, 59) for _ in range(rng.randint(5, 12)))
        regular += cadence_of([MONDAY + day * DAY for day in days], now=MONDAY + 59 * DAY) is not None
    assert regular <= 2


def test_four_reports_tell_no_cadence():
    assert cadence_of(nights(4)) is None
    assert cadence_of(nights(5)) is not None


def test_one_outage_does_not_change_what_is_due():
    starts = [start for number, start in enumerate(nights(40)) if not 20 <= number < 26]
    assert cadence_of(starts).due_at - starts[-1] == pytest.approx(DAY, abs=2 * HOUR)


def test_a_job_that_was_made_weekly_is_due_after_a_week():
    starts = [*nights(30, jitter_h=0), MONDAY + 36 * DAY]
    assert cadence_of(starts).due_at == MONDAY + 43 * DAY


def test_a_run_is_expected_where_it_came_or_was_due():
    starts = nights(30)
    cadence = cadence_of(starts, now=MONDAY + 32 * DAY)

    def night(number):
        return cadence.is_due(MONDAY + (number - 0.5) * DAY, MONDAY + (number + 0.5) * DAY)

    assert [night(number) for number in (28, 29, 30, 31)] == [True] * 4
    assert not cadence.is_due(starts[-1] + 4 * HOUR, starts[-1] + 8 * HOUR)


def test_each_workload_of_each_place_has_its_own_and_versions_of_a_line_share_one():
    project = make_project()
    records = [
        make_record(started_at=start, version=f"10.6.{number}", workload=workload, hardware=hardware)
        for number, start in enumerate(nights(6))
        for workload in ("oltp_read_only", "oltp_read_write")
        for hardware in ("box", "bench-03")
    ]
    make_runs(records, project=project)
    found = cadences(project, now=MONDAY + 6 * DAY)
    assert len({(one.place, one.workload_id) for one in found}) == len(found) == 4
    assert {one.place.line for one in found} == {"10.6"}


def test_however_many_there_are_two_statements_read_them(django_assert_num_queries):
    project = make_project()
    records = [
        make_record(started_at=start, workload=f"workload {number}")
        for start in nights(6)
        for number in range(20)
    ]
    make_runs(records, project=project)
    with django_assert_num_queries(2):
        assert len(cadences(project, now=MONDAY + 6 * DAY)) == 20
