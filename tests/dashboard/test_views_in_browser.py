"""What every view with charts keeps to, in a real browser, at a desk and on a phone."""

from datetime import timedelta

import pytest

from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run
from benchdash.results.records import SampleTable
from tests.builders import START, make_project, make_record, make_runs
from tests.dashboard.pages.runs.test_samples import printed, sampled
from tests.dashboard.shifts import SHIFTS
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db(transaction=True)

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
LONG = "a_configuration_with_a_name_that_somebody_wrote_and_nobody_would_like_to_read_aloud"
VIEWS = {
    "matrix": "/p/bench/compare/matrix/",
    "nights": "/p/bench/compare/matrix/?over=nights",
    "open rows": "/p/bench/compare/matrix/?open=each",
    "all rows": "/p/bench/compare/matrix/?open=all",
    "percentiles": "/p/bench/compare/matrix/?open=each&charts=percentiles",
    "settings": "/p/bench/compare/settings/?setting=pool",
    "pair": "/p/bench/compare/pair/",
    "history": "/p/bench/history/?branch=main&workload=oltp_read_only&metric=tps",
    "one of many": "/p/bench/history/?branch=main&metric=tps",
    "small multiples": "/p/bench/history/?branch=main&metric=tps&charts=small",
    "run": "/p/bench/runs/{run}/",
    "incident": "/p/bench/incidents/{incident}/",
    "overview": "/p/bench/",
}
# Tables are views of their own there.
WITHOUT_CHARTS = {"matrix", "nights", "overview"}
TOOLS = (
    *("Save as PNG", "Save as SVG", "Save as CSV", "Save as JSON"),
    *("Go to the table", "Copy the link"),
)
DIRECTIONS = ("higher is better", "lower is better")
# What an axis may say instead of a metric.
PLACES = ("threads", "time, UTC", "percentile of the operations", "seconds since the run began", "pool", "")
UNFOLDED = "figure.chart:not(.fold:not([open]) *)"
# An axis of names, such as workloads, needs no other title.
CHART = """figure => ((hasNames) => ({
  title: figure.querySelector(".chart-title").textContent.trim(),
  isSmall: figure.classList.contains("chart-small"),
  opens: figure.querySelector(".chart-title a")?.getAttribute("href") ?? "",
  tools: [...figure.querySelectorAll(".chart-tools :is(button, a)")].map(tool => tool.textContent.trim()),
  table: document.getElementById(figure.dataset.table)?.tagName ?? "",
  rows: document.getElementById(figure.dataset.table)?.rows.length ?? 0,
  axes: Object.entries(figure.querySelector(".chart-plot").layout)
    .filter(([name, axis]) => /^[xy]axis\\d*$/.test(name) && axis.visible !== false && !hasNames(axis))
    .map(([name, axis]) => [name, axis.title?.text ?? ""]),
}))((axis) => axis.ticktext?.some((text) => /[a-z]/.test(text)))"""

# On a phone a row of these is a card, so that no figure lies beyond the edge.
AS_CARDS = {"pair", "history", "one of many", "small multiples", "incident"}
BEYOND_THE_EDGE = """() => [...document.querySelectorAll("table:not(.differences)")]
  .filter(table => ((box) => box.scrollWidth > box.clientWidth + 1)(table.closest(".table-box") ?? table))
  .map(table => `${table.className} #${table.id}`)
"""

# Writes a page again in the parts in which a slow network may bring it, each painted before the next comes.
IN_PARTS = """async address => {
  const page = await (await fetch(address)).text();
  const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  document.open();
  for (const part of page.split(/(?<=<\\/(?:figure|table)>)/)) {
    document.write(part);
    await painted();
  }
  document.close();
  await painted();
  return window.shift;
}"""


