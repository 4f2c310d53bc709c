"""Open rows of the matrix: curves and bars, what curves say in figures, percentiles, and all rows at once."""

import json
import re
from datetime import timedelta
from html import unescape

import plotly.graph_objects as go
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison.columns import Selector, columns_of, columns_of_runs, short_id
from benchdash.regressions.comparison.latency import sampled_runs
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results.readings import Reading
from benchdash.results.records import SampleTable
from tests.builders import START, in_sessions, make_project, make_record, make_run, make_runs, make_series
from tests.dashboard.page_text import text_of
from tests.regressions.analysis.test_curve_series import FALLING, RISING, records

pytestmark = pytest.mark.django_db

# Twice the threads bring 90 % more, then 60 %, 30 %, and from 8 to 16 threads a fifth less.
TPS = {1: 1000.0, 2: 1900.0, 4: 3040.0, 8: 3952.0, 16: 3161.6}


@pytest.fixture
def project():
    return make_project("bench", public=True)


def measure(project, *, versions=("10.2.44", "10.6.23"), workloads=("ro",), tps=TPS, runs=1, **fields):
    """Throughput is halved with the second version; clients wait for one another without think time."""
    records = [
        make_record(
            **{
                "readings": {
                    "tps": value / (number + 1),
                    "latency_avg": 1000 * (threads or 1) * (number + 1) / value,
                    "latency_p99": 2000 * (threads or 1) * (number + 1) / value,
                },
                "version": version,
                "workload": workload,
                "threads": threads,
                "repetition": repetition,
                # Each repetition is a session of its own.
                "started_at": START + timedelta(days=20 * number + repetition),
                **fields,
            }
        )
        for number, version in enumerate(versions)
        for workload in workloads
        for threads, value in tps.items()
        for repetition in range(runs)
    ]
    return make_runs(records, project=project)


def get(client, query="", opened="each"):
    return client.get(f"/p/bench/compare/matrix/?open={opened}&{query}")


def figures(answer):
    """The figures of the page by their titles."""
    found = re.findall(
        r'<script id="[^"]*figure-[^"]+" type="application/json">(.*?)</script>', answer.content.decode()
    )
    return dict(zip(titles(answer), map(json.loads, found), strict=True))


def titles(answer):
    return re.findall(r'<span class="chart-title">(?:<a[^>]*>)?([^<]+)<', answer.content.decode())


def workloads_drawn(answer):
    return {title.split(",")[0] for title in titles(answer)}


def toggles(answer):
    """The addresses that open or close each row."""
    return list(
        map(unescape, re.findall(r'class="matrix-open"[^>]* href="([^"]+)"', answer.content.decode()))
    )


# --- a row --------------------------------------------------------------------------------------------------


def test_nothing_is_drawn_before_a_row_is_opened(client, project):
    measure(project, workloads=("ro", "rw"))
    page = client.get("/p/bench/compare/matrix/")
    assert titles(page) == []
    first, _ = toggles(page)
    one = client.get(first)
    assert workloads_drawn(one) == {"ro"}
    both = client.get(toggles(one)[1])
    assert workloads_drawn(both) == {"ro", "rw"}
    assert workloads_drawn(client.get(toggles(both)[0])) == {"rw"}


def test_a_row_has_its_curve_against_threads_and_the_response_time_beside_it(client, project):
    measure(project)
    drawn = figures(get(client))
    assert list(drawn) == [
        "ro, transactions per second against threads, box",
        "ro, response time, average against threads, box",
    ]
    throughput, _ = drawn.values()
    assert [trace["name"] for trace in throughput["data"]] == ["10.2.44", "10.6.23"]
    assert throughput["data"][0]["y"] == list(TPS.values())
    for figure in drawn.values():
        go.Figure(figure)


def test_a_response_time_has_the_throughput_beside_it_and_several_metrics_are_as_chosen(client, project):
    measure(project)
    assert [title.split(", ", 1)[1] for title in titles(get(client, "metric=latency_p99"))] == [
        "response time, 99th percentile against threads, box",
        "transactions per second against threads, box",
    ]
    chosen = "metric=latency_p99&metric=tps&metric=latency_avg"
    assert len(titles(get(client, chosen))) == 3


