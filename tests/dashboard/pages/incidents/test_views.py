import csv
import io
import re
from datetime import timedelta

import plotly.graph_objects as go
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from playwright.sync_api import expect

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Role
from benchdash.alerts.models import Alert
from benchdash.charts.changes import change_figure, shared_range
from benchdash.charts.plotly import plotly
from benchdash.regressions.headlines import day
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import evidence
from benchdash.regressions.services import analyse_touched
from benchdash.regressions.surroundings import around
from benchdash.regressions.triage import comment, triage
from benchdash.results import wording
from benchdash.results.points import histories
from tests.alerts.incidents import make_incident, make_machine_incident, make_silence
from tests.builders import make_project, make_series, make_user
from tests.dashboard.controls import opened_filter
from tests.dashboard.page_text import text_of
from tests.regressions.few_releases import release
from tests.regressions.nights import night_time, record_nights

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly", public=True)


@pytest.fixture
def member(client, project):
    """Signed in, and may triage."""
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def found(client, **query):
    return text_of(client.get("/p/nightly/incidents/", query))


def shown(client, incident):
    return text_of(client.get(f"/p/nightly/incidents/{incident.pk}/"))


# --- the list ---------------------------------------------------------------------------------------------


def test_the_list_says_what_changed_where_and_how_much(client, project):
    make_incident(
        project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 5.0)}, worst=-0.2, median=-0.2
    )
    text = found(client)
    largest = "▼ −20.0 % tps of oltp_read_only at 4 threads"
    assert f"MariaDB main regression confirmed ▼ −20.0 % {largest} 10.11.18 → 10.11.19" in text
    assert "2 of 12 oltp_read_only" in text


def test_withdrawn_incidents_are_listed_when_asked_for(client, project):
    make_incident(project, product="MariaDB", status="withdrawn")
    make_incident(project, product="MySQL", historical=True)
    assert "MariaDB main" not in found(client, tab="historical")
    assert "MySQL main regression confirmed historical" in found(client, tab="historical")
    assert "MariaDB main regression withdrawn" in found(client, tab="everything")
    assert "MariaDB main regression withdrawn" in found(client, status="withdrawn")


@pytest.mark.parametrize(
    "query",
    [
        {"state": "fixed"},
        {"kind": "improvement"},
        {"product": "MySQL", "tab": "everything"},
        {"branch": "11.4", "tab": "everything"},
        {"branch": "~", "tab": "everything"},
        {"hardware": "bench-04", "tab": "everything"},
        {"status": "suspected"},
    ],
)
def test_filters_choose_among_incidents(client, project, query):
    make_incident(project, product="MariaDB", branch="main")
    make_incident(
        project,
        product="MySQL",
        hardware="bench-04",
        branch="" if query.get("branch") == "~" else "11.4",
        kind="improvement",
        state="fixed",
        status="suspected",
    )
    text = found(client, **query)
    assert "MySQL 11.4" in text or "MySQL improvement" in text
    assert "MariaDB main" not in text


def tabs_of(client, **query):
    """By the label of each tab, how many incidents it says that it has."""
    page = client.get("/p/nightly/incidents/", query).content.decode()
    links = re.search(r'aria-label="Views">(.*?)</nav>', page, re.DOTALL)[1]
    found = re.findall(r'>([^<]+) <span class="tab-count">([\d,]+)<', links)
    return {label: int(count) for label, count in found if count != "0"}


def test_the_list_opens_on_what_somebody_should_look_at(client, project):
    make_incident(project, product="Open")
    later = timezone.now() + timedelta(days=1)
    make_incident(project, product="Snoozed", snoozed_until=later)
    step_back = make_incident(project, product="Back", kind="improvement")
    make_incident(project, product="Recovered", state="fixed", recovered_by=step_back)
    make_incident(project, product="Declined", state="wontfix")
    make_incident(project, product="Old", historical=True)
    machine = make_machine_incident(project)
    make_incident(project, product="Folded", folded_into=machine)
    make_silence(project)
    text, _, _ = found(client).partition("Old losses that still hold")
    assert "Open main" in text
    for other in ("Snoozed main", "Back main", "Recovered main", "Declined main", "Old main"):
        assert other not in text
    assert tabs_of(client) == {
        "Open": 3,
        "Snoozed": 1,
        "Recovered or fixed": 1,
        "Declined or expected": 1,
        "Historical": 1,
        "Improvements": 1,
        "Environment": 1,
        "Silence": 1,
        "Everything": 9,
    }


