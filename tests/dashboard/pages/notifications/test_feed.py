from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Scope
from benchdash.regressions.events import note
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.regressions.triage import triage
from tests.alerts.incidents import make_incident
from tests.builders import make_project, make_token, make_user

pytestmark = pytest.mark.django_db

ATOM = "{http://www.w3.org/2005/Atom}"
ADDRESS = "/p/quartz/feed.atom"


@pytest.fixture
def project():
    return make_project("quartz", public=True, name="Quartz")


def entries(answer):
    return ET.fromstring(answer.content).findall(f"{ATOM}entry")


def test_an_incident_is_an_entry_that_leads_to_its_page(client, project):
    incident = make_incident(project)
    answer = client.get(ADDRESS)
    assert answer["Content-Type"].startswith("application/atom+xml")
    [entry] = entries(answer)
    assert entry.find(f"{ATOM}title").text == "MariaDB main became slower, −20.0\xa0%"
    assert entry.find(f"{ATOM}link").get("href").endswith(f"/p/quartz/incidents/{incident.pk}/")
    assert {one.get("term") for one in entry.findall(f"{ATOM}category")} == {"regression", "new"}


def test_an_entry_says_what_is_left_after_a_recovery(client, project):
    make_incident(project, remaining=-0.026)
    [entry] = entries(client.get(ADDRESS))
    assert entry.find(f"{ATOM}title").text.endswith(", −20.0\xa0%, recovered to −2.6\xa0%")


def test_its_id_stays_and_its_time_moves_when_something_happens_to_it(client, project):
    incident = make_incident(project)
    [before] = entries(client.get(ADDRESS))
    note(incident, IncidentEvent.What.RECOVERED)
    [after] = entries(client.get(ADDRESS))
    assert before.find(f"{ATOM}id").text == after.find(f"{ATOM}id").text
    assert before.find(f"{ATOM}updated").text < after.find(f"{ATOM}updated").text
    assert "recovered" in after.find(f"{ATOM}summary").text


def test_the_last_changed_is_first_and_there_are_fifty_at_most(client, project):
    found = [make_incident(project, branch="old")]
    for number in range(50):
        confirmed_at = timezone.now() + timedelta(minutes=number)
        found.append(
            Incident.objects.create(
                project=project, kind="regression", status="confirmed", confirmed_at=confirmed_at,
                started_at=confirmed_at, product=found[0].product, branch=f"b{number}",
            )
        )  # fmt: skip
    titles = [one.find(f"{ATOM}title").text for one in entries(client.get(ADDRESS))]
    assert len(titles) == 50
    assert titles[0].startswith("MariaDB b49 ")
    assert not any("old" in title for title in titles)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "improvement"},
        {"historical": True},
        {"status": "suspected", "confirmed_at": None},
    ],
)
def test_what_would_be_noise_is_no_entry(client, project, fields):
    make_incident(project, **fields)
    assert entries(client.get(ADDRESS)) == []


def test_improvements_are_there_for_who_asks(client, project):
    make_incident(project, kind="improvement")
    assert len(entries(client.get(f"{ADDRESS}?kind=improvement"))) == 1


def test_what_a_machine_explains_is_no_entry_of_its_own(client, project):
    incident = make_incident(project)
    machine = make_incident(project, kind="environment", branch="other")
    Incident.objects.filter(pk=incident.pk).update(folded_into=machine)
    assert len(entries(client.get(ADDRESS))) == 1


def test_a_name_with_markup_and_control_characters_is_only_a_name(client, project):
    make_incident(project, product="</title><script>alert(1)</script>&\x0b\x1b")
    answer = client.get(ADDRESS)
    [entry] = entries(answer)
    assert entry.find(f"{ATOM}title").text.startswith("</title><script>alert(1)</script>& main")
    assert b"<script>" not in answer.content


def test_who_is_assigned_and_why_is_not_told_to_the_public(client, project):
    alice = make_user(member_of=project)
    triage(make_incident(project), by=Viewer(user=alice), state="wontfix", assignee=alice, reason="a secret")
    text = client.get(ADDRESS).content.decode()
    assert "a secret" not in text
    assert "alice" not in text
    assert "state changed to declined" in text


def test_a_reader_that_has_it_is_told_that_nothing_changed(client, project):
    incident = make_incident(project)
    first = client.get(ADDRESS)
    for header in ({"if-none-match": first["ETag"]}, {"if-modified-since": first["Last-Modified"]}):
        again = client.get(ADDRESS, headers=header)
        assert (again.status_code, again.content) == (304, b"")
    note(incident, IncidentEvent.What.WITHDRAWN)
    assert client.get(ADDRESS, headers={"if-none-match": first["ETag"]}).status_code == 200


def test_a_project_without_incidents_has_a_feed_that_stays_the_same(client, project):
    first, again = client.get(ADDRESS), client.get(ADDRESS)
    assert (entries(first), first.content) == ([], again.content)


def test_a_private_feed_is_for_members_and_for_tokens_that_read(client):
    project = make_project("quartz")
    make_incident(project)
    alice = make_user(member_of=project)
    assert client.get(ADDRESS).status_code == 404
    client.force_login(alice)
    assert len(entries(client.get(ADDRESS))) == 1
    secret = make_token(project, Scope.READ)
    reader = Client(headers={"authorization": f"Bearer {secret}"})
    assert len(entries(reader.get(ADDRESS))) == 1
    other = Client(headers={"authorization": f"Bearer {make_token(make_project(), Scope.READ)}"})
    assert other.get(ADDRESS).status_code == 404
    wrong = Client(headers={"authorization": "Bearer bd_wrong"}).get(ADDRESS)
    assert (wrong.status_code, wrong["WWW-Authenticate"]) == (401, "Bearer")


def test_pages_of_the_project_name_it(client, project):
    link = 'type="application/atom+xml" title="Quartz: incidents" href="/p/quartz/feed.atom">'
    assert f'<link rel="alternate" {link}' in client.get("/p/quartz/").content.decode()
    assert 'href="/p/quartz/feed.atom"' in client.get("/p/quartz/incidents/").content.decode()


def test_it_takes_as_many_statements_however_many_incidents_there_are(client, project):
    def count():
        with CaptureQueriesContext(connection) as queries:
            client.get(ADDRESS)
        return len(queries)

    make_incident(project)
    one = count()
    for number in range(5):
        note(make_incident(project, branch=f"b{number}"), IncidentEvent.What.CONFIRMED)
    assert count() == one
