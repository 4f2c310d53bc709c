"""How a run went while it went on, as its page shows it."""

from datetime import timedelta
from pathlib import Path

import plotly.graph_objects as go
import pytest
from django.urls import reverse
from playwright.sync_api import expect

from benchdash.accounts.access import NOBODY
from benchdash.charts.plotly import plotly
from benchdash.results.models import Run, Series
from benchdash.results.points import history
from benchdash.results.records import SampleTable
from ingest.metadata.upload_metadata import read_metadata
from ingest.receiving.arrivals import Arrival
from ingest.receiving.reception import receive_one
from ingest.storage.raw_bytes import RawData
from tests.builders import START, make_project, make_run

pytestmark = pytest.mark.django_db

# One stall of a second and one of two.
TWELVE = [100.0, 100.0, 10.0, 100.0, 100.0, 60.0, 100.0, 0.0, 20.0, 100.0, 100.0, 100.0]


def printed(values=TWELVE, source="sysbench"):
    rows = tuple((float(second), value, 5.0) for second, value in enumerate(values, 1))
    return SampleTable(source, ("time_s", "tps", "latency_p95"), rows)


def sampled(rows=12, *, source="vmstat", timed=False):
    columns = ("time_s" if timed else "sample", "cpu_user", "context_switches_per_s")
    return SampleTable(source, columns, tuple((float(at), 50.0, 900.0) for at in range(1, rows + 1)))


def a_run(project, *tables, **fields):
    fields = {"duration_s": 12.1, **fields}
    return make_run(project=project, samples=tables or (printed(),), **fields)


def page_of(client, run, **query):
    answer = client.get(reverse("dashboard:run", args=[run.project.slug, run.pk], query=query))
    assert answer.status_code == 200
    return answer


def text_of(answer):
    return " ".join(answer.content.decode().split())


def charts_of(answer):
    return {chart.name: chart for chart in answer.context["intervals"]}


# --- one run --------------------------------------------------------------------------------------------


def test_stalls_are_counted_and_listed(client):
    answer = page_of(client, a_run(make_project(public=True)))
    within = answer.context["within"]
    assert [(stall.start, stall.end) for stall in within.stalls] == [(2, 3), (7, 9)]
    text = text_of(answer)
    assert "<strong>2 stalls</strong> in 12.0 s, 3.00 s altogether" in text
    assert "50.0 % of its median of 100.0 (tps)" in text
    assert 'id="stalls-table"' in text
    assert len(plotly(charts_of(answer)["sysbench"].figure)["layout"]["shapes"]) == 3


def test_readings_that_follow_from_the_intervals_say_so(client):
    run = a_run(make_project(public=True), readings={"tps": 90.0, "stalls_per_min": 10.0, "tps_worst": 0.0})
    text = text_of(page_of(client, run))
    for name in ("stalls per minute", "transactions per second, worst interval"):
        assert f'{name}</a> <span class="quiet">from the intervals</span>' in text
    assert text.count("from the intervals<") == 2


def test_a_steady_run_says_so(client):
    text = text_of(page_of(client, a_run(make_project(public=True), printed([100.0] * 12))))
    assert "<strong>No stall</strong> in 12.0 s" in text
    assert 'id="stalls-table"' not in text


def test_of_too_few_intervals_nothing_is_said(client):
    text = text_of(page_of(client, a_run(make_project(public=True), printed(TWELVE[:9]))))
    assert "Stalls are counted from 10 intervals on." in text


def test_the_rule_is_that_of_the_project(client):
    project = make_project(public=True, options={"stall_below": 0.7, "stall_warmup_s": 3})
    answer = page_of(client, a_run(project))
    within = answer.context["within"]
    assert within.steadiness is None
    longer = page_of(client, a_run(project, printed([*TWELVE, 100.0])))
    assert [stall.start for stall in longer.context["within"].stalls] == [5, 7]
    assert "The warm-up of 3.00 s is left out." in text_of(longer)


def test_of_very_many_stalls_the_longest_are_listed_in_their_order(client):
    values = [100.0, 0.0] * 100 + [100.0, 100.0, 0.0, 0.0]
    answer = page_of(client, a_run(make_project(public=True), printed(values)))
    within = answer.context["within"]
    assert (len(within.stalls), within.stalls[-1].end) == (100, 204)
    assert "The 100 longest of 101." in text_of(answer)


def test_what_the_machine_did_is_drawn_below_on_the_time_of_the_run(client):
    answer = page_of(client, a_run(make_project(public=True), printed(), sampled()))
    charts = charts_of(answer)
    go.Figure(plotly(charts["sysbench"].figure))
    names = [line["name"] for line in plotly(charts["sysbench"].figure)["data"]]
    assert names == ["tps", "response time p95", "CPU, user", "context switches per second"]
    assert (charts["vmstat"].figure, charts["vmstat"].total) == (None, 12)
    assert charts["sysbench"].height == 580
    assert "vmstat is taken to have begun with the run, with a sample every 1 s" in text_of(answer)