def test_the_table_says_value_error_change_and_verdict(client, project):
    measure(project, runs=3)
    text = text_of(get(client))
    assert "threads 10.2.44 10.6.23 1 1,000 ± 0 100 % 500.0 ± 0 ▼ −50.0 % slower" in text
    assert "Medians of 3 runs; ± is the 95 % interval of the level. Noise: sessions." in text


def test_one_thread_count_makes_bars_with_the_tool_s_error(client, project):
    score = Reading("score", 20.0, "ns/op", "lower", low=18.0, high=22.0)
    measure(project, tps={None: 1.0}, readings=(score,))
    answer = get(client)
    [figure] = figures(answer).values()
    assert figure["data"][0]["type"] == "bar"
    assert figure["data"][0]["error_x"]["array"] == [2.0, 2.0]
    text = text_of(answer)
    assert "version score ns/op ± n change verdict noise 10.2.44 20.00 ± 2.0 1 100 % reference" in text
    assert "One run each; ± is the tool's own error." in text


def test_curves_are_relative_and_axes_logarithmic_where_the_address_says_so(client, project):
    measure(project)
    (relative, _) = figures(get(client, "drawn=relative&axis=log")).values()
    assert relative["data"][1]["y"] == [50.0] * 5
    assert relative["layout"]["yaxis"]["type"] == "log"
    assert relative["layout"]["yaxis"]["title"]["text"] == "% of 10.2.44, higher is better"


def test_a_workload_without_the_reference_is_drawn_as_it_is(client, project):
    measure(project, versions=["10.2.44"])
    measure(project, versions=["10.6.23"], workloads=["ro", "rw"])
    answer = get(client, "metric=tps&drawn=relative")
    assert "rw, transactions per second against threads, box" in titles(answer)
    assert "The reference was not measured here." in text_of(answer)


def test_hardware_and_configurations_are_lines_too(client, project):
    measure(project, versions=["10.6.23"])
    measure(project, versions=["10.6.23"], hardware="bigger box", configuration="tuned")
    chosen = "&".join(f"v={short_id(one)}" for one in columns_of(project, Selector()))
    figure, *_ = figures(get(client, chosen)).values()
    assert {trace["name"] for trace in figure["data"]} == {
        "10.6.23, bigger box, tuned",
        "10.6.23, box, default",
    }


def test_the_nights_of_a_branch_are_lines_too(client, project):
    for day, value in enumerate((100.0, 110.0, 90.0)):
        for threads in (1, 4):
            record = make_record(
                value * threads,
                version="unknown",
                branch="main",
                threads=threads,
                started_at=START + timedelta(days=day),
            )
            make_runs([record], project=project)
    [figure] = figures(get(client)).values()
    assert [(trace["name"], trace["y"]) for trace in figure["data"]] == [
        ("2 Mar", [100.0, 400.0]),
        ("3 Mar", [110.0, 440.0]),
        ("4 Mar", [90.0, 360.0]),
    ]


def test_a_chart_s_numbers_can_be_taken_away_as_csv(client, project):
    measure(project, workloads=["ro", "rw"])
    [_of_matrix, url, *_] = re.findall(r'href="([^"]+)">Save as CSV<', get(client).content.decode())
    head, *lines = client.get(url.replace("&amp;", "&")).content.decode().splitlines()
    assert head.startswith("workload,threads,")
    assert {line.split(",")[0] for line in lines} == {"ro"}
    assert len(lines) == 2 * len(TPS)


def test_twelve_rows_are_open_at_most_and_the_page_says_so(client, project):
    measure(project, workloads=[f"w{number:02d}" for number in range(14)], tps={1: 100.0})
    answer = get(client, "metric=tps")
    assert len(workloads_drawn(answer)) == 12
    assert "2 more workloads are not open" in text_of(answer)