def test_where_nothing_is_open_the_newest_of_the_others_say_why(client, project):
    make_incident(project, product="Withdrawn", status="withdrawn")
    for at in range(11):
        make_incident(project, product=f"Better-{at}", kind="improvement")
    text = found(client)
    assert "Nothing needs anybody now." in text
    assert len(set(re.findall(r"Better-\d+ main", text))) == 10
    assert text.count("improvement") >= 10
    assert "Withdrawn main" not in text
    make_incident(project, product="Open")
    assert "Better-10 main" not in found(client)


@pytest.mark.parametrize("state", ["expected", "new"])
def test_old_losses_that_still_hold_stand_below_what_is_open(client, project, state):
    nights = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4
    start = timezone.now() - timedelta(days=34, hours=5)
    make_series([*nights, *[70.0] * 7], project=project, branch="main", start=start)
    analyse_touched()
    assert "Old losses" not in found(client)
    Incident.objects.update(state=state, historical=state == "new")
    text = found(client)
    assert "Nothing new needs anybody. Old losses that still hold" in text
    assert text.count("MariaDB main") == 1


def test_each_tab_shows_as_many_incidents_as_it_says(client, project):
    make_incident(project, product="Declined", state="wontfix")
    assert "Declined main" in found(client, tab="declined")
    assert tabs_of(client, product="Nobody") == tabs_of(client)
    make_incident(project, product="Open")
    assert tabs_of(client, product="Open") == {"Open": 1, "Everything": 1}


def test_a_recovered_incident_leads_to_the_step_back(client, project):
    step_back = make_incident(project, product="Back", kind="improvement")
    lost = make_incident(project, state="fixed", recovered_by=step_back)
    page = client.get("/p/nightly/incidents/", {"tab": "fixed"})
    assert f"fixed recovered on {day(step_back.started_at)}" in text_of(page)
    assert f'href="/p/nightly/incidents/{step_back.pk}/"' in page.content.decode()
    assert "It recovered on" in shown(client, lost)
    assert "It ends a loss of" in shown(client, step_back)


def test_an_incident_of_which_a_part_is_left_says_so_and_is_open(client, project):
    step_back = make_incident(project, product="Back", kind="improvement")
    lost = make_incident(project, recovered_by=step_back, remaining=-0.026)
    words = f"recovered to −2.6 % on {day(step_back.started_at)}"
    assert words in found(client)
    page = shown(client, lost)
    assert f"It {words}, and stays open on that" in page
    assert "Most of it is regained." in page
    assert "It regains a part of a loss of" in shown(client, step_back)


def test_what_a_machine_explains_stands_with_it(client, project):
    machine = make_machine_incident(project)
    folded = make_incident(project, product="MySQL", folded_into=machine)
    assert "bench-03 ◆ environment confirmed" in found(client)
    assert "explains 1: MySQL main" in found(client)
    assert "bench-03 became slower" in shown(client, machine)
    assert "What it explains" in shown(client, machine)
    assert "MySQL main regression" in shown(client, machine)
    assert "Its machine explains it: bench-03 became slower" in shown(client, folded)


def test_the_series_that_a_machine_explains_name_their_products(client, project):
    for product in ("MariaDB", "PostgreSQL"):
        record_nights(project, [1.0] * 20 + [0.8] * 6, product=product)
    analyse_touched()
    machine = Incident.objects.get(kind="environment")
    text = shown(client, machine)
    assert "box became slower" in text
    for product in ("MariaDB", "PostgreSQL"):
        assert f"{product}, oltp_read_only, 4 threads, tps, box" in text
    assert "6 of 6 oltp_point_select, oltp_read_only and 1 more explains 2:" in found(client)


def test_a_silence_says_what_stopped_and_how_often_it_used_to_report(client, project):
    silence = make_silence(project)
    words = (
        f"No results from bench-03 since {day(silence.silence.last_run_at)}; it used to report every night"
    )
    assert words in found(client)
    page = client.get(f"/p/nightly/incidents/{silence.pk}/")
    assert words in text_of(page)
    assert "What stopped Machine bench-03 Last run" in text_of(page)
    assert "History around the change" not in text_of(page)
    assert "/p/nightly/runs/?hardware=bench-03" in page.content.decode()


