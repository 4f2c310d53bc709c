import re
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.alerts.models import Alert, Subscription
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe, unsubscribe
from benchdash.regressions.events import note
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_record, make_runs
from tests.regressions.few_releases import release

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(settings):
    settings.SITE_URL = "https://bench.example.org"
    project = make_project("nightly", name="Nightly & more")
    subscribe(project, "alice@example.org")
    Subscription.objects.update(confirmed_at="2026-01-01T00:00Z")
    return project


@pytest.fixture
def mail(project, smtp):
    """``mail()`` is what is sent about the incidents that there are."""

    def mail():
        owe_alerts()
        send_owed_alerts()
        assert Alert.objects.get().error == ""
        return smtp.mails[0]

    return mail


def subject_of(mail):
    return mail.subject.strip()  # a folded header begins with a blank


def text_of(mail):
    return mail.text.replace("\r\n", "\n")


def in_words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split()).replace("&gt;", ">").replace("&amp;", "&")


def test_a_mail_says_what_became_slower_by_how_much_and_where(project, mail):
    incident = make_incident(project)
    sent = mail()
    assert subject_of(sent) == "[benchdash] MariaDB main 10.11.19: -20.0 % in 1 of 12 series (oltp_read_only)"
    text = text_of(sent)
    assert "MariaDB on main became slower.\n\nTransactions per second: −20.0 % of speed\n" in text
    assert "Between:  10.11.18 (good) and 10.11.19 (changed)\n" in text
    assert "oltp_read_only, 4 threads, bench-03\n  tps: 1,000 → 800 (−20.0 %)\n" in text
    assert (
        "confidence 99.9 %, noise of the series 1.2 %, points: 20 before, 6 after, "
        "sessions: 1 before, 1 after\n" in text
    )
    assert "Changed:  1 of 12 series watched\n" in text
    assert f"Incident: https://bench.example.org/p/nightly/incidents/{incident.pk}/\n" in text
    series = ChangePoint.objects.get().series_id
    assert f"History:  https://bench.example.org/p/nightly/history/?series={series}\n" in text


def test_the_html_says_the_same(project, mail):
    incident = make_incident(project)
    html = mail().html
    words = in_words(html)
    assert "MariaDB on main became slower Transactions per second: −20.0 % of speed, between" in words
    assert "between 10.11.18 and 10.11.19 ," in words
    assert "oltp_read_only, 4 threads, bench-03 tps sessions: 1 before, 1 after; points: 20 before" in words
    assert "6 after; noise 1.2 % −20.0 % 1,000 → 800 confidence 99.9 %" in words
    assert f'href="https://bench.example.org/p/nightly/incidents/{incident.pk}/"' in html


def test_of_a_handful_of_releases_a_mail_says_whose_noise_it_was_judged_by(project, mail):
    for number in range(1, 7):
        release(project, number, level=0.92 if number >= 5 else 1.0)
    sent = mail()
    text = text_of(sent)
    assert "counts measured in the same sessions, of which 4 of 12 moved together\n" in text
    one = ChangePoint.objects.get(series__workload__name="workload-00")
    expected = rf"noise of its family {100 * one.noise:.2g} %, expected {one.expected_low:,.4g} to "
    assert expected in text
    words = in_words(sent.html)
    assert "of which 4 of 12 moved together." in words
    expected = f"expected if nothing had changed {one.expected_low:,.4g} to "
    assert f"noise of its family {100 * one.noise:.2g} %; {expected}" in words


def test_the_headline_is_of_the_main_metric_and_the_worst_comes_first_in_the_evidence(project, mail):
    make_incident(project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 9.0)})
    sent = mail()
    assert "MariaDB main 10.11.19: -20.0 % in 2 of 12 series" in subject_of(sent)
    assert "  latency_p95: 4 ms → 9 ms (+125.0 %, speed −55.6 %)\n" in text_of(sent)
    assert text_of(sent).index("latency_p95: 4 ms") < text_of(sent).index("tps: 1,000")


def test_what_was_switched_stands_in_the_subject_and_in_the_first_sentence(project, mail):
    make_incident(
        project, good={"settings": {"pool": "8G"}}, slow={"settings": {"pool": "8G", "slow_query_log": "ON"}}
    )
    sent = mail()
    assert subject_of(sent).endswith("1 of 12 series (oltp_read_only), slow_query_log was switched on")
    assert text_of(sent).startswith("MariaDB on main became slower when slow_query_log was switched on.\n")
    assert "became slower when slow_query_log was switched on" in in_words(sent.html)


def test_a_mail_leads_to_what_its_words_mean(project, mail):
    make_incident(project)
    sent = mail()
    assert "https://bench.example.org/help/statistics/#confirmed" in text_of(sent)
    for word in ("headline", "confirmed", "confidence"):
        assert f'href="https://bench.example.org/help/statistics/#{word}"' in sent.html


