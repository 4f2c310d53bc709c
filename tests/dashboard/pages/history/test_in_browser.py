"""The chart of a history in a real browser: the part in view, excluding, and labels on a phone."""

import re

import pytest
from playwright.sync_api import expect

from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run
from tests.builders import make_project, make_user
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/p/bench/history/?branch=main&workload=oltp_read_only&metric=tps"
PHONE = {"width": 390, "height": 844}
RANGE = "figure => figure.querySelector('.chart-plot').layout.xaxis.range.map(String)"
LABELS = """figure => [...figure.querySelectorAll(".annotation-text")].filter(
  label => label.querySelector("a")).map(label => {
    const { left, right, top, bottom } = label.getBoundingClientRect();
    return { left, right, top, bottom };
  })"""


@pytest.fixture
def project():
    """Thirty nights with three falls near each other and a rise."""
    made = make_project("bench", public=True, notice="A noisy machine measured this. " * 6)
    speeds = [1000.0] * 8 + [800.0] * 6 + [600.0] * 6 + [900.0] * 10
    noise = (0, 3, -2, 4, -1, 2)
    record_nights(made, [speed + noise[n % 6] for n, speed in enumerate(speeds)])
    analyse_touched()
    return made


def chart(page):
    found = page.locator("figure.chart[data-drawn]").first
    found.wait_for()
    return found


def zoom(page, figure, *, left=0.3, right=0.6):
    box = figure.locator(".nsewdrag").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + left * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + right * box["width"], middle, steps=5)
    page.mouse.up()
    page.wait_for_url(re.compile("zoom-history-1-x="))


@pytest.mark.parametrize("against", ["versions", "time"])
def test_the_part_in_view_is_in_the_address_and_is_there_again_after_loading(project, chromium_page, against):
    chromium_page.goto(f"{ADDRESS}&x={against}")
    whole = chart(chromium_page).evaluate(RANGE)
    zoom(chromium_page, chart(chromium_page))
    shown = chart(chromium_page).evaluate(RANGE)
    assert shown != whole
    chromium_page.reload()
    again = chart(chromium_page).evaluate(RANGE)
    assert again != whole
    chromium_page.goto("/p/bench/")
    chromium_page.go_back()
    assert chart(chromium_page).evaluate(RANGE) == again
    figure = chart(chromium_page)
    figure.locator(".nsewdrag").first.dblclick()
    chromium_page.wait_for_url(lambda url: "zoom-" not in url)
    assert figure.evaluate(RANGE) == whole


def test_what_is_in_view_is_excluded_with_a_reason(project, chromium_page, sign_in):
    sign_in(make_user(member_of=project))
    chromium_page.goto(ADDRESS)
    zoom(chromium_page, chart(chromium_page))
    chromium_page.get_by_role("button", name="Exclude or annotate what is in view").click()
    button = chromium_page.get_by_role("button", name=re.compile("^Exclude [0-9]+ runs"))
    number = int(re.search("[0-9]+", button.inner_text())[0])
    assert 5 < number < 15
    chromium_page.get_by_label("Reason").first.fill("the disk was full")
    button.click()
    chromium_page.locator("#confirm button[value=yes]").click()
    expect(chromium_page.get_by_text(f"{number} runs are excluded.")).to_be_visible()
    assert Run.objects.filter(excluded_reason="the disk was full").count() == number


def test_a_click_on_a_point_offers_its_run_and_its_group(project, chromium_page, sign_in):
    sign_in(make_user(member_of=project))
    chromium_page.goto(ADDRESS)
    figure = chart(chromium_page)
    point = figure.locator(".scatterlayer .point").nth(12).bounding_box()
    chromium_page.mouse.move(point["x"] + 3, point["y"] + 3)
    chromium_page.mouse.click(point["x"] + 3, point["y"] + 3)
    expect(chromium_page.get_by_role("link", name="Open its run")).to_have_attribute(
        "href", re.compile("/p/bench/runs/[0-9]+/")
    )
    chromium_page.get_by_role("button", name="Exclude or annotate this point").click()
    expect(chromium_page.get_by_role("button", name="Exclude 1 run")).to_be_visible()


def test_flags_do_not_overlap_on_a_phone(project, chromium_page):
    chromium_page.set_viewport_size(PHONE)
    chromium_page.goto(ADDRESS)
    labels = chart(chromium_page).evaluate(LABELS)
    assert len(labels) > 1
    for number, one in enumerate(labels):
        assert one["left"] >= 0
        assert one["right"] <= PHONE["width"]
        for other in labels[:number]:
            beside = one["right"] <= other["left"] or other["right"] <= one["left"]
            above = one["bottom"] <= other["top"] + 2 or other["bottom"] <= one["top"] + 2
            assert beside or above


def test_a_notice_is_short_on_a_phone_and_stays_closed(project, chromium_page):
    chromium_page.set_viewport_size(PHONE)
    chromium_page.goto(ADDRESS)
    notice = chromium_page.locator(".notice-banner")
    assert notice.bounding_box()["height"] < 64
    chromium_page.get_by_role("button", name="Close the notice").click()
    expect(notice).to_be_hidden()
    chromium_page.goto("/p/bench/")
    expect(notice).to_be_hidden()
    project.notice = "Something else is to be known."
    project.save()
    chromium_page.reload()
    expect(notice).to_be_visible()
