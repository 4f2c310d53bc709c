"""Machines, jobs and workloads that stop to report, with the clock moved from night to night."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.regressions import headlines
from benchdash.regressions.analysis.silences import update_silences
from benchdash.regressions.models import Incident, IncidentEvent, Silence
from benchdash.regressions.queries import open_filter
from benchdash.regressions.triage import triage
from benchdash.results.models import Run
from tests.builders import make_project, make_record, make_runs
from tests.clock import clock_at

pytestmark = pytest.mark.django_db


def open_incidents(project):
    return Incident.objects.filter(open_filter(), project=project)


FIRST_NIGHT = datetime(2026, 8, 3, 3, 0, tzinfo=UTC)  # a Monday
JOBS = (("MariaDB", "main"), ("MariaDB", "10.11-maintenance"), ("PostgreSQL", "main"))
WORKLOADS = ("oltp_read_only", "oltp_read_write")
MACHINES = ("bench-01", "bench-03")
NIGHTS = 30


class Year:
    """A project whose nights come in as they pass; after each, silences are looked for twice a day."""

    def __init__(self, *, nights=NIGHTS, **fields):
        self.project = make_project(**fields)
        self.night = nights
        self.first_seen = {}  # the time at which each incident was first there
        records = [one for night in range(nights) for one in self.records(night, everything)]
        make_runs(records, project=self.project)
        Run.objects.update(recorded_at=F("started_at") + timedelta(hours=1))

    def records(self, night, reports, *, late=timedelta()):
        return [
            make_record(
                product=product,
                branch=branch,
                hardware=machine,
                workload=workload,
                started_at=night_at(night) + late + timedelta(minutes=10 * number),
            )
            for machine in MACHINES
            for number, (product, branch) in enumerate(JOBS)
            for workload in WORKLOADS
            if reports(machine, product, branch, workload)
        ]

    def pass_nights(self, count, reports=None, *, late=timedelta(), hours=(5, 17)):
        for _ in range(count):
            if records := self.records(self.night, reports or everything, late=late):
                with clock_at(night_at(self.night) + late + timedelta(hours=1)):
                    make_runs(records, project=self.project)
            for hour in hours:
                with clock_at(night_at(self.night) + timedelta(hours=hour)):
                    self.look()
            self.night += 1

    def look(self):
        update_silences(self.project)
        for pk in Incident.objects.values_list("pk", flat=True):
            self.first_seen.setdefault(pk, timezone.now())


def night_at(night):
    return FIRST_NIGHT + timedelta(days=night)


def everything(machine, product, branch, workload):
    return True


def all_but(**silent):
    """Everything reports but what has these fields."""

    def reports(machine, product, branch, workload):
        fields = {"machine": machine, "product": product, "branch": branch, "workload": workload}
        return any(fields[name] != value for name, value in silent.items())

    return reports


@pytest.fixture
def year():
    return Year()


def whats(incident):
    return list(incident.events.values_list("what", flat=True))


def test_a_machine_that_stopped_is_one_incident_before_the_third_night(year):
    year.pass_nights(3, all_but(machine="bench-03"), hours=range(24))
    incident = Incident.objects.get()
    assert (incident.kind, incident.status, incident.state) == ("silence", "confirmed", "new")
    assert incident.hardware.name == "bench-03"
    assert incident.product is None
    assert incident.started_at == night_at(NIGHTS)
    # The second night is missing when its results would have come in, an hour after its start, and two more.
    assert year.first_seen[incident.pk] == night_at(NIGHTS + 1) + timedelta(hours=4)
    with clock_at(night_at(NIGHTS + 2)):
        assert headlines.silence_words(incident) == (
            "no results from bench-03 since Tue 1 Sep; it used to report every night"
        )
    assert whats(incident) == ["detected", "confirmed"]
    assert not IncidentEvent.objects.filter(quiet=True).exists()


def test_one_late_and_one_missing_night_are_no_silence(year):
    year.pass_nights(1, late=timedelta(hours=14), hours=(17, 20, 23))
    year.pass_nights(5)
    year.pass_nights(1, all_but(machine="bench-03"))
    year.pass_nights(5)
    assert not Incident.objects.exists()


def test_a_product_a_job_and_a_workload_that_stopped_are_told_as_that(year):
    def reports(machine, product, branch, workload):
        return machine != "bench-01" or (product, branch) == ("MariaDB", "main")

    year.pass_nights(3, reports)
    names = {headlines.silent_name(one) for one in Silence.objects.all()}
    assert names == {"MariaDB 10.11-maintenance on bench-01", "PostgreSQL on bench-01"}


def test_a_workload_that_stopped_is_one_incident_per_machine(year):
    year.pass_nights(3, all_but(product="MariaDB", branch="main", workload="oltp_read_only"))
    names = {headlines.silent_name(one) for one in Silence.objects.all()}
    assert names == {f"oltp_read_only of MariaDB main on {machine}" for machine in MACHINES}


def test_it_ends_when_results_come_in_again_and_the_next_silence_is_a_new_incident(year):
    year.pass_nights(4, all_but(machine="bench-03"))
    year.pass_nights(8)
    incident = Incident.objects.get()
    assert incident.state == "fixed"
    assert incident.silence.ended_at.date() == (FIRST_NIGHT + timedelta(days=NIGHTS + 4)).date()
    assert whats(incident) == ["detected", "confirmed", "recovered"]
    assert not open_incidents(year.project).exists()
    year.pass_nights(3, all_but(machine="bench-03"))
    assert Incident.objects.count() == 2
    assert open_incidents(year.project).get() != incident


def test_to_look_again_changes_nothing(year):
    year.pass_nights(10, all_but(machine="bench-03"))
    assert Incident.objects.count() == 1
    assert IncidentEvent.objects.count() == 2


def test_what_a_person_said_is_kept_while_it_is_silent(year):
    year.pass_nights(3, all_but(machine="bench-03"))
    triage(Incident.objects.get(), by=Viewer(), by_name="alice", state="expected", reason="retired")
    year.night += 70
    year.pass_nights(2, all_but(machine="bench-03"))
    incident = Incident.objects.get()
    assert (incident.state, incident.silence.ended_at) == ("expected", None)
    year.pass_nights(1)
    incident.refresh_from_db()
    assert incident.state == "expected"
    assert incident.silence.ended_at is not None
    assert incident.events.get(what="recovered").quiet


def test_a_silence_that_widens_stays_one_incident_until_it_ends(year):
    year.pass_nights(3, all_but(machine="bench-03", product="PostgreSQL"))
    incident = Incident.objects.get()
    assert incident.subject == "PostgreSQL on bench-03"
    year.pass_nights(3, all_but(machine="bench-03"))
    incident = Incident.objects.get()
    assert incident.subject == "bench-03"
    assert incident.silence.last_run_at.date() == night_at(NIGHTS + 2).date()
    assert whats(incident) == ["detected", "confirmed", "spread"]
    year.pass_nights(1)
    incident = Incident.objects.get()
    assert incident.state == "fixed"


def test_after_a_silence_what_is_late_has_until_its_next_run(year):
    year.pass_nights(4, all_but(machine="bench-03"))
    year.pass_nights(1, all_but(machine="bench-03", product="PostgreSQL"))
    assert Incident.objects.get().state == "fixed"
    year.pass_nights(2, all_but(machine="bench-03", product="PostgreSQL"))
    still = open_incidents(year.project).get()
    assert still.subject == "PostgreSQL on bench-03"
    assert still.silence.last_run_at.date() == night_at(NIGHTS - 1).date()


def test_a_settled_silence_does_not_hide_a_wider_one(year):
    year.pass_nights(3, all_but(machine="bench-03", product="PostgreSQL"))
    settled = Incident.objects.get()
    triage(settled, by=Viewer(), by_name="alice", state="expected", reason="moved to bench-04")
    year.pass_nights(3, all_but(machine="bench-03"))
    assert open_incidents(year.project).get().subject == "bench-03"
    settled.refresh_from_db()
    assert settled.state == "expected"
    year.pass_nights(3, all_but(machine="bench-03", product="PostgreSQL"))
    assert not open_incidents(year.project).exists()
    settled.refresh_from_db()
    assert (settled.state, settled.folded_into) == ("expected", None)


def test_a_branch_of_a_few_days_may_end():
    running = Year(nights=13)
    running.pass_nights(10, all_but(branch="main", product="MariaDB"))
    assert not Incident.objects.exists()


def test_branches_of_a_pattern_in_the_settings_come_and_go():
    running = Year(options={"branch_origins": [["10.11-*", "10.11"], ["main", "10.11"]]})
    running.pass_nights(5, all_but(branch="10.11-maintenance"))
    assert not Incident.objects.exists()
    running.pass_nights(3, all_but(branch="main", product="PostgreSQL", machine="bench-01"))
    assert Incident.objects.get().subject == "PostgreSQL on bench-01"


def test_an_archive_that_was_imported_is_never_silent():
    project = make_project()
    with clock_at(night_at(40)):
        make_runs(
            [make_record(started_at=night_at(night)) for night in range(40)],
            project=project,
        )
    for day in range(41, 60):
        with clock_at(night_at(day)):
            update_silences(project)
    assert not Incident.objects.exists()


def test_samples_are_never_silent():
    running = Year(is_sample=True)
    running.pass_nights(5, all_but(machine="bench-03"))
    assert not Incident.objects.exists()


def test_a_silence_that_nobody_was_told_of_in_time_is_no_news(year):
    update_silences(year.project, now=night_at(NIGHTS + 20))
    assert not Incident.objects.exists()


def test_however_much_reports_the_statements_stay_the_same(year, django_assert_num_queries):
    now = night_at(NIGHTS)
    # Two for the savepoint, the lock, two of the reports, and the silences that are known.
    with django_assert_num_queries(6):
        update_silences(year.project, now=now)


# --- when it is told ----------------------------------------------------------------------------------------


def hours_until_told(starts, *, delay=timedelta(hours=1), arrivals=None, within_days=20):
    """How long after the last run a silence is told; None if it is not."""
    project = make_project()
    runs = make_runs([make_record(started_at=start) for start in starts], project=project)
    for run, arrival in zip(runs, arrivals or [start + delay for start in starts], strict=True):
        Run.objects.filter(pk=run.pk).update(recorded_at=arrival)
    for hour in range(2, within_days * 24, 2):
        update_silences(project, now=starts[-1] + timedelta(hours=hour))
        if project.incidents.exists():
            return hour
    return None


def test_of_working_days_the_weekend_is_not_missed():
    fridays_last = [night_at(night) for night in range(33) if night_at(night).weekday() < 5]
    assert fridays_last[-1].weekday() == 4
    told = hours_until_told(fridays_last)
    # Monday and Tuesday were missed.
    assert 4 * 24 < told <= 4 * 24 + 6


def test_a_weekly_job_is_told_after_two_weeks():
    told = hours_until_told([night_at(7 * week) for week in range(8)])
    assert 14 * 24 < told <= 15 * 24


def test_an_hourly_job_is_told_after_a_day():
    told = hours_until_told([FIRST_NIGHT + timedelta(hours=hour) for hour in range(15 * 24)])
    assert 24 < told <= 28


def test_results_that_come_in_late_have_their_time():
    starts = [night_at(night) for night in range(20)]
    assert hours_until_told(starts) == 52
    assert hours_until_told(starts, delay=timedelta(hours=10)) == 62


def test_a_machine_that_sends_a_week_at_once_has_a_week():
    starts = [night_at(night) for night in range(42)]
    arrivals = [night_at(7 * (night // 7) + 7) for night in range(42)]
    assert hours_until_told(starts, arrivals=arrivals) > 8 * 24


def test_what_has_no_rhythm_is_never_silent():
    starts = [night_at(night) for night in (0, 3, 4, 9, 17, 18, 30, 31, 44)]
    assert hours_until_told(starts, within_days=14) is None
