from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Membership, Role, Scope
from benchdash.accounts.services import create_token
from benchdash.alerts.models import Alert, Confirmation, Subscription
from benchdash.alerts.services import owe_alerts
from benchdash.alerts.subscriptions import change, confirm, end_unconfirmed, subscribe, unsubscribe
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db

ALICE = "alice@example.org"
LONG_AGO = timezone.now() - timedelta(days=1)


@pytest.fixture
def project():
    return make_project()


def subscribed(project, address=ALICE, **wishes):
    """Who has been subscribed since yesterday."""
    subscription, _ = subscribe(project, address, **wishes)
    Subscription.objects.filter(pk=subscription.pk).update(confirmed_at=LONG_AGO)
    return subscription


def owed():
    return list(Alert.objects.order_by("address").values_list("address", flat=True))


def test_the_same_subscription_twice_is_one_and_in_the_audit_log_once(project):
    by = Viewer(user=make_user())
    first, is_new = subscribe(project, ALICE, branch="main", by=by)
    again, is_new_again = subscribe(project, " Alice@Example.org ", branch="main ", by=by)
    assert (first, is_new, is_new_again) == (again, True, False)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject) == ("subscribed", "alice@example.org (main)")


def test_the_address_of_a_member_is_tied_to_their_account_whoever_subscribes_it(project):
    alice = make_user(member_of=project)
    subscription, _ = subscribe(project, "Alice@Example.org")
    assert subscription.user == alice


def test_an_address_is_tied_to_its_account_once_that_is_a_member_s(project):
    alice = make_user()
    subscription, _ = subscribe(project, alice.email)
    assert subscription.user is None
    Membership.objects.create(project=project, user=alice)
    subscription, is_new = subscribe(project, alice.email)
    assert (subscription.user, is_new) == (alice, False)


def test_the_operator_s_subscriptions_and_one_s_own_are_confirmed_at_once(project):
    alice = make_user(member_of=project, role=Role.READER)
    token, _ = create_token(project, "ci", [Scope.TRIAGE], by=Viewer(user=alice))
    for number, by in enumerate((None, Viewer(user=alice), Viewer(token=token))):
        subscription, _ = subscribe(project, "Alice@Example.org", branch=f"b{number}", by=by)
        assert subscription.confirmed_at is not None
    assert not Confirmation.objects.exists()


@pytest.mark.parametrize("kind", ["somebody else", "a token of somebody else", "a token of nobody"])
def test_an_address_that_is_not_one_s_own_is_asked_and_told_nothing_before(project, kind):
    bob = Viewer(user=make_user("bob", member_of=project))
    makers = {"a token of somebody else": bob, "a token of nobody": None}
    by = bob
    if kind in makers:
        by = Viewer(token=create_token(project, "ci", [Scope.TRIAGE], by=makers[kind])[0])
    subscription, _ = subscribe(project, ALICE, by=by)
    make_incident(project, confirmed_at=timezone.now() + timedelta(minutes=1))
    owe_alerts()
    assert (subscription.confirmed_at, owed()) == (None, [])
    assert Confirmation.objects.get().address == ALICE


def test_it_begins_when_it_is_confirmed_and_does_not_tell_of_what_was_before(project):
    subscription, _ = subscribe(project, ALICE, by=Viewer(user=make_user("bob")))
    make_incident(project, confirmed_at=timezone.now())
    for _ in range(2):
        confirm(subscription, by=Viewer())
    owe_alerts()
    assert owed() == []
    make_incident(project, branch="11.4", confirmed_at=timezone.now() + timedelta(seconds=1))
    owe_alerts()
    assert owed() == [ALICE]
    assert AuditEntry.objects.filter(action="subscription confirmed", subject=ALICE).count() == 1


def test_a_subscription_that_waits_is_confirmed_by_its_own_person_or_by_the_operator(project):
    for name in ("alice", "carol"):
        subscribe(project, f"{name}@example.org", by=Viewer(user=make_user(f"not-{name}")))
    again, is_new = subscribe(project, ALICE, by=Viewer(user=make_user(member_of=project)))
    assert (again.confirmed_at is not None, is_new) == (True, False)
    subscribe(project, "carol@example.org")
    assert not Subscription.objects.filter(confirmed_at=None).exists()


def test_one_address_is_asked_three_times_a_day_whoever_asks(project):
    by = Viewer(user=make_user("bob"))
    for number in range(3):
        subscription, _ = subscribe(make_project(), ALICE, branch=f"b{number}", by=by)
        unsubscribe(subscription, by=by)
    with pytest.raises(ValidationError, match="was asked to confirm 3 times within a day"):
        subscribe(project, ALICE, by=by)
    assert not Subscription.objects.exists()
    Confirmation.objects.update(owed_at=timezone.now() - timedelta(hours=25))
    subscribe(project, ALICE, by=by)


def test_without_an_answer_a_subscription_ends_after_seven_days(project):
    by = Viewer(user=make_user("bob"))
    for number, days in enumerate((6.9, 7.1)):
        subscription, _ = subscribe(project, ALICE, branch=f"b{number}", by=by)
        Subscription.objects.filter(pk=subscription.pk).update(
            created_at=timezone.now() - timedelta(days=days)
        )
    confirmed, _ = subscribe(project, "old@example.org")
    Subscription.objects.filter(pk=confirmed.pk).update(created_at=timezone.now() - timedelta(days=100))
    end_unconfirmed()
    assert set(Subscription.objects.values_list("address", "branch")) == {
        (ALICE, "b0"),
        ("old@example.org", ""),
    }
    entry = AuditEntry.objects.get(action="unsubscribed")
    assert (entry.subject, entry.reason) == (f"{ALICE} (b1)", "not confirmed within 7 days")


