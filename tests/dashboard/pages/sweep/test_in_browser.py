"""The page about one setting in a real browser."""

import csv
import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_record, make_runs
from tests.dashboard.controls import choose_display, opened_filter

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/p/bench/compare/settings/"
LONG = "a_very_long_value_of_a_setting_that_nobody_would_like_to_read_but_somebody_wrote"


@pytest.fixture
def project():
    project = make_project("bench", public=True, notice="A noisy machine measured this.")
    records = [
        make_record(
            readings={"tps": 1234.5 * threads * (1 + number / 10) + repetition, "latency_p95": 2.5 + number},
            settings={"pool": size, "flush": flush},
            hardware="bench-a",
            workload=workload,
            threads=threads,
            repetition=repetition,
        )
        for number, (size, flush) in enumerate(
            [("8M", "fsync"), ("64M", "fsync"), ("1G", "fsync"), ("1G", LONG)]
        )
        for workload in ("oltp_read_only", "oltp_read_write")
        for threads in (1, 4, 16)
        for repetition in range(2)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def page(project, chromium_page):
    chromium_page.goto(ADDRESS)
    return drawn(chromium_page)


def drawn(page):
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    return page


def names(page):
    """Of the lines of the first chart."""
    labels = drawn(page).locator("figure.chart").first.locator(".chart-ends > span")
    return {text.removeprefix("● ") for text in labels.all_text_contents()}


def ticks(page):
    return drawn(page).locator("figure.chart").first.locator(".xtick text").all_text_contents()


def test_values_are_an_axis_and_one_click_turns_the_chart(page):
    assert ticks(page) == ["8M", "64M", "1G"]
    assert names(page) == {"1 thread", "4 threads", "16 threads"}
    choose_display(page, "threads")
    drawn(page)
    assert "x=threads" in page.url
    assert ticks(page) == ["1", "4", "16"]
    assert names(page) == {"8M", "64M", "1G"}


def test_a_click_on_a_value_makes_it_the_reference(page):
    choose_display(page, "relative")
    expect(drawn(page).locator(".ytitle").first).to_have_text("% of 8M, higher is better")
    page.get_by_title("Make 1G the reference").click()
    expect(drawn(page).locator(".ytitle").first).to_have_text("% of 1G, higher is better")
    expect(page.locator(".chosen > .is-base")).to_contain_text("1G = 100 %")
    page.go_back()
    expect(page.locator(".chosen > .is-base")).to_contain_text("8M = 100 %")


def test_another_setting_is_chosen_in_the_filter_line(page):
    opened_filter(page, "setting")
    page.get_by_label("flush (2 values)").check()
    expect(page.get_by_role("heading", name="flush", level=1)).to_be_visible()
    assert ticks(page) == ["1", "4", "16"]
    # A long name is shortened in the chart alone.
    expect(page.locator("table.compared").first).to_contain_text(LONG)
    # Its base belongs to the other setting, and means nothing here.
    expect(page.locator(".chosen > .is-base")).to_contain_text("= 100 %")


def test_nothing_absolute_is_left_when_a_point_is_pointed_at_or_the_table_is_saved(page, tmp_path):
    choose_display(page, "relative alone")
    drawn(page)
    assert "values=hidden" in page.url
    point = page.locator("figure.chart").first.locator(".scatterlayer .point").nth(1)
    point.hover(force=True)
    hover = page.locator("figure.chart").first.locator(".hoverlayer")
    expect(hover).to_contain_text("64M: 110.0 %, n = 2")
    assert re.search(r"1,?[2-9]\d\d", page.locator("main").inner_text()) is None
    with page.expect_download() as download:
        page.locator("figure.chart").first.locator("summary").click()
        page.get_by_role("link", name="Save as CSV").first.click()
    rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
    assert {row["value"] for row in rows} == {""}
    assert {row["setting_value"] for row in rows} == {"8M", "64M", "1G"}


def test_on_a_phone_the_page_does_not_scroll_sideways(chromium_page, project):
    chromium_page.set_viewport_size({"width": 390, "height": 844})
    too_wide = []
    for query in ("setting=flush", "values=hidden&x=threads", "setting=nothing"):
        chromium_page.goto(f"{ADDRESS}?{query}")
        chromium_page.wait_for_load_state("networkidle")
        if chromium_page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(query)
    assert too_wide == []


def test_without_scripts_the_form_chooses(browser, live_server, project):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(ADDRESS)
    opened_filter(page, "base").get_by_label("64M").check()
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".chosen > .is-base")).to_contain_text("64M = 100 %")
    context.close()


def test_a_page_without_a_chart_does_not_load_what_draws_them(project, chromium_page):
    loaded = []
    chromium_page.on("request", lambda request: loaded.append(request.url))
    chromium_page.goto(f"{ADDRESS}?setting=nothing")
    chromium_page.wait_for_load_state("networkidle")
    assert not [url for url in loaded if "plotly" in url]
    chromium_page.goto(ADDRESS)
    drawn(chromium_page)
    assert len([url for url in loaded if "plotly" in url]) == 1