def test_a_mail_names_what_else_changed(project, mail):
    make_incident(
        project,
        good={"settings": {"buffer_pool": "8G", "slow_log": "1"}, "environment": {"kernel": "6.1"}},
        slow={"settings": {"buffer_pool": "12M"}, "environment": {"kernel": "6.2"}},
    )
    sent = mail()
    assert (
        "What else changed:\n  buffer_pool: 8G → 12M\n  slow_log: 1 → not set\n  kernel: 6.1 → 6.2\n"
        in text_of(sent)
    )
    assert "What else changed buffer_pool 8G → 12M slow_log 1 → not set" in in_words(sent.html)


def test_where_nothing_else_changed_nothing_is_said_of_it(project, mail):
    make_incident(project)
    assert "What else" not in text_of(mail())


def test_between_nights_of_one_build_a_mail_names_the_days(project, mail):
    incident = make_incident(project, versions=("10.11.19", "10.11.19"))
    day = f"{incident.started_at.day} {incident.started_at:%b %Y}"
    sent = mail()
    assert subject_of(sent).startswith(f"[benchdash] MariaDB main 10.11.19 since {day}: -20.0 % in 1 of 12 ")
    assert re.search(
        rf"Between:  \d+ \w+ 2\d+ \(good\) and {day} \(changed\), both of 10.11.19\n", text_of(sent)
    )


def test_between_commits_a_mail_names_the_commits(project, mail):
    make_incident(
        project,
        versions=("unknown", "unknown"),
        good={"commit": "1f3c9a0b2d4e5f60"},
        slow={"commit": "2b4d6f8a0c1e3f50"},
    )
    sent = mail()
    assert "MariaDB main 2b4d6f8a0c: -20.0 % in" in subject_of(sent)
    assert "Between:  1f3c9a0b2d (good) and 2b4d6f8a0c (changed)\n" in text_of(sent)


def test_the_worst_series_is_told_in_full_and_each_further_one_in_a_line(project, mail):
    make_incident(project, metrics={"latency_p95": (4.0, 9.0), "tps": (1000.0, 800.0)})
    text = text_of(mail())
    line = "oltp_read_only, 4 threads, bench-03, tps: 1,000 → 800 (−20.0 %), confidence 99.9 %, "
    assert f"\n{line}sessions: 1 before, 1 after\n" in text
    assert text.count("points: 20 before") == 1


def test_what_an_operation_costs_is_no_worst_series(project, mail):
    make_incident(project, metrics={"tps": (1000.0, 800.0), "cpu_per_op": (1.0, 9.0)})
    sent = mail()
    assert text_of(sent).index("tps: 1,000") < text_of(sent).index("cpu_per_op: 1 ")
    assert 'alt="Tps of oltp_read_only' in sent.html


def test_a_mail_names_what_changed_in_the_code_where_the_project_says_where_that_is(project, mail):
    project.options = {"compare_template": "https://git.example.org/compare/{from}...{to}"}
    project.save()
    make_incident(project)
    sent = mail()
    link = "https://git.example.org/compare/10.11.18...10.11.19"
    assert f"Compare:  {link}\n" in text_of(sent)
    assert f'href="{link}"' in sent.html


def test_a_mail_names_the_counters_that_moved_with_it(project, mail):
    for night in range(12):
        slow = night >= 6
        nightly = {"branch": "main", "product": "MariaDB", "hardware": "bench-03", "version": "10.11.18"}
        record = make_record(
            started_at=timezone.now() - timedelta(days=20 - night),
            readings={"tps": 1000.0 + night, "cs_per_op": (6.0 if slow else 4.0) + 0.01 * (night % 3)},
            **nightly,
        )
        [run] = make_runs([record], project=project)
        if night == 6:
            first = run
    make_incident(project)
    ChangePoint.objects.update(run=first)
    sent = mail()
    words = "context switches per operation: 4.01 to 6.01 (+49.9 %)"
    assert f"Costs of an operation that moved with it:\n  {words}\n" in text_of(sent)
    assert words in in_words(sent.html)


def test_many_changed_series_are_counted_beyond_a_dozen(project, mail):
    make_incident(project, metrics={f"latency_p{number}": (1.0, 2.0) for number in range(80, 95)})
    text = text_of(mail())
    assert len(re.findall(r"latency_p\d+: 1 ms → 2 ms", text)) == 12
    assert "… and 3 more series.\n" in text


def test_what_was_only_suspected_is_left_out(project, mail):
    make_incident(project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 5.0)})
    ChangePoint.objects.filter(series__metric="latency_p95").update(state="suspected")
    text = text_of(mail())
    assert "latency_p95" not in text
    assert "1 of 12 series" in text


def test_a_mail_can_be_answered_by_ending_the_subscription(project, mail):
    make_incident(project)
    sent = mail()
    link = f"https://bench.example.org/unsubscribe/{Subscription.objects.get().key}/"
    assert sent.message["List-Unsubscribe"].strip() == f"<{link}>"
    assert sent.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert link in text_of(sent)
    assert link in sent.html
    assert sent.message["Auto-Submitted"] == "auto-generated"
    assert sent.message["Message-ID"].endswith("@bench.example.org>")


