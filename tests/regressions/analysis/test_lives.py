"""What happens to an incident: it recovers, returns, spreads, narrows, splits and merges."""

import pytest

from benchdash.accounts.access import Viewer
from benchdash.regressions.event_words import event_words
from benchdash.regressions.headlines import day
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent
from benchdash.regressions.queries import evidence, incidents
from benchdash.regressions.services import analyse_touched, recompute
from benchdash.regressions.triage import comment, triage
from benchdash.results.models import Run, Series
from benchdash.results.services import touch
from tests.builders import make_project, make_record, make_runs, make_user
from tests.regressions.nights import night_time, record_nights

pytestmark = pytest.mark.django_db

LOSS = [1.0] * 15 + [0.8] * 6


@pytest.fixture
def project():
    return make_project()


def nights(project, levels, **fields):
    record_nights(project, levels, **fields)
    analyse_touched()


def loss():
    return Incident.objects.get(kind="regression")


def _recovered_on(night):
    return f"recovered on {day(night_time(night))}"


def happened(incident):
    return [one.what for one in incident.events.all()]


def look_again():
    touch(Series.objects.values_list("pk", flat=True), quiet=True)
    analyse_touched()


# --- events -----------------------------------------------------------------------------------------------


def test_a_regression_is_detected_and_confirmed_once(project):
    record_nights(project, [1.0] * 25)
    for night in range(26, 31):
        nights(project, [0.8], first=night)
    assert happened(loss()) == ["detected", "confirmed"]
    assert not IncidentEvent.objects.filter(quiet=True).exists()


def test_another_look_writes_no_event_twice(project):
    nights(project, [*LOSS, *[1.0] * 6])
    before = list(IncidentEvent.objects.values_list("pk", "what"))
    look_again()
    list(recompute(project=project))
    assert list(IncidentEvent.objects.values_list("pk", "what")) == before


def test_what_quiet_files_bring_is_noted_quietly(project):
    nights(project, LOSS, quiet=True)
    assert set(loss().events.values_list("what", "quiet")) == {("detected", True), ("confirmed", True)}


def test_what_a_recompute_finds_is_noted_quietly(project):
    record_nights(project, LOSS)
    analyse_touched()
    ChangePoint.objects.all().delete()
    Incident.objects.all().delete()
    list(recompute(project=project))
    assert set(loss().events.values_list("quiet", flat=True)) == {True}


def test_an_incident_that_grows_to_another_machine_has_spread(project):
    nights(project, LOSS, hardware="bench-03")
    nights(project, LOSS, hardware="bench-04")
    assert happened(loss()) == ["detected", "confirmed", "spread"]
    assert loss().events.last().detail["series"] == 6


def test_one_more_series_is_no_spread(project):
    nights(project, LOSS)
    nights(project, LOSS, workloads=["oltp_insert"])
    assert happened(loss()) == ["detected", "confirmed"]


def test_an_incident_without_evidence_is_withdrawn_until_it_is_confirmed_again(project):
    nights(project, LOSS)
    Run.objects.filter(started_at__gte=night_time(16)).update(excluded_at=night_time(30))
    look_again()
    Run.objects.update(excluded_at=None)
    look_again()
    assert happened(loss()) == ["detected", "confirmed", "withdrawn", "detected", "confirmed"]


# --- recovery ---------------------------------------------------------------------------------------------


def test_a_loss_that_is_regained_is_fixed_by_the_step_back(project):
    nights(project, LOSS)
    nights(project, [1.0] * 6, first=22)
    incident = loss()
    step_back = Incident.objects.get(kind="improvement")
    assert (incident.state, incident.recovered_by) == ("fixed", step_back)
    recovered = incident.events.last()
    assert (recovered.what, recovered.state, recovered.by_name) == ("recovered", "fixed", "")
    day = f"{night_time(22):%Y-%m-%d}"
    assert recovered.reason == f"recovered by incident {step_back.pk} on {day}"


def test_a_loss_of_which_half_is_regained_stays_open(project):
    nights(project, [1.0] * 15 + [0.6] * 6 + [0.8] * 6)
    assert (loss().state, loss().recovered_by) == ("new", None)


def test_a_loss_of_which_a_part_is_left_is_told_as_recovered_to_it_and_stays_open(project):
    nights(project, [1.0] * 15 + [0.9] * 6 + [0.963] * 6)
    step_back = Incident.objects.get(kind="improvement")
    assert (loss().state, loss().recovered_by) == ("new", step_back)
    assert loss().remaining == pytest.approx(-0.037, abs=0.01)
    assert happened(loss()) == ["detected", "confirmed", "recovered"]
    recovered = loss().events.last()
    assert (recovered.state, event_words(recovered)) == ("", f"{_recovered_on(22)}, but not wholly")
    look_again()
    assert happened(loss()) == ["detected", "confirmed", "recovered"]


