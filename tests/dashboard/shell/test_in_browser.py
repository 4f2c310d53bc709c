"""The scripts of the shell, in a real browser: theme, keys, filters, charts, questions."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders import make_project
from tests.dashboard.shifts import SHIFTS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("tests.dashboard.shell.guide")]


@pytest.fixture
def guide(chromium_page):
    project = make_project(public=True, name="Nightly", notice="A noisy machine measured this.")
    chromium_page.goto(f"/p/{project.slug}/guide/")
    return chromium_page


def drawn(page):
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    return page


def colour_of_first_line(page):
    return page.locator(".scatterlayer .trace .js-line").first.evaluate(
        "line => getComputedStyle(line).stroke"
    )


def test_a_chosen_theme_stays_and_repaints_the_charts(guide):
    guide.emulate_media(color_scheme="light")
    light = colour_of_first_line(drawn(guide))
    button = guide.locator("[data-theme-toggle]")
    button.click()
    expect(button).to_have_attribute("title", "Theme: light")
    button.click()
    expect(button).to_have_attribute("title", "Theme: dark")
    guide.wait_for_function(
        "light => getComputedStyle(document.querySelector('.js-line')).stroke !== light", arg=light
    )
    guide.reload()
    assert guide.evaluate("document.documentElement.dataset.theme") == "dark"
    assert guide.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"


def test_the_system_s_theme_repaints_the_charts(guide):
    guide.emulate_media(color_scheme="light")
    light = colour_of_first_line(drawn(guide))
    guide.emulate_media(color_scheme="dark")
    guide.wait_for_function(
        "light => getComputedStyle(document.querySelector('.js-line')).stroke !== light", arg=light
    )


def test_a_filter_is_in_the_address_and_nothing_empty_with_it(guide):
    guide.locator("#filter-workload summary").click()
    guide.get_by_label("read only").check()
    expect(guide.locator("#chosen")).to_have_text("workload=ro")
    assert guide.url.endswith("/guide/?workload=ro")
    # The chip stays open for the next choice.
    guide.get_by_label("read write").check()
    expect(guide.locator("#chosen")).to_have_text("workload=ro&workload=rw")
    expect(guide.locator("#filter-workload .chip-value")).to_have_text("read only, read write")
    drawn(guide)
    guide.go_back()
    expect(guide.locator("#chosen")).to_have_text("workload=ro")
    drawn(guide)


def test_a_filter_that_fails_says_so_and_leaves_the_page(guide, page_errors):
    guide.route("**/guide/?*", lambda route: route.fulfill(status=500, body="broken"))
    guide.locator("#filter-workload summary").click()
    guide.get_by_label("read only").check()
    expect(guide.get_by_role("alert")).to_contain_text("The server answered 500")
    expect(guide.locator("h1")).to_have_text("Guide")
    page_errors.clear()


def test_the_scale_is_kept_in_the_address_and_through_filters(guide):
    button = drawn(guide).locator("[data-tool=scale]")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert guide.url.endswith("?tps_axis=log")
    guide.locator("#filter-hardware summary").click()
    guide.get_by_label("bench-b").check()
    expect(guide.locator("#chosen")).to_have_text("hardware=b&tps_axis=log")
    expect(drawn(guide).locator("[data-tool=scale]")).to_have_attribute("aria-pressed", "true")


def test_lines_are_named_at_their_ends(guide):
    names = drawn(guide).locator(".chart-ends > span")
    expect(names).to_have_count(2)
    assert sorted(names.all_text_contents()) == ["● 10.11", "● 10.6"]


def test_a_picture_names_the_lines_at_their_ends_too(guide):
    with guide.expect_download() as download:
        drawn(guide).locator("figure summary").click()
        guide.get_by_role("button", name="Save as SVG").click()
    picture = Path(download.value.path()).read_text()
    assert ">10.11<" in picture.replace(" ", "")
    assert ">10.6<" in picture.replace(" ", "")


def test_a_chart_is_drawn_once_for_its_names(guide):
    times = guide.evaluate("""async () => {
      const plot = document.querySelector("figure.chart[data-drawn] .chart-plot");
      let times = 0;
      plot.on("plotly_afterplot", () => { times += 1; });
      document.dispatchEvent(new CustomEvent("themechange"));
      await new Promise((done) => setTimeout(done, 500));
      return times;
    }""")
    assert times == 1


def test_nothing_jumps_when_a_chart_is_drawn(chromium_page):
    project = make_project(public=True)
    chromium_page.add_init_script(SHIFTS)
    chromium_page.goto(f"/p/{project.slug}/guide/")
    drawn(chromium_page)
    assert chromium_page.evaluate("window.shift") < 0.01


def test_a_chart_is_drawn_when_it_comes_near_the_window(chromium_page):
    project = make_project(public=True)
    chromium_page.set_viewport_size({"width": 800, "height": 300})
    chromium_page.add_init_script(
        "addEventListener('DOMContentLoaded', () => {"
        "document.querySelector('#chosen').style.height = '3000px'})"
    )
    chromium_page.goto(f"/p/{project.slug}/guide/")
    chromium_page.wait_for_load_state("networkidle")
    figure = chromium_page.locator("figure.chart")
    assert figure.get_attribute("data-drawn") is None
    figure.scroll_into_view_if_needed()
    drawn(chromium_page)


@pytest.mark.parametrize(("tool", "start"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_a_chart_can_be_taken_away_as_a_picture(guide, tool, start):
    with guide.expect_download() as download:
        drawn(guide).locator("figure summary").click()
        guide.get_by_role("button", name=f"Save as {tool}").click()
    assert download.value.suggested_filename == f"oltp_read_only_tps_against_threads.{tool.lower()}"
    picture = Path(download.value.path()).read_bytes()
    assert picture.startswith(start)
    if tool == "SVG":
        assert b"A noisy machine measured this." in picture


def test_a_table_can_be_taken_away_as_csv_with_exact_values(guide):
    with guide.expect_download() as download:
        guide.locator("figure summary").click()
        guide.get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == "tps-table.csv"
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    assert text.splitlines() == [
        "Version,1 thread",
        '"10.6, with a ""fix""",1234.5',
        # No spreadsheet calculates what somebody uploaded.
        "'=HYPERLINK(1),-1e-05",
    ]


