import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from playwright.sync_api import expect

from benchdash.results.models import ServerVersion
from tests.builders import make_project, make_run, make_user
from tests.dashboard.page_text import said_after, text_of

BERLIN = "Europe/Berlin"


@pytest.fixture
def alice(client):
    user = make_user()
    client.force_login(user)
    return user


@pytest.mark.django_db
def test_a_person_says_their_name_and_time_zone(client, alice):
    sent = {"name": "Alice Liddell", "time_zone": BERLIN}
    text = said_after(client, client.post("/account/", sent))
    assert "Your account is saved." in text
    assert re.search(r"It is \d+ \w+ \d{4}, [\d:]+ CES?T", text)
    alice.refresh_from_db()
    assert (alice.name, alice.time_zone) == ("Alice Liddell", BERLIN)


@pytest.mark.django_db
def test_a_zone_that_there_is_not_is_refused(client, alice):
    answer = client.post("/account/", {"name": "", "time_zone": "Mars/Olympus"})
    assert answer.status_code == 422
    assert "Select a valid choice" in text_of(answer)


@pytest.mark.django_db
def test_nobody_else_has_an_account_page(client):
    assert client.get("/account/")["Location"] == "/sign-in/?next=/account/"


@pytest.mark.django_db
def test_times_of_pages_are_in_the_zone_of_who_reads_them_and_say_which(client):
    project = make_project("nightly", public=True)
    run = make_run(project=project, started_at=datetime(2026, 1, 5, 23, 30, tzinfo=UTC))
    client.force_login(make_user(time_zone=BERLIN))
    address = f"/p/nightly/runs/{run.pk}/"
    mine = client.get(address).content.decode()
    assert "6 Jan 2026, 00:30:00 CET" in mine
    assert 'datetime="2026-01-05T23:30:00Z"' in mine
    assert "5 Jan 2026, 23:30:00 UTC" in Client().get(address).content.decode()


@pytest.mark.django_db
def test_the_api_speaks_utc_to_everybody(client):
    project = make_project("nightly", public=True)
    run = make_run(project=project, started_at=datetime(2026, 1, 5, 23, 30, tzinfo=UTC))
    client.force_login(make_user(time_zone=BERLIN))
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["started_at"] == "2026-01-05T23:30:00Z"


@pytest.mark.django_db
def test_what_a_form_wants_in_utc_is_in_utc(client):
    project = make_project("nightly")
    known = datetime(2026, 1, 5, 23, 30, tzinfo=UTC)
    version = make_run(project=project, commit="a" * 40, committed_at=known).version
    client.force_login(make_user(time_zone=BERLIN, member_of=project))
    address = f"/p/nightly/versions/{version.pk}/correct/"
    form = client.get(address).content.decode()
    assert re.search(r'name="build-committed_at" value="2026-01-05 23:30:00"', form)
    sent = {"build-commit": version.commit, "build-committed_at": "2026-01-05 22:15:00"}
    client.post(address, {"correction": "build", "confirmed": "yes", **sent})
    assert ServerVersion.objects.get().committed_at == known.replace(hour=22, minute=15)


@pytest.mark.django_db(transaction=True)
def test_the_zone_of_the_browser_is_one_click_away(chromium_page, sign_in):
    alice = make_user()
    sign_in(alice)
    page = chromium_page
    page.add_init_script(
        "Intl.DateTimeFormat = () => ({resolvedOptions: () => ({timeZone: 'Europe/Berlin'})})"
    )
    page.goto("/account/")
    expect(page.get_by_text("Your browser is in Europe/Berlin.")).to_be_visible()
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_text("Your browser is in")).to_be_hidden()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("is saved")
    alice.refresh_from_db()
    assert alice.time_zone == BERLIN