def test_a_loss_of_which_nothing_is_left_after_a_second_step_back_is_fixed(project):
    nights(project, [1.0] * 12 + [0.9] * 5 + [0.963] * 6)
    assert loss().remaining is not None
    nights(project, [1.0] * 6, first=24)
    assert (loss().state, loss().remaining) == ("fixed", None)
    assert happened(loss()) == ["detected", "confirmed", "recovered", "recovered"]
    assert event_words(loss().events.last()) == _recovered_on(18)


def test_a_remainder_that_takes_more_nights_to_show_opens_the_loss_again(project):
    record_nights(project, [1.0] * 15 + [0.8] * 5)
    for night in range(21, 31):
        nights(project, [0.98], first=night)
    assert (loss().state, loss().remaining) == ("new", pytest.approx(-0.02, abs=0.01))
    states = [one.state for one in loss().events.filter(what="recovered")]
    assert states in ([""], ["fixed", "new"])


def test_another_loss_after_a_recovery_is_no_remainder_of_the_first(project):
    nights(project, [1.0] * 10 + [0.8] * 5 + [1.0] * 6 + [0.9] * 6)
    first = Incident.objects.filter(kind="regression").earliest("started_at")
    assert (first.state, first.remaining) == ("fixed", None)


@pytest.mark.parametrize("state", ["expected", "wontfix", "invalid"])
def test_a_remainder_opens_nothing_that_people_decided(project, state):
    nights(project, [1.0] * 15 + [0.9] * 6)
    Incident.objects.update(state=state)
    nights(project, [0.963] * 6, first=22)
    assert (loss().state, loss().remaining) == (state, pytest.approx(-0.037, abs=0.01))


def test_a_step_back_of_other_workloads_is_no_recovery(project):
    nights(project, LOSS + [0.8] * 6, workloads=["oltp_read_only"])
    nights(project, [0.8] * 21 + [1.0] * 6, workloads=["oltp_insert"])
    assert (loss().state, loss().recovered_by) == ("new", None)


@pytest.mark.parametrize("state", ["expected", "wontfix", "invalid"])
def test_what_people_decided_stays_when_a_loss_recovers(project, state):
    nights(project, LOSS)
    Incident.objects.update(state=state)
    nights(project, [1.0] * 6, first=22)
    assert loss().state == state
    assert loss().recovered_by is not None


def test_a_loss_whose_recovery_is_withdrawn_is_open_again(project):
    nights(project, LOSS)
    nights(project, [1.0] * 6, first=22)
    Run.objects.filter(started_at__gte=night_time(22)).update(excluded_at=night_time(30))
    look_again()
    assert (loss().state, loss().recovered_by) == ("new", None)
    assert happened(loss())[-1] == "returned"


def test_a_loss_that_returns_is_the_same_incident_open_again(project):
    nights(project, [1.0] * 10 + [0.8] * 6)
    incident = loss()
    nights(project, [1.0] * 6, first=17)
    nights(project, [0.8] * 6, first=23)
    assert loss() == incident
    assert (loss().state, loss().status, loss().recovered_by) == ("new", "confirmed", None)
    assert loss().started_at == night_time(23)
    assert happened(incident) == ["detected", "confirmed", "recovered", "returned"]
    look_again()
    assert happened(incident) == ["detected", "confirmed", "recovered", "returned"]


def test_a_loss_that_returned_shows_each_series_once(project):
    nights(project, [1.0] * 10 + [0.8] * 6 + [1.0] * 6 + [0.8] * 6)
    assert incidents(project).get(kind="regression").series_count == len(evidence(loss())) == 3
    assert {one.run.started_at for one in evidence(loss())} == {night_time(23)}


def test_what_people_said_of_a_suspicion_is_kept_when_it_is_the_loss_that_returned(project):
    nights(project, [1.0] * 10 + [0.8] * 6 + [1.0] * 6)
    known = loss()
    nights(project, [0.8], first=23)
    suspicion = Incident.objects.filter(kind="regression").exclude(pk=known.pk).get()
    triage(suspicion, by=Viewer(user=make_user(member_of=project)), state="acknowledged")
    nights(project, [0.8] * 5, first=24)
    known.refresh_from_db()
    suspicion.refresh_from_db()
    assert (known.state, known.recovered_by, suspicion.status) == ("acknowledged", None, "withdrawn")
    assert happened(suspicion) == ["detected", "state", "merged"]


