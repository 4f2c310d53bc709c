"""The overview and the compare page in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_record, make_runs
from tests.dashboard.controls import choose_display, opened_filter
from tests.dashboard.shifts import SHIFTS

pytestmark = pytest.mark.django_db(transaction=True)

VERSIONS = ("10.2.44", "10.6.23", "10.11.15")


@pytest.fixture
def project():
    project = make_project("bench", public=True, notice="A noisy machine measured this.")
    records = [
        make_record(
            readings={"tps": 900.0 * threads * (1 - number / 20) + repetition, "latency_p95": 2.0 + number},
            version=version,
            hardware=hardware,
            workload=workload,
            threads=threads,
            repetition=repetition,
        )
        for number, version in enumerate(VERSIONS)
        for hardware in ("bench-a", "bench-b")
        for workload in ("oltp_read_only", "oltp_read_write")
        for threads in (1, 4, 16)
        for repetition in range(2 if hardware == "bench-a" else 1)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def compare(project, chromium_page):
    chromium_page.goto("/p/bench/compare/")
    return drawn(chromium_page)


def drawn(page):
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    return page


def names(page):
    """Of the lines of the first chart."""
    labels = drawn(page).locator("figure.chart").first.locator(".chart-ends > span")
    return sorted(text.removeprefix("● ") for text in labels.all_text_contents())


def test_versions_are_picked_and_the_back_button_gives_them_back(compare):
    assert names(compare) == sorted(VERSIONS)
    opened_filter(compare, "v").get_by_label("10.6.23 MariaDB on bench-a").uncheck()
    chosen = compare.locator(".chosen > li")
    expect(chosen).to_have_count(2)
    assert compare.url.count("v=") == 2
    # The picker stays open for the next one.
    compare.locator("#filter-v").get_by_label("10.6.23 MariaDB on bench-b").check()
    expect(chosen).to_have_text(
        [re.compile("10.2.44, bench-a"), re.compile("10.6.23, bench-b"), re.compile("10.11.15, bench-a")]
    )
    expect(compare.get_by_text("Different hardware: bench-a; bench-b.")).to_be_visible()
    drawn(compare)
    compare.go_back()
    expect(chosen).to_have_count(2)
    drawn(compare)


def test_the_picker_narrows_while_one_types_and_stays_so_after_a_choice(compare):
    opened_filter(compare, "v")
    picker = compare.locator("#filter-v")
    compare.get_by_label("Find a version").fill("bench-b 10.6")
    expect(picker.locator("label:visible")).to_have_count(1)
    expect(picker.get_by_role("heading", name="MariaDB on bench-a")).to_be_hidden()
    picker.get_by_label("10.6.23 MariaDB on bench-b").check()
    expect(compare.locator(".chosen > li")).to_have_count(4)
    expect(compare.get_by_label("Find a version")).to_have_value("bench-b 10.6")
    expect(picker.locator("label:visible")).to_have_count(1)


def test_relative_and_logarithmic_are_one_click_each_and_kept_in_the_address(compare):
    choose_display(compare, "relative")
    expect(drawn(compare).locator(".ytitle").first).to_have_text("% of 10.2.44, higher is better")
    choose_display(compare, "log")
    drawn(compare)
    assert "values=relative" in compare.url
    assert "axis=log" in compare.url
    opened_filter(compare, "threads").get_by_label("16").check()
    expect(compare.locator(".chart-title").first).to_contain_text("16 threads")
    assert "values=relative" in compare.url


def test_another_reference_is_one_click(compare):
    compare.get_by_title("Make 10.11.15 the reference").click()
    expect(compare.locator(".chosen > .is-base")).to_contain_text("10.11.15 = 100 %")
    drawn(compare)


def test_one_key_leads_from_a_chart_to_its_table(compare):
    compare.keyboard.press("t")
    assert compare.evaluate("document.activeElement.id").startswith("table-")


def test_nothing_jumps_and_only_charts_near_the_window_are_drawn(chromium_page, project):
    chromium_page.add_init_script(SHIFTS)
    chromium_page.set_viewport_size({"width": 1280, "height": 500})
    chromium_page.goto("/p/bench/compare/")
    drawn(chromium_page)
    assert chromium_page.evaluate("window.shift") < 0.01
    assert (
        chromium_page.locator("figure.chart[data-drawn]").count()
        < chromium_page.locator("figure.chart").count()
    )


def test_without_scripts_the_form_chooses(browser, live_server, project):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/p/bench/compare/")
    opened_filter(page, "v")
    page.get_by_label("10.6.23 MariaDB on bench-a").uncheck()
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".chosen > li")).to_have_count(2)
    expect(page.locator("table.compared").first).to_be_visible()
    context.close()


# --- the overview -------------------------------------------------------------------------------------------


def test_a_workload_of_the_matrix_opens_in_its_place(chromium_page, project):
    chromium_page.goto("/p/bench/?hardware=bench-a")
    box = chromium_page.locator(".matrix-box").element_handle()
    opener = chromium_page.get_by_label("3 thread counts of oltp_read_only")
    opener.click()
    expect(chromium_page.locator(".matrix-part")).to_have_count(3)
    assert "open=" in chromium_page.url
    # The box that scrolls is the same, and so is the focus.
    assert box.evaluate("box => box.isConnected")
    expect(opener).to_be_focused()
    opener.click()
    expect(chromium_page.locator(".matrix-part")).to_have_count(0)


def test_a_cell_of_the_matrix_speaks_to_the_keyboard_too(chromium_page, project):
    chromium_page.goto("/p/bench/?hardware=bench-a")
    chromium_page.locator(".matrix-open").first.focus()
    chromium_page.keyboard.press("Tab")
    chromium_page.keyboard.press("ArrowRight")
    expect(chromium_page.locator(".matrix-tip")).to_have_text(
        re.compile(r"10\.6\.23: 3 thread counts, 6 runs, .*(slower|not enough to tell)")
    )
    chromium_page.keyboard.press("Enter")
    expect(chromium_page.locator("h1")).to_have_text("Compare")
