"""A filter, a switch or the next page of a list leaves the focus where it was, and says how much there is."""

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_record, make_runs
from tests.dashboard.test_views_in_browser import addresses  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

FOCUSED = "document.activeElement.id"
# A new page is another element.
MARKED = "document.getElementById('page').dataset.old = '1'"
# Each has a filter line; these are the chips in which something is chosen by the space bar.
FILTERED = {
    "lines": "threads",
    "matrix": "workload",
    "nights": "workload",
    "curves": "workload",
    "latency": "workload",
    "settings": "threads",
    "pair": "workload",
    "small multiples": "workload",
    "incidents": "kind",
    "runs": "workload",
    "uploads": "state",
}
WITH_SWITCHES = ("lines", "matrix", "nights", "curves", "settings", "small multiples")


def places(found):
    return {
        **found,
        "incidents": "/p/bench/incidents/",
        "runs": "/p/bench/runs/",
        "uploads": "/p/bench/uploads/",
    }


def new_page(page):
    expect(page.locator("#page:not([data-old])")).to_have_count(1)
    page.wait_for_load_state("networkidle")
    page.evaluate(MARKED)


def test_the_focus_returns_to_the_filter_on_every_page(addresses, chromium_page):  # noqa: F811
    wrong = {}
    for name, address in places(addresses).items():
        if name not in FILTERED:
            continue
        chromium_page.goto(address)
        chromium_page.wait_for_load_state("networkidle")
        chromium_page.evaluate(MARKED)
        chip = chromium_page.locator(f"#filter-{FILTERED[name]}")
        if chromium_page.locator(f"#filter-more #filter-{FILTERED[name]}").count():
            chromium_page.locator("#filter-more > summary").focus()
            chromium_page.keyboard.press("Enter")
        chip.locator("> summary").focus()
        chromium_page.keyboard.press("Enter")
        control = chip.locator("input:not([type=search])").last
        control.focus()
        own = chromium_page.evaluate(FOCUSED)
        chromium_page.keyboard.press("Space")
        if control.is_checked() or chip.locator("input[type=checkbox]").count():
            new_page(chromium_page)
        if chromium_page.evaluate(FOCUSED) != own:
            wrong[name] = (own, chromium_page.evaluate("document.activeElement.outerHTML.slice(0, 100)"))
    assert wrong == {}


def test_the_focus_returns_to_the_switch_and_the_menu_stays_open(addresses, chromium_page):  # noqa: F811
    wrong = {}
    for name in WITH_SWITCHES:
        chromium_page.goto(addresses[name])
        chromium_page.wait_for_load_state("networkidle")
        chromium_page.evaluate(MARKED)
        chromium_page.locator("#display > summary").focus()
        chromium_page.keyboard.press("Enter")
        link = chromium_page.locator("#display a:not([aria-current])").first
        link.focus()
        own = chromium_page.evaluate(FOCUSED)
        chromium_page.keyboard.press("Enter")
        new_page(chromium_page)
        if chromium_page.evaluate(FOCUSED) != own:
            wrong[name] = (own, chromium_page.evaluate("document.activeElement.outerHTML.slice(0, 100)"))
        assert chromium_page.evaluate("document.activeElement.checkVisibility()")
    assert wrong == {}


@pytest.fixture
def many_runs():
    project = make_project("many", public=True)
    records = [
        make_record(
            100.0 + number, version=f"10.6.{number}", workload=f"w{number % 2}", hardware=f"m{number % 3}"
        )
        for number in range(120)
    ]
    make_runs(records, project=project)


def test_the_number_of_rows_is_told_and_the_focus_stays_at_the_pages(many_runs, chromium_page):
    page = chromium_page
    page.goto("/p/many/runs/")
    page.evaluate(MARKED)
    page.locator("#pager-on").focus()
    page.keyboard.press("Enter")
    new_page(page)
    told = page.locator("#told")
    expect(told).to_have_text("101 to 120 of 120 runs")
    # There is no further page: the focus is on the way back.
    assert page.evaluate(FOCUSED) == "pager-back"
    page.locator("#filter-workload > summary").click()
    page.locator("#filter-workload").get_by_label("w1").check()
    new_page(page)
    expect(told).to_have_text("60 runs")


def test_a_filter_taken_back_leaves_the_focus_at_more(many_runs, chromium_page):
    page = chromium_page
    page.goto("/p/many/runs/?excluded=no&workload=w0")
    page.evaluate(MARKED)
    set_one = page.locator(".chip-set")
    expect(set_one).to_have_count(1)
    set_one.focus()
    page.keyboard.press("Enter")
    new_page(page)
    expect(page.locator(".chip-set")).to_have_count(0)
    assert "excluded" not in page.url
    assert "workload=w0" in page.url
    assert page.evaluate("document.activeElement.closest('details').id") == "filter-more"