@pytest.fixture
def addresses():
    """Of all views: releases with histograms, values of a setting, nights with a loss, and a stalled run."""
    project = make_project("bench", public=True, notice="A noisy machine measured this.")
    histogram = ((0.0, 1.0, 50.0), (1.0, 2.0, 900.0), (2.0, 4.0, 60.0))
    releases = [
        make_record(
            readings={
                "tps": 1000.0 * threads**0.7 / slow + repetition,
                "latency_avg": threads**0.3 * slow,
                "latency_p95": 2 * threads**0.3 * slow,
            },
            version=version,
            workload=workload,
            threads=threads,
            repetition=repetition,
            configuration=LONG,
            samples=(SampleTable("histogram", ("from_ms", "to_ms", "count"), histogram),),
        )
        for slow, version in enumerate(("10.2.44", "10.6.23", "10.11.15"), start=1)
        for workload in ("oltp_read_only", "oltp_write_only")
        for threads in (1, 2, 4, 8, 16, 32, 64, 128, 256)
        for repetition in range(2)
    ]
    swept = [
        make_record(100.0 + number, version="11.4.8", threads=threads, settings={"pool": size})
        for number, size in enumerate(("8M", "64M", "512M"))
        for threads in (1, 16)
    ]
    stalled = make_record(
        version="11.8.1",
        started_at=START + timedelta(days=1),
        samples=(printed(), sampled()),
        duration_s=12.1,
        workload="stalled",
    )
    make_runs([*releases, *swept, stalled], project=project)
    record_nights(project, [1.0] * 14 + [0.8] * 14, configuration=LONG)
    analyse_touched()
    ids = {
        "run": Run.objects.get(workload__name="stalled").pk,
        "incident": Incident.objects.filter(branch="main").latest("pk").pk,
    }
    return {name: address.format(**ids) for name, address in VIEWS.items()}


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_no_view_jumps_or_scrolls_sideways_and_each_chart_can_be_taken_away_linked_to_and_read_as_a_table(
    addresses, chromium_page, window
):
    chromium_page.set_viewport_size(window)
    chromium_page.add_init_script(SHIFTS)
    wrong = {}
    for name, address in addresses.items():
        chromium_page.goto(address)
        all_drawn(chromium_page)
        shift = chromium_page.evaluate("window.shift")
        # Who opens a fold wants what is beneath it to move.
        chromium_page.locator("details.fold").evaluate_all("folds => folds.forEach(one => one.open = true)")
        all_drawn(chromium_page)
        width, room = chromium_page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if shift >= 0.01 or width > room:
            wrong[name] = (shift, width, room)
        if window == PHONE and name in AS_CARDS and (hidden := chromium_page.evaluate(BEYOND_THE_EDGE)):
            wrong[name, "beyond the edge"] = hidden
        charts = chromium_page.locator("figure.chart").evaluate_all(f"figures => figures.map({CHART})")
        assert bool(charts) != (name in WITHOUT_CHARTS), name
        for chart in charts:
            if lacks := what_lacks(chart):
                wrong[name, chart["title"]] = lacks
        if window == DESK:
            chromium_page.wait_for_load_state("networkidle")
            chromium_page.evaluate("window.shift = 0")
            shift = chromium_page.evaluate(IN_PARTS, address)
            if shift >= 0.01:
                wrong[name, "while it arrives"] = shift
    # Errors of the console fail the fixture of the page.
    assert wrong == {}


def what_lacks(chart):
    lacks = [] if chart["table"] == "TABLE" and chart["rows"] > 1 else ["a table"]
    if chart["isSmall"]:
        places = ("/p/bench/history/?", "/p/bench/compare/matrix/?")
        return lacks if chart["opens"].startswith(places) else [*lacks, "the large chart"]
    tools = [tool for tool in TOOLS if tool not in chart["tools"]]
    return [*lacks, *tools, *(title for axis, title in chart["axes"] if not says_enough(axis, title))]


def says_enough(axis, title):
    """What is measured, with its direction, or what it is measured along."""
    told = title.replace("<br>", " ")
    is_place = axis.startswith("x") and told in PLACES
    return is_place or told.startswith("% of") or any(words in told for words in DIRECTIONS)


def all_drawn(page):
    """Charts further down are drawn when one comes there, folded ones when one opens them."""
    page.wait_for_load_state("networkidle")
    for figure in page.locator(UNFOLDED).all():
        figure.scroll_into_view_if_needed()
        figure.locator(".main-svg").first.wait_for()
    page.wait_for_function(
        f"[...document.querySelectorAll('{UNFOLDED}')].every(chart => 'drawn' in chart.dataset)"
    )
