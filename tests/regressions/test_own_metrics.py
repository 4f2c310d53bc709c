"""A project's own metrics in analysis, comparison and mail: judged once their direction is said."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.alerts.models import Alert
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.comparison.gate import Question, decide
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import Margins
from benchdash.regressions.services import analyse_touched, say_of_metric
from benchdash.regressions.watched_metrics import MetricRules
from benchdash.results.models import ProjectMetric, Series
from benchdash.results.readings import Reading, reading
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

# Ten nights at one level, and some at another, 5 % higher: in percent of the first level.
BEFORE = [100.0, 100.3, 99.8, 100.1, 99.9, 100.2, 99.7, 100.0, 100.1, 99.9]
AFTER = [105.0, 105.2, 104.8, 105.1, 104.9, 105.0]


def night(number, value, *, metric="rss_mb", unit="MB", direction="unknown"):
    at = timezone.now() - timedelta(days=20 - number)
    own = Reading(metric, value, unit, direction, is_own=True)
    # The throughput stays where it is.
    readings = (reading("tps", 1000 + number % 3), own)
    return make_record(
        readings=readings,
        version="unknown",
        commit=f"{number + 1:040x}",
        committed_at=at,
        started_at=at,
        branch="main",
    )


def nights(project, values, *, first=0, **fields):
    """Nights come in one by one; from the last of the old level on each is looked at, and mails are sent."""
    for number, value in enumerate(values, first):
        make_runs([night(number, value, **fields)], project=project)
        if number >= len(BEFORE) - 1:
            look()


def look():
    analyse_touched()
    owe_alerts()
    send_owed_alerts()


def sent():
    return Alert.objects.exclude(sent_at=None).count()


@pytest.fixture
def project():
    project = make_project()
    subscribe(project, "dba@example.org", by=NOBODY)
    project.subscriptions.update(confirmed_at=timezone.now() - timedelta(days=90))
    return project


def confirmed():
    return ChangePoint.objects.filter(state=ChangePoint.State.CONFIRMED)


def test_nothing_is_told_of_a_metric_whose_direction_nobody_has_said(project):
    nights(project, BEFORE + AFTER)
    assert not ChangePoint.objects.exists()
    assert not Incident.objects.exists()
    gate = decide(project, Question(product="MariaDB", branch="main", commit=f"{16:040x}", base=f"{1:040x}"))
    assert {one.series.metric for one in gate.rows} == {"tps"}

    # What was there before somebody said it is no news.
    say_of_metric(project, "rss_mb", {"direction": "lower"}, by=NOBODY)
    look()
    assert confirmed().get().series.metric == "rss_mb"
    assert Incident.objects.get().kind == Incident.Kind.REGRESSION
    assert sent() == 0

    # Where it is taken back, nothing stays told.
    say_of_metric(project, "rss_mb", {"direction": "unknown"}, by=NOBODY)
    analyse_touched()
    assert not confirmed().exists()
    assert Incident.objects.get().status == Incident.Status.WITHDRAWN


def test_a_metric_whose_direction_is_said_makes_an_incident_and_a_mail(project):
    nights(project, BEFORE)
    say_of_metric(project, "rss_mb", {"direction": "lower"}, by=NOBODY)
    nights(project, AFTER, first=10)
    incident = Incident.objects.get(status=Incident.Status.CONFIRMED)
    assert (incident.kind, incident.metric) == (Incident.Kind.REGRESSION, "rss_mb")
    assert sent() == 1


def test_the_other_direction_makes_it_an_improvement_that_nobody_is_mailed(project):
    nights(project, BEFORE, direction="higher")
    nights(project, AFTER, first=10)
    assert Incident.objects.get(status=Incident.Status.CONFIRMED).kind == Incident.Kind.IMPROVEMENT
    say_of_metric(project, "rss_mb", {"direction": "lower"}, by=NOBODY)
    look()
    live = Incident.objects.exclude(status=Incident.Status.WITHDRAWN)
    assert [one.kind for one in live] == [Incident.Kind.REGRESSION]
    assert sent() == 0


@pytest.mark.parametrize(("smallest", "is_told"), [(0.01, True), (0.1, False)])
def test_a_change_that_is_too_small_in_the_units_of_the_metric_makes_no_incident(project, smallest, is_told):
    recall = {"metric": "recall", "unit": "", "direction": "higher"}
    nights(project, [0.95 * one / 100 for one in BEFORE], **recall)
    say_of_metric(project, "recall", {"smallest_change_absolute": smallest}, by=NOBODY)
    nights(project, [0.90 * one / 105 for one in AFTER], first=10, **recall)
    change = confirmed().get()
    assert round(change.before, 2) == 0.95
    assert round(change.after, 2) == 0.90
    told = Incident.objects.filter(status=Incident.Status.CONFIRMED, left_out=False)
    assert told.exists() is is_told
    assert sent() == int(is_told)


def test_a_metric_that_is_not_watched_is_drawn_only(project):
    say_of_metric(project, "tps", {"watched": False}, by=NOBODY)
    nights(project, BEFORE, direction="lower")
    say_of_metric(project, "rss_mb", {"watched": False}, by=NOBODY)
    nights(project, AFTER, first=10)
    assert not ChangePoint.objects.exists()
    assert Series.objects.get(metric="rss_mb").measurements.count() == 16


def test_differences_that_do_not_matter_are_those_of_the_metric():
    rules = MetricRules(
        {
            "recall": ProjectMetric(name="recall", smallest_change_absolute=0.019),
            "rss_mb": ProjectMetric(name="rss_mb", smallest_change=0.1),
            "size": ProjectMetric(name="size", smallest_change=0.1, smallest_change_absolute=50),
        }
    )
    margins = Margins(0.02, rules)
    assert margins.of("tps", [100]) == 0.02
    assert margins.of("rss_mb", [100]) == 0.1
    # As a share of the highest level.
    assert margins.of("recall", [0.95, 0.5]) == 0.02
    assert margins.of("size", [100]) == 0.5
    assert margins.of("size", [1000]) == 0.1
    assert margins.of("recall", [0]) == 0.02
