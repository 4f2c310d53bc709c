"""Scaling curves in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_record, make_runs
from tests.dashboard.controls import choose_display, opened_filter
from tests.dashboard.shifts import SHIFTS

pytestmark = pytest.mark.django_db(transaction=True)

TPS = {1: 1000.0, 2: 1900.0, 4: 3040.0, 8: 3952.0, 16: 3161.6}


@pytest.fixture
def project():
    project = make_project("bench", public=True)
    records = [
        make_record(
            readings={
                "tps": tps / (number + 1) + repetition,
                "latency_avg": 1000 * threads * (number + 1) / tps,
            },
            version=version,
            workload="oltp_read_only",
            threads=threads,
            repetition=repetition,
        )
        for number, version in enumerate(("10.6.23", "10.11.15"))
        for threads, tps in TPS.items()
        for repetition in range(2)
    ]
    make_runs(records, project=project)
    return project


@pytest.fixture
def curves(project, chromium_page):
    chromium_page.add_init_script(SHIFTS)
    chromium_page.goto("/p/bench/compare/")
    chromium_page.get_by_role("link", name="Curves").click()
    return drawn(chromium_page)


def drawn(page):
    page.locator("figure.chart[data-drawn] .main-svg").first.wait_for()
    return page


def dashes(page):
    """Of the lines of the first chart; the fitted ones are dotted."""
    script = "document.querySelector('.chart-plot').data.map(trace => trace.line.dash)"
    return page.evaluate(script)


def test_switches_draw_the_same_curves_another_way_and_stay_in_the_address(curves):
    assert dashes(curves) == ["dash", "solid"]
    choose_display(curves, "on", of="Fitted law")
    drawn(curves)
    assert dashes(curves) == ["dot", "dash", "dot", "solid"]
    choose_display(curves, "of own first point")
    drawn(curves)
    assert "fit=usl" in curves.url
    assert "values=own" in curves.url
    first = curves.evaluate("document.querySelector('.chart-plot').data[1].y[0]")
    assert first == pytest.approx(1)
    expect(curves.locator("table.data").last).to_contain_text("8")


def test_the_scale_up_is_chosen_by_chips_and_the_law_stays_drawn(curves):
    curves.goto(f"{curves.url}?fit=usl")
    drawn(curves)
    opened_filter(curves, "from").get_by_label("2", exact=True).check()
    expect(curves.get_by_text("2 to 16 threads")).to_be_visible()
    assert "from=2" in curves.url
    assert "fit=usl" in curves.url


def test_response_time_against_throughput_labels_its_points(curves):
    choose_display(curves, "response time against throughput")
    drawn(curves)
    labels = curves.locator(".chart").first.locator(".textpoint").all_text_contents()
    assert sorted(set(labels), key=int) == ["1", "2", "4", "8", "16"]
    expect(curves.locator(".chart-title").first).to_have_text(
        "oltp_read_only, response time, average against transactions per second, box"
    )


def test_nothing_jumps_and_a_phone_scrolls_tables_in_their_boxes(curves):
    curves.set_viewport_size({"width": 390, "height": 800})
    curves.reload()
    drawn(curves)
    assert not curves.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert curves.evaluate("window.shift") < 0.02