def test_open_rows_take_the_same_statements_however_many_there_are(client, project):
    def statements(opened):
        with CaptureQueriesContext(connection) as queries:
            get(client, opened=opened)
        return len(queries)

    measure(project)
    closed, few, small = statements(""), statements("each"), statements("all")
    measure(project, versions=["10.7.1", "10.8.2", "10.9.3"], workloads=["ro", "rw", "wo"], runs=2)
    assert (statements(""), statements("each"), statements("all")) == (closed, few, small)
    assert small == closed


# --- all rows -----------------------------------------------------------------------------------------------


def test_all_curves_are_small_and_share_their_axes(client, project):
    measure(project, workloads=["ro", "rw"])
    measure(project, versions=["10.6.23"], workloads=["rw"], tps={32: 9000.0})
    answer = get(client, opened="all")
    assert titles(answer) == ["ro", "rw"]
    first, second = figures(answer).values()
    go.Figure(first)
    for figure in (first, second):
        assert figure["layout"]["xaxis"]["tickvals"] == [1, 2, 4, 8, 16, 32]
        assert figure["layout"]["yaxis"]["range"] == first["layout"]["yaxis"]["range"]
    assert max(first["data"][0]["y"]) == 100
    text = text_of(answer)
    assert "per cent of the highest value of 10.2.44; all on the same axes" in text
    assert "Close all" in text


def test_workloads_at_one_thread_count_stand_beside_each_other(client, project):
    measure(project, workloads=["DO 1", "SELECT 1"], tps={1: 1000.0})
    answer = get(client, opened="all")
    [(title, figure)] = figures(answer).items()
    go.Figure(figure)
    assert title == "Transactions per second, 1 thread, box"
    assert [(trace["name"], trace["x"], trace["y"]) for trace in figure["data"]] == [
        ("10.2.44", ["DO 1", "SELECT 1"], [1000.0, 1000.0]),
        ("10.6.23", ["DO 1", "SELECT 1"], [500.0, 500.0]),
    ]
    assert figure["data"][1]["text"] == ["50.0\N{NO-BREAK SPACE}%"] * 2


def test_many_versions_at_one_thread_count_are_a_line_in_each_workload(client, project):
    versions = [f"10.6.{patch}" for patch in range(1, 9)]
    measure(project, versions=versions, workloads=["ro", "rw"], tps={1: 1000.0})
    drawn = figures(get(client, opened="all"))
    assert list(drawn) == ["ro", "rw"]
    [line] = drawn["ro"]["data"]
    assert line["x"] == versions
    assert line["y"][:2] == [100.0, 50.0]


# --- figures of curves --------------------------------------------------------------------------------------


def test_each_curve_is_told_in_figures(client, project):
    measure(project)
    text = text_of(get(client))
    assert "Transactions per second: each curve in figures" in text
    assert "10.2.44 3,952 8 (one session) 4 −20.0 % 3.16x 19.8 % −20.0 % 40.0 %" in text
    assert "10.6.23 1,976 8 (one session) 4 −20.0 % 3.16x 19.8 % −20.0 % 40.0 %" in text


def test_the_scale_up_is_between_what_all_curves_have(client, project):
    measure(project, versions=["10.2.44"])
    measure(project, versions=["10.6.23"], tps={**TPS, 32: 2000.0})
    assert "1 to 16 threads 8 to 16 threads" in text_of(get(client))


def test_repeats_tell_where_else_the_peak_may_be(client, project):
    near = {8: 3900.0, 16: 3950.0}
    for day, tps in enumerate((TPS, {**TPS, **near}, {**TPS, **near})):
        measure(project, versions=["10.2.44"], tps=tps, started_at=START + timedelta(days=day))
    assert "8 to 16 within the noise" in text_of(get(client))


def test_three_counts_make_a_line_but_no_peak(client, project):
    measure(project, tps={1: 1000.0, 2: 1900.0, 4: 3040.0})
    assert "10.2.44 – – – – 3.04x 76.0 % +60.0 % 80.0 %" in text_of(get(client))