def test_a_table_can_be_taken_away_as_json_with_numbers(guide):
    with guide.expect_download() as download:
        guide.locator("figure summary").click()
        guide.get_by_role("button", name="Save as JSON").click()
    assert download.value.suggested_filename == "tps-table.json"
    assert json.loads(Path(download.value.path()).read_text()) == {
        "title": "",
        "columns": ["Version", "1 thread"],
        "rows": [['10.6, with a "fix"', 1234.5], ["=HYPERLINK(1)", -1e-05]],
    }


def test_one_key_leads_from_a_chart_to_its_table(guide):
    drawn(guide).keyboard.press("t")
    assert guide.evaluate("document.activeElement.id") == "tps-table"


def test_a_dangerous_button_asks_and_names_its_object(guide):
    address = guide.url
    guide.get_by_role("button", name="Delete").click()
    question = guide.get_by_role("dialog")
    expect(question).to_contain_text("Delete the upload result.txt?")
    question.get_by_role("button", name="Cancel").click()
    assert guide.url == address
    guide.get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Delete").click()
    expect(guide.locator("body")).to_have_text("deleted")


def test_on_a_phone_the_filters_fold_and_the_page_does_not_scroll_sideways(guide):
    guide.set_viewport_size({"width": 390, "height": 844})
    chips = guide.locator(".chips")
    expect(chips).to_be_hidden()
    guide.get_by_role("button", name="Filters").click()
    expect(chips).to_be_visible()
    assert guide.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_menus_close_by_escape_and_by_a_click_elsewhere(guide):
    menu = guide.locator(".top-bar details").first
    menu.locator("summary").click()
    expect(menu).to_have_attribute("open", "")
    guide.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", re.compile(".*"))
    menu.locator("summary").click()
    guide.locator("h1").click()
    expect(menu).not_to_have_attribute("open", re.compile(".*"))


def test_escape_closes_a_menu_whose_focus_a_new_answer_took_away(guide):
    menu = guide.locator(".top-bar details").first
    menu.locator("summary").click()
    guide.evaluate("document.activeElement.blur()")
    guide.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", re.compile(".*"))
