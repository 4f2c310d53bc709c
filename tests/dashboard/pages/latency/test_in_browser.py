"""The latency page in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from benchdash.results.records import SampleTable
from tests.builders import make_project, make_record, make_runs
from tests.dashboard.controls import opened_filter
from tests.dashboard.shifts import SHIFTS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    records = [
        make_record(
            version=version,
            threads=threads,
            samples=(
                SampleTable(
                    "histogram",
                    ("from_ms", "to_ms", "count"),
                    ((0.0, 1.0, 50.0), (1.0, 2.0, 900.0), (2.0 * slow, 4.0 * slow, 60.0)),
                ),
            ),
        )
        for slow, version in enumerate(("10.2.44", "10.6.23"), start=1)
        for threads in (1, 64)
        for _ in range(2)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def page(project, chromium_page):
    chromium_page.add_init_script(SHIFTS)
    chromium_page.goto("/p/bench/compare/latency/")
    return drawn(chromium_page)


def drawn(page):
    expect(page.locator("figure.chart[data-drawn] .main-svg").first).to_be_visible()
    expect(page.locator("figure.chart[data-drawn]")).to_have_count(2)
    return page


def test_both_charts_are_drawn_without_a_jump(page):
    expect(page.locator("#chart-percentiles .xtick text")).to_have_text(["50", "90", "99", "99.9"])
    expect(page.locator("#chart-histogram .legendtext")).to_have_text(["10.2.44", "10.6.23"])
    assert page.evaluate("window.shift") < 0.01


def test_the_choice_is_kept_in_the_address(page):
    opened_filter(page, "threads").get_by_label("64").check()
    expect(drawn(page).locator(".chart-title").first).to_have_text(re.compile("64 threads"))
    assert "threads=64" in page.url
    page.get_by_title("Make 10.6.23 the reference").click()
    expect(page.locator(".chosen > .is-base")).to_contain_text("10.6.23")
    assert "threads=64" in drawn(page).url


def test_one_key_leads_from_a_chart_to_its_table(page):
    page.keyboard.press("t")
    assert page.evaluate("document.activeElement.id") == "percentiles"