def test_runs_that_did_nothing_are_no_curve_but_no_trouble(client, project):
    measure(project, versions=["10.2.44"], tps={**TPS, 1: 0.001})
    nothing = [
        make_record(0.0, version="10.6.23", workload="ro", threads=threads, repetition=threads)
        for threads in (0, 1, 2, 4, 8)
    ]
    make_runs(nothing, project=project)
    for opened in ("each", "all"):
        for figure in figures(get(client, "drawn=relative", opened=opened)).values():
            go.Figure(figure)


def test_an_incident_names_the_peak_that_moved_and_charts_it(client, project):
    make_runs(records([RISING] * 12 + [FALLING] * 5), project=project)
    analyse_touched()
    incident = Incident.objects.get()
    text = text_of(client.get(f"/p/bench/incidents/{incident.pk}/"))
    assert "Largest change: tps of oltp_read_only at 64 threads" in text
    assert "3 of 6 series changed" in text
    assert "curve peak threads" in text


def test_what_is_derived_of_curves_is_compared_at_no_thread_count(client, project):
    measure(project)
    analyse_touched()
    compared = get(client, "metric=curve_peak_threads&metric=curve_peak")
    assert titles(compared) == [
        "ro, threads at the peak of the scaling curve, box",
        "ro, peak of the scaling curve, box",
    ]
    assert "10.6.23 8.000 1 0.0 % not enough to tell" in text_of(compared)


# --- percentiles --------------------------------------------------------------------------------------------

FAST = ((1.0, 1.01, 90.0), (2.0, 2.02, 10.0))
SLOW = ((1.0, 1.01, 50.0), (4.0, 4.04, 50.0))


def sample(project, version, *rows, runs=1, source="histogram", **fields):
    table = SampleTable(source, ("from_ms", "to_ms", "count"), rows)
    sampled = [make_record(version=version, samples=(table,), **fields)] * runs
    return make_runs(in_sessions(sampled), project=project)


def percentiles(client, query="", opened="each"):
    return get(client, f"charts=percentiles&{query}", opened)


def test_versions_lie_over_each_other_and_the_table_says_the_same(client, project):
    sample(project, "10.6.1", *FAST, runs=3)
    sample(project, "10.6.2", *SLOW, runs=3)
    answer = percentiles(client)
    [(title, figure)] = figures(answer).items()
    go.Figure(figure)
    assert title == "oltp_read_only, 4 threads, response time against percentile"
    assert [trace["name"] for trace in figure["data"]][:2] == ["10.6.1", "10.6.2"]
    text = text_of(answer)
    shown = "1.000 to 1.010 1.000 to 1.010 2.000 to 2.020 2.000 to 2.020 – 2.000 to 2.020"
    assert f"10.6.1 3 in 3 sessions 300 {shown}" in text
    assert "4.000 to 4.040 ▲ +100.0 % slower" in text
    assert "verdicts are adjusted for the whole table" in text
    [_of_matrix, url] = re.findall(r'href="([^"]+)">Save as CSV<', answer.content.decode())
    assert len(client.get(url.replace("&amp;", "&")).content.decode().splitlines()) == 1 + 2 * 6


def test_what_else_differs_is_said_and_a_single_session_is_not_tested(client, project):
    sample(project, "10.6.1", *FAST, runs=2, tags=("session:a",))
    sample(project, "10.6.2", *SLOW, runs=2, tags=("session:b",), hardware="other")
    columns = "&".join(f"v={short_id(column)}" for column in columns_of_runs(sampled_runs(project)))
    text = text_of(percentiles(client, columns))
    assert "Different hardware: box; other." in text
    assert "2 in 1 session 200" in text
    assert "One session each: what the machine did that hour cannot be told" in text
    assert "+100.0 % no test" in text


def test_an_interval_that_says_nothing_is_said_in_words(client, project):
    for version in ("10.6.1", "10.6.2"):
        sample(project, version, *FAST)
        sample(project, version, (9.0, 9.1, 900.0), tags=("session:other",))
    assert "not enough to tell too few runs" in text_of(percentiles(client))