def test_samples_with_times_keep_them(client):
    answer = page_of(client, a_run(make_project(public=True), printed(), sampled(5, timed=True)))
    assert plotly(charts_of(answer)["sysbench"].figure)["data"][2]["x"] == [1, 2, 3, 4, 5]
    assert "the times of its samples are counted from its own start" in text_of(answer)


def test_samples_on_the_time_of_the_run_stand_there(client):
    table = SampleTable("vmstat", ("run_s", "cpu_user"), ((-1.0, 9.0), (0.0, 50.0), (1.0, 51.0)))
    answer = page_of(client, a_run(make_project(public=True), printed(), table))
    assert plotly(charts_of(answer)["sysbench"].figure)["data"][2]["x"] == [-1, 0, 1]
    assert "vmstat stands at the times of day that it printed." in text_of(answer)


def test_samples_that_cannot_be_laid_on_the_time_of_the_run_have_a_chart_of_their_own(client):
    for fields in ({"duration_s": None}, {"duration_s": 18.0}):
        answer = page_of(client, a_run(make_project(public=True), printed(), sampled(), **fields))
        charts = charts_of(answer)
        assert len(plotly(charts["sysbench"].figure)["data"]) == 2
        assert plotly(charts["vmstat"].figure)["layout"]["xaxis"]["title"]["text"] == "sample"


def test_of_two_tools_the_one_that_counts_for_the_means_is_drawn(client):
    tables = (printed(), sampled(timed=True), sampled(source="iostat", timed=True))
    answer = page_of(client, a_run(make_project(public=True), *tables))
    assert answer.context["within"].drawn == {"sysbench", "iostat", "vmstat"}
    assert len(plotly(charts_of(answer)["sysbench"].figure)["data"]) == 4


def test_all_samples_of_a_source_can_be_taken_away(client):
    run = a_run(make_project(public=True), printed(), sampled(source="vmstat 2"))
    text = text_of(page_of(client, run))
    assert f'href="/api/v1/runs/{run.pk}/intervals/?source=vmstat%202&amp;format=csv"' in text


# --- from the file to the page --------------------------------------------------------------------------

FIXTURES = Path(__file__).parents[3] / "ingest" / "fixtures"
_TICK = (
    "[ {}s ] thds: 8 tps: {:.2f} qps: 20000.00 (r/w/o: 15000.00/0.00/5000.00) lat (ms,95%): 9.00"
    " err/s: 0.00 reconn/s: 0.00"
)


def send(project, values, *, version):
    """The output of a real run, with interval lines of these throughputs in place of its own."""
    text = (FIXTURES / "sysbench" / "oltp_read_only-histogram.txt").read_text()
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("[ 1s ]"))
    ticks = [_TICK.format(second, value) for second, value in enumerate(values, 1)]
    rest = [line for line in lines[first:] if not line.startswith("[ ")]
    said = {"product": "MySQL", "version": version, "hardware": "raid", "workload": "oltp_read_write"}
    text = "\n".join([*lines[:first], *ticks, *rest, ""])
    arrival = Arrival("t8.txt", RawData(text.encode()), read_metadata(said)[0])
    return receive_one(project, by=NOBODY, arrival=arrival).upload


def test_write_stalls_of_a_version_are_counted_and_have_a_history(client):
    """As the article on MySQL 5.6 GA found: throughput that collapses for seconds, again and again."""
    project = make_project(public=True)
    send(project, [1500.0] * 60, version="5.6.9")
    upload = send(project, ([1500.0] * 12 + [90.0, 0.0, 40.0]) * 4, version="5.6.10")
    series = Series.objects.get(project=project, metric="stalls_per_min")
    assert [point.value for point in history(series)] == [0, 4]
    answer = page_of(client, Run.objects.get(upload_id=upload.pk))
    assert [stall.start for stall in answer.context["within"].stalls] == [12, 27, 42, 57]
    assert [other.run.version.version for other in answer.context["within"].others] == ["5.6.9"]
    assert "<strong>4 stalls</strong> in 1 min 00 s, 12.0 s altogether" in text_of(answer)
    readings = {row.series.metric: row for row in answer.context["details"].readings}
    assert (readings["stalled_percent"].value, readings["tps_worst"].value) == (20, 0)
    assert (readings["stalls_per_min"].before, readings["tps_worst"].before) == (0, 1500)


# --- other runs over it ---------------------------------------------------------------------------------


