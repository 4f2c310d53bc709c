"""The matrix in a real browser."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.builders import START, in_sessions, make_project, make_record, make_runs, make_user
from tests.dashboard.controls import choose_display, opened_filter
from tests.dashboard.shifts import SHIFTS

pytestmark = pytest.mark.django_db(transaction=True)

VERSIONS = ("10.2.44", "10.6.23", "10.11.15")
# What is left of the first version in each of them.
LEFT = {"hot-points": (1, 1, 1), "point-query": (1, 0.9, 0.5), "scan": (1, 0.8, 0.8), "insert": (1, 1, 1.3)}


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    releases = [
        make_record(1000 * threads * left * steady, version=version, workload=workload, threads=threads)
        for workload, lefts in LEFT.items()
        for version, left in zip(VERSIONS, lefts, strict=True)
        for threads in (1, 16)
        for steady in (1.0, 1.001, 1.002)
    ]
    nights = [
        make_record(
            value,
            version="unknown",
            branch="main",
            workload="scan",
            threads=1,
            started_at=START + timedelta(days=day),
        )
        for day, value in enumerate([100.0, 200.0, 150.0])
    ]
    make_runs([*in_sessions(releases), *nights], project=project)
    return project


def rows(page):
    """The workloads of the matrix, from above."""
    return page.locator(".matrix-name").all_text_contents()


def test_rows_are_sorted_and_narrowed_and_the_address_keeps_it(chromium_page, project):
    page = chromium_page
    page.goto("/p/bench/compare/matrix/")
    expect(page.locator(".matrix-summary")).to_have_count(4)
    assert rows(page) == ["hot-points", "point-query", "scan", "insert"]
    choose_display(page, "without groups")
    expect(page.locator(".matrix-summary")).to_have_count(1)
    choose_display(page, "most lost in any column")
    expect(page.locator(".matrix-name").first).to_have_text("point-query")
    assert rows(page) == ["point-query", "scan", "hot-points", "insert"]
    choose_display(page, "change into the last column")
    expect(page.locator(".matrix-name").nth(1)).to_have_text("insert")
    choose_display(page, "only what changed")
    expect(page.locator(".matrix-name")).to_have_text(["point-query", "insert", "scan"])
    page.reload()
    expect(page.locator(".matrix-name")).to_have_text(["point-query", "insert", "scan"])
    choose_display(page, "both")
    expect(page.locator(".matrix td small").first).to_be_visible()
    assert "sort=last" in page.url
    assert "changed=1" in page.url


def test_arrow_keys_move_between_cells_and_enter_follows_one(chromium_page, project):
    page = chromium_page
    page.goto("/p/bench/compare/matrix/?rows=flat")
    page.locator(".matrix-open").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(page.locator(".matrix-tip")).to_have_text(re.compile(r"10\.11\.15: 2 thread counts, 6 runs"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator("td a:focus")).to_have_text("▼0.90")
    # Back by one Tab is the head of this row, not each cell before it.
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".matrix-open:focus")).to_have_text("point-query")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("10.6.23 against 10.2.44")


def test_rows_open_in_place_and_the_address_says_which(chromium_page, project):
    page = chromium_page
    page.goto("/p/bench/compare/matrix/")
    for opened, workload in enumerate(("scan", "insert"), start=1):
        page.get_by_role("link", name=workload, exact=True).click()
        expect(page.locator(".matrix-part")).to_have_count(2 * opened)
        expect(page.locator(".matrix-charts .chart .main-svg").first).to_be_visible()
        assert page.url.count("open=") == opened
    opened_filter(page, "threads").get_by_label("16", exact=True).check()
    expect(page).to_have_url(re.compile("threads=16"))
    expect(page.locator(".matrix-charts")).to_have_count(2)
    assert page.url.count("open=") == 2
    opened_filter(page, "threads").get_by_label("16", exact=True).uncheck()
    expect(page).not_to_have_url(re.compile("threads=16"))
    expect(page.locator(".matrix-part")).to_have_count(4)
    page.reload()
    expect(page.locator(".matrix-charts")).to_have_count(2)
    page.get_by_role("link", name="scan", exact=True).click()
    expect(page.locator(".matrix-charts")).to_have_count(1)
    page.get_by_role("link", name="Open all").click()
    expect(page.locator("#matrix-all .chart-small")).to_have_count(4)


def test_a_member_makes_groups_and_the_matrix_has_them(chromium_page, project, sign_in):
    sign_in(make_user(member_of=project))
    page = chromium_page
    page.goto("/p/bench/compare/matrix/")
    page.locator("#page-head summary", has_text="More of this matrix").click()
    page.get_by_role("link", name="Workload groups").click()
    for number in range(1, 5):
        page.locator(f"#name-{number}").fill("")
        page.locator(f"#patterns-{number}").fill("")
    page.locator("#name-1").fill("reads")
    page.locator("#patterns-1").fill("*point*\nscan")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing is saved yet")
    expect(page.locator("table.data tbody tr").first).to_contain_text("hot-points, point-query, scan")
    page.get_by_role("button", name="Save the groups").click()
    expect(page.get_by_role("status")).to_have_text("The groups are saved.")
    page.goto("/p/bench/compare/matrix/")
    expect(page.locator(".matrix-total > th")).to_have_text(
        ["Geometric mean", re.compile("Reads 3"), re.compile("Other workloads 1")]
    )


def test_a_member_moves_the_baseline_of_the_nights_and_back(chromium_page, project, sign_in):
    sign_in(make_user(member_of=project))
    page = chromium_page
    page.goto("/p/bench/compare/matrix/?over=nights&base=~")
    head = page.locator(".matrix thead .matrix-base")
    expect(head).to_have_text("2 Mar")
    for night, why in (("3 Mar 2026", "the pool was resized"), ("4 Mar 2026", "a new disk")):
        page.get_by_text("Move the baseline").first.click()
        page.locator("#baseline-target").select_option(label=night)
        page.get_by_label("Because").fill(why)
        page.get_by_role("button", name="Move the baseline").click()
        expect(head).to_have_text(night)
        expect(page.locator(".baseline")).to_contain_text(f"because “{why}”")
    page.get_by_text("1 earlier baseline").click()
    page.get_by_role("button", name="Move back to 3 Mar 2026").click()
    expect(head).to_have_text("3 Mar 2026")
    expect(page.locator(".baseline")).to_contain_text("because “moved back from 4 Mar 2026”")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_jumps_or_widens_the_page_with_flat_rows_of_both_values(chromium_page, project, width):
    page = chromium_page
    page.add_init_script(SHIFTS)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/p/bench/compare/matrix/?values=both&rows=flat")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("window.shift") < 0.01


def test_head_and_first_column_stay_while_the_numbers_scroll(chromium_page, project):
    page = chromium_page
    page.set_viewport_size({"width": 390, "height": 500})
    page.goto("/p/bench/compare/matrix/?values=both")
    box = page.locator(".matrix-box")
    box.evaluate("box => { box.scrollLeft = 200; box.scrollTop = 120 }")
    corner = page.locator(".matrix thead th").first.bounding_box()
    edge = box.bounding_box()
    assert abs(corner["x"] - edge["x"]) <= 2
    assert abs(corner["y"] - edge["y"]) <= 2
