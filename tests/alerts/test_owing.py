"""Who hears of which incident, and what they hear of it later."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import unsubscribe
from benchdash.regressions.events import note
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent, Silence
from benchdash.results.models import Hardware, Product
from benchdash.results.workload_groups import PatternGroup, set_groups
from tests.alerts.incidents import make_incident, make_silence
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db

ALICE = "alice@example.org"
What = IncidentEvent.What


@pytest.fixture
def project():
    return make_project(public=True)


def subscribed(project, address=ALICE, **fields):
    fields = {"confirmed_at": timezone.now() - timedelta(days=30), **fields}
    return Subscription.objects.create(project=project, address=address, **fields)


def owed():
    owe_alerts()
    return Alert.objects.filter(sent_at=None).count()


def silent(project, *, of_workload=False, **fields):
    """A machine with results, or a workload on it, that fell silent just now."""
    workload = make_run(project=project, hardware="bench-03").workload
    now = timezone.now()
    fields = {"confirmed_at": now, "started_at": now, **fields}
    return make_silence(project, workload=workload if of_workload else None, **fields)


# --- filters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "is_told"),
    [
        ({"metric": "tps"}, True),
        ({"metric": "latency_p95"}, True),
        ({"metric": "qps"}, False),
        ({"smallest_change": 0.2}, True),
        ({"smallest_change": 0.21}, False),
        ({"workload_group": "range queries with aggregation"}, True),
        ({"workload_group": "writes"}, False),
        ({"kinds": ["regression", "silence"]}, True),
        ({"kinds": ["improvement", "environment", "silence"]}, False),
        ({"kinds": []}, False),
        ({"rhythm": "daily"}, False),
        ({"rhythm": "weekly"}, False),
    ],
)
def test_a_subscription_hears_of_what_it_asked_for(project, filters, is_told):
    subscribed(project, **filters)
    make_incident(project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 5.0)})
    assert owed() == is_told


def test_a_gain_is_measured_by_its_size_too(project):
    subscribed(project, kinds=["improvement"], smallest_change=0.2)
    make_incident(project, kind="improvement", metrics={"tps": (1000.0, 1250.0)})
    make_incident(project, kind="improvement", metrics={"tps": (1000.0, 1100.0)}, branch="other")
    assert owed() == 1


def test_what_rose_from_zero_is_never_too_small(project):
    subscribed(project, smallest_change=0.5)
    make_incident(project, median=None, worst=None)
    assert owed() == 1


def test_groups_of_workloads_are_those_of_the_project(project):
    set_groups(project, [PatternGroup("mine", ("oltp_*",))], by=NOBODY)
    subscribed(project, workload_group="mine")
    subscribed(project, "bob@example.org", workload_group="writes")
    make_incident(project)
    assert owed() == 1


def test_only_confirmed_series_count_for_metric_and_group(project):
    subscribed(project, metric="latency_p95")
    subscribed(project, "bob@example.org", workload_group="range queries with aggregation")
    make_incident(project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 5.0)})
    ChangePoint.objects.update(state="suspected")
    assert owed() == 0


@pytest.mark.parametrize(
    ("filters", "is_told"),
    [
        ({}, True),
        ({"product": "MariaDB"}, True),
        ({"product": "PostgreSQL"}, False),
        ({"hardware": "bench-03"}, True),
        ({"hardware": "bench-04"}, False),
        ({"branch": "main"}, False),
        ({"metric": "qps", "smallest_change": 0.5, "workload_group": "writes"}, True),
    ],
)
def test_of_a_whole_machine_hears_who_has_to_do_with_it(project, filters, is_told):
    things = {"product": Product, "hardware": Hardware}
    found = {
        name: things[name].objects.get_or_create(project=project, name=value)[0] if name in things else value
        for name, value in filters.items()
    }
    subscribed(project, kinds=["silence"], **found)
    silent(project)
    assert owed() == is_told


@pytest.mark.parametrize(("group", "is_told"), [("range queries with aggregation", True), ("writes", False)])
def test_of_a_silent_workload_hears_who_asked_for_its_group(project, group, is_told):
    subscribed(project, kinds=["silence"], workload_group=group)
    silent(project, of_workload=True)
    assert owed() == is_told


@pytest.mark.parametrize(
    "fields",
    [
        {"snoozed_until": timezone.now() + timedelta(days=3)},
        {"snoozed_until_version": "10.11.20"},
        {"folded_into": "a machine"},
    ],
)
def test_nobody_hears_of_what_is_put_off_or_explained_until_that_ends(project, fields, smtp):
    subscribed(project)
    machine = silent(project, kind="environment")
    fields = {name: machine if name == "folded_into" else value for name, value in fields.items()}
    incident = make_incident(project, **fields)
    assert owed() == 0
    Incident.objects.filter(pk=incident.pk).update(
        snoozed_until=None, snoozed_until_version="", folded_into=None
    )
    assert owed() == 1
    Incident.objects.filter(pk=incident.pk).update(**fields)
    assert send_owed_alerts() == 0


def test_what_was_settled_before_the_mail_left_is_not_mailed(project, smtp):
    subscribed(project)
    incident = make_incident(project)
    assert owed() == 1
    Incident.objects.filter(pk=incident.pk).update(state="expected")
    assert send_owed_alerts() == 0


def test_owing_takes_six_statements_at_most_whatever_is_asked_for(project, django_assert_max_num_queries):
    for number in range(3):
        subscribed(project, f"{number}@example.org", workload_group="range queries with aggregation")
        make_incident(project, branch=f"b{number}")
    with django_assert_max_num_queries(6):
        owe_alerts()
    assert Alert.objects.count() == 9


# --- news -------------------------------------------------------------------------------------------------


@pytest.fixture
def told(project, smtp):
    """An incident that Alice was told of."""
    subscribed(project)
    incident = make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 1
    smtp.forget_everything()
    return incident


def happens(incident, what, *, quiet=False, **fields):
    for name, value in fields.items():
        setattr(incident, name, value)
    incident.save()
    return note(incident, what, quiet=quiet)


def news(smtp):
    """The first lines of the mails that are sent now."""
    owe_alerts()
    send_owed_alerts()
    found = [mail.text.splitlines()[0] for mail in smtp.mails]
    smtp.forget_everything()
    return found


def test_who_was_told_hears_once_that_it_spread(told, smtp):
    happens(told, What.SPREAD)
    assert news(smtp) == ["Spread: by now 1 of 12 series have changed."]
    assert news(smtp) == []


def test_who_was_told_hears_that_it_was_withdrawn_and_that_it_is_back(told, smtp):
    happens(told, What.WITHDRAWN, status="withdrawn")
    assert news(smtp) == ["Withdrawn: with the runs that have come in since, the change is no longer found."]
    happens(told, What.CONFIRMED, status="confirmed")
    assert news(smtp) == ["Confirmed again, after it had been withdrawn."]
    happens(told, What.RETURNED)
    assert news(smtp) == []


def test_who_was_told_hears_that_the_machine_explains_it_and_that_it_does_not_after_all(project, told, smtp):
    machine = Incident.objects.create(
        project=project,
        kind="environment",
        status="confirmed",
        hardware=Hardware.objects.get(project=project),
        started_at=told.started_at,
        quiet=True,
    )
    happens(told, What.FOLDED, folded_into=machine)
    assert news(smtp) == ["Explained by its machine: most of what runs on it changed at the same time."]
    happens(told, What.UNFOLDED, folded_into=None)
    [line] = news(smtp)
    assert line.startswith("Not explained by its machine after all")
    assert news(smtp) == []


def test_who_was_told_hears_that_it_recovered_and_that_it_returned(project, told, smtp):
    better = make_incident(
        project, kind="improvement", metrics={"tps": (800.0, 1000.0)}, versions=("10.11.20", "10.11.21")
    )
    happens(told, What.RECOVERED, state="fixed", recovered_by=better)
    [line] = news(smtp)
    assert line.endswith(" with 10.11.21: a step of +25.0 % ended the loss of −20.0 %.")
    happens(told, What.RETURNED, state="new", recovered_by=None)
    assert news(smtp) == ["Returned: the loss that had ended is there again (−20.0 %)."]
    happens(told, What.RETURNED)
    assert news(smtp) == []


def test_who_was_told_hears_what_is_left_after_a_recovery_and_when_it_is_gone(project, told, smtp):
    better = make_incident(
        project, kind="improvement", metrics={"tps": (800.0, 960.0)}, versions=("10.11.20", "10.11.21")
    )
    happens(told, What.RECOVERED, recovered_by=better, remaining=-0.04)
    [line] = news(smtp)
    assert line.startswith("Recovered to −4.0 %, ")
    assert line.endswith("+20.0 % left so much of the loss of −20.0 %, and the incident stays open.")
    happens(told, What.RECOVERED, state="fixed", remaining=None)
    [line] = news(smtp)
    assert line.endswith("a step of +20.0 % ended the loss of −20.0 %.")


@pytest.mark.parametrize(
    "what", [one for one in What if one not in {"spread", "withdrawn", "recovered", "returned"}]
)
def test_of_other_events_nobody_hears(told, smtp, what):
    happens(told, what)
    assert news(smtp) == []


def test_of_what_was_done_quietly_nobody_hears(told, smtp):
    happens(told, What.SPREAD, quiet=True)
    assert news(smtp) == []


def test_who_was_not_told_of_it_hears_no_news_of_it(project, told, smtp):
    subscribed(project, "bob@example.org", confirmed_at=timezone.now())
    happens(told, What.SPREAD)
    assert len(news(smtp)) == 1


def test_who_unsubscribed_hears_no_more_of_it(told, smtp):
    unsubscribe(Subscription.objects.get(), by=NOBODY)
    happens(told, What.SPREAD)
    assert news(smtp) == []


def test_what_no_longer_holds_when_the_mail_would_leave_is_not_told(told, smtp):
    happens(told, What.WITHDRAWN, status="withdrawn")
    owe_alerts()
    happens(told, What.CONFIRMED, status="confirmed")
    assert news(smtp) == []


def test_two_events_before_the_mail_left_are_one_mail(told, smtp):
    happens(told, What.SPREAD)
    happens(told, What.SPREAD)
    assert len(news(smtp)) == 1
    happens(told, What.SPREAD)
    happens(told, What.WITHDRAWN, status="withdrawn")
    assert [line.split(":")[0] for line in news(smtp)] == ["Withdrawn"]


@pytest.mark.parametrize("state", ["expected", "wontfix", "invalid"])
def test_of_what_people_settled_there_is_no_news(told, smtp, state):
    happens(told, What.SPREAD, state=state)
    assert news(smtp) == []


def test_of_what_is_snoozed_there_is_no_news_until_it_wakes(told, smtp):
    happens(told, What.SPREAD, snoozed_until=timezone.now() + timedelta(days=7))
    assert news(smtp) == []
    Incident.objects.update(snoozed_until=None)
    assert len(news(smtp)) == 1


def test_old_events_are_no_news(told, smtp, settings):
    event = happens(told, What.SPREAD)
    Alert.objects.update(
        owed_at=timezone.now() - timedelta(days=60), sent_at=timezone.now() - timedelta(days=60)
    )
    IncidentEvent.objects.filter(pk=event.pk).update(at=timezone.now() - settings.HISTORICAL_AFTER)
    assert news(smtp) == []


def test_the_end_of_a_loss_is_no_second_mail_to_who_hears_of_gains_too(project, smtp):
    subscribed(project, kinds=["regression", "improvement"])
    loss = make_incident(project)
    owe_alerts()
    assert send_owed_alerts() == 1
    smtp.forget_everything()
    better = make_incident(
        project, kind="improvement", metrics={"tps": (800.0, 1000.0)}, versions=("10.11.20", "10.11.21")
    )
    happens(loss, What.RECOVERED, state="fixed", recovered_by=better)
    [line] = news(smtp)
    assert line.startswith("Recovered")


def test_a_machine_that_reports_again_is_told_in_its_own_words(project, smtp):
    subscribed(project, kinds=["silence"])
    incident = silent(project)
    [line] = news(smtp)
    assert line.startswith("bench-03 has sent no results since ")
    Silence.objects.update(ended_at=timezone.now())
    happens(incident, What.RECOVERED, state="fixed")
    [line] = news(smtp)
    assert line.startswith("Reports again: no results from bench-03 between ")