def test_incidents_stand_in_the_order_in_which_they_began(client, project):
    now = timezone.now()
    make_incident(project, product="Earlier", detected_at=now)
    make_incident(project, product="Later", detected_at=now - timedelta(days=30))
    Incident.objects.filter(product__name="Earlier").update(started_at=now - timedelta(days=40))
    text = found(client)
    assert text.index("Later main") < text.index("Earlier main")


def test_a_member_finds_what_they_look_at(client, project, member):
    make_incident(project, product="Mine", assignee=member)
    make_incident(project, product="Free")
    assert "Mine main" in found(client, assignee="mine")
    assert "Free main" not in found(client, assignee="mine")
    assert "Free main" in found(client, assignee="nobody")
    client.logout()
    assert "Free main" in found(client, assignee="mine")


def test_what_the_address_asks_for_wrongly_is_left_out(client, project):
    make_incident(project)
    assert "MariaDB main" in found(client, state="nonsense", kind="\x00", page="many")


def test_where_nothing_fits_the_filters_they_can_be_reset(client, project):
    make_incident(project)
    assert "No incident like that" in found(client, state="fixed")


def test_without_incidents_the_page_says_what_to_do(client, project, settings):
    settings.SITE_URL = "https://bench.example.org"
    answer = client.get("/p/nightly/incidents/").content.decode()
    assert "No incident yet" in answer
    assert "curl -H &#x27;Authorization: Bearer TOKEN&#x27;" in answer
    assert "https://bench.example.org/api/v1/uploads/" in answer
    assert "/p/nightly/notifications/" not in answer
    client.force_login(make_user(member_of=project))
    assert "/p/nightly/notifications/" in client.get("/p/nightly/incidents/").content.decode()


def test_only_members_see_who_looks_at_it(client, project):
    incident = make_incident(project)
    alice = make_user(member_of=project)
    triage(incident, by=Viewer(user=alice), assignee=alice)
    assert "Alice" not in found(client)
    client.force_login(make_user("bob", member_of=project, role=Role.READER))
    assert "Alice" in found(client)


def test_the_list_takes_as_many_statements_for_one_incident_as_for_many(client, project, member):
    def statements():
        with CaptureQueriesContext(connection) as captured:
            found(client)
        return len(captured)

    make_incident(project)
    one = statements()
    for branch in "abcdef":
        make_incident(project, branch=branch, assignee=member)
    assert statements() == one


def test_incidents_of_a_private_project_do_not_exist_for_others(client):
    secret = make_project("secret")
    incident = make_incident(secret)
    for address in ("", f"{incident.pk}/", f"{incident.pk}/evidence.csv"):
        assert client.get(f"/p/secret/incidents/{address}").status_code == 404


# --- one incident -----------------------------------------------------------------------------------------


def test_an_incident_says_in_one_sentence_what_happened(client, project):
    incident = make_incident(project)
    text = shown(client, incident)
    assert "MariaDB on main became slower" in text
    assert "tps of oltp_read_only at 4 threads: ▼ −20.0 % of speed (1,000 to 800.0) ? , between" in text
    assert "between 10.11.18 and 10.11.19 . 1 of 12 series changed." in text


def test_of_several_series_the_sentence_names_the_median_of_the_main_metric_and_the_largest(client, project):
    incident = make_incident(project, metrics={"tps": (1000.0, 800.0), "latency_p95": (4.0, 8.0)})
    incident.largest = ChangePoint.objects.get(series__metric="latency_p95")
    incident.worst = -0.5
    incident.save()
    text = shown(client, incident)
    assert "Transactions per second: ▼ −20.0 % of speed ? , between" in text
    largest = "response time p95 of oltp_read_only at 4 threads, ▼ −50.0 % of speed (4.000 to 8.000 ms)"
    assert f"Largest change: {largest}. 2 of 12 series changed." in text


def test_what_was_switched_is_part_of_the_first_sentence_and_of_its_row(client, project):
    incident = make_incident(
        project, good={"settings": {"pool": "8G"}}, slow={"settings": {"pool": "8G", "slow_query_log": "ON"}}
    )
    assert "10.11.19 , when slow_query_log was switched on ? . 1 of" in shown(client, incident)
    assert "10.11.18 → 10.11.19 , when slow_query_log was switched on" in found(client)


