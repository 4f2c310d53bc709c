"""The rule of a project: which confirmed changes make an incident."""

import pytest

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.services import owe_alerts
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import IncidentRule, rule_of
from benchdash.regressions.queries import incidents, open_filter
from benchdash.regressions.services import analyse_touched, change_rule, recompute
from benchdash.results.models import Series
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_user
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db

A_FIFTH = [1.0] * 20 + [0.8] * 8
A_TWENTIETH = [1.0] * 20 + [0.95] * 8


@pytest.fixture
def project():
    return make_project(options={})


@pytest.fixture
def admin(project):
    return Viewer(make_user())


def subscribe_everybody(project):
    Subscription.objects.create(
        project=project, address="team@example.org", confirmed_at="2020-01-01T00:00:00Z"
    )


def found(project, levels, **fields):
    record_nights(project, levels, **fields)
    analyse_touched()
    return Incident.objects.filter(project=project, status="confirmed").get()


def test_by_default_whatever_is_confirmed_makes_an_incident(project):
    incident = found(project, A_TWENTIETH)
    assert not incident.left_out
    assert list(incidents(project).filter(open_filter())) == [incident]


def test_a_change_below_the_smallest_is_on_charts_and_no_incident_to_see_or_be_mailed(project, admin):
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    subscribe_everybody(project)
    incident = found(project, A_TWENTIETH)
    assert ChangePoint.objects.filter(incident=incident, state="confirmed").count() == 3
    assert incident.left_out
    assert not incidents(project).filter(open_filter()).exists()
    owe_alerts()
    assert not Alert.objects.exists()


def test_a_change_of_the_smallest_size_or_more_is_told(project, admin):
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    subscribe_everybody(project)
    incident = found(project, A_FIFTH)
    owe_alerts()
    assert Alert.objects.get().incident == incident


def test_one_series_that_passes_is_enough(project, admin):
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    record_nights(project, A_TWENTIETH, workloads=("oltp_read_only",))
    record_nights(project, A_FIFTH, workloads=("oltp_read_write",))
    analyse_touched()
    incident = Incident.objects.get(status="confirmed")
    assert incident.change_points.count() == 2
    assert not incident.left_out


def test_a_metric_that_makes_no_incident_leaves_one_out(project, admin):
    change_rule(project, {"silent_metrics": ["tps"]}, by=admin)
    assert found(project, A_FIFTH).left_out


def test_a_confidence_that_is_asked_for_leaves_out_what_is_less_sure(project):
    incident = make_incident(project)
    one = incident.change_points.get()
    one.confidence = 0.9
    assert IncidentRule(min_confidence=0.9).tells_of(one)
    assert not IncidentRule(min_confidence=0.95).tells_of(one)
    one.state = "suspected"
    assert IncidentRule(min_confidence=0.95).tells_of(one)


def test_a_rise_of_counts_has_no_per_cent_and_is_never_too_small():
    of_counts = ChangePoint(series=Series(metric="errors_per_s", direction="lower"), before=0, after=1)
    assert IncidentRule(smallest_change=0.5).passes(of_counts, confidence=0.99)


def test_a_rule_is_never_laxer_than_detection(project):
    project.options = {"smallest_change": 0.001}
    assert rule_of(project).smallest_change == 0.005


def test_a_stricter_rule_puts_aside_what_it_leaves_out_at_once_and_keeps_what_people_said(project, admin):
    incident = found(project, A_TWENTIETH)
    Incident.objects.filter(pk=incident.pk).update(state="acknowledged")
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    incident.refresh_from_db()
    assert (incident.left_out, incident.state, incident.status) == (True, "acknowledged", "confirmed")
    change_rule(project, {}, by=admin)
    incident.refresh_from_db()
    assert (incident.left_out, incident.state) == (False, "acknowledged")


def test_a_laxer_rule_mails_nobody_about_the_past(project, admin):
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    subscribe_everybody(project)
    incident = found(project, A_TWENTIETH)
    change_rule(project, {}, by=admin)
    owe_alerts()
    assert not Alert.objects.exists()
    for _ in recompute(project=project):
        pass
    owe_alerts()
    assert not Alert.objects.exists()
    incident.refresh_from_db()
    assert (incident.left_out, incident.quiet) == (False, True)


def test_what_comes_in_after_a_laxer_rule_is_told(project, admin):
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    record_nights(project, [1.0] * 22)
    analyse_touched()
    change_rule(project, {}, by=admin)
    subscribe_everybody(project)
    record_nights(project, [0.95] * 8, first=23)
    analyse_touched()
    owe_alerts()
    assert Alert.objects.get().incident == Incident.objects.get(status="confirmed")


def test_looking_again_agrees_with_the_rule_as_it_was_applied(project, admin):
    incident = found(project, A_TWENTIETH)
    change_rule(project, {"smallest_change": 0.1}, by=admin)
    for _ in recompute(project=project):
        pass
    incident.refresh_from_db()
    assert incident.left_out


def test_a_change_of_the_rule_is_in_the_audit_log(project, admin):
    change_rule(project, {"smallest_change": 0.02}, by=admin)
    change_rule(project, {"smallest_change": 0.05, "silent_metrics": ["tps"]}, by=admin)
    newest = AuditEntry.objects.filter(project=project).first()
    assert newest.action == "rule changed"
    assert newest.detail == {"smallest_change": "0.02 → 0.05", "silent_metrics": "usual → ['tps']"}


def test_saving_the_same_rule_again_changes_nothing(project, admin):
    change_rule(project, {"smallest_change": 0.02}, by=admin)
    change_rule(project, {"smallest_change": 0.02}, by=admin)
    assert AuditEntry.objects.filter(project=project, action="rule changed").count() == 1


def test_other_options_of_the_project_stay(project, admin):
    project.options = {"historical_after_days": 5}
    project.save()
    change_rule(project, {"smallest_change": 0.02}, by=admin)
    project.refresh_from_db()
    assert project.options["historical_after_days"] == 5
