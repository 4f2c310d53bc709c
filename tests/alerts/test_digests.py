"""Digests: when they are owed, what they say, and that each is sent once."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connections
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.alerts.digests import due_span, owe_digests
from benchdash.alerts.models import Alert, Digest, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_digests
from benchdash.alerts.subscriptions import subscribe, unsubscribe
from benchdash.regressions.events import note
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.regressions.triage import triage
from benchdash.results.models import Hardware, Product
from tests.alerts.incidents import make_incident, make_silence
from tests.builders import make_project, make_series, make_user

pytestmark = pytest.mark.django_db

ALICE = "alice@example.org"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
DAY = timedelta(days=1)


@pytest.fixture
def project():
    return make_project("watch", name="watch")


def digests_to(project, address=ALICE, **wishes):
    """A daily digest, confirmed long ago, at the next full hour but one: it is due at once and is recent."""
    usual = {"rhythm": "daily", "kinds": ["regression", "silence"], "hour": timezone.now().hour}
    subscription, _ = subscribe(project, address, **{**usual, **wishes})
    Subscription.objects.filter(pk=subscription.pk).update(confirmed_at=LONG_AGO)
    subscription.refresh_from_db()
    return subscription


def sent_to(smtp):
    owe_digests()
    send_owed_digests()
    assert not Digest.objects.exclude(error="").exists()
    return smtp.mails


def words(mail):
    return " ".join(mail.text.split())


# --- when -------------------------------------------------------------------------------------------------


def daily(hour, zone="Europe/Berlin", **fields):
    return Subscription(rhythm="daily", hour=hour, time_zone=zone, confirmed_at=LONG_AGO, **fields)


def ends(subscription, first, days):
    """When digests end that are looked for every hour, in local words."""
    newest, found = None, []
    for hour in range(24 * days):
        if span := due_span(subscription, newest, newest, now=first + timedelta(hours=hour)):
            newest = span[1]
            found.append(f"{newest.astimezone(subscription.zone):%d %b %H:%M}")
    return found


@pytest.mark.parametrize(
    ("hour", "first", "expected"),
    [
        (
            8,
            datetime(2026, 3, 28, tzinfo=UTC),
            ["27 Mar 08:00", "28 Mar 08:00", "29 Mar 08:00", "30 Mar 08:00"],
        ),
        # Two o'clock is left out on 29 March, and comes twice on 25 October.
        (
            2,
            datetime(2026, 3, 28, tzinfo=UTC),
            ["27 Mar 02:00", "28 Mar 02:00", "29 Mar 03:00", "30 Mar 02:00"],
        ),
        (2, datetime(2026, 10, 24, 1, tzinfo=UTC), ["24 Oct 02:00", "25 Oct 02:00", "26 Oct 02:00"]),
    ],
)
def test_a_digest_comes_once_a_day_by_the_clock_on_the_wall(hour, first, expected):
    assert ends(daily(hour), first, 3) == expected


def test_a_weekly_digest_comes_on_its_day():
    weekly = Subscription(rhythm="weekly", hour=9, weekday=4, confirmed_at=LONG_AGO)
    assert ends(weekly, datetime(2026, 11, 16, tzinfo=UTC), 14) == [
        *("13 Nov 09:00", "20 Nov 09:00", "27 Nov 09:00"),
    ]
    since, until = due_span(weekly, None, None, now=datetime(2026, 11, 21, tzinfo=UTC))
    assert until - since == 7 * DAY


def test_a_day_of_a_digest_has_as_many_hours_as_the_clock_says():
    since, until = due_span(daily(8), None, None, now=datetime(2026, 10, 25, 12, tzinfo=UTC))
    assert until - since == timedelta(hours=25)


def test_the_first_digest_is_the_first_after_the_subscription():
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    subscription = daily(8, "UTC")
    subscription.confirmed_at = now
    assert due_span(subscription, None, None, now=now + timedelta(hours=19)) is None
    assert due_span(subscription, None, None, now=now + timedelta(hours=20)) is not None


def test_another_hour_does_not_make_two_digests_of_a_day():
    newest = datetime(2026, 11, 20, 8, tzinfo=UTC)
    later = daily(9, "UTC")
    assert due_span(later, newest, newest, now=newest + timedelta(hours=2)) is None
    assert due_span(later, newest, newest, now=newest + timedelta(hours=25)) == (
        newest,
        newest + timedelta(hours=25),
    )


def test_after_ten_days_without_a_worker_one_digest_tells_of_all(project):
    now = timezone.now()
    subscription = digests_to(project, all_quiet=True)
    owe_digests(now=now - 10 * DAY)
    Digest.objects.update(sent_at=now - 10 * DAY)
    for _ in range(2):
        owe_digests(now=now)
    first, last = Digest.objects.filter(subscription=subscription).order_by("until")
    assert (last.since, last.until - first.until) == (first.until, 10 * DAY)


def test_what_could_not_be_sent_is_in_the_next_digest(project, smtp, settings):
    now = timezone.now()
    digests_to(project, all_quiet=True)
    owe_digests(now=now - DAY)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert send_owed_digests() == 0
    assert Digest.objects.get().attempts == 1
    settings.EMAIL_PORT = port
    before = Digest.objects.get().since
    owe_digests(now=now)
    assert (send_owed_digests(), len(smtp.mails)) == (1, 1)
    # A day that was not told of began a day earlier still.
    assert Digest.objects.get().until - before == 2 * DAY


# --- to whom ----------------------------------------------------------------------------------------------


def test_a_digest_is_sent_once(project, smtp):
    digests_to(project)
    make_incident(project)
    for _ in range(2):
        assert len(sent_to(smtp)) == 1
    assert smtp.mails[0].recipients == [ALICE]


def test_who_gets_digests_is_told_nothing_at_once(project):
    digests_to(project)
    make_incident(project)
    owe_alerts()
    assert not Alert.objects.exists()


@pytest.mark.parametrize("kind", ["waiting", "left", "at once", "sample", "webhook", "refused for days"])
def test_nobody_else_gets_a_digest(project, kind, smtp):
    alice = make_user(member_of=project)
    subscription = digests_to(project, alice.email, all_quiet=True)
    row = Subscription.objects.filter(pk=subscription.pk)
    now = timezone.now()
    match kind:
        case "waiting":
            row.update(confirmed_at=None)
        case "left":
            alice.memberships.all().delete()
        case "at once":
            row.update(rhythm="immediately")
        case "sample":
            project.is_sample = True
            project.save()
        case "webhook":
            row.update(address="https://chat.example.org/hook")
        case _:
            row.update(refused_at=now, refused_since=now - 9 * DAY, refusals=9)
    assert sent_to(smtp) == []
    assert not Digest.objects.exists()


def test_who_left_before_it_was_sent_gets_none(project, smtp):
    alice = make_user(member_of=project)
    digests_to(project, alice.email, all_quiet=True)
    owe_digests()
    alice.memberships.all().delete()
    assert send_owed_digests() == 0


def test_with_the_subscription_ends_what_it_is_owed(project, smtp):
    subscription = digests_to(project, all_quiet=True)
    owe_digests()
    unsubscribe(subscription, by=Viewer())
    assert (send_owed_digests(), Digest.objects.count()) == (0, 0)


def test_without_anything_due_owing_takes_two_statements(project, django_assert_num_queries):
    for name in "abcd":
        digests_to(project, f"{name}@example.org")
    owe_digests()
    with django_assert_num_queries(2):
        owe_digests()


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_one_digest(project, smtp):
    for name in "abc":
        digests_to(project, f"{name}@example.org", all_quiet=True)
    start = threading.Barrier(2)

    def work():
        start.wait()
        try:
            owe_digests()
            return send_owed_digests()
        finally:
            connections.close_all()

    with ThreadPoolExecutor() as pool:
        sent = [future.result() for future in [pool.submit(work) for _ in range(2)]]
    assert sum(sent) == 3
    assert sorted(mail.recipients[0] for mail in smtp.mails) == [f"{name}@example.org" for name in "abc"]


# --- what -------------------------------------------------------------------------------------------------


def test_a_quiet_day_is_mailed_only_to_those_who_wish_it(project, smtp):
    digests_to(project)
    digests_to(project, "bob@example.org", all_quiet=True)
    [mail] = sent_to(smtp)
    assert mail.recipients == ["bob@example.org"]
    assert set(Digest.objects.values_list("address", "is_quiet")) == {
        (ALICE, True),
        ("bob@example.org", False),
    }


def test_a_digest_is_the_morning_page_as_a_mail(project, smtp, settings):
    settings.SITE_URL = "https://bench.example.org"
    subscription = digests_to(project, time_zone="Europe/Berlin", hour=timezone.now().astimezone(BERLIN).hour)
    make_series(
        [100.0, 100.4, 99.7, 100.1, 99.9] * 4,
        project=project,
        branch="main",
        start=timezone.now() - 20 * DAY,
        workload="oltp_read_write",
    )
    new = make_incident(project, branch="10.11", detected_at=timezone.now() - timedelta(hours=3))
    old = make_incident(project, branch="11.4", detected_at=timezone.now() - 5 * DAY)
    Incident.objects.filter(pk=old.pk).update(confirmed_at=timezone.now() - 5 * DAY)
    triage(old, by=Viewer(), state="acknowledged", assignee=make_user("bob", member_of=project))
    silence = make_silence(project, hardware="bench-07")
    [mail] = sent_to(smtp)
    today = timezone.now().astimezone(BERLIN)
    assert mail.subject == f"[benchdash] watch: 1 new, 1 open, 1 missing ({today.day} {today:%b})"
    text = words(mail)
    assert "Of confirmed regressions and silences: every product" in text
    assert re.search(r"New: MariaDB 10\.11: oltp_read_only −20\.0 % since \S+ \S+, new, nobody has it", text)
    assert f"https://bench.example.org/p/watch/incidents/{new.pk}/" in text
    assert "Still open: MariaDB 11.4: oltp_read_only −20.0 %" in text
    assert "acknowledged, Bob has it" in text
    assert "Missing: bench-07: no results since" in text
    assert f"/p/watch/incidents/{silence.pk}/" in text
    assert "oltp_read_write, 4 threads, MariaDB main on box" in text
    assert "of its level: as usual, ± " in text
    assert "Days are those of Europe/Berlin." in text
    html = " ".join(re.sub(r"<[^>]+>", " ", mail.html).split())
    for part in ("oltp_read_only −20.0 %", "Bob has it", "bench-07", "as usual"):
        assert part in html
    unsubscribe_url = f"https://bench.example.org/unsubscribe/{subscription.key}/"
    assert mail.message["List-Unsubscribe"].strip() == f"<{unsubscribe_url}>"
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert unsubscribe_url in mail.text


def test_a_weekly_digest_tells_of_the_week(project, smtp):
    now = timezone.now()
    digests_to(project, rhythm="weekly", weekday=now.weekday())
    make_incident(project, detected_at=now - 5 * DAY)
    Incident.objects.update(confirmed_at=now - 5 * DAY)
    ended = make_incident(project, branch="11.4", detected_at=now - 30 * DAY, state="fixed")
    Incident.objects.filter(pk=ended.pk).update(confirmed_at=now - 30 * DAY)
    note(ended, IncidentEvent.What.RECOVERED)
    [mail] = sent_to(smtp)
    until = now
    since = until - 7 * DAY
    month = "" if since.month == until.month else f" {since:%b}"
    span = f"{since.day}{month} to {until.day} {until:%b}"
    assert mail.subject == f"[benchdash] watch: 1 new, 1 recovered ({span})"
    assert f"Since {since.day} {since:%b}" in mail.text or "No results" in mail.text
    assert "Recovered: MariaDB 11.4" in words(mail)


@pytest.mark.parametrize("fields", [{"status": "suspected"}, {"historical": True}, {"state": "invalid"}])
def test_what_is_no_news_makes_no_digest(project, smtp, fields):
    digests_to(project)
    make_incident(project, **fields)
    assert sent_to(smtp) == []


@pytest.mark.parametrize(
    ("wishes", "is_told"),
    [
        ({}, True),
        ({"branch": "main"}, True),
        ({"branch": "11.4"}, False),
        ({"product": "MariaDB"}, True),
        ({"product": "MySQL"}, False),
        ({"hardware": "bench-03"}, True),
        ({"hardware": "bench-04"}, False),
        ({"metric": "tps"}, True),
        ({"metric": "latency_p95"}, False),
        ({"smallest_change": 0.1}, True),
        ({"smallest_change": 0.3}, False),
        ({"workload_group": "range queries with aggregation"}, True),
        ({"workload_group": "writes"}, False),
        ({"kinds": ["silence"]}, False),
        ({"kinds": ["improvement", "regression"]}, True),
    ],
)
def test_a_digest_follows_the_filters_of_its_subscription(project, smtp, wishes, is_told):
    make_incident(project, product="MariaDB", branch="main", hardware="bench-03")
    things = {"product": Product, "hardware": Hardware}
    found = {
        name: things[name].objects.get_or_create(project=project, name=value)[0] if name in things else value
        for name, value in wishes.items()
    }
    digests_to(project, all_quiet=True, **found)
    [mail] = sent_to(smtp)
    assert ("1 new" in mail.subject, "−20.0 %" in mail.text) == (is_told, is_told)


def test_silence_is_told_to_those_who_asked_for_it(project, smtp):
    make_silence(project, hardware="bench-07")
    digests_to(project, kinds=["regression"], all_quiet=True)
    digests_to(project, "bob@example.org", kinds=["silence"])
    told = {mail.recipients[0]: "bench-07" in mail.text for mail in sent_to(smtp)}
    assert told == {ALICE: False, "bob@example.org": True}


def test_people_are_not_named_to_who_is_no_member(smtp):
    project = make_project("open", public=True)
    alice = make_user(member_of=project)
    digests_to(project, alice.email)
    bob = make_user("bob", member_of=project)
    incident = make_incident(project)
    triage(incident, by=Viewer(user=bob), assignee=bob)
    alice.memberships.all().delete()
    [mail] = sent_to(smtp)
    assert "−20.0 %" in mail.text
    assert "Bob" not in mail.text