def test_names_are_text_and_never_markup_or_headers(project, mail):
    make_incident(project, product="<b>Maria</b>DB", hardware="bench & co")
    sent = mail()
    assert subject_of(sent).startswith("[benchdash] <b>Maria</b>DB main")
    assert "&lt;b&gt;Maria&lt;/b&gt;DB" in sent.html
    assert "<b>Maria</b>DB on main became slower." in text_of(sent)
    assert "Nightly & more has a subscription" in text_of(sent)


def test_without_its_subscription_a_mail_has_no_link_to_end_it(project, mail):
    make_incident(project)
    owe_alerts()
    Alert.objects.update(subscription=None)
    assert "unsubscribe" not in text_of(mail())


# --- picture ----------------------------------------------------------------------------------------------


def picture_of(mail):
    [image] = [part for part in mail.message.walk() if part.get_content_type() == "image/png"]
    return image


def test_the_worst_series_is_a_picture_within_the_mail_and_its_words_say_the_same(project, mail):
    make_incident(project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 9.0)})
    sent = mail()
    image = picture_of(sent)
    assert image.get_content().startswith(b"\x89PNG")
    assert len(image.get_content()) < 60_000
    assert image.get_content_disposition() == "inline"
    assert sent.message.get_content_type() == "multipart/related"
    assert f'src="cid:{image["Content-ID"].strip("<>")}"' in sent.html
    words = re.search(r'alt="([^"]+)"', sent.html)[1].replace("\N{NO-BREAK SPACE}", " ")
    assert words == (
        "Response time p95 of oltp_read_only at 4 threads on bench-03: 4.000 to 9.000 ms between 10.11.18 "
        "and 10.11.19 (+125.0 %). The picture shows 2 points."
    )


def test_a_mail_leads_to_the_page_that_acknowledges_and_the_one_that_snoozes(project, mail):
    make_incident(project)
    sent = mail()
    for text in (sent.text, sent.html):
        assert len(set(re.findall(r"https://bench.example.org/one-click/[^\s\"<]+", text))) == 2


# --- subject ----------------------------------------------------------------------------------------------


def test_a_long_subject_ends_after_150_signs(project, mail):
    make_incident(project)
    Incident.objects.update(cause="a very long name of a setting was switched on " * 20)
    subject = subject_of(mail())
    assert 140 < len(subject) <= len("[benchdash] ") + 150
    assert subject.endswith("...")


def test_of_many_workloads_the_subject_names_the_two_that_changed_most(project, mail):
    incident = make_incident(project)
    for number, name in enumerate(("point", "range", "write"), 1):
        other = make_incident(project, metrics={"tps": (1000.0, 800.0 - number)}, slow={"workload": name})
        ChangePoint.objects.filter(incident=other).update(incident=incident)
        other.delete()
    assert "-20.0 % in 4 of 12 series (write, range, ...)" in subject_of(mail())


# --- threads ----------------------------------------------------------------------------------------------


def test_what_follows_answers_the_first_mail_about_the_incident(project, smtp, mail):
    incident = make_incident(project)
    first = mail()
    note(incident, IncidentEvent.What.SPREAD)
    incident.median = -0.3
    incident.save()
    owe_alerts()
    assert send_owed_alerts() == 1
    second = smtp.mails[1]
    assert subject_of(second) == f"Re: {subject_of(first)}"
    for name in ("In-Reply-To", "References"):
        assert second.message[name].strip() == first.message["Message-ID"].strip()
    assert second.message["Message-ID"] != first.message["Message-ID"]
    assert text_of(second).startswith("Spread: by now 1 of 12 series have changed.\n\nMariaDB on main")
    assert "Spread: by now 1 of 12 series have changed." in in_words(second.html)


def test_each_address_and_incident_has_a_thread_of_its_own(project, smtp):
    subscribe(project, "bob@example.org")
    Subscription.objects.update(confirmed_at="2026-01-01T00:00Z")
    for branch in ("main", "other"):
        make_incident(project, branch=branch)
    owe_alerts()
    send_owed_alerts()
    ids = {mail.message["Message-ID"].strip() for mail in smtp.mails}
    assert len(ids) == 4
    assert not any("bob" in one or "alice" in one for one in ids)


def test_times_are_those_of_the_reader_with_the_name_of_the_zone(project, mail):
    Subscription.objects.update(time_zone="Asia/Tokyo")
    incident = make_incident(project)
    began = incident.started_at.astimezone(ZoneInfo("Asia/Tokyo"))
    assert f"Began:    {began:%Y-%m-%d %H:%M} Asia/Tokyo\n" in text_of(mail())


def test_who_unsubscribed_before_it_was_sent_gets_no_mail(project, smtp):
    make_incident(project)
    owe_alerts()
    unsubscribe(Subscription.objects.get(), by=Viewer())
    assert send_owed_alerts() == 0
    assert smtp.mails == []
