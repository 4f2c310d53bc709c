"""Choosing incidents of the list, in a real browser, at a desk and on a phone."""

import pytest
from playwright.sync_api import expect

from benchdash.regressions.models import Incident
from tests.alerts.incidents import make_incident, make_silence
from tests.builders import make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "a-branch-with-a-name-that-somebody-wrote-and-nobody-would-like-to-read-aloud"


@pytest.fixture
def incidents(chromium_page, sign_in):
    project = make_project("nightly", public=True)
    sign_in(make_user(member_of=project))
    make_incident(project)
    make_incident(project, product="MySQL", branch=LONG)
    make_silence(project)
    chromium_page.goto("/p/nightly/incidents/")
    return chromium_page


def test_chosen_incidents_are_triaged_by_the_keyboard_and_restored(incidents):
    bar = incidents.get_by_role("group", name="chosen incident")
    expect(bar).to_be_hidden()
    incidents.get_by_label("Choose all on this page").focus()
    incidents.keyboard.press("Space")
    expect(incidents.get_by_text("3 chosen incidents")).to_be_visible()
    incidents.get_by_label("Choose bench-03").focus()
    incidents.keyboard.press("Space")
    expect(incidents.get_by_text("2 chosen incidents")).to_be_visible()
    bar.get_by_label("State").select_option("wontfix")
    bar.get_by_role("button", name="Continue").press("Enter")
    expect(incidents.get_by_role("heading", name="Decline 2 incidents?")).to_be_visible()
    incidents.get_by_role("button", name="Yes, do it").press("Enter")
    expect(incidents.get_by_role("status")).to_have_text("2 incidents declined.")
    assert Incident.objects.filter(state="wontfix").count() == 2
    incidents.get_by_role("button", name="Undo").press("Enter")
    expect(incidents.get_by_role("status")).to_have_text("Undone: 2 incidents as before.")
    assert not Incident.objects.filter(state="wontfix").exists()


def test_on_a_phone_nothing_of_the_list_is_cut_off(incidents):
    incidents.set_viewport_size({"width": 390, "height": 844})
    cut = incidents.evaluate(
        "() => [...document.querySelectorAll('.incidents tbody *')]"
        ".filter((one) => one.getBoundingClientRect().right > document.body.clientWidth).length"
    )
    assert cut == 0
    assert incidents.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_incident_is_accepted_as_expected_where_it_is_read_with_the_reason(incidents):
    accepted = Incident.objects.order_by("pk").first()
    incidents.goto(f"/p/nightly/incidents/{accepted.pk}/")
    incidents.get_by_text("Expected", exact=True).click()
    accept = incidents.get_by_role("button", name="Accept as expected").first
    accept.click()
    # The browser asks for the reason first.
    expect(incidents.get_by_label("Why was it to be expected?")).to_be_focused()
    incidents.get_by_label("Why was it to be expected?").fill("we switched it on")
    accept.click()
    expect(incidents.get_by_text("we switched it on").first).to_be_visible()
    accepted.refresh_from_db()
    assert accepted.state == "expected"