def test_filters_make_another_subscription(project):
    subscribe(project, ALICE)
    subscribe(project, ALICE, branch="main")
    assert Subscription.objects.count() == 2


def test_what_is_no_address_is_refused(project):
    with pytest.raises(ValidationError):
        subscribe(project, "alice at example.org")


def test_unsubscribing_forgets_what_is_owed_and_keeps_what_was_told(project):
    make_incident(project)
    told = subscribed(project, "told@example.org")
    owed_to = subscribed(project, "owed@example.org")
    owe_alerts()
    Alert.objects.filter(address="told@example.org").update(sent_at=timezone.now())
    by = Viewer(user=make_user())
    for subscription in (told, owed_to):
        unsubscribe(subscription, by=by)
    assert owed() == ["told@example.org"]
    assert not Subscription.objects.exists()
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"unsubscribed"}
    owe_alerts()
    assert owed() == ["told@example.org"]


def test_another_subscription_of_the_address_still_tells_it(project):
    make_incident(project)
    first = subscribed(project)
    subscribed(project, branch="main")
    owe_alerts()
    unsubscribe(Alert.objects.get().subscription or first, by=Viewer())
    owe_alerts()
    assert owed() == [ALICE]


# --- wishes -----------------------------------------------------------------------------------------------


def test_other_kinds_and_another_rhythm_make_another_subscription_and_another_hour_does_not(project):
    subscribe(project, ALICE, kinds=["silence", "regression"])
    subscribe(project, ALICE, kinds=["regression", "silence"], hour=7)
    assert Subscription.objects.count() == 1
    subscribe(project, ALICE, kinds=["regression"])
    subscribe(project, ALICE, kinds=["regression"], rhythm="daily")
    assert Subscription.objects.count() == 3


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"kinds": []}, "choose some of regression, improvement, environment, silence"),
        ({"kinds": ["regression", "rain"]}, "choose some of regression"),
        ({"rhythm": "hourly"}, "choose one of immediately, daily, weekly"),
        ({"hour": 24}, "an hour is 0 to 23"),
        ({"weekday": 7}, "a weekday is 0"),
        ({"time_zone": "Mars/Olympus"}, "no time zone is called 'Mars/Olympus'"),
        ({"smallest_change": 5}, "more than 0 and at most 1"),
        ({"smallest_change": float("nan")}, "more than 0 and at most 1"),
    ],
)
def test_wishes_that_cannot_be_are_refused_with_a_sentence(project, wishes, sentence):
    with pytest.raises(ValidationError, match=sentence):
        subscribe(project, ALICE, **wishes)
    assert not Subscription.objects.exists()
    subscription, _ = subscribe(project, ALICE)
    with pytest.raises(ValidationError, match=sentence):
        change(subscription, by=Viewer(), **wishes)


def test_a_change_of_wishes_is_noted_and_leaves_the_others(project):
    subscription, _ = subscribe(project, ALICE, branch="main", hour=9)
    change(subscription, by=Viewer(), rhythm="daily", time_zone="Europe/Berlin")
    change(subscription, by=Viewer(), rhythm="daily")
    subscription.refresh_from_db()
    assert (subscription.branch, subscription.hour, subscription.rhythm) == ("main", 9, "daily")
    [entry] = AuditEntry.objects.filter(action="subscription changed")
    assert entry.subject == "alice@example.org (main)"
    assert entry.detail == {"rhythm": "immediately → daily", "time_zone": " → Europe/Berlin"}


def test_a_subscription_is_not_changed_into_one_that_there_is(project):
    subscribe(project, ALICE, branch="main")
    other, _ = subscribe(project, ALICE)
    with pytest.raises(ValidationError, match="has such a subscription already"):
        change(other, by=Viewer(), branch="main")
    assert set(Subscription.objects.values_list("branch", flat=True)) == {"", "main"}


def test_a_subscription_says_in_words_what_it_tells_of_and_when(project):
    alice = make_user(time_zone="Asia/Tokyo", member_of=project)
    subscription, _ = subscribe(
        project,
        alice.email,
        kinds=["regression", "improvement", "silence"],
        branch="main",
        workload_group="writes",
        metric="tps",
        smallest_change=0.05,
        rhythm="weekly",
        weekday=4,
        all_quiet=True,
    )
    assert subscription.told_of == "confirmed regressions, confirmed improvements and silences"
    assert subscription.filters_in_words == (
        "every product, main, all hardware, workloads of writes, transactions per second, changes from 5 % on"
    )
    assert subscription.rhythm_in_words == "on Fridays at 08:00 (Asia/Tokyo), also when all is quiet"
    subscription.time_zone, subscription.rhythm, subscription.all_quiet = "Europe/Berlin", "daily", False
    assert subscription.rhythm_in_words == "once a day at 08:00 (Europe/Berlin)"


def test_an_address_of_the_web_is_no_subscription_but_a_webhook():
    with pytest.raises(ValidationError, match="add it as a webhook"):
        subscribe(make_project(), "https://chat.example.org/hooks/1")