def test_a_loss_to_another_level_after_a_recovery_is_another_incident(project):
    nights(project, [1.0] * 10 + [0.8] * 6 + [1.0] * 6)
    nights(project, [0.6] * 6, first=23)
    assert Incident.objects.filter(kind="regression").count() == 2


# --- late data --------------------------------------------------------------------------------------------


def commits(project, levels, **fields):
    records = [
        make_record(
            1000 * level * (1 + number % 3 / 100),
            version="11.4",
            branch="main",
            commit=f"{number:040x}",
            committed_at=night_time(number),
            started_at=night_time(number),
            **fields,
        )
        for number, level in levels.items()
    ]
    make_runs(records, project=project)
    analyse_touched()


def weekly(changed_at, last=29):
    return {number: 0.8 if number >= changed_at else 1.0 for number in range(1, last, 1) if number % 3 == 1}


def test_an_older_commit_measured_late_narrows_the_range(project):
    commits(project, weekly(16))
    assert (loss().since.commit[-2:], loss().until.commit[-2:]) == ("0d", "10")
    commits(project, {14: 1.0, 15: 0.8})
    assert (loss().since.commit[-2:], loss().until.commit[-2:]) == ("0e", "0f")
    assert happened(loss())[-1] == "narrowed"


def test_an_incident_began_when_its_level_was_first_measured_whenever_the_range_was_narrowed(project):
    commits(project, {n: 1.0 if n < 12 else 0.8 for n in range(1, 27) if n % 3 == 1}, hardware="weekly")
    began = loss().started_at
    assert began == night_time(13)
    late = [
        make_record(
            1000 * level * (1 + number % 3 / 100),
            version="11.4",
            branch="main",
            hardware="bisect",
            commit=f"{number:040x}",
            committed_at=night_time(number),
            started_at=night_time(28),
        )
        for number, level in {n: 1.0 if n < 12 else 0.8 for n in range(1, 27)}.items()
    ]
    make_runs(late, project=project)
    analyse_touched()
    assert (loss().until.commit[-2:], loss().started_at) == ("0c", began)


def test_machines_that_measure_seldom_show_the_same_incident(project):
    commits(project, {n: 1.0 if n < 12 else 0.8 for n in range(1, 29)}, hardware="often")
    seldom = {n: 1.0 if n < 12 else 0.8 for n in (1, 3, 5, 7, 9, 10, 18, 20, 22, 24, 26, 28)}
    commits(project, seldom, hardware="seldom")
    assert loss().change_points.count() == 2
    assert loss().until.commit[-2:] == "0c"


def seldom_and_often(project):
    commits(project, {n: 1.0 if n < 12 else 0.8 for n in range(1, 29)}, hardware="often")
    seldom = {n: 1.0 if n < 18 else 0.8 for n in (1, 3, 5, 7, 9, 10, 18, 20, 22, 24, 26, 28)}
    commits(project, seldom, hardware="seldom")
    return loss()


def test_late_data_splits_an_incident_and_both_parts_keep_what_people_decided(project):
    incident = seldom_and_often(project)
    alice = make_user(member_of=project)
    triage(incident, by=Viewer(user=alice), state="investigating", assignee=alice, bug="MDEV-1")
    commits(project, dict.fromkeys(range(11, 18), 1.0), hardware="seldom")
    parts = list(Incident.objects.filter(kind="regression").exclude(status="withdrawn").order_by("pk"))
    assert [one.until.commit[-2:] for one in parts] == ["0c", "12"]
    assert {(one.state, one.assignee, one.bug) for one in parts} == {("investigating", alice, "MDEV-1")}
    assert parts[1].events.get(what="split").detail == {"from": incident.pk}


def test_late_data_merges_incidents_into_the_one_that_people_touched(project):
    commits(project, {n: 1.0 if n < 12 else 0.8 for n in range(1, 29)}, hardware="often")
    seldom = {n: 1.0 if n < 17 else 0.8 for n in range(1, 29) if n not in (11, 12, 13, 14)}
    commits(project, seldom, hardware="seldom")
    first, second = Incident.objects.order_by("pk")
    comment(first, by=Viewer(user=make_user("bob", member_of=project)), text="what is this?")
    triage(second, by=Viewer(user=make_user(member_of=project)), state="acknowledged")
    Run.objects.filter(hardware__name="seldom", started_at__range=(night_time(15), night_time(16))).update(
        excluded_at=night_time(30)
    )
    look_again()
    live = Incident.objects.exclude(status="withdrawn").get()
    assert live.comments.get().text == "what is this?"
    assert "merged" in happened(live)