def test_threads_and_operation_are_in_the_address(client, project):
    for version in ("10.6.1", "10.6.2"):
        for threads in (1, 64):
            sample(project, version, *FAST, workload="rw", threads=threads)
        sample(project, version, *FAST, workload="rw", threads=64, source="read histogram")
    assert titles(percentiles(client)) == ["rw, 1 thread, response time against percentile"]
    answer = percentiles(client, "threads=64")
    assert titles(answer) == ["rw, 64 threads, response time against percentile"]
    [url] = re.findall(r'<a href="([^"]+)" >read</a>', answer.content.decode())
    assert titles(client.get(url.replace("&amp;", "&"))) == [
        "rw, read, 64 threads, response time against percentile"
    ]


def test_versions_and_rows_without_a_histogram_are_told(client, project):
    sample(project, "10.6.1", *FAST, threads=1)
    sample(project, "10.6.2", *FAST, threads=4)
    make_run(project=project, version="10.6.2", workload="bulk")
    answer = percentiles(client)
    assert "No histogram here: 10.6.2." in text_of(answer)
    # The row keeps its charts.
    assert "bulk, 4 threads, transactions per second, box" in titles(answer)


def test_without_any_histogram_the_page_says_how_to_make_one(client, project):
    make_run(project=project)
    assert "run sysbench with --histogram" in text_of(percentiles(client))


def test_a_run_leads_to_the_percentiles_of_its_workload_and_back(client, project):
    (run,) = sample(project, "10.6.1", *FAST)
    page = client.get(client.get(f"/p/bench/runs/{run.pk}/").context["latency_url"])
    assert titles(page) == ["oltp_read_only, 4 threads, response time against percentile"]
    assert f'href="/p/bench/runs/{run.pk}/"' in page.content.decode()
    plain = make_run(project=project)
    assert client.get(f"/p/bench/runs/{plain.pk}/").context["latency_url"] == ""


# --- addresses of the pages that became rows ----------------------------------------------------------------


@pytest.mark.parametrize("page", ["", "curves/", "latency/"])
def test_an_old_address_leads_to_the_matrix_with_the_same_selection_and_the_row_open(client, project, page):
    run, *_ = measure(project, workloads=["ro", "rw"])
    old, new = (short_id(column) for column in columns_of(project, Selector()))
    chosen = f"v={old}&v={new}&base={new}&metric=tps&workload={run.workload_id}"
    answer = client.get(f"/p/bench/compare/{page}?{chosen}&values=relative&page=2", follow=True)
    [(address, status)] = answer.redirect_chain
    assert status == 301
    assert address.startswith("/p/bench/compare/matrix/?")
    shown = answer.context["shown"]
    assert shown.chosen.columns.base.version.version == "10.6.23"
    assert list(shown.opened.rows) == ["ro"]
    if not page:
        assert "ro, transactions per second against threads relative to 10.6.23, box" in titles(answer)


def test_an_old_address_without_a_choice_leads_to_the_matrix(client, project):
    measure(project)
    assert client.get("/p/bench/compare/")["Location"] == "/p/bench/compare/matrix/"
    assert client.get("/p/bench/compare/curves/")["Location"] == "/p/bench/compare/matrix/"
    private = make_project("private")
    make_series([1.0], project=private)
    for page in ("", "curves/", "latency/"):
        assert client.get(f"/p/private/compare/{page}").status_code == 404


def test_commits_of_a_branch_that_an_old_address_names_are_compared_as_versions(client, project):
    make_series([100.0, 90.0], project=project, branch="main")
    old, new = (short_id(column) for column in columns_of(project, Selector()))
    answer = client.get(f"/p/bench/compare/?v={old}&v={new}&base={old}&metric=tps", follow=True)
    assert answer.context["shown"].query.over == "versions"
    assert len(answer.context["shown"].chosen.columns.chosen) == 2
