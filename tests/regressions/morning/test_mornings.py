"""The morning of a project."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from benchdash.regressions.analysis.silences import update_silences
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.briefs import mornings_of
from benchdash.regressions.morning.mornings import morning_of
from benchdash.regressions.morning.status import ProjectPart, status_of
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run
from tests.builders import START, make_project, make_record, make_runs, make_series
from tests.clock import clock_at

pytestmark = pytest.mark.django_db

QUIET = (100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6)
DAY = timedelta(days=1)


@pytest.fixture
def project():
    return make_project("bench", public=True)


def nights(project, values, *, workloads=("oltp_point_select",), **fields):
    """A night each at 4 o'clock, of several workloads; returns nine o'clock after the last."""
    for workload in workloads:
        make_series(values, project=project, branch="main", workload=workload, **fields)
    analyse_touched()
    return START + (len(values) - 1) * DAY + timedelta(hours=5)


def steady(number):
    return [QUIET[at % len(QUIET)] for at in range(number)]


# --- the night ----------------------------------------------------------------------------------------------


def test_a_quiet_night_is_told_in_one_sentence(project):
    now = nights(project, steady(20), workloads=["read_only", "read_write", "point_select"])
    morning = morning_of(project, now=now)
    assert morning.sentence == (
        "Last night (21 Mar): 3 of 3 workloads ran on box; nothing new, nothing open."
    )
    assert (morning.ran, morning.expected, morning.machines) == (3, 3, ["box"])
    assert (morning.new, morning.open, morning.missing) == ([], [], [])


def test_a_night_in_which_nothing_ran_says_what_was_due_and_what_was_last(project):
    now = nights(project, steady(20), workloads=["read_only", "read_write"])
    morning = morning_of(project, now=now + DAY)
    assert morning.sentence == (
        "Last night (22 Mar): nothing ran, 2 workloads were due; the last results are of 21 Mar;"
        " nothing new, nothing open. Missing: MariaDB main on box since 21 Mar."
    )
    [missing] = morning.missing
    assert (missing.workloads, missing.interval_s) == ([], DAY.total_seconds())


def test_a_workload_that_did_not_come_is_named(project):
    now = nights(project, steady(20), workloads=["read_only"])
    nights(project, steady(19), workloads=["read_write"])
    morning = morning_of(project, now=now)
    assert (morning.ran, morning.expected) == (1, 2)
    assert [(one.subject, one.workloads) for one in morning.missing] == [
        ("MariaDB main on box", ["read_write"])
    ]


def test_releases_have_no_night(project):
    runs = [make_record(version=f"11.4.{at}", started_at=START + 20 * at * DAY) for at in range(6)]
    make_runs(runs, project=project)
    analyse_touched()
    morning = morning_of(project, now=START + 110 * DAY)
    assert morning.sentence == "Newest: MariaDB 11.4.5, measured 10 Jun; nothing new, nothing open."
    assert morning.rows == []


def test_what_waits_for_analysis_is_no_all_clear(project):
    now = nights(project, steady(20))
    make_series([80.0], project=project, branch="main", workload="oltp_point_select", start=START + 20 * DAY)
    morning = morning_of(project, now=now + DAY)
    assert morning.sentence.endswith(
        "1 of 1 workload ran on box; nothing new so far. 1 series is not analysed yet."
    )
    assert morning.headline == "Nothing new so far. 1 series is not analysed yet."
    assert status_of(project, ProjectPart(), now=now + DAY).words == "not analysed yet"
    analyse_touched()
    assert morning_of(project, now=now + DAY).headline == "Nothing new."
    assert status_of(project, ProjectPart(), now=now + DAY).words == "nothing open"


def test_releases_that_were_compared_in_some_nights_are_not_missing_afterwards(project):
    for night in range(8):
        version = "3.3.1" if night < 4 else "3.4.0"
        make_runs([make_record(version=version, started_at=START + night * DAY)], project=project)
    analyse_touched()
    assert morning_of(project, now=START + 10 * DAY).missing == []


def test_an_empty_project_has_no_results_yet(project):
    assert morning_of(project, now=START).sentence == "No results yet."


def test_samples_end_with_their_latest_night(project):
    project.is_sample = True
    project.save()
    now = nights(project, steady(20))
    assert morning_of(project, now=now + 100 * DAY).sentence == (
        "Latest night (21 Mar): 1 workload ran on box; nothing new, nothing open."
    )


# --- incidents ----------------------------------------------------------------------------------------------


def test_a_loss_is_new_on_its_morning_and_open_on_later_ones(project):
    now = timezone.now()
    values = [*steady(30), *(value * 0.8 for value in steady(6))]
    nights(project, values, start=now - timedelta(days=35, hours=5))
    analyse_touched()
    [incident] = Incident.objects.all()
    morning = morning_of(project)
    assert (morning.new, morning.open) == ([incident], [])
    assert "1 workload ran on box; 1 new: oltp_point_select −20." in morning.sentence
    [row] = morning.rows
    assert (row.incident, row.change) == (incident, pytest.approx(-0.2, abs=0.01))
    later = morning_of(project, now=timezone.now() + 2 * DAY)
    assert (later.new, later.open) == ([], [incident])
    begun = now - timedelta(days=5, hours=5)
    assert f"1 open since {begun.day} " in later.sentence


def test_a_machine_that_went_silent_is_missing_once_with_its_incident(project):
    now = nights(project, steady(30), workloads=["read_only", "read_write"])
    nights(project, steady(26), workloads=["read_only", "read_write"], hardware="bench-03")
    Run.objects.update(recorded_at=F("started_at") + timedelta(hours=1))
    with clock_at(now):
        update_silences(project)
    incident = Incident.objects.get(kind="silence")
    morning = morning_of(project, now=now)
    [missing] = morning.missing
    assert (missing.subject, missing.incident) == ("bench-03", incident)
    assert (morning.new, morning.open) == ([], [])
    assert "nothing new, nothing open. Missing: bench-03 since 27 Mar." in morning.sentence


def test_back_from_two_weeks_of_leave_all_of_it_is_told(project):
    now = nights(project, steady(30))
    sentence = morning_of(project, now=now, since=now - 14 * DAY).sentence
    assert sentence == "Since 17 Mar: 1 of 1 workload ran on box; nothing new, nothing open."


# --- rows ---------------------------------------------------------------------------------------------------


def test_a_row_holds_the_newest_night_against_its_level(project):
    now = nights(project, [*steady(20), 100.2])
    [row] = morning_of(project, now=now).rows
    assert (row.workload, row.threads, row.metric, row.value) == ("oltp_point_select", [4], "tps", 100.2)
    assert row.of_level == pytest.approx(1.002, abs=0.001)
    assert row.verdict == "same"
    assert 0.005 < row.usual < 0.015


def test_a_single_night_far_below_is_likely_worse(project):
    now = nights(project, [*steady(20), 90.0])
    [row] = morning_of(project, now=now).rows
    assert (row.verdict, row.beyond) == ("likely_worse", 1)


def test_several_nights_far_above_are_counted(project):
    now = nights(project, [*steady(20), 110.0, 110.2])
    [row] = morning_of(project, now=now).rows
    assert (row.verdict, row.beyond) == ("likely_better", 2)


def test_a_young_history_says_how_many_nights_it_needs(project):
    now = nights(project, steady(4))
    [row] = morning_of(project, now=now).rows
    assert (row.verdict, row.groups, row.needed) == ("unknown", 3, 3)


def test_thread_counts_are_one_row_with_parts(project):
    for threads in (1, 16):
        now = nights(project, [value * threads for value in steady(20)], threads=threads)
    [row] = morning_of(project, now=now).rows
    assert (row.threads, row.value) == ([1, 16], None)
    assert [part.threads for part in row.parts] == [[1], [16]]


# --- what contradicts itself --------------------------------------------------------------------------------


def test_what_was_not_due_is_no_part_of_what_was(project):
    nights(project, steady(20), workloads=["read_only", "read_write"])
    now = nights(project, [100.0], workloads=["insert"], start=START + 20 * DAY) + 20 * DAY
    assert (
        ": 1 workload ran on box, and none of the 2 that were due; " in morning_of(project, now=now).sentence
    )


def test_a_loss_that_somebody_snoozed_is_not_new(project):
    values = [*steady(30), *(value * 0.8 for value in steady(6))]
    nights(project, values, start=timezone.now() - timedelta(days=35, hours=5))
    analyse_touched()
    assert len(morning_of(project).new) == 1
    Incident.objects.update(snoozed_until=timezone.now() + 7 * DAY)
    morning = morning_of(project)
    assert (morning.new, morning.open) == ([], [])
    assert mornings_of([project])[project.pk].new == []
