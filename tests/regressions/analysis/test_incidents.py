"""Which change points are one incident, and what stays of it when the history changes under it."""

import pytest

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run, Series
from benchdash.results.services import remove_runs, touch
from tests.builders import make_project, make_series, make_upload
from tests.regressions.nights import night_time, record_nights

pytestmark = pytest.mark.django_db

A_FIFTH_SLOWER = [1.0] * 20 + [0.8] * 6


@pytest.fixture
def project():
    return make_project()


def look_again():
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()


def test_the_change_points_of_all_workloads_and_machines_are_one_incident(project):
    record_nights(project, A_FIFTH_SLOWER, hardware="bench-03")
    record_nights(project, A_FIFTH_SLOWER, hardware="bench-04")
    analyse_touched()
    incident = Incident.objects.get()
    assert incident.change_points.count() == 6
    assert incident.looked_at == 6


def test_the_change_points_of_all_metrics_and_machines_are_one_incident(project):
    for machine in ("bench-03", "bench-04"):
        for night, level in enumerate(A_FIFTH_SLOWER, 1):
            wobble = 1 + night % 3 / 100
            readings = {"tps": 1000 * level * wobble, "latency_p95": 10 / level * wobble}
            workloads = ["oltp_read_only", "oltp_insert"]
            record_nights(project, [1], first=night, workloads=workloads, readings=readings, hardware=machine)
    analyse_touched()
    assert Incident.objects.get().change_points.count() == 8


def test_settings_that_differ_between_machines_do_not_part_an_incident(project):
    for machine in range(5):
        record_nights(
            project,
            A_FIFTH_SLOWER,
            workloads=["oltp_read_only"],
            hardware=f"bench-{machine}",
            settings={"innodb_buffer_pool_size": f"{machine}G"},
        )
    analyse_touched()
    assert Incident.objects.get().change_points.count() == 5


def test_an_incident_says_where_it_began_and_how_bad_it_is(project):
    record_nights(project, [1.0] * 20 + [0.7] * 6, workloads=["oltp_read_only"])
    record_nights(project, [1.0] * 20 + [0.8] * 6, workloads=["oltp_read_write"])
    record_nights(project, [1.0] * 20 + [0.9] * 6, workloads=["oltp_point_select"])
    record_nights(project, [1.0] * 26, workloads=["oltp_insert"])
    analyse_touched()
    incident = Incident.objects.get()
    assert (incident.kind, incident.status, incident.branch, incident.line) == (
        "regression",
        "confirmed",
        "main",
        "",
    )
    assert incident.started_at == night_time(21)
    assert incident.worst == pytest.approx(-0.3, abs=0.01)
    assert incident.median == pytest.approx(-0.2, abs=0.01)
    assert (incident.change_points.count(), incident.looked_at) == (3, 4)
    assert incident.confirmed_at is not None


def test_between_releases_an_incident_names_the_versions(project):
    make_series([100, 101, 99] * 4 + [70, 71, 69] * 3, project=project)
    analyse_touched()
    incident = Incident.objects.get()
    assert (incident.since.version, incident.until.version, incident.line) == ("10.6.12", "10.6.13", "10.6")


def test_throughput_and_response_times_stand_in_one_number(project):
    nights = [1.0] * 20 + [0.5] * 6
    record_nights(project, nights, workloads=["oltp_read_only"])
    for night, level in enumerate(nights, 1):
        wobble = 1 + night % 3 / 100
        readings = {"latency_p95": 10 / level * wobble}
        record_nights(project, [level], first=night, workloads=["oltp_read_only"], readings=readings)
    analyse_touched()
    changes = sorted(ChangePoint.objects.values_list("change", flat=True))
    assert changes == [pytest.approx(-0.5, abs=0.02), pytest.approx(1.0, abs=0.05)]
    incident = Incident.objects.get()
    assert incident.worst == pytest.approx(-0.5, abs=0.02)
    assert incident.median == pytest.approx(-0.5, abs=0.02)


def test_the_headline_is_the_median_of_the_main_metric_whatever_else_moved(project):
    for workload, level in (("read_only", 0.9), ("read_write", 0.8), ("point_select", 0.7)):
        nights = [1.0] * 20 + [level] * 6
        record_nights(project, nights, workloads=[workload])
        for night, at in enumerate(nights, 1):
            readings = {"latency_p95": 10 / at**3 * (1 + night % 3 / 100)}
            record_nights(project, [at], first=night, workloads=[workload], readings=readings)
    analyse_touched()
    incident = Incident.objects.get()
    assert (incident.metric, incident.change_points.count()) == ("tps", 6)
    assert incident.median == pytest.approx(-0.2, abs=0.01)
    assert incident.worst == pytest.approx(0.7**3 - 1, abs=0.02)
    largest = incident.largest.series
    assert (largest.workload.name, largest.metric) == ("point_select", "latency_p95")