def test_a_suspicion_has_no_colour_of_a_verdict(client, project):
    incident = make_incident(project, status="suspected")
    ChangePoint.objects.update(state="suspected")
    page = client.get(f"/p/nightly/incidents/{incident.pk}/").content.decode()
    assert "MariaDB on main may have become slower" in page
    assert "change is-suspected" in page
    assert "change level-" not in page


def test_words_lead_to_the_paragraphs_that_explain_them(client, project):
    page = client.get(f"/p/nightly/incidents/{make_incident(project).pk}/").content.decode()
    for word in ("headline", "incidents", "confirmed", "confidence", "noise"):
        assert f'href="/help/statistics/#{word}"' in page


def test_between_nights_of_one_build_the_days_are_named(client, project):
    incident = make_incident(project, versions=("10.11.19", "10.11.19"))
    assert re.search(r"between \d+ \w+ 2\d+ and \d+ \w+ 2\d+, both of 10.11.19 \.", shown(client, incident))


def test_the_evidence_is_a_table_with_the_largest_change_first(client, project):
    incident = make_incident(project, metrics={"tps": (1000.0, 900.0), "latency_p95": (4.0, 8.0)})
    text = shown(client, incident)
    figures = "4.000 ms 8.000 ms +100.0 % ▼ −50.0 % 99.9 % 1.2 % 20 / 6"
    assert f"oltp_read_only 4 response time p95 {figures}" in text
    assert text.index("4.000 ms") < text.rindex("−10.0 %")


