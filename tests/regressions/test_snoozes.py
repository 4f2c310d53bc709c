"""Incidents that were put off come back at their time, or with their version."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.regressions.models import Incident
from benchdash.regressions.snoozes import wake_snoozed
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def test_an_incident_wakes_when_its_time_has_come(project):
    incident = make_incident(project, snoozed_until=timezone.now() + timedelta(hours=1))
    assert wake_snoozed() == 0
    Incident.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    assert wake_snoozed() == 1
    incident.refresh_from_db()
    assert not incident.is_snoozed
    assert [one.what for one in incident.events.all()] == ["woken"]
    assert wake_snoozed() == 0


def test_an_incident_wakes_when_its_version_or_a_later_one_is_measured(project):
    incident = make_incident(project, snoozed_until_version="10.11.20")
    assert wake_snoozed() == 0
    make_runs([make_record(version="10.11.21", branch="other")], project=project)
    assert wake_snoozed() == 0
    make_runs([make_record(version="10.11.21", branch="main")], project=project)
    assert wake_snoozed() == 1
    incident.refresh_from_db()
    assert not incident.is_snoozed


def test_of_a_release_line_only_its_own_releases_count(project):
    make_incident(project, branch="", line="10.11", snoozed_until_version="10.11.20")
    make_runs([make_record(version="11.4.2")], project=project)
    assert wake_snoozed() == 0
    make_runs([make_record(version="10.11.20")], project=project)
    assert wake_snoozed() == 1


def test_of_a_version_without_an_order_nothing_is_later(project):
    make_incident(project, snoozed_until_version="x.pg180")
    for version in ("99.1", "x.pg999"):
        make_runs([make_record(version=version, branch="main")], project=project)
    assert wake_snoozed() == 0
    make_runs([make_record(version="x.pg180", branch="main")], project=project)
    assert wake_snoozed() == 1