def test_what_was_switched_on_every_machine_is_the_cause(project):
    for machine in ("bench-03", "bench-04"):
        record_nights(project, [1.0] * 20, hardware=machine, settings={"pool": "8G"})
        switched = {"pool": "8G", "slow_query_log": "ON"}
        record_nights(project, [0.8] * 6, first=21, hardware=machine, settings=switched)
    analyse_touched()
    assert Incident.objects.get().cause == "slow_query_log was switched on"


def test_what_was_switched_on_one_machine_alone_is_no_cause_of_what_two_saw(project):
    record_nights(project, [1.0] * 20, hardware="bench-03", settings={"pool": "8G"})
    record_nights(project, [0.8] * 6, first=21, hardware="bench-03", settings={"pool": "9G"})
    record_nights(project, [1.0] * 20 + [0.8] * 6, hardware="bench-04", settings={"pool": "8G"})
    analyse_touched()
    assert Incident.objects.get().cause == ""


def test_without_settings_no_cause_is_claimed(project):
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    assert Incident.objects.get().cause == ""


def test_what_became_faster_is_another_incident_than_what_became_slower(project):
    record_nights(project, A_FIFTH_SLOWER, workloads=["oltp_read_only"])
    record_nights(project, [1.0] * 20 + [1.3] * 6, workloads=["oltp_insert"])
    analyse_touched()
    assert set(Incident.objects.values_list("kind", flat=True)) == {"regression", "improvement"}


def test_changes_far_apart_are_two_incidents(project):
    record_nights(project, [1.0] * 15 + [0.8] * 10 + [0.6] * 8)
    analyse_touched()
    assert set(Incident.objects.values_list("started_at", flat=True)) == {night_time(16), night_time(26)}


def test_branches_have_incidents_of_their_own(project):
    record_nights(project, A_FIFTH_SLOWER, branch="10.11")
    record_nights(project, A_FIFTH_SLOWER, branch="11.4")
    analyse_touched()
    assert set(Incident.objects.values_list("branch", flat=True)) == {"10.11", "11.4"}


def test_one_confirmed_series_confirms_the_incident_and_alone_speaks_for_it(project):
    record_nights(project, A_FIFTH_SLOWER, hardware="bench-03")
    record_nights(project, [1.0] * 20 + [0.4], hardware="bench-04")
    analyse_touched()
    incident = Incident.objects.get()
    assert set(incident.change_points.values_list("state", flat=True)) == {"confirmed", "suspected"}
    assert incident.status == "confirmed"
    assert incident.worst == pytest.approx(-0.2, abs=0.02)


# --- an incident stays the same one -----------------------------------------------------------------------


def test_an_incident_outlives_the_runs_that_held_its_place(project):
    record_nights(project, [1.0] * 20)
    first_bad_night = make_upload(project)
    record_nights(project, [0.8], first=21, upload=first_bad_night)
    record_nights(project, [0.8] * 6, first=22)
    analyse_touched()
    incident = Incident.objects.get()
    Incident.objects.update(state="acknowledged")
    remove_runs(project, upload_id=first_bad_night.pk)
    assert not ChangePoint.objects.exists()
    analyse_touched()
    assert Incident.objects.get() == incident
    incident.refresh_from_db()
    assert (incident.state, incident.status, incident.started_at) == (
        "acknowledged",
        "confirmed",
        night_time(22),
    )


def test_a_suspicion_that_moves_to_another_workload_is_the_same_incident(project):
    record_nights(project, [1.0] * 20 + [0.7] * 2, workloads=["oltp_read_only"])
    record_nights(project, [1.0] * 22, workloads=["oltp_insert"])
    analyse_touched()
    incident = Incident.objects.get()
    Run.objects.filter(started_at__gte=night_time(21)).update(excluded_at=night_time(30))
    record_nights(project, [1.0] * 2, first=21, workloads=["oltp_read_only"])
    record_nights(project, [0.7] * 2, first=21, workloads=["oltp_insert"])
    analyse_touched()
    assert Incident.objects.get() == incident
    assert set(incident.change_points.values_list("series__workload__name", "state")) == {
        ("oltp_read_only", "withdrawn"),
        ("oltp_insert", "suspected"),
    }


def test_an_incident_that_comes_back_keeps_what_people_said(project):
    record_nights(project, A_FIFTH_SLOWER)
    analyse_touched()
    Incident.objects.update(state="invalid", reason="the disk was full")
    Run.objects.filter(started_at__gte=night_time(21)).update(excluded_at=night_time(30))
    look_again()
    assert Incident.objects.get().status == "withdrawn"
    Run.objects.update(excluded_at=None)
    look_again()
    incident = Incident.objects.get()
    assert (incident.status, incident.state, incident.reason) == ("confirmed", "invalid", "the disk was full")


def test_incidents_of_other_kinds_are_left_alone(project):
    record_nights(project, [1.0] * 26)
    series = Series.objects.first()
    silence = Incident.objects.create(
        project=project,
        product=series.product,
        branch="main",
        kind="silence",
        status="confirmed",
        started_at=night_time(21),
        worst=0,
        median=0,
    )
    analyse_touched()
    silence.refresh_from_db()
    assert silence.status == "confirmed"