def test_another_run_is_laid_over_and_their_steadiness_stands_side_by_side(client):
    project = make_project(public=True)
    run = a_run(project, printed(), sampled())
    other = a_run(project, printed([90.0] * 12), version="10.6.24", started_at=START + timedelta(days=1))
    answer = page_of(client, run, **{"with": other.pk})
    figure = plotly(charts_of(answer)["sysbench"].figure)
    go.Figure(figure)
    assert [line["name"] for line in figure["data"]] == [
        f"run {run.pk}, 10.6.23",
        f"run {other.pk}, 10.6.24",
    ] * 2
    (laid_over,) = answer.context["within"].laid_over
    assert (laid_over.run, laid_over.steadiness.worst) == (other, 90)
    text = text_of(answer)
    assert 'id="laid-over"' in text
    assert f'href="/p/{project.slug}/compare/pair/?run={other.pk}&amp;run={run.pk}"' in text
    assert f'name="with" value="{other.pk}" checked' in text
    assert charts_of(answer)["vmstat"].figure is not None


def test_runs_of_this_version_and_the_group_before_are_offered(client):
    project = make_project(public=True)
    before = a_run(project, version="10.6.22")
    older = a_run(project, version="10.6.21")
    run = a_run(project)
    twin = a_run(project, repetition=2)
    unlike = [
        a_run(project, threads=8),
        a_run(project, workload="rw"),
        a_run(project, hardware="other"),
        a_run(project, sampled(timed=True)),
    ]
    offered = {other.run for other in page_of(client, run).context["within"].others}
    assert offered == {before, twin}
    assert older not in offered
    assert not offered.intersection(unlike)


@pytest.mark.parametrize("asked", ["x", "", "-1", "9" * 30, "0", "²"])
def test_what_is_no_run_is_not_laid_over(client, asked):
    run = a_run(make_project(public=True))
    assert page_of(client, run, **{"with": asked}).context["within"].laid_over == []


def test_a_run_of_another_project_is_not_laid_over(client):
    run = a_run(make_project(public=True))
    secret = a_run(make_project())
    answer = page_of(client, run, **{"with": [secret.pk, run.pk]})
    assert answer.context["within"].laid_over == []
    assert "run-others" not in text_of(answer)


def test_at_most_three_are_laid_over(client):
    project = make_project(public=True)
    run, *others = [a_run(project, repetition=number) for number in range(6)]
    answer = page_of(client, run, **{"with": [other.pk for other in others]})
    assert [other.run for other in answer.context["within"].laid_over] == others[:3]


def test_a_page_takes_the_same_statements_however_many_are_laid_over(client, django_assert_num_queries):
    project = make_project(public=True)
    run, *others = [a_run(project, printed(TWELVE * 10), repetition=number) for number in range(6)]
    with django_assert_num_queries(13):
        page_of(client, run, **{"with": [others[0].pk]})
    with django_assert_num_queries(13):
        page_of(client, run, **{"with": [other.pk for other in others]})


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_stall_is_shaded_and_a_second_run_is_laid_over_by_a_tick(chromium_page):
    project = make_project(public=True)
    run = a_run(project, printed(), sampled())
    a_run(project, printed([90.0] * 12), repetition=2)
    chromium_page.goto(reverse("dashboard:run", args=[project.slug, run.pk]))
    chart = chromium_page.locator("#chart-sysbench")
    chart.scroll_into_view_if_needed()
    # Two stalls and their limit; throughput, response time, CPU and context switches.
    expect(chart.locator(".shapelayer path")).to_have_count(3)
    expect(chart.locator(".scatterlayer .trace")).to_have_count(4)
    chromium_page.get_by_text("Lay other runs over it").click()
    chromium_page.locator(".run-others input").check()
    chromium_page.get_by_role("button", name="Show").click()
    chromium_page.wait_for_url("**with=**")
    chart = chromium_page.locator("#chart-sysbench")
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".legendtext")).to_have_count(2)
    expect(chromium_page.locator("#laid-over tbody tr")).to_have_count(2)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_zooming_into_one_part_zooms_all_of_them(chromium_page):
    run = a_run(make_project(public=True), printed(), sampled())
    chromium_page.goto(reverse("dashboard:run", args=[run.project.slug, run.pk]))
    chart = chromium_page.locator("#chart-sysbench")
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".scatterlayer .trace")).to_have_count(4)
    plot = chart.locator(".nsewdrag").first.bounding_box()
    middle = plot["y"] + plot["height"] / 2
    chromium_page.mouse.move(plot["x"] + plot["width"] * 0.4, middle)
    chromium_page.mouse.down()
    chromium_page.mouse.move(plot["x"] + plot["width"] * 0.8, middle, steps=8)
    chromium_page.mouse.up()
    ranges = (
        "plot => [plot._fullLayout.xaxis.range, Object.keys(plot._fullLayout).filter(k => /^xaxis/.test(k))]"
    )
    (low, high), axes = chart.locator(".chart-plot").evaluate(ranges)
    assert 3 < low < 6 < 8 < high < 11
    assert axes == ["xaxis"]
