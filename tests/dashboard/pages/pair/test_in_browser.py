"""The page "Side by side" in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.builders import in_sessions, make_project, make_record, make_runs
from tests.dashboard.controls import opened_filter
from tests.dashboard.shifts import SHIFTS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    records = [
        make_record(
            readings={"tps": 900.0 * threads * speed * noise, "server_cpu_per_op": 50 * cost * noise},
            version=version,
            threads=threads,
            repetition=repetition,
            options={"command": f"sysbench oltp_read_only --time={time} run"},
        )
        for version, speed, cost, time in (("10.6.1", 1.0, 1.0, 60), ("10.6.2", 0.9, 1.12, 30))
        for threads in (1, 4)
        for repetition, noise in enumerate((0.999, 1.0, 1.001))
    ]
    make_runs(in_sessions(records), project=project)
    return project


@pytest.fixture
def pair(project, chromium_page):
    chromium_page.add_init_script(SHIFTS)
    chromium_page.goto("/p/bench/compare/pair/")
    return drawn(chromium_page)


def drawn(page):
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    return page


def test_slower_and_dearer_is_one_glance(pair):
    expect(pair.locator(".headline")).to_have_text(
        re.compile(
            r"10\.6\.2 is 10 % slower than 10\.6\.1 .* and spends 12 % more server CPU per operation\."
        )
    )
    expect(pair.locator(".doubts")).to_contain_text("Different durations: duration: 60 s → 30 s.")
    expect(pair.locator("#glance tbody tr").first).to_contain_text("−10.0")
    assert pair.evaluate("window.shift") < 0.01
    assert pair.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_sides_are_picked_and_swapped(pair):
    pair.locator("summary", has_text="More of these two sides").click()
    pair.get_by_role("link", name="Swap the sides").click()
    expect(pair.locator(".headline")).to_contain_text("10.6.1 is 11 % faster than 10.6.2")
    opened_filter(pair, "threads").get_by_label("4", exact=True).check()
    expect(pair.locator("#glance tbody tr")).to_have_count(1)
    expect(pair.locator(".headline")).to_contain_text("10.6.1 is 11 % faster than 10.6.2")
    opened_filter(pair, "base").get_by_label("10.6.1 MariaDB on box").check()
    expect(pair.get_by_role("heading", level=1)).to_have_text("10.6.1 against 10.6.1")


def test_the_table_for_a_ticket_is_copied(pair):
    pair.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pair.locator("summary", has_text="More of these two sides").click()
    pair.get_by_role("button", name="Copy as Markdown").click()
    expect(pair.get_by_role("button", name="Copied")).to_be_visible()
    text = pair.evaluate("navigator.clipboard.readText()")
    assert text.startswith("**10.6.2 is 10 % slower than 10.6.1")
    assert "| oltp\\_read\\_only | 1 | transactions per second | 900.0 | 810.0 | −10.0 % |" in text


def test_two_versions_of_the_compare_page_and_a_run_lead_here(pair):
    pair.locator("summary", has_text="More of these two sides").click()
    pair.get_by_role("link", name="Both in the matrix").click()
    pair.get_by_role("link", name="Two sides", exact=True).last.click()
    expect(pair.locator(".headline")).to_contain_text("10.6.2 is 10 % slower than 10.6.1")


def test_on_a_phone_tables_scroll_in_their_boxes(chromium_page, project):
    chromium_page.set_viewport_size({"width": 390, "height": 800})
    chromium_page.goto("/p/bench/compare/pair/")
    drawn(chromium_page)
    assert chromium_page.evaluate("document.documentElement.scrollWidth <= innerWidth")