def test_the_evidence_can_be_taken_away_as_csv(client, project):
    incident = make_incident(project, hardware="a, b")
    answer = client.get(f"/p/nightly/incidents/{incident.pk}/evidence.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert f'filename="incident-{incident.pk}.csv"' in answer["Content-Disposition"]
    [row] = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert (row["workload"], row["threads"], row["metric"], row["hardware"]) == (
        "oltp_read_only",
        "4",
        "tps",
        "a, b",
    )
    assert (row["last_good"], row["first_changed"], row["before"], row["after"]) == (
        "10.11.18",
        "10.11.19",
        "1000.0",
        "800.0",
    )


def test_of_a_handful_of_releases_the_evidence_says_whose_noise_it_was_judged_by(client, project):
    for number in range(1, 7):
        release(project, number, level=0.92 if number >= 5 else 1.0)
    incident = Incident.objects.get()
    text = shown(client, incident)
    assert re.search(
        r"4 of 12 of them moved together; a single session scatters by 0\.\d+ % in the median", text
    )
    assert "stays suspected" not in text
    one = evidence(incident)[0]
    assert f"{wording.number(one.expected_low)} to {wording.number(one.expected_high)}" in text
    [row, *_] = csv.DictReader(
        io.StringIO(
            client.get(f"/p/nightly/incidents/{incident.pk}/evidence.csv").content.decode("utf-8-sig")
        )
    )
    assert (row["family_size"], float(row["expected_low"])) == ("12", one.expected_low)


def test_a_single_session_stays_suspected_and_the_page_says_why(client, project):
    for number in range(1, 6):
        release(project, number, level=0.92 if number == 5 else 1.0)
    assert "It stays suspected until more sessions agree" in shown(client, Incident.objects.get())


def test_a_series_with_a_history_of_its_own_has_no_family(client, project):
    text = shown(client, make_incident(project))
    assert "too few points" not in text
    assert "Expected" not in text


def test_what_else_changed_is_listed(client, project):
    incident = make_incident(
        project, good={"settings": {"buffer_pool": "8G"}}, slow={"settings": {"buffer_pool": "12M"}}
    )
    assert "Name Before After buffer_pool 8G 12M" in shown(client, incident)


def test_a_withdrawn_incident_says_that_its_evidence_is_gone(client, project):
    incident = make_incident(project, status="withdrawn")
    ChangePoint.objects.update(state="withdrawn")
    assert "Nothing shows this change any more" in shown(client, incident)


@pytest.mark.parametrize(("speed", "word"), [(-0.2, "slower"), (0.2, "faster")])
def test_a_step_of_the_control_is_told_of_the_machine(client, project, speed, word):
    incident = make_incident(project, kind="environment", worst=speed, median=speed)
    assert f"MariaDB on main ran on a machine that became {word}" in shown(client, incident)


def test_an_improvement_became_faster(client, project):
    incident = make_incident(project, kind="improvement", metrics={"tps": (800.0, 1000.0)})
    assert "MariaDB on main became faster" in shown(client, incident)


def test_members_see_who_was_told_and_what_was_decided_and_others_do_not(client, project):
    incident = make_incident(project)
    alice = make_user(member_of=project)
    Alert.objects.create(
        project=project, incident=incident, address="list@example.org", error="no such mailbox"
    )
    triage(incident, by=Viewer(user=alice), state="expected", reason="the new default")
    comment(incident, by=Viewer(user=alice), text="as agreed <b>")
    for said in ("list@example.org", "the new default", "as agreed"):
        assert said not in shown(client, incident)
    client.force_login(alice)
    text = shown(client, incident)
    assert "list@example.org, owed since" in text
    assert "no such mailbox" in text
    assert "Accepted as expected by Alice : the new default" in text
    assert "Alice said as agreed <b>" in text


def test_an_incident_of_another_project_is_not_shown_here(client, project):
    other = make_incident(make_project("other", public=True))
    assert client.get(f"/p/nightly/incidents/{other.pk}/").status_code == 404
    assert client.get("/p/nightly/incidents/99999999999999999999/").status_code == 404


def test_an_incident_takes_as_many_statements_for_one_series_as_for_many(client, project, member):
    def statements(incident):
        with CaptureQueriesContext(connection) as captured:
            shown(client, incident)
        return len(captured)

    one = make_incident(project)
    many = make_incident(
        project, branch="b", metrics={f"latency_p{number}": (1.0, 2.0) for number in range(80, 95)}
    )
    assert statements(one) == statements(many)


# --- triage -----------------------------------------------------------------------------------------------


def test_a_member_triages_with_one_button(client, project, member):
    incident = make_incident(project)
    answer = client.post(
        f"/p/nightly/incidents/{incident.pk}/triage/",
        {"state": "investigating", "assignee": member.pk, "reason": "bisecting"},
    )
    assert answer["Location"] == f"/p/nightly/incidents/{incident.pk}/"
    incident.refresh_from_db()
    assert (incident.state, incident.assignee, incident.reason) == ("investigating", member, "bisecting")
    assert AuditEntry.objects.get().user == member
    assert "Saved: investigating, assigned to Alice." in shown(client, incident)


def test_saving_without_a_state_leaves_it(client, project, member):
    incident = make_incident(project, state="acknowledged", assignee=member)
    client.post(f"/p/nightly/incidents/{incident.pk}/triage/", {"assignee": "", "reason": "not mine"})
    incident.refresh_from_db()
    assert (incident.state, incident.assignee, incident.reason) == ("acknowledged", None, "not mine")


@pytest.mark.parametrize("sent", [{"state": "done"}, {"assignee": "999999"}, {"reason": "x" * 2001}])
def test_what_cannot_be_is_refused_and_nothing_changed(client, project, member, sent):
    incident = make_incident(project)
    answer = client.post(f"/p/nightly/incidents/{incident.pk}/triage/", sent)
    assert answer.status_code == 422
    incident.refresh_from_db()
    assert (incident.state, incident.assignee, incident.reason) == ("new", None, "")


def test_a_comment_is_kept_and_an_empty_one_is_not(client, project, member):
    incident = make_incident(project)
    address = f"/p/nightly/incidents/{incident.pk}/comments/"
    assert client.post(address, {"text": "  "}).status_code == 422
    assert client.post(address, {"text": "since the new host"})["Location"].endswith(
        f"#comment-{incident.comments.get().pk}"
    )
    assert [said.text for said in incident.comments.all()] == ["since the new host"]
    assert "since the new host" in shown(client, incident)


@pytest.mark.parametrize("page", ["triage", "comments"])
def test_readers_and_strangers_do_not_triage(client, project, page):
    incident = make_incident(project)
    address = f"/p/nightly/incidents/{incident.pk}/{page}/"
    assert client.post(address, {"state": "fixed", "text": "x"})["Location"].startswith("/sign-in/")
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.post(address, {"state": "fixed", "text": "x"}).status_code == 403
    client.force_login(make_user("outsider"))
    assert client.post(address, {"state": "fixed", "text": "x"}).status_code == 403
    assert client.get(address).status_code == 405
    incident.refresh_from_db()
    assert incident.state == "new"
    assert not incident.comments.exists()


# --- several at once --------------------------------------------------------------------------------------

TOGETHER = "/p/nightly/incidents/together/"


@pytest.fixture
def several(project):
    return [make_incident(project, product=product) for product in ("MariaDB", "MySQL", "PostgreSQL")]


def chosen(several, **wanted):
    return {"incident": [one.pk for one in several], "query": "tab=open", **wanted}


def states():
    return [one.state for one in Incident.objects.order_by("pk")]


def test_before_several_incidents_are_triaged_the_page_asks(client, member, several):
    text = text_of(client.post(TOGETHER, chosen(several[:2], state="wontfix", assignee=member.pk)))
    assert "Decline 2 incidents, and assign them to Alice?" in text
    assert "MySQL main" in text
    assert states() == ["new", "new", "new"]


def test_several_incidents_are_triaged_at_once_and_it_is_said(client, member, several):
    answer = client.post(TOGETHER, chosen(several[:2], state="wontfix", reason="not ours", is_sure="yes"))
    assert answer["Location"] == "/p/nightly/incidents/?tab=open"
    assert states() == ["wontfix", "wontfix", "new"]
    assert "2 incidents declined. Undo" in found(client)
    for one in several[:2]:
        [event] = one.events.all()
        assert (event.what, event.state, event.by, event.reason) == ("state", "wontfix", member, "not ours")


def test_what_was_done_to_several_incidents_can_be_undone(client, member, several):
    several[0].state, several[0].reason = "investigating", "bisecting"
    several[0].save()
    client.post(TOGETHER, chosen(several, state="invalid", assignee=member.pk, reason="x", is_sure="yes"))
    answer = client.post("/p/nightly/incidents/undo/", {"query": "tab=open"}, follow=True)
    assert "Undone: 3 incidents as before" in text_of(answer)
    assert states() == ["investigating", "new", "new"]
    first = Incident.objects.get(pk=several[0].pk)
    assert (first.reason, first.assignee) == ("bisecting", None)
    assert [event.reason for event in first.events.all()] == ["x", "x", "undone", "undone"]
    assert "nothing to undo" in text_of(client.post("/p/nightly/incidents/undo/", follow=True))


def test_several_incidents_are_snoozed_until_a_day(client, member, several):
    until = timezone.now() + timedelta(days=9)
    client.post(TOGETHER, chosen(several, snoozed_until=f"{until:%Y-%m-%d}", is_sure="yes"))
    assert tabs_of(client) == {"Snoozed": 3, "Everything": 3}
    assert f"snoozed until {until.day} {until:%b %Y}" in found(client, tab="snoozed")


def test_if_one_cannot_be_triaged_none_is(client, project, member, several):
    machine = make_machine_incident(project)
    answer = client.post(TOGETHER, chosen([*several, machine], snoozed_until_version="11.4", is_sure="yes"))
    assert answer.status_code == 422
    assert "It is about a machine, which has no versions" in text_of(answer)
    assert not Incident.objects.exclude(snoozed_until_version="").exists()


def test_what_needs_a_reason_asks_for_it(client, member, several):
    answer = client.post(TOGETHER, chosen(several, state="expected", is_sure="yes"))
    assert answer.status_code == 422
    assert "Say why this was to be expected" in text_of(answer)
    assert states() == ["new", "new", "new"]


@pytest.mark.parametrize("sent", [{"state": "wontfix"}, {"incident": ["1"]}, {"incident": ["x"]}])
def test_without_incidents_or_a_wish_nothing_is_done(client, project, member, sent):
    answer = client.post(TOGETHER, {**sent, "is_sure": "yes"}, follow=True)
    assert "Nothing was done: choose incidents" in text_of(answer)


def test_incidents_of_other_projects_are_not_triaged_here(client, project, member):
    other = make_incident(make_project("other", public=True))
    client.post(TOGETHER, chosen([other], state="wontfix", is_sure="yes"))
    assert states() == ["new"]


def test_readers_have_nothing_to_choose_with(client, project):
    make_incident(project)
    client.force_login(make_user(member_of=project, role=Role.READER))
    page = client.get("/p/nightly/incidents/").content.decode()
    assert 'name="incident"' not in page
    assert client.post(TOGETHER, {"state": "fixed"}).status_code == 403


# --- its links and its history ----------------------------------------------------------------------------


def test_an_incident_leads_to_its_commits_and_its_bug(client, project, member):
    project.options = {
        "compare_template": "https://git.example.org/compare/{from}...{to}",
        "bug_template": "https://bugs.example.org/{bug}",
    }
    project.save()
    incident = make_incident(project)
    client.post(f"/p/nightly/incidents/{incident.pk}/triage/", {"bug": "MDEV-1/2"})
    page = client.get(f"/p/nightly/incidents/{incident.pk}/").content.decode()
    assert 'href="https://git.example.org/compare/10.11.18...10.11.19"' in page
    assert 'href="https://bugs.example.org/MDEV-1%2F2"' in page
    assert "Linked to the bug MDEV-1/2 by Alice" in shown(client, incident)


def test_comments_are_markdown_without_html(client, project, member):
    incident = make_incident(project)
    comment(incident, by=Viewer(user=member), text="**since** <i>the</i> `host`\nhttps://example.org/a_b")
    page = client.get(f"/p/nightly/incidents/{incident.pk}/").content.decode()
    assert "<strong>since</strong> &lt;i&gt;the&lt;/i&gt; <code>host</code><br" in page
    assert '<a href="https://example.org/a_b" rel="nofollow">https://example.org/a_b</a>' in page


def test_events_and_comments_are_one_history_the_oldest_first(client, project, member):
    incident = make_incident(project)
    viewer = Viewer(user=member)
    triage(incident, by=viewer, state="acknowledged")
    comment(incident, by=viewer, text="looks real")
    triage(incident, by=viewer, assignee=member, reason="mine")
    text = shown(client, incident)
    said = ["Acknowledged by Alice", "Alice said looks real", "Assigned to Alice by Alice : mine"]
    assert [text.index(one) for one in said] == sorted(text.index(one) for one in said)
    client.logout()
    text = shown(client, incident)
    assert "Acknowledged" in text
    for secret in ("Alice", "looks real", "mine"):
        assert secret not in text


def test_an_incident_is_snoozed_until_a_version_and_woken(client, project, member):
    incident = make_incident(project)
    address = f"/p/nightly/incidents/{incident.pk}/triage/"
    client.post(address, {"snoozed_until": "", "snoozed_until_version": "10.11.21"})
    assert "It is snoozed, and comes back among the open ones: 10.11.21." in shown(client, incident)
    client.post(address, {"state": "acknowledged"})
    incident.refresh_from_db()
    assert incident.snoozed_until_version == "10.11.21"
    client.post(address, {"snoozed_until": "", "snoozed_until_version": ""})
    incident.refresh_from_db()
    assert not incident.is_snoozed
    assert client.post(address, {"snoozed_until": "2020-01-01"}).status_code == 422


def test_accepting_as_expected_needs_a_reason(client, project, member):
    incident = make_incident(project)
    answer = client.post(f"/p/nightly/incidents/{incident.pk}/triage/", {"state": "expected"})
    assert answer.status_code == 422
    assert "Say why this was to be expected" in text_of(answer)
    incident.refresh_from_db()
    assert incident.state == "new"


# --- its charts -------------------------------------------------------------------------------------------


def charted(series):
    change_point = ChangePoint.objects.get(series=series)
    points, index = around(histories([series.pk])[series.pk], change_point)
    y_range = shared_range([(points, change_point)])
    return plotly(change_figure(points, index, change_point, y_range=y_range))


def test_a_chart_is_in_per_cent_of_the_level_before_with_the_change_marked(project):
    series = make_series([100, 102, 98] * 4 + [70, 71, 69] * 3, project=project)
    analyse_touched()
    figure = charted(series)
    go.Figure(figure)
    [line] = figure["data"]
    assert line["y"][:3] == [100.0, 102.0, 98.0]
    assert line["x"][12] == "10.6.13"
    assert line["text"][12] == "10.6.13, 14 Mar 2026<br>70.00 1/s, n = 1"
    before, after, mark = figure["layout"]["shapes"]
    assert (before["y0"], before["x1"]) == (100, 11)
    assert (after["y0"], after["x0"]) == (pytest.approx(70), 12)
    assert (mark["x0"], mark["line"]["dash"]) == (12, "solid")
    assert figure["layout"]["annotations"][0]["text"] == "−30.0\N{NO-BREAK SPACE}%"
    assert figure["layout"]["yaxis"]["range"] == [pytest.approx(64), pytest.approx(107)]


def test_a_suspicion_is_dotted_and_a_branch_is_drawn_against_time(project):
    record_nights(project, [1.0] * 20 + [0.7] * 2, workloads=["oltp_read_only"])
    analyse_touched()
    figure = charted(ChangePoint.objects.get().series)
    go.Figure(figure)
    assert figure["layout"]["xaxis"]["type"] == "date"
    assert figure["layout"]["shapes"][2]["x0"] == f"{night_time(21):%Y-%m-%dT%H:%M:%S}"
    assert figure["layout"]["shapes"][2]["line"]["dash"] == "dot"


def test_a_mark_stands_at_its_group_though_the_version_reads_like_a_number(client, project):
    incident = make_incident(project, product="Drizzle-JDBC", branch="", versions=("1.3", "1.4"))
    figure = charted(incident.largest.series)
    assert figure["data"][0]["x"] == ["1.3", "1.4"]
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [0, 1, 1]
    assert figure["layout"]["annotations"][0]["x"] == 1


def test_a_count_that_rose_from_zero_is_drawn_as_it_is(project):
    incident = make_incident(project, metrics={"stalls_per_min": (0.001, 4.0)})
    ChangePoint.objects.update(before=0.0, change=None)
    figure = charted(incident.largest.series)
    go.Figure(figure)
    assert figure["data"][0]["y"] == [0.001, 4.0]
    assert "range" not in figure["layout"]["yaxis"]


def test_a_change_point_whose_run_was_taken_out_is_drawn_without_a_mark(project):
    series = make_series([100, 102, 98] * 4 + [70, 71, 69] * 3, project=project)
    analyse_touched()
    ChangePoint.objects.get().run.measurements.all().delete()
    go.Figure(charted(series))


def test_of_a_long_history_only_the_groups_around_the_change_are_drawn(project):
    series = make_series([100, 102, 98] * 60 + [70, 71, 69] * 40, project=project)
    analyse_touched()
    change_point = ChangePoint.objects.get()
    points, index = around(histories([series.pk])[series.pk], change_point)
    assert (len(points), index) == (160, 80)


def test_at_most_six_charts_are_on_the_page(client, project):
    incident = make_incident(project, metrics={f"latency_p{number}": (1.0, 2.0) for number in range(80, 95)})
    assert len(evidence(incident)) == 15
    page = client.get(f"/p/nightly/incidents/{incident.pk}/").content.decode()
    assert page.count('<figure class="chart') == 6


# --- in the browser ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_an_incident_is_triaged_in_the_browser(chromium_page, sign_in):
    project = make_project("nightly", public=True)
    record_nights(project, [1.0] * 20 + [0.8] * 6)
    analyse_touched()
    incident = Incident.objects.get()
    sign_in(make_user(member_of=project))
    chromium_page.goto("/p/nightly/incidents/")
    opened_filter(chromium_page, "state")
    chromium_page.get_by_label("acknowledged").check()
    expect(chromium_page.locator("main")).to_contain_text("No incident like that")
    chromium_page.locator("#filter-state").get_by_label("new", exact=True).check()
    chromium_page.keyboard.press("Escape")
    chromium_page.get_by_role("link", name="MariaDB main").click()
    expect(chromium_page.locator("figure.chart[data-drawn]")).to_have_count(3)
    chromium_page.get_by_role("button", name="Acknowledge").click()
    expect(chromium_page.get_by_role("status")).to_contain_text("Saved: acknowledged")
    chromium_page.get_by_label("Reason").fill("seen")
    chromium_page.get_by_role("button", name="Investigate").click()
    expect(chromium_page.get_by_role("status")).to_contain_text("Saved: investigating")
    incident.refresh_from_db()
    assert (incident.state, incident.reason) == ("investigating", "seen")
